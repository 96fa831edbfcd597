//! A comparison as tables, once for text, Markdown and HTML.

mod cells;
mod memory;

use crate::core::compare::facts::Of;
use crate::core::compare::noise::{Judged, Twice};
use crate::core::compare::{Comparison, KernelRow, Kind, ProgramRow};
use crate::core::text::count;
use crate::report::view::{Unit, View, fixed};
use cells::{noise, plain, scale, signed, verdict, with_range};

pub use cells::{relative, verdict_word};

/// One table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Its title.
    pub title: String,
    /// What stands between title and table, a sentence each.
    pub notes: Vec<String>,
    /// Names of the columns; those before `words_from` hold numbers.
    pub head: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
    /// The first column that holds words.
    pub words_from: usize,
}

/// How the two sides are called.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    /// The base.
    pub base: String,
    /// The new one.
    pub new: String,
}

/// The tables, in the order they are read.
pub fn tables(comparison: &Comparison, sides: &Sides, view: View) -> Vec<Table> {
    if comparison.withheld {
        return vec![differences(comparison, sides)];
    }
    let mut all = vec![differences(comparison, sides), programs(comparison)];
    all.extend(comparison.programs.iter().map(|p| program(p, comparison.cut, view)));
    all.push(floor(comparison, view.unit));
    all.extend((!comparison.memory.is_empty()).then(|| memory::table(comparison)));
    all.push(wall(comparison));
    all
}

fn differences(comparison: &Comparison, sides: &Sides) -> Table {
    let mut table = Table {
        title: "HEADER".to_owned(),
        head: ["", "differs", "value"].map(str::to_owned).to_vec(),
        words_from: 0,
        ..Table::default()
    };
    if comparison.differences.is_empty() {
        table.notes.push("build, command, machine, stamps and clock are the same in all runs".to_owned());
    }
    for difference in &comparison.differences {
        let mark = if difference.refused.is_some() { "!" } else { "" };
        table.rows.push(vec![
            mark.to_owned(),
            difference.field.to_owned(),
            format!("{}: {}", sides.base, difference.base.join(" | ")),
        ]);
        table.rows.push(vec![
            String::new(),
            String::new(),
            format!("{}: {}", sides.new, difference.new.join(" | ")),
        ]);
    }
    table.notes.extend(comparison.refusals().into_iter().map(|why| format!("NOT COMPARABLE: {why}")));
    table
}

/// A table of numbers that are of a whole run.
fn whole(title: &str) -> Table {
    Table {
        title: title.to_owned(),
        head: ["change %", "noise %", "base", "new", "verdict", "what"].map(str::to_owned).to_vec(),
        words_from: 4,
        ..Table::default()
    }
}

fn programs(comparison: &Comparison) -> Table {
    let mut table = whole("PROGRAMS");
    for program in &comparison.programs {
        if let Some(judged) = &program.judged {
            let words = verdict(&program.kind, Some(judged));
            let what = format!("a run of the {}, ms", program.name());
            table.rows.push(judged_row(&judged.whole, words, what, Unit::Ms));
        }
    }
    table.notes.extend(cautions(comparison));
    table
}

fn floor(comparison: &Comparison, unit: Unit) -> Table {
    let mut table = whole("FLOOR");
    match &comparison.floor {
        Some(judged) => {
            let what = format!("the instrument's floor, {}", unit.sign());
            table.rows.push(judged_row(judged, judged.verdict.words(), what, unit));
        }
        None => table.notes.push("the instrument's floor is unknown on a side: no resolved waits".to_owned()),
    }
    table
}

fn wall(comparison: &Comparison) -> Table {
    let mut table = whole("WALL TIME");
    match &comparison.wall {
        Some(judged) => {
            let what = "from start to end, ms".to_owned();
            table.rows.push(judged_row(judged, judged.verdict.words(), what, Unit::Ms));
        }
        None => table.notes.push("not compared: a side has no run that ended by itself".to_owned()),
    }
    table
}

fn judged_row(judged: &Judged, verdict: String, what: String, unit: Unit) -> Vec<String> {
    vec![
        relative(judged.relative()),
        noise(judged),
        with_range(judged.base, judged.base_range, unit),
        with_range(judged.new, judged.new_range, unit),
        verdict,
        what,
    ]
}

/// What a reader has to know before believing a row.
fn cautions(comparison: &Comparison) -> Vec<String> {
    let mut all = Vec::new();
    if comparison.single() {
        all.push(format!(
            "one run a side: noise is the spread inside the runs; what differs from run to run is not in it, so only changes \
             above the threshold of {} % are called better or worse: give three runs a side",
            relative(Some(comparison.threshold)).trim_start_matches('+')
        ));
    }
    for (side, part) in [("base", comparison.unresolved.0), ("new side", comparison.unresolved.1)] {
        if let Some(part) = part.filter(|p| *p > 0.01) {
            all.push(format!(
                "WARNING: {} % of the {side}'s dispatches have 0 on the device (one read brought their launch's end and their \
                 own): the machine was busy, trust no row much",
                relative(Some(part)).trim_start_matches('+')
            ));
        }
    }
    all
}

fn program(row: &ProgramRow, cut: (bool, bool), view: View) -> Table {
    let unit = view.unit.sign();
    let several = row.judged.is_some_and(|j| j.whole.base_range.or(j.whole.new_range).is_some());
    let middle = if several { "median of runs [least–most]" } else { "" };
    let mut table = Table {
        title: format!("PROGRAM {}: {}", row.name(), what_it_is(row, cut)),
        head: vec![
            format!("change {unit}"),
            "called more".to_owned(),
            "each slower".to_owned(),
            format!("base {unit}"),
            format!("new {unit}"),
            "change %".to_owned(),
            "noise %".to_owned(),
            "calls".to_owned(),
            "verdict".to_owned(),
            "kernel".to_owned(),
        ],
        words_from: 8,
        ..Table::default()
    };
    let of = match row.of {
        Of::Behind => "times are a run of the program, of its whole runs behind the first",
        Of::First => "times are of its first run on both sides: a side has no other whole one",
        Of::Cut => "not compared: a side has no whole run of it",
    };
    if row.of == Of::Cut {
        table.notes.push(of.to_owned());
        return table;
    }
    let of = of.to_owned();
    table.notes.push(if middle.is_empty() { of } else { format!("{of}; {middle}") });
    let shown = row.kernels.iter().take(view.top);
    table.rows = shown.map(|k| kernel(k, view.unit)).collect();
    let rest = row.kernels.len().saturating_sub(view.top) as u64;
    if rest > 0 {
        table.notes.push(format!("{} that changed less are not shown: --top", count(rest, "kernel")));
    }
    table
}

fn what_it_is(row: &ProgramRow, cut: (bool, bool)) -> String {
    let ms = |ns: f64| plain(ns, Unit::Ms);
    let a_run = |ns: f64| if row.of == Of::Cut { String::new() } else { format!(", {} ms a run", ms(ns)) };
    match (&row.kind, &row.judged) {
        (Kind::New, _) => {
            let what = if cut.0 { "not in the base, which is cut off" } else { "new" };
            format!("{what}, {}{}", count(row.runs.1, "run"), a_run(row.change_ns))
        }
        (Kind::Vanished, _) => {
            let what = if cut.1 { "not in the new side, which is cut off" } else { "vanished" };
            format!("{what}, {}{}", count(row.runs.0, "run"), a_run(-row.change_ns))
        }
        (kind, Some(judged @ Twice { whole: j, .. })) => format!(
            "{} → {} runs; {} → {} ms a run ({} %): {}",
            row.runs.0,
            row.runs.1,
            ms(j.base),
            ms(j.new),
            relative(j.relative()),
            verdict(kind, Some(judged))
        ),
        (_, None) => format!("{} → {} runs", row.runs.0, row.runs.1),
    }
}

fn kernel(row: &KernelRow, unit: Unit) -> Vec<String> {
    let (scale, digits) = scale(unit);
    let calls = |n: f64| {
        if n.fract() == 0.0 { (n as u64).to_string() } else { fixed((n * 100.0).round() as u64, 100, 2) }
    };
    let (c0, c1) = (calls(row.calls.0), calls(row.calls.1));
    let judged = row.judged.as_ref().map(|j| &j.whole);
    vec![
        signed(row.change_ns(), scale, digits),
        signed(row.called_more_ns, scale, digits),
        signed(row.each_slower_ns, scale, digits),
        with_range(row.time_ns.0, judged.and_then(|j| j.base_range), unit),
        with_range(row.time_ns.1, judged.and_then(|j| j.new_range), unit),
        relative(judged.and_then(Judged::relative)),
        judged.map_or("–".to_owned(), noise),
        if c0 == c1 { c0 } else { format!("{c0} → {c1}") },
        verdict(&row.kind, row.judged.as_ref()),
        row.label.clone(),
    ]
}

/// The last words: what regressed, or that nothing did.
pub fn summary(comparison: &Comparison) -> Vec<String> {
    if comparison.withheld {
        return vec!["none: the runs are not comparable; --force compares them all the same".to_owned()];
    }
    let threshold = relative(Some(comparison.threshold));
    let threshold = threshold.trim_start_matches('+');
    let [better, worse, same, unclear] = comparison.verdicts();
    // The floor is the instrument's own and says nothing of the target.
    let but = if comparison.floor.is_some() { " (the floor not counted)" } else { "" };
    let mut all = vec![format!(
        "{better} better, {worse} worse, {same} no difference larger than the noise, {unclear} cannot tell{but}"
    )];
    let regressions = comparison.regressions();
    if regressions.is_empty() {
        all.push(format!("no regression above {threshold} % that is larger than the noise"));
    }
    for (what, part) in regressions {
        all.push(format!("REGRESSION above {threshold} %: {what}: {} %", relative(part)));
    }
    all
}
