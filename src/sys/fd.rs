//! Descriptors: pipes, socket pairs, readiness, sizes. Everything that is opened here closes on exec.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::{check, counted};

fn pair(fds: [RawFd; 2]) -> (OwnedFd, OwnedFd) {
    // SAFETY: both descriptors are new and nobody else's.
    unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) }
}

/// A pipe: read end, write end.
///
/// # Errors
/// No descriptors are left.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    // SAFETY: the kernel writes two descriptors to an array of two.
    check(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) })?;
    Ok(pair(fds))
}

/// Two connected sockets that keep the borders of messages (`SOCK_SEQPACKET`).
///
/// # Errors
/// No descriptors are left.
pub fn message_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the kernel writes two descriptors to an array of two.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr()) })?;
    Ok(pair(fds))
}

/// Sends one message; a peer that is gone is an error, never SIGPIPE. Does not wait for room.
///
/// # Errors
/// The peer is gone, or its queue is full.
pub fn send(socket: BorrowedFd<'_>, message: &[u8]) -> io::Result<()> {
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: the pointer and the length are those of the slice.
    counted(|| unsafe { libc::send(socket.as_raw_fd(), message.as_ptr().cast(), message.len(), flags) })
        .map(drop)
}

/// Takes one message without waiting: its length, 0 when the peer is gone.
///
/// # Errors
/// `WouldBlock` when none is there.
pub fn receive(socket: BorrowedFd<'_>, into: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the pointer and the length are those of the slice.
    counted(|| unsafe {
        libc::recv(socket.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), libc::MSG_DONTWAIT)
    })
}

/// Makes a pipe hold `bytes`, if the kernel lets us (`man 2 fcntl`, F_SETPIPE_SZ; an unprivileged user's limit is
/// `/proc/sys/fs/pipe-max-size`). A larger pipe only saves wake-ups, so a refusal is no error.
pub fn enlarge_pipe(pipe: BorrowedFd<'_>, bytes: i32) {
    // SAFETY: F_SETPIPE_SZ takes an integer.
    unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, bytes) };
}

/// What [`wait`] saw on one descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    /// There is something to read, or the other side is gone.
    pub readable: bool,
    /// There is room to write, or the other side is gone.
    pub writable: bool,
    /// The other side is gone.
    pub gone: bool,
}

/// What to wait for on a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Something to read.
    Read,
    /// Room to write.
    Write,
}

/// Waits until one of the descriptors is ready, at most `timeout` ns (`None` = as long as it takes). A place without a
/// descriptor is never ready.
///
/// # Errors
/// The kernel's, which valid descriptors do not meet.
pub fn wait<const N: usize>(
    fds: [(Option<BorrowedFd<'_>>, Want); N],
    timeout: Option<u64>,
) -> io::Result<[Ready; N]> {
    let mut polled = fds.map(|(fd, want)| libc::pollfd {
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: if want == Want::Read { libc::POLLIN } else { libc::POLLOUT },
        revents: 0,
    });
    let limit = timeout.map(|ns| libc::timespec {
        tv_sec: i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: (ns % 1_000_000_000).cast_signed(),
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the array and its length belong together, the timeout is null or valid, no mask is given.
    let result = unsafe { libc::ppoll(polled.as_mut_ptr(), N as libc::nfds_t, limit, std::ptr::null()) };
    match check(result) {
        Ok(_) => {}
        // Interrupted: nothing is ready yet, which is what the zeroed answers say.
        Err(e) if e.kind() == io::ErrorKind::Interrupted => return Ok([Ready::default(); N]),
        Err(e) => return Err(e),
    }
    Ok(polled.map(|p| {
        let gone = p.revents & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0;
        Ready {
            readable: gone || p.revents & libc::POLLIN != 0,
            writable: gone || p.revents & libc::POLLOUT != 0,
            gone,
        }
    }))
}

/// Reads once.
///
/// # Errors
/// The kernel's.
pub fn read(fd: BorrowedFd<'_>, into: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the pointer and the length are those of the slice.
    counted(|| unsafe { libc::read(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len()) })
}

/// Writes once; may take less than all.
///
/// # Errors
/// The kernel's.
pub fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the pointer and the length are those of the slice.
    counted(|| unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) })
}

/// Makes descriptor `number` a copy of `fd`, without close-on-exec: for the three standard descriptors.
///
/// # Errors
/// The kernel's.
pub fn place(fd: BorrowedFd<'_>, number: RawFd) -> io::Result<()> {
    // SAFETY: dup2 replaces a descriptor that this program knows by number only (0, 1, 2).
    check(unsafe { libc::dup2(fd.as_raw_fd(), number) }).map(drop)
}

/// Replaces a standard descriptor by `/dev/null`: the number stays taken, what it was is let go.
///
/// # Errors
/// `/dev/null` cannot be opened.
pub fn let_go(number: RawFd) -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    place(null.as_fd(), number)
}

/// A copy of a standard descriptor, above the standard ones.
///
/// # Errors
/// It is closed, or no descriptors are left.
pub fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_DUPFD_CLOEXEC takes the lowest number to use and makes a new descriptor.
    let fd = check(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) })?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// How many more descriptors can be opened, counted up to `most`.
pub fn free(most: usize) -> usize {
    // Standard input is open in any case: where it was closed, Rust's runtime has put /dev/null there.
    let held: Vec<OwnedFd> = (0..most).map_while(|_| duplicate(0).ok()).collect();
    held.len()
}

/// Closes descriptors that the caller of this program gave it, by number.
pub fn close_inherited(numbers: &[RawFd]) {
    for number in numbers {
        // SAFETY: the numbers were open before this program opened anything, so no owner in it has them.
        unsafe { libc::close(*number) };
    }
}

/// Takes the lock of a file for as long as it stays open in any process that shares it (`man 2 flock`).
/// False when somebody else has it.
pub fn try_lock(file: BorrowedFd<'_>) -> bool {
    // SAFETY: flock takes an open descriptor and flags.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Whether somebody holds the file's lock now.
pub fn is_locked(file: BorrowedFd<'_>) -> bool {
    // SAFETY: as above. A shared lock that we got is given back at once.
    unsafe {
        if libc::flock(file.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) == 0 {
            libc::flock(file.as_raw_fd(), libc::LOCK_UN);
            return false;
        }
    }
    io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock
}
