//! The samples of a run in their order, and the questions that reports ask of them.

use crate::core::memory::sample::Sample;

/// The samples of a run, by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    samples: Vec<Sample>,
}

impl Series {
    /// Takes the next sample.
    pub fn push(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// All of them, by time.
    pub fn samples(&self) -> impl DoubleEndedIterator<Item = &Sample> {
        self.samples.iter()
    }

    /// The sample with the most GTT from `from` to `until` (ns, both included); the first of equals.
    pub fn peak_between(&self, from: u64, until: u64) -> Option<&Sample> {
        let within = self.samples().filter(|s| (from..=until).contains(&s.ns) && s.gtt_bytes.is_some());
        within.rev().max_by_key(|s| s.gtt_bytes)
    }

    /// The median of GTT from `from` to `until` (ns, both included), bytes: the lower of two middle ones.
    pub fn median_between(&self, from: u64, until: u64) -> Option<u64> {
        let within = self.samples().filter(|s| (from..=until).contains(&s.ns));
        let mut known: Vec<u64> = within.filter_map(|s| s.gtt_bytes).collect();
        known.sort_unstable();
        known.get(known.len().checked_sub(1)? / 2).copied()
    }

    /// The last sample at or before `ns` whose GTT is known.
    pub fn known_at(&self, ns: u64) -> Option<&Sample> {
        self.samples().rev().find(|s| s.ns <= ns && s.gtt_bytes.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_is_neither_peak_nor_median() {
        let mut series = Series::default();
        for (ns, gtt_bytes) in [(1, Some(5)), (2, None), (3, Some(9)), (4, Some(9)), (5, Some(1))] {
            series.push(Sample { ns, gtt_bytes, ..Sample::default() });
        }
        assert_eq!(series.peak_between(0, u64::MAX).map(|s| s.ns), Some(3));
        assert_eq!(series.peak_between(4, u64::MAX).map(|s| s.ns), Some(4));
        assert_eq!(series.median_between(0, u64::MAX), Some(5));
        assert_eq!(series.median_between(2, 2), None);
        assert_eq!(series.known_at(2).map(|s| s.ns), Some(1));
        assert_eq!(series.known_at(0), None);
    }
}
