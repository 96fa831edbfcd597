//! The kept trace on disk. It never fails: what the disk does not take is counted, and tried again with what comes next.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use memchr::memchr_iter;
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
    lost: Gap,
    trouble: Option<String>,
}

/// What is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Lines that are not there, or not whole.
    pub lines: u64,
    /// Bytes of the file that are not there.
    pub bytes: u64,
}

impl Gap {
    /// Adds what is missing. `continues`: it begins inside a line. Lines of ours (`#`) are bytes, but no lines.
    fn add(&mut self, bytes: &[u8], continues: bool) {
        let mut begin = 0;
        for end in memchr_iter(b'\n', bytes) {
            self.lines += u64::from(bytes[begin] != b'#' || begin == 0 && continues);
            begin = end + 1;
        }
        self.bytes += bytes.len() as u64;
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
        let (gap, lost) = (None, Gap::default());
        LogFile { file, name, regular, offset, in_line, gap, beheaded: false, lost, trouble: None }
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
        let flags = [self.in_line, self.gap.is_some(), self.beheaded];
        let flags = flags.into_iter().rev().fold(0, |sum, flag| sum << 1 | u64::from(flag));
        [flags, gap.lines, gap.bytes, self.lost.lines, self.lost.bytes]
    }

    /// Goes on as one that was in this state.
    pub fn with_state(mut self, [flags, lines, bytes, lost_lines, lost_bytes]: [u64; STATE]) -> Self {
        self.in_line = flags & 1 != 0;
        self.gap = (flags & 2 != 0).then_some(Gap { lines, bytes });
        self.beheaded = flags & 4 != 0;
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

    /// Writes bytes of the trace; behind a gap, a note about the gap first.
    pub fn append(&mut self, mut bytes: &[u8]) {
        if self.gap.is_some() {
            bytes = self.skip_beheaded(bytes);
            if bytes.is_empty() {
                return;
            }
            if let Err(error) = self.close_gap() {
                return self.lose(bytes, &error);
            }
        }
        let before = self.offset;
        if let Err(error) = self.put(bytes) {
            let done = (self.offset - before) as usize;
            self.lose(&bytes[done..], &error);
        }
    }

    /// The rest of a line whose beginning is missing goes the same way.
    fn skip_beheaded<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if !self.beheaded {
            return bytes;
        }
        let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
        self.beheaded = end.is_none();
        let (rest, kept) = bytes.split_at(end.unwrap_or(bytes.len()));
        self.lost.add(rest, true);
        self.gap.get_or_insert_default().add(rest, true);
        kept
    }

    fn close_gap(&mut self) -> io::Result<()> {
        let Some(gap) = self.gap else { return Ok(()) };
        let mut text = if self.in_line { b"\n".to_vec() } else { Vec::new() };
        trace::note(&mut text, trace::LOST, &json!({"lines": gap.lines, "bytes": gap.bytes}));
        self.put(&text)?;
        self.gap = None;
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
            self.in_line = bytes[done - 1] != b'\n';
            bytes = &bytes[done..];
        }
        Ok(())
    }

    fn lose(&mut self, bytes: &[u8], error: &io::Error) {
        if self.lost == Gap::default() {
            self.trouble = Some(format!(
                "cannot write {}: {error}; the run goes on, and what the log misses is counted",
                self.name
            ));
        }
        let continues = self.in_line || self.beheaded;
        self.lost.add(bytes, continues);
        self.gap.get_or_insert_default().add(bytes, continues);
        self.beheaded = bytes.last().is_some_and(|b| *b != b'\n');
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
mod tests {
    use super::*;

    fn file(name: &str) -> (std::path::PathBuf, File) {
        let path = std::env::temp_dir().join(format!("hrx-wrap-log-{}-{name}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        (path, file)
    }

    #[test]
    fn a_successor_cuts_off_what_was_not_saved() {
        let (path, file) = file("resume");
        let mut log = LogFile::resume(file.try_clone().unwrap(), "log".into(), 0);
        log.append(b"1 a\n2 b");
        let saved = log.offset();
        log.append(b"\n3 half written");
        let mut next = LogFile::resume(file, "log".into(), saved);
        assert!(next.in_line());
        next.append(b"\n3 c\n");
        assert_eq!(std::fs::read(&path).unwrap(), b"1 a\n2 b\n3 c\n");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_full_device_loses_exactly_what_it_says() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut log = LogFile::resume(full, "/dev/full".into(), 0);
        log.append(b"# hrx-wrap/1 pid 7\n");
        log.append(b"1 a\n2 b");
        log.append(b"#b\n3 c\n");
        assert_eq!(log.lost(), Gap { lines: 3, bytes: 33 });
        let trouble = log.take_trouble().unwrap();
        assert!(trouble.contains("cannot write /dev/full: No space left"), "{trouble}");
        assert_eq!(log.take_trouble(), None, "said once");
    }

    #[test]
    fn behind_a_gap_stands_a_note_and_then_whole_lines() {
        let (path, file) = file("gap");
        let mut log = LogFile::resume(file, "log".into(), 0);
        log.append(b"1 a\n2 b");
        // As if the disk had refused the rest of line 2 and the beginning of line 3.
        log.lose(b"b\n3 ", &io::Error::from_raw_os_error(28));
        log.append(b"c");
        log.append(b"c\n4 d\n5 e");
        log.append(b"e\n");
        let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(text, "1 a\n2 b\n# hrx-wrap/1 lost {\"bytes\":7,\"lines\":2}\n4 d\n5 ee\n");
        assert_eq!(log.lost(), Gap { lines: 2, bytes: 7 });
        std::fs::remove_file(path).unwrap();
    }
}
