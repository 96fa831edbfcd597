//! The book of a run: everything that its lines add up to.

use crate::core::event::{Event, Sink, classify};
use crate::core::lines::Line;
use crate::core::tally::Tally;

/// All sinks of a run. A live run and a parse of what it left keep the same book, so that they give the same report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    /// Lines by kind.
    pub tally: Tally,
}

impl Book {
    /// Takes one line: says what it is and hands it to every sink.
    pub fn take(&mut self, line: &Line<'_>) {
        let event = classify(line);
        self.line(line, &event);
    }
}

impl Sink for Book {
    fn line(&mut self, line: &Line<'_>, event: &Event<'_>) {
        self.tally.line(line, event);
    }
}
