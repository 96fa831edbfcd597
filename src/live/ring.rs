//! The ring: stamped byte pieces in shared memory, between whoever reads or prints and whoever writes them down.
//!
//! Lock-free and bounded. A producer **reserves** room (one compare-and-swap), fills it and **commits** it; records are
//! taken in the order of their reservation. It lives in shared memory, so that another process can go on where a
//! killed one stopped, and nothing that was committed is lost with a process.
//!
//! Positions are byte counts since the start and never come again; how a record looks is in [`crate::core::ring_layout`].
//!
//! Invariants: `tail ≤ cursor ≤ head`, `head − tail ≤ capacity`, all multiples of 16. Between `tail` and `head` every
//! byte belongs to a reservation; beyond `head` nothing is anybody's but the reader's blank run (see [`crate::live::read_port`]).

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::core::ring_layout::{
    BYPASSED, CLOSED, COMMITTED, CONTROL, DEVICE, HEAD, INODE, KEY, LONGEST_STALL, MAGIC, OPEN, PRINT,
    PROCESSES, RESERVED, STALL_NS, STALLS, STEP, TAIL, span,
};
use crate::live::read_port::BLANK;
use crate::sys::shm::{Shared, Window};

pub use crate::core::ring_layout::HEADER;

/// The largest payload of one record.
pub const MAX_PAYLOAD: usize = 1 << 20;
/// The capacity of a run's ring.
pub const DEFAULT_CAPACITY: usize = 16 << 20;

// Words of the control page that only the supervisor's side knows.
const HANDED: usize = 51;
const SAVED_SIDE: usize = 64;
const SAVED: [usize; 2] = [80, 128];

/// What a consumer must know to go on after another one: as many numbers as it likes, kept together.
pub const SAVED_WORDS: usize = 40;

/// Where a record's time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Our reader, when it had read the bytes.
    Read = 1,
    /// The process that printed them, when it did.
    Print = PRINT as isize,
}

/// Who writes a record.
#[derive(Clone, Copy, Debug)]
pub struct Producer {
    /// Its pid.
    pub pid: i32,
    /// Its thread, 0 where that does not matter.
    pub thread: i32,
    /// Where its stamps come from.
    pub source: Source,
}

/// Room that was reserved.
#[derive(Debug)]
#[must_use = "a reservation holds up every record behind it until it is committed"]
pub struct Slot {
    pub(super) at: u64,
    pub(super) span: u64,
    source: u64,
}

/// A record that was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Stamp, ns.
    pub ns: u64,
    /// The producer's pid.
    pub pid: i32,
    /// The producer's thread.
    pub thread: i32,
    /// 1 = read, 2 = print.
    pub source: u8,
    /// Position of the record behind it.
    pub next: u64,
}

/// What stands at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A committed record; its bytes were appended to the buffer.
    Record(Record),
    /// Reserved and not yet committed.
    Open,
    /// Nothing: the end.
    End,
}

/// How often and how long producers waited for room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Waits.
    pub count: u64,
    /// Time in them, ns.
    pub total_ns: u64,
    /// The longest, ns.
    pub longest_ns: u64,
}

/// One end of a ring in shared memory; the same for producers and consumers, in any process.
#[derive(Debug)]
pub struct Ring {
    pub(super) memory: Shared,
    pub(super) window: Window,
    capacity: u64,
    key: u64,
}

impl Ring {
    /// A new ring of `capacity` bytes (a multiple of 16). `key` makes its marks unlike any other ring's.
    ///
    /// # Errors
    /// No memory is left, or the capacity is none.
    pub fn create(capacity: usize, key: u64) -> io::Result<Ring> {
        if capacity == 0 || !capacity.is_multiple_of(STEP as usize) {
            return Err(io::Error::other(format!("a ring of {capacity} bytes: a multiple of 16 is needed")));
        }
        let memory = Shared::create(CONTROL + capacity)?;
        memory.words()[KEY].store(key, Ordering::Release);
        Ok(Self::over(memory))
    }

    /// The ring behind a descriptor, as another process made it.
    ///
    /// # Errors
    /// The descriptor is not a ring's.
    pub fn attach(file: OwnedFd) -> io::Result<Ring> {
        let memory = Shared::attach(file)?;
        if memory.words().len() * 8 <= CONTROL {
            return Err(io::Error::other("not a ring"));
        }
        Ok(Self::over(memory))
    }

    fn over(memory: Shared) -> Ring {
        let len = memory.words().len() * 8 - CONTROL;
        let key = memory.words()[KEY].load(Ordering::Acquire);
        Ring { memory, window: Window { start: CONTROL, len }, capacity: len as u64, key }
    }

    /// Its memory's descriptor, for [`Self::attach`].
    pub fn file(&self) -> BorrowedFd<'_> {
        self.memory.file()
    }

    /// The bytes it can hold, headers included.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes between the oldest record that was not released and the newest.
    pub fn used(&self) -> u64 {
        let tail = self.control(TAIL).load(Ordering::Acquire);
        self.control(HEAD).load(Ordering::Acquire).saturating_sub(tail)
    }

    fn control(&self, word: usize) -> &AtomicU64 {
        &self.memory.words()[word]
    }

    /// Word `n` of the record at `at`.
    fn header(&self, at: u64, n: u64) -> &AtomicU64 {
        let offset = (at + n * 8) % self.capacity;
        &self.memory.words()[CONTROL / 8 + (offset / 8) as usize]
    }

    fn mark(&self, at: u64, state: u64) -> u64 {
        (at | state) ^ self.key
    }

    /// Takes room for `room` bytes, if there is any, without announcing it yet.
    pub(super) fn claim(&self, room: usize) -> Option<(u64, u64)> {
        let span = span(room as u64);
        let mut head = self.control(HEAD).load(Ordering::Relaxed);
        loop {
            // Acquire: what the consumer read before it released this room happened before we write there.
            let tail = self.control(TAIL).load(Ordering::Acquire);
            if head.wrapping_sub(tail) + span > self.capacity {
                return None;
            }
            let taken = self.control(HEAD).compare_exchange_weak(
                head,
                head + span,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            match taken {
                Ok(_) => return Some((head, span)),
                Err(now) => head = now,
            }
        }
    }

    /// Says whose the claimed room is; from here on a producer's death is seen for what it is.
    pub(super) fn announce(&self, (at, span): (u64, u64), who: Producer) -> Slot {
        let slot = Slot { at, span, source: who.source as u64 };
        self.header(at, 1).store(slot.measure(0, span), Ordering::Relaxed);
        let pid = u64::from(who.pid.cast_unsigned()) | u64::from(who.thread.cast_unsigned()) << 32;
        self.header(at, 3).store(pid, Ordering::Relaxed);
        self.header(at, 0).store(self.mark(at, RESERVED), Ordering::Release);
        slot
    }

    /// Reserves room for `room` bytes; `None` when there is none now.
    pub fn reserve(&self, room: usize, who: Producer) -> Option<Slot> {
        self.claim(room).map(|claimed| self.announce(claimed, who))
    }

    /// Commits the first `len` bytes of a slot, stamped `ns`. What was reserved beyond them is given back when nobody
    /// reserved behind it, else it stays unused.
    pub fn commit(&self, slot: &Slot, ns: u64, len: usize) {
        let needed = span(len as u64);
        let mut kept = slot.span;
        let end = slot.at + slot.span;
        if needed < slot.span {
            let shrunk = self.control(HEAD).compare_exchange(
                end,
                slot.at + needed,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if shrunk.is_ok() {
                kept = needed;
            }
        }
        self.header(slot.at, 1).store(slot.measure(len as u64, kept), Ordering::Relaxed);
        self.header(slot.at, 2).store(ns, Ordering::Relaxed);
        // Release: the bytes and the header are there before the mark says so.
        self.header(slot.at, 0).store(self.mark(slot.at, COMMITTED), Ordering::Release);
    }

    /// Reserves, copies and commits; false when there is no room now.
    pub fn push(&self, who: Producer, ns: u64, bytes: &[u8]) -> bool {
        let Some(slot) = self.reserve(bytes.len(), who) else {
            return false;
        };
        self.memory.copy_in(self.window, slot.at + HEADER, bytes);
        self.commit(&slot, ns, bytes.len());
        true
    }

    /// Takes what stands at `cursor`, appending a record's bytes to `out`. The room stays taken until [`Self::release`].
    pub fn next(&self, cursor: u64, out: &mut Vec<u8>) -> Next {
        if cursor == self.control(HEAD).load(Ordering::Acquire) {
            return Next::End;
        }
        if self.header(cursor, 0).load(Ordering::Acquire) != self.mark(cursor, COMMITTED) {
            return Next::Open;
        }
        let measure = self.header(cursor, 1).load(Ordering::Relaxed);
        let len = (measure & 0xFFFF_FFFF).min(self.capacity - HEADER);
        self.memory.copy_out(self.window, cursor + HEADER, len as usize, out);
        let ns = self.header(cursor, 2).load(Ordering::Relaxed);
        Next::Record(self.record(cursor, measure, ns))
    }

    fn record(&self, at: u64, measure: u64, ns: u64) -> Record {
        let who = self.header(at, 3).load(Ordering::Relaxed);
        let span = ((measure >> 32 & 0xFF_FFFF) * STEP).clamp(HEADER, self.capacity);
        Record {
            ns,
            pid: ((who & 0xFFFF_FFFF) as u32).cast_signed(),
            thread: ((who >> 32) as u32).cast_signed(),
            source: (measure >> 56) as u8,
            next: at + span,
        }
    }

    /// The producer of an open record, pid and thread, if it announced itself.
    pub fn holder(&self, cursor: u64) -> Option<(i32, i32)> {
        let announced = self.header(cursor, 0).load(Ordering::Acquire) == self.mark(cursor, RESERVED);
        announced.then(|| self.record(cursor, 0, 0)).map(|record| (record.pid, record.thread))
    }

    /// Whose memory this is, is another question than what stands in it: a target can write anywhere in the ring that it is
    /// given. False when what stands there cannot be.
    pub fn is_sane(&self, cursor: u64) -> bool {
        let head = self.control(HEAD).load(Ordering::Acquire);
        head.wrapping_sub(cursor) <= self.capacity && head.is_multiple_of(STEP)
    }

    /// The stamp of the record at `cursor`, if it is committed.
    pub fn stamp(&self, cursor: u64) -> Option<u64> {
        let committed = cursor != self.head()
            && self.header(cursor, 0).load(Ordering::Acquire) == self.mark(cursor, COMMITTED);
        committed.then(|| self.header(cursor, 2).load(Ordering::Relaxed))
    }

    /// Where the next record begins.
    pub fn head(&self) -> u64 {
        self.control(HEAD).load(Ordering::Acquire)
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

    /// Gives back everything before `cursor`.
    pub fn release(&self, cursor: u64) {
        self.control(TAIL).store(cursor, Ordering::Release);
    }

    /// The oldest position that was not released.
    pub fn tail(&self) -> u64 {
        self.control(TAIL).load(Ordering::Acquire)
    }

    /// Keeps numbers for a successor, all of them or none: written to the side that is not in use, then switched.
    pub fn save(&self, numbers: &[u64; SAVED_WORDS]) {
        let side = (self.control(SAVED_SIDE).load(Ordering::Relaxed) as usize + 1) % 2;
        for (i, number) in numbers.iter().enumerate() {
            self.control(SAVED[side] + i).store(*number, Ordering::Relaxed);
        }
        self.control(SAVED_SIDE).store(side as u64, Ordering::Release);
    }

    /// The numbers that were saved last; zeroes before the first time.
    pub fn saved(&self) -> [u64; SAVED_WORDS] {
        let side = self.control(SAVED_SIDE).load(Ordering::Acquire) as usize % 2;
        std::array::from_fn(|i| self.control(SAVED[side] + i).load(Ordering::Relaxed))
    }

    /// Notes how many bytes of its text the consumer has handed to a log that cannot be cut.
    pub fn note_handed(&self, bytes: u64) {
        self.control(HANDED).store(bytes, Ordering::Release);
    }

    /// What was noted last.
    pub fn handed(&self) -> u64 {
        self.control(HANDED).load(Ordering::Acquire)
    }

    /// Counts one wait for room.
    pub fn count_stall(&self, ns: u64) {
        self.control(STALLS).fetch_add(1, Ordering::Relaxed);
        self.control(STALL_NS).fetch_add(ns, Ordering::Relaxed);
        self.control(LONGEST_STALL).fetch_max(ns, Ordering::Relaxed);
    }

    /// Opens the ring to processes whose descriptor 2 is this file.
    pub fn open_to(&self, device: u64, inode: u64) {
        self.control(DEVICE).store(device, Ordering::Relaxed);
        self.control(INODE).store(inode, Ordering::Relaxed);
        self.control(OPEN).store(MAGIC, Ordering::Release);
    }

    /// Nobody takes records any more: prints go elsewhere from now on.
    pub fn close(&self) {
        self.control(CLOSED).store(1, Ordering::Release);
    }

    /// How many processes printed into it, and how many of their prints found no room in time.
    pub fn printers(&self) -> (u64, u64) {
        let [processes, bypassed] = [PROCESSES, BYPASSED].map(|w| self.control(w).load(Ordering::Relaxed));
        (processes, bypassed)
    }

    /// How often and how long producers waited.
    pub fn stalls(&self) -> Stalls {
        let [count, total_ns, longest_ns] =
            [STALLS, STALL_NS, LONGEST_STALL].map(|w| self.control(w).load(Ordering::Relaxed));
        Stalls { count, total_ns, longest_ns }
    }
}

impl Slot {
    fn measure(&self, len: u64, span: u64) -> u64 {
        len | (span / STEP) << 32 | self.source << 56
    }
}

#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;
