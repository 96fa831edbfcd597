//! The times that the columns of a split are of.

use crate::core::book::Book;
use crate::core::holding::buffers::Held;
use crate::core::memory::sums::{Figures, Sums};

/// A line about a buffer comes at most so much later than a sample that has it already, ns.
const LATE: u64 = 10_000_000;

/// The times that the columns are of.
pub(super) struct Times {
    pub(super) peak: Option<(Option<u64>, u64)>,
    pub(super) steady: Option<u64>,
    pub(super) steady_end: Option<u64>,
    pub(super) last: Option<(Option<u64>, u64)>,
    pub(super) last_ns: Option<u64>,
}

impl Times {
    pub(super) fn of(book: &Book, sums: &Sums) -> Times {
        let figure = |f: Option<Figures>| f.and_then(|f| f.gtt_bytes.map(|bytes| (f.at_ns, bytes)));
        let span = book.phases.steady().map(|(from, until)| (from, until.unwrap_or(u64::MAX)));
        let last = figure(sums.last);
        Times {
            peak: figure(sums.peak),
            // Over all samples, with load and tear-down, it would not be the steady state.
            steady: sums.steady.filter(|_| span.is_some()).and_then(|f| f.gtt_bytes),
            steady_end: span.map(|(_, until)| until),
            last,
            // What a tear-down frees is not in the log.
            last_ns: last.and_then(|(ns, _)| ns).filter(|ns| span.is_none_or(|(_, until)| *ns < until)),
        }
    }

    /// What the log held at the three times; without samples at its own peak and at its end.
    pub(super) fn held(&self, book: &Book) -> [Option<Held>; 3] {
        let holding = &book.holding;
        let peak = match self.peak {
            Some((Some(ns), _)) => Some(holding.at_sample(ns, LATE).cloned().unwrap_or_default()),
            _ => holding.peak().map(|(_, held)| held.clone()),
        };
        // The first line of a tear-down may have the same stamp as the last one.
        let steady = self.steady_end.and_then(|ns| holding.at_sample(ns.saturating_sub(1), 1).cloned());
        [peak, steady, self.last_ns.and_then(|ns| holding.at(ns).cloned())]
    }
}
