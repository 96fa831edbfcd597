//! What a ring's control page holds beside its head and tail: what a consumer leaves to its successor, how producers
//! waited, and who may print into it.

use std::sync::atomic::Ordering;

use super::Ring;
use crate::core::ring_layout::{
    BYPASSED, CLOSED, DEVICE, INODE, LONGEST_STALL, MAGIC, OPEN, PROCESSES, STALL_NS, STALLS,
};

// Words of the control page that only the supervisor's side knows.
const HANDED: usize = 51;
const SAVED_SIDE: usize = 64;
const SAVED: [usize; 2] = [80, 128];

/// What a consumer must know to go on after another one: as many numbers as it likes, kept together.
pub const SAVED_WORDS: usize = 40;
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
impl Ring {
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
