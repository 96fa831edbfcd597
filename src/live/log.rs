//! The kept trace on disk. It never fails: what the disk does not take is counted, and tried again with what comes next.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use serde_json::json;

use crate::core::trace;

/// The file, and what it did not take.
#[derive(Debug)]
pub struct LogFile {
    file: File,
    name: String,
    /// Its content can be addressed; a pipe's or a terminal's cannot.
    regular: bool,
    offset: u64,
    /// The last byte written is not a line's end.
    in_line: bool,
    /// What is missing right behind what was written.
    gap: Option<Gap>,
    /// The bytes to come belong to a line whose beginning is missing.
    beheaded: bool,
    /// The line that has begun, on disk or in a gap, is one of ours (`#`).
    ours: bool,
    /// Of the target's line before the gap its end alone is missing: with the one that we write there it is whole.
    unended: bool,
    lost: Gap,
    /// It was told that something went wrong.
    told: bool,
    trouble: Option<String>,
}

/// What is missing of the target's lines, stamps and all. Lines of ours (`#`) are not counted: what they say is said anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Lines that are not there, or not whole.
    pub lines: u64,
    /// Bytes of the file that are not there.
    pub bytes: u64,
}

impl Gap {
    /// Adds what is missing. `begun`: it begins inside a line, which is one of ours or not.
    fn add(&mut self, bytes: &[u8], mut begun: Option<bool>) {
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            if !begun.take().unwrap_or(line[0] == b'#') {
                self.lines += u64::from(line.ends_with(b"\n"));
                self.bytes += line.len() as u64;
            }
        }
    }

    /// Takes off what is there after all.
    fn take_off(&mut self, found: Gap) {
        self.lines -= found.lines;
        self.bytes -= found.bytes;
    }
}

/// How many numbers [`LogFile::state`] gives.
pub const STATE: usize = 5;

impl LogFile {
    /// Goes on at `offset` of a file; what stands behind it is cut off.
    pub fn resume(file: File, name: String, offset: u64) -> Self {
        let regular = file.metadata().is_ok_and(|m| m.is_file());
        let mut last = [b'\n'];
        if regular {
            // A file that cannot be cut keeps its old tail, which is then written over.
            let _ = file.set_len(offset);
            if offset > 0 {
                let _ = file.read_exact_at(&mut last, offset - 1);
            }
        }
        let in_line = last != [b'\n'];
        let (gap, lost, trouble) = (None, Gap::default(), None);
        // Where nobody has saved a state, what the file holds is its header.
        let (beheaded, ours, unended, told) = (false, in_line, false, false);
        LogFile { file, name, regular, offset, in_line, gap, beheaded, ours, unended, lost, told, trouble }
    }

    /// Where the next byte goes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Its content can be addressed, cut and read again; a pipe's or a terminal's cannot.
    pub fn is_regular(&self) -> bool {
        self.regular
    }

    /// The next byte belongs to a line that has begun, on disk or in a gap.
    pub fn in_line(&self) -> bool {
        if self.gap.is_some() { self.beheaded } else { self.in_line }
    }

    /// What a successor must know besides the offset.
    pub fn state(&self) -> [u64; STATE] {
        let gap = self.gap.unwrap_or_default();
        // The last one tells a state from none.
        let has_gap = self.gap.is_some();
        let flags = [self.in_line, has_gap, self.beheaded, self.ours, self.told, self.unended, true];
        let flags = flags.into_iter().rev().fold(0, |sum, flag| sum << 1 | u64::from(flag));
        [flags, gap.lines, gap.bytes, self.lost.lines, self.lost.bytes]
    }

    /// Goes on as one that was in this state; zeroes are none.
    pub fn with_state(mut self, [flags, lines, bytes, lost_lines, lost_bytes]: [u64; STATE]) -> Self {
        if flags == 0 {
            return self;
        }
        self.in_line = flags & 1 != 0;
        self.gap = (flags & 2 != 0).then_some(Gap { lines, bytes });
        self.beheaded = flags & 4 != 0;
        self.ours = flags & 8 != 0;
        self.told = flags & 16 != 0;
        self.unended = flags & 32 != 0;
        self.lost = Gap { lines: lost_lines, bytes: lost_bytes };
        self
    }

    /// What it did not take in all.
    pub fn lost(&self) -> Gap {
        self.lost
    }

    /// The first thing that went wrong, in words, once.
    pub fn take_trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// Writes bytes of the trace; behind a gap, a note about the gap first. False when not all of them are on disk.
    pub fn append(&mut self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        if self.gap.is_some() {
            rest = self.skip_beheaded(bytes);
            if rest.is_empty() {
                return bytes.is_empty();
            }
            if let Err(error) = self.close_gap() {
                self.lose(rest, &error);
                return false;
            }
        }
        let before = self.offset;
        if let Err(error) = self.put(rest) {
            let done = (self.offset - before) as usize;
            self.lose(&rest[done..], &error);
            return false;
        }
        rest.len() == bytes.len()
    }

    /// The rest of a line whose beginning is missing goes the same way.
    fn skip_beheaded<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if !self.beheaded {
            return bytes;
        }
        let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
        let (rest, kept) = bytes.split_at(end.unwrap_or(bytes.len()));
        self.miss(rest);
        kept
    }

    fn close_gap(&mut self) -> io::Result<()> {
        let Some(mut gap) = self.gap else { return Ok(()) };
        let found = if self.unended { Gap { lines: 1, bytes: 1 } } else { Gap::default() };
        gap.take_off(found);
        let mut text = if self.in_line { b"\n".to_vec() } else { Vec::new() };
        // Where only words of ours are missing, nothing of the target's is.
        if gap != Gap::default() {
            trace::note(&mut text, trace::LOST, &json!({"lines": gap.lines, "bytes": gap.bytes}));
        }
        self.put(&text)?;
        self.lost.take_off(found);
        (self.gap, self.unended) = (None, false);
        Ok(())
    }

    fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let wrote =
                if self.regular { self.file.write_at(bytes, self.offset) } else { self.file.write(bytes) };
            let done = match wrote {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(done) => done,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            self.offset += done as u64;
            self.follow(&bytes[..done], self.in_line);
            self.in_line = bytes[done - 1] != b'\n';
            bytes = &bytes[done..];
        }
        Ok(())
    }

    fn lose(&mut self, bytes: &[u8], error: &io::Error) {
        if !std::mem::replace(&mut self.told, true) {
            self.trouble = Some(format!(
                "cannot write {}: {error}; the run goes on, and what the log misses is counted",
                self.name
            ));
        }
        self.miss(bytes);
    }

    /// Counts bytes that are not written.
    fn miss(&mut self, bytes: &[u8]) {
        let inside = self.in_line();
        if self.gap.is_none() {
            self.unended = inside && !self.ours && bytes.first() == Some(&b'\n');
        }
        let begun = inside.then_some(self.ours);
        self.lost.add(bytes, begun);
        self.gap.get_or_insert_default().add(bytes, begun);
        self.follow(bytes, inside);
        self.beheaded = bytes.last().map_or(inside, |b| *b != b'\n');
    }

    /// Whose the line is that these bytes have come to. `inside`: they begin inside one.
    fn follow(&mut self, bytes: &[u8], inside: bool) {
        let before_last = bytes.len().saturating_sub(1);
        match memchr::memrchr(b'\n', &bytes[..before_last]) {
            Some(end) => self.ours = bytes[end + 1] == b'#',
            None if !inside => self.ours = bytes.first() == Some(&b'#'),
            None => {}
        }
    }
}

/// A pipe takes this much whole or not at all.
const PIPE_BUF: usize = 4096;

/// Cuts text into pieces that a pipe takes whole or not at all (`man 7 pipe`), at line ends where there are any: a
/// successor cannot cut off what a pipe took, so it has to know how far that is.
#[derive(Debug)]
pub struct Pieces<'a>(pub &'a [u8]);

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let most = self.0.len().min(PIPE_BUF);
        let end = memchr::memrchr(b'\n', &self.0[..most]).map_or(most, |at| at + 1);
        let (piece, rest) = self.0.split_at(end);
        self.0 = rest;
        (!piece.is_empty()).then_some(piece)
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
