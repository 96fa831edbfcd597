//! What a timeline consists of, for writers of one format or another.

use std::borrow::Cow;

use crate::core::parse::serial::List;

/// A row of the timeline. On each, spans follow each other and never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Track {
    /// Words about the run: its start and end, signals, stops, what was trimmed.
    Marks,
    /// GTT of the process tree.
    Gtt,
    /// VRAM of the process tree.
    Vram,
    /// Resident memory of the process tree.
    Rss,
    /// What the run is at: loading, making a context, running.
    Phases,
    /// Command programs, of a context.
    Programs(u16),
    /// What the host does around a program's lists, of a context.
    Host(u16),
    /// Waits for an idle device, of a context: the instrument.
    Waits(u16),
    /// Launches, of a context.
    Launches(u16),
    /// The device, of a context.
    Device(u16),
}

impl Track {
    /// Its name for people.
    pub fn name(self) -> String {
        let of = |what: &str, context: u16| match context {
            0 => what.to_owned(),
            n => format!("{what} (context {})", n + 1),
        };
        match self {
            Track::Marks => "run".to_owned(),
            Track::Gtt => "GTT".to_owned(),
            Track::Vram => "VRAM".to_owned(),
            Track::Rss => "RSS".to_owned(),
            Track::Phases => "phases".to_owned(),
            Track::Programs(n) => of("programs", n),
            Track::Host(n) => of("host phases", n),
            Track::Waits(n) => of("waits before dispatches (the instrument)", n),
            Track::Launches(n) => of("launches", n),
            Track::Device(n) => of("device", n),
        }
    }

    /// Its number in a file: its own, and never 0.
    pub fn number(self) -> u64 {
        match self {
            Track::Marks => 2,
            Track::Gtt => 3,
            Track::Vram => 4,
            Track::Rss => 5,
            Track::Phases => 6,
            Track::Launches(n) => 16 + 8 * u64::from(n),
            Track::Device(n) => 17 + 8 * u64::from(n),
            Track::Waits(n) => 18 + 8 * u64::from(n),
            Track::Programs(n) => 19 + 8 * u64::from(n),
            Track::Host(n) => 20 + 8 * u64::from(n),
        }
    }

    /// It holds numbers of bytes and no spans.
    pub fn counts(self) -> bool {
        matches!(self, Track::Gtt | Track::Vram | Track::Rss)
    }
}

/// What a span is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// A kernel, by its id.
    Kernel(Option<u64>),
    /// A command program, by the number of its commands.
    Program(Option<u64>),
    /// Words.
    Words(&'static str),
}

impl Name {
    /// The words of what is no kernel.
    pub fn words(self) -> Option<Cow<'static, str>> {
        match self {
            Name::Kernel(_) => None,
            Name::Program(Some(commands)) => Some(format!("program of {commands} commands").into()),
            Name::Program(None) => Some("program".into()),
            Name::Words(words) => Some(words.into()),
        }
    }
}

/// What a span carries along. Absent is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The kernel's id.
    pub kernel_id: Option<u64>,
    /// Its number of bindings.
    pub bindings: Option<u64>,
    /// Its list, the list's commands, and its place among them.
    pub place: Option<(List, u64, u64)>,
    /// Commands of a program's main list.
    pub main_commands: Option<u64>,
    /// It had not come to its end when the run or the trace ended.
    pub open: bool,
    /// It began again, or failed, before it came to its end.
    pub left: bool,
}

/// A span; `until` is absent when it has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where it is drawn.
    pub track: Track,
    /// What it is called.
    pub name: Name,
    /// Its beginning, ns.
    pub from: u64,
    /// Its end, ns.
    pub until: Option<u64>,
    /// What it carries along.
    pub facts: Facts,
}

/// Takes the spans of a timeline. On a track they come in the order of time.
pub trait Spans {
    /// One span.
    fn span(&mut self, stretch: &Stretch);
}

/// Takes the other parts of a timeline as well.
pub trait Canvas: Spans {
    /// A moment.
    fn mark(&mut self, track: Track, words: &str, at: u64);
    /// A number of bytes from this moment on.
    fn bytes(&mut self, track: Track, at: u64, bytes: u64);
}
