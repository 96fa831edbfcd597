//! The C library's `stderr`, which is what llama.cpp prints to, and the session of a plain program.

use std::ffi::c_void;
use std::io;

unsafe extern "C" {
    static stderr: *mut libc::FILE;
}

/// One print to C's `stderr`: unbuffered there, so one `write(2)`, as `fprintf(stderr, …)` makes it. False when the stream
/// did not take all of it, which C programs ignore.
pub fn print(bytes: &[u8]) -> bool {
    // SAFETY: `stderr` is the C library's own stream, open for the life of the process; the pointer and the length
    // are those of a slice.
    let taken = unsafe { libc::fwrite(bytes.as_ptr().cast::<c_void>(), 1, bytes.len(), stderr) };
    taken == bytes.len()
}

/// `fflush(stderr)`, which the backend calls after each of its lines.
pub fn flush() {
    // SAFETY: as above; flushing an open stream is always allowed.
    unsafe { libc::fflush(stderr) };
}

/// `setsid(2)`: a session and a process group of this process's own, without a terminal.
///
/// # Errors
/// `EPERM` for the leader of a process group.
pub fn new_session() -> io::Result<()> {
    nix::unistd::setsid()?;
    Ok(())
}
