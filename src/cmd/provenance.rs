//! Where the numbers come from: the program that ran, and the repositories that it and the working folder lie in.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use object::Object as _;
use sha2::{Digest as _, Sha256};

use crate::core::run::{Binary, Repository};
use crate::core::text::printable;

/// A `git status` of a very large tree is not waited for longer than this.
const GIT_PATIENCE: Duration = Duration::from_secs(2);

/// What can be said of a program's file. Absent when it cannot be read at all.
pub fn binary(path: &Path) -> Option<Binary> {
    let path = std::path::absolute(path).ok()?;
    let size_bytes = path.metadata().ok()?.len();
    let shown = printable(path.as_os_str().as_encoded_bytes());
    Some(Binary { path: shown, size_bytes, build_id: build_id(&path), sha256: sha256(&path) })
}

fn build_id(path: &Path) -> Option<String> {
    let cache = object::read::ReadCache::new(File::open(path).ok()?);
    let file = object::read::File::parse(&cache).ok()?;
    file.build_id().ok()?.map(hex)
}

fn sha256(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 256 << 10];
    loop {
        match file.read(&mut piece).ok()? {
            0 => return Some(hex(&hash.finalize())),
            n => hash.update(&piece[..n]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The repositories that a program and the working folder lie in. With `ask_git`, whether they are changed.
pub fn repositories(binary: Option<&Path>, cwd: Option<&Path>, ask_git: bool) -> Vec<Repository> {
    let places = [("binary", binary.and_then(Path::parent)), ("cwd", cwd)];
    places.into_iter().filter_map(|(of, place)| repository(of, place?, ask_git)).collect()
}

fn repository(of: &str, place: &Path, ask_git: bool) -> Option<Repository> {
    let place = place.canonicalize().ok()?;
    let top = place.ancestors().find(|dir| dir.join(".git").exists())?;
    let commit = head(&git_dir(&top.join(".git"))?)?;
    let dirty = if ask_git { is_dirty(top) } else { None };
    Some(Repository { of: of.to_owned(), path: printable(top.as_os_str().as_encoded_bytes()), commit, dirty })
}

/// `.git` is the folder, or a file that names it (`man gitrepository-layout`).
fn git_dir(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_owned());
    }
    let text = std::fs::read_to_string(dot_git).ok()?;
    Some(dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim()))
}

/// The commit that HEAD names, without running git.
fn head(dir: &Path) -> Option<String> {
    let text = std::fs::read_to_string(dir.join("HEAD")).ok()?;
    let Some(name) = text.trim().strip_prefix("ref: ") else {
        return commit(text.trim());
    };
    let common = match std::fs::read_to_string(dir.join("commondir")) {
        Ok(text) => dir.join(text.trim()),
        Err(_) => dir.to_owned(),
    };
    if let Ok(text) = std::fs::read_to_string(common.join(name)) {
        return commit(text.trim());
    }
    let packed = std::fs::read_to_string(common.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| commit(line.strip_suffix(name)?.trim()))
}

fn commit(text: &str) -> Option<String> {
    (text.len() >= 40 && text.bytes().all(|b| b.is_ascii_hexdigit())).then(|| text.to_owned())
}

/// Whether tracked files differ from HEAD; absent when git is not there or takes too long.
fn is_dirty(top: &Path) -> Option<bool> {
    // Neither locks nor hooks of a repository that is not ours.
    let mut git = Command::new("git");
    git.arg("-C").arg(top).args([
        "-c",
        "core.fsmonitor=false",
        "status",
        "--porcelain",
        "--untracked-files=no",
    ]);
    git.env("GIT_OPTIONAL_LOCKS", "0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = git.spawn().ok()?;
    let since = Instant::now();
    let mut first = [0_u8; 1];
    let mut stdout = child.stdout.take()?;
    let reading = std::thread::spawn(move || stdout.read(&mut first).map(|n| n > 0).ok());
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                let changed = reading.join().ok().flatten()?;
                // With one byte read, git may end of a closed pipe: the byte says enough.
                return (changed || status.success()).then_some(changed);
            }
            Ok(None) if since.elapsed() < GIT_PATIENCE => std::thread::sleep(Duration::from_millis(2)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_by_content() {
        let own = std::env::current_exe().unwrap();
        let facts = binary(&own).unwrap();
        assert_eq!(facts.size_bytes, own.metadata().unwrap().len());
        assert_eq!(facts.sha256.as_ref().map(String::len), Some(64));
        assert!(binary(Path::new("/nowhere")).is_none());
    }

    #[test]
    fn sha256_of_nothing_is_the_known_one() {
        let path = std::env::temp_dir().join(format!("hrx-wrap-empty-{}", std::process::id()));
        std::fs::write(&path, b"").unwrap();
        let known = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(&path).as_deref(), Some(known));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_repository_is_found_from_below_with_loose_and_packed_refs() {
        let top = std::env::temp_dir().join(format!("hrx-wrap-git-{}", std::process::id()));
        let git = top.join(".git");
        std::fs::create_dir_all(git.join("refs/heads")).unwrap();
        std::fs::create_dir_all(top.join("build/bin")).unwrap();
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(git.join("packed-refs"), format!("# pack-refs\n{b} refs/heads/main\n")).unwrap();
        let found = |top: &Path| repositories(Some(&top.join("build/bin/llama-bench")), None, false);
        assert_eq!(found(&top)[0].commit, b);
        std::fs::write(git.join("refs/heads/main"), format!("{a}\n")).unwrap();
        assert_eq!((found(&top)[0].commit.clone(), found(&top)[0].of.as_str()), (a, "binary"));
        std::fs::write(git.join("HEAD"), "nonsense").unwrap();
        assert!(found(&top).is_empty());
        std::fs::remove_dir_all(top).unwrap();
    }
}
