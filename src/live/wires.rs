//! The target's stderr: a pipe, or a terminal of its own.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::PathBuf;

use crate::sys::{fd, term};

/// Pipes hold this much where the kernel lets us: the target is woken less often.
const PIPE_SIZE: i32 = 1 << 20;

/// Both sides of the target's stderr.
#[derive(Debug)]
pub struct Wires {
    /// Where we read.
    pub ours: OwnedFd,
    /// What the target gets.
    pub theirs: OwnedFd,
    /// What `/proc/<pid>/fd/<n>` shows for whoever holds the target's side.
    pub name: PathBuf,
}

impl Wires {
    /// Opens them.
    ///
    /// # Errors
    /// No descriptor or no pseudo-terminal is left.
    pub fn open(pty: bool, terminal: Option<&std::fs::File>) -> io::Result<Wires> {
        let (ours, theirs) = if pty {
            let size = terminal.and_then(|t| term::window_size(t.as_fd()));
            let pty = term::open_pty(size)?;
            (pty.leader, pty.follower)
        } else {
            let (ours, theirs) = fd::pipe()?;
            fd::enlarge_pipe(theirs.as_fd(), PIPE_SIZE);
            (ours, theirs)
        };
        let shown = format!("/proc/self/fd/{}", theirs.as_raw_fd());
        let name = std::fs::read_link(shown).unwrap_or_default();
        Ok(Wires { ours, theirs, name })
    }
}
