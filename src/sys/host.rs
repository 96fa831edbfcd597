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
