//! Durations counted in logarithmic buckets, so that medians and percentiles come without keeping every one.
//!
//! A power of two has `PARTS` buckets of equal width; a duration below `PARTS` ns has its own. A quantile is the
//! middle of its bucket, so it is within half a bucket's width of the true one: 0.8 %. Count, sum, least and most are
//! exact.

/// Buckets a power of two.
const PARTS: u64 = 64;
/// Its binary logarithm.
const BITS: u32 = 6;

/// The largest relative error of a quantile, percent.
pub const ERROR_PERCENT: f64 = 0.8;

/// Durations, ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Counts from bucket `first` on.
    counts: Vec<u32>,
    first: usize,
    count: u64,
    total: u64,
    least: u64,
    most: u64,
}

fn bucket(ns: u64) -> usize {
    if ns < PARTS {
        return ns as usize;
    }
    let power = ns.ilog2();
    let part = ns >> (power - BITS) & (PARTS - 1);
    (u64::from(power - BITS + 1) * PARTS + part) as usize
}

/// The middle of a bucket, ns.
fn middle(bucket: usize) -> u64 {
    let (row, part) = (bucket as u64 / PARTS, bucket as u64 % PARTS);
    if row == 0 {
        return part;
    }
    let width = 1_u64 << (row - 1);
    ((PARTS + part) * width).saturating_add(width / 2)
}

impl Histogram {
    /// Counts one duration.
    pub fn add(&mut self, ns: u64) {
        let at = bucket(ns);
        if self.counts.is_empty() {
            self.first = at;
        }
        if at < self.first {
            let more = self.first - at;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = at;
        }
        let place = at - self.first;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] = self.counts[place].saturating_add(1);
        self.least = if self.count == 0 { ns } else { self.least.min(ns) };
        self.most = self.most.max(ns);
        self.count += 1;
        self.total = self.total.saturating_add(ns);
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum, ns.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The shortest, ns.
    pub fn least(&self) -> Option<u64> {
        (self.count > 0).then_some(self.least)
    }

    /// The longest, ns.
    pub fn most(&self) -> Option<u64> {
        (self.count > 0).then_some(self.most)
    }

    /// Their mean, ns, rounded to the nearest.
    pub fn mean(&self) -> Option<u64> {
        (self.count > 0)
            .then(|| ((u128::from(self.total) + u128::from(self.count) / 2) / u128::from(self.count)) as u64)
    }

    /// The duration that `percent` of them do not exceed (nearest rank), ns, to within the bucket's error.
    pub fn quantile(&self, percent: u64) -> Option<u64> {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (place, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= rank {
                return Some(middle(self.first + place).clamp(self.least, self.most));
            }
        }
        None
    }

    /// The median of those above 0, ns, and its standard error. Between the edges of a bucket its durations are taken to
    /// lie evenly, so that a small change is not lost in the bucket's width.
    pub fn typical(&self) -> Option<(f64, f64)> {
        let known: f64 = self.buckets().filter(|b| b.0 > 0).map(|b| f64::from(b.2)).sum();
        let place = |part: f64| {
            let (mut before, wanted) = (0.0, known * part);
            for (from, to, count) in self.buckets().filter(|b| b.0 > 0) {
                let within = wanted - before;
                before += f64::from(count);
                if before >= wanted {
                    return from as f64 + (to - from) as f64 * within / f64::from(count);
                }
            }
            0.0
        };
        let median = place(0.5);
        // Of the middle half's width, as for a normal distribution; no better than a third of a bucket's.
        let scatter = 1.2533 * (place(0.75) - place(0.25)) / 1.349 / known.sqrt();
        (known > 0.0).then(|| (median, scatter.max(median / (3 * PARTS) as f64)))
    }

    /// The buckets that hold anything: from, to (not included), count; ns.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u32)> + '_ {
        let edge = |bucket: usize| {
            let (row, part) = (bucket as u64 / PARTS, bucket as u64 % PARTS);
            if row == 0 { part } else { (PARTS + part).saturating_mul(1 << (row - 1)) }
        };
        let filled = self.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        filled.map(move |(place, n)| (edge(self.first + place), edge(self.first + place + 1), *n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_ones_are_exact() {
        let mut h = Histogram::default();
        for ns in [5, 1, 3, 2, 4] {
            h.add(ns);
        }
        assert_eq!((h.count(), h.total(), h.least(), h.most(), h.mean()), (5, 15, Some(1), Some(5), Some(3)));
        assert_eq!((h.quantile(50), h.quantile(95), h.quantile(0)), (Some(3), Some(5), Some(1)));
    }

    #[test]
    fn the_typical_one_ignores_what_is_rare_and_what_is_not_resolved() {
        let of = |all: &[u64]| {
            let mut h = Histogram::default();
            all.iter().for_each(|ns| h.add(*ns));
            h.typical()
        };
        let mut all: Vec<u64> = (0..1_000).map(|n| 100_000 + n * 10).collect();
        let plain = of(&all).unwrap();
        assert!((plain.0 - 105_000.0).abs() < 600.0 && plain.1 < 1_000.0, "{plain:?}");
        all.extend([90_000_000; 20]);
        all.extend([0; 300]);
        let outliers = of(&all).unwrap();
        assert!((outliers.0 / plain.0 - 1.0).abs() < 0.002, "{outliers:?}");
        assert_eq!((of(&[]), of(&[0, 0])), (None, None));
    }

    #[test]
    fn none_have_no_mean() {
        let h = Histogram::default();
        assert_eq!((h.mean(), h.quantile(50), h.least(), h.most()), (None, None, None, None));
    }

    /// A histogram of some durations.
    fn of(all: &[u64]) -> Histogram {
        let mut h = Histogram::default();
        all.iter().for_each(|ns| h.add(*ns));
        h
    }

    #[test]
    fn a_power_of_two_has_64_buckets_of_one_width() {
        for (ns, from, to, middle) in [
            (0, 0, 1, 0),
            (63, 63, 64, 63),
            (64, 64, 65, 64),
            (127, 127, 128, 127),
            (128, 128, 130, 129),
            (129, 128, 130, 129),
            (130, 130, 132, 131),
            (255, 254, 256, 255),
            (1_000, 1_000, 1_008, 1_004),
            (1_007, 1_000, 1_008, 1_004),
            (1_000_000, 999_424, 1_007_616, 1_003_520),
            (u64::MAX, 127 << 57, u64::MAX, (127 << 57) + (1 << 56)),
        ] {
            assert_eq!(of(&[ns]).buckets().collect::<Vec<_>>(), [(from, to, 1)], "{ns}");
            assert_eq!(super::middle(bucket(ns)), middle, "{ns}");
        }
    }

    #[test]
    fn a_quantile_is_the_middle_of_its_bucket_but_no_shorter_or_longer_than_any() {
        assert_eq!(of(&[1, 1_000, 2_000]).quantile(50), Some(1_004));
        assert_eq!((of(&[1_001]).quantile(50), of(&[1_007]).quantile(50)), (Some(1_001), Some(1_007)));
        let h = of(&(1..=10).collect::<Vec<_>>());
        assert_eq!(
            [0, 10, 11, 50, 51, 90, 95, 100].map(|p| h.quantile(p).unwrap()),
            [1, 1, 2, 5, 6, 9, 10, 10]
        );
    }

    #[test]
    fn the_order_of_durations_does_not_matter() {
        let all = [70_000, 3, 900, 70_000, 0, 1_000_000, 900, 64, 2];
        let mut sorted = all;
        sorted.sort_unstable();
        let h = of(&sorted);
        assert_eq!(of(&all), h);
        sorted.reverse();
        assert_eq!(of(&sorted), h);
        let counts: Vec<(u64, u32)> = h.buckets().map(|(from, _, n)| (from, n)).collect();
        assert_eq!(counts, [(0, 1), (2, 1), (3, 1), (64, 1), (896, 2), (69_632, 2), (999_424, 1)]);
        assert_eq!((h.least(), h.most(), h.count(), h.total()), (Some(0), Some(1_000_000), 9, 1_141_869));
    }

    #[test]
    fn a_mean_is_rounded_to_the_nearest() {
        assert_eq!(
            [&[1, 2][..], &[1, 1, 2], &[1, 2, 2], &[7]].map(|all| of(all).mean().unwrap()),
            [2, 1, 2, 7]
        );
        assert_eq!(of(&[u64::MAX, u64::MAX]).total(), u64::MAX, "a sum stays at its most");
    }

    proptest! {
        #[test]
        fn quantiles_are_within_the_stated_error(mut all in prop::collection::vec(0u64..10_000_000_000, 1..200)) {
            let mut h = Histogram::default();
            all.iter().for_each(|ns| h.add(*ns));
            all.sort_unstable();
            for percent in [1, 50, 95, 100] {
                let rank = (all.len() as u64 * percent).div_ceil(100).max(1) as usize;
                let real = all[rank - 1] as f64;
                let got = h.quantile(percent).unwrap() as f64;
                prop_assert!((got - real).abs() <= real * ERROR_PERCENT / 100.0 + 1.0, "{} for {}", got, real);
            }
            prop_assert_eq!(h.total(), all.iter().sum::<u64>());
            prop_assert_eq!(h.buckets().map(|b| u64::from(b.2)).sum::<u64>(), h.count());
        }

        #[test]
        fn every_duration_has_a_bucket_around_it(ns in any::<u64>()) {
            let mut h = Histogram::default();
            h.add(ns);
            let (from, to, n) = h.buckets().next().unwrap();
            prop_assert!(from <= ns && (ns < to || to <= from) && n == 1, "{} not in {}..{}", ns, from, to);
        }
    }
}
