//! What of the target's stderr passes through to ours.
//!
//! [`Filter`] decides line by line; [`Echo`] hands the bytes to a thread of its own, because our stderr may belong to a
//! reader that is slow, stuck or gone. With a log kept, a reader that cannot follow misses bytes, which are counted;
//! without one, the target waits for it as it would without us.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use memchr::memmem;

use crate::core::lines::Fragment;
use crate::core::parse::serial::MARK;
use crate::sys::fd::{self, Want};

/// What passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everything but lines of the serial trace.
    Rest,
    /// Everything.
    All,
    /// Nothing.
    None,
}

/// A line's beginning is kept back up to this size while it may still turn out to be a trace line.
const HOLD: usize = 64 << 10;

/// Decides what passes, on fragments of lines.
#[derive(Debug)]
pub struct Filter {
    mode: Mode,
    held: Vec<u8>,
}

impl Filter {
    /// A filter at the beginning of a line.
    pub fn new(mode: Mode) -> Self {
        Filter { mode, held: Vec::new() }
    }

    /// Takes a fragment and appends what passes.
    pub fn feed(&mut self, fragment: &Fragment<'_>, out: &mut Vec<u8>) {
        match self.mode {
            Mode::None => return,
            Mode::All => out.extend_from_slice(fragment.bytes),
            Mode::Rest if fragment.ends && self.held.is_empty() => return whole(fragment.bytes, out),
            Mode::Rest => {
                self.held.extend_from_slice(fragment.bytes);
                if fragment.ends {
                    whole(&self.held, out);
                    self.held.clear();
                } else if self.held.len() > HOLD && memmem::find(&self.held, MARK).is_none() {
                    // Long text is no trace line, but its last bytes may begin one.
                    let pass = self.held.len() - (MARK.len() - 1);
                    out.extend(self.held.drain(..pass));
                }
                return;
            }
        }
        if fragment.ends {
            out.push(b'\n');
        }
    }

    /// Nothing came for a while: an unfinished line that is no trace line (a prompt, dots) passes as it is.
    pub fn pause(&mut self, out: &mut Vec<u8>) {
        if !may_be_trace(&self.held) {
            out.append(&mut self.held);
        }
    }

    /// The end: what is kept back passes, unless it is a trace line.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if memmem::find(&self.held, MARK).is_none() {
            out.append(&mut self.held);
        }
        self.held.clear();
    }
}

/// A whole line. What stands before a trace line's mark is another writer's, whose text goes on in the next line.
fn whole(line: &[u8], out: &mut Vec<u8>) {
    match memmem::find(line, MARK) {
        Some(at) => out.extend_from_slice(&line[..at]),
        None => {
            out.extend_from_slice(line);
            out.push(b'\n');
        }
    }
}

/// It holds the mark, or ends in a beginning of it.
fn may_be_trace(text: &[u8]) -> bool {
    memmem::find(text, MARK).is_some() || (1..MARK.len()).any(|n| text.ends_with(&MARK[..n]))
}

/// A pipe that has room takes this much at once (`man 7 pipe`).
const PIPE_BUF: usize = 4096;

/// The most that waits for our stderr's reader.
const QUEUE: usize = 4 << 20;

#[derive(Debug, Default)]
struct Queue {
    bytes: VecDeque<u8>,
    written: u64,
    lost: u64,
    dead: bool,
}

/// The way to our stderr.
#[derive(Debug)]
pub struct Echo {
    shared: Arc<(Mutex<Queue>, Condvar)>,
    /// Bytes that find no room are dropped and counted; else the giver waits.
    may_drop: bool,
}

fn lock(shared: &(Mutex<Queue>, Condvar)) -> MutexGuard<'_, Queue> {
    // A thread that panicked here left a queue of bytes, which is whole at any moment.
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Echo {
    /// Starts the thread that writes to `to`. `may_drop`: a log is kept, so that nothing is lost by dropping.
    pub fn start(to: OwnedFd, may_drop: bool) -> Echo {
        let shared = Arc::new((Mutex::new(Queue::default()), Condvar::new()));
        let mine = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("echo".into()).spawn(move || write_out(&mine, &to));
        if thread.is_err() {
            lock(&shared).dead = true;
        }
        Echo { shared, may_drop }
    }

    /// Another handle of the same way.
    pub fn share(&self) -> Echo {
        Echo { shared: Arc::clone(&self.shared), may_drop: self.may_drop }
    }

    /// Gives bytes; waits for room only where nothing may be dropped.
    pub fn give(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut queue = lock(&self.shared);
        while !self.may_drop && !queue.dead && queue.bytes.len() >= QUEUE {
            queue = self.shared.1.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if queue.dead || queue.bytes.len() >= QUEUE {
            queue.lost += bytes.len() as u64;
            return;
        }
        queue.bytes.extend(bytes);
        self.shared.1.notify_all();
    }

    /// A line of our own.
    pub fn say(&self, text: &str) {
        self.give(format!("hrx-wrap: {text}\n").as_bytes());
    }

    /// Waits until everything is out, as long as it gets on; gives up after `patience` without a byte.
    /// The bytes that did not get out count as lost.
    pub fn drain(&self, patience: Duration) {
        let mut queue = lock(&self.shared);
        let (mut written, mut since) = (queue.written, Instant::now());
        while !queue.bytes.is_empty() && !queue.dead {
            let left = patience.saturating_sub(since.elapsed());
            if left.is_zero() {
                queue.lost += queue.bytes.len() as u64;
                queue.bytes.clear();
                return;
            }
            queue = self.shared.1.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
            if queue.written != written {
                (written, since) = (queue.written, Instant::now());
            }
        }
    }

    /// Bytes that did not get out.
    pub fn lost(&self) -> u64 {
        lock(&self.shared).lost
    }
}

/// The thread: waits for bytes, then for room, then writes no more than a pipe takes at once (PIPE_BUF, `man 7 pipe`).
fn write_out(shared: &(Mutex<Queue>, Condvar), to: &OwnedFd) {
    let mut piece = Vec::with_capacity(PIPE_BUF);
    loop {
        {
            let mut queue = lock(shared);
            while queue.bytes.is_empty() {
                queue = shared.1.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            piece.clear();
            let n = queue.bytes.len().min(PIPE_BUF);
            piece.extend(queue.bytes.range(..n));
        }
        let _ = fd::wait([(Some(to.as_fd()), Want::Write)], None);
        let wrote = fd::write(to.as_fd(), &piece);
        let mut queue = lock(shared);
        // What was given up meanwhile is counted already.
        let done = wrote.as_ref().copied().unwrap_or(piece.len()).min(queue.bytes.len());
        queue.bytes.drain(..done);
        queue.written += done as u64;
        if let Err(error) = wrote {
            queue.lost += done as u64;
            if error.kind() == std::io::ErrorKind::BrokenPipe {
                queue.dead = true;
                queue.lost += queue.bytes.len() as u64;
                queue.bytes.clear();
            }
        }
        shared.1.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::lines::Splitter;
    use proptest::prelude::*;

    fn filtered(mode: Mode, pieces: &[&[u8]]) -> Vec<u8> {
        let (mut splitter, mut filter, mut out) = (Splitter::default(), Filter::new(mode), Vec::new());
        for piece in pieces {
            splitter.feed(1, piece, |f| filter.feed(&f, &mut out));
        }
        filter.finish(&mut out);
        out
    }

    #[test]
    fn trace_lines_stay_out_and_nothing_else_does() {
        let text = b"a\n\nhrx debug serial: begin phase=x\nb\0\xff\r\nhrx debug\nlast";
        assert_eq!(filtered(Mode::Rest, &[text]), b"a\n\nb\0\xff\r\nhrx debug\nlast");
        assert_eq!(filtered(Mode::All, &[text]), text);
        assert_eq!(filtered(Mode::None, &[text]), b"");
    }

    #[test]
    fn anothers_text_before_a_trace_line_goes_on_where_it_was_cut() {
        let text = b"0.01 I hrx debug serial: end phase=x\nllama_context: y\n";
        assert_eq!(filtered(Mode::Rest, &[text]), b"0.01 I llama_context: y\n");
    }

    #[test]
    fn an_unfinished_line_passes_after_a_pause_unless_it_may_be_a_trace_line() {
        for (text, passes) in
            [("....", true), ("> ", true), ("hrx deb", false), ("x hrx debug serial: en", false)]
        {
            let (mut filter, mut out) = (Filter::new(Mode::Rest), Vec::new());
            let part = Fragment { ns: 1, bytes: text.as_bytes(), starts: true, ends: false };
            filter.feed(&part, &mut out);
            assert_eq!(out, b"", "kept back at first");
            filter.pause(&mut out);
            assert_eq!(!out.is_empty(), passes, "{text}");
        }
    }

    #[test]
    fn a_long_line_is_not_kept_back() {
        let long = vec![b'x'; HOLD + 100];
        let (mut filter, mut out) = (Filter::new(Mode::Rest), Vec::new());
        filter.feed(&Fragment { ns: 1, bytes: &long, starts: true, ends: false }, &mut out);
        assert!(out.len() > HOLD);
        filter.feed(&Fragment { ns: 1, bytes: b"y", starts: false, ends: true }, &mut out);
        assert_eq!(out.len(), long.len() + 2);
    }

    proptest! {
        #[test]
        fn any_cut_passes_the_same(text in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'h'), any::<u8>()], 0..60),
                                   at in 0usize..60, cut in 0usize..90) {
            let mut text = text;
            let at = at.min(text.len());
            text.splice(at..at, MARK.iter().copied());
            let cut = cut.min(text.len());
            prop_assert_eq!(filtered(Mode::Rest, &[&text[..cut], &text[cut..]]), filtered(Mode::Rest, &[&text]));
            prop_assert_eq!(filtered(Mode::All, &[&text[..cut], &text[cut..]]), text);
        }
    }

    #[test]
    fn a_reader_that_never_reads_costs_only_what_it_misses() {
        let (_keep, to) = fd::pipe().unwrap();
        let echo = Echo::start(to, true);
        echo.give(&vec![b'x'; QUEUE]);
        echo.give(b"more");
        echo.drain(Duration::from_millis(50));
        // The pipe took some; the rest and what found no room is counted.
        assert!(
            echo.lost() > (QUEUE - (1 << 20)) as u64 && echo.lost() <= (QUEUE + 4) as u64,
            "{}",
            echo.lost()
        );
    }

    #[test]
    fn a_reader_that_is_gone_loses_the_rest() {
        let (from, to) = fd::pipe().unwrap();
        drop(from);
        let echo = Echo::start(to, false);
        echo.give(b"nobody reads this");
        echo.drain(Duration::from_secs(5));
        assert_eq!(echo.lost(), 17);
    }
}
