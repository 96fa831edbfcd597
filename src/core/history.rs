//! What was the case from when on, in bounded memory.

/// So many states are kept; more are thinned out.
const MOST: usize = 4096;

/// States by the time of their beginning. When there are too many, two neighbours become one, and the heavier of them
/// stays: times get coarser, peaks stay.
#[derive(Clone, Debug)]
pub struct History<T> {
    entries: Vec<(u64, T)>,
    /// States were thinned out.
    pub coarse: bool,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        History { entries: Vec::new(), coarse: false }
    }
}

impl<T: Clone> History<T> {
    /// From `ns` on it is so. `weight` says which of two states to keep.
    pub fn push(&mut self, ns: u64, state: T, weight: impl Fn(&T) -> u64) {
        if self.entries.len() >= MOST {
            self.thin(weight);
        }
        self.entries.push((ns, state));
    }

    fn thin(&mut self, weight: impl Fn(&T) -> u64) {
        self.coarse = true;
        let heavier = |pair: &[(u64, T)]| {
            let heavy = pair.iter().max_by_key(|(_, state)| weight(state));
            heavy.map(|(_, state)| (pair[0].0, state.clone()))
        };
        self.entries = self.entries.chunks(2).filter_map(heavier).collect();
    }

    /// What was the case at `ns`.
    pub fn at(&self, ns: u64) -> Option<&T> {
        let behind = self.entries.partition_point(|(since, _)| *since <= ns);
        Some(&self.entries.get(behind.checked_sub(1)?)?.1)
    }

    /// What was the case at some moment from `from` until `until`, by time.
    pub fn within(&self, from: u64, until: u64) -> impl Iterator<Item = &T> {
        let begins = self.entries.partition_point(|(since, _)| *since <= from);
        let ends = self.entries.partition_point(|(since, _)| *since <= until);
        self.entries[begins.saturating_sub(1).min(ends)..ends].iter().map(|(_, state)| state)
    }

    /// What was the case for longest at a stretch from `from` until `until`; of several the first.
    pub fn longest(&self, from: u64, until: u64) -> Option<&T> {
        let first = self.entries.partition_point(|(since, _)| *since <= from).saturating_sub(1);
        let mut longest: Option<(u64, &T)> = None;
        for (n, (since, state)) in
            self.entries.iter().enumerate().skip(first).take_while(|(_, e)| e.0 < until)
        {
            let end = self.entries.get(n + 1).map_or(until, |(next, _)| (*next).min(until));
            let lasted = end.saturating_sub((*since).max(from));
            if longest.is_none_or(|(most, _)| lasted > most) {
                longest = Some((lasted, state));
            }
        }
        longest.map(|(_, state)| state)
    }

    /// All states since `ns`, to be put right.
    pub fn since_mut(&mut self, ns: u64) -> impl Iterator<Item = &mut T> {
        let begin = self.entries.partition_point(|(since, _)| *since < ns);
        self.entries[begin..].iter_mut().map(|(_, state)| state)
    }

    /// The state that is the case now.
    pub fn last(&self) -> Option<&T> {
        self.entries.last().map(|(_, state)| state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_is_known_by_its_time() {
        let mut history = History::default();
        for (ns, state) in [(10, 1), (20, 5), (20, 2), (30, 3)] {
            history.push(ns, state, |s| *s);
        }
        assert_eq!((history.at(9), history.at(10), history.at(19)), (None, Some(&1), Some(&1)));
        assert_eq!((history.at(20), history.at(99)), (Some(&2), Some(&3)));
        assert_eq!(history.within(15, 25).collect::<Vec<_>>(), [&1, &5, &2]);
        assert_eq!(history.within(0, 9).count(), 0);
        assert_eq!(history.within(40, 41).collect::<Vec<_>>(), [&3]);
    }

    #[test]
    fn what_lasted_longest_is_known() {
        let mut history = History::default();
        for (ns, state) in [(10, 'a'), (30, 'b'), (35, 'c'), (60, 'd')] {
            history.push(ns, state, |_| 0);
        }
        assert_eq!(history.longest(0, 62), Some(&'c'));
        assert_eq!(history.longest(0, 36), Some(&'a'));
        assert_eq!(history.longest(22, 36), Some(&'a'), "from 22 to 30");
        assert_eq!(history.longest(27, 36), Some(&'b'));
        assert_eq!(history.longest(0, u64::MAX), Some(&'d'), "to the end");
        assert_eq!((history.longest(70, 80), history.longest(0, 10)), (Some(&'d'), None));
    }

    #[test]
    fn memory_is_bounded_and_the_peak_stays() {
        let mut history = History::default();
        for ns in 0..100_000_u64 {
            history.push(ns, if ns == 54_321 { 9 } else { ns % 3 }, |s| *s);
        }
        assert!(history.entries.len() <= MOST && history.coarse);
        assert_eq!(history.within(0, u64::MAX).max(), Some(&9));
        assert!(history.at(0).is_some() && history.last() == Some(&0));
    }
}
