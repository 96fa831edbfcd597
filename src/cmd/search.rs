//! Which file a command names: the search in `PATH`, as `execvp` does it.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The search path where `PATH` is not set (`confstr(_CS_PATH)` of glibc).
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The files to try in turn for a command.
pub fn candidates(command: &OsStr, path: Option<&OsStr>) -> Vec<PathBuf> {
    if command.as_bytes().contains(&b'/') {
        return vec![PathBuf::from(command)];
    }
    if command.is_empty() {
        return Vec::new();
    }
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    // An empty entry is the working folder.
    path.as_bytes()
        .split(|b| *b == b':')
        .map(|dir| match dir {
            b"" => Path::new(".").join(command),
            dir => Path::new(OsStr::from_bytes(dir)).join(command),
        })
        .collect()
}

/// The same for exec; a name with a NUL byte cannot be one.
pub fn for_exec(candidates: &[PathBuf]) -> Vec<CString> {
    candidates.iter().filter_map(|p| CString::new(p.as_os_str().as_bytes()).ok()).collect()
}

/// The candidate that exec will take, as far as file modes tell.
pub fn executable(candidates: &[PathBuf]) -> Option<&PathBuf> {
    candidates.iter().find(|p| p.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_searched_and_a_path_is_not() {
        let of = |name: &str, path: Option<&str>| {
            let found = candidates(OsStr::new(name), path.map(OsStr::new));
            found.into_iter().map(|p| p.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(of("ls", Some("/a:/b")), ["/a/ls", "/b/ls"]);
        assert_eq!(of("ls", Some(":/b")), ["./ls", "/b/ls"]);
        assert_eq!(of("./ls", Some("/a")), ["./ls"]);
        assert_eq!(of("ls", None), ["/bin/ls", "/usr/bin/ls"]);
        assert!(of("", Some("/a")).is_empty());
    }
}
