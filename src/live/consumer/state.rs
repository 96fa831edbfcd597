//! What a consumer saves in the ring, and how the next one goes on from it.

use std::sync::Arc;

use super::{BATCH, Consumer, HOLD};
use crate::core::lines::Assembler;
use crate::core::strands::Strands;
use crate::core::tally::NUMBERS;
use crate::core::trace;
use crate::live::echo::{Echo, Filter, Mode};
use crate::live::intake::Intake;
use crate::live::left::{
    CUT_LINES, FLOOR, FLOOR_NS, HANDED, LOG_STATE, PRINTED, SHELVED, SOURCE_LINES, WRITER, saved_book,
};
use crate::live::log::{self, LogFile};
use crate::live::ring::{Ring, SAVED_WORDS};
use crate::live::source::Source;

/// What is saved of a process whose name the log may lack.
const NOT_SAID: u64 = u64::MAX;

impl Consumer {
    /// A consumer that goes on where the ring says the last one saved, or at the beginning.
    pub fn new(
        ring: Arc<Ring>,
        source: Option<&Source>,
        log: Option<LogFile>,
        echo: Echo,
        mode: Mode,
    ) -> Self {
        let saved = ring.saved();
        let log = log.map(|log| resumed_log(log, &saved));
        let handed = ring.handed();
        let mut book = saved_book(&ring);
        let process = u32::try_from(saved[WRITER]).ok();
        book.writer(process.unwrap_or(0));
        let strands = resumed_strands(source, log.as_ref(), &saved);
        let prints = source.map(|source| (Arc::clone(&source.ring), saved[PRINTED]));
        Consumer {
            intake: Intake::new((Arc::clone(&ring), saved[0]), prints),
            ring,
            shelf: source.map(|source| Arc::clone(&source.shelf)),
            shelved: saved[SHELVED],
            strands,
            source_lines: saved[SOURCE_LINES],
            process,
            assembler: Assembler::default(),
            writer: trace::Writer::default(),
            log,
            text: Vec::with_capacity(BATCH + (64 << 10)),
            handed,
            repeated: handed - saved[HANDED],
            oldest_ns: 0,
            filter: Filter::new(mode),
            echo,
            echo_text: Vec::new(),
            last_ns: 0,
            bytes: Vec::new(),
            phase: book.phase(),
            nudge: None,
            book,
            status: None,
            doze: None,
        }
    }

    /// Saves how far it is: all that is before this is on disk.
    pub(super) fn save(&mut self) {
        let mut saved = [0; SAVED_WORDS];
        (saved[0], saved[PRINTED]) = self.intake.cursors();
        saved[1] = self.log.as_ref().map_or(0, LogFile::offset);
        saved[3..3 + NUMBERS].copy_from_slice(&self.book.tally.numbers());
        if let Some(log) = &self.log {
            saved[LOG_STATE..LOG_STATE + log::STATE].copy_from_slice(&log.state());
        }
        saved[HANDED] = self.handed;
        (saved[SOURCE_LINES], saved[CUT_LINES]) = (self.source_lines, self.strands.cut);
        saved[WRITER] = self.process.map_or(NOT_SAID, u64::from);
        (saved[FLOOR], saved[FLOOR_NS]) = self.strands.floor().unwrap_or_default();
        if let Some(shelf) = &self.shelf {
            self.shelved = shelf.put(self.shelved, &self.strands.save());
            saved[SHELVED] = self.shelved;
        }
        self.ring.save(&saved);
    }
}

fn resumed_log(log: LogFile, saved: &[u64; SAVED_WORDS]) -> LogFile {
    let mut state = [0; log::STATE];
    state.copy_from_slice(&saved[LOG_STATE..LOG_STATE + log::STATE]);
    log.with_state(state)
}

/// The lines that have begun and not ended.
fn resumed_strands(source: Option<&Source>, log: Option<&LogFile>, saved: &[u64; SAVED_WORDS]) -> Strands {
    // The stamp of a line that has begun is on disk already.
    let floor = log.is_some_and(LogFile::in_line).then_some((saved[FLOOR], saved[FLOOR_NS]));
    let mut strands = Strands::new(if source.is_some() { HOLD } else { 0 });
    let held = source.map(|source| source.shelf.get(saved[SHELVED])).unwrap_or_default();
    strands.resume(floor, &held, saved[CUT_LINES]);
    strands
}
