//! What a producer left in the ring that died between its reservation and its commit.

use std::sync::atomic::Ordering;

use super::{Record, Ring, Source};
use crate::core::ring_layout::{COMMITTED, HEADER, RESERVED, STEP};
use crate::live::read_port::BLANK;

impl Ring {
    /// The producer of an open record, pid and thread, if it announced itself.
    pub fn holder(&self, cursor: u64) -> Option<(i32, i32)> {
        let announced = self.header(cursor, 0).load(Ordering::Acquire) == self.mark(cursor, RESERVED);
        announced.then(|| self.record(cursor, 0, 0)).map(|record| (record.pid, record.thread))
    }

    /// What a dead producer left at an open record: the bytes that had been read into it (`ns` becomes their stamp), and
    /// where the records go on. Only when its producer is known to be gone.
    pub fn recover(&self, cursor: u64, ns: u64, out: &mut Vec<u8>) -> Record {
        let head = self.head();
        let announced = self.header(cursor, 0).load(Ordering::Acquire) == self.mark(cursor, RESERVED);
        let measure = self.header(cursor, 1).load(Ordering::Relaxed);
        let mut next = cursor + STEP;
        while next < head && !self.begins_record(next) {
            next += STEP;
        }
        let next = next.min(head);
        if announced && measure >> 56 == Source::Read as u64 && next > cursor + HEADER {
            let before = out.len();
            self.memory.copy_out(self.window, cursor + HEADER, (next - cursor - HEADER) as usize, out);
            let used = out[before..].iter().rposition(|b| *b != BLANK).map_or(0, |last| last + 1);
            out.truncate(before + used);
        }
        Record { next, ..self.record(cursor, measure, ns) }
    }

    fn begins_record(&self, at: u64) -> bool {
        let mark = self.header(at, 0).load(Ordering::Acquire);
        mark == self.mark(at, RESERVED) || mark == self.mark(at, COMMITTED)
    }
}
