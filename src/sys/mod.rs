//! The only home of `unsafe`, libc and nix: one safe function a system call.
//!
//! Functions here decide nothing. They return [`std::io::Result`] with the kernel's error, and none of them is
//! interrupted by a signal without trying again.

pub mod clock;
pub mod cstdio;
pub mod dir;
pub mod fd;
pub mod host;
pub mod process;
pub mod shm;
pub mod signal;
pub mod startup;
pub mod term;

use std::io;

/// The only place where the kernel's −1 becomes an [`io::Error`].
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// As [`check`], for calls that return a count; repeated while a signal interrupts it.
fn counted(mut call: impl FnMut() -> isize) -> io::Result<usize> {
    loop {
        match usize::try_from(call()) {
            Ok(n) => return Ok(n),
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}
