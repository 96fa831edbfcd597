//! The samples of a run: read from a file, and what they add up to put into the record.

use std::io::{self, Read};

use crate::core::memory::seen::Seen;
use crate::core::memory::series::Series;
use crate::core::memory::sums::Sums;
use crate::core::memory::table::Reader;
use crate::core::run::Run;
use crate::core::text::count;

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
        notes.push(format!("{} of the samples cannot be read and are not counted", count(reader.unreadable, "line")));
    }
    if reader.disordered > 0 {
        notes.push(format!("{} of the samples goes back in time and is not counted", count(reader.disordered, "row")));
    }
    if !reader.is_table() && !reader.series.is_empty() {
        notes.push("the samples are a list of times and KiB: what else was sampled is unknown".to_owned());
    }
    Ok(Samples { series: reader.series, notes })
}

/// Puts what the samples add up to into the record of a run that has ended. Samples without what was seen besides are
/// those of a supervisor that was killed.
pub fn settle(run: &mut Run, series: Option<&Series>) {
    if let (Some(end), Some(series)) = (&mut run.end, series) {
        let seen = end.memory.get_or_insert_with(|| Seen { lost: true, ..Seen::default() });
        seen.sums = Sums::of(series, None);
    }
}
