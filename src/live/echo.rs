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

use crate::core::parse::serial::MARK;
use crate::live::status::Status;
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

/// Decides what passes. Bytes are shown as they come where everything passes; else by line, since only a whole line
/// tells what of it is not of the trace.
#[derive(Debug)]
pub struct Filter {
    mode: Mode,
    /// How much of the line that has not ended was shown already.
    shown: usize,
    /// Which way the bytes came whose line has not ended: the other way's wait for its end, so that neither tears the
    /// other's lines. They do not come together, and in the target's order a line's bytes by one way nearly always do.
    open: Option<u8>,
    waiting: Vec<u8>,
    waiting_since: u64,
}

impl Filter {
    /// A filter at the beginning of a line.
    pub fn new(mode: Mode) -> Self {
        Filter { mode, shown: 0, open: None, waiting: Vec::new(), waiting_since: 0 }
    }

    /// Bytes as they come, by this way, at `ns`.
    pub fn bytes(&mut self, way: u8, ns: u64, bytes: &[u8], out: &mut Vec<u8>) {
        let Some(last) = bytes.last().filter(|_| self.mode == Mode::All) else { return };
        if self.open.is_some_and(|open| open != way) {
            if self.waiting.is_empty() {
                self.waiting_since = ns;
            }
            self.waiting.extend_from_slice(bytes);
            if self.waiting.len() >= QUEUE / 64 {
                self.end_waiting(out);
            }
            return;
        }
        out.extend_from_slice(bytes);
        self.open = (*last != b'\n').then_some(way);
        if self.open.is_none() {
            self.end_waiting(out);
        }
    }

    /// Since when bytes wait for the end of another way's line, ns.
    pub fn waiting_since(&self) -> Option<u64> {
        (!self.waiting.is_empty()).then_some(self.waiting_since)
    }

    /// What waits has waited long enough.
    pub fn end_waiting(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.waiting);
        self.open = None;
    }

    /// Text of a line (or of a part of one) that is not of the trace, at `at` in it.
    pub fn text(&self, at: usize, text: &[u8], ends: bool, out: &mut Vec<u8>) {
        if self.mode != Mode::Rest {
            return;
        }
        let known = self.shown.saturating_sub(at).min(text.len());
        out.extend_from_slice(&text[known..]);
        if ends {
            out.push(b'\n');
        }
    }

    /// A line of which so much was shown while it was held begins.
    pub fn resume_line(&mut self, shown: usize) {
        self.shown = shown;
    }

    /// A line is over.
    pub fn next_line(&mut self) {
        self.shown = 0;
    }

    /// Nothing came for a while: an unfinished line that cannot be of the trace (a prompt, dots) passes as it is.
    pub fn pause(&mut self, pending: &[u8], in_trace_line: bool, out: &mut Vec<u8>) {
        let mut shown = self.shown;
        self.pause_in(pending, &mut shown, in_trace_line, out);
        self.shown = shown;
    }

    /// As [`Self::pause`], of a line that is held until it ends.
    pub fn pause_in(&self, pending: &[u8], shown: &mut usize, in_trace_line: bool, out: &mut Vec<u8>) {
        if self.mode == Mode::Rest && !in_trace_line && !may_be_trace(pending) {
            out.extend_from_slice(&pending[(*shown).min(pending.len())..]);
            *shown = pending.len();
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
    /// The last byte that was given is not a line's end.
    in_line: bool,
    /// The line that is redrawn below everything else.
    status: Status,
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
        queue.in_line = bytes.last() != Some(&b'\n');
        self.shared.1.notify_all();
    }

    /// Lines of our own. They do not stick to the target's last words, which may have no line end.
    pub fn give_lines(&self, lines: &str) {
        let begin = if !lines.is_empty() && lock(&self.shared).in_line { "\n" } else { "" };
        self.give(format!("{begin}{lines}").as_bytes());
    }

    /// A line of our own.
    pub fn say(&self, text: &str) {
        self.give_lines(&format!("hrx-wrap: {text}\n"));
    }

    /// From now on there may be a status line, whenever one of these groups has the terminal.
    pub fn allow_status(&self, groups: [i32; 2]) {
        lock(&self.shared).status.allow(groups);
    }

    /// The status line is this now; empty: there is none any more.
    pub fn status(&self, line: &str) {
        lock(&self.shared).status.set(line);
        self.shared.1.notify_all();
    }

    /// Waits until everything is out, as long as it gets on; gives up after `patience` without a byte.
    /// The bytes that did not get out count as lost.
    pub fn drain(&self, patience: Duration) {
        let mut queue = lock(&self.shared);
        let (mut written, mut since) = (queue.written, Instant::now());
        while !queue.dead && (!queue.bytes.is_empty() || queue.status.is_leaving()) {
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
        let drawing = {
            let mut queue = lock(shared);
            while queue.bytes.is_empty() && (queue.in_line || !queue.status.is_due()) {
                queue = shared.1.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            piece.clear();
            let n = queue.bytes.len().min(PIPE_BUF);
            piece.extend(queue.bytes.range(..n));
            // The line makes room for whatever else comes, and stands below it again when all of that is out.
            if n > 0 { queue.status.erasure(to.as_fd()) } else { queue.status.drawing(to.as_fd()) }
        };
        if !drawing.is_empty() {
            // What of it does not get out is drawn anew in a second.
            let _ = fd::wait([(Some(to.as_fd()), Want::Write)], None);
            let _ = fd::write(to.as_fd(), &drawing);
        }
        if piece.is_empty() {
            lock(shared).status.drawn(!drawing.is_empty());
            shared.1.notify_all();
            continue;
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
#[path = "echo_tests.rs"]
mod tests;
