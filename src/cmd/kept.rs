//! Reading a kept trace.

use std::io::{self, Read};

use regex::bytes::Regex;
use serde_json::{Map, Value};

use crate::cmd::spool::Spool;
use crate::core::book::Book;
use crate::core::lines::{Assembler, Line};
use crate::core::run::Run;
use crate::core::shorthand::Writer;
use crate::core::trace::{Item, NO_NEWLINE, Reader, WRITER};

/// The field of the record that says how lines of the host-weight trace are known.
const PATTERN: &str = "packed_pattern";

/// What a kept trace holds.
#[derive(Debug, Default)]
pub struct Kept {
    /// The sums of its lines.
    pub book: Book,
    /// Its notes: header and end.
    pub fields: Map<String, Value>,
    /// Its last line is cut.
    pub torn: bool,
    /// Lines that are neither stamped nor ours.
    pub unstamped: u64,
}

/// How a kept trace is read.
#[derive(Debug, Default)]
pub struct Way<'a> {
    /// What lines of the host-weight trace look like to the user, in place of what the run was made with.
    pub pattern: Option<&'a Regex>,
    /// Where the events of its trace go, for a timeline.
    pub spool: Option<&'a mut Spool>,
}

/// A block of events is as long as this, and by one piece of the trace longer.
const BLOCK: usize = 64 << 10;

/// Reads a kept trace to its end, in bounded memory.
///
/// # Errors
/// The file's.
pub fn read_trace(from: &mut dyn Read, way: Way<'_>) -> io::Result<Kept> {
    let Way { pattern, mut spool } = way;
    let mut out = Kept::default();
    out.book.shorthand = spool.as_ref().map(|_| Writer::default());
    if let Some(pattern) = pattern {
        out.book.weights.set_pattern(pattern.clone());
    }
    let (book, fields) = (&mut out.book, &mut out.fields);
    let reader = each_line(from, |found| {
        match found {
            Part::Line(line) => book.take(&line, |_, _| {}),
            Part::Note(key, value) if key == WRITER => book.writer(pid(&value)),
            Part::Note(key, _) if key == NO_NEWLINE => book.tally.mark_unterminated(),
            Part::Note(key, value) => {
                if key == PATTERN && pattern.is_none() {
                    let text = value.as_str().map(str::to_owned);
                    book.read_as(&Run { packed_pattern: text, ..Run::default() });
                }
                fields.insert(key, value);
            }
            Part::Pause => hand_over(book, &mut spool, BLOCK),
        }
        Ok(())
    })?;
    out.book.finish();
    hand_over(&mut out.book, &mut spool, 0);
    out.torn = reader.finish();
    out.unstamped = reader.unstamped;
    Ok(out)
}

/// Moves the events that are at hand to where they go, if they are that many bytes.
fn hand_over(book: &mut Book, spool: &mut Option<&mut Spool>, least: usize) {
    if let (Some(short), Some(spool)) = (&mut book.shorthand, spool)
        && short.out().len() >= least
    {
        spool.put(short.out());
    }
}

/// What a kept trace consists of.
#[derive(Debug)]
pub enum Part<'a> {
    /// A line, or a part of a very long one.
    Line(Line<'a>),
    /// A line of ours.
    Note(String, Value),
    /// A piece of the file is through: time to write out what gathered.
    Pause,
}

/// The pid in a note about the writer; 0, for one that is not known, when there is none in it.
pub fn pid(value: &Value) -> u32 {
    value.as_u64().and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0)
}

/// Hands on the lines of a kept trace, one after another.
///
/// # Errors
/// The file's, or what the taker says.
pub fn each_line(
    from: &mut dyn Read,
    mut each: impl FnMut(Part<'_>) -> io::Result<()>,
) -> io::Result<Reader> {
    let (mut reader, mut assembler) = (Reader::default(), Assembler::default());
    let mut piece = vec![0; 1 << 20];
    loop {
        let n = match from.read(&mut piece) {
            Ok(0) => return Ok(reader),
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        let mut result = Ok(());
        let mut hand = |part: Part<'_>| {
            if result.is_ok() {
                result = each(part);
            }
        };
        reader.feed(&piece[..n], |item| match item {
            Item::Fragment(fragment) => assembler.feed(&fragment, |line| hand(Part::Line(line))),
            Item::Note(key, value) => hand(Part::Note(key, value)),
        });
        hand(Part::Pause);
        result?;
    }
}
