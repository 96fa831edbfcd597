//! Folders and what is in them, by descriptor: a held folder goes on meaning the same one whatever happens to its name.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use nix::dir::Dir;
use nix::fcntl::{OFlag, openat, readlinkat};
use nix::sys::stat::Mode;

/// Never a terminal of ours, never waiting for the other side of a pipe, closed on exec.
fn flags() -> OFlag {
    OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK | OFlag::O_NOCTTY
}

/// Opens a file or a folder below an open folder for reading.
///
/// # Errors
/// The kernel's: ENOENT or ESRCH when it is gone, EACCES when it may not be read.
pub fn open_at(folder: impl AsFd, name: &str) -> io::Result<File> {
    Ok(openat(folder, name, flags(), Mode::empty())?.into())
}

/// The numbers among the names in a folder below an open one, in the folder's order.
///
/// # Errors
/// The kernel's.
pub fn numbers_at(folder: impl AsFd, name: &str) -> io::Result<Vec<u32>> {
    let mut dir = Dir::openat(folder, name, flags() | OFlag::O_DIRECTORY, Mode::empty())?;
    let mut numbers = Vec::new();
    for entry in dir.iter() {
        // Names with a leading zero or a sign are nobody's number.
        let entry = entry?;
        let name = entry.file_name().to_str().unwrap_or_default();
        let digits = name.bytes().all(|b| b.is_ascii_digit()) && (name.len() == 1 || !name.starts_with('0'));
        numbers.extend(name.parse::<u32>().ok().filter(|_| digits));
    }
    Ok(numbers)
}

/// What a symbolic link below an open folder says.
///
/// # Errors
/// The kernel's.
pub fn link_at(folder: impl AsFd, name: &str) -> io::Result<std::ffi::OsString> {
    Ok(readlinkat(folder, name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_folder_is_the_same_one_under_another_name() {
        let top = std::env::temp_dir().join(format!("hrx-wrap-dir-{}", std::process::id()));
        let (old, new) = (top.join("old"), top.join("new"));
        std::fs::create_dir_all(old.join("fd")).unwrap();
        for name in ["3", "10", "x", "0", "007", "+1"] {
            std::fs::write(old.join("fd").join(name), name).unwrap();
        }
        std::os::unix::fs::symlink("pipe:[7]", old.join("link")).unwrap();
        let held = File::open(&old).unwrap();
        std::fs::rename(&old, &new).unwrap();
        std::fs::create_dir(&old).unwrap();
        let mut numbers = numbers_at(&held, "fd").unwrap();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 3, 10]);
        assert_eq!(io::read_to_string(open_at(&held, "fd/10").unwrap()).unwrap(), "10");
        assert_eq!(link_at(&held, "link").unwrap(), "pipe:[7]");
        assert_eq!(open_at(&held, "fd/4").unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::remove_dir_all(top).unwrap();
    }
}
