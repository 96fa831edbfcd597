//! The object that a target is given with LD_PRELOAD (`--stamp source`): its C `stderr` becomes a stream that stamps
//! each print and copies it into the supervisor's ring.
//!
//! Rules, since this is a guest in somebody else's process:
//!
//! - It needs nothing: no library is linked, every symbol is weak and looked up, so that a program with another C library
//!   starts as it would without it. Whatever is not as expected makes it stay out, before anything was changed.
//! - It allocates once, at the start (`fopencookie`), starts no thread, takes no signal, prints nothing of its own.
//! - A print is a clock read, one compare-and-swap and a copy: no system call, no lock, `errno` untouched.
//! - Descriptor 2 stays what it was. Once it is not the file that the supervisor reads (`dup2`, `close`), prints go where it
//!   leads, by `write(2)`, until it is that file again.
//! - Only `dup2`, `dup3` and `close` are replaced, to see that: they do what they did, and note that 2 was meant.
//!
//! The stream is `fopencookie`'s with the descriptor's number put in, and with the wide-character side of the C library's
//! own `stderr`, so that `fileno`, `freopen`, `fwide` and wide output are the C library's business and work as before. The
//! few fields that this takes stand in a public header (`bits/types/struct_FILE.h`) and have not moved since glibc 2.2;
//! their content is checked before one of them is touched.
#![no_std]

use core::ffi::c_long;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};

/// A panic cannot happen: nothing here indexes, unwraps or overflows with a check. The language wants one.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// The address of a symbol that some loaded object has, or 0. Through assembly, because the compiler takes every
/// declared symbol for one that is there.
macro_rules! weak {
    ($name:literal) => {{
        let at: usize;
        // SAFETY: reads this object's own table of addresses, which the loader has filled.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $name),
                concat!("mov {at}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                at = out(reg) at,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        at
    }};
}

mod descriptor;
mod kernel;
#[path = "../src/core/ring_layout.rs"]
#[allow(dead_code, reason = "the supervisor's side needs more of it")]
mod layout;
mod process;
mod ring;
mod stream;

use kernel::{
    CLOEXEC, MADV_WIPEONFORK, MAP_PRIVATE_ANONYMOUS, MAP_SHARED, PROT_READ_WRITE, READ_WRITE, SYS_CLOSE,
    SYS_GETTID, SYS_MADVISE, SYS_MMAP, SYS_MUNMAP, SYS_OPEN, call, identity,
};
use layout::{CONTROL, DEVICE, INODE, KEY, MAGIC, OPEN, VARIABLE};
use process::{OWN, TID_IS_KNOWN, tid_field};
use ring::{CAPACITY, RING, RING_KEY, word};

// SAFETY: the loader calls what stands in this section once, when every object is mapped and relocated. `start` needs
// nothing that is set up later, and cannot unwind.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    // Another C library has streams of another shape.
    if weak!("gnu_get_libc_version") == 0 || weak!("clock_gettime") == 0 {
        return;
    }
    descriptor::find_next();
    if attach().is_some() && stream::replace().is_none() {
        RING.store(null_mut(), Ordering::Relaxed);
    }
}

/// The value of our variable in the environment.
fn variable() -> Option<*const u8> {
    let at = weak!("environ") as *const *const *const u8;
    // SAFETY: the C library's variable, a list of strings that ends with null; or one of the two is null.
    unsafe {
        let mut entry = *at.as_ref()?;
        while !entry.is_null() && !(*entry).is_null() {
            let text = *entry;
            let name = VARIABLE.as_bytes();
            let mut same = 0;
            while same < name.len() && *text.add(same) == *name.as_ptr().add(same) {
                same += 1;
            }
            if same == name.len() && *text.add(same) == b'=' {
                return Some(text.add(same + 1));
            }
            entry = entry.add(1);
        }
    }
    None
}

/// Maps the ring, when descriptor 2 is the file that its supervisor reads.
fn attach() -> Option<()> {
    let path = variable()?;
    let fd = usize::try_from(call(SYS_OPEN, [path as usize, READ_WRITE | CLOEXEC, 0, 0, 0, 0])).ok()?;
    let size = identity(fd).map_or(0, |(.., size)| size as usize);
    let whole = size > CONTROL && (size - CONTROL).is_power_of_two();
    let base = if whole { call(SYS_MMAP, [0, size, PROT_READ_WRITE, MAP_SHARED, fd, 0]) } else { -1 };
    call(SYS_CLOSE, [fd, 0, 0, 0, 0, 0]);
    let base = usize::try_from(base).ok()?;
    RING.store(base as *mut AtomicU64, Ordering::Relaxed);
    let theirs = (word(DEVICE).load(Ordering::Relaxed), word(INODE).load(Ordering::Relaxed));
    let ours = identity(2).map(|(device, inode, _)| (device, inode)) == Some(theirs);
    let page = call(SYS_MMAP, [0, 4096, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, usize::MAX, 0]);
    let usable = ours
        && word(OPEN).load(Ordering::Acquire) == MAGIC
        && page > 0
        && call(SYS_MADVISE, [page as usize, 4096, MADV_WIPEONFORK, 0, 0, 0]) == 0;
    if !usable {
        RING.store(null_mut(), Ordering::Relaxed);
        call(SYS_MUNMAP, [base, size, 0, 0, 0, 0]);
        return None;
    }
    CAPACITY.store((size - CONTROL) as u64, Ordering::Relaxed);
    RING_KEY.store(word(KEY).load(Ordering::Relaxed), Ordering::Relaxed);
    let tid = call(SYS_GETTID, [0; 6]) as u64;
    TID_IS_KNOWN.store(usize::from(tid_field() == tid), Ordering::Relaxed);
    OWN.store(page as *mut AtomicU64, Ordering::Release);
    Some(())
}

const _: () = assert!(size_of::<c_long>() == 8, "the offsets are those of a 64-bit system");
