//! `hrx-wrap mem`: the GPU memory that a running process tree holds now, counted as in a run.

use std::io::{self, Write as _};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::cli::sampling::MemArgs;
use crate::cmd::run::look;
use crate::core::duration::show;
use crate::core::memory::sample::{Sample, State};
use crate::core::memory::seen::Seen;
use crate::core::run::SCHEMA;
use crate::core::text::count;
use crate::live::sampler::Options;
use crate::live::sampler::look::{Found, Look};
use crate::live::sampler::tree::Roots;
use crate::report::memory_json;
use crate::report::memory_text::{clients_of, mib, name};
use crate::sys::clock::monotonic_ns;

/// One look at the processes.
struct Now {
    sample: Sample,
    seen: Seen,
    found: Vec<Found>,
}

/// The command. Yields the exit status: 0 done, 1 no client of the driver is there.
///
/// # Errors
/// Usage or I/O, status 2: no such process, or it may not be read.
pub fn mem(args: &MemArgs) -> anyhow::Result<i32> {
    let options = Options { pss: false, ..look(&args.look, args.watch.unwrap_or(0))? };
    let mut eye = Look::new(&options, Roots { below: Vec::new(), from: args.pids.clone() })?;
    let since = monotonic_ns();
    let mut now = take(&mut eye);
    if now.found.is_empty() {
        let pids: Vec<String> = args.pids.iter().map(ToString::to_string).collect();
        bail!("no such process: pid {} (as {} numbers them)", pids.join(", "), args.look.proc.display());
    }
    if now.sample.clients == 0 && now.found.iter().all(|p| p.denied) {
        bail!(
            "not permitted to read pid {}: run as the user of that process, or as root",
            now.found.iter().map(|p| p.pid.to_string()).collect::<Vec<_>>().join(", ")
        );
    }
    let Some(interval) = args.watch else {
        let text = if args.json { pretty(&document(&now, args)) } else { page(&now, args) };
        put(&text)?;
        return Ok(status(&now, args));
    };
    let mut best = 1;
    let mut next = since;
    loop {
        best = best.min(status_of(&now.sample));
        let line = if args.json { format!("{}\n", document(&now, args)) } else { line(&now.sample, since) };
        if !put(&line)? || now.found.is_empty() {
            return Ok(best);
        }
        next = next.saturating_add(interval);
        std::thread::sleep(Duration::from_nanos(next.saturating_sub(monotonic_ns())));
        now = take(&mut eye);
    }
}

fn take(eye: &mut Look) -> Now {
    let sample = eye.sample(monotonic_ns(), false);
    Now { sample, seen: eye.seen(true), found: eye.found() }
}

fn status_of(sample: &Sample) -> i32 {
    i32::from(sample.clients == 0)
}

/// The status, and its reason on stderr.
fn status(now: &Now, args: &MemArgs) -> i32 {
    if now.sample.clients == 0 {
        let what = no_client(now, args);
        crate::cmd::complain(&format!("{what}: how much of the GPU's memory is held is unknown"));
    }
    status_of(&now.sample)
}

fn no_client(now: &Now, args: &MemArgs) -> String {
    let where_to = if now.found.len() == 1 { "process" } else { "processes" };
    let mut text = format!("no {} in {} {where_to}", clients_of(&args.look.driver), now.found.len());
    if !now.seen.other_drivers.is_empty() {
        text.push_str(&format!(" (but of {}: --driver any counts them)", now.seen.other_drivers.join(", ")));
    }
    text
}

/// False when nobody reads any more.
fn put(text: &str) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(e).context("standard output"),
    }
}

fn pretty(document: &Value) -> String {
    // A tree of strings and numbers always is JSON.
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

/// The words for a process.
fn word(found: &Found) -> &'static str {
    match found {
        Found { denied: true, .. } => "denied",
        Found { has_client: true, .. } => "ok",
        Found { .. } => "no-client",
    }
}

/// The processes: those that are there, and those that were asked for and are not.
fn processes(now: &Now, args: &MemArgs) -> Vec<(i32, &'static str)> {
    let mut all: Vec<(i32, &'static str)> = now.found.iter().map(|p| (p.pid, word(p))).collect();
    let gone = args.pids.iter().filter(|pid| now.found.iter().all(|p| p.pid != **pid));
    all.extend(gone.map(|pid| (*pid, "gone")));
    all.sort_unstable();
    all
}

fn document(now: &Now, args: &MemArgs) -> Value {
    let Sample { ns, gtt_bytes, gtt_total_bytes, vram_bytes, rss_bytes, .. } = now.sample;
    let processes: Vec<Value> =
        processes(now, args).into_iter().map(|(pid, state)| json!({"pid": pid, "state": state})).collect();
    json!({
        "schema": SCHEMA,
        "at_ns": ns,
        "driver": args.look.driver,
        "state": now.sample.state.word(),
        "key": now.seen.key,
        "gtt_bytes": gtt_bytes,
        "gtt_total_bytes": gtt_total_bytes,
        "vram_bytes": vram_bytes,
        "rss_bytes": rss_bytes,
        "device_gtt_used_bytes": now.sample.device_gtt_used_bytes,
        "clients": now.seen.clients.iter().map(memory_json::client).collect::<Vec<_>>(),
        "devices": now.seen.devices.iter().map(memory_json::device).collect::<Vec<_>>(),
        "processes": processes,
        "other_drivers": now.seen.other_drivers,
    })
}

fn amount(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "unknown".to_owned(), |bytes| format!("{} MiB", mib(bytes)))
}

/// The figures, the clients, the processes that there is something to say of.
fn page(now: &Now, args: &MemArgs) -> String {
    let sample = &now.sample;
    let bound = if matches!(sample.state, State::Partial | State::Denied) { "at least " } else { "" };
    let mut out = String::new();
    let mut fact = |name: &str, value: String| out.push_str(&format!("{name:<14}{value}\n"));
    if sample.clients == 0 {
        fact("clients", no_client(now, args));
    }
    let key = now.seen.key.as_ref().map_or_else(String::new, |key| format!(" ({key})"));
    let gtt_bound = if sample.gtt_bytes.is_some() { bound } else { "" };
    fact("GTT", format!("{gtt_bound}{}{key}", amount(sample.gtt_bytes)));
    fact("GTT allocated", amount(sample.gtt_total_bytes));
    fact("VRAM", amount(sample.vram_bytes));
    fact("RSS", amount(sample.rss_bytes));
    if sample.device_gtt_used_bytes.is_some() {
        fact("device GTT", format!("{} in use by everybody", amount(sample.device_gtt_used_bytes)));
    }
    for client in &now.seen.clients {
        let pids: Vec<String> = client.pids.iter().map(ToString::to_string).collect();
        let value = format!(
            "{}: GTT {}, VRAM {}, held by pid {}",
            name(client),
            amount(client.gtt_bytes),
            amount(client.vram_bytes),
            pids.join(", ")
        );
        fact("client", crate::core::text::printable(value.as_bytes()));
    }
    for (pid, state) in processes(now, args) {
        let words = match state {
            "denied" => "not permitted to read it: run as the user of that process, or as root",
            "gone" => "no such process",
            _ => continue,
        };
        fact("process", format!("{pid}: {words}"));
    }
    out
}

/// One look in a line.
fn line(sample: &Sample, since: u64) -> String {
    format!(
        "{:>10}  GTT {}  allocated {}  VRAM {}  RSS {}  {}, {}\n",
        show(sample.ns.saturating_sub(since)),
        amount(sample.gtt_bytes),
        amount(sample.gtt_total_bytes),
        amount(sample.vram_bytes),
        amount(sample.rss_bytes),
        count(sample.clients.into(), "client"),
        sample.state.word()
    )
}
