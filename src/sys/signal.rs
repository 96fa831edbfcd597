//! Signals: masks, dispositions, and a descriptor that yields them with their sender.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::clock::monotonic_ns;
use super::{check, counted};

/// A set of signals, real-time ones included.
#[derive(Clone, Copy)]
pub struct Set(libc::sigset_t);

impl std::fmt::Debug for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries((1..=64).filter(|n| self.contains(*n))).finish()
    }
}

impl Set {
    /// The set of these signals; numbers that do not exist are left out.
    pub fn of(signals: impl IntoIterator<Item = i32>) -> Self {
        let mut set = MaybeUninit::uninit();
        // SAFETY: sigemptyset initialises the whole set behind the pointer and cannot fail on a valid one.
        let mut set = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            set.assume_init()
        };
        for signal in signals {
            // SAFETY: `set` is initialised; a number that does not exist is an error value without effect.
            unsafe { libc::sigaddset(&raw mut set, signal) };
        }
        Set(set)
    }

    /// Whether the signal is in it.
    pub fn contains(&self, signal: i32) -> bool {
        // SAFETY: the set is initialised; the call only reads it.
        unsafe { libc::sigismember(&raw const self.0, signal) == 1 }
    }

    /// Blocks these signals in the calling thread, beside those blocked already; yields the mask as it was.
    ///
    /// # Errors
    /// The kernel's, which a valid set does not meet.
    pub fn block(&self) -> io::Result<Set> {
        change_mask(libc::SIG_BLOCK, self)
    }

    /// Unblocks these signals in the calling thread.
    ///
    /// # Errors
    /// As [`Self::block`].
    pub fn unblock(&self) -> io::Result<Set> {
        change_mask(libc::SIG_UNBLOCK, self)
    }

    /// Makes this the calling thread's mask.
    ///
    /// # Errors
    /// As [`Self::block`].
    pub fn install(&self) -> io::Result<Set> {
        change_mask(libc::SIG_SETMASK, self)
    }
}

fn change_mask(how: libc::c_int, set: &Set) -> io::Result<Set> {
    let mut old = Set::of([]);
    // SAFETY: both pointers are to initialised sets that live through the call.
    let error = unsafe { libc::pthread_sigmask(how, &raw const set.0, &raw mut old.0) };
    if error == 0 { Ok(old) } else { Err(io::Error::from_raw_os_error(error)) }
}

/// Whether a signal's disposition is "ignore".
pub fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null new action only asks; the old one is written to our own zeroed memory, valid in any case.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

/// Sets a signal to "ignore" or to its default action.
///
/// # Errors
/// EINVAL for a signal that does not exist or cannot be changed.
pub fn set_ignored(signal: i32, ignored: bool) -> io::Result<()> {
    // SAFETY: all-zero is a valid sigaction: default action, empty mask, no flags.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = if ignored { libc::SIG_IGN } else { libc::SIG_DFL };
    // SAFETY: the action is initialised and names no handler function; the old one is not asked for.
    check(unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) }).map(drop)
}

/// A signal that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its number.
    pub signal: i32,
    /// The sender's pid; 0 when the kernel sent it (a terminal key, a timer).
    pub sender: i32,
    /// When it was taken, `CLOCK_MONOTONIC` ns.
    pub ns: u64,
    /// By `sigqueue`: each one counts, as the sender of such a signal expects (`man 7 signal`).
    pub queued: bool,
}

/// Blocked signals, readable from a descriptor (`man 2 signalfd`).
#[derive(Debug)]
pub struct Inbox(OwnedFd);

impl Inbox {
    /// Opens an inbox for signals that the caller has blocked.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn open(set: &Set) -> io::Result<Inbox> {
        // SAFETY: −1 asks for a new descriptor; the set is initialised.
        let fd = unsafe { libc::signalfd(-1, &raw const set.0, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        let fd = check(fd)?;
        // SAFETY: the descriptor is new and nobody else's.
        Ok(Inbox(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// The next signal that is waiting, if any.
    pub fn next(&self) -> Option<Arrival> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel writes at most `size` bytes to memory of that size.
        let got = counted(|| unsafe { libc::read(self.0.as_raw_fd(), info.as_mut_ptr().cast(), size) });
        if got.ok() != Some(size) {
            return None;
        }
        // SAFETY: the whole record was written by the kernel, and any bytes are valid in it.
        let info = unsafe { info.assume_init() };
        // Only these codes carry a sender (`man 2 sigaction`): a process by kill, sigqueue or tgkill.
        let by_process = [libc::SI_USER, libc::SI_QUEUE, libc::SI_TKILL].contains(&info.ssi_code);
        let sender = if by_process { info.ssi_pid.cast_signed() } else { 0 };
        let queued = info.ssi_code == libc::SI_QUEUE;
        Some(Arrival { signal: info.ssi_signo.cast_signed(), sender, ns: monotonic_ns(), queued })
    }
}

impl std::os::fd::AsFd for Inbox {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Gives the signal its default action, lets it through and sends it to this process. Returns when that did not end or
/// stop us: PID 1, a blocked stop in an orphaned group.
pub fn raise_default(signal: i32) {
    // SIGKILL and SIGSTOP have no disposition to set: the error says so, and nothing is wrong.
    let _ = set_ignored(signal, false);
    // SAFETY: raise takes any number; a wrong one is an error value.
    unsafe { libc::raise(signal) };
    let _ = Set::of([signal]).unblock();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::signals;

    #[test]
    fn the_table_has_the_c_librarys_numbers() {
        for (name, number) in [
            ("HUP", libc::SIGHUP),
            ("INT", libc::SIGINT),
            ("QUIT", libc::SIGQUIT),
            ("USR1", libc::SIGUSR1),
            ("USR2", libc::SIGUSR2),
            ("ALRM", libc::SIGALRM),
            ("TERM", libc::SIGTERM),
            ("CHLD", libc::SIGCHLD),
            ("CONT", libc::SIGCONT),
            ("TSTP", libc::SIGTSTP),
            ("TTIN", libc::SIGTTIN),
            ("TTOU", libc::SIGTTOU),
            ("VTALRM", libc::SIGVTALRM),
            ("WINCH", libc::SIGWINCH),
            ("SYS", libc::SIGSYS),
            ("RTMIN", libc::SIGRTMIN()),
            ("RTMAX", libc::SIGRTMAX()),
        ] {
            assert_eq!(signals::parse(name), Ok(number), "{name}");
        }
    }

    #[test]
    fn sets_hold_real_time_signals() {
        let set = Set::of([15, 34, 64, 9999]);
        assert!(set.contains(15) && set.contains(34) && set.contains(64) && !set.contains(1));
    }
}
