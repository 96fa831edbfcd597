//! What of the trace a profile is made of, and what is missing in it.

use std::fmt::Write as _;

use crate::core::names::Catalogue;
use crate::core::profile::{Coverage, Profile};
use crate::core::tally::Tally;
use crate::core::text::count;
use crate::report::kernels::unmapped;
use crate::report::view::percent;

/// The section.
pub(super) fn coverage(out: &mut String, profile: &Profile, tally: &Tally, names: &Catalogue) {
    let c = &profile.coverage;
    let _ = writeln!(out, "\nCOVERAGE");
    let _ = writeln!(
        out,
        "  {} read; of the trace: {} lines, {} joined again, {} broken",
        count(tally.lines, "line"),
        tally.trace_lines,
        tally.rejoined,
        tally.broken
    );
    let _ = writeln!(out, "  dispatches: {} begun, {} ended, {} completed", c.begun, c.ended, c.completed);
    if c.unresolved > 0 {
        let _ = writeln!(
            out,
            "  WARNING: {} of them ({} %) have 0 on the device: one read brought their launch's end and their own. The reader \
             did not get to run in between, so the machine was busy; trust medians only where few are 0",
            c.unresolved,
            percent(c.unresolved, c.completed)
        );
    }
    for (n, noun, what) in troubles(c).into_iter().filter(|(n, ..)| *n > 0) {
        let _ = writeln!(out, "  {} {what}", count(n, noun));
    }
    if c.processes > 1 {
        let _ = writeln!(
            out,
            "  {} processes wrote the trace: their dispatches are told apart by pid, and what they ran of one program is \
             summed together",
            c.processes
        );
    }
    for (word, n) in &c.unknown {
        let _ = writeln!(out, "  unknown word: {word}, {n} times");
    }
    for reason in &profile.failures {
        let _ = writeln!(out, "  failed wait: {reason}");
    }
    let _ = writeln!(out, "  names: {}", mapped(profile, names));
}

/// What was not as it should be: how many of what, and how.
fn troubles(c: &Coverage) -> [(u64, &'static str, &'static str); 9] {
    [
        (c.orphans, "end", "without a beginning: the trace begins in the middle, or lines are missing"),
        (c.broken, "dispatch", "with a broken line: neither counted nor open"),
        (c.untimed, "event", "behind other text in its line, so without a time of its own"),
        (
            c.overlapping,
            "dispatch",
            "began while another was open: more than one context or process wrote this trace",
        ),
        (
            c.repeated,
            "dispatch",
            "began again while open: a line or a run was lost, or two processes wrote this trace \
             whose lines cannot be told apart; then times around them may be of two",
        ),
        (c.failed, "dispatch", "failed, by the backend's own word; open until then"),
        (c.left, "dispatch", "left open by processes that wrote nothing more while many others did"),
        (c.untraced_waits, "wait", "without a detail: commands outside the traced range"),
        (c.failed_programs, "program", "failed"),
    ]
}

/// How much of the device time has a name.
fn mapped(profile: &Profile, names: &Catalogue) -> String {
    let (ids, time, all) = unmapped(profile, names);
    match ids {
        0 => "every kernel has a name".to_owned(),
        n => {
            format!("{} in no catalogue: {} % of the device time", count(n, "kernel id"), percent(time, all))
        }
    }
}
