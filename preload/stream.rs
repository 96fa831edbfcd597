//! The stream that stands in the place of the C library's `stderr`.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::descriptor::{close, write_all};
use crate::layout::CLOSED;
use crate::process::{OURS, now, own, settle};
use crate::ring::{push, word};

/// The most that one record takes of a print.
const PIECE: usize = 256 << 10;

const UNBUFFERED: c_int = 2;

/// Where our stream is; 0 before there is one.
static STREAM: AtomicUsize = AtomicUsize::new(0);

// Where fields stand in a FILE (bits/types/struct_FILE.h).
const FILE_FILENO: usize = 112;
const FILE_CODECVT: usize = 152;
const FILE_WIDE_DATA: usize = 160;
const FILE_MODE: usize = 192;

/// What `fopencookie` wants: read, write, seek, close.
#[repr(C)]
struct Functions {
    read: *const c_void,
    write: extern "C" fn(*mut c_void, *const u8, usize) -> isize,
    seek: *const c_void,
    close: extern "C" fn(*mut c_void) -> c_int,
}

/// What the stream does with a print: `ssize_t write(void *, const char *, size_t)`.
extern "C" fn print(_: *mut c_void, from: *const u8, len: usize) -> isize {
    let Some(own) = own() else { return 0 };
    let mut known = own.load(Ordering::Relaxed);
    if known & OURS == 0 {
        known = settle(own);
    }
    let ns = now();
    let mut done = 0;
    while done < len {
        let piece = (len - done).min(PIECE);
        // SAFETY: inside the text that the C library handed over.
        let at = unsafe { from.add(done) };
        let taken = known & OURS != 0
            && word(CLOSED).load(Ordering::Relaxed) == 0
            && push(known & 0xFFFF_FFFF, ns, at, piece);
        if !taken {
            match write_all(at, piece) {
                0 if done == 0 => return 0,
                wrote if wrote < piece => return (done + wrote) as isize,
                _ => {}
            }
        }
        done += piece;
    }
    len as isize
}

/// What `fclose(stderr)` does: it closes the descriptor. The memory of our stream goes with it, while the C library's own stays,
/// closed, and who prints on it or closes it again only fails: so it takes its place again.
extern "C" fn end(old: *mut c_void) -> c_int {
    let stderr = weak!("stderr") as *mut *mut u8;
    // SAFETY: the C library's variable and its own stream, as when they were looked at first.
    unsafe {
        if !stderr.is_null() && *stderr as usize == STREAM.load(Ordering::Relaxed) {
            old.cast::<u8>().add(FILE_FILENO).cast::<c_int>().write(-1);
            *stderr = old.cast();
        }
    }
    close(2)
}

/// Puts our stream in the place of `stderr`.
pub(super) fn replace() -> Option<()> {
    let (open, unbuffer) = (weak!("fopencookie"), weak!("setvbuf"));
    let stderr = weak!("stderr") as *mut *mut u8;
    if open == 0 || unbuffer == 0 || stderr.is_null() {
        return None;
    }
    // SAFETY: those symbols are these functions (`man 3 fopencookie`, `man 3 setvbuf`) …
    let (open, unbuffer) = unsafe {
        (
            core::mem::transmute::<usize, extern "C" fn(*mut c_void, *const c_char, Functions) -> *mut u8>(
                open,
            ),
            core::mem::transmute::<usize, extern "C" fn(*mut u8, *mut c_char, c_int, usize) -> c_int>(
                unbuffer,
            ),
        )
    };
    // SAFETY: … and this one the C library's variable.
    let old = unsafe { *stderr };
    if old.is_null() || !is_replaceable(old) {
        return None;
    }
    let new =
        open(old.cast(), c"w".as_ptr(), Functions { read: null(), write: print, seek: null(), close: end });
    if new.is_null() {
        return None;
    }
    if !is_as_known(new) || unbuffer(new, null_mut(), UNBUFFERED, 0) != 0 {
        return None;
    }
    // SAFETY: the stream is ours alone until the last line, the fields are where they were just read.
    unsafe {
        new.add(FILE_FILENO).cast::<c_int>().write(2);
        new.add(FILE_WIDE_DATA).cast::<usize>().write(field(old, FILE_WIDE_DATA));
        new.add(FILE_CODECVT).cast::<usize>().write(field(old, FILE_CODECVT));
        new.add(FILE_MODE).cast::<c_int>().write(0);
        *stderr = new;
    }
    STREAM.store(new as usize, Ordering::Relaxed);
    Some(())
}

/// Whether the C library's stream is the one that we know, and one that may be another's place. One that prints wide
/// characters already keeps its stream.
fn is_replaceable(stderr: *const u8) -> bool {
    let (mode, wide) = (field::<c_int>(stderr, FILE_MODE), field::<usize>(stderr, FILE_WIDE_DATA));
    field::<c_int>(stderr, FILE_FILENO) == 2 && (-1..=0).contains(&mode) && wide != 0 && wide != usize::MAX
}

/// Whether fopencookie left in a stream what it does (libio/iofopncook.c): no descriptor, and bytes only.
fn is_as_known(stream: *const u8) -> bool {
    field::<c_int>(stream, FILE_FILENO) == -2
        && field::<c_int>(stream, FILE_MODE) == -1
        && field::<usize>(stream, FILE_WIDE_DATA) == usize::MAX
}

/// A field of a stream.
fn field<T: Copy>(stream: *const u8, at: usize) -> T {
    // SAFETY: a stream of glibc's is larger than that, and its fields are aligned.
    unsafe { stream.add(at).cast::<T>().read() }
}
