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

mod control;
mod recover;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::core::ring_layout::{COMMITTED, CONTROL, HEAD, KEY, PRINT, RESERVED, STEP, TAIL, span};
use crate::sys::shm::{Shared, Window};

pub use crate::core::ring_layout::HEADER;
pub use control::{SAVED_WORDS, Stalls};

/// The largest payload of one record.
pub const MAX_PAYLOAD: usize = 1 << 20;
/// The capacity of a run's ring.
pub const DEFAULT_CAPACITY: usize = 16 << 20;

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

    /// Gives back everything before `cursor`.
    pub fn release(&self, cursor: u64) {
        self.control(TAIL).store(cursor, Ordering::Release);
    }

    /// The oldest position that was not released.
    pub fn tail(&self) -> u64 {
        self.control(TAIL).load(Ordering::Acquire)
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
