//! What machine this is.

use nix::sys::utsname::uname;

/// The host's name.
pub fn name() -> String {
    uname().map_or_else(|_| String::new(), |u| u.nodename().to_string_lossy().into_owned())
}

/// Kernel name, release and machine, as `uname -srm` prints them.
pub fn kernel() -> String {
    uname().map_or_else(
        |_| String::new(),
        |u| [u.sysname(), u.release(), u.machine()].map(|s| s.to_string_lossy().into_owned()).join(" "),
    )
}

/// The size of a page of memory, bytes.
pub fn page_size() -> u64 {
    use nix::unistd::{SysconfVar, sysconf};
    // Every Linux says it; 4 KiB is the size on every machine that llama.cpp's GPUs are in.
    sysconf(SysconfVar::PAGE_SIZE).ok().flatten().and_then(|n| u64::try_from(n).ok()).unwrap_or(4096)
}

/// How many descriptors this process may have open at once (`RLIMIT_NOFILE`, the soft limit).
pub fn open_files_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes one rlimit. When it fails the zeroes stay, which allow nothing.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    limit.rlim_cur
}
