//! The consumer: from the ring to the kept trace, the echo and the book. It keeps sums, not lines.
//!
//! Room in the ring is given back only when what was in it is on disk, and together with that the log's length and the
//! sums so far are saved in the ring. So a successor in another process cuts the log to that length, goes on at that
//! position, and no line is missing or there twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

use crate::core::book::Book;
use crate::core::duration::MS;
use crate::core::lines::{Assembler, Line, Splitter};
use crate::core::phases::Phase;
use crate::core::run::Run;
use crate::core::tally::{NUMBERS, Tally};
use crate::core::trace;
use crate::live::echo::{Echo, Filter, Mode};
use crate::live::log::{self, LogFile};
use crate::live::ring::{Next, Record, Ring, SAVED_WORDS};
use crate::live::sampler::Nudge;
use crate::sys::clock::monotonic_ns;

/// A pipe takes this much whole or not at all.
const PIPE_BUF: usize = 4096;
/// Where the log's state stands among the saved numbers …
const LOG_STATE: usize = 3 + NUMBERS;
/// … and what was handed to a log that cannot be cut.
const HANDED: usize = LOG_STATE + log::STATE;
/// The log is written when this much has gathered …
const BATCH: usize = 256 << 10;
/// … or when the oldest of it is this old: with the pauses below it is on disk well within 100 ms.
const FLUSH_NS: u64 = 50 * MS;
/// An unfinished line passes through to our stderr after this.
const PAUSE_NS: u64 = 30 * MS;
/// Pause after something came; it doubles while nothing does.
const SHORT: Duration = Duration::from_millis(1);
/// The longest pause: some 50 wake-ups a second when idle.
const LONG: Duration = Duration::from_millis(20);

/// Everything the consumer writes to.
#[derive(Debug)]
pub struct Consumer {
    ring: Arc<Ring>,
    cursor: u64,
    /// The echo before this position was given already.
    echoed: u64,
    splitter: Splitter,
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
    /// Whether what is taken now is to be shown.
    showing: bool,
    book: Book,
    /// The phase as the last record left it, and who is told of a new one.
    phase: Option<Phase>,
    sampler: Option<Nudge>,
}

/// The sums as they were saved last.
pub fn saved_book(ring: &Ring) -> Book {
    let mut numbers = [0; NUMBERS];
    numbers.copy_from_slice(&ring.saved()[3..3 + NUMBERS]);
    Book::from_tally(Tally::from_numbers(numbers))
}

/// Cuts text into pieces that a pipe takes whole or not at all (`man 7 pipe`), at line ends where there are any: a
/// successor cannot cut off what a pipe took, so it has to know how far that is.
struct Pieces<'a>(&'a [u8]);

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

/// What the consumer leaves.
#[derive(Debug)]
pub struct Left {
    /// The sums.
    pub book: Book,
    /// The log.
    pub log: Option<LogFile>,
}

impl Consumer {
    /// A consumer that goes on where the ring says the last one saved, or at the beginning.
    pub fn new(ring: Arc<Ring>, log: Option<LogFile>, echo: Echo, mode: Mode) -> Self {
        let saved = ring.saved();
        let mut state = [0; log::STATE];
        state.copy_from_slice(&saved[LOG_STATE..LOG_STATE + log::STATE]);
        let log = log.map(|log| log.with_state(state));
        let handed = ring.handed();
        let book = saved_book(&ring);
        let in_line = log.as_ref().is_some_and(LogFile::in_line);
        Consumer {
            ring,
            cursor: saved[0],
            echoed: saved[2],
            // The stamp of a line that has begun is on disk already.
            splitter: Splitter::resumed(in_line.then_some(0)),
            assembler: Assembler::default(),
            writer: trace::Writer::default(),
            log,
            text: Vec::with_capacity(BATCH + (64 << 10)),
            handed,
            repeated: handed - saved[HANDED],
            oldest_ns: 0,
            filter: Filter::new(mode),
            echo,
            echo_text: Vec::new(),
            last_ns: 0,
            bytes: Vec::new(),
            showing: true,
            book,
            phase: None,
            sampler: None,
        }
    }

    /// Reads lines as the run's record says.
    pub fn reading(mut self, run: &Run) -> Self {
        self.book.read_as(run);
        self
    }

    /// A new phase of the run is worth a sample of its memory.
    pub fn telling(mut self, sampler: Nudge) -> Self {
        self.sampler = Some(sampler);
        self
    }

    /// Takes one record, if a whole one is there.
    pub fn step(&mut self) -> Next {
        self.bytes.clear();
        let next = self.ring.next(self.cursor, &mut self.bytes);
        if let Next::Record(record) = next {
            self.take(&record);
        }
        next
    }

    /// Goes on behind an open record whose producer is dead, taking what it had read.
    pub fn recover(&mut self, now: u64) {
        self.bytes.clear();
        let record = self.ring.recover(self.cursor, now, &mut self.bytes);
        self.take(&record);
    }

    /// Bytes that never were in the ring, read by the caller.
    pub fn take_bytes(&mut self, ns: u64, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        let next = self.cursor;
        self.take(&Record { ns, pid: 0, thread: 0, source: 1, next });
    }

    fn take(&mut self, record: &Record) {
        self.cursor = record.next;
        if self.bytes.is_empty() {
            return;
        }
        self.last_ns = record.ns;
        if self.text.is_empty() {
            self.oldest_ns = monotonic_ns();
        }
        let logged = self.log.is_some();
        self.showing = record.next > self.echoed || record.next == 0;
        let bytes = std::mem::take(&mut self.bytes);
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.feed(record.ns, &bytes, |fragment| {
            if logged {
                self.writer.fragment(&mut self.text, &fragment);
            }
            let Consumer { assembler, book, filter, echo_text, showing, .. } = self;
            assembler.feed(&fragment, |line| show(&line, book, filter, *showing, echo_text));
        });
        if self.showing {
            self.filter.bytes(&bytes, &mut self.echo_text);
        }
        (self.bytes, self.splitter) = (bytes, splitter);
        let phase = self.book.phase();
        if std::mem::replace(&mut self.phase, phase) != phase
            && let Some(sampler) = &self.sampler
        {
            sampler.now();
        }
        if self.text.len() >= BATCH || self.ring.used() > self.ring.capacity() / 4 {
            self.flush();
        }
    }

    /// Writes what gathered, then saves how far it is and gives the ring's room back.
    pub fn flush(&mut self) {
        if let Some(log) = &mut self.log {
            if log.is_regular() {
                log.append(&self.text);
            } else {
                let skip = self.text.len().min(self.repeated as usize);
                self.repeated -= skip as u64;
                for piece in Pieces(&self.text[skip..]) {
                    log.append(piece);
                    self.handed += piece.len() as u64;
                    self.ring.note_handed(self.handed);
                }
            }
        }
        self.text.clear();
        self.show();
        if let Some(trouble) = self.log.as_mut().and_then(LogFile::take_trouble) {
            self.echo.say(&trouble);
        }
        let mut saved = [0; SAVED_WORDS];
        saved[0] = self.cursor;
        saved[1] = self.log.as_ref().map_or(0, LogFile::offset);
        saved[2] = self.cursor;
        saved[3..3 + NUMBERS].copy_from_slice(&self.book.tally.numbers());
        if let Some(log) = &self.log {
            saved[LOG_STATE..LOG_STATE + log::STATE].copy_from_slice(&log.state());
        }
        saved[HANDED] = self.handed;
        self.ring.save(&saved);
        self.ring.release(self.cursor);
    }

    fn show(&mut self) {
        self.echo.give(&self.echo_text);
        self.echo_text.clear();
    }

    /// Between records: what is due by time.
    fn idle(&mut self, now: u64) {
        if now.saturating_sub(self.last_ns) >= PAUSE_NS {
            let in_trace_line = self.book.in_trace_line();
            self.filter.pause(self.assembler.pending(), in_trace_line, &mut self.echo_text);
        }
        self.show();
        let unsaved = !self.text.is_empty() || self.ring.tail() != self.cursor;
        if unsaved && now.saturating_sub(self.oldest_ns) >= FLUSH_NS {
            self.flush();
        }
    }

    /// Works until `stop` is set and nothing whole is left, then finishes.
    pub fn run(mut self, stop: &AtomicBool) -> Left {
        let mut pause = SHORT;
        loop {
            // Read before the ring is looked at: what was committed before the word was given is still taken.
            let last_round = stop.load(Ordering::Acquire);
            let mut took = false;
            let mut next = self.step();
            while let Next::Record(_) = next {
                took = true;
                next = self.step();
            }
            if last_round {
                // The reader waits for a pipe that somebody still holds, or was kept from its commit: what it has read
                // is in the ring in any case.
                if next == Next::Open {
                    self.recover(monotonic_ns());
                }
                return self.finish();
            }
            self.idle(monotonic_ns());
            pause = if took { SHORT } else { (pause * 2).min(LONG) };
            std::thread::park_timeout(pause);
        }
    }

    /// The end of all input: the last words of a target that wrote no line end, and the rest to disk.
    pub fn finish(mut self) -> Left {
        let Consumer { assembler, book, filter, echo_text, showing, .. } = &mut self;
        assembler.finish(|line| show(&line, book, filter, *showing, echo_text));
        book.finish();
        if self.splitter.in_line() && self.log.is_some() {
            self.text.push(b'\n');
            trace::note(&mut self.text, trace::NO_NEWLINE, &serde_json::Value::Bool(true));
        }
        self.flush();
        Left { book: self.book, log: self.log }
    }
}

/// Takes a line into the book, and what of it is not of the trace to the echo.
fn show(line: &Line<'_>, book: &mut Book, filter: &mut Filter, showing: bool, out: &mut Vec<u8>) {
    let begin = line.bytes.as_ptr() as usize;
    book.take(line, |text, ends| {
        if showing {
            // Foreign text is a part of the line, so its place in it is a difference of addresses.
            filter.text((text.as_ptr() as usize).saturating_sub(begin), text, ends, out);
        }
    });
    filter.next_line();
}

/// A consumer on a thread of its own.
#[derive(Debug)]
pub struct Running {
    thread: Thread,
    stop: Arc<AtomicBool>,
    left: std::sync::mpsc::Receiver<Left>,
}

impl Running {
    /// Starts it.
    ///
    /// # Errors
    /// No thread is left.
    pub fn start(consumer: Consumer) -> std::io::Result<Running> {
        Running::work(|stop| consumer.run(stop))
    }

    /// Starts what a consumer is to do, in the end.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn work(work: impl FnOnce(&AtomicBool) -> Left + Send + 'static) -> std::io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let (give, left) = std::sync::mpsc::channel();
        let asked = Arc::clone(&stop);
        let handle = std::thread::Builder::new().name("consumer".into()).spawn(move || {
            // A receiver that is gone has given up waiting.
            let _ = give.send(work(&asked));
        })?;
        Ok(Running { thread: handle.thread().clone(), stop, left })
    }

    /// Asks for the end and waits for it, as long as it gets on; `None` when a disk (or a pipe that nobody reads) holds
    /// it up for `patience`.
    pub fn finish(self, ring: &Ring, patience: Duration) -> Option<Left> {
        self.stop.store(true, Ordering::Release);
        loop {
            let before = (ring.tail(), ring.handed());
            self.thread.unpark();
            match self.left.recv_timeout(patience) {
                Ok(left) => return Some(left),
                Err(_) if (ring.tail(), ring.handed()) == before => return None,
                Err(_) => {}
            }
        }
    }
}
