//! The one event model: every parser yields events, every report is made of them.

use crate::core::lines::Line;
use crate::core::parse::serial::Serial;

/// What a line of the target's stderr is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A line of the HRX serial trace.
    Serial(Serial<'a>),
    /// A line that holds the serial trace's mark but not an event and a phase behind it: cut, or written into.
    Broken,
    /// A program's account of what it is: llama.cpp's `build …` line, from the word `build` on.
    Build(&'a [u8]),
    /// Any other line.
    Text,
}

/// Takes a run's lines in order, with what they are. Profile, split and counters are sinks.
pub trait Sink {
    /// One line (or a part of a very long one) and its meaning.
    fn line(&mut self, line: &Line<'_>, event: &Event<'_>);
}

/// Says what a line is. Never fails: what is not understood is [`Event::Text`].
pub fn classify<'a>(line: &Line<'a>) -> Event<'a> {
    if !line.first {
        return Event::Text;
    }
    match crate::core::parse::serial::find(line.bytes) {
        Some(Some(serial)) => Event::Serial(serial),
        Some(None) => Event::Broken,
        None => crate::core::parse::llama::build_line(line.bytes).map_or(Event::Text, Event::Build),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bytes: &[u8]) -> Line<'_> {
        Line { ns: 1, bytes, first: true, last: true, terminated: true }
    }

    #[test]
    fn every_kind_is_told_apart() {
        assert!(matches!(
            classify(&line(b"hrx debug serial: begin phase=command-list list=main")),
            Event::Serial(_)
        ));
        assert_eq!(classify(&line(b"hrx debug serial: beg")), Event::Broken);
        assert_eq!(
            classify(&line(b"build: 1 (4227c9b) with cc")),
            Event::Build(b"build: 1 (4227c9b) with cc")
        );
        assert_eq!(classify(&line(b"load_tensors: CPU model buffer size = 1.00 MiB")), Event::Text);
    }

    #[test]
    fn the_middle_of_a_long_line_is_text() {
        let middle = Line { first: false, ..line(b"hrx debug serial: begin phase=command-list") };
        assert_eq!(classify(&middle), Event::Text);
    }
}
