//! The book of a run: everything that its lines add up to.

use crate::core::event::{Event, Sink};
use crate::core::lines::Line;
use crate::core::parse::rejoin::{Part, Rejoiner};
use crate::core::parse::{llama, serial};
use crate::core::profile::Profile;
use crate::core::tally::Tally;

/// All sinks of a run. A live run and a parse of what it left keep the same book, so that they give the same report.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// Lines by kind.
    pub tally: Tally,
    /// Dispatches by kernel.
    pub profile: Profile,
    rejoiner: Rejoiner,
}

impl Book {
    /// A book that goes on from another one's sums.
    pub fn from_tally(tally: Tally) -> Self {
        Book { tally, ..Book::default() }
    }

    /// The last line read is the rest of a trace line, or may turn out to be one.
    pub fn in_trace_line(&self) -> bool {
        self.rejoiner.in_trace_line()
    }

    /// Takes one line: says what is in it and hands that to every sink. `foreign` gets what is not of the serial trace,
    /// as it was written, with whether a line end follows.
    pub fn take(&mut self, line: &Line<'_>, mut foreign: impl FnMut(&[u8], bool)) {
        self.tally.line(line);
        self.profile.line(line);
        if !line.first {
            // The middle of a very long line is text, whatever is in it.
            return foreign(line.bytes, line.last && line.terminated);
        }
        let Book { tally, profile, rejoiner } = self;
        let ends = line.last && line.terminated;
        let mut all = |event: &Event<'_>| {
            tally.event(event);
            profile.event(event);
        };
        rejoiner.take(line.ns, line.bytes, |part| match part {
            Part::Serial(event) => all(&Event::Serial(event)),
            Part::Broken => all(&Event::Broken),
            Part::Foreign(text, whole) => {
                all(&meaning(text));
                foreign(text, whole && ends);
            }
        });
        tally.rejoined += std::mem::take(&mut rejoiner.rejoined);
    }

    /// The end of all lines.
    pub fn finish(&mut self) {
        let Book { tally, profile, rejoiner } = self;
        let mut all = |event: &Event<'_>| {
            tally.event(event);
            profile.event(event);
        };
        rejoiner.finish(|part| match part {
            Part::Serial(event) => all(&Event::Serial(event)),
            Part::Broken => all(&Event::Broken),
            Part::Foreign(..) => {}
        });
        profile.finish();
    }
}

/// What a text that is not of the serial trace says.
fn meaning(text: &[u8]) -> Event<'_> {
    if let Some(words) = serial::sync_failed(text) {
        return Event::SyncFailed(words);
    }
    llama::build_line(text).map_or(Event::Text, Event::Build)
}
