//! The samples of a run: read from a file, and what they add up to put into the record.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;

use crate::cmd::keep::unless_full;
use crate::core::book::Book;
use crate::core::memory::seen::Seen;
use crate::core::memory::series::Series;
use crate::core::memory::sums::Sums;
use crate::core::memory::table::{self, Reader};
use crate::core::run::Run;
use crate::core::text::count;
use crate::live::plan::Log;

/// A table of samples, or a list of pairs.
#[derive(Debug, Default)]
pub struct Samples {
    /// The samples.
    pub series: Series,
    /// What was not understood, a sentence each.
    pub notes: Vec<String>,
}

/// Reads samples to their end, in bounded memory.
///
/// # Errors
/// The file's.
pub fn read(from: &mut dyn Read) -> io::Result<Samples> {
    let mut reader = Reader::default();
    let mut piece = vec![0; 256 << 10];
    loop {
        match from.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => reader.feed(&piece[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let torn = reader.finish();
    let mut notes = Vec::new();
    if torn {
        notes.push("the samples end inside a row; it is not counted".to_owned());
    }
    if reader.unreadable > 0 {
        notes.push(format!(
            "{} of the samples cannot be read and are not counted",
            count(reader.unreadable, "line")
        ));
    }
    if reader.disordered > 0 {
        notes.push(format!(
            "{} of the samples goes back in time and is not counted",
            count(reader.disordered, "row")
        ));
    }
    if !reader.is_table() && !reader.series.is_empty() {
        notes.push("the samples are a list of times and KiB: what else was sampled is unknown".to_owned());
    }
    Ok(Samples { series: reader.series, notes })
}

/// Begins a table in an open file.
///
/// # Errors
/// A sentence that names the path and the remedy.
pub fn begin(mut file: File, path: PathBuf) -> anyhow::Result<Log> {
    if file.metadata().is_ok_and(|m| m.is_file()) {
        file.set_len(0).with_context(|| format!("cannot empty {}", path.display()))?;
    }
    let header = table::header();
    // Without room for its header nothing of it is written, and that is told at the end.
    let written = file.write_all(header.as_bytes());
    let offset = if written.is_ok() { header.len() as u64 } else { 0 };
    written
        .or_else(unless_full)
        .with_context(|| format!("cannot write {}: choose another file", path.display()))?;
    Ok(Log { file, path, offset })
}

/// Puts what the samples add up to into the record of a run that has ended. Samples without what was seen besides are
/// those of a supervisor that was killed.
pub fn settle(run: &mut Run, series: Option<&Series>, book: Option<&Book>) {
    if let (Some(end), Some(series)) = (&mut run.end, series) {
        let seen = end.memory.get_or_insert_with(|| Seen { lost: true, ..Seen::default() });
        seen.sums = Sums::by_phases(series, book.map(|book| &book.phases));
    }
}
