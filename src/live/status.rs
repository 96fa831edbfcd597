//! The status line of `--progress`: below everything that passes through, on a terminal that is ours at the moment.

use std::os::fd::BorrowedFd;

use crate::core::book::Book;
use crate::core::duration::MS;
use crate::core::progress::{self, Gtt};
use crate::core::text::clipped;
use crate::live::sampler::Nudge;
use crate::sys::term;

/// To the beginning of the line, and nothing behind it (ECMA-48: EL).
const ERASE: &[u8] = b"\r\x1b[K";

/// The line is renewed so often.
const EVERY: u64 = 1_000 * MS;

/// What the line tells.
#[derive(Debug)]
pub struct Telling {
    start_ns: u64,
    due: u64,
    /// The memory as it was last told.
    gtt: Option<Gtt>,
}

impl Telling {
    /// Of a run that began then, ns.
    pub fn since(start_ns: u64) -> Telling {
        Telling { start_ns, due: 0, gtt: None }
    }

    /// The line, when its second is over.
    pub fn renew(&mut self, now: u64, book: &Book, sampler: Option<&Nudge>) -> Option<String> {
        if now < self.due {
            return None;
        }
        self.due = now + EVERY;
        // While a sample is being taken it is that of a second ago.
        self.gtt = sampler.and_then(Nudge::gtt).or(self.gtt);
        Some(progress::line(now.saturating_sub(self.start_ns), book, self.gtt))
    }
}

/// What the line is and whether it stands there.
#[derive(Debug, Default)]
pub struct Status {
    /// The groups one of which has to have the terminal; absent: no line was asked for.
    groups: Option<[i32; 2]>,
    line: String,
    /// The line has changed, or was erased.
    due: bool,
    shown: bool,
}

impl Status {
    /// There may be a line.
    pub fn allow(&mut self, groups: [i32; 2]) {
        self.groups = Some(groups);
    }

    /// The line is this now; empty: none.
    pub fn set(&mut self, line: &str) {
        if self.groups.is_some() {
            line.clone_into(&mut self.line);
            self.due = self.shown || !line.is_empty();
        }
    }

    /// Something is to be drawn or erased.
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// It is over, and still stands there.
    pub fn is_leaving(&self) -> bool {
        self.due && self.line.is_empty()
    }

    /// In another group's hands the terminal shows that one's text: what we drew is not there any more.
    fn is_ours(&self, terminal: BorrowedFd<'_>) -> bool {
        let group = term::foreground(terminal);
        self.groups.is_some_and(|groups| group.is_some_and(|group| groups.contains(&group)))
    }

    /// What makes room for other text.
    pub fn erasure(&mut self, terminal: BorrowedFd<'_>) -> Vec<u8> {
        let shown = std::mem::take(&mut self.shown);
        self.due |= shown && !self.line.is_empty();
        if shown && self.is_ours(terminal) { ERASE.to_vec() } else { Vec::new() }
    }

    /// What puts the line there, or takes it away.
    pub fn drawing(&self, terminal: BorrowedFd<'_>) -> Vec<u8> {
        if !self.is_ours(terminal) {
            return Vec::new();
        }
        let columns = term::window_size(terminal).map_or(0, |size| usize::from(size.columns));
        // A terminal that does not know its width says 0.
        let columns = if columns == 0 { 80 } else { columns.max(20) };
        // One column less: a full line would begin the next one.
        [ERASE, clipped(&self.line, columns - 1).as_bytes()].concat()
    }

    /// It was drawn, or could not be.
    pub fn drawn(&mut self, written: bool) {
        self.shown = written && !self.line.is_empty();
        self.due = false;
    }
}
