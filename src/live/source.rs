//! Stamping at the source, our side of it: the object that the target preloads, and the ring that it prints into.
//!
//! The object is a file, in a folder that only its user can enter: descendants that close what they inherited, as Python's
//! and every daemon's do, still find it by its name, where an inherited descriptor would make the loader complain in their
//! stderr. The ring has no name, so that nothing of it stays when everything is killed; the object opens it through
//! `/proc/<our first process>/fd`, and stays out where it cannot.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::core::ring_layout::VARIABLE;
use crate::live::ring::{DEFAULT_CAPACITY, Ring};
use crate::live::shelf::Shelf;
use crate::sys::clock::monotonic_ns;
use crate::sys::shm;

/// The object's file, by which one of ours is known in an LD_PRELOAD.
pub const OBJECT: &str = "hrx-wrap-stamp.so";
/// How the folder's name begins; our pid follows.
const FOLDER: &str = "hrx-wrap-stamp-";
/// What a run that was killed altogether left is taken away by a later one after this.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// A run's object and ring.
#[derive(Debug)]
pub struct Source {
    /// Where the target prints.
    pub ring: Arc<Ring>,
    /// Where open lines are kept for a successor.
    pub shelf: Arc<Shelf>,
    folder: PathBuf,
    stays: Cell<bool>,
}

/// In our first process. The other one ends without this.
impl Drop for Source {
    fn drop(&mut self) {
        if !self.stays.get() {
            self.remove();
        }
    }
}

impl Source {
    /// Makes both. `bases`: where the folder may be, best first.
    ///
    /// # Errors
    /// No memory, or none of the places takes a file that can be loaded.
    pub fn create(object: &[u8], bases: &[PathBuf]) -> io::Result<Source> {
        let key = monotonic_ns().rotate_left(24) ^ u64::from(std::process::id()).rotate_left(48);
        let (ring, shelf) = (Arc::new(Ring::create(DEFAULT_CAPACITY, key)?), Arc::new(Shelf::create()?));
        let mut refused = io::Error::other("no folder to put it in");
        for base in bases.iter().filter(|base| can_be_preloaded(base)) {
            sweep(base);
            match place(object, base) {
                Ok(folder) => return Ok(Source { ring, shelf, folder, stays: Cell::new(false) }),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// The variables that make the target use it; what is preloaded already stays, and stays first, since there are
    /// libraries that insist on it. An object of an outer run gives way.
    pub fn variables(&self, preloaded: &str) -> Vec<String> {
        let object = self.folder.join(OBJECT);
        let kept = preloaded.split([' ', ':']).filter(|name| !name.is_empty() && !is_ours(name));
        let mut all: Vec<String> = kept.map(str::to_owned).collect();
        all.push(object.display().to_string());
        let ring = format!("/proc/{}/fd/{}", std::process::id(), self.ring.file().as_raw_fd());
        vec![format!("LD_PRELOAD={}", all.join(":")), format!("{VARIABLE}={ring}")]
    }

    /// Opens the ring to processes whose stderr this is.
    ///
    /// # Errors
    /// The kernel's.
    pub fn bind(&self, stderr: &OwnedFd) -> io::Result<()> {
        let file = File::from(stderr.try_clone()?).metadata()?;
        self.ring.open_to(file.dev(), file.ino());
        Ok(())
    }

    /// Processes are left alone after the run: they keep the folder, since their loader would complain about a missing
    /// object at each start of a program. A later run takes it away.
    pub fn leave(&self) {
        self.stays.set(true);
    }

    /// Takes the folder away.
    pub fn remove(&self) {
        let _ = std::fs::remove_file(self.folder.join(OBJECT));
        let _ = std::fs::remove_dir(&self.folder);
    }
}

fn is_ours(name: &str) -> bool {
    Path::new(name).file_name() == Some(OsStr::new(OBJECT))
}

/// The loader cuts LD_PRELOAD at blanks and colons (`man 8 ld.so`), and a relative path means another file elsewhere.
fn can_be_preloaded(base: &Path) -> bool {
    base.is_absolute() && base.to_str().is_some_and(|text| !text.contains([' ', ':', '$', '\n']))
}

fn place(object: &[u8], base: &Path) -> io::Result<PathBuf> {
    let folder = base.join(format!("{FOLDER}{}-{}", std::process::id(), monotonic_ns()));
    DirBuilder::new().mode(0o700).create(&folder)?;
    let path = folder.join(OBJECT);
    let written = shm::with_size_limit_lifted(object.len(), || {
        let mut file = File::options().read(true).write(true).create_new(true).mode(0o500).open(&path)?;
        file.write_all(object)?;
        shm::can_be_executed(file.as_fd())
    });
    if let Err(error) = written {
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir(&folder);
        return Err(error);
    }
    Ok(folder)
}

/// Takes away what runs left of which every process was killed.
fn sweep(base: &Path) {
    for entry in std::fs::read_dir(base).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|n| n.strip_prefix(FOLDER)?.split('-').next()?.parse::<u32>().ok());
        let Some(pid) = pid else { continue };
        let old = entry.metadata().and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
        if !Path::new("/proc").join(pid.to_string()).exists() && old.is_some_and(|age| age > STALE) {
            let _ = std::fs::remove_file(entry.path().join(OBJECT));
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_preloaded_stays_first_and_an_outer_runs_object_goes() {
        let base = std::env::temp_dir();
        let source =
            Source::create(b"\x7fELF", &[PathBuf::from("relative"), base.join("a b"), base]).unwrap();
        let object = source.folder.join(OBJECT);
        let set = |old: &str| source.variables(old)[0].clone();
        let ours = object.display();
        assert_eq!(set(""), format!("LD_PRELOAD={ours}"));
        assert_eq!(set("libasan.so /x/hrx-wrap-stamp.so:b.so"), format!("LD_PRELOAD=libasan.so:b.so:{ours}"));
        assert!(source.variables("")[1].starts_with("HRX_WRAP_STAMP=/proc/"));
        assert_eq!(source.folder.metadata().unwrap().mode() & 0o777, 0o700);
        source.remove();
        assert!(!source.folder.exists());
    }

    #[test]
    fn what_a_killed_run_left_goes_after_a_day() {
        let base = std::env::temp_dir().join(format!("hrx-wrap-sweep-{}", std::process::id()));
        let (own, dead) = (std::process::id(), i32::MAX);
        let days_old = std::time::SystemTime::now() - 2 * STALE;
        let of = |pid: &dyn std::fmt::Display, old: bool| {
            let folder = base.join(format!("{FOLDER}{pid}-{old}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(OBJECT), b"").unwrap();
            if old {
                File::open(&folder).unwrap().set_modified(days_old).unwrap();
            }
            folder
        };
        let folders = [of(&dead, true), of(&dead, false), of(&own, true), of(&"other", true)];
        std::fs::write(folders[3].join("other"), b"").unwrap();
        File::open(&folders[3]).unwrap().set_modified(days_old).unwrap();
        sweep(&base);
        assert_eq!(folders.map(|f| f.exists()), [false, true, true, true]);
        std::fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn a_place_that_takes_no_file_is_said() {
        let error = Source::create(b"", &[PathBuf::from("/proc")]).unwrap_err();
        assert!(!error.to_string().is_empty());
        assert!(Source::create(b"", &[]).unwrap_err().to_string().contains("no folder"));
    }
}
