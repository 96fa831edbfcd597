//! What samples add up to: peak, steady and final, side by side.

use serde::{Deserialize, Serialize};

use crate::core::memory::sample::{STATES, Sample, State};
use crate::core::memory::series::Series;
use crate::core::phases::Phases;

/// The sums of a series. Absent = unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sums {
    /// Samples taken.
    pub samples: u64,
    /// Samples by state: `ok`, `partial`, `denied`, `no-client`, `unsupported`, `gone`; those that were.
    pub states: std::collections::BTreeMap<String, u64>,
    /// The longest time from one sample to the next, ns.
    pub longest_gap_ns: Option<u64>,
    /// The most of each, each in one sample.
    pub peak: Option<Figures>,
    /// The median of each.
    pub steady: Option<Figures>,
    /// From when to when the median is taken, ns; absent: over the whole run, since load and tear-down are not known.
    pub steady_between_ns: Option<(u64, u64)>,
    /// The last good sample.
    #[serde(rename = "final")]
    pub last: Option<Figures>,
}

/// The figures of one column, bytes and ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    /// GTT that is resident.
    pub gtt_bytes: Option<u64>,
    /// GTT that is allocated.
    pub gtt_total_bytes: Option<u64>,
    /// VRAM that is resident.
    pub vram_bytes: Option<u64>,
    /// Resident memory of the processes.
    pub rss_bytes: Option<u64>,
    /// GTT in use on the whole device.
    pub device_gtt_used_bytes: Option<u64>,
    /// When GTT was so; where it is unknown, when the processes' memory was.
    pub at_ns: Option<u64>,
    /// When the processes' memory was so.
    pub rss_at_ns: Option<u64>,
    /// A part of the memory is missing in the figure of GTT: a client that did not say, a process that may not be read.
    pub lower_bound: bool,
}

impl Sums {
    /// The sums of a run whose log tells when load ended and tear-down began.
    pub fn by_phases(series: &Series, phases: Option<&Phases>) -> Sums {
        let last = series.samples().next_back().map(|s| s.ns);
        Sums::of(series, phases.zip(last).and_then(|(phases, last)| phases.steady_until(last)))
    }

    /// The sums. `steady` is the time between load and tear-down, where it is known.
    pub fn of(series: &Series, steady: Option<(u64, u64)>) -> Sums {
        let whole = series.whole();
        let states = STATES.iter().zip(whole.states).filter(|(_, n)| *n > 0);
        Sums {
            samples: whole.samples,
            states: states.map(|((_, word), n)| ((*word).to_owned(), n)).collect(),
            longest_gap_ns: whole.longest_gap_ns,
            peak: peak(series),
            steady: median(series, steady),
            steady_between_ns: steady,
            last: last(series),
        }
    }
}

fn is_lower_bound(sample: &Sample) -> bool {
    matches!(sample.state, State::Partial | State::Denied)
}

fn peak(series: &Series) -> Option<Figures> {
    let whole = series.whole();
    let rss_at_ns = whole.most_rss.map(|s| s.ns);
    let figures = Figures {
        gtt_bytes: whole.most_gtt.and_then(|s| s.gtt_bytes),
        gtt_total_bytes: whole.most_total.and_then(|s| s.gtt_total_bytes),
        vram_bytes: whole.most_vram.and_then(|s| s.vram_bytes),
        rss_bytes: whole.most_rss.and_then(|s| s.rss_bytes),
        device_gtt_used_bytes: whole.most_device.and_then(|s| s.device_gtt_used_bytes),
        at_ns: whole.most_gtt.map(|s| s.ns).or(rss_at_ns),
        rss_at_ns,
        lower_bound: whole.most_gtt.is_some_and(|s| is_lower_bound(&s)),
    };
    figures.at_ns.is_some().then_some(figures)
}

fn median(series: &Series, steady: Option<(u64, u64)>) -> Option<Figures> {
    let (from, until) = steady.unwrap_or((0, u64::MAX));
    let known = series.count(from, until, |s| s.gtt_bytes.is_some());
    let bounds = series.count(from, until, |s| s.gtt_bytes.is_some() && is_lower_bound(s));
    let first = |is: &dyn Fn(&Sample) -> bool| {
        series.samples().find(|s| (from..=until).contains(&s.ns) && is(s)).map(|s| s.ns)
    };
    let gtt_bytes = series.median_between(from, until);
    let rss_bytes = series.median(from, until, |s| s.rss_bytes);
    let rss_at_ns = rss_bytes.and_then(|_| first(&|s| s.rss_bytes == rss_bytes));
    let figures = Figures {
        gtt_bytes,
        gtt_total_bytes: series.median(from, until, |s| s.gtt_total_bytes),
        vram_bytes: series.median(from, until, |s| s.vram_bytes),
        rss_bytes,
        device_gtt_used_bytes: series.median(from, until, |s| s.device_gtt_used_bytes),
        at_ns: gtt_bytes.and_then(|_| first(&|s| s.gtt_bytes == gtt_bytes)).or(rss_at_ns),
        rss_at_ns,
        // Few of them are none of the median's matter.
        lower_bound: bounds > known - bounds,
    };
    (gtt_bytes.is_some() || rss_bytes.is_some()).then_some(figures)
}

/// The last whole sample; where GTT never was whole, the last that knows some of it; else the last with the processes'
/// memory. A tree that has ended shows nothing any more, so this is before its end.
fn last(series: &Series) -> Option<Figures> {
    let whole = series.whole();
    let sample = whole.last_whole.or(whole.last_known).or(whole.last_rss)?;
    Some(Figures {
        gtt_bytes: sample.gtt_bytes,
        gtt_total_bytes: sample.gtt_total_bytes,
        vram_bytes: sample.vram_bytes,
        rss_bytes: sample.rss_bytes,
        device_gtt_used_bytes: sample.device_gtt_used_bytes,
        at_ns: Some(sample.ns),
        rss_at_ns: sample.rss_bytes.map(|_| sample.ns),
        lower_bound: sample.gtt_bytes.is_some() && is_lower_bound(&sample),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(rows: &[(u64, Option<u64>, Option<u64>, State)]) -> Series {
        let mut series = Series::default();
        for (ns, gtt_bytes, rss_bytes, state) in rows {
            series.push(Sample {
                ns: *ns,
                gtt_bytes: *gtt_bytes,
                rss_bytes: *rss_bytes,
                state: *state,
                ..Sample::default()
            });
        }
        series
    }

    #[test]
    fn peak_steady_and_final_each_have_their_time() {
        let run = series(&[
            (10, None, Some(1), State::NoClient),
            (20, Some(5), Some(2), State::Ok),
            (30, Some(9), Some(3), State::Ok),
            (40, Some(7), Some(9), State::Ok),
            (50, Some(7), Some(4), State::Ok),
            (99, None, Some(4), State::NoClient),
            (150, None, None, State::Gone),
        ]);
        let sums = Sums::of(&run, None);
        let (peak, steady, last) = (sums.peak.unwrap(), sums.steady.unwrap(), sums.last.unwrap());
        assert_eq!(
            (peak.gtt_bytes, peak.at_ns, peak.rss_bytes, peak.rss_at_ns),
            (Some(9), Some(30), Some(9), Some(40))
        );
        assert_eq!((steady.gtt_bytes, steady.at_ns, steady.rss_bytes), (Some(7), Some(40), Some(3)));
        assert_eq!((last.gtt_bytes, last.at_ns, last.rss_bytes), (Some(7), Some(50), Some(4)));
        assert_eq!((sums.samples, sums.longest_gap_ns), (7, Some(51)));
        assert_eq!(
            sums.states.iter().map(|(w, n)| (w.as_str(), *n)).collect::<Vec<_>>(),
            [("gone", 1), ("no-client", 2), ("ok", 4)]
        );
        let between = Sums::of(&run, Some((15, 30)));
        assert_eq!(between.steady.unwrap().gtt_bytes, Some(5), "the lower of two middle ones");
        assert_eq!(between.peak, sums.peak);
    }

    #[test]
    fn without_a_client_there_is_no_gtt_and_never_a_0() {
        let sums = Sums::of(
            &series(&[(1, None, Some(7), State::NoClient), (2, None, Some(5), State::NoClient)]),
            None,
        );
        for figures in [sums.peak, sums.steady, sums.last].map(Option::unwrap) {
            assert_eq!((figures.gtt_bytes, figures.gtt_total_bytes, figures.vram_bytes), (None, None, None));
            assert!(figures.rss_bytes.is_some() && figures.at_ns.is_some());
        }
        let gone = Sums::of(&series(&[(1, None, None, State::Gone)]), None);
        assert_eq!((gone.peak, gone.steady, gone.last), (None, None, None));
        assert_eq!(Sums::of(&Series::default(), None), Sums::default());
    }

    #[test]
    fn what_misses_a_part_is_a_lower_bound() {
        let rows = [
            (1, Some(5), None, State::Ok),
            (2, Some(8), None, State::Partial),
            (3, Some(4), None, State::Partial),
        ];
        let sums = Sums::of(&series(&rows), None);
        assert_eq!(sums.peak.map(|f| (f.gtt_bytes, f.lower_bound)), Some((Some(8), true)));
        assert_eq!(
            sums.last.map(|f| (f.gtt_bytes, f.lower_bound)),
            Some((Some(5), false)),
            "not the dip behind it"
        );
        assert_eq!(sums.steady.map(|f| f.lower_bound), Some(true));
    }
}
