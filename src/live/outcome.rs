//! How a run ended: the verdict, the record's last fields, the log's last lines.

use crate::core::run::{End, Exit, Run};
use crate::core::signals;
use crate::core::trace;
use crate::live::echo::Echo;
use crate::live::ending::Reason;
use crate::live::left::Left;
use crate::live::log::LogFile;
use crate::live::plan::{Finished, Verdict, status};
use crate::live::ring::Ring;
use crate::live::source::Source;
use crate::live::supervisor::Supervisor;
use crate::sys::clock::monotonic_ns;
use crate::sys::process::Change;

/// Fields of the record that are known only at the end: the log's header gets them as notes.
const LATE: [&str; 3] = ["binary", "repositories", "end"];

/// Settles exit, cause and our own status. Of several reasons the one that decided the status is the cause.
pub fn settle(supervisor: &mut Supervisor<'_>) -> Verdict {
    let own = supervisor.target.end.map(|(_, change)| verdict_of(change));
    let killed = supervisor.ending.is_some_and(|e| e.escalation.killed() && e.reason != Reason::Leftovers);
    // A target that ended in the grace of a timeout ended by it; KILL after the grace shows in how it died.
    let by_kill = killed && (own.is_none() || own == Some(Verdict::Die(signals::KILL)));
    // Where the timeout's own signal is KILL, no grace was needed.
    let at_once = supervisor.timed_out && supervisor.plan.signal == signals::KILL;
    let keeps_its_own = supervisor.plan.preserve_status && own.is_some();
    let (verdict, cause) = match own {
        None => (Verdict::Exit(status::KILLED), "unkillable"),
        Some(_) if by_kill && !keeps_its_own && !at_once => {
            (Verdict::Exit(status::KILLED), "killed-after-grace")
        }
        Some(own) if supervisor.timed_out => {
            (if keeps_its_own { own } else { Verdict::Exit(timed_out(own)) }, "timeout")
        }
        Some(own @ Verdict::Exit(_)) => (own, "exited"),
        Some(own @ Verdict::Die(_)) => (own, "signal"),
    };
    let cause = if supervisor.front_gone { "hrx-wrap-killed" } else { cause };
    let end = &mut supervisor.end;
    end.at_ns = supervisor.target.end.map_or_else(monotonic_ns, |(at, _)| at);
    end.exit = Exit { code: None, signal: None, cause: cause.to_owned() };
    match own {
        Some(Verdict::Exit(code)) => end.exit.code = Some(code),
        Some(Verdict::Die(signal)) => end.exit.signal = Some(signal),
        None => {}
    }
    end.status = verdict.status();
    verdict
}

/// The status after a timeout: as `timeout` does, a death by SIGKILL is told from all other ends.
fn timed_out(own: Verdict) -> i32 {
    if own == Verdict::Die(signals::KILL) { status::KILLED } else { status::TIMED_OUT }
}

/// What a target's end means for us.
fn verdict_of(change: Change) -> Verdict {
    match change {
        Change::Killed(signal) => Verdict::Die(signal),
        Change::Exited(code) | Change::Stopped(code) => Verdict::Exit(code),
        Change::Continued => Verdict::Exit(0),
    }
}

/// Added to why a record is partial.
pub const DISK_STUCK: &str =
    "; the log's disk (or reader) did not take the rest in time, and lines are counted as far as it did";

/// What a reader should know when the ring in the target's memory was given up.
const DAMAGED: &str =
    "the target wrote over the memory that it prints into: lines that were in it are lost, the rest was read";

/// Puts the counters of ring, log and book into the record.
pub fn count(end: &mut End, left: &Left, ring: &Ring, source: Option<&Source>) {
    let counters = &mut end.counters;
    // A ring that was written over counts nothing.
    let prints = source.map(|source| &*source.ring).filter(|_| !left.stamps.damaged);
    for stalls in [Some(ring), prints].into_iter().flatten().map(Ring::stalls) {
        counters.stalls += stalls.count;
        counters.stall_ns += stalls.total_ns;
        counters.longest_stall_ns = counters.longest_stall_ns.max(stalls.longest_ns);
    }
    let stamps = left.stamps;
    (counters.source_lines, counters.cut_lines) = (stamps.source_lines, stamps.cut_lines);
    if let Some(ring) = prints {
        (counters.source_processes, counters.source_bypassed) = ring.printers();
    }
    if stamps.damaged {
        end.notes.push(DAMAGED.to_owned());
    }
    let tally = &left.book.tally;
    (counters.lines, counters.bytes) = (tally.lines, tally.bytes);
    (counters.trace_lines, counters.broken) = (tally.trace_lines, tally.broken);
    if let Some(log) = &left.log {
        (counters.log_lost_lines, counters.log_lost_bytes) = (log.lost().lines, log.lost().bytes);
    }
}

/// Why the record is not the whole story, if it is not.
pub fn partial(supervisor: &Supervisor<'_>, disk_stuck: bool) -> Option<String> {
    let disk = if disk_stuck { DISK_STUCK } else { "" };
    let reasons = format!("{}{disk}", ending(supervisor).unwrap_or_default());
    (!reasons.is_empty()).then(|| reasons.trim_start_matches("; ").to_owned())
}

/// What ended the run before its own end.
fn ending(supervisor: &Supervisor<'_>) -> Option<String> {
    let killed = "hrx-wrap was killed (its first process)";
    match supervisor.front_gone {
        true if supervisor.orphaned => Some(format!("{killed}, so the target was ended")),
        true => Some(format!("{killed} after the target had ended; what it printed is whole")),
        false if supervisor.gave_up => Some("processes that cannot be killed are left".into()),
        false if supervisor.timed_out => Some("the timeout ended the target".into()),
        false => supervisor
            .end
            .exit
            .signal
            .map(|signal| format!("the target was killed by signal {signal} ({})", signals::name(signal))),
    }
}

/// Ends the kept trace: what became known late, and the end itself.
pub fn close_log(log: &mut LogFile, run: &Run) {
    let mut text = Vec::new();
    for (key, value) in run.fields() {
        if LATE.contains(&key.as_str()) {
            trace::note(&mut text, &key, &value);
        }
    }
    log.append(&text);
}

/// Puts the report and what went wrong in writing it on our stderr.
pub fn show(made: &Finished, echo: &Echo) {
    echo.give_lines(&made.report);
    for trouble in &made.troubles {
        echo.say(trouble);
    }
}
