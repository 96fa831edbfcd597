//! Counters over a run's lines: the first, honest form of every report.

use crate::core::event::{Event, Sink};
use crate::core::lines::Line;
use crate::core::parse::serial::Event as Word;
use crate::core::text::printable;

/// Lines by kind. Sums only: its size does not depend on the run's length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Lines, an unterminated last one included.
    pub lines: u64,
    /// Bytes, line ends included.
    pub bytes: u64,
    /// Lines of the HRX serial trace.
    pub trace_lines: u64,
    /// Lines with the serial trace's mark that cannot be read.
    pub broken: u64,
    /// Serial-trace lines by event: begin, end, failed, sync-begin, sync-end, any other word.
    pub events: [u64; 6],
    /// Heads that were joined with their detail across another writer's text.
    pub rejoined: u64,
    /// Waits for the device that failed, as the logger tells it.
    pub failed_waits: u64,
    /// Lines longer than the bound, which were passed on in parts.
    pub long_lines: u64,
    /// The target's last line had no line end.
    pub unterminated: bool,
    /// The first and the last stamp, ns.
    pub span: Option<(u64, u64)>,
    /// The target's first `build …` line.
    pub build: Option<String>,
}

/// The words of [`Tally::events`], in its order.
pub const EVENTS: [&str; 6] = ["begin", "end", "failed", "sync-begin", "sync-end", "other"];

/// How many numbers [`Tally::numbers`] gives.
pub const NUMBERS: usize = 16;

impl Sink for Tally {
    fn line(&mut self, line: &Line<'_>) {
        self.bytes += line.bytes.len() as u64 + u64::from(line.last && line.terminated);
        self.unterminated = !line.terminated;
        if !line.first {
            return;
        }
        self.lines += 1;
        self.long_lines += u64::from(!line.last);
        // Lines of several writers come in the order of their ends, so their stamps need not ascend.
        let (first, last) = self.span.unwrap_or((line.ns, line.ns));
        self.span = Some((first.min(line.ns), last.max(line.ns)));
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Serial(serial) => {
                self.trace_lines += 1;
                let place = match serial.event {
                    Word::Begin => 0,
                    Word::End => 1,
                    Word::Failed => 2,
                    Word::SyncBegin => 3,
                    Word::SyncEnd => 4,
                    Word::Other => 5,
                };
                self.events[place] += 1;
            }
            Event::Broken => self.broken += 1,
            Event::Build(text) => {
                self.build.get_or_insert_with(|| printable(&text[..text.len().min(400)]));
            }
            Event::SyncFailed(_) => self.failed_waits += 1,
            Event::Process(_) | Event::Llama(_) | Event::HostWeights | Event::Text(_) => {}
        }
    }
}

impl Tally {
    /// The last line turned out to have no line end (a kept trace says so behind it).
    pub fn mark_unterminated(&mut self) {
        if !std::mem::replace(&mut self.unterminated, true) {
            self.bytes -= 1;
        }
    }

    /// The sums as plain numbers, for a successor.
    pub fn numbers(&self) -> [u64; NUMBERS] {
        let [a, b, c, d, e, f] = self.events;
        let (first, last) = self.span.unwrap_or_default();
        let spans = u64::from(self.span.is_some());
        let [lines, bytes, trace_lines, broken] = [self.lines, self.bytes, self.trace_lines, self.broken];
        let [rejoined, failed, long] = [self.rejoined, self.failed_waits, self.long_lines];
        [lines, bytes, trace_lines, broken, a, b, c, d, e, f, rejoined, failed, long, spans, first, last]
    }

    /// The sums that [`Self::numbers`] gave.
    pub fn from_numbers(n: [u64; NUMBERS]) -> Tally {
        let [lines, bytes, trace_lines, broken, a, b, c, d, e, f, rejoined, failed, long, spans, first, last] =
            n;
        Tally {
            lines,
            bytes,
            trace_lines,
            broken,
            events: [a, b, c, d, e, f],
            rejoined,
            failed_waits: failed,
            long_lines: long,
            span: (spans != 0).then_some((first, last)),
            ..Tally::default()
        }
    }

    /// Lines that have nothing of the serial trace in them.
    pub fn other_lines(&self) -> u64 {
        self.lines.saturating_sub(self.trace_lines + self.broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::book::Book;

    fn tally(lines: &[(&[u8], bool, bool, bool)]) -> Tally {
        let mut book = Book::default();
        for (i, (bytes, first, last, terminated)) in lines.iter().enumerate() {
            let line = Line { ns: 10 + i as u64, bytes, first: *first, last: *last, terminated: *terminated };
            book.take(&line, |_, _| {});
        }
        book.finish();
        book.tally
    }

    #[test]
    fn counts_by_kind() {
        let whole = |text: &'static [u8]| (text, true, true, true);
        let t = tally(&[
            whole(b"hello"),
            whole(b"hrx debug serial: begin phase=command-list list=main"),
            whole(b"hrx debug serial: retired phase=command-list list=main"),
            whole(b"hrx debug serial: e"),
            whole(b"build: 7 (abc) with cc"),
            whole(b"build: 8 (def) with cc"),
            (b"last words", true, true, false),
        ]);
        assert_eq!((t.lines, t.trace_lines, t.broken, t.other_lines()), (7, 2, 1, 4));
        assert_eq!(t.events, [1, 0, 0, 0, 0, 1]);
        assert_eq!(t.build.as_deref(), Some("build: 7 (abc) with cc"));
        assert_eq!(t.span, Some((10, 16)));
        assert!(t.unterminated);
        assert_eq!(t.bytes, 6 + 53 + 55 + 20 + 23 + 23 + 10);
    }

    #[test]
    fn a_successor_goes_on_from_the_numbers() {
        let t = tally(&[(b"a", true, true, true), (b"hrx debug serial: end phase=x", true, true, true)]);
        assert_eq!(Tally::from_numbers(t.numbers()), t);
        assert_eq!(Tally::from_numbers(Tally::default().numbers()), Tally::default());
    }

    #[test]
    fn a_line_end_that_was_ours_is_taken_back_once() {
        let mut t = tally(&[(b"ab", true, true, true)]);
        t.mark_unterminated();
        t.mark_unterminated();
        assert_eq!((t.bytes, t.unterminated), (2, true));
    }

    #[test]
    fn the_first_and_the_last_stamp_whatever_the_order_of_the_lines() {
        let mut t = Tally::default();
        for ns in [20, 10, 30, 25] {
            t.line(&Line { ns, bytes: b"x", first: true, last: true, terminated: true });
        }
        assert_eq!(t.span, Some((10, 30)));
    }

    #[test]
    fn a_line_in_parts_is_one_line() {
        let t = tally(&[(b"aa", true, false, true), (b"bb", false, false, true), (b"c", false, true, true)]);
        assert_eq!((t.lines, t.long_lines, t.bytes), (1, 1, 6));
    }
}
