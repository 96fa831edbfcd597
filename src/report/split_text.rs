//! The split in the text report.

use std::fmt::Write as _;

use crate::core::amount::{mib, signed_mib};
use crate::core::duration::show;
use crate::core::parse::llama::Place;
use crate::core::split::{Row, Split, What};
use crate::core::text::count;
use crate::report::view::{columns, percent};

const UNKNOWN: &str = "unknown";

/// Everything that the split says. `start_ns`: what times are counted from.
pub fn split(split: &Split, start_ns: u64) -> String {
    let mut out = String::from("\nGTT SPLIT: what of the process's GPU memory is what\n");
    table(&mut out, split);
    reasons(&mut out, split, start_ns);
    hosts(&mut out, split);
    phases(&mut out, split);
    second(&mut out, split);
    for finding in &split.findings {
        let word = if finding.fails { "WARNING" } else { "FINDING" };
        let _ = writeln!(out, "  {word}: {}", finding.text);
    }
    reading(&mut out);
    out
}

fn shown(bytes: Option<u64>) -> String {
    bytes.map_or(UNKNOWN.to_owned(), mib)
}

/// Four cells: peak, its share of the process's peak, steady, final.
fn cells(split: &Split, figures: [Option<u64>; 3]) -> Vec<String> {
    let [peak, steady, last] = figures;
    let share = match (peak, split.peak.process) {
        (Some(part), Some(whole)) => percent(part, whole),
        _ => "–".to_owned(),
    };
    vec![shown(peak), share, shown(steady), shown(last)]
}

fn table(out: &mut String, split: &Split) {
    let mut rows = Vec::new();
    let mut line = |mut cells: Vec<String>, what: String| {
        cells.push(what);
        rows.push(cells);
    };
    let process = [split.peak.process, split.steady.process, split.last.process];
    line(cells(split, process), "process".to_owned());
    line(group(split, &[What::Model]), "loader's model buffer".to_owned());
    parts(split, &[What::Model], &mut line);
    if let Some(row) = split.packed() {
        let weights = row.count.map_or(String::new(), |n| format!(" ({})", count(n, "weight")));
        line(cells(split, [row.bytes, row.steady_bytes, row.final_bytes]), format!("packed copies{weights}"));
    }
    for (kinds, what) in [
        (&[What::Kv, What::Rs][..], "KV + recurrent state"),
        (&[What::Compute, What::Output], "compute + output"),
        (&[What::Lora], "LoRA adapters"),
        (&[What::Clip], "projector"),
    ] {
        let some = split.rows.iter().any(|row| row.place == Place::Device && kinds.contains(&row.what));
        if some || !matches!(kinds[0], What::Lora | What::Clip) {
            line(group(split, kinds), what.to_owned());
            parts(split, kinds, &mut line);
        }
    }
    let rest = [split.peak, split.steady, split.last].map(|column| column.unattributed);
    line(rest_cells(split, rest), "not attributed".to_owned());
    out.push_str(&columns(&["peak MiB", "%", "steady MiB", "final MiB", ""], &rows, 4));
}

/// A row of the table: the device rows of these kinds together.
fn group(split: &Split, kinds: &[What]) -> Vec<String> {
    let rows = || split.rows.iter().filter(|row| row.place == Place::Device && kinds.contains(&row.what));
    let sum = |bytes: fn(&Row) -> Option<u64>| {
        // No row of a kind is 0 where other rows are known, and not known where none is.
        let told = split.loaded && split.rows.iter().any(|row| bytes(row).is_some());
        rows().map(bytes).try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?))).filter(|_| told)
    };
    cells(split, [sum(|row| row.bytes), sum(|row| row.steady_bytes), sum(|row| row.final_bytes)])
}

/// The buffer types of a group, where there is more than one.
fn parts(split: &Split, kinds: &[What], line: &mut impl FnMut(Vec<String>, String)) {
    let rows = || split.rows.iter().filter(|row| row.place == Place::Device && kinds.contains(&row.what));
    if rows().count() < 2 {
        return;
    }
    for row in rows() {
        let name = row.buffer.as_deref().unwrap_or_default();
        let what = format!("  {} {name}", row.what.name());
        line(cells(split, [row.bytes, row.steady_bytes, row.final_bytes]), what);
    }
}

fn rest_cells(split: &Split, rest: [Option<i64>; 3]) -> Vec<String> {
    let [peak, steady, last] = rest;
    let shown = |bytes: Option<i64>| bytes.map_or(UNKNOWN.to_owned(), signed_mib);
    let share = match (peak, split.peak.process) {
        (Some(part), Some(whole)) => {
            let sign = if part < 0 { "-" } else { "" };
            format!("{sign}{}", percent(part.unsigned_abs(), whole))
        }
        _ => "–".to_owned(),
    };
    vec![shown(peak), share, shown(steady), shown(last)]
}

/// The duplicate line, how the columns came to be, and why what is unknown is.
fn reasons(out: &mut String, split: &Split, start_ns: u64) {
    copies(out, split);
    columns_are(out, split, start_ns);
    unknowns(out, split);
}

/// How often the weights are there.
fn copies(out: &mut String, split: &Split) {
    let packed = split.packed().and_then(|row| row.bytes);
    let model = split.device(|row| row.what == What::Model);
    let _ = match packed {
        Some(packed) if model > 0 => {
            writeln!(
                out,
                "  duplicate: packed copies are {} % of the loader's model buffer",
                percent(packed, model)
            )
        }
        _ => writeln!(out, "  duplicate: unknown"),
    };
    if let Some(file) = split.file_bytes {
        let all = split.rows.iter().filter(|row| row.what == What::Model).filter_map(|row| row.bytes);
        let all = all.fold(0, u64::saturating_add);
        let _ = writeln!(
            out,
            "  weights: {} MiB in model buffers, hosts' with them, of a file of {} MiB (weights once: about the same)",
            mib(all),
            mib(file)
        );
    }
}

/// When the columns are, or why that is not known.
fn columns_are(out: &mut String, split: &Split, start_ns: u64) {
    if let Some(ns) = split.peak.at_ns {
        let last = split.last.at_ns.unwrap_or(ns);
        let at = |ns: u64| show(ns.saturating_sub(start_ns));
        let (peak, last) = (at(ns), at(last));
        let steady = split
            .steady
            .at_ns
            .map_or(String::new(), |ns| format!("; steady is the median, as at {}", at(ns)));
        let _ = writeln!(
            out,
            "  the peak is the largest sample, at {peak}{steady}; the final one is at {last}; rows are held at those times"
        );
    } else {
        let _ = writeln!(
            out,
            "  the process's peak is not known: the peak column is the most that the log holds at once"
        );
    }
    if split.loaded && split.rows.iter().all(|row| row.final_bytes.is_none()) {
        let why = match split.last.process {
            Some(_) => "what a tear-down frees is not in the log",
            None => "no sample says when that is",
        };
        let _ = writeln!(out, "  the final rows are unknown: {why}");
    }
}

/// Why what is unknown is.
fn unknowns(out: &mut String, split: &Split) {
    if let Some(why) = &split.process_why {
        let _ = writeln!(out, "  process unknown: {why}");
    }
    if let Some(why) = split.packed().and_then(|row| row.why.as_ref()) {
        let _ = writeln!(out, "  packed copies unknown: {why}");
    }
    for (bound, what) in [
        (split.bounds.first_decode, "GTT behind the first decode less GTT before it"),
        (split.bounds.steady_rest, "steady GTT less the known rows"),
    ] {
        if let Some(bytes) = bound {
            let _ = writeln!(
                out,
                "    the samples bound them by {} MiB: {what}, which holds other memory too",
                signed_mib(bytes)
            );
        }
    }
    if let Some(why) = split.unattributed_why.as_ref().filter(|why| Some(*why) != split.process_why.as_ref())
    {
        let _ = writeln!(out, "  not attributed unknown: {why}");
    }
    for row in split.rows.iter().filter(|row| row.what == What::Other) {
        let name = row.buffer.as_deref().unwrap_or_default();
        let _ = writeln!(out, "  {name}: {}", row.why.as_deref().unwrap_or(UNKNOWN));
    }
}

/// What lies on the host is in no sum.
fn hosts(out: &mut String, split: &Split) {
    let rows: Vec<&Row> = split.rows.iter().filter(|row| row.place == Place::Host).collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n  on the host, in no sum above (CPU… and …_HOST buffer types):");
    let cells = |row: &&Row| {
        let figures = [row.bytes, row.steady_bytes, row.final_bytes].map(shown);
        let name = format!("{} {}", row.what.name(), row.buffer.as_deref().unwrap_or_default());
        figures.into_iter().chain([name]).collect::<Vec<_>>()
    };
    let lines: Vec<Vec<String>> = rows.iter().map(cells).collect();
    out.push_str(&columns(&["peak MiB", "steady MiB", "final MiB", ""], &lines, 3));
    if let Some(why) = rows.iter().find_map(|row| row.why.as_ref()) {
        let _ = writeln!(out, "  …_HOST: {why}");
    }
}

fn phases(out: &mut String, split: &Split) {
    if split.phases.is_empty() {
        return;
    }
    let cells = |row: &crate::core::split::phases::Row| {
        let time = row.total_ns.map_or("to the end".to_owned(), show);
        let [samples, times] = [row.samples, row.times].map(|n| n.to_string());
        vec![shown(row.peak), shown(row.median), samples, times, time, row.phase.name().to_owned()]
    };
    let lines: Vec<Vec<String>> = split.phases.iter().map(cells).collect();
    let _ = writeln!(out, "\n  GTT by phase, from the log's marks:");
    out.push_str(&columns(&["peak MiB", "median MiB", "samples", "times", "time", "phase"], &lines, 5));
}

/// llama.cpp's own table beside its lines.
fn second(out: &mut String, split: &Split) {
    if split.second.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n  the second source, llama.cpp's own table (whole MiB, one context) beside its buffer lines:"
    );
    let mut lines = Vec::new();
    for row in &split.second {
        for (cell, pair) in row.cells() {
            let agree = if pair.agree { "agree" } else { "DIFFER" };
            let what = format!("{} {cell}", row.name);
            lines.push(vec![mib(pair.lines), pair.table_mib.to_string(), agree.to_owned(), what]);
        }
    }
    out.push_str(&columns(&["lines MiB", "table MiB", "", "what"], &lines, 2));
}

fn reading(out: &mut String) {
    out.push_str(
        "
  How to read it: weights once means a model buffer of about the file's tensor bytes. Packed copies are HRX's second,
  re-laid copy of some weights; they come with the first decode and stay: peak beside steady beside final is what tells
  'resident twice' from 'briefly twice'. 10-20 % not attributed were seen on recorded runs: arenas, staging (at most 64 MiB),
  kernels, the runtime's base. A buffer that two clients share counts in both, so the process's figure is an upper bound.
",
    );
}
