//! Lines that were written into each other, taken apart.
//!
//! The backend writes a line in three pieces: the head, ` <detail>`, the line end. Whatever another thread or process
//! writes to the same stderr can land between them. Here a head is joined with its detail again where that is certain,
//! counted as broken where it is not, and the foreign text comes out as it was.
//!
//! Certain means: exactly one head lacks its detail. As soon as two do (two writers of the trace at once), nothing is
//! joined until as many details have come as heads are waiting: a wrong pair would give a wrong duration, which is
//! worse than a counted loss. A head's time is the stamp of its line's first byte, so a head behind foreign text has no
//! time of its own.

mod prefix;

use memchr::memmem;

use crate::core::duration::MS;
use crate::core::parse::serial::{self, Detail, Event, Head, Heads, MARK, Phase};
use prefix::is_prefix;

/// A confusion that is older than this has lost its details for good: their writer is dead.
const FORGET: u64 = 100 * MS;
/// So many heads in a row behind a logger's prefix, and none without: the trace itself is logged with a prefix.
const PREFIXED: u32 = 8;

/// One event of the serial trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serial<'a> {
    /// When, ns.
    pub ns: u64,
    /// The time is that of the head; false when foreign text stood before it in its line.
    pub exact: bool,
    /// What happened.
    pub event: Event,
    /// Where.
    pub phase: Phase,
    /// The event's and the phase's words, for what is not known.
    pub words: (&'a [u8], &'a [u8]),
    /// The fields; absent in a line without any (a command outside the range that is traced).
    pub detail: Option<Detail>,
}

/// What a line comes apart into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// An event.
    Serial(Serial<'a>),
    /// Text of another writer; with its line end where that is its own.
    Foreign(&'a [u8], bool),
    /// A head or a detail that could not be joined.
    Broken,
}

/// A head whose detail has not come.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    ns: u64,
    exact: bool,
    event: Event,
    phase: Phase,
    /// Nothing stands behind it in its line.
    ends_line: bool,
    /// Its line ended right behind it, and that end was its own: it may have no detail.
    may_be_whole: bool,
}

/// Takes lines apart, one after another.
#[derive(Clone, Debug, Default)]
pub struct Rejoiner {
    waiting: Option<Waiting>,
    /// Heads that lack their detail while it is not certain whose a detail is.
    confused: u32,
    /// Trace lines whose own line end has not come.
    open: u32,
    /// When one of the two above last grew, ns.
    since: u64,
    /// The last detail as it was written, and read: the lines of one command have the same, which saves reading it again
    /// and tells where it ends.
    last: Vec<u8>,
    last_read: Detail,
    heads: Heads,
    prefixed: u32,
    bare: u32,
    /// Heads and details that were joined across foreign text.
    pub rejoined: u64,
}

impl Rejoiner {
    /// Takes one line apart.
    pub fn take<'a>(&mut self, ns: u64, line: &'a [u8], mut each: impl FnMut(Part<'a>)) {
        if let Some(rest) = line.strip_prefix(MARK)
            && self.waiting.is_none()
            && self.confused == 0
            && let Some(head) = self.heads.read(rest)
            && head.rest.first() == Some(&b' ')
        {
            // The way of all but a few lines.
            if head.rest == self.last {
                self.bare = self.bare.saturating_add(1);
                return each(Part::Serial(event(ns, true, &head, Some(self.last_read))));
            }
            let (detail, after) = serial::detail(head.rest);
            if after.is_empty() {
                self.bare = self.bare.saturating_add(1);
                self.last.clear();
                self.last.extend_from_slice(head.rest);
                self.last_read = detail;
                return each(Part::Serial(event(ns, true, &head, Some(detail))));
            }
        }
        self.slowly(ns, line, &mut each);
    }

    fn slowly<'a>(&mut self, ns: u64, line: &'a [u8], each: &mut impl FnMut(Part<'a>)) {
        if ns.saturating_sub(self.since) > FORGET {
            (self.confused, self.open) = (0, 0);
        }
        let Some(first) = memmem::find(line, MARK) else { return self.without_mark(line, each) };
        let (mut exact, mut tail) = (first == 0, &line[first..]);
        if first > 0 {
            exact = self.before(&line[..first], each);
        } else {
            self.bare = self.bare.saturating_add(1);
        }
        let mut foreign_end = false;
        while let Some(text) = tail.strip_prefix(MARK) {
            let end = memmem::find(text, MARK).unwrap_or(text.len());
            foreign_end = self.head(ns, exact, &text[..end], end == text.len(), each);
            tail = &text[end..];
            exact = false;
        }
        self.end_line(foreign_end);
    }

    /// A line's end belongs to the foreign text before it, if any, else to a trace line. A head that ends its line, with
    /// no other trace line's end to come, may be whole.
    fn end_line(&mut self, foreign_end: bool) {
        let alone = self.open == 1 && !foreign_end;
        if let Some(waiting) = &mut self.waiting
            && !waiting.may_be_whole
        {
            waiting.may_be_whole = alone && waiting.ends_line;
            waiting.ends_line = false;
        }
        if !foreign_end {
            self.open = self.open.saturating_sub(1);
        }
    }

    /// Text before a line's first mark: the rest of a waiting head's detail, or another writer's. Whether the head
    /// behind it has the line's time.
    fn before<'a>(&mut self, text: &'a [u8], each: &mut impl FnMut(Part<'a>)) -> bool {
        let rest = self.details(text, each);
        let prefix = is_prefix(text);
        let logged = prefix && self.bare == 0 && self.prefixed >= PREFIXED;
        self.prefixed = if prefix { self.prefixed.saturating_add(1) } else { 0 };
        if !rest.is_empty() && !logged {
            each(Part::Foreign(rest, false));
        }
        logged
    }

    /// One head and what stands behind it up to the next. True when foreign text ends the line.
    fn head<'a>(
        &mut self,
        ns: u64,
        exact: bool,
        text: &'a [u8],
        last: bool,
        each: &mut impl FnMut(Part<'a>),
    ) -> bool {
        self.settle(ns, each);
        (self.open, self.since) = (self.open.saturating_add(1), ns);
        let Some(head) = serial::head(text) else {
            each(Part::Broken);
            return false;
        };
        if self.confused > 0 {
            // Whose detail follows is not certain, so neither is this head's.
            self.confused += 1;
            each(Part::Broken);
        } else if serial::is_detail(head.rest) {
            let (detail, rest) = self.detail(head.rest);
            each(Part::Serial(event(ns, exact, &head, Some(detail))));
            return foreign(rest, last, each);
        } else if head.phase == Phase::Other || head.event == Event::Other {
            // Of a later build: nobody knows whether it has fields.
            each(Part::Serial(event(ns, exact, &head, None)));
            return foreign(head.rest, last, each);
        } else {
            let ends_line = head.rest.is_empty() && last;
            let (event, phase) = (head.event, head.phase);
            self.waiting = Some(Waiting { ns, exact, event, phase, ends_line, may_be_whole: false });
        }
        let rest = self.details(head.rest, each);
        foreign(rest, last, each)
    }

    /// A line without the mark: foreign, the rest of a head's detail, or a trace line's own end.
    fn without_mark<'a>(&mut self, line: &'a [u8], each: &mut impl FnMut(Part<'a>)) {
        if line.is_empty() && self.open > 0 {
            return self.end_line(false);
        }
        let rest = self.details(line, each);
        let foreign_end = foreign(rest, true, each);
        if line.is_empty() {
            each(Part::Foreign(line, true));
        }
        self.end_line(foreign_end || line.is_empty());
    }

    /// Looks for the detail of what is waiting, more than one where it is not certain whose; yields the foreign text.
    fn details<'a>(&mut self, mut text: &'a [u8], each: &mut impl FnMut(Part<'a>)) -> &'a [u8] {
        while self.waiting.is_some() || self.confused > 0 {
            let Some(at) = serial::find_detail(text) else { return text };
            let (detail, rest) = self.detail(&text[at..]);
            let fitting = self.waiting.filter(|w| self.confused == 0 && fits(w.phase, &detail));
            if fitting.is_none() && self.confused == 0 {
                return text;
            }
            if at > 0 {
                each(Part::Foreign(&text[..at], false));
            }
            if let Some(w) = fitting {
                self.waiting = None;
                self.rejoined += 1;
                each(Part::Serial(w.serial(Some(detail))));
            } else {
                self.confused -= 1;
            }
            text = rest;
        }
        text
    }

    /// Reads a detail; where the same stood before, its end is known to the byte.
    fn detail<'a>(&self, text: &'a [u8]) -> (Detail, &'a [u8]) {
        match text.strip_prefix(self.last.as_slice()) {
            Some(rest) if !self.last.is_empty() && !serial::is_field(rest) => {
                (serial::detail(&self.last).0, rest)
            }
            _ => serial::detail(text),
        }
    }

    /// Another head comes: one that waits has no detail, or it is not certain any more whose the next one is.
    fn settle<'a>(&mut self, ns: u64, each: &mut impl FnMut(Part<'a>)) {
        match self.waiting.take() {
            Some(w) if w.may_be_whole => each(Part::Serial(w.serial(None))),
            Some(_) => {
                (self.confused, self.since) = (1, ns);
                each(Part::Broken);
            }
            None => {}
        }
    }

    /// The end of all lines.
    pub fn finish<'a>(&mut self, mut each: impl FnMut(Part<'a>)) {
        self.settle(0, &mut each);
        (self.confused, self.open) = (0, 0);
    }

    /// The next line may be the rest of a trace line.
    pub fn in_trace_line(&self) -> bool {
        self.waiting.is_some() || self.confused > 0 || self.open > 0
    }
}

/// Text behind a head or a detail. True when there is some; a line end follows it where it is the line's last.
fn foreign<'a>(text: &'a [u8], last: bool, each: &mut impl FnMut(Part<'a>)) -> bool {
    if !text.is_empty() {
        each(Part::Foreign(text, last));
    }
    !text.is_empty()
}

impl Waiting {
    fn serial<'a>(self, detail: Option<Detail>) -> Serial<'a> {
        let Waiting { ns, exact, event, phase, .. } = self;
        Serial { ns, exact, event, phase, words: (b"", b""), detail }
    }
}

fn event<'a>(ns: u64, exact: bool, head: &Head<'a>, detail: Option<Detail>) -> Serial<'a> {
    let words = (head.word, head.phase_word);
    Serial { ns, exact, event: head.event, phase: head.phase, words, detail }
}

/// Whether a detail can be this phase's.
fn fits(phase: Phase, detail: &Detail) -> bool {
    match phase {
        Phase::Pre | Phase::Launch | Phase::Post => detail.list.is_some() && detail.index.is_some(),
        Phase::List => detail.list.is_some() && detail.index.is_none(),
        Phase::Host(5, _) => detail.value.is_some(),
        Phase::Program | Phase::Host(..) => detail.list.is_none() && detail.main_commands.is_some(),
        Phase::Other => false,
    }
}

#[cfg(test)]
#[path = "rejoin_tests.rs"]
mod tests;
