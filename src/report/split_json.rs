//! The split in the JSON report. `null` = unknown, and `why` says why.

use serde_json::{Value, json};

use crate::core::parse::llama::Place;
use crate::core::split::second::{self, Pair};
use crate::core::split::{Column, Row, Split, phases};

/// `split`: the rows, the rest, and what the samples say by phase.
pub fn split(split: &Split) -> Value {
    json!({
        "rows": split.rows.iter().map(row).collect::<Vec<_>>(),
        "process": {
            "peak": column(&split.peak),
            "steady": column(&split.steady),
            "final": column(&split.last),
            "why": split.process_why,
        },
        "unattributed_bytes": split.peak.unattributed,
        "unattributed_share": split.unattributed_share,
        "unattributed_why": split.unattributed_why,
        "duplicate_share": split.duplicate_share,
        "file_bytes": split.file_bytes,
        "packed_bounds": {
            "first_decode_bytes": split.bounds.first_decode,
            "steady_rest_bytes": split.bounds.steady_rest,
        },
        "phases": split.phases.iter().map(phase).collect::<Vec<_>>(),
        "second_source": split.second.iter().map(second).collect::<Vec<_>>(),
        "findings": split.findings.iter().map(|f| json!({"fails": f.fails, "text": f.text})).collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Value {
    json!({
        "kind": row.what.name(),
        "buffer": row.buffer,
        "place": match row.place {
            Place::Device => "device",
            Place::Host => "host",
        },
        "bytes": row.bytes,
        "steady_bytes": row.steady_bytes,
        "final_bytes": row.final_bytes,
        "weights": row.count,
        "why": row.why,
    })
}

fn column(column: &Column) -> Value {
    json!({
        "at_ns": column.at_ns,
        "gtt_bytes": column.process,
        "attributed_bytes": column.rows,
        "unattributed_bytes": column.unattributed,
    })
}

fn phase(row: &phases::Row) -> Value {
    json!({
        "phase": row.phase.name(),
        "times": row.times,
        "from_ns": row.from_ns,
        "total_ns": row.total_ns,
        "samples": row.samples,
        "peak_gtt_bytes": row.peak,
        "median_gtt_bytes": row.median,
    })
}

fn second(row: &second::Row) -> Value {
    let pair = |p: Pair| json!({"lines_bytes": p.lines, "table_mib": p.table_mib, "agree": p.agree});
    json!({
        "name": row.name,
        "model": pair(row.model),
        "context": pair(row.context),
        "compute": pair(row.compute),
    })
}
