//! The text report.

use std::fmt::Write as _;

use crate::core::duration::show;
use crate::core::run::{End, Process, Run};
use crate::core::signals;
use crate::core::tally::{EVENTS, Tally};
use crate::core::text::{count, printable, shell_line};
use crate::report::{Subject, memory_text, profile_text, split_text};

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
        page.0.push_str(&profile_text::empty(&book.profile, &book.tally));
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
        None => lines(&mut page, subject),
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

fn header(page: &mut Page, subject: &Subject<'_>) {
    let run = subject.run;
    let tool = match (&run.tool.commit, run.tool.name.as_str()) {
        (_, "") if subject.book.is_none() => "samples without a trace".to_owned(),
        (_, "") => "a trace without a header, so not known to be of hrx-wrap".to_owned(),
        (Some(commit), name) => format!("{name} {} (commit {commit})", run.tool.version),
        (None, name) => format!("{name} {} (commit unknown)", run.tool.version),
    };
    page.line(&format!("{tool}, report {}", printable(subject.source.made.as_bytes())));
    if run.tool.name.is_empty() {
        return;
    }
    page.fact("command", &shell_line(&run.command));
    page.fact("changed", &changed(run));
    if let Some(label) = &run.label {
        page.fact("label", label);
    }
    page.fact("host", &format!("{}, {}", run.host.name, run.host.kernel));
    page.fact(
        "clock",
        &format!(
            "{}, resolution {} ns, started {}",
            run.clock.name, run.clock.resolution_ns, run.clock.start_utc
        ),
    );
    stamps(page, run);
    let build = subject.book.and_then(|book| book.tally.build.as_deref());
    page.fact("build", build.unwrap_or("unknown: the target printed no build line on stderr"));
    binary(page, run);
}

/// Where lines got their time, and what that took.
fn stamps(page: &mut Page, run: &Run) {
    let counters = run.end.as_ref().map(|end| &end.counters);
    let stamped = match (run.stamped.as_str(), counters) {
        ("read", _) => "at read, when hrx-wrap got the bytes".to_owned(),
        ("source", Some(c)) => {
            let source = count(c.source_lines, "line");
            let read = count(c.lines.saturating_sub(c.source_lines), "line");
            let by = match c.source_processes {
                1 => "1 process".to_owned(),
                n => format!("{n} processes"),
            };
            format!("{source} at the source, when printed by {by}; {read} at read")
        }
        ("source", None) => "at the source where a process can, else at read".to_owned(),
        (other, _) => other.to_owned(),
    };
    page.fact("stamps", &format!("{stamped}; the target's stderr is a {}", run.stdio));
    if run.stamped == "source" {
        page.fact("", "the object in LD_PRELOAD does it; --stamp read preloads nothing");
    }
    if let Some(note) = &run.stamp_note {
        page.fact(
            "",
            &if run.stamped == "source" { note.clone() } else { format!("not at the source: {note}") },
        );
    }
    let Some(c) = counters else { return };
    if c.source_bypassed > 0 {
        page.fact(
            "",
            &format!(
                "{} found no room for long and went to the descriptor",
                count(c.source_bypassed, "print")
            ),
        );
    }
    if c.cut_lines > 0 {
        page.fact(
            "",
            &format!("{} ended by hrx-wrap: another's line came before its end", count(c.cut_lines, "line")),
        );
    }
}

/// What the target got that the caller did not give.
fn changed(run: &Run) -> String {
    let mut parts = Vec::new();
    if !run.changed.env.is_empty() {
        parts.push(format!("set {}", shell_line(&run.changed.env)));
    }
    if !run.changed.args.is_empty() {
        parts.push(format!("appended {}", shell_line(&run.changed.args)));
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
}

fn binary(page: &mut Page, run: &Run) {
    match &run.binary {
        Some(binary) => {
            let build_id = binary.build_id.as_deref().unwrap_or("none");
            page.fact(
                "binary",
                &format!("{}, {} bytes, build id {build_id}", binary.path, binary.size_bytes),
            );
            page.fact("", &format!("SHA-256 {}", binary.sha256.as_deref().unwrap_or("unknown")));
        }
        None => page.fact("binary", "unknown: it is looked at when the run has ended"),
    }
    for repository in &run.repositories {
        let state = match repository.dirty {
            Some(true) => "with changes",
            Some(false) => "clean",
            None => "not asked whether it is clean",
        };
        let of = if repository.of == "cwd" { "the working folder" } else { "the binary" };
        page.fact(
            "repository",
            &format!("of {of}: {}, commit {}, {state}", repository.path, repository.commit),
        );
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

fn ending(page: &mut Page, subject: &Subject<'_>, end: &End) {
    let run = subject.run;
    for stop in &end.stops {
        let at = show(stop.at_ns.saturating_sub(run.clock.start_ns));
        let until = match stop.until_ns {
            Some(until) => format!("for {}", show(until.saturating_sub(stop.at_ns))),
            None => "until the end".to_owned(),
        };
        page.fact("stopped", &format!("by {} at {at}, {until}", signals::name(stop.signal)));
    }
    for signal in &end.signals {
        let at = show(signal.at_ns.saturating_sub(run.clock.start_ns));
        let from =
            if signal.sender == 0 { "the kernel".to_owned() } else { format!("pid {}", signal.sender) };
        page.fact(
            "signal",
            &format!("{} from {from} at {at}: {}", signals::name(signal.signal), signal.action),
        );
    }
    processes(
        page,
        "left over",
        if end.left_alone { "left alone, as asked" } else { "ended" },
        &end.leftovers,
    );
    processes(page, "unkillable", "SIGKILL did not end it", &end.unkillable);
    processes(
        page,
        "stderr",
        "still holds it; what it prints from here on is not in the log",
        &end.stderr_held_by,
    );
    for note in &end.notes {
        page.fact("note", note);
    }
    lines(page, subject);
    page.fact(
        "time",
        &match subject.duration_ns() {
            Some(ns) => format!("{} from start to the target's end", show(ns)),
            None => "unknown".to_owned(),
        },
    );
    page.fact("exit", &exit(end, run));
}

fn processes(page: &mut Page, name: &str, what: &str, list: &[Process]) {
    for process in list {
        let gtt = process
            .gtt_bytes
            .map_or_else(String::new, |bytes| format!(", GTT {} MiB", memory_text::mib(bytes)));
        page.fact(
            name,
            &format!("pid {} ({}), state {}{gtt}: {what}", process.pid, process.name, process.state),
        );
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

fn exit(end: &End, run: &Run) -> String {
    let own = match (end.exit.code, end.exit.signal) {
        (Some(code), _) => format!("the target exited with {code}"),
        (_, Some(signal)) => format!("the target was killed by signal {signal} ({})", signals::name(signal)),
        _ => "the target's own end is unknown".to_owned(),
    };
    let why = match end.exit.cause.as_str() {
        "timeout" => {
            let after = run.limits.timeout_ns.map_or_else(String::new, |ns| format!(" of {}", show(ns)));
            format!("; the timeout{after} ended it ({})", run.limits.signal)
        }
        "killed-after-grace" => {
            format!("; SIGKILL was needed {} after the first signal", show(run.limits.kill_after_ns))
        }
        "hrx-wrap-killed" => "; hrx-wrap was killed".to_owned(),
        "supervisor-killed" => "; hrx-wrap's supervisor was killed".to_owned(),
        "unkillable" => "; it could not be killed".to_owned(),
        _ => String::new(),
    };
    format!("{own}{why}; our status is {}", end.status)
}
