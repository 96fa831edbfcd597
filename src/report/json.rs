//! The report as JSON: times in ns, sizes in bytes, units in the names, unknown = null.

use serde_json::{Value, json};

use crate::core::run::{End, SCHEMA};
use crate::core::tally::EVENTS;
use crate::report::{Subject, memory_json, profile_json, split_json};

/// The whole report.
pub fn report(subject: &Subject<'_>) -> Value {
    let run = subject.run;
    let partial = subject.partial();
    let mut fields = run.fields();
    fields.remove("schema");
    fields.remove("end");
    json!({
        "schema": SCHEMA,
        "made": subject.source.made,
        "partial": {"is": partial.is_some(), "why": partial},
        "exit": exit(run.end.as_ref()),
        "time": time(subject),
        "run": fields,
        "floor_ns": subject.book.and_then(|b| b.profile.floor_ns()),
        "floor_waits": subject.book.map(|b| b.profile.floor.count()),
        "programs": subject.book.map(|b| profile_json::programs(&b.profile, subject.names)),
        "open": subject.book.map(|b| profile_json::open(&b.profile, subject.names, subject.open_until())),
        "names": subject.naming,
        "memory": memory_json::memory(subject),
        "split": subject.split().as_ref().map(split_json::split),
        "coverage": coverage(subject),
        "stamps": stamps(subject),
        "stalls": stalls(subject),
        "events": run.end.as_ref().map(events),
    })
}

fn exit(end: Option<&End>) -> Value {
    let exit = end.map(|end| &end.exit);
    json!({
        "code": exit.and_then(|e| e.code),
        "signal": exit.and_then(|e| e.signal),
        "cause": exit.map(|e| &e.cause),
        "status": end.map(|e| e.status),
    })
}

fn time(subject: &Subject<'_>) -> Value {
    let start = subject.run.clock.start_ns;
    json!({
        "start_ns": (start > 0).then_some(start),
        "end_ns": subject.run.end.as_ref().map(|e| e.at_ns),
        "duration_ns": subject.duration_ns(),
    })
}

fn events(end: &End) -> Value {
    json!({
        "signals": end.signals,
        "stops": end.stops,
        "leftovers": end.leftovers,
        "left_alone": end.left_alone,
        "unkillable": end.unkillable,
        "stderr_held_by": end.stderr_held_by,
        "reaped": end.reaped,
        "notes": end.notes,
    })
}

/// What was read, by kind, and what was lost.
fn coverage(subject: &Subject<'_>) -> Value {
    let counters = subject.counters();
    let counted = counters.as_ref();
    let tally = subject.book.map(|book| &book.tally);
    let events = tally.map(|t| {
        EVENTS.iter().zip(t.events).map(|(e, n)| (*e, n)).collect::<std::collections::BTreeMap<_, _>>()
    });
    let mut all = json!({
        "lines": counted.map(|c| c.lines),
        "bytes": counted.map(|c| c.bytes),
        "trace_lines": counted.map(|c| c.trace_lines),
        "rejoined": tally.map(|t| t.rejoined),
        "broken": counted.map(|c| c.broken),
        "trace_events": events,
        "build": tally.and_then(|t| t.build.as_ref()),
        "long_lines": tally.map(|t| t.long_lines),
        "unterminated": tally.map(|t| t.unterminated),
        "first_line_ns": tally.and_then(|t| t.span).map(|s| s.0),
        "last_line_ns": tally.and_then(|t| t.span).map(|s| s.1),
        "torn_lines": u64::from(subject.source.torn),
        "unstamped_lines": subject.source.unstamped,
        "log_lost_lines": counted.map(|c| c.log_lost_lines),
        "log_lost_bytes": counted.map(|c| c.log_lost_bytes),
        "echo_lost_bytes": counted.map(|c| c.echo_lost_bytes),
    });
    let dispatches = subject.book.map(|b| profile_json::coverage(&b.profile, subject.names));
    if let (Value::Object(all), Some(Value::Object(more))) = (&mut all, dispatches) {
        all.extend(more);
    }
    all
}

fn stamps(subject: &Subject<'_>) -> Value {
    let counters = subject.run.end.as_ref().map(|e| &e.counters);
    json!({
        "source_lines": counters.map(|c| c.source_lines),
        "read_lines": counters.map(|c| c.lines.saturating_sub(c.source_lines)),
        "processes": counters.map(|c| c.source_processes),
        "bypassed": counters.map(|c| c.source_bypassed),
        "cut_lines": counters.map(|c| c.cut_lines),
    })
}

fn stalls(subject: &Subject<'_>) -> Value {
    let counters = subject.run.end.as_ref().map(|e| &e.counters);
    json!({
        "count": counters.map(|c| c.stalls),
        "total_ns": counters.map(|c| c.stall_ns),
        "longest_ns": counters.map(|c| c.longest_stall_ns),
    })
}
