//! How a run ended, in the text report, and what happened on the way.

use super::{Page, lines};
use crate::core::duration::show;
use crate::core::run::{End, Process, Run};
use crate::core::signals;
use crate::report::{Subject, memory_text};

/// From the target's first stop to its exit.
pub(super) fn ending(page: &mut Page, subject: &Subject<'_>, end: &End) {
    let run = subject.run;
    events(page, run, end);
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

/// Stops and signals.
fn events(page: &mut Page, run: &Run, end: &End) {
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
        "supervisor-failed" => "; hrx-wrap could not set up the run".to_owned(),
        "unkillable" => "; it could not be killed".to_owned(),
        _ => String::new(),
    };
    format!("{own}{why}; our status is {}", end.status)
}
