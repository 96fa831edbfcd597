//! Samples as a table, both ways: `gtt.tsv`, and the bare list of `time KiB` pairs that older tools left.
//!
//! `gtt.tsv` has a header line and a row a sample, tabs between the columns, nothing where a value is unknown. Lines that
//! begin with `#` are remarks. A file cut anywhere still reads: its torn last line is counted and not taken.

use std::fmt::Write as _;

use memchr::memchr;

use crate::core::memory::sample::{Sample, State};
use crate::core::memory::series::Series;

/// The columns.
const COLUMNS: [&str; 9] = [
    "ns",
    "gtt_bytes",
    "gtt_total_bytes",
    "vram_bytes",
    "rss_bytes",
    "device_gtt_used_bytes",
    "clients",
    "fds",
    "state",
];
/// A longer line is none of a table of samples.
const LONGEST: usize = 4 << 10;
/// A whole number below this is seconds, from it on nanoseconds: as seconds it would be three centuries.
const LEAST_NS: u64 = 10_000_000_000;

/// The header line.
pub fn header() -> String {
    format!("{}\n", COLUMNS.join("\t"))
}

/// Appends a row.
pub fn row(out: &mut String, sample: &Sample) {
    let bytes = [
        sample.gtt_bytes,
        sample.gtt_total_bytes,
        sample.vram_bytes,
        sample.rss_bytes,
        sample.device_gtt_used_bytes,
    ];
    // Writing to a String cannot fail.
    let _ = write!(out, "{}", sample.ns);
    for value in bytes {
        out.push('\t');
        if let Some(value) = value {
            let _ = write!(out, "{value}");
        }
    }
    let _ = writeln!(out, "\t{}\t{}\t{}", sample.clients, sample.fds, sample.state.word());
}

/// Which column of a table is which of ours.
type Order = [Option<usize>; COLUMNS.len()];

/// Reads a table in pieces of any size, in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// The samples so far.
    pub series: Series,
    /// Lines that are no row.
    pub unreadable: u64,
    /// Rows that are not later than the one before: not taken.
    pub disordered: u64,
    order: Option<Order>,
    carry: Vec<u8>,
    too_long: bool,
    last_ns: Option<u64>,
}

impl Reader {
    /// Takes a piece.
    pub fn feed(&mut self, mut text: &[u8]) {
        while let Some(end) = memchr(b'\n', text) {
            let (line, rest) = (&text[..end], &text[end + 1..]);
            if self.carry.is_empty() && !self.too_long {
                self.line(line);
            } else {
                self.keep(line);
                let carried = std::mem::take(&mut self.carry);
                self.line(&carried);
                self.carry = carried;
                self.carry.clear();
            }
            self.too_long = false;
            text = rest;
        }
        self.keep(text);
    }

    fn keep(&mut self, part: &[u8]) {
        self.too_long |= self.carry.len() + part.len() > LONGEST;
        if !self.too_long {
            self.carry.extend_from_slice(part);
        }
    }

    /// Whether the last line was cut. A list of pairs need not end in a line end, so there a whole pair is taken.
    pub fn finish(&mut self) -> bool {
        if self.carry.is_empty() && !self.too_long {
            return false;
        }
        let carried = std::mem::take(&mut self.carry);
        if self.order.is_none() && !self.too_long && by_pair(&carried).is_some() {
            self.line(&carried);
            return false;
        }
        true
    }

    /// It has the header of a table of ours.
    pub fn is_table(&self) -> bool {
        self.order.is_some()
    }

    fn line(&mut self, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() || line.first() == Some(&b'#') {
            return;
        }
        if self.too_long || line.len() > LONGEST {
            self.unreadable += 1;
            return;
        }
        if self.order.is_none() && self.series.is_empty() && line.starts_with(b"ns\t") {
            self.order = Some(order(line));
            return;
        }
        let sample = match &self.order {
            Some(order) => by_columns(line, order),
            None => by_pair(line),
        };
        match sample {
            None => self.unreadable += 1,
            Some(sample) if self.last_ns.is_some_and(|last| sample.ns < last) => self.disordered += 1,
            Some(sample) => {
                self.last_ns = Some(sample.ns);
                self.series.push(sample);
            }
        }
    }
}

fn order(line: &[u8]) -> Order {
    COLUMNS.map(|name| line.split(|b| *b == b'\t').position(|column| column == name.as_bytes()))
}

fn number(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

fn by_columns(line: &[u8], order: &Order) -> Option<Sample> {
    let mut cells: [&[u8]; COLUMNS.len()] = [b""; COLUMNS.len()];
    let mut columns = 0;
    for (at, cell) in line.split(|b| *b == b'\t').enumerate() {
        columns += 1;
        for (into, _) in cells.iter_mut().zip(order).filter(|(_, column)| **column == Some(at)) {
            *into = cell;
        }
    }
    // A row that lacks a column was cut, or is none.
    if order.iter().flatten().any(|at| *at >= columns) {
        return None;
    }
    let [ns, gtt, total, vram, rss, device, clients, fds, state] = cells;
    let known = |cell: &[u8]| if cell.is_empty() { Some(None) } else { number(cell).map(Some) };
    let count = |cell: &[u8]| if cell.is_empty() { Some(0) } else { u32::try_from(number(cell)?).ok() };
    Some(Sample {
        ns: number(ns)?,
        gtt_bytes: known(gtt)?,
        gtt_total_bytes: known(total)?,
        vram_bytes: known(vram)?,
        rss_bytes: known(rss)?,
        device_gtt_used_bytes: known(device)?,
        clients: count(clients)?,
        fds: count(fds)?,
        state: if state.is_empty() { State::Ok } else { State::of(state)? },
    })
}

/// `time KiB`: the time in seconds with a fraction, in whole seconds, or in nanoseconds.
fn by_pair(line: &[u8]) -> Option<Sample> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
    let (time, kib) = (words.next()?, words.next()?);
    if words.next().is_some() {
        return None;
    }
    let gtt_bytes = Some(number(kib)?.checked_mul(1 << 10)?);
    Some(Sample { ns: time_ns(time)?, gtt_bytes, ..Sample::default() })
}

fn time_ns(text: &[u8]) -> Option<u64> {
    let Some(point) = memchr(b'.', text) else {
        let whole = number(text)?;
        return if whole < LEAST_NS { whole.checked_mul(1_000_000_000) } else { Some(whole) };
    };
    let (whole, fraction) = (number(&text[..point])?, &text[point + 1..]);
    let mut ns = 0;
    for place in 0..9 {
        let digit =
            fraction.get(place).map_or(Some(0), |b| Some(b.wrapping_sub(b'0')).filter(|d| *d < 10))?;
        ns = ns * 10 + u64::from(digit);
    }
    let rest = fraction.get(9..).unwrap_or_default();
    if fraction.is_empty() || !rest.iter().all(u8::is_ascii_digit) {
        return None;
    }
    whole.checked_mul(1_000_000_000)?.checked_add(ns)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
