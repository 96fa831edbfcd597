//! The profile in the JSON report: ids as strings, since half of them are larger than JavaScript's numbers are exact.

use serde_json::{Value, json};

use crate::core::names::Catalogue;
use crate::core::parse::serial::HOST_PHASES;
use crate::core::profile::program::{Kernel, Program};
use crate::core::profile::{Open, Profile};
use crate::core::text::printable;
use crate::report::kernels::{Row, rows, unmapped};
use crate::report::view::View;

/// `programs`: one object a program, the one with the most time first.
pub fn programs(profile: &Profile, names: &Catalogue) -> Value {
    profile.programs().into_iter().map(|p| program(p, profile, names)).collect()
}

fn program(program: &Program, profile: &Profile, names: &Catalogue) -> Value {
    let total = program.total();
    let known = program.in_walls;
    let kernels: Vec<Value> = rows(program, profile, names, View::default())
        .iter()
        .map(|row| {
            let sums = program.kernels.iter().find(|k| k.id == row.id);
            kernel(row, total, sums)
        })
        .collect();
    let host: std::collections::BTreeMap<&str, u64> = HOST_PHASES.into_iter().zip(known.host).collect();
    let walls = (program.walls > 0).then(|| {
        json!({
            "runs": program.walls,
            "wall_ns": program.wall_ns,
            "kernels_ns": known.device,
            "launch_ns": known.launch,
            "wait_ns": known.wait,
            "between_ns": known.between,
            "other_lists_ns": known.init,
            "host_ns": host,
            "unattributed_ns": i128::from(program.wall_ns) as i64 - known.sum() as i64,
        })
    });
    json!({
        "list": program.list.name(),
        "list_commands": program.commands,
        "fingerprint": program.fingerprint(),
        "runs": whole(program.runs()),
        "runs_begun": program.begun,
        "dispatches": program.dispatches,
        "total_ns": total,
        "launch_ns": program.launch_ns,
        "wait_ns": program.wait_ns,
        "between_ns": program.between_ns,
        "first_run_ns": program.first_run_ns,
        "steady_runs": program.steady.count(),
        "steady_mean_ns": program.steady.mean().map(|ns| ns.round() as u64),
        "account": walls,
        "kernels": kernels,
    })
}

/// A whole number as one, for whoever reads it as such.
fn whole(n: f64) -> Value {
    if n.fract() == 0.0 { (n as u64).into() } else { n.into() }
}

fn kernel(row: &Row, total: u64, sums: Option<&Kernel>) -> Value {
    let histogram: Vec<Value> = sums
        .map(|k| k.device.buckets().map(|(from, to, n)| json!([from, to, n])).collect())
        .unwrap_or_default();
    json!({
        "kernel_id": row.id.map(|id| id.to_string()),
        "family": row.name.as_ref().map(|n| &n.0),
        "name": row.name.as_ref().map(|n| &n.1),
        "source": row.source,
        "count": row.count,
        "total_ns": row.total,
        "first_run_ns": row.first_run,
        "share": if total == 0 { None } else { Some(row.total as f64 / total as f64) },
        "launch_mean_ns": row.launch,
        "device_mean_ns": row.mean,
        "device_median_ns": row.median,
        "device_p95_ns": row.p95,
        "device_min_ns": row.least,
        "device_max_ns": row.most,
        "near_floor": row.near_floor,
        "bindings_mismatch": row.bindings.map(|(line, known)| json!({"line": line, "manifest": known})),
        "histogram_ns": histogram,
    })
}

/// `open`: dispatches that were begun and not finished.
pub fn open(profile: &Profile, names: &Catalogue, end_ns: u64) -> Value {
    profile.open().iter().map(|o| one_open(o, names, end_ns)).collect()
}

fn one_open(open: &Open, names: &Catalogue, end_ns: u64) -> Value {
    let name = |id: Option<u64>| {
        id.and_then(|id| names.get(id)).map(|n| printable(format!("{}:{}", n.family, n.name).as_bytes()))
    };
    json!({
        "kernel_id": open.kernel_id.map(|id| id.to_string()),
        "name": name(open.kernel_id),
        "process": Some(open.key.process).filter(|pid| *pid != 0),
        "list": open.key.list.name(),
        "list_commands": open.key.commands,
        "index": open.key.index,
        "state": open.state.name(),
        "since_ns": open.since,
        "open_ns": open.until.unwrap_or(end_ns).saturating_sub(open.since),
        "completed_before": open.neighbour.map(|id| id.to_string()),
        "completed_before_name": name(open.neighbour),
    })
}

/// What `coverage` says of dispatches, beside what it says of lines.
pub fn coverage(profile: &Profile, names: &Catalogue) -> Value {
    let c = &profile.coverage;
    let (ids, time, all) = unmapped(profile, names);
    json!({
        "begun": c.begun,
        "ended": c.ended,
        "completed": c.completed,
        "unresolved": c.unresolved,
        "orphan_ends": c.orphans,
        "broken_dispatches": c.broken,
        "untimed_events": c.untimed,
        "overlapping": c.overlapping,
        "repeated": c.repeated,
        "failed_dispatches": c.failed,
        "processes": c.processes,
        "left_open": c.left,
        "untraced_waits": c.untraced_waits,
        "failed_programs": c.failed_programs,
        "failed_waits": profile.failures,
        "unknown_words": c.unknown,
        "unmapped_ids": ids,
        "unmapped_ns": time,
        "device_ns": all,
    })
}
