//! The book of a run: everything that its lines add up to.

use regex::bytes::Regex;

use crate::core::event::{Event, Sink};
use crate::core::holding::Holding;
use crate::core::lines::Line;
use crate::core::parse::rejoin::{Part, Rejoiner};
use crate::core::parse::{llama, serial};
use crate::core::phases::{Phase, Phases};
use crate::core::profile::Profile;
use crate::core::run::Run;
use crate::core::shorthand::Writer;
use crate::core::tally::Tally;
use crate::core::weights::Weights;

/// All sinks of a run. A live run and a parse of what it left keep the same book, so that they give the same report.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// Lines by kind.
    pub tally: Tally,
    /// Dispatches by kernel.
    pub profile: Profile,
    /// Models and contexts by what they hold.
    pub holding: Holding,
    /// Packed copies of weights.
    pub weights: Weights,
    /// Where the run was when.
    pub phases: Phases,
    /// Its trace's events in short, where they are wanted.
    pub shorthand: Option<Writer>,
    /// It goes on from another book's counts alone: what lines before said of memory is not in it.
    pub resumed: bool,
    rejoiner: Rejoiner,
}

impl Book {
    /// A book that goes on from another one's sums.
    pub fn from_tally(tally: Tally) -> Self {
        let resumed = tally.lines > 0;
        Book { tally, resumed, ..Book::default() }
    }

    /// Reads lines as the run's record says.
    pub fn read_as(&mut self, run: &Run) {
        // A pattern that does not compile was refused when the run began.
        if let Some(pattern) = run.packed_pattern.as_ref().and_then(|text| Regex::new(text).ok()) {
            self.weights.set_pattern(pattern);
        }
    }

    /// The phase of the run as its last line tells it; a change of it is worth a sample.
    pub fn phase(&self) -> Option<Phase> {
        self.phases.now()
    }

    /// The last line read is the rest of a trace line, or may turn out to be one.
    pub fn in_trace_line(&self) -> bool {
        self.rejoiner.in_trace_line()
    }

    /// The lines from here on are of this process.
    pub fn writer(&mut self, pid: u32) {
        let event = Event::Process(pid);
        self.profile.event(&event);
        if let Some(short) = &mut self.shorthand {
            short.event(&event);
        }
    }

    /// Takes one line: says what is in it and hands that to every sink. `foreign` gets what is not of the serial trace,
    /// as it was written, with whether a line end follows.
    pub fn take(&mut self, line: &Line<'_>, mut foreign: impl FnMut(&[u8], bool)) {
        self.tally.line(line);
        self.profile.line(line);
        self.holding.line(line);
        self.phases.line(line);
        if !line.first {
            // The middle of a very long line is text, whatever is in it.
            return foreign(line.bytes, line.last && line.terminated);
        }
        let Book { tally, profile, holding, weights, phases, rejoiner, shorthand, .. } = self;
        let ends = line.last && line.terminated;
        let mut all = |event: &Event<'_>| {
            tally.event(event);
            profile.event(event);
            holding.event(event);
            phases.event(event);
            if let Some(short) = shorthand {
                short.event(event);
            }
        };
        rejoiner.take(line.ns, line.bytes, |part| match &part {
            Part::Serial(event) => all(&Event::Serial(event)),
            Part::Broken => all(&Event::Broken),
            Part::Foreign(text, whole) => {
                all(&meaning(line.ns, text, weights));
                foreign(text, *whole && ends);
            }
        });
        tally.rejoined += std::mem::take(&mut rejoiner.rejoined);
    }

    /// The end of all lines.
    pub fn finish(&mut self) {
        let Book { tally, profile, holding, rejoiner, shorthand, .. } = self;
        let mut all = |event: &Event<'_>| {
            tally.event(event);
            profile.event(event);
            if let Some(short) = shorthand {
                short.event(event);
            }
        };
        rejoiner.finish(|part| match part {
            Part::Serial(event) => all(&Event::Serial(&event)),
            Part::Broken => all(&Event::Broken),
            Part::Foreign(..) => {}
        });
        profile.finish();
        holding.finish();
    }
}

/// What a text that is not of the serial trace says.
fn meaning<'a>(ns: u64, text: &'a [u8], weights: &mut Weights) -> Event<'a> {
    if let Some(words) = serial::sync_failed(text) {
        return Event::SyncFailed(words);
    }
    if weights.take(ns, text) {
        return Event::HostWeights;
    }
    if let Some(said) = llama::said(text) {
        return Event::Llama(said);
    }
    llama::build_line(text).map_or(Event::Text(text), Event::Build)
}
