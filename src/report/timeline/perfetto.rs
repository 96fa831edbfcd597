//! Perfetto's protobuf: <https://perfetto.dev/docs/reference/trace-packet-proto>, field numbers as there.

use std::collections::BTreeMap;

use crate::core::names::Catalogue;
use crate::core::run::Run;
use crate::core::timeline::{Canvas, Facts, Name, Spans, Stretch, Track};
use crate::report::timeline::bodies::Bodies;
use crate::report::timeline::proto::{bytes, message, number};
use crate::report::timeline::{Declared, Drawing, kernel, title};

/// `Trace.packet`.
const PACKET: u64 = 1;
/// Fields of `TracePacket`.
mod packet {
    pub const CLOCK_SNAPSHOT: u64 = 6;
    pub const TIMESTAMP: u64 = 8;
    pub const SEQUENCE: u64 = 10;
    pub const TRACK_EVENT: u64 = 11;
    pub const INTERNED: u64 = 12;
    pub const FLAGS: u64 = 13;
    pub const DEFAULTS: u64 = 59;
    pub const CLOCK: u64 = 58;
    pub const TRACK: u64 = 60;
}
/// Fields of `TrackEvent`.
mod event {
    pub const ANNOTATION: u64 = 4;
    pub const TYPE: u64 = 9;
    pub const NAME_ID: u64 = 10;
    pub const TRACK: u64 = 11;
    pub const NAME: u64 = 23;
    pub const COUNT: u64 = 30;
}
/// `TrackEvent.Type`.
mod kind {
    pub const BEGIN: u64 = 1;
    pub const END: u64 = 2;
    pub const INSTANT: u64 = 3;
    pub const COUNTER: u64 = 4;
}
/// `SEQ_INCREMENTAL_STATE_CLEARED` and `SEQ_NEEDS_INCREMENTAL_STATE`.
const CLEARED: u64 = 1;
const NEEDS: u64 = 2;
/// `BUILTIN_CLOCK_MONOTONIC` and `_REALTIME`.
const MONOTONIC: u64 = 3;
const REALTIME: u64 = 1;
/// All packets are of one writer.
const SEQUENCE: u64 = 1;
/// The track that holds all others.
const PROCESS: u64 = 1;
/// `CounterDescriptor.Unit`: bytes.
const UNIT_BYTES: u64 = 3;

/// The names of what a span carries along, in the order of their numbers (from 1).
const FACTS: [&str; 8] =
    ["kernel_id", "bindings", "list", "list_commands", "index", "main_commands", "open", "left"];

/// Writes a trace.
#[derive(Debug)]
pub struct Perfetto<'a> {
    out: Vec<u8>,
    names: &'a Catalogue,
    known: BTreeMap<Option<u64>, u64>,
    declared: Declared,
    bodies: Bodies,
}

impl<'a> Perfetto<'a> {
    /// A trace with its head written. `realtime_ns`: UTC at the run's start, ns since 1970, where it is known.
    pub fn new(run: &Run, names: &'a Catalogue, realtime_ns: Option<u64>) -> Self {
        let mut new = Perfetto {
            out: Vec::new(),
            names,
            known: BTreeMap::new(),
            declared: Declared::default(),
            bodies: Bodies::default(),
        };
        new.head(run, realtime_ns);
        new
    }

    fn head(&mut self, run: &Run, realtime_ns: Option<u64>) {
        let start = run.clock.start_ns;
        message(&mut self.out, PACKET, |p| {
            number(p, packet::SEQUENCE, SEQUENCE);
            number(p, packet::FLAGS, CLEARED);
            message(p, packet::DEFAULTS, |d| number(d, packet::CLOCK, MONOTONIC));
            message(p, packet::CLOCK_SNAPSHOT, |s| {
                let clocks = [(MONOTONIC, Some(start)), (REALTIME, realtime_ns)];
                for (id, ns) in clocks.into_iter().filter_map(|(id, ns)| Some((id, ns?))) {
                    message(s, 1, |c| {
                        number(c, 1, id);
                        number(c, 2, ns);
                    });
                }
                // Times are shown as they are stamped, on no other clock.
                number(s, 2, MONOTONIC);
            });
            message(p, packet::INTERNED, |i| {
                for (n, name) in FACTS.iter().enumerate() {
                    message(i, 3, |a| {
                        number(a, 1, n as u64 + 1);
                        bytes(a, 2, name.as_bytes());
                    });
                }
            });
        });
        message(&mut self.out, PACKET, |p| {
            number(p, packet::SEQUENCE, SEQUENCE);
            message(p, packet::TRACK, |t| {
                number(t, 1, PROCESS);
                message(t, 3, |process| {
                    // Perfetto wants some pid; that of a run without a record is not known.
                    number(process, 1, run.pid.and_then(|pid| u64::try_from(pid).ok()).unwrap_or(1));
                    bytes(process, 6, title(run).as_bytes());
                });
                // Its tracks stand in the order of their ranks.
                number(t, 11, 3);
            });
        });
    }

    fn declare(&mut self, track: Track) {
        if !self.declared.first(track) {
            return;
        }
        message(&mut self.out, PACKET, |p| {
            number(p, packet::SEQUENCE, SEQUENCE);
            message(p, packet::TRACK, |t| {
                number(t, 1, track.number());
                bytes(t, 2, track.name().as_bytes());
                number(t, 5, PROCESS);
                if track.counts() {
                    message(t, 8, |c| number(c, 3, UNIT_BYTES));
                }
                number(t, 12, track.number());
            });
        });
    }

    /// The number of a kernel's name, and whether the name itself has to be sent along.
    fn name(&mut self, id: Option<u64>) -> (u64, bool) {
        let next = self.known.len() as u64 + 1;
        match self.known.get(&id) {
            Some(known) => (*known, false),
            None => {
                self.known.insert(id, next);
                (next, true)
            }
        }
    }

    fn begin(&mut self, stretch: &Stretch) {
        let name = stretch.name;
        let (number_of_name, new) = match name {
            Name::Kernel(id) => self.name(id),
            _ => (0, false),
        };
        let Perfetto { out, names, bodies, .. } = self;
        let body = bodies.of(stretch, |e| {
            number(e, event::TYPE, kind::BEGIN);
            number(e, event::TRACK, stretch.track.number());
            match name.words() {
                None => number(e, event::NAME_ID, number_of_name),
                Some(words) => bytes(e, event::NAME, words.as_bytes()),
            }
            annotate(e, &stretch.facts);
        });
        message(out, PACKET, |p| {
            number(p, packet::TIMESTAMP, stretch.from);
            number(p, packet::SEQUENCE, SEQUENCE);
            number(p, packet::FLAGS, NEEDS);
            if let (Name::Kernel(id), true) = (name, new) {
                message(p, packet::INTERNED, |i| {
                    message(i, 2, |n| {
                        number(n, 1, number_of_name);
                        bytes(n, 2, kernel(id, names).as_bytes());
                    });
                });
            }
            bytes(p, packet::TRACK_EVENT, body);
        });
    }

    fn simple(&mut self, track: Track, at: u64, write: impl FnOnce(&mut Vec<u8>)) {
        message(&mut self.out, PACKET, |p| {
            number(p, packet::TIMESTAMP, at);
            number(p, packet::SEQUENCE, SEQUENCE);
            // The clock's default is part of the state.
            number(p, packet::FLAGS, NEEDS);
            message(p, packet::TRACK_EVENT, |e| {
                number(e, event::TRACK, track.number());
                write(e);
            });
        });
    }
}

/// What a span carries along.
fn annotate(out: &mut Vec<u8>, facts: &Facts) {
    let mut unsigned = |name: u64, value: Option<u64>| {
        if let Some(value) = value {
            message(out, event::ANNOTATION, |a| {
                number(a, 1, name);
                number(a, 3, value);
            });
        }
    };
    unsigned(1, facts.kernel_id);
    unsigned(2, facts.bindings);
    unsigned(4, facts.place.map(|p| p.1));
    unsigned(5, facts.place.map(|p| p.2));
    unsigned(6, facts.main_commands);
    if let Some((list, ..)) = facts.place {
        message(out, event::ANNOTATION, |a| {
            number(a, 1, 3);
            bytes(a, 6, list.name().as_bytes());
        });
    }
    for (name, is) in [(7, facts.open), (8, facts.left)] {
        if is {
            message(out, event::ANNOTATION, |a| {
                number(a, 1, name);
                number(a, 2, 1);
            });
        }
    }
}

impl Spans for Perfetto<'_> {
    fn span(&mut self, stretch: &Stretch) {
        self.declare(stretch.track);
        self.begin(stretch);
        if let Some(until) = stretch.until {
            self.simple(stretch.track, until, |e| number(e, event::TYPE, kind::END));
        }
    }
}

impl Canvas for Perfetto<'_> {
    fn mark(&mut self, track: Track, words: &str, at: u64) {
        self.declare(track);
        self.simple(track, at, |e| {
            number(e, event::TYPE, kind::INSTANT);
            bytes(e, event::NAME, words.as_bytes());
        });
    }

    fn bytes(&mut self, track: Track, at: u64, amount: u64) {
        self.declare(track);
        self.simple(track, at, |e| {
            number(e, event::TYPE, kind::COUNTER);
            number(e, event::COUNT, amount);
        });
    }
}

impl Drawing for Perfetto<'_> {
    fn take(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    fn close(&mut self) {}
}
