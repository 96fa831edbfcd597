//! Whether a difference is one: two sides of repeated runs, the noise of their difference, and a verdict.
//!
//! The noise is half the width of the 99 % interval of the difference of means (Welch's, with Student's t): tables have
//! dozens of rows, and at 95 % one in twenty would cry wolf. 'No difference' is said only when the noise is small enough
//! that a change of the threshold would have shown; otherwise nothing can be told, and the number of runs that would
//! tell is worked out from the spread that was seen.

use crate::core::moments::Moments;

/// Student's t at 99 % (two-sided) for 1, 2, … degrees of freedom.
const STUDENT: [f64; 30] = [
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947,
    2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750,
];
/// More runs than this are not asked of anybody.
pub const MOST_RUNS: u64 = 99;

/// A row's number in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Value {
    /// The number.
    pub is: f64,
    /// Its standard error as far as the run itself shows one (its spread from program run to program run).
    pub error: Option<f64>,
    /// The degrees of freedom of that error.
    pub freedom: u64,
}

impl Value {
    /// A number without a spread of its own.
    pub fn exact(is: f64) -> Value {
        Value { is, error: None, freedom: 0 }
    }
}

/// What a row shows. In every row less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Less, by more than the noise.
    Better,
    /// More, by more than the noise.
    Worse,
    /// No difference larger than the noise, and the noise is under the threshold.
    Same,
    /// The noise is too large: so many more runs a side would tell; absent: more than anybody makes.
    CannotTell(Option<u64>),
}

impl Verdict {
    /// In words.
    pub fn words(self) -> String {
        match self {
            Verdict::Better => "better".to_owned(),
            Verdict::Worse => "worse".to_owned(),
            Verdict::Same => "no difference".to_owned(),
            Verdict::CannotTell(Some(1)) => "cannot tell: 1 more run a side".to_owned(),
            Verdict::CannotTell(Some(n)) => format!("cannot tell: {n} more runs a side"),
            Verdict::CannotTell(None) => format!("cannot tell: over {MOST_RUNS} more runs a side"),
        }
    }
}

/// A row, judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Median of the base's runs.
    pub base: f64,
    /// Median of the new runs.
    pub new: f64,
    /// Least and most of the base's runs, when there are several.
    pub base_range: Option<(f64, f64)>,
    /// Least and most of the new runs, when there are several.
    pub new_range: Option<(f64, f64)>,
    /// Half the width of the difference's 99 % interval, in the row's unit; absent when nothing shows it.
    pub noise: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

impl Judged {
    /// New less base.
    pub fn change(&self) -> f64 {
        self.new - self.base
    }

    /// The change as a part of the base; of a base of 0 there is none.
    pub fn relative(&self) -> Option<f64> {
        (self.base > 0.0).then(|| self.change() / self.base)
    }

    /// The noise as a part of the base.
    pub fn relative_noise(&self) -> Option<f64> {
        self.noise.filter(|_| self.base > 0.0).map(|n| n / self.base)
    }

    /// Worse, by more than the threshold (a part of the base).
    pub fn regressed(&self, threshold: f64) -> bool {
        self.verdict == Verdict::Worse && self.relative().is_none_or(|r| r > threshold)
    }
}

/// A row judged by its whole time, and by the medians of what it consists of, which do not see the few calls that
/// something else held up. The first counts where it tells anything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twice {
    /// By the time itself.
    pub whole: Judged,
    /// By median calls.
    pub typical: Option<Judged>,
}

impl Twice {
    /// The one that counts, and whether it is that of the median calls.
    pub fn deciding(&self) -> (&Judged, bool) {
        let unclear = |j: &Judged| matches!(j.verdict, Verdict::CannotTell(_));
        match &self.typical {
            Some(typical) if unclear(&self.whole) && !unclear(typical) => (typical, true),
            _ => (&self.whole, false),
        }
    }
}

/// The noise of a difference: the standard error, its degrees of freedom, and what more runs would do to it.
struct Noise {
    half: f64,
    /// Variance of a single run.
    variance: Option<f64>,
    /// Only the spread inside one run a side is known.
    within: bool,
}

/// Judges a row; `None` when a side has no number at all. `threshold`: the smallest change that matters, a part of the
/// base.
pub fn judge(base: &[Value], new: &[Value], threshold: f64) -> Option<Judged> {
    let (b, n) = (median(base)?, median(new)?);
    let noise = noise(base, new);
    let (change, matters) = ((n - b).abs(), threshold * b.abs());
    let verdict = match &noise {
        // What differs from run to run is not in the spread inside a run, so a small change proves nothing.
        Some(x) if change > x.half && (!x.within || change > matters) => {
            if n > b {
                Verdict::Worse
            } else {
                Verdict::Better
            }
        }
        // … unless it is so small that the threshold is far.
        Some(x) if x.half <= matters && (!x.within || change <= x.half.max(matters / 2.0)) => Verdict::Same,
        Some(Noise { variance: Some(v), .. }) => {
            Verdict::CannotTell(more(base.len() as u64, new.len() as u64, *v, change.max(matters)))
        }
        _ => Verdict::CannotTell(Some(2)),
    };
    Some(Judged {
        base: b,
        new: n,
        base_range: range(base),
        new_range: range(new),
        noise: noise.map(|x| x.half),
        verdict,
    })
}

fn noise(base: &[Value], new: &[Value]) -> Option<Noise> {
    let of = |side: &[Value]| Moments::of(side.iter().map(|v| v.is));
    let (b, n) = (of(base), of(new));
    let counts = (b.count() as f64, n.count() as f64);
    match (b.variance(), n.variance()) {
        (Some(vb), Some(vn)) => {
            let (eb, en) = (vb / counts.0, vn / counts.1);
            let below = eb * eb / (counts.0 - 1.0) + en * en / (counts.1 - 1.0);
            let freedom = if below > 0.0 { (eb + en) * (eb + en) / below } else { counts.0 + counts.1 - 2.0 };
            let half = student(freedom as u64) * (eb + en).sqrt();
            Some(Noise { half, variance: Some((vb + vn) / 2.0), within: false })
        }
        // A single run is taken to scatter as the runs of the other side do.
        (Some(v), None) | (None, Some(v)) => {
            let freedom = b.count().max(n.count()) - 1;
            let half = student(freedom) * (v / counts.0 + v / counts.1).sqrt();
            Some(Noise { half, variance: Some(v), within: false })
        }
        (None, None) => {
            let (b, n) = (base.first()?, new.first()?);
            let (eb, en) = (b.error?, n.error?);
            let half = student(b.freedom.min(n.freedom)) * (eb * eb + en * en).sqrt();
            Some(Noise { half, variance: None, within: true })
        }
    }
}

/// How many more runs a side bring the noise down to `goal`.
fn more(base: u64, new: u64, variance: f64, goal: f64) -> Option<u64> {
    (1..=MOST_RUNS).find(|k| {
        let (b, n) = ((base + k) as f64, (new + k) as f64);
        student((b + n) as u64 - 2) * (variance / b + variance / n).sqrt() <= goal
    })
}

fn student(freedom: u64) -> f64 {
    match freedom as usize {
        0 => STUDENT[0],
        n if n <= STUDENT.len() => STUDENT[n - 1],
        n if n < 60 => STUDENT[STUDENT.len() - 1],
        _ => 2.66,
    }
}

/// The middle value, or the mean of the two middle ones.
pub fn median(side: &[Value]) -> Option<f64> {
    let mut all: Vec<f64> = side.iter().map(|v| v.is).collect();
    all.sort_by(f64::total_cmp);
    let (low, high) = (all.get(all.len().checked_sub(1)? / 2)?, all.get(all.len() / 2)?);
    Some((low + high) / 2.0)
}

fn range(side: &[Value]) -> Option<(f64, f64)> {
    let all = || side.iter().map(|v| v.is);
    (side.len() > 1).then(|| (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(numbers: &[f64]) -> Vec<Value> {
        numbers.iter().map(|n| Value::exact(*n)).collect()
    }

    fn judged(base: &[f64], new: &[f64]) -> Judged {
        judge(&side(base), &side(new), 0.05).unwrap()
    }

    #[test]
    fn a_change_above_the_noise_is_found_both_ways() {
        let j = judged(&[100.0, 101.0, 99.0], &[110.0, 111.0, 109.0]);
        assert_eq!((j.verdict, j.base, j.new), (Verdict::Worse, 100.0, 110.0));
        assert!(j.regressed(0.05) && !j.regressed(0.11));
        assert_eq!((j.base_range, j.new_range), (Some((99.0, 101.0)), Some((109.0, 111.0))));
        assert_eq!(judged(&[110.0, 111.0, 109.0], &[100.0, 101.0, 99.0]).verdict, Verdict::Better);
        // Welch: variance 1 each, 4 degrees of freedom: 4.604 · √(2/3).
        assert!((j.noise.unwrap() - 4.604 * (2.0_f64 / 3.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn no_difference_is_said_only_where_one_would_have_shown() {
        assert_eq!(judged(&[100.0, 101.0, 99.0], &[100.5, 101.5, 99.5]).verdict, Verdict::Same);
        let loud = judged(&[100.0, 110.0, 90.0], &[101.0, 111.0, 91.0]);
        assert!(matches!(loud.verdict, Verdict::CannotTell(Some(n)) if n > 10), "{loud:?}");
        let mad = judged(&[100.0, 900.0, 10.0], &[100.0, 901.0, 11.0]);
        assert_eq!(mad.verdict, Verdict::CannotTell(None));
    }

    #[test]
    fn the_runs_that_are_asked_for_would_tell() {
        let (base, new) = ([100.0, 104.0, 96.0], [101.0, 105.0, 97.0]);
        let Verdict::CannotTell(Some(more)) = judged(&base, &new).verdict else { panic!("it tells already") };
        // As many runs of the same spread do.
        let again = |three: &[f64; 3]| -> Vec<f64> {
            three.iter().copied().cycle().take((3 + more as usize).div_ceil(3) * 3).collect()
        };
        assert_eq!(judged(&again(&base), &again(&new)).verdict, Verdict::Same);
    }

    #[test]
    fn single_runs_are_judged_by_their_own_spread_and_only_above_the_threshold() {
        let one = |is, error| [Value { is, error: Some(error), freedom: 15 }];
        let verdict = |new, error| judge(&one(100.0, error), &one(new, error), 0.05).map(|j| j.verdict);
        assert_eq!(verdict(110.0, 0.5), Some(Verdict::Worse));
        assert_eq!(
            verdict(102.0, 0.5),
            Some(Verdict::Same),
            "above the noise inside, but far from the threshold"
        );
        assert_eq!(verdict(104.0, 0.5), Some(Verdict::CannotTell(Some(2))), "near the threshold");
        assert_eq!(verdict(110.0, 5.0), Some(Verdict::CannotTell(Some(2))));
        let bare = judge(&side(&[100.0]), &side(&[150.0]), 0.05).unwrap();
        assert_eq!((bare.verdict, bare.noise), (Verdict::CannotTell(Some(2)), None));
    }

    #[test]
    fn a_single_run_scatters_as_the_other_side_does() {
        assert_eq!(judged(&[100.0, 100.1, 99.9, 100.0], &[110.0]).verdict, Verdict::Worse);
        assert!(matches!(judged(&[100.0, 110.0, 90.0], &[110.0]).verdict, Verdict::CannotTell(_)));
    }

    #[test]
    fn equal_runs_are_equal_and_a_base_of_nothing_has_no_ratio() {
        assert_eq!(judged(&[5.0, 5.0], &[5.0, 5.0]).verdict, Verdict::Same);
        let j = judged(&[0.0, 0.0], &[7.0, 7.0]);
        assert_eq!((j.verdict, j.relative(), j.regressed(0.05)), (Verdict::Worse, None, true));
        assert_eq!(judge(&[], &side(&[1.0]), 0.05), None);
    }

    #[test]
    fn medians_of_even_and_odd_numbers() {
        assert_eq!(median(&side(&[3.0, 1.0, 2.0])), Some(2.0));
        assert_eq!(median(&side(&[4.0, 1.0, 2.0, 3.0])), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
