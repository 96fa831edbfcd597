//! Who prints, when, and where to: what a process knows of itself.

use core::arch::asm;
use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use crate::kernel::{SYS_GETPID, SYS_GETTID, call, identity};
use crate::layout::{DEVICE, INODE, PROCESSES};
use crate::ring::word;

const CLOCK_MONOTONIC: c_int = 1;
// Where the thread's number stands in its control block (glibc, nptl/descr.h).
const THREAD_TID: usize = 0x2D0;

/// A page that a fork empties: its first word holds the pid and the way, and 0 says that neither is known.
pub(super) static OWN: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());
/// The thread's number stands where we think it does.
pub(super) static TID_IS_KNOWN: AtomicUsize = AtomicUsize::new(0);

/// Descriptor 2 is the supervisor's …
pub(super) const OURS: u64 = 1 << 32;
/// … or something else.
const DIVERTED: u64 = 2 << 32;

/// That page's first word, once the ring is attached.
pub(super) fn own() -> Option<&'static AtomicU64> {
    let page = OWN.load(Ordering::Acquire);
    // SAFETY: null, or a page that stays mapped for the life of the process.
    unsafe { page.as_ref() }
}

/// Pid and way, looked up anew after a fork, and after descriptor 2 was touched.
#[cold]
pub(super) fn settle(own: &AtomicU64) -> u64 {
    let pid = call(SYS_GETPID, [0; 6]) as u64 & 0xFFFF_FFFF;
    if own.load(Ordering::Relaxed) & 0xFFFF_FFFF == 0 {
        word(PROCESSES).fetch_add(1, Ordering::Relaxed);
    }
    let here = identity(2).map(|(device, inode, _)| (device, inode));
    let theirs = (word(DEVICE).load(Ordering::Relaxed), word(INODE).load(Ordering::Relaxed));
    let way = if here == Some(theirs) { OURS } else { DIVERTED };
    own.store(pid | way, Ordering::Relaxed);
    pid | way
}

/// This thread's number, as the kernel has it.
pub(super) fn thread() -> u64 {
    if TID_IS_KNOWN.load(Ordering::Relaxed) == 0 {
        return call(SYS_GETTID, [0; 6]) as u64 & 0xFFFF_FFFF;
    }
    tid_field()
}

/// What stands where we think that the thread's number is.
pub(super) fn tid_field() -> u64 {
    let tid: u32;
    // SAFETY: reads the thread's own control block, which is larger than that in every glibc; the content is compared with
    // the kernel's answer before it is used.
    unsafe {
        asm!("mov {tid:e}, dword ptr fs:[{at}]", tid = out(reg) tid, at = const THREAD_TID,
             options(pure, readonly, nostack, preserves_flags));
    }
    tid.into()
}

/// CLOCK_MONOTONIC, ns.
pub(super) fn now() -> u64 {
    let at = weak!("clock_gettime");
    if at == 0 {
        return 0;
    }
    // SAFETY: that symbol is this function (`man 2 clock_gettime`); attach() saw that it is there.
    let clock_gettime: extern "C" fn(c_int, *mut [i64; 2]) -> c_int = unsafe { core::mem::transmute(at) };
    let mut time = [0_i64; 2];
    clock_gettime(CLOCK_MONOTONIC, &raw mut time);
    time[0].cast_unsigned().wrapping_mul(1_000_000_000).wrapping_add(time[1].cast_unsigned())
}
