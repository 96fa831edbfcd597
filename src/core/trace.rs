//! The kept trace: its text format, both ways.
//!
//! ```text
//! # hrx-wrap/1 <key> <JSON>          header: what the run is, before the first stamped line
//! <ns> <the line, unchanged>         one line of the target's stderr; ns = CLOCK_MONOTONIC of its first byte
//! # hrx-wrap/1 <key> <JSON>          later: `writer`, `no-newline`, `lost`, and at the end `end` and what became known late
//! ```
//!
//! A stamped line never begins with `#`, so the two cannot be mixed up, whatever the target prints.
//! Files of other tools have the stamped lines alone, and are read as well. A file cut anywhere still parses:
//! its torn last line is counted and not taken for a line.

use std::io::Write as _;

use memchr::memchr;
use serde_json::Value;

use crate::core::lines::Fragment;

/// What every line of ours begins with.
pub const NOTE: &str = "# hrx-wrap/1 ";
/// The same up to its version.
const OURS: &str = "# hrx-wrap/";
/// The version of the notes that is read and written here.
const VERSION: &str = "1";
/// Key of the note behind a last line that the target did not end.
pub const NO_NEWLINE: &str = "no-newline";
/// Key of the note where lines are missing because the disk did not take them.
pub const LOST: &str = "lost";
/// Key of the note before the lines of another process, where their writers are known: its pid.
pub const WRITER: &str = "writer";
/// The longest line of ours that is read; a longer one is counted as not understood.
const MAX_NOTE: usize = 8 << 20;

/// Writes the kept trace's text into a buffer. Keeps the digits of the last stamp: many lines share one.
#[derive(Debug, Default)]
pub struct Writer {
    stamp: u64,
    digits: Vec<u8>,
}

impl Writer {
    /// Appends one fragment: the stamp where a line begins, the bytes, the LF where it ends.
    pub fn fragment(&mut self, out: &mut Vec<u8>, fragment: &Fragment<'_>) {
        if fragment.starts {
            if self.digits.is_empty() || self.stamp != fragment.ns {
                self.stamp = fragment.ns;
                self.digits.clear();
                // Writing to a Vec cannot fail.
                let _ = write!(self.digits, "{} ", fragment.ns);
            }
            out.extend_from_slice(&self.digits);
        }
        out.extend_from_slice(fragment.bytes);
        if fragment.ends {
            out.push(b'\n');
        }
    }
}

/// Appends a line of ours.
pub fn note(out: &mut Vec<u8>, key: &str, value: &Value) {
    // JSON text holds no raw line end, and writing to a Vec cannot fail.
    let _ = writeln!(out, "{NOTE}{key} {value}");
}

/// What the reader finds.
#[derive(Debug, PartialEq)]
pub enum Item<'a> {
    /// A part of a stamped line.
    Fragment(Fragment<'a>),
    /// A line of ours.
    Note(String, Value),
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// At a line's beginning; `carry` holds what came of it.
    Begin,
    /// Behind the stamp.
    Line(u64),
    /// In a line of ours.
    Note,
    /// In a line that is neither.
    Foreign,
}

/// Reads a kept trace, in pieces of any size.
#[derive(Debug)]
pub struct Reader {
    state: State,
    carry: Vec<u8>,
    /// Lines that are neither stamped nor ours.
    pub unstamped: u64,
}

impl Default for Reader {
    fn default() -> Self {
        Reader { state: State::Begin, carry: Vec::new(), unstamped: 0 }
    }
}

/// The longest stamp: 20 digits and the space.
const STAMP: usize = 21;

impl Reader {
    /// Takes the next bytes of the file.
    pub fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Item<'_>)) {
        while !bytes.is_empty() {
            if let (State::Begin, true, Some((fragment, rest))) =
                (&self.state, self.carry.is_empty(), whole_line(bytes))
            {
                // The way of all lines but those at the borders of pieces.
                each(Item::Fragment(fragment));
                bytes = rest;
                continue;
            }
            bytes = match self.state {
                State::Begin => self.begin(bytes),
                State::Line(ns) => self.line(ns, bytes, &mut each),
                State::Note | State::Foreign => self.other(bytes, &mut each),
            };
        }
    }

    /// The file's end. True when its last line was torn.
    pub fn finish(&self) -> bool {
        self.state != State::Begin || !self.carry.is_empty()
    }

    /// Decides what a line is; needs at most the stamp's length, which may come in pieces.
    fn begin<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let before = self.carry.len();
        let take = bytes.len().min(STAMP - before);
        let end = bytes[..take].iter().position(|b| !b.is_ascii_digit());
        self.carry.extend_from_slice(&bytes[..end.unwrap_or(take)]);
        let Some(at) = end else {
            if self.carry.len() == STAMP {
                self.state = State::Foreign;
            }
            return &bytes[take..];
        };
        let ns = std::str::from_utf8(&self.carry).ok().and_then(|d| d.parse().ok());
        match (bytes[at], ns) {
            (b' ', Some(ns)) => {
                self.carry.clear();
                self.state = State::Line(ns);
                // An empty line has no fragment of its own before its LF, so the LF is left for `line`.
                &bytes[at + 1..]
            }
            (b'#', _) if self.carry.is_empty() => {
                self.state = State::Note;
                &bytes[at..]
            }
            _ => {
                self.carry.clear();
                self.state = State::Foreign;
                &bytes[at..]
            }
        }
    }

    /// The content of a stamped line. Its beginning is marked on the first fragment only.
    fn line<'a>(&mut self, ns: u64, bytes: &'a [u8], each: &mut impl FnMut(Item<'_>)) -> &'a [u8] {
        // `carry` is empty in this state but for one mark: a byte says that the beginning was given already.
        let starts = self.carry.is_empty();
        let end = memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        each(Item::Fragment(Fragment { ns, bytes: part, starts, ends: end.is_some() }));
        match end {
            Some(at) => {
                self.carry.clear();
                self.state = State::Begin;
                &bytes[at + 1..]
            }
            None => {
                if starts {
                    self.carry.push(0);
                }
                &bytes[..0]
            }
        }
    }

    fn other<'a>(&mut self, bytes: &'a [u8], each: &mut impl FnMut(Item<'_>)) -> &'a [u8] {
        let end = memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        if self.state == State::Note {
            if self.carry.len() + part.len() > MAX_NOTE {
                self.state = State::Foreign;
            } else {
                self.carry.extend_from_slice(part);
            }
        }
        let Some(at) = end else { return &bytes[..0] };
        match parse_note(&self.carry) {
            Some((key, value)) if self.state == State::Note => each(Item::Note(key, value)),
            // A comment of another tool is none of our business.
            _ if self.state == State::Note => {}
            _ => self.unstamped += 1,
        }
        self.carry.clear();
        self.state = State::Begin;
        &bytes[at + 1..]
    }
}

/// A stamped line that is whole in `bytes`, and what follows it.
fn whole_line(bytes: &[u8]) -> Option<(Fragment<'_>, &[u8])> {
    let mut ns: u64 = 0;
    let mut digits = 0;
    while let Some(digit) = bytes.get(digits).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        ns = ns.checked_mul(10)?.checked_add(u64::from(digit))?;
        digits += 1;
    }
    // A stamp of more digits is none, even when they are zeroes.
    if digits == 0 || digits >= STAMP || bytes.get(digits) != Some(&b' ') {
        return None;
    }
    let line = &bytes[digits + 1..];
    let end = memchr(b'\n', line)?;
    Some((Fragment { ns, bytes: &line[..end], starts: true, ends: true }, &line[end + 1..]))
}

fn parse_note(line: &[u8]) -> Option<(String, Value)> {
    let text = std::str::from_utf8(line).ok()?.strip_prefix(OURS)?;
    let (version, text) = text.split_once(' ')?;
    if version != VERSION {
        // Of another version, which has to be refused by name.
        return Some(("schema".to_owned(), Value::String(format!("hrx-wrap/{version}"))));
    }
    let (key, value) = text.split_once(' ')?;
    Some((key.to_owned(), serde_json::from_str(value).ok()?))
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
