//! Finding what a run left: its folder, its kept trace, its samples.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};

use crate::cmd::files::is_dash;
use crate::cmd::kept::{Kept, Way, read_trace};
use crate::cmd::samples::{self, Samples};
use crate::core::run::{Run, SCHEMA};
use crate::sys::fd;

/// A run as it was left.
#[derive(Debug)]
pub struct Found {
    /// Its record.
    pub run: Run,
    /// What its trace holds.
    pub read: Kept,
    /// Its samples, when there are any.
    pub samples: Option<Samples>,
    /// It goes on at this moment.
    pub running: bool,
}

/// The run that a path leads to: a run folder, a kept trace, or `-`.
///
/// # Errors
/// A sentence that names the path, and what is wrong with it.
pub fn find(path: &Path, way: Way<'_>) -> anyhow::Result<Found> {
    if is_dash(path) {
        let read = read_trace(&mut io::stdin().lock(), way).context("cannot read standard input")?;
        return from_trace(read, false).context("standard input");
    }
    let meta = path
        .metadata()
        .with_context(|| format!("cannot read {}: a run folder, a trace or -", path.display()))?;
    if meta.is_dir() { from_folder(path, way) } else { from_file(path, way) }
        .with_context(|| path.display().to_string())
}

fn from_file(path: &Path, way: Way<'_>) -> anyhow::Result<Found> {
    let mut file = File::open(path)?;
    let read = read_trace(&mut file, way)?;
    // Asked after reading: a run that ended meanwhile has its end in what comes next time.
    let running = fd::is_locked(file.as_fd());
    let mut found = from_trace(read, running)?;
    // The trace of a run folder has its samples beside it.
    if found.run.sampling.is_some() && path.file_name().is_some_and(|name| name == "trace.log") {
        found.samples = beside(path.parent().unwrap_or(Path::new("")))?;
    }
    Ok(found)
}

/// The samples in a run's folder, if there are any.
fn beside(folder: &Path) -> anyhow::Result<Option<Samples>> {
    match open_samples(&folder.join("gtt.tsv")) {
        Ok(read) => Ok(Some(read)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).context("gtt.tsv"),
    }
}

/// The samples in a file.
///
/// # Errors
/// The file's.
pub(super) fn open_samples(path: &Path) -> io::Result<Samples> {
    samples::read(&mut File::open(path)?)
}

/// A run of which the trace is at hand, and nothing else.
///
/// # Errors
/// A sentence that says what is wrong with its header.
pub(super) fn from_trace(read: Kept, running: bool) -> anyhow::Result<Found> {
    let run = if read.fields.contains_key("schema") {
        let mut run = Run::from_fields(read.fields.clone()).map_err(|e| anyhow!(e))?;
        if run.tool.name.is_empty() {
            // Cut behind the first line, which only a trace of ours has.
            "hrx-wrap".clone_into(&mut run.tool.name);
        }
        run
    } else {
        Run { schema: SCHEMA.to_owned(), ..Run::default() }
    };
    Ok(Found { run, read, samples: None, running })
}

fn from_folder(folder: &Path, way: Way<'_>) -> anyhow::Result<Found> {
    let record = match std::fs::read(folder.join("run.json")) {
        Ok(text) => Some(serde_json::from_slice(&text).context("run.json is not JSON")?),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e).context("run.json"),
    };
    let trace = folder.join("trace.log");
    if record.is_none() && !trace.exists() {
        return Err(anyhow!("no run.json and no trace.log in it: not the folder of a run"));
    }
    let mut found =
        if trace.exists() { from_file(&trace, way)? } else { from_trace(Kept::default(), false)? };
    if let Some(fields) = record {
        found.run = Run::from_fields(fields).map_err(|e| anyhow!("run.json: {e}"))?;
    }
    found.samples = beside(folder)?;
    Ok(found)
}
