//! What a trace covers, and what in it is not understood.

use std::collections::BTreeMap;

use super::MOST_WORDS;
use crate::core::parse::rejoin::Serial;
use crate::core::parse::serial::{self, Phase};
use crate::core::text::printable;

/// What a trace covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Dispatches whose launch began.
    pub begun: u64,
    /// Dispatches whose launch ended.
    pub ended: u64,
    /// Dispatches whose device time is known.
    pub completed: u64,
    /// Of these: the end of the launch and of the wait have one stamp, since one read brought both. Their time is too short
    /// by what is not known.
    pub unresolved: u64,
    /// Ends without a beginning: the trace began in the middle.
    pub orphans: u64,
    /// Dispatches that were begun, and of which a line was broken: neither counted nor open.
    pub broken: u64,
    /// Dispatches that began while another was open: more than one context wrote this trace.
    pub overlapping: u64,
    /// Dispatches that began again while they were open: a line or a run was lost, or two processes whose lines cannot be
    /// told apart wrote this trace.
    pub repeated: u64,
    /// Dispatches that failed, by the backend's own word: their launch, or the wait for them.
    pub failed: u64,
    /// Processes that wrote the trace, as far as their pids are known: none where no line says whose it is.
    pub processes: u64,
    /// Dispatches that were open in processes that wrote nothing any more while many others did.
    pub left: u64,
    /// Waits without a detail: commands outside the range that the backend was asked to trace.
    pub untraced_waits: u64,
    /// Failed programs, by the backend's own word.
    pub failed_programs: u64,
    /// Events whose line had no time of its own.
    pub untimed: u64,
    /// Words that are not known, by name.
    pub unknown: BTreeMap<String, u64>,
}

impl Coverage {
    /// Counts the words of a line that no rule knows.
    pub(super) fn note_unknown(&mut self, serial: &Serial<'_>) {
        let words = [
            (serial.event == serial::Event::Other).then_some(("event", serial.words.0)),
            (serial.phase == Phase::Other).then_some(("phase", serial.words.1)),
            serial.detail.as_ref().filter(|d| d.too_large).map(|_| ("number", &b"beyond 64 bits"[..])),
            serial
                .detail
                .as_ref()
                .filter(|d| d.kind == serial::CommandKind::Other)
                .map(|_| ("kind", &b"not a kernel"[..])),
        ];
        for (what, word) in words.into_iter().flatten() {
            let name = format!("{what} {}", printable(&word[..word.len().min(64)]));
            let known = self.unknown.len() < MOST_WORDS || self.unknown.contains_key(&name);
            let name = if known { name } else { "further words".to_owned() };
            *self.unknown.entry(name).or_default() += 1;
        }
    }
}
