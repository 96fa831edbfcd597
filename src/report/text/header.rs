//! What a run is, in the text report: who made the record, the command, the machine, the clock and the program.

use super::Page;
use crate::core::run::Run;
use crate::core::text::{count, printable, shell_line};
use crate::report::Subject;

/// The first part of the report.
pub(super) fn header(page: &mut Page, subject: &Subject<'_>) {
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
    if !run.inherited.is_empty() {
        page.fact("inherited", &shell_line(&run.inherited));
    }
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

/// The stamps: where, by whom, and what went wrong with them.
fn stamps(page: &mut Page, run: &Run) {
    page.fact("stamps", &format!("{}; the target's stderr is a {}", stamped(run), run.stdio));
    if run.stamped == "source" {
        page.fact("", "the object in LD_PRELOAD does it; --stamp read preloads nothing");
    }
    if let Some(note) = &run.stamp_note {
        page.fact(
            "",
            &if run.stamped == "source" { note.clone() } else { format!("not at the source: {note}") },
        );
    }
    let Some(c) = run.end.as_ref().map(|end| &end.counters) else { return };
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

/// Where lines got their time, and how many where.
fn stamped(run: &Run) -> String {
    let counters = run.end.as_ref().map(|end| &end.counters);
    match (run.stamped.as_str(), counters) {
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
