//! The times that the columns of a split are of.

use crate::core::book::Book;
use crate::core::holding::buffers::Held;
use crate::core::memory::sums::{Figures, Sums};
use crate::core::weights::Weights;

/// A line about a buffer comes at most so much later than a sample that has it already, ns.
const LATE: u64 = 10_000_000;

/// The times that the columns are of.
pub(super) struct Times {
    pub(super) peak: Option<(Option<u64>, u64)>,
    /// The sample of the steady state's median: what is taken from its amount has to be of its moment.
    pub(super) steady: Option<(Option<u64>, u64)>,
    /// From the end of the first load to the last tear-down.
    span: Option<(u64, u64)>,
    /// The last line: without a tear-down the steady state lasts up to there.
    end: u64,
    pub(super) last: Option<(Option<u64>, u64)>,
    pub(super) last_ns: Option<u64>,
}

impl Times {
    pub(super) fn of(book: &Book, sums: &Sums) -> Times {
        let figure = |f: Option<Figures>| f.and_then(|f| f.gtt_bytes.map(|bytes| (f.at_ns, bytes)));
        let span = book.phases.steady().map(|(from, until)| (from, until.unwrap_or(u64::MAX)));
        // Over all samples, with load and tear-down, it would not be the steady state.
        let last = figure(sums.last);
        Times {
            peak: figure(sums.peak),
            steady: figure(sums.steady.filter(|_| span.is_some())),
            span,
            end: book.profile.last_ns().saturating_add(1),
            last,
            // What a tear-down frees is not in the log.
            last_ns: last.and_then(|(ns, _)| ns).filter(|ns| span.is_none_or(|(_, until)| *ns < until)),
        }
    }

    /// What the log held at the three times; without samples at its own peak, for longest in the steady state, and at its end.
    pub(super) fn held(&self, book: &Book) -> [Option<Held>; 3] {
        let holding = &book.holding;
        let peak = match self.peak {
            Some((Some(ns), _)) => Some(holding.at_sample(ns, LATE).cloned().unwrap_or_default()),
            _ => holding.peak().map(|(_, held)| held.clone()),
        };
        let steady = match (self.steady, self.span) {
            (Some((Some(ns), _)), _) => holding.at_sample(ns, LATE),
            (_, Some((from, until))) => holding.longest(from, until.min(self.end)),
            (_, None) => None,
        };
        [peak, steady.cloned(), self.last_ns.and_then(|ns| holding.at(ns).cloned())]
    }

    /// The packed copies in the steady state and at the end, as the trace told them last.
    pub(super) fn packed(&self, weights: &Weights) -> [Option<u64>; 2] {
        let steady = match (self.steady, self.span) {
            (Some((Some(ns), _)), _) => weights.at(ns),
            (_, Some((from, until))) => weights.longest(from, until.min(self.end)),
            (_, None) => None,
        };
        [steady, self.last_ns.and_then(|ns| weights.at(ns))]
    }
}
