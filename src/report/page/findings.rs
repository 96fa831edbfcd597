//! What a reader should know first, in words with the number behind each.

use crate::core::duration::show;
use crate::core::memory::sums::Figures;
use crate::core::profile::Profile;
use crate::core::profile::program::Program;
use crate::core::text::count;
use crate::report::Subject;
use crate::report::kernels::{Row, rows, unmapped};
use crate::report::page::charts::mib;
use crate::report::view::{View, fixed, percent};

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// The numbers are wrong, or missing, or something went wrong.
    Bad,
    /// The numbers need care, or something is out of its usual range.
    Care,
    /// A fact.
    Fact,
    /// As it should be.
    Good,
}

impl Weight {
    /// Its class in the style sheet, and its word.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Weight::Bad => ("bad", "wrong"),
            Weight::Care => ("warn", "care"),
            Weight::Fact => ("fact", "fact"),
            Weight::Good => ("good", "good"),
        }
    }
}

/// One finding.
pub type Finding = (Weight, String);

/// All findings, the gravest first.
pub fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut all = Vec::new();
    ending(&mut all, subject);
    lost(&mut all, subject);
    match subject.book {
        Some(book) if !subject.no_dispatch() => {
            open(&mut all, subject, &book.profile);
            hottest(&mut all, subject, &book.profile);
            trust(&mut all, subject, &book.profile);
        }
        Some(_) if subject.run.profile || subject.run.tool.name.is_empty() => {
            all.push((
                Weight::Bad,
                "No dispatch was traced: the text report below says why that may be.".to_owned(),
            ));
        }
        Some(_) => all.push((
            Weight::Fact,
            "No profile: it was not asked for (-p), so there is nothing to say about kernels.".to_owned(),
        )),
        None => all.push((Weight::Bad, "The sums of the lines were lost, and no log was kept.".to_owned())),
    }
    sampled(&mut all, subject);
    split(&mut all, subject);
    all.sort_by_key(|(weight, _)| *weight);
    all
}

fn ending(all: &mut Vec<Finding>, subject: &Subject<'_>) {
    if let Some(why) = subject.partial() {
        all.push((Weight::Bad, format!("Not the whole story: {why}.")));
    }
    let Some(end) = &subject.run.end else { return };
    match (end.exit.code, subject.duration_ns()) {
        (Some(0), Some(ns)) if subject.partial().is_none() => {
            all.push((Weight::Good, format!("The target exited with 0 after {}.", show(ns))));
        }
        (Some(code), _) if code != 0 => all.push((Weight::Bad, format!("The target exited with {code}."))),
        _ => {}
    }
    for (list, what) in [(&end.unkillable, "could not be killed"), (&end.leftovers, "outlived the target")] {
        if !list.is_empty() {
            let names: Vec<String> = list.iter().map(|p| format!("{} ({})", p.pid, p.name)).collect();
            all.push((
                Weight::Care,
                format!("{} {what}: {}.", count(list.len() as u64, "process"), names.join(", ")),
            ));
        }
    }
}

/// What of the trace is missing.
fn lost(all: &mut Vec<Finding>, subject: &Subject<'_>) {
    if subject.source.torn {
        all.push((Weight::Care, "The trace is cut: it ends inside a line, which is not counted.".to_owned()));
    }
    let Some(c) = subject.counters() else { return };
    if c.log_lost_bytes > 0 {
        all.push((
            Weight::Bad,
            format!(
                "The disk did not take {} of the log ({} bytes).",
                count(c.log_lost_lines, "line"),
                c.log_lost_bytes
            ),
        ));
    }
    if c.stalls > 0 {
        all.push((
            Weight::Care,
            format!(
                "The target waited {} for our ring, {} in all.",
                count(c.stalls, "time"),
                show(c.stall_ns)
            ),
        ));
    }
    if c.broken > 0 {
        let part = percent(c.broken, c.trace_lines + c.broken);
        all.push((
            Weight::Care,
            format!("{} of the trace could not be read ({part} %).", count(c.broken, "line")),
        ));
    }
}

fn open(all: &mut Vec<Finding>, subject: &Subject<'_>, profile: &Profile) {
    let open = profile.open();
    let Some(last) = open.last() else { return };
    let name = last.kernel_id.and_then(|id| subject.names.get(id)).map(|n| n.label());
    let name = name.unwrap_or_else(|| {
        last.kernel_id.map_or("a kernel without a name".to_owned(), |id| format!("id {id}"))
    });
    let since = last.until.unwrap_or(subject.open_until()).saturating_sub(last.since);
    all.push((
        Weight::Bad,
        format!(
            "{} begun and not finished, in no total. The last: {name}, index {} of {}, {} for {} ms.",
            if open.len() == 1 {
                "1 dispatch was".to_owned()
            } else {
                format!("{} dispatches were", open.len())
            },
            last.key.index,
            last.key.commands,
            last.state.name(),
            fixed(since, 1_000_000, 3)
        ),
    ));
}

/// Where the time is, for the programs that matter.
fn hottest(all: &mut Vec<Finding>, subject: &Subject<'_>, profile: &Profile) {
    let programs = profile.programs();
    let time: u64 = programs.iter().map(|p| p.total()).sum();
    for program in programs.into_iter().filter(|p| p.total() * 10 >= time).take(3) {
        let rows = rows(program, profile, subject.names, View::default());
        if let Some(row) = rows.first() {
            all.push((
                Weight::Fact,
                format!(
                    "{} % of the device time of the {} list of {} commands [{}] is in {}: {}, mean {} µs.",
                    percent(row.total, program.total()),
                    program.list.name(),
                    program.commands,
                    program.fingerprint(),
                    row.label(),
                    count(row.count, "call"),
                    fixed(row.mean, 1_000, 2)
                ),
            ));
        }
        attributed(all, program);
    }
}

/// How much of a program's wall time has a name.
fn attributed(all: &mut Vec<Finding>, program: &Program) {
    if program.walls == 0 || program.wall_ns == 0 {
        return;
    }
    let rest = program.wall_ns.saturating_sub(program.in_walls.sum());
    let part = percent(rest, program.wall_ns);
    let weight = if rest * 20 > program.wall_ns { Weight::Care } else { Weight::Good };
    all.push((
        weight,
        format!(
            "{part} % of the wall time of the list of {} commands [{}] is unattributed{}.",
            program.commands,
            program.fingerprint(),
            if weight == Weight::Care { ": more than 5 %, so the trace misses something" } else { "" }
        ),
    ));
}

/// How far the numbers can be trusted.
fn trust(all: &mut Vec<Finding>, subject: &Subject<'_>, profile: &Profile) {
    let c = &profile.coverage;
    if c.unresolved * 100 > c.completed {
        all.push((
            Weight::Bad,
            format!(
                "{} of {} dispatches ({} %) have no time of their own: the reader did not get to run in between, the machine was \
                 busy. Trust sums a little and medians not at all.",
                c.unresolved,
                c.completed,
                percent(c.unresolved, c.completed)
            ),
        ));
    }
    let (ids, time, whole) = unmapped(profile, subject.names);
    match ids {
        0 => all.push((Weight::Good, "Every kernel has a name.".to_owned())),
        n => all.push((
            Weight::Care,
            format!(
                "{} unmapped = {} % of the time: give --manifests.",
                count(n, "kernel"),
                percent(time, whole)
            ),
        )),
    }
    if c.overlapping + c.repeated > 0 {
        all.push((
            Weight::Care,
            format!("{} dispatches began while another or the same one was open: several contexts or processes wrote this \
                     trace.", c.overlapping + c.repeated),
        ));
    }
    match profile.floor_ns() {
        None => all.push((
            Weight::Care,
            "The instrument's floor is unknown: the stamps do not resolve it.".to_owned(),
        )),
        Some(floor) => {
            let every: Vec<Row> = profile
                .programs()
                .into_iter()
                .flat_map(|p| rows(p, profile, subject.names, View::default()))
                .collect();
            let near = every.iter().filter(|r| r.near_floor).count() as u64;
            let weight = if near > 0 { Weight::Care } else { Weight::Good };
            let shown = fixed(floor, 1_000, 2);
            let words = match near {
                0 => format!("The floor is {shown} µs: every row is told apart from the instrument."),
                1 => format!(
                    "The floor is {shown} µs, so 1 row of {} is not told apart from the instrument.",
                    every.len()
                ),
                n => format!(
                    "The floor is {shown} µs, so {n} rows of {} are not told apart from the instrument.",
                    every.len()
                ),
            };
            all.push((weight, words));
        }
    }
}

/// What the split found, and the question that it is made for: is the packed copy there twice, and does it stay?
fn split(all: &mut Vec<Finding>, subject: &Subject<'_>) {
    let Some(split) = subject.split() else { return };
    for finding in &split.findings {
        all.push((if finding.fails { Weight::Bad } else { Weight::Care }, finding.text.clone()));
    }
    let packed = split.packed();
    if let (Some(bytes), Some(share)) = (packed.and_then(|row| row.bytes), split.duplicate_share) {
        let steady = match packed.and_then(|row| row.steady_bytes) {
            Some(0) => "gone in steady state".to_owned(),
            Some(left) => format!("still there in steady state ({})", mib(left)),
            None => "whether it stays is unknown".to_owned(),
        };
        all.push((
            Weight::Care,
            format!(
                "Packed copies: {}, {:.1} % of the loader's weights, {steady}.",
                mib(bytes),
                share * 100.0
            ),
        ));
    }
    if let Some(share) = split.unattributed_share {
        all.push((
            Weight::Fact,
            format!("Unattributed GTT: {:.1} % of the peak (usual: below 20 %).", share * 100.0),
        ));
    }
}

/// Peak beside steady, and holes in the samples, which hide what was in them.
fn sampled(all: &mut Vec<Finding>, subject: &Subject<'_>) {
    let Some(sums) = subject.sums() else { return };
    let gtt = |figures: Option<Figures>| figures.and_then(|f| f.gtt_bytes);
    match (gtt(sums.peak), gtt(sums.steady)) {
        (Some(peak), Some(steady)) => all.push((
            Weight::Fact,
            format!(
                "GTT: peak {}, steady {} ({} % of the peak).",
                mib(peak),
                mib(steady),
                percent(steady, peak)
            ),
        )),
        _ => all.push((
            Weight::Care,
            format!(
                "No amount of GTT in {}: no client of the driver was seen, or none that says it.",
                count(sums.samples, "sample")
            ),
        )),
    }
    let interval = subject.run.sampling.as_ref().map(|s| s.interval_ns);
    if let (Some(gap), Some(interval)) = (sums.longest_gap_ns, interval)
        && gap > interval.saturating_mul(4)
    {
        all.push((
            Weight::Care,
            format!(
                "Sampler gap of {} (asked for: one sample every {}): a peak in it was not seen.",
                show(gap),
                show(interval)
            ),
        ));
    }
}
