//! llama.cpp's own table of its memory, the second source: whole MiB, one context.

use memchr::memmem;
use serde::Deserialize;

use super::Word;
use crate::core::amount::Decimal;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Weights, MiB.
    pub model: u64,
    /// What a context keeps, MiB.
    pub context: u64,
    /// Its work space, MiB.
    pub compute: u64,
}

/// A row, from its `|   - ` at `at` on: `NAME (DESC) | T = F + (S = M + C + X) + U |` or `Host | S = M + C + X |`.
pub fn row(text: &[u8], at: usize) -> Option<Word<'_>> {
    memmem::find(&text[..at], b"breakdown_print")?;
    let row = &text[at + b"|   - ".len()..];
    let bar = memmem::find(row, b" |")?;
    let name = row[..bar].trim_ascii();
    // A description may hold anything, so a device's name ends at the first space.
    let name = &name[..name.iter().position(u8::is_ascii_whitespace).unwrap_or(name.len())];
    let cells = &row[bar + 2..];
    let sum = memmem::find(cells, b"(").map_or(cells, |open| &cells[open + 1..]);
    let parts = &sum[memmem::find(sum, b"=")? + 1..];
    let (model, rest) = number(parts)?;
    let (context, rest) = number(rest.trim_ascii_start().strip_prefix(b"+")?)?;
    let (compute, _) = number(rest.trim_ascii_start().strip_prefix(b"+")?)?;
    (!name.is_empty()).then_some(Word::Row { name, cells: Cells { model, context, compute } })
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = Decimal::read(text.trim_ascii_start())?;
    Some((number.of(1)?, rest))
}

/// The table as `--log-jsonl` prints it.
#[derive(Deserialize)]
struct Record {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    model: u64,
    context: u64,
    compute: u64,
}

/// The rows of a table that is one JSON record; none of one that is not understood.
pub fn record(text: &[u8]) -> Vec<(Vec<u8>, Cells)> {
    let begin = text.iter().position(|b| *b == b'{').unwrap_or(text.len());
    let record: Option<Record> = serde_json::from_slice(text[begin..].trim_ascii_end()).ok();
    let rows = record.map(|record| record.data.rows).unwrap_or_default();
    rows.into_iter()
        .map(|Row { name, model, context, compute }| (name.into_bytes(), Cells { model, context, compute }))
        .collect()
}
