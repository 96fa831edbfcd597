//! The profile in the text report.

mod coverage;

use std::fmt::Write as _;

use crate::core::histogram::ERROR_PERCENT;
use crate::core::names::Catalogue;
use crate::core::parse::serial::HOST_PHASES;
use crate::core::profile::program::Program;
use crate::core::profile::{Open, Profile};
use crate::core::tally::Tally;
use crate::core::text::count;
use crate::report::kernels::{Row, rows, runs};
use crate::report::view::{View, columns, fixed, percent};

/// Everything that the profile says. `end_ns`: up to when open dispatches were open.
pub fn profile(profile: &Profile, tally: &Tally, names: &Catalogue, view: View, end_ns: u64) -> String {
    let mut out = String::new();
    let programs = profile.programs();
    if programs.is_empty() && profile.open().is_empty() {
        return empty(profile, tally);
    }
    summary(&mut out, profile, &programs);
    for program in &programs {
        table(&mut out, program, profile, names, view);
        account(&mut out, program);
    }
    open(&mut out, profile, names, end_ns);
    coverage::coverage(&mut out, profile, tally, names);
    reading(&mut out, profile);
    out
}

/// No dispatch: which of the three cases, and what to check next.
pub fn empty(profile: &Profile, tally: &Tally) -> String {
    let c = &profile.coverage;
    let why = if tally.lines == 0 {
        "the target printed no line on stderr. Did it run at all, and is its stderr where we read it? A server in \
         router mode, or one with --log-jsonl, prints on stdout"
            .to_owned()
    } else if tally.trace_lines == 0 && tally.broken == 0 {
        format!(
            "{} read, and none of the serial trace. Is it a build with the HRX backend, did it reach the device (-ngl), \
             and is this the stderr of that run? The switch is GGML_HRX_DEBUG_SERIAL_EXECUTION=1; -p sets it",
            count(tally.lines, "line")
        )
    } else {
        let filtered = if tally.broken > tally.trace_lines {
            format!(
                "; {} of it were torn by another writer's text: --stamp source keeps each process's lines whole",
                count(tally.broken, "line")
            )
        } else if c.untimed > 0 {
            format!(
                "; {} stand behind other text in their line (a prefix that something put there?), so the line's time is \
                 not theirs and they are not used",
                count(c.untimed, "event")
            )
        } else if c.untraced_waits > 0 {
            format!(
                "; {} without a detail came from commands outside the traced range",
                count(c.untraced_waits, "wait")
            )
        } else {
            String::new()
        };
        format!(
            "{} of the serial trace, and not one dispatch{filtered}. Recorded graphs that are replayed print none, and \
             --programs or --commands may have left out all of them",
            count(tally.trace_lines, "line")
        )
    };
    format!("NO DISPATCH WAS TRACED: {why}.\n")
}

fn summary(out: &mut String, profile: &Profile, programs: &[&Program]) {
    let _ = writeln!(out, "\nWHERE THE TIME IS: {}", count(programs.len() as u64, "program"));
    let frequent = programs.iter().max_by_key(|p| (p.begun, p.total()));
    let longest = programs.iter().max_by_key(|p| (p.commands, p.total()));
    if let (Some(frequent), Some(longest)) = (frequent, longest) {
        let _ = writeln!(out, "  most frequent: {}, {}", title(frequent), runs(frequent));
        let _ = writeln!(out, "  longest: {}", title(longest));
    }
    let waits = count(profile.floor.count(), "wait");
    let _ = match profile.floor_ns() {
        Some(ns) => writeln!(
            out,
            "  floor: {} µs, the median of {waits} for an idle device; the instrument itself adds that to every kernel",
            fixed(ns, 1_000, 2)
        ),
        None if profile.floor.count() == 0 => {
            writeln!(out, "  floor: unknown: no wait for an idle device before a dispatch is in the trace")
        }
        None => writeln!(
            out,
            "  floor: unknown, since most of {waits} for an idle device began and ended in one read"
        ),
    };
}

fn title(program: &Program) -> String {
    format!(
        "{} list of {} [{}]",
        program.list.name(),
        count(program.commands, "command"),
        program.fingerprint()
    )
}

fn table(out: &mut String, program: &Program, profile: &Profile, names: &Catalogue, view: View) {
    let total = program.total();
    let _ = writeln!(
        out,
        "\nPROGRAM {}: {}, {}, {} ms on the device",
        title(program),
        runs(program),
        count(program.dispatches, "dispatch"),
        fixed(total, 1_000_000, 3)
    );
    let steady = match program.steady.mean() {
        Some(mean) => format!(
            "mean of the {} behind it {} ms",
            count(program.steady.count(), "whole run"),
            fixed(mean.round() as u64, 1_000_000, 3)
        ),
        None => "no whole run behind it".to_owned(),
    };
    let cut = if program.first_run_is_cut() { " (not whole)" } else { "" };
    let first = format!("{}{cut}", fixed(program.first_run_ns, 1_000_000, 3));
    let _ = writeln!(out, "  first run (kernels are made on first use) {first} ms; {steady}");
    let all = rows(program, profile, names, view);
    let unit = view.unit.sign();
    let head: Vec<String> = ["total ms", "share %", "count"]
        .into_iter()
        .map(str::to_owned)
        .chain(["mean", "median", "p95", "min", "max", "launch"].map(|name| format!("{name} {unit}")))
        .chain(["".to_owned(), "kernel".to_owned()])
        .collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut cells: Vec<Vec<String>> = all.iter().take(view.top).map(|row| cells(row, total, view)).collect();
    if let Some(rest) = rest(&all, total, view) {
        cells.push(rest);
    }
    out.push_str(&columns(&head, &cells, 9));
}

fn cells(row: &Row, total: u64, view: View) -> Vec<String> {
    let times = [row.mean, row.median, row.p95, row.least, row.most, row.launch].map(|ns| view.unit.show(ns));
    let mark = if row.near_floor { "~floor" } else { "" };
    let source = row.source.as_ref().map_or(String::new(), |s| format!(" ({s})"));
    let wrong = row.bindings.map_or(String::new(), |(line, known)| {
        format!(" [bindings {line}, the manifest says {known}: stale or wrong manifest?]")
    });
    let first = [fixed(row.total, 1_000_000, 3), percent(row.total, total), row.count.to_string()];
    let name = format!("{}{source}{wrong}", row.label());
    first.into_iter().chain(times).chain([mark.to_owned(), name]).collect()
}

/// The rows that are not shown, so that shares end at 100 %.
fn rest(all: &[Row], total: u64, view: View) -> Option<Vec<String>> {
    let left = all.get(view.top..).filter(|left| !left.is_empty())?;
    let time: u64 = left.iter().map(|r| r.total).sum();
    let n: u64 = left.iter().map(|r| r.count).sum();
    let mut cells = vec![fixed(time, 1_000_000, 3), percent(time, total), n.to_string()];
    cells.extend(std::iter::repeat_n(String::new(), 7));
    cells.push(format!("rest: {}", count(left.len() as u64, "kernel")));
    Some(cells)
}

/// Where a program's time by the clock went.
fn account(out: &mut String, program: &Program) {
    if program.walls == 0 {
        let _ = writeln!(out, "  wall time: unknown, no run of it was seen from its begin to its end line");
        return;
    }
    let known = program.in_walls;
    let wall = program.wall_ns;
    let staging: u64 = known.host.iter().sum();
    let left = wall.saturating_sub(known.sum());
    let _ =
        writeln!(out, "  wall time of {}: {} ms =", count(program.walls, "run"), fixed(wall, 1_000_000, 3));
    let mut rows = Vec::new();
    let parts = [
        ("kernels", known.device),
        ("launches", known.launch),
        ("waits before dispatches (the instrument)", known.wait),
        ("host between dispatches", known.between),
        ("other lists of it", known.init),
        ("host phases", staging),
        ("unattributed (list and program overhead, trace lines)", left),
    ];
    for (name, ns) in parts {
        rows.push(vec![fixed(ns, 1_000_000, 3), percent(ns, wall), name.to_owned()]);
        if name == "host phases" {
            let each = HOST_PHASES.iter().zip(known.host).filter(|(_, ns)| *ns > 0);
            rows.extend(
                each.map(|(name, ns)| vec![fixed(ns, 1_000_000, 3), percent(ns, wall), format!("  {name}")]),
            );
        }
    }
    out.push_str(&columns(&["ms", "%", "part"], &rows, 2));
    if known.sum() > wall {
        let _ = writeln!(
            out,
            "  FINDING: the parts are more than the wall: lines of two contexts, or a damaged trace"
        );
    }
}

fn open(out: &mut String, profile: &Profile, names: &Catalogue, end_ns: u64) {
    let all = profile.open();
    if all.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\nOPEN: {} begun and not finished, in no total",
        count(profile.open_count(), "dispatch")
    );
    for open in all.iter().take(20) {
        let of = Some(open.key.process).filter(|_| profile.coverage.processes > 1);
        let process = of.map_or(String::new(), |pid| format!("process {pid}: "));
        let _ = writeln!(out, "  {process}{}", describe(open, names, end_ns));
    }
    let more = profile.open_count().saturating_sub(20);
    if more > 0 {
        let _ = writeln!(out, "  and {more} more");
    }
}

fn describe(open: &Open, names: &Catalogue, end_ns: u64) -> String {
    let label = |id: Option<u64>| match id.and_then(|id| names.get(id).map(|n| (id, n))) {
        Some((_, name)) => crate::core::text::printable(format!("{}:{}", name.family, name.name).as_bytes()),
        None => id.map_or("no kernel named".to_owned(), |id| format!("unmapped id {id}")),
    };
    let until = open.until.unwrap_or(end_ns);
    let neighbour = open.neighbour.map_or("none".to_owned(), |id| label(Some(id)));
    format!(
        "{}, {} list, index {} of {}: {} for {} ms; completed last before it: {neighbour}",
        label(open.kernel_id),
        open.key.list.name(),
        open.key.index,
        open.key.commands,
        open.state.name(),
        fixed(until.saturating_sub(open.since), 1_000_000, 3)
    )
}

fn reading(out: &mut String, profile: &Profile) {
    let share = profile
        .floor_ns()
        .map_or("an unknown part".to_owned(), |floor| format!("{} %", percent(floor, 20_000 + floor)));
    let _ = writeln!(
        out,
        "\nHOW TO READ IT
  The numbers rank kernels. They are no rate and no latency: the serial mode waits for the device after every dispatch.
  Compare shares inside one program only: the mode slows decode (many short dispatches) far more than prefill.
  A kernel's time runs from the end of its launch to the device's idleness, so it has the floor in it: of a kernel that
  takes 20 µs it is {share} of what is measured here. '~floor' marks kernels with a mean under twice the floor: they are
  not told apart from the instrument.
  Usual decode: matrix-vector products (mul_mat_vec, routed experts) 60-85 %, attention 5-20 % and growing with context,
  norms, rope and copies below 15 % together. Usual prefill: matrix-matrix products (wmma) above 80 %. Elsewhere? Look at
  kernels that are called more often than there are layers, at copies, and at names that should be wmma and are not.
  Medians and p95 come from logarithmic buckets: within {ERROR_PERCENT} %. Sums, counts, means, min and max are exact."
    );
}
