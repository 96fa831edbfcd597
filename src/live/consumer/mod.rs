//! The consumer: from the ring to the kept trace, the echo and the book. It keeps sums, not lines.
//!
//! Room in the ring is given back only when what was in it is on disk, and together with that the log's length and the
//! sums so far are saved in the ring. So a successor in another process cuts the log to that length, goes on at that
//! position, and no line is missing or there twice. With several writers the lines that have begun and not ended are in
//! neither: they are put on a shelf that both processes see.

mod rhythm;
mod state;

use std::sync::Arc;

use memchr::memmem;

use crate::core::book::Book;
use crate::core::lines::{Assembler, Line};
use crate::core::parse::serial::MARK;
use crate::core::phases::Phase;
use crate::core::run::Run;
use crate::core::strands::{Out, Strands, Writer};
use crate::core::trace;
use crate::live::doze::Doze;
use crate::live::echo::{Echo, Filter};
use crate::live::intake::Intake;
use crate::live::left::{Left, Stamps};
use crate::live::log::{LogFile, Pieces};
use crate::live::ring::{Record, Ring, Source as Way};
use crate::live::sampler::Nudge;
use crate::live::shelf::Shelf;
use crate::live::status::Telling;
use crate::sys::clock::monotonic_ns;

/// With several writers a line up to this length is held until it ends.
const HOLD: usize = 64 << 10;
/// Everything that is read is one writer's; a print is of its process and thread.
const READER: Writer = 0;
/// The log is written when this much has gathered, or by time.
const BATCH: usize = 256 << 10;

/// Everything the consumer writes to.
#[derive(Debug)]
pub struct Consumer {
    ring: Arc<Ring>,
    intake: Intake,
    shelf: Option<Arc<Shelf>>,
    shelved: u64,
    strands: Strands,
    source_lines: u64,
    /// Whose the last line was, as the log has it; 0 = nobody knows. Absent when the word of it may be lost.
    process: Option<u32>,
    assembler: Assembler,
    writer: trace::Writer,
    log: Option<LogFile>,
    text: Vec<u8>,
    /// Bytes of the text that a log took that cannot be cut, and those of them that come once more.
    handed: u64,
    repeated: u64,
    oldest_ns: u64,
    filter: Filter,
    echo: Echo,
    echo_text: Vec<u8>,
    last_ns: u64,
    bytes: Vec<u8>,
    book: Book,
    /// Where the run was when it was looked at last, and who is told of another phase.
    phase: Option<Phase>,
    nudge: Option<Nudge>,
    status: Option<Telling>,
    /// Where the reader wakes us.
    doze: Option<Arc<Doze>>,
}

impl Consumer {
    /// With a status line, once a second; `start_ns`: the run's start.
    pub fn with_status(mut self, start_ns: u64) -> Self {
        self.status = Some(Telling::since(start_ns));
        self
    }

    /// Renews the status line when its second is over.
    fn tell(&mut self, now: u64) {
        if let Some(line) = self.status.as_mut().and_then(|s| s.renew(now, &self.book, self.nudge.as_ref())) {
            self.echo.status(&line);
        }
    }

    /// Reads lines as the run's record says.
    pub fn reading(mut self, run: &Run) -> Self {
        self.book.read_as(run);
        self
    }

    /// Has a sample of the memory taken at the first line of each new phase.
    pub fn nudging(mut self, nudge: Nudge) -> Self {
        self.nudge = Some(nudge);
        self
    }

    /// Takes one record, if a whole one is there.
    pub fn step(&mut self) -> bool {
        self.bytes.clear();
        let next = self.intake.next(&mut self.bytes);
        if let Some(record) = next {
            self.take(&record);
        }
        next.is_some()
    }

    /// Takes everything, whole or not: what an open record's producer had read, if that is known, and what stands behind
    /// it. Nobody is waited for.
    pub fn drain(&mut self) {
        loop {
            while self.step() {}
            self.bytes.clear();
            match self.intake.recover(monotonic_ns(), &mut self.bytes) {
                Some(record) => self.take(&record),
                None => return,
            }
        }
    }

    /// Bytes that never were in the ring, read by the caller.
    pub fn take_bytes(&mut self, ns: u64, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.take(&Record { ns, pid: 0, thread: 0, source: Way::Read as u8, next: 0 });
    }

    fn take(&mut self, record: &Record) {
        if self.bytes.is_empty() {
            return;
        }
        self.last_ns = self.last_ns.max(record.ns);
        if self.text.is_empty() {
            self.oldest_ns = monotonic_ns();
        }
        let bytes = std::mem::take(&mut self.bytes);
        let mut strands = std::mem::take(&mut self.strands);
        strands.feed(writer(record), record.ns, &bytes, |out| self.put(&out));
        self.filter.bytes(record.source, record.ns, &bytes, &mut self.echo_text);
        (self.bytes, self.strands) = (bytes, strands);
        let before = std::mem::replace(&mut self.phase, self.book.phase());
        if self.phase != before
            && let Some(nudge) = &self.nudge
        {
            nudge.now();
        }
        // In a flood there is no pause to do it in.
        self.tell(record.ns);
        if self.text.len() >= BATCH || self.intake.is_crowded() {
            self.flush();
        }
    }

    /// A fragment, in the log's order.
    fn put(&mut self, out: &Out<'_>) {
        if out.fragment.starts {
            if out.writer != READER {
                self.source_lines += 1;
                self.name_writer(out.writer as u32);
            } else if self.process != Some(0) && memmem::find(out.fragment.bytes, MARK).is_some() {
                // A trace line that was read is of nobody knows whom: a static program, say, beside one that prints here.
                self.name_writer(0);
            }
            self.filter.resume_line(out.shown);
        }
        if self.log.is_some() {
            self.writer.fragment(&mut self.text, &out.fragment);
        }
        let Consumer { assembler, book, filter, echo_text, .. } = self;
        assembler.feed(&out.fragment, |line| show(&line, book, filter, echo_text));
    }

    /// Whose the lines from here on are; 0 = nobody knows.
    fn name_writer(&mut self, process: u32) {
        if self.process != Some(process) {
            self.process = Some(process);
            self.book.writer(process);
            if self.log.is_some() {
                trace::note(&mut self.text, trace::WRITER, &process.into());
            }
        }
    }

    /// Writes what gathered, then saves how far it is and gives the ring's room back.
    pub fn flush(&mut self) {
        if let Some(log) = &mut self.log {
            let mut whole = true;
            if log.is_regular() {
                whole = log.append(&self.text);
            } else {
                let skip = self.text.len().min(self.repeated as usize);
                self.repeated -= skip as u64;
                for piece in Pieces(&self.text[skip..]) {
                    whole &= log.append(piece);
                    self.handed += piece.len() as u64;
                    self.ring.note_handed(self.handed);
                }
            }
            if !whole {
                self.process = None;
            }
        }
        self.text.clear();
        self.show();
        if let Some(trouble) = self.log.as_mut().and_then(LogFile::take_trouble) {
            self.echo.say(&trouble);
        }
        self.save();
        self.intake.release();
    }

    fn show(&mut self) {
        self.echo.give(&self.echo_text);
        self.echo_text.clear();
    }

    /// The end of all input: the last words of a target that wrote no line end, and the rest to disk.
    pub fn finish(mut self) -> Left {
        self.echo.status("");
        let mut strands = std::mem::take(&mut self.strands);
        strands.finish(|out| self.put(&out));
        let Consumer { assembler, book, filter, echo_text, .. } = &mut self;
        assembler.finish(|line| show(&line, book, filter, echo_text));
        filter.end_waiting(echo_text);
        book.finish();
        self.strands = strands;
        if self.strands.floor().is_some() && self.log.is_some() {
            self.text.push(b'\n');
            trace::note(&mut self.text, trace::NO_NEWLINE, &serde_json::Value::Bool(true));
        }
        self.flush();
        let (source_lines, cut_lines) = (self.source_lines, self.strands.cut);
        let stamps = Stamps { source_lines, cut_lines, damaged: self.intake.damaged() };
        Left { book: self.book, log: self.log, stamps }
    }
}

fn writer(record: &Record) -> Writer {
    if record.source != Way::Print as u8 {
        return READER;
    }
    let [pid, thread] = [record.pid, record.thread].map(|id| u64::from(id.cast_unsigned()));
    // Memory that a target can write to may hold any pid; the reader's number is the reader's.
    (thread << 32 | pid).max(1)
}

/// Takes a line into the book, and what of it is not of the trace to the echo.
fn show(line: &Line<'_>, book: &mut Book, filter: &mut Filter, out: &mut Vec<u8>) {
    let begin = line.bytes.as_ptr() as usize;
    book.take(line, |text, ends| {
        // Foreign text is a part of the line, so its place in it is a difference of addresses.
        filter.text((text.as_ptr() as usize).saturating_sub(begin), text, ends, out);
    });
    filter.next_line();
}

#[cfg(test)]
mod tests;
