//! Terminals: who is in the foreground, how large the window is, and a terminal of the target's own.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;

use super::check;

/// The controlling terminal, if there is one.
pub fn controlling() -> Option<File> {
    File::options().read(true).write(true).custom_flags(libc::O_NOCTTY).open("/dev/tty").ok()
}

/// Whether the descriptor is a terminal.
pub fn is_terminal(number: RawFd) -> bool {
    // SAFETY: isatty takes any number.
    unsafe { libc::isatty(number) == 1 }
}

/// The process group in the terminal's foreground.
pub fn foreground(terminal: BorrowedFd<'_>) -> Option<i32> {
    // SAFETY: tcgetpgrp takes an open descriptor.
    check(unsafe { libc::tcgetpgrp(terminal.as_raw_fd()) }).ok()
}

/// Puts a process group of this session into the terminal's foreground. The caller has SIGTTOU blocked, so that this
/// works from the background too (`man 3 tcsetpgrp`).
///
/// # Errors
/// The group is gone, or the terminal is not ours.
pub fn set_foreground(terminal: BorrowedFd<'_>, group: i32) -> io::Result<()> {
    // SAFETY: tcsetpgrp takes an open descriptor and a number.
    check(unsafe { libc::tcsetpgrp(terminal.as_raw_fd(), group) }).map(drop)
}

/// A terminal's window size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowSize {
    /// Rows of characters.
    pub rows: u16,
    /// Columns of characters.
    pub columns: u16,
    /// Width and height in pixels, 0 when unknown.
    pub pixels: (u16, u16),
}

/// The size of the terminal's window.
pub fn window_size(terminal: BorrowedFd<'_>) -> Option<WindowSize> {
    let mut size = MaybeUninit::<libc::winsize>::zeroed();
    // SAFETY: TIOCGWINSZ writes one winsize; zeroed memory is a valid one in any case.
    let size = unsafe {
        check(libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, size.as_mut_ptr())).ok()?;
        size.assume_init()
    };
    Some(WindowSize { rows: size.ws_row, columns: size.ws_col, pixels: (size.ws_xpixel, size.ws_ypixel) })
}

/// Sets the size of a terminal's window.
pub fn set_window_size(terminal: BorrowedFd<'_>, size: WindowSize) {
    let raw = libc::winsize {
        ws_row: size.rows,
        ws_col: size.columns,
        ws_xpixel: size.pixels.0,
        ws_ypixel: size.pixels.1,
    };
    // SAFETY: TIOCSWINSZ reads one winsize. A terminal that is gone needs no size.
    unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &raw const raw) };
}

/// The two sides of a pseudo-terminal.
#[derive(Debug)]
pub struct Pty {
    /// Our side.
    pub leader: OwnedFd,
    /// The target's side: a terminal with raw output, so that its bytes come out as they went in.
    pub follower: OwnedFd,
}

/// Opens a pseudo-terminal that is nobody's controlling terminal.
///
/// # Errors
/// No pseudo-terminal is left, or `/dev/pts` is not mounted.
pub fn open_pty(size: Option<WindowSize>) -> io::Result<Pty> {
    // SAFETY: posix_openpt takes flags and makes a new descriptor.
    let fd = check(unsafe { libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC) })?;
    // SAFETY: the descriptor is new and nobody else's.
    let leader = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: both take the leader's descriptor.
    unsafe {
        check(libc::grantpt(fd))?;
        check(libc::unlockpt(fd))?;
    }
    let follower = open_follower(leader.as_fd())?;
    raw_output(follower.as_fd())?;
    if let Some(size) = size {
        set_window_size(leader.as_fd(), size);
    }
    Ok(Pty { leader, follower })
}

/// Opens the other side by the leader's descriptor, which needs no path (`man 2 ioctl_tty`, TIOCGPTPEER).
fn open_follower(leader: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: TIOCGPTPEER takes open flags and makes a new descriptor.
    let fd = check(unsafe { libc::ioctl(leader.as_raw_fd(), libc::TIOCGPTPEER, flags) })?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// No output processing: LF stays LF.
fn raw_output(terminal: BorrowedFd<'_>) -> io::Result<()> {
    let mut settings = nix::sys::termios::tcgetattr(terminal)?;
    settings.output_flags.remove(nix::sys::termios::OutputFlags::OPOST);
    Ok(nix::sys::termios::tcsetattr(terminal, nix::sys::termios::SetArg::TCSANOW, &settings)?)
}
