//! The samples of a run in their order, and the questions that reports ask of them.
//!
//! A run can last days. Of a stretch of samples that differ in their time alone the first and the last are kept, with the
//! number between them. Beyond `MOST` kept samples, of every two neighbours the one with more GTT is kept: so the peak of
//! any time stays exact, and a median is one of maxima over a few intervals. Counts, peaks and the last samples of the
//! whole run are noted apart and are always exact.

use crate::core::memory::sample::{STATES, Sample};

/// The most samples that are kept: under two hours of them at 50 ms when every one differs.
const MOST: usize = 1 << 17;

/// A kept sample.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    sample: Sample,
    /// Samples between it and the one before that are not kept: they were like this one.
    before: u32,
}

/// What is exact for the whole run, however long it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// Samples taken.
    pub samples: u64,
    /// Samples by state, in the order of [`STATES`].
    pub states: [u64; STATES.len()],
    /// The longest time from one sample to the next, ns.
    pub longest_gap_ns: Option<u64>,
    /// The first sample with the most GTT.
    pub most_gtt: Option<Sample>,
    /// The first sample with the most GTT allocated.
    pub most_total: Option<Sample>,
    /// The first sample with the most VRAM.
    pub most_vram: Option<Sample>,
    /// The first sample with the most resident memory of the processes.
    pub most_rss: Option<Sample>,
    /// The first sample with the most GTT in use on the device.
    pub most_device: Option<Sample>,
    /// The last sample that is whole.
    pub last_whole: Option<Sample>,
    /// The last sample whose GTT is known.
    pub last_known: Option<Sample>,
    /// The last sample whose processes' resident memory is known.
    pub last_rss: Option<Sample>,
    last_ns: Option<u64>,
}

/// The samples of a run, by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    entries: Vec<Entry>,
    whole: Whole,
}

fn larger(most: &mut Option<Sample>, sample: &Sample, of: impl Fn(&Sample) -> Option<u64>) {
    if of(sample) > most.as_ref().and_then(&of) {
        *most = Some(*sample);
    }
}

impl Whole {
    fn take(&mut self, sample: &Sample) {
        self.samples += 1;
        self.states[sample.state as usize] += 1;
        if let Some(last) = self.last_ns.replace(sample.ns) {
            self.longest_gap_ns = self.longest_gap_ns.max(Some(sample.ns.saturating_sub(last)));
        }
        larger(&mut self.most_gtt, sample, |s| s.gtt_bytes);
        larger(&mut self.most_total, sample, |s| s.gtt_total_bytes);
        larger(&mut self.most_vram, sample, |s| s.vram_bytes);
        larger(&mut self.most_rss, sample, |s| s.rss_bytes);
        larger(&mut self.most_device, sample, |s| s.device_gtt_used_bytes);
        if sample.is_whole() {
            self.last_whole = Some(*sample);
        }
        if sample.gtt_bytes.is_some() {
            self.last_known = Some(*sample);
        }
        if sample.rss_bytes.is_some() {
            self.last_rss = Some(*sample);
        }
    }
}

impl Series {
    /// Takes the next sample.
    pub fn push(&mut self, sample: Sample) {
        self.whole.take(&sample);
        let before_last = self.entries.len().checked_sub(2).and_then(|n| self.entries.get(n));
        let goes_on = before_last.is_some_and(|e| e.sample.is_like(&sample));
        if let Some(last) = self.entries.last_mut().filter(|e| goes_on && e.sample.is_like(&sample)) {
            last.sample = sample;
            last.before = last.before.saturating_add(1);
            return;
        }
        self.entries.push(Entry { sample, before: 0 });
        if self.entries.len() > MOST {
            self.thin();
        }
    }

    /// Keeps one of every two neighbours, but for the newest.
    fn thin(&mut self) {
        let all = std::mem::take(&mut self.entries);
        self.entries = all
            .chunks(2)
            .filter_map(|pair| {
                let before = pair.iter().fold(0_u32, |sum, e| sum.saturating_add(e.before));
                let more = |a: &Entry, b: &Entry| b.sample.gtt_bytes > a.sample.gtt_bytes;
                let kept = match pair {
                    [a, b] if more(a, b) => b,
                    [a, ..] => a,
                    [] => return None,
                };
                let before = before.saturating_add(u32::from(pair.len() == 2));
                Some(Entry { sample: kept.sample, before })
            })
            .collect();
    }

    /// The kept ones, by time.
    pub fn samples(&self) -> impl DoubleEndedIterator<Item = &Sample> {
        self.entries.iter().map(|e| &e.sample)
    }

    /// The kept ones by time, each with the number of those right before it that were like it and are not kept.
    pub fn entries(&self) -> impl Iterator<Item = (&Sample, u32)> {
        self.entries.iter().map(|e| (&e.sample, e.before))
    }

    /// What is exact for the whole run.
    pub fn whole(&self) -> &Whole {
        &self.whole
    }

    /// No sample is in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Each entry that lies in the time, or whose unkept samples do, and how many samples it stands for there.
    fn within(&self, from: u64, until: u64) -> impl DoubleEndedIterator<Item = (&Sample, u64)> {
        let weight = move |n: usize| {
            let entry = self.entries.get(n)?;
            let end = entry.sample.ns;
            let begin = n.checked_sub(1).and_then(|n| self.entries.get(n)).map_or(end, |e| e.sample.ns);
            let own = u64::from((from..=until).contains(&end));
            // They were taken at equal distances, as far as anybody knows.
            let overlap = end.min(until).saturating_sub(begin.max(from));
            let before = if entry.before == 0 {
                0
            } else if end <= begin {
                own * u64::from(entry.before)
            } else {
                let part = u128::from(entry.before) * u128::from(overlap) / u128::from(end - begin);
                let inside = begin < until && from < end && own == 0;
                u64::try_from(part).unwrap_or(u64::MAX).max(u64::from(inside))
            };
            (own + before > 0).then_some((&entry.sample, own + before))
        };
        (0..self.entries.len()).filter_map(weight)
    }

    /// The sample with the most GTT from `from` to `until` (ns, both included); the first of equals.
    pub fn peak_between(&self, from: u64, until: u64) -> Option<&Sample> {
        let within = self.within(from, until).map(|(s, _)| s).filter(|s| s.gtt_bytes.is_some());
        within.rev().max_by_key(|s| s.gtt_bytes)
    }

    /// The median of GTT from `from` to `until` (ns, both included), bytes: the lower of two middle ones. Of whole samples,
    /// unless most of those that know GTT are partial.
    pub fn median_between(&self, from: u64, until: u64) -> Option<u64> {
        let whole = self.count(from, until, Sample::is_whole);
        let known = self.count(from, until, |s| s.gtt_bytes.is_some());
        let whole_only = whole > 0 && whole >= known - whole;
        self.median(from, until, |s| s.gtt_bytes.filter(|_| s.is_whole() || !whole_only))
    }

    /// How many samples of a time are so.
    pub fn count(&self, from: u64, until: u64, is: impl Fn(&Sample) -> bool) -> u64 {
        self.within(from, until).filter(|(s, _)| is(s)).map(|(_, weight)| weight).sum()
    }

    /// The median of any figure, of the samples that know it; the lower of two middle ones.
    pub fn median(&self, from: u64, until: u64, of: impl Fn(&Sample) -> Option<u64>) -> Option<u64> {
        let mut known: Vec<(u64, u64)> =
            self.within(from, until).filter_map(|(s, weight)| Some((of(s)?, weight))).collect();
        known.sort_unstable();
        let middle = known.iter().map(|(_, weight)| weight).sum::<u64>().checked_sub(1)? / 2;
        let mut passed = 0;
        known.into_iter().find_map(|(value, weight)| {
            passed += weight;
            (passed > middle).then_some(value)
        })
    }

    /// The last sample at or before `ns` whose GTT is known.
    pub fn known_at(&self, ns: u64) -> Option<&Sample> {
        // Of a stretch that goes on beyond `ns` the last is kept, and says the same.
        self.within(0, ns).map(|(s, _)| s).rfind(|s| s.gtt_bytes.is_some())
    }
}

#[cfg(test)]
#[path = "series_tests.rs"]
mod tests;
