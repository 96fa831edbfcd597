//! What there is to find in a profile.

use super::{Finding, Weight};
use crate::core::profile::Profile;
use crate::core::profile::program::Program;
use crate::core::text::count;
use crate::report::Subject;
use crate::report::kernels::{Row, rows, unmapped};
use crate::report::view::{View, fixed, percent};

/// Dispatches that did not come to their end.
pub(super) fn open(all: &mut Vec<Finding>, subject: &Subject<'_>, profile: &Profile) {
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
pub(super) fn hottest(all: &mut Vec<Finding>, subject: &Subject<'_>, profile: &Profile) {
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
    let known = program.in_walls.sum();
    let Some(rest) = program.wall_ns.checked_sub(known) else {
        all.push((
            Weight::Bad,
            format!(
                "The parts of the wall time of the list of {} commands [{}] are {} % of it: lines of two contexts that cannot be \
                 told apart, or a damaged trace.",
                program.commands,
                program.fingerprint(),
                percent(known, program.wall_ns)
            ),
        ));
        return;
    };
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
pub(super) fn trust(all: &mut Vec<Finding>, subject: &Subject<'_>, profile: &Profile) {
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
            format!(
                "{} began while another or the same one was open: several contexts or processes wrote this trace.",
                count(c.overlapping + c.repeated, "dispatch")
            ),
        ));
    }
    let failed = c.failed + c.failed_programs;
    if failed > 0 {
        let reason = profile.failures.first().map_or(String::new(), |words| format!(": {words}"));
        let what = [(c.failed, "dispatch"), (c.failed_programs, "program")];
        let what: Vec<String> =
            what.iter().filter(|(n, _)| *n > 0).map(|(n, noun)| count(*n, noun)).collect();
        all.push((Weight::Bad, format!("Failed, by the backend's own word: {}{reason}.", what.join(", "))));
    }
    all.push(floor(subject, profile));
}

/// What the instrument adds, and whether the rows are told apart from it.
fn floor(subject: &Subject<'_>, profile: &Profile) -> Finding {
    let Some(floor) = profile.floor_ns() else {
        return (Weight::Care, "The instrument's floor is unknown: the stamps do not resolve it.".to_owned());
    };
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
    (weight, words)
}
