//! What `--force` may replace.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::cmd::keep::FILES;
use crate::core::run::SCHEMA;
use crate::sys::fd;

/// The names in a folder.
///
/// # Errors
/// It cannot be read.
pub fn names_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|entry| entry.map(|e| PathBuf::from(e.file_name()))).collect()
}

/// Only a run of ours may be replaced, and only one that has ended.
///
/// # Errors
/// A sentence that says why it may not.
pub fn replaceable(out: &Path, names: &[PathBuf]) -> anyhow::Result<()> {
    let foreign = names.iter().find(|name| !FILES.iter().any(|ours| name.as_os_str() == *ours));
    if let Some(name) = foreign {
        bail!("{} holds {}, which is not of a run: choose a new folder", out.display(), name.display());
    }
    // All of it can go, or nothing of it goes.
    let is_folder = |name: &&PathBuf| out.join(name).symlink_metadata().is_ok_and(|m| m.is_dir());
    if let Some(name) = names.iter().find(is_folder) {
        bail!("{} holds {}, which is a folder: choose a new folder", out.display(), name.display());
    }
    let record = std::fs::read(out.join("run.json")).unwrap_or_default();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap_or_default();
    let schema = record.get("schema").and_then(serde_json::Value::as_str).unwrap_or_default();
    if !schema.starts_with(SCHEMA.split('/').next().unwrap_or(SCHEMA)) {
        bail!("{} is not a run of hrx-wrap: choose a new folder", out.display());
    }
    if File::open(out.join("trace.log")).is_ok_and(|log| fd::is_locked(log.as_fd())) {
        bail!("the run in {} is still going on: choose a new folder", out.display());
    }
    Ok(())
}
