//! A comparison as JSON: times in ns, parts as parts of 1, unknown = null.

use serde_json::{Value, json};

use crate::core::compare::facts::Of;
use crate::core::compare::memory::MemoryRow;
use crate::core::compare::noise::{Judged, Twice, Verdict};
use crate::core::compare::{Comparison, KernelRow, Kind, ProgramRow};
use crate::core::run::SCHEMA;
use crate::report::compare_rows::{Sides, verdict_word};

/// The whole comparison.
pub fn report(comparison: &Comparison, sides: &Sides) -> Value {
    let differences: Vec<Value> = comparison
        .differences
        .iter()
        .map(|d| json!({"field": d.field, "base": d.base, "new": d.new, "refused": d.refused}))
        .collect();
    let regressions: Vec<Value> = comparison
        .regressions()
        .into_iter()
        .map(|(what, part)| json!({"what": what, "change": part}))
        .collect();
    json!({
        "schema": SCHEMA,
        "base": {"name": sides.base, "runs": comparison.base_runs, "unresolved_share": comparison.unresolved.0},
        "new": {"name": sides.new, "runs": comparison.new_runs, "unresolved_share": comparison.unresolved.1},
        "threshold": comparison.threshold,
        "single": comparison.single(),
        "differences": differences,
        "not_comparable": comparison.refusals(),
        "withheld": comparison.withheld,
        "base_cut_off": comparison.cut.0,
        "new_cut_off": comparison.cut.1,
        "floor": comparison.floor.as_ref().map(judged),
        "wall": comparison.wall.as_ref().map(judged),
        "programs": comparison.programs.iter().map(program).collect::<Vec<_>>(),
        "memory": comparison.memory.iter().map(memory).collect::<Vec<_>>(),
        "regressions": regressions,
    })
}

/// A row of the split; a judged number of bytes has other names than one of times.
fn memory(row: &MemoryRow) -> Value {
    json!({
        "name": row.name,
        "kind": kind(&row.kind),
        "base_bytes": row.judged.map(|j| j.base),
        "new_bytes": row.judged.map(|j| j.new),
        "change_bytes": row.judged.map(|j| j.change()),
        "change": row.judged.and_then(|j| j.relative()),
        "verdict": row.judged.map(|j| verdict_word(j.verdict)),
        "alone_bytes": row.alone,
        "why": row.why,
    })
}

fn judged(judged: &Judged) -> Value {
    let range = |r: Option<(f64, f64)>| r.map(|(least, most)| json!([least, most]));
    json!({
        "base_ns": judged.base,
        "new_ns": judged.new,
        "base_range_ns": range(judged.base_range),
        "new_range_ns": range(judged.new_range),
        "change_ns": judged.change(),
        "change": judged.relative(),
        "noise_ns": judged.noise,
        "verdict": verdict_word(judged.verdict),
        "more_runs": match judged.verdict {
            Verdict::CannotTell(more) => more,
            _ => Some(0),
        },
    })
}

/// A row that is judged twice: the verdict is that of the one that counts.
fn twice(twice: &Twice) -> Value {
    let mut all = judged(&twice.whole);
    let (deciding, by_median) = twice.deciding();
    all["verdict"] = verdict_word(deciding.verdict).into();
    all["by_median_call"] = by_median.into();
    all["median_call"] = twice.typical.as_ref().map(judged).into();
    all
}

fn kind(kind: &Kind) -> &'static str {
    match kind {
        Kind::Both => "both",
        Kind::New => "new",
        Kind::Vanished => "vanished",
        Kind::Renamed(_) => "renamed",
    }
}

fn program(row: &ProgramRow) -> Value {
    json!({
        "list": row.list.name(),
        "base_commands": row.commands.0,
        "new_commands": row.commands.1,
        "base_fingerprint": row.fingerprints.0,
        "new_fingerprint": row.fingerprints.1,
        "base_program_runs": row.runs.0,
        "new_program_runs": row.runs.1,
        "steady": row.of == Of::Behind,
        "of": match row.of {
            Of::Behind => "runs-behind-the-first",
            Of::First => "first-run",
            Of::Cut => "cut-off",
        },
        "kind": kind(&row.kind),
        "change_ns": row.change_ns,
        "judged": row.judged.as_ref().map(twice),
        "kernels": row.kernels.iter().map(kernel).collect::<Vec<_>>(),
    })
}

fn kernel(row: &KernelRow) -> Value {
    json!({
        "kernel_id": row.id.map(|id| id.to_string()),
        "label": row.label,
        "kind": kind(&row.kind),
        "renamed_from": match &row.kind {
            Kind::Renamed(old) => Some(old),
            _ => None,
        },
        "base_calls": row.calls.0,
        "new_calls": row.calls.1,
        "base_ns": row.time_ns.0,
        "new_ns": row.time_ns.1,
        "change_ns": row.change_ns(),
        "called_more_ns": row.called_more_ns,
        "each_slower_ns": row.each_slower_ns,
        "judged": row.judged.as_ref().map(twice),
    })
}
