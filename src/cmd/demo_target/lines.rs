//! One line of the serial trace, with the backend's prints: head, detail, newline, then a flush.

use std::io::Write as _;

use super::garble;
use super::stderr::Stderr;
use crate::sys::clock::monotonic_ns;

/// Writes the lines.
pub struct Lines<S> {
    /// Where they go.
    pub out: S,
    /// Each line ends in the time just before its first print.
    own_clock: bool,
    /// A logger's line lands inside every so many lines; 0 = none.
    garble_every: u64,
    /// Lines begun.
    begun: u64,
    /// A print that is being put together.
    text: Vec<u8>,
}

impl<S: Stderr> Lines<S> {
    /// Lines to `out`.
    pub fn new(out: S, own_clock: bool, garble_every: u64) -> Self {
        Self { out, own_clock, garble_every, begun: 0, text: Vec::with_capacity(256) }
    }

    /// `hrx debug serial: <event> phase=<phase>[ <detail>]`.
    pub fn line(&mut self, event: &str, phase: &str, detail: &[u8]) {
        let clock = self.head(event, phase);
        self.text.clear();
        if !detail.is_empty() {
            self.text.push(b' ');
            self.text.extend_from_slice(detail);
        }
        if let Some(clock) = clock {
            write_text(&mut self.text, format_args!(" clock={clock}"));
        }
        if !self.text.is_empty() {
            self.out.print(&self.text);
        }
        self.out.print(b"\n");
        self.out.flush();
    }

    /// The first print alone. Returns the time before it if lines carry one.
    pub fn head(&mut self, event: &str, phase: &str) -> Option<u64> {
        self.text.clear();
        write_text(&mut self.text, format_args!("hrx debug serial: {event} phase={phase}"));
        let clock = self.own_clock.then(monotonic_ns);
        self.out.print(&self.text);
        self.begun += 1;
        if self.garble_every > 0 && self.begun.is_multiple_of(self.garble_every) {
            self.out.print(garble::line(self.begun / self.garble_every).as_bytes());
        }
        clock
    }
}

/// Appends formatted text.
pub fn write_text(text: &mut Vec<u8>, what: std::fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    let _ = text.write_fmt(what);
}

#[cfg(test)]
mod tests {
    use super::super::stderr::Prints;
    use super::*;

    #[test]
    fn three_prints_and_a_flush_or_two_without_a_detail() {
        let mut lines = Lines::new(Prints::default(), false, 0);
        lines.line("begin", "command-list", b"list=main");
        lines.line("sync-end", "command-pre-dispatch", b"");
        let head = "hrx debug serial: sync-end phase=command-pre-dispatch";
        assert_eq!(
            lines.out.0,
            ["hrx debug serial: begin phase=command-list", " list=main", "\n", "", head, "\n", ""]
        );
    }

    #[test]
    fn own_clock_is_the_last_field_and_never_goes_back() {
        let mut lines = Lines::new(Prints::default(), true, 0);
        let before = monotonic_ns();
        lines.line("begin", "command-list", b"list=main");
        lines.line("end", "command-list", b"");
        let clock = |print: &str| -> u64 { print.rsplit_once("clock=").unwrap().1.parse().unwrap() };
        assert!(lines.out.0[1].starts_with(" list=main clock="));
        assert!(lines.out.0[5].starts_with(" clock="));
        assert!(before <= clock(&lines.out.0[1]) && clock(&lines.out.0[1]) <= clock(&lines.out.0[5]));
    }

    #[test]
    fn garble_every_second_line_between_head_and_detail() {
        let mut lines = Lines::new(Prints::default(), false, 2);
        lines.line("begin", "a", b"x=1");
        lines.line("begin", "b", b"x=2");
        assert_eq!(lines.out.0[..4], ["hrx debug serial: begin phase=a", " x=1", "\n", ""]);
        assert_eq!(lines.out.0[4], "hrx debug serial: begin phase=b");
        assert_eq!(lines.out.0[5], garble::line(1));
        assert_eq!(lines.out.0[6..], [" x=2", "\n", ""]);
    }
}
