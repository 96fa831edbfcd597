//! The table of both sides' memory.

use super::Table;
use super::cells::{relative, signed};
use crate::core::compare::memory::MemoryRow;
use crate::core::compare::{Comparison, Kind};
use crate::report::memory_text;

/// The GTT split of both sides, MiB.
pub(super) fn table(comparison: &Comparison) -> Table {
    let mut table = Table {
        title: "GTT SPLIT".to_owned(),
        head: ["change MiB", "change %", "base MiB", "new MiB", "verdict", "what"]
            .map(str::to_owned)
            .to_vec(),
        words_from: 4,
        ..Table::default()
    };
    table.rows = comparison.memory.iter().map(cells).collect();
    table
}

/// A row of it.
fn cells(row: &MemoryRow) -> Vec<String> {
    let alone = row.alone.map_or("unknown".to_owned(), mib);
    let missing = || "–".to_owned();
    let mut cells = match (&row.judged, &row.kind) {
        (Some(j), _) => vec![
            signed(j.change(), 1 << 20, 1),
            relative(j.relative()),
            ranged(j.base, j.base_range),
            ranged(j.new, j.new_range),
            j.verdict.words(),
        ],
        (None, Kind::New) => vec![missing(), missing(), missing(), alone, "new".to_owned()],
        (None, Kind::Vanished) => vec![missing(), missing(), alone, missing(), "vanished".to_owned()],
        (None, _) => {
            let why = row.why.clone().unwrap_or_default();
            vec![missing(), missing(), "unknown".to_owned(), "unknown".to_owned(), format!("unknown: {why}")]
        }
    };
    cells.push(row.name.clone());
    cells
}

/// MiB of an amount that may be less than none.
fn mib(bytes: f64) -> String {
    if bytes < 0.0 {
        format!("−{}", memory_text::mib(-bytes as u64))
    } else {
        memory_text::mib(bytes as u64)
    }
}

/// `30.1 [29.9–30.4]`: a median, and the range of several runs that differ.
fn ranged(median: f64, range: Option<(f64, f64)>) -> String {
    match range.filter(|(a, b)| a < b) {
        Some((least, most)) => format!("{} [{}–{}]", mib(median), mib(least), mib(most)),
        None => mib(median),
    }
}
