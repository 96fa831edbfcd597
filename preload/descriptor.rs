//! Descriptor 2: writing to it, and seeing that it was meant by `dup2`, `dup3` or `close`, which are replaced for that.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::kernel::{SYS_CLOSE, SYS_DUP2, SYS_DUP3, SYS_WRITE, call};
use crate::process::own;

const RTLD_NEXT: *mut c_void = usize::MAX as *mut c_void;

/// The C library's functions behind ours.
static NEXT: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

/// Everything to descriptor 2, as the C library's own stream does it. How much of it was taken.
pub(super) fn write_all(from: *const u8, len: usize) -> usize {
    let mut done = 0;
    while done < len {
        let wrote = call(SYS_WRITE, [2, from.wrapping_add(done) as usize, len - done, 0, 0, 0]);
        if wrote < 0 {
            fail(-wrote);
            break;
        }
        done += wrote as usize;
    }
    done
}

/// Sets `errno`.
fn fail(errno: isize) {
    let at = weak!("__errno_location");
    if at != 0 {
        // SAFETY: that symbol is this function, in glibc and in musl.
        let location: extern "C" fn() -> *mut c_int = unsafe { core::mem::transmute(at) };
        // SAFETY: the thread's own errno.
        unsafe { *location() = errno as c_int };
    }
}

/// Whatever descriptor 2 is now, it is looked at before the next print.
fn touched() {
    if let Some(own) = own() {
        own.fetch_and(0xFFFF_FFFF, Ordering::Relaxed);
    }
}

fn result(of: isize) -> c_int {
    if of < 0 {
        fail(-of);
        return -1;
    }
    of as c_int
}

/// As `man 2 dup2`.
#[unsafe(no_mangle)]
pub extern "C" fn dup2(old: c_int, new: c_int) -> c_int {
    let next = NEXT[0].load(Ordering::Relaxed);
    let got = if next == 0 {
        result(call(SYS_DUP2, [old as usize, new as usize, 0, 0, 0, 0]))
    } else {
        // SAFETY: the next object's dup2, by its name.
        let next: extern "C" fn(c_int, c_int) -> c_int = unsafe { core::mem::transmute(next) };
        next(old, new)
    };
    if new == 2 {
        touched();
    }
    got
}

/// As `man 2 dup3`.
#[unsafe(no_mangle)]
pub extern "C" fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
    let next = NEXT[1].load(Ordering::Relaxed);
    let got = if next == 0 {
        result(call(SYS_DUP3, [old as usize, new as usize, flags as usize, 0, 0, 0]))
    } else {
        // SAFETY: the next object's dup3, by its name.
        let next: extern "C" fn(c_int, c_int, c_int) -> c_int = unsafe { core::mem::transmute(next) };
        next(old, new, flags)
    };
    if new == 2 {
        touched();
    }
    got
}

/// As `man 2 close`.
#[unsafe(no_mangle)]
pub extern "C" fn close(fd: c_int) -> c_int {
    let next = NEXT[2].load(Ordering::Relaxed);
    let got = if next == 0 {
        result(call(SYS_CLOSE, [fd as usize, 0, 0, 0, 0, 0]))
    } else {
        // SAFETY: the next object's close, by its name.
        let next: extern "C" fn(c_int) -> c_int = unsafe { core::mem::transmute(next) };
        next(fd)
    };
    if fd == 2 {
        touched();
    }
    got
}

/// Finds the functions behind ours.
pub(super) fn find_next() {
    let at = weak!("dlsym");
    if at == 0 {
        return;
    }
    // SAFETY: that symbol is this function (`man 3 dlsym`).
    let dlsym: extern "C" fn(*mut c_void, *const c_char) -> usize = unsafe { core::mem::transmute(at) };
    for (place, name) in NEXT.iter().zip([c"dup2", c"dup3", c"close"]) {
        place.store(dlsym(RTLD_NEXT, name.as_ptr()), Ordering::Relaxed);
    }
}
