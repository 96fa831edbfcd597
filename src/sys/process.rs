//! Processes: fork, groups, waiting, pidfds, exec.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::check;

/// Which side of a fork this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forked {
    /// The new process.
    Child,
    /// The old one, with the child's pid.
    Parent(i32),
}

/// Forks. Only a process with one thread may: in a copy of one with several, any lock may be held for ever.
///
/// # Errors
/// There are other threads, or no process is left.
pub fn fork() -> io::Result<Forked> {
    let threads = std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads != 1 {
        return Err(io::Error::other(format!("fork with {threads} threads")));
    }
    // SAFETY: this process has one thread, so the child has everything in a consistent state.
    match check(unsafe { libc::fork() })? {
        0 => Ok(Forked::Child),
        pid => Ok(Forked::Parent(pid)),
    }
}

/// This process's pid.
pub fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

/// The parent's pid; 0 when it is outside our pid namespace.
pub fn parent_pid() -> i32 {
    nix::unistd::getppid().as_raw()
}

/// This process's group.
pub fn own_group() -> i32 {
    nix::unistd::getpgrp().as_raw()
}

/// The session of a process; 0 = this one.
pub fn session(pid: i32) -> Option<i32> {
    nix::unistd::getsid(Some(nix::unistd::Pid::from_raw(pid))).ok().map(nix::unistd::Pid::as_raw)
}

/// Puts this process into a new group of its own.
///
/// # Errors
/// It is a session leader.
pub fn own_new_group() -> io::Result<()> {
    let zero = nix::unistd::Pid::from_raw(0);
    Ok(nix::unistd::setpgid(zero, zero)?)
}

fn prctl(option: libc::c_int, argument: libc::c_ulong) -> io::Result<()> {
    // SAFETY: the options used here take one integer and reach no memory of ours.
    check(unsafe { libc::prctl(option, argument, 0, 0, 0) }).map(drop)
}

/// Orphans below this process become its children (`man 2 PR_SET_CHILD_SUBREAPER`).
///
/// # Errors
/// A kernel before 3.4.
pub fn become_subreaper() -> io::Result<()> {
    prctl(libc::PR_SET_CHILD_SUBREAPER, 1)
}

/// Asks for SIGKILL when the thread that made this process ends. The parent may be gone already, so it is compared
/// with the pid noted before the fork; never with 1, which a subreaper's child does not see.
///
/// # Errors
/// The parent is gone.
pub fn die_with(parent: i32) -> io::Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong)?;
    if parent_pid() == parent { Ok(()) } else { Err(io::Error::other("the parent is gone")) }
}

/// No core file of this process: not by rlimit, not through a core pattern's pipe.
pub fn no_core_file() {
    let _ = prctl(libc::PR_SET_DUMPABLE, 0);
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: reads one rlimit. Lowering a limit is always allowed.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
}

/// Ends this process at once: no destructor, no buffer, no handler of anybody.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: _exit takes any number and does not return.
    unsafe { libc::_exit(code) }
}

/// A process's own descriptor: it never means another process, whatever happens to the number (`man 2 pidfd_open`).
#[derive(Debug)]
pub struct PidFd(OwnedFd);

impl PidFd {
    /// Opens the descriptor of a process that the caller knows to be alive or unreaped.
    ///
    /// # Errors
    /// It is gone (ESRCH), or a kernel before 5.3.
    pub fn open(pid: i32) -> io::Result<PidFd> {
        // SAFETY: the call takes a pid and flags and makes a new descriptor, closed on exec.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        let fd = check(i32::try_from(fd).unwrap_or(-1))?;
        // SAFETY: the descriptor is new and nobody else's.
        Ok(PidFd(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Sends a signal to exactly this process.
    ///
    /// # Errors
    /// It has ended (ESRCH) or may not be signalled (EPERM).
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        // SAFETY: no siginfo is given; the rest are integers.
        let result = unsafe {
            libc::syscall(libc::SYS_pidfd_send_signal, self.0.as_raw_fd(), signal, std::ptr::null::<u8>(), 0)
        };
        check(i32::try_from(result).unwrap_or(-1)).map(drop)
    }

    /// Whether it has ended, reaped or not.
    pub fn has_ended(&self) -> bool {
        super::fd::wait([(Some(self.as_fd()), super::fd::Want::Read)], Some(0)).is_ok_and(|[r]| r.readable)
    }
}

impl AsFd for PidFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Sends a signal to every process of a group, at once. Only for a group whose leader is our unreaped child, so that
/// the number cannot mean another group.
///
/// # Errors
/// No process is in it, or none may be signalled.
pub fn signal_group(group: i32, signal: i32) -> io::Result<()> {
    // SAFETY: killpg takes two numbers.
    check(unsafe { libc::killpg(group, signal) }).map(drop)
}

/// A change of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It exited with this code; it is reaped.
    Exited(i32),
    /// This signal ended it; it is reaped.
    Killed(i32),
    /// This signal stopped it.
    Stopped(i32),
    /// It goes on.
    Continued,
}

/// What [`next_change`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Children {
    /// A child changed.
    Changed(i32, Change),
    /// There are children, and none changed.
    Quiet,
    /// There is no child.
    None,
}

/// The next change of any child; does not wait (`man 2 waitid`).
pub fn next_change() -> Children {
    let flags = libc::WEXITED | libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG;
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the kernel writes one siginfo at most.
    let result = unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), flags) };
    // SAFETY: zeroed memory is a valid siginfo in any case.
    let info = unsafe { info.assume_init() };
    if result < 0 {
        return Children::None;
    }
    // SAFETY: waitid fills the fields of a child's change, or leaves the zeroes when there is none.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    if pid == 0 {
        return Children::Quiet;
    }
    let change = match info.si_code {
        libc::CLD_EXITED => Change::Exited(status),
        libc::CLD_KILLED | libc::CLD_DUMPED => Change::Killed(status),
        libc::CLD_STOPPED | libc::CLD_TRAPPED => Change::Stopped(status),
        _ => Change::Continued,
    };
    Children::Changed(pid, change)
}

/// Whether this process has any child; reaps none.
pub fn has_children() -> bool {
    let flags = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT;
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the kernel writes one siginfo to memory of ours, which nobody reads.
    unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), flags) == 0 }
}

/// Becomes another program. Returns only to say why not.
pub fn exec(path: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |list: &[CString]| {
        list.iter().map(|s| s.as_ptr()).chain(std::iter::once(std::ptr::null())).collect::<Vec<_>>()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: a C string and two null-terminated lists of C strings, all alive through the call.
    unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}
