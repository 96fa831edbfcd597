//! The memory in the JSON report: everything that is known, unknown = null.

use serde_json::{Value, json};

use crate::core::memory::seen::{Client, Device, Seen};
use crate::core::memory::sums::Figures;
use crate::report::Subject;

/// `memory`: null when it was not sampled, or when nothing of it is left.
pub fn memory(subject: &Subject<'_>) -> Value {
    let Some(sums) = subject.sums() else { return Value::Null };
    let (sampling, seen) = (subject.run.sampling.as_ref(), subject.seen());
    let of_seen = |value: fn(&Seen) -> Value| seen.map(value);
    json!({
        "key": seen.and_then(|s| s.key.as_ref()),
        "driver": sampling.map(|s| &s.driver),
        "interval_ns": sampling.map(|s| s.interval_ns),
        "proc": sampling.and_then(|s| s.proc.as_ref()),
        "sys": sampling.and_then(|s| s.sys.as_ref()),
        "samples": sums.samples,
        "samples_by_state": sums.states,
        "longest_gap_ns": sums.longest_gap_ns,
        "peak": sums.peak.as_ref().map(figures),
        "steady": sums.steady.as_ref().map(figures),
        "steady_between_ns": sums.steady_between_ns,
        "final": sums.last.as_ref().map(figures),
        "clients": of_seen(|s| s.clients.iter().map(client).collect()),
        "clients_left_out": of_seen(|s| json!(s.clients_left_out)),
        "devices": of_seen(|s| s.devices.iter().map(device).collect()),
        "other_drivers": of_seen(|s| json!(s.other_drivers)),
        "denied_pids": of_seen(|s| json!(s.denied)),
        "processes": of_seen(|s| json!(s.processes)),
        "processes_left_out": of_seen(|s| json!(s.processes_left_out)),
        "failed_reads": of_seen(|s| json!(s.failed_reads)),
        "underflows": of_seen(|s| json!(s.underflows)),
        "unknown_units": of_seen(|s| json!(s.unknown_units)),
        "pss_peak_bytes": seen.and_then(|s| s.pss_peak_bytes),
        "pss_final_bytes": seen.and_then(|s| s.pss_final_bytes),
        "notes": subject.source.samples,
        "lost_rows": of_seen(|s| json!(s.lost_rows)),
    })
}

fn figures(f: &Figures) -> Value {
    json!({
        "gtt_bytes": f.gtt_bytes,
        "gtt_total_bytes": f.gtt_total_bytes,
        "vram_bytes": f.vram_bytes,
        "rss_bytes": f.rss_bytes,
        "device_gtt_used_bytes": f.device_gtt_used_bytes,
        "at_ns": f.at_ns,
        "rss_at_ns": f.rss_at_ns,
        "lower_bound": f.lower_bound,
    })
}

/// One client.
pub fn client(c: &Client) -> Value {
    json!({
        "driver": c.driver,
        "pdev": c.pdev,
        "node": c.node,
        "client_id": c.client_id,
        "pasid": c.pasid,
        "pids": c.pids,
        "first_ns": c.first_ns,
        "last_ns": c.last_ns,
        "gtt_peak_bytes": c.gtt_peak_bytes,
        "gtt_peak_at_ns": c.gtt_peak_at_ns,
        "vram_peak_bytes": c.vram_peak_bytes,
        "gtt_bytes": c.gtt_bytes,
        "gtt_total_bytes": c.gtt_total_bytes,
        "gtt_shared_bytes": c.gtt_shared_bytes,
        "vram_bytes": c.vram_bytes,
        "vram_total_bytes": c.vram_total_bytes,
        "vram_shared_bytes": c.vram_shared_bytes,
        "cpu_bytes": c.cpu_bytes,
        "key": c.key,
    })
}

/// One device.
pub fn device(d: &Device) -> Value {
    json!({
        "driver": d.driver,
        "pdev": d.pdev,
        "gtt_used_bytes": d.gtt_used_bytes,
        "gtt_total_bytes": d.gtt_total_bytes,
        "vram_total_bytes": d.vram_total_bytes,
    })
}
