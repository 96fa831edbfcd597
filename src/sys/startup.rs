//! What the caller gave us, noted before Rust's runtime changes it.
//!
//! Before `main`, the runtime opens `/dev/null` for closed descriptors 0–2 and ignores SIGPIPE. The target is owed the
//! caller's own state, so a constructor reads it first (`.init_array` functions run before the runtime starts).

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU32, Ordering};

static NOTED: AtomicU32 = AtomicU32::new(0);

const SIGPIPE_IGNORED: u32 = 1 << 8;
const SIGCHLD_IGNORED: u32 = 1 << 9;

extern "C" fn note() {
    let mut bits = 0;
    for fd in 0..3 {
        // SAFETY: F_GETFD takes no argument and changes nothing; a closed descriptor is an error value.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
            bits |= 1 << fd;
        }
    }
    for (signal, bit) in [(libc::SIGPIPE, SIGPIPE_IGNORED), (libc::SIGCHLD, SIGCHLD_IGNORED)] {
        if super::signal::is_ignored(signal) {
            bits |= bit;
        }
    }
    NOTED.store(bits, Ordering::Relaxed);
}

// SAFETY: the section is for pointers to functions that the C library calls once before `main`; `note` has that type,
// needs nothing that is set up later and cannot unwind.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note;

/// Whether descriptor 0, 1 or 2 was closed when we were started.
pub fn was_closed(fd: RawFd) -> bool {
    (0..3).contains(&fd) && NOTED.load(Ordering::Relaxed) & (1 << fd) != 0
}

/// Whether the caller ignores SIGPIPE.
pub fn sigpipe_was_ignored() -> bool {
    NOTED.load(Ordering::Relaxed) & SIGPIPE_IGNORED != 0
}

/// Whether the caller ignores SIGCHLD.
pub fn sigchld_was_ignored() -> bool {
    NOTED.load(Ordering::Relaxed) & SIGCHLD_IGNORED != 0
}
