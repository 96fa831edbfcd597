//! The text report.

mod ending;
mod header;

use std::fmt::Write as _;

use crate::core::duration::show;
use crate::core::run::Counters;
use crate::core::tally::{EVENTS, Tally};
use crate::core::text::{count, printable};
use crate::report::{Subject, memory_text, profile_text, split_text};
use ending::ending;
use header::header;

/// Width of the column of names.
const NAMES: usize = 12;

/// The whole report. A partial one says so in its first line, and why.
pub fn report(subject: &Subject<'_>) -> String {
    let mut page = Page(String::new());
    if let Some(why) = subject.partial() {
        page.line(&format!("PARTIAL: {why}"));
    }
    let asked = subject.run.profile || subject.expects_dispatches();
    if let (true, true, Some(book)) = (asked, subject.no_dispatch(), subject.book) {
        let printed = subject.run.end.as_ref().map_or(0, |end| end.counters.lines);
        if book.tally.lines == 0 && printed > 0 {
            page.line(&format!("NO DISPATCH IS AT HAND: of the {} none is", count(printed, "line")));
        } else {
            page.0.push_str(&profile_text::empty(&book.profile, &book.tally));
        }
    }
    header(&mut page, subject);
    if let Some(tally) = subject.book.map(|book| &book.tally) {
        kinds(&mut page, tally);
    }
    if let Some(end) = &subject.run.end {
        ending(&mut page, subject, end);
    } else if subject.book.is_some() {
        lines(&mut page, subject);
        page.fact("exit", "unknown: the record has no end");
    }
    page.0.push_str(&memory_text::memory(subject));
    if let (true, false, Some(book)) = (subject.about_dispatches(), subject.no_dispatch(), subject.book) {
        let (names, view) = (subject.names, subject.view);
        page.0.push_str(&profile_text::profile(
            &book.profile,
            &book.tally,
            names,
            view,
            subject.open_until(),
        ));
        for note in subject.naming {
            page.line(&format!("  names: {}", printable(note.as_bytes())));
        }
    }
    if let Some(split) = subject.split().filter(|_| subject.about_memory()) {
        page.0.push_str(&split_text::split(&split, subject.run.clock.start_ns));
    }
    page.0
}

/// The facts of a run as the report's first part has them: name (empty: more of the one before) and value.
pub fn facts(subject: &Subject<'_>) -> Vec<(String, String)> {
    let mut page = Page(String::new());
    header(&mut page, subject);
    if let Some(tally) = subject.book.map(|book| &book.tally) {
        kinds(&mut page, tally);
    }
    match &subject.run.end {
        Some(end) => ending(&mut page, subject, end),
        None if subject.book.is_some() => lines(&mut page, subject),
        None => {}
    }
    // The first line is the tool's own and has no name.
    let mut all = vec![("made by".to_owned(), page.0.lines().next().unwrap_or_default().to_owned())];
    all.extend(page.0.lines().skip(1).map(|line| {
        let at = line.char_indices().nth(NAMES).map_or(line.len(), |(at, _)| at);
        (line[..at].trim().to_owned(), line[at..].to_owned())
    }));
    all
}

/// Lines of `name   value`.
struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn fact(&mut self, name: &str, value: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{name:NAMES$}{}", printable(value.as_bytes()));
    }
}

/// The lines by kind.
fn kinds(page: &mut Page, tally: &Tally) {
    if tally.trace_lines > 0 {
        let events = EVENTS.iter().zip(tally.events).filter(|(_, n)| *n > 0);
        let events: Vec<String> = events.map(|(word, n)| format!("{n} {word}")).collect();
        page.fact("trace", &events.join(", "));
    }
    if tally.long_lines > 0 {
        page.fact("long lines", &format!("{} of more than 1 MiB", tally.long_lines));
    }
    if tally.unterminated {
        page.fact("last line", "has no line end");
    }
}

/// What was read and what was lost on the way.
fn lines(page: &mut Page, subject: &Subject<'_>) {
    let Some(c) = subject.counters() else {
        page.fact("lines", "unknown: the counts were lost");
        return;
    };
    let ended = subject.run.end.is_some();
    let other = c.lines.saturating_sub(c.trace_lines + c.broken);
    let counts = format!(
        "{} read ({} bytes): {} trace, {} broken, {other} other",
        count(c.lines, "line"),
        c.bytes,
        c.trace_lines,
        c.broken
    );
    page.fact("lines", &counts);
    let stalls = match c.stalls {
        _ if !ended => "unknown: the record has no end".to_owned(),
        0 => "none: the ring was never full".to_owned(),
        n => format!(
            "{n}, {} in all, longest {}: the target waited",
            show(c.stall_ns),
            show(c.longest_stall_ns)
        ),
    };
    page.fact("stalls", &stalls);
    samples(page, subject);
    losses(page, subject, &c);
}

/// What is missing, and where.
fn losses(page: &mut Page, subject: &Subject<'_>, c: &Counters) {
    if c.log_lost_bytes > 0 {
        let lost = count(c.log_lost_lines, "line");
        page.fact(
            "LOST",
            &format!("{lost} ({} bytes of the log): the disk did not take them", c.log_lost_bytes),
        );
    }
    if c.echo_lost_bytes > 0 {
        page.fact(
            "not shown",
            &format!("{} bytes: the reader of our stderr did not take them", c.echo_lost_bytes),
        );
    }
    if subject.source.torn {
        page.fact("torn", "1 line: the trace ends inside it; it is not counted");
    }
    if subject.source.unstamped > 0 {
        page.fact(
            "unstamped",
            &format!("{} without a time, not counted", count(subject.source.unstamped, "line")),
        );
    }
}

/// How many samples of the memory there are.
fn samples(page: &mut Page, subject: &Subject<'_>) {
    if let Some(sums) = subject.sums() {
        let gap = sums.longest_gap_ns.map_or_else(String::new, |ns| format!(", longest gap {}", show(ns)));
        page.fact("samples", &format!("{} of the memory{gap}", sums.samples));
    }
}
