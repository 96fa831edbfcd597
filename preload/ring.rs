//! The ring, as a process sees it that prints into it.

use core::arch::asm;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use crate::kernel::{SYS_NANOSLEEP, call};
use crate::layout::{
    BYPASSED, CLOSED, COMMITTED, CONTROL, HEAD, HEADER, LONGEST_STALL, PATIENCE_NS, PRINT, RESERVED,
    STALL_NS, STALLS, STEP, TAIL, span,
};
use crate::process::{now, thread};

/// The ring, once it is attached: its memory, its capacity, its key.
pub(super) static RING: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());
pub(super) static CAPACITY: AtomicU64 = AtomicU64::new(0);
pub(super) static RING_KEY: AtomicU64 = AtomicU64::new(0);
/// A wait for room was in vain: the next print does not wait again before there was room.
static NO_PATIENCE: AtomicUsize = AtomicUsize::new(0);

/// Word `n` of the ring's memory. Only when it is attached, and only below its size.
pub(super) fn word(n: usize) -> &'static AtomicU64 {
    let base = RING.load(Ordering::Relaxed);
    // SAFETY: the callers stay in the mapping, which is never taken away.
    unsafe { &*base.add(n) }
}

/// One record: reserved, filled, committed. False: there was no room in time.
pub(super) fn push(pid: u64, ns: u64, from: *const u8, len: usize) -> bool {
    let (capacity, key) = (CAPACITY.load(Ordering::Relaxed), RING_KEY.load(Ordering::Relaxed));
    let span = span(len as u64);
    let Some(at) = claim(span, capacity, ns) else { return false };
    // The capacity is a power of two, and a division could panic.
    let inside = |at: u64| at & (capacity - 1);
    let header = |n: u64| word(CONTROL / 8 + (inside(at + n * 8) / 8) as usize);
    // Who it is stands there before the mark does: a consumer that finds the mark can ask whether we live.
    header(1).store((span / STEP) << 32 | PRINT << 56, Ordering::Relaxed);
    header(3).store(pid | thread() << 32, Ordering::Relaxed);
    header(0).store((at | RESERVED) ^ key, Ordering::Release);
    let offset = inside(at + HEADER) as usize;
    let first = len.min(capacity as usize - offset);
    let data = RING.load(Ordering::Relaxed).cast::<u8>().wrapping_add(CONTROL);
    // SAFETY: the room is ours by the claim, and ends inside the data; the text is the C library's, and readable.
    unsafe {
        copy(data.add(offset), from, first);
        copy(data, from.add(first), len - first);
    }
    header(1).store(len as u64 | (span / STEP) << 32 | PRINT << 56, Ordering::Relaxed);
    header(2).store(ns, Ordering::Relaxed);
    header(0).store((at | COMMITTED) ^ key, Ordering::Release);
    true
}

/// Takes room, waiting for it when there is none, not for ever.
fn claim(span: u64, capacity: u64, since: u64) -> Option<u64> {
    let mut waited = false;
    loop {
        let mut head = word(HEAD).load(Ordering::Relaxed);
        while head.wrapping_add(span).wrapping_sub(word(TAIL).load(Ordering::Acquire)) <= capacity {
            let next = head.wrapping_add(span);
            match word(HEAD).compare_exchange_weak(head, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => {
                    if waited {
                        count_stall(since);
                    }
                    NO_PATIENCE.store(0, Ordering::Relaxed);
                    return Some(head);
                }
                Err(now) => head = now,
            }
        }
        let given_up = NO_PATIENCE.load(Ordering::Relaxed) != 0
            || word(CLOSED).load(Ordering::Relaxed) != 0
            || now().wrapping_sub(since) >= PATIENCE_NS;
        if given_up {
            if waited {
                count_stall(since);
            }
            NO_PATIENCE.store(1, Ordering::Relaxed);
            word(BYPASSED).fetch_add(1, Ordering::Relaxed);
            return None;
        }
        waited = true;
        let pause = [0_i64, 100_000];
        call(SYS_NANOSLEEP, [(&raw const pause) as usize, 0, 0, 0, 0, 0]);
    }
}

fn count_stall(since: u64) {
    let ns = now().wrapping_sub(since);
    word(STALLS).fetch_add(1, Ordering::Relaxed);
    word(STALL_NS).fetch_add(ns, Ordering::Relaxed);
    word(LONGEST_STALL).fetch_max(ns, Ordering::Relaxed);
}

/// `memcpy`, without the C library's, which others replace.
///
/// # Safety
/// Both ranges are valid and apart.
unsafe fn copy(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller's promise; the direction flag is clear by the calling convention.
    unsafe {
        asm!("rep movsb", inout("rdi") to => _, inout("rsi") from => _, inout("rcx") len => _,
             options(nostack, preserves_flags));
    }
}
