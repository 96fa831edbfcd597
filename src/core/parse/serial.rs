//! The words of the HRX serial trace: `hrx debug serial: <event> phase=<phase>[ <key>=<value>…]`.
//!
//! Only words here; how lines that were written into each other come apart is in [`super::rejoin`].

use memchr::memmem;

pub use super::detail::{CommandKind, Detail, List, detail, find_detail, is_detail, is_field};

/// What marks a line of the serial trace, anywhere in it.
pub const MARK: &[u8] = b"hrx debug serial: ";

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something begins.
    Begin,
    /// It ended.
    End,
    /// It failed.
    Failed,
    /// A wait for the device begins.
    SyncBegin,
    /// The device is idle.
    SyncEnd,
    /// A word of a later build.
    Other,
}

/// Where it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before a command's launch: the device is idle already.
    Pre,
    /// A command's launch.
    Launch,
    /// After a command's launch: the device works.
    Post,
    /// A command list.
    List,
    /// A command program.
    Program,
    /// A phase of the host: its place in [`HOST_PHASES`], and whether it is the side behind it.
    Host(u8, bool),
    /// A word of a later build.
    Other,
}

/// What the host does around a program's lists, in the backend's order. The trace prints `-pre` and `-post` of each.
pub const HOST_PHASES: [&str; 8] = [
    "host-staging-rebind",
    "transient-arena-acquire",
    "transient-bind",
    "constant-initialization",
    "completion-counter-initialization",
    "host-staging-upload-buffer",
    "host-staging-upload",
    "host-staging-download",
];

/// A head: event and phase, and what stands behind them in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// What happened.
    pub event: Event,
    /// The event's word.
    pub word: &'a [u8],
    /// Where.
    pub phase: Phase,
    /// The phase's word.
    pub phase_word: &'a [u8],
    /// The rest of the line.
    pub rest: &'a [u8],
}

/// The beginnings of a dispatch's lines in the backend's order: the event's length, event and phase.
const USUAL: [(&[u8], usize, Event, Phase); 6] = [
    (b"sync-begin phase=command-pre-dispatch ", 10, Event::SyncBegin, Phase::Pre),
    (b"sync-end phase=command-pre-dispatch ", 8, Event::SyncEnd, Phase::Pre),
    (b"begin phase=command-dispatch ", 5, Event::Begin, Phase::Launch),
    (b"end phase=command-dispatch ", 3, Event::End, Phase::Launch),
    (b"sync-begin phase=command-post-dispatch ", 10, Event::SyncBegin, Phase::Post),
    (b"sync-end phase=command-post-dispatch ", 8, Event::SyncEnd, Phase::Post),
];

/// Reads heads one after another, with a guess at the next one that saves reading it word by word.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heads {
    next: usize,
}

impl Heads {
    /// As [`head`].
    pub fn read<'a>(&mut self, text: &'a [u8]) -> Option<Head<'a>> {
        let (usual, length, event, phase) = USUAL[self.next];
        if text.starts_with(usual) {
            self.next = (self.next + 1) % USUAL.len();
            let (begin, rest) = text.split_at(usual.len() - 1);
            let phase_word = &begin[length + " phase=".len()..];
            return Some(Head { event, word: &text[..length], phase, phase_word, rest });
        }
        let head = head(text)?;
        let place = USUAL.iter().position(|(_, _, e, p)| (*e, *p) == (head.event, head.phase));
        self.next = place.map_or(0, |at| (at + 1) % USUAL.len());
        Some(head)
    }
}

/// Reads a head behind its mark. `None`: cut, or written into before its phase was out.
pub fn head(text: &[u8]) -> Option<Head<'_>> {
    let space = text.iter().take(40).position(|b| *b == b' ')?;
    let (word, rest) = (&text[..space], text[space + 1..].strip_prefix(b"phase=")?);
    let event = match word {
        b"begin" => Event::Begin,
        b"end" => Event::End,
        b"sync-begin" => Event::SyncBegin,
        b"sync-end" => Event::SyncEnd,
        b"failed" => Event::Failed,
        other if !other.is_empty() && other.iter().all(|b| b.is_ascii_lowercase() || *b == b'-') => {
            Event::Other
        }
        _ => return None,
    };
    let (phase, length) = phase(rest)?;
    Some(Head { event, word, phase, phase_word: &rest[..length], rest: &rest[length..] })
}

/// The phase that a text begins with, and its length. Foreign text may stand right behind it.
fn phase(text: &[u8]) -> Option<(Phase, usize)> {
    let end = text.iter().position(|b| !b.is_ascii_lowercase() && *b != b'-').unwrap_or(text.len());
    let word = &text[..end];
    if let Some(known) = known_phase(word) {
        return Some((known, end));
    }
    // A word that is not known: a known one with letters right behind it is one with foreign text; one with more words
    // of its own is of a later build.
    let known = (1..end).rev().find_map(|n| known_phase(&word[..n]).map(|phase| (phase, n)));
    match known {
        Some((phase, n)) if word[n] != b'-' || !whole(&text[end..]) => Some((phase, n)),
        _ if end > 0 && whole(&text[end..]) => Some((Phase::Other, end)),
        known => known,
    }
}

/// What follows is a line's end or a detail.
fn whole(text: &[u8]) -> bool {
    text.is_empty() || is_detail(text)
}

fn known_phase(word: &[u8]) -> Option<Phase> {
    Some(match word {
        b"command-pre-dispatch" => Phase::Pre,
        b"command-dispatch" => Phase::Launch,
        b"command-post-dispatch" => Phase::Post,
        b"command-list" => Phase::List,
        b"command-program" => Phase::Program,
        _ => {
            let (name, post) = match word.strip_suffix(b"-post") {
                Some(name) => (name, true),
                None => (word.strip_suffix(b"-pre")?, false),
            };
            let place = HOST_PHASES.iter().position(|p| p.as_bytes() == name)?;
            Phase::Host(u8::try_from(place).ok()?, post)
        }
    })
}

/// The phase and the reason of `HRX debug serial sync failed phase=<phase> <detail>: <reason>`, as llama.cpp's logger
/// prints it.
pub fn sync_failed(line: &[u8]) -> Option<&[u8]> {
    const WORDS: &[u8] = b"HRX debug serial sync failed phase=";
    memmem::find(line, WORDS).map(|at| line[at + WORDS.len()..].trim_ascii_end())
}

#[cfg(test)]
#[path = "serial_tests.rs"]
mod tests;
