//! Reading from a descriptor straight into the ring.
//!
//! A process can be killed between a read and the commit of what was read. So the memory of a read is filled with
//! [`BLANK`] before the reservation is announced: whoever finds it open sees what came in. Each byte is blanked once a
//! lap, so this costs one more pass over the memory and no more.

use std::io;
use std::os::fd::BorrowedFd;

use crate::live::ring::{HEADER, Producer, Ring, Slot, Source};

/// The byte that fills memory before a read into it. Text all but never ends in it.
pub const BLANK: u8 = 0xFF;

/// The one reader's way into a ring.
#[derive(Debug)]
pub struct ReadPort<'a> {
    ring: &'a Ring,
    who: Producer,
    blank_to: u64,
}

impl<'a> ReadPort<'a> {
    /// The port of producer `pid`.
    pub fn new(ring: &'a Ring, pid: i32) -> Self {
        ReadPort { ring, who: Producer { pid, thread: 0, source: Source::Read }, blank_to: 0 }
    }

    /// Reserves room for a read of up to `room` bytes; `None` when there is none now.
    pub fn reserve(&mut self, room: usize) -> Option<Slot> {
        let (at, span) = self.ring.claim(room)?;
        let (from, to) = (self.blank_to.max(at + HEADER), at + span);
        if from < to {
            self.ring.memory.fill(self.ring.window, from, (to - from) as usize, BLANK);
            self.blank_to = to;
        }
        Some(self.ring.announce((at, span), self.who))
    }

    /// Reads once into the slot. It has to be committed, whatever comes of it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read(&self, slot: &Slot, from: BorrowedFd<'_>) -> io::Result<usize> {
        let room = (slot.span - HEADER) as usize;
        self.ring.memory.read_from(from, self.ring.window, slot.at + HEADER, room)
    }
}
