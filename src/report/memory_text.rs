//! The memory in the text report: peak, steady and final side by side, and what has to be known to read them.

use crate::core::duration::show;
use crate::core::memory::seen::{Client, Sampling, Seen};
use crate::core::memory::sums::{Figures, Sums};
use crate::core::text::{count, printable};
use crate::report::Subject;
use crate::report::view::{columns, fixed};

/// Width of the column of names.
const NAMES: usize = 13;

/// Bytes as MiB with one digit.
pub fn mib(bytes: u64) -> String {
    fixed(bytes, 1 << 20, 1)
}

/// The whole section; empty for a run that was not sampled.
pub fn memory(subject: &Subject<'_>) -> String {
    let sampled = subject.run.sampling.is_some();
    let Some(sums) = subject.sums() else {
        return match (sampled, &subject.run.end) {
            (false, _) => String::new(),
            (true, Some(_)) => {
                "\nMEMORY: unknown, the samples were lost with the process that took them\n".into()
            }
            (true, None) => {
                "\nMEMORY: unknown, the samples are in gtt.tsv: give the run's folder, or --samples\n".into()
            }
        };
    };
    let driver = subject.run.sampling.as_ref().map(|s| s.driver.as_str());
    let mut out = format!("\nMEMORY: {}\n", head(&sums, driver, subject));
    out.push_str(&table(&sums, subject));
    let seen = subject.seen().filter(|seen| !seen.lost);
    if let Some(seen) = seen {
        clients(&mut out, seen, subject);
    }
    for note in notes(&sums, seen, subject) {
        out.push_str(&format!("  {}\n", printable(note.as_bytes())));
    }
    out
}

/// What a driver's clients are called.
pub fn clients_of(driver: &str) -> String {
    if driver == "any" { "DRM client".to_owned() } else { format!("{} client", printable(driver.as_bytes())) }
}

fn head(sums: &Sums, driver: Option<&str>, subject: &Subject<'_>) -> String {
    let every = match &subject.run.sampling {
        Some(sampling) => format!(", one every {}", show(sampling.interval_ns)),
        None => String::new(),
    };
    let gap = sums.longest_gap_ns.map_or_else(String::new, |ns| format!(", longest gap {}", show(ns)));
    let samples = format!("{}{every}{gap}", count(sums.samples, "sample"));
    let known = sums.peak.is_some_and(|f| f.gtt_bytes.is_some());
    let clients = clients_of(driver.unwrap_or("any"));
    // The states of the samples tell a client that says nothing from no client at all.
    let silent = ["unsupported", "partial"].iter().any(|state| sums.states.contains_key(*state));
    match () {
        () if known => samples,
        () if silent => {
            format!("{clients}s were seen, and the kernel prints no memory of theirs ({samples})")
        }
        () if sums.states.contains_key("denied") => {
            format!("no {clients} was seen in what may be read ({samples})")
        }
        () => format!("no {clients} was seen ({samples})"),
    }
}

/// One row: a name, a column's figure, and a word behind it.
type Row = (&'static str, fn(&Figures) -> Option<u64>, String);

fn table(sums: &Sums, subject: &Subject<'_>) -> String {
    let all = [&sums.peak, &sums.steady, &sums.last];
    let key = subject.seen().and_then(|s| s.key.as_deref());
    let resident = match key {
        Some("resident") => "resident (drm-resident-*)".to_owned(),
        Some("memory") => "resident (drm-memory-*, the older name)".to_owned(),
        Some("legacy") => "resident ('gtt mem', of Linux 5.14 to 5.18)".to_owned(),
        Some("total") => "allocated (drm-total-*): what is resident is not printed".to_owned(),
        Some(several) => format!("from several keys: {several}"),
        None => String::new(),
    };
    let rows: [Row; 5] = [
        ("GTT", |f| f.gtt_bytes, resident),
        ("GTT allocated", |f| f.gtt_total_bytes, "where it is preferred to be (drm-total-*)".into()),
        ("VRAM", |f| f.vram_bytes, String::new()),
        ("RSS", |f| f.rss_bytes, "resident memory of the processes".into()),
        ("device GTT", |f| f.device_gtt_used_bytes, "in use by everybody (mem_info_gtt_used)".into()),
    ];
    let mut cells = Vec::new();
    for (name, of, words) in rows {
        if all.iter().all(|f| f.as_ref().and_then(of).is_none()) {
            continue;
        }
        let mut row = vec![format!("{name:<NAMES$}")];
        row.extend(all.iter().map(|f| figure(f.as_ref(), of, name == "GTT")));
        row.push(printable(words.as_bytes()));
        cells.push(row);
    }
    if cells.is_empty() {
        return String::new();
    }
    let start = subject.run.clock.start_ns;
    let mut times = vec![format!("{:<NAMES$}", "at")];
    let at = |f: &Option<Figures>| f.and_then(|f| f.at_ns).map(|ns| show(ns.saturating_sub(start)));
    times.extend(all.iter().map(|f| at(f).unwrap_or_else(|| "unknown".to_owned())));
    times.push(String::new());
    cells.push(times);
    columns(&[&format!("{:<NAMES$}", "MiB"), "peak", "steady", "final", ""], &cells, 4)
}

fn figure(figures: Option<&Figures>, of: fn(&Figures) -> Option<u64>, bound: bool) -> String {
    match figures.and_then(|f| Some((of(f)?, f.lower_bound))) {
        Some((bytes, true)) if bound => format!("≥ {}", mib(bytes)),
        Some((bytes, _)) => mib(bytes),
        None => "unknown".to_owned(),
    }
}

/// Who a client is.
pub fn name(client: &Client) -> String {
    let device = client.pdev.as_ref().or(client.node.as_ref()).map_or("on an unknown device", String::as_str);
    let id = match (&client.client_id, &client.pasid) {
        (Some(id), _) => format!("client {id}"),
        (None, Some(pasid)) => format!("pasid {pasid}"),
        (None, None) => "without a number".to_owned(),
    };
    format!("{} {device} {id}", client.driver)
}

/// So many clients are listed; JSON has all.
const LISTED: usize = 8;

fn clients(out: &mut String, seen: &Seen, subject: &Subject<'_>) {
    let start = subject.run.clock.start_ns;
    let mut largest: Vec<&Client> = seen.clients.iter().collect();
    largest.sort_by_key(|c| std::cmp::Reverse(c.gtt_peak_bytes));
    for client in largest.iter().take(LISTED) {
        let peak = match (client.gtt_peak_bytes, client.gtt_peak_at_ns) {
            (Some(bytes), Some(at)) => {
                format!("GTT peak {} MiB at {}", mib(bytes), show(at.saturating_sub(start)))
            }
            _ => "GTT unknown".to_owned(),
        };
        let pids: Vec<String> = client.pids.iter().map(ToString::to_string).collect();
        let line = format!("{}: {peak}, held by pid {}", name(client), pids.join(", "));
        out.push_str(&format!("  {}\n", printable(line.as_bytes())));
    }
    let more = seen.clients.len().saturating_sub(LISTED) as u64 + seen.clients_left_out;
    if more > 0 {
        out.push_str(&format!("  {} with less\n", count(more, "more client")));
    }
}

/// What has to be known to read the figures.
fn notes(sums: &Sums, seen: Option<&Seen>, subject: &Subject<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(subject.run.sampling.as_ref().and_then(Sampling::elsewhere));
    notes.extend(steady(sums, subject.run.clock.start_ns));
    if let Some(sampling) = subject.run.sampling.as_ref().filter(|_| sums.peak.is_some()) {
        notes.push(format!(
            "the peak is the highest sample: what lasts less than {} can be missed",
            show(sampling.interval_ns)
        ));
    }
    for (state, what) in [
        ("partial", "a client did not say what it has for the moment; they lower no figure"),
        ("denied", "a process may not be read; what it has is missing"),
        ("unsupported", "the driver prints no memory"),
    ] {
        if let Some(n) = sums.states.get(state) {
            notes.push(format!("{} of {}: {what}", n, count(sums.samples, "sample")));
        }
    }
    if let Some(seen) = seen {
        seen_notes(&mut notes, seen);
    } else if subject.run.sampling.is_some() {
        notes.push(match subject.source.running {
            true => "clients and keys are known when the run has ended".into(),
            false => "clients and keys are unknown: only the table of samples is left".into(),
        });
    }
    notes.extend(subject.source.samples.iter().cloned());
    notes
}

/// Over which time the median is.
fn steady(sums: &Sums, start: u64) -> Option<String> {
    let at = |ns: u64| show(ns.saturating_sub(start));
    match sums.steady_between_ns {
        None => sums.steady.map(|_| {
            "steady is the median over all samples: when load ended and tear-down began is not known"
                .to_owned()
        }),
        Some((from, until)) => {
            Some(format!("steady is the median from the end of load at {} to {}", at(from), at(until)))
        }
    }
}

fn seen_notes(notes: &mut Vec<String>, seen: &Seen) {
    let shared: u64 = seen.clients.iter().filter_map(|c| c.gtt_shared_bytes).fold(0, u64::saturating_add);
    if shared > 0 {
        notes.push(format!(
            "at most {} MiB of GTT are counted more than once: buffers that clients share",
            mib(shared)
        ));
    }
    if let (Some(peak), Some(last)) = (seen.pss_peak_bytes, seen.pss_final_bytes) {
        notes.push(format!("PSS, once a second at most: peak {} MiB, final {} MiB", mib(peak), mib(last)));
    }
    if !seen.denied.is_empty() {
        let pids: Vec<String> = seen.denied.iter().map(ToString::to_string).collect();
        notes.push(format!(
            "WARNING: not permitted to read pid {}: the figures are incomplete; run as the user of that process",
            pids.join(", ")
        ));
    }
    if !seen.other_drivers.is_empty() {
        notes.push(format!(
            "clients of {} are not counted: --driver any counts them",
            seen.other_drivers.join(", ")
        ));
    }
    for (n, one, several) in missing(seen) {
        match n {
            0 => {}
            1 => notes.push(format!("1 {one}")),
            n => notes.push(format!("{n} {several}")),
        }
    }
}

/// What was not taken or not kept: how often, and the words for one and for several.
fn missing(seen: &Seen) -> [(u64, &'static str, &'static str); 5] {
    [
        (
            seen.processes_left_out,
            "process was not looked into: too many at once",
            "processes were not looked into: too many at once",
        ),
        (
            seen.underflows,
            "value was below 0 or above what the device has, and not taken",
            "values were below 0 or above what the device has, and not taken",
        ),
        (
            seen.unknown_units,
            "value had an unknown unit, and was not taken",
            "values had an unknown unit, and were not taken",
        ),
        (seen.failed_reads, "read failed", "reads failed"),
        (
            seen.lost_rows,
            "sample is missing in the table: the disk did not take it",
            "samples are missing in the table: the disk did not take them",
        ),
    ]
}

#[cfg(test)]
#[path = "memory_text_tests.rs"]
mod tests;
