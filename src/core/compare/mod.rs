//! Two sides of runs, compared: what differs in their headers, then where the time went up or down.
//!
//! The numbers of a program are those of its runs behind the first (kernels are made on first use), a run of it; so runs
//! that made more tokens, or were killed, can still be compared. A kernel's change is split exactly: called more = the
//! change of calls at the base's time a call, each call slower = the rest.

pub mod facts;
pub mod header;
mod kernels;
mod matching;
pub mod memory;
pub mod noise;

use crate::core::parse::serial::List;
use facts::{Facts, Of, ProgramFacts};
use header::Difference;
use matching::Slot;
use memory::MemoryRow;
use noise::{Judged, Twice, Value, Verdict, judge, median};

/// Everything that two sides differ in.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Runs of the base.
    pub base_runs: usize,
    /// New runs.
    pub new_runs: usize,
    /// The smallest change that matters, a part of the base.
    pub threshold: f64,
    /// Fields of the header that differ.
    pub differences: Vec<Difference>,
    /// Both sides are traced, and no kernel is in both.
    pub strangers: bool,
    /// The instrument's floor, ns.
    pub floor: Option<Judged>,
    /// The programs, the one that changed most first.
    pub programs: Vec<ProgramRow>,
    /// The GTT split, row by row; empty when nothing is known of the memory of either side.
    pub memory: Vec<MemoryRow>,
    /// From start to end, ns; absent when a side has no run that ended by itself.
    pub wall: Option<Judged>,
    /// Of all dispatches of a side, the part whose time was not resolved (it is shown as 0): base, new.
    pub unresolved: (Option<f64>, Option<f64>),
    /// Every run of a side was cut off, so that what is not in it may only not have been reached: base, new.
    pub cut: (bool, bool),
    /// They are not to be compared, and nobody insists: there are no rows.
    pub withheld: bool,
}

/// Whether a row is on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// It is.
    #[default]
    Both,
    /// On the new side alone.
    New,
    /// On the base's side alone.
    Vanished,
    /// It has another name now: the one that it had.
    Renamed(String),
}

/// A program.
#[derive(Clone, Debug)]
pub struct ProgramRow {
    /// Its list.
    pub list: List,
    /// Commands of the list: base, new.
    pub commands: (Option<u64>, Option<u64>),
    /// Names of its kernel sequence: base, new.
    pub fingerprints: (Option<String>, Option<String>),
    /// Its runs, over all runs of a side: base, new.
    pub runs: (u64, u64),
    /// What the numbers are of. Of what was cut off on a side, nothing is compared: it has neither verdict nor kernels.
    pub of: Of,
    /// Whether it is on both sides.
    pub kind: Kind,
    /// Device time of a run of it, ns; of a side that has none, 0.
    pub change_ns: f64,
    /// Judged, when it is on both sides.
    pub judged: Option<Twice>,
    /// Its kernels, the one that changed most first.
    pub kernels: Vec<KernelRow>,
}

/// A kernel of a program. Times are a run of the program.
#[derive(Clone, Debug)]
pub struct KernelRow {
    /// Its id (the new one where it was renamed).
    pub id: Option<u64>,
    /// Its name (the new one where it was renamed).
    pub label: String,
    /// Whether it is on both sides.
    pub kind: Kind,
    /// Calls: base, new.
    pub calls: (f64, f64),
    /// Device time, ns, medians over runs: base, new.
    pub time_ns: (f64, f64),
    /// Of the change: by more (or fewer) calls, ns.
    pub called_more_ns: f64,
    /// Of the change: by longer (or shorter) calls, ns.
    pub each_slower_ns: f64,
    /// Judged, when it is on both sides.
    pub judged: Option<Twice>,
}

impl KernelRow {
    fn is_renamed(&self) -> bool {
        matches!(self.kind, Kind::Renamed(_))
    }

    /// New less base, ns.
    pub fn change_ns(&self) -> f64 {
        self.time_ns.1 - self.time_ns.0
    }
}

impl Comparison {
    /// Takes the rows away where the sides are not to be compared: a verdict on them would be quoted.
    pub fn withhold(&mut self) {
        if self.refusals().is_empty() {
            return;
        }
        self.withheld = true;
        (self.programs, self.memory) = (Vec::new(), Vec::new());
        (self.floor, self.wall) = (None, None);
    }

    /// Why these are not to be compared, a sentence each.
    pub fn refusals(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for difference in &self.differences {
            if let Some(why) = difference.refused {
                let (base, new) = (difference.base.join(" | "), difference.new.join(" | "));
                all.push(format!("{why} ({}: {base} against {new})", difference.field));
            }
        }
        if self.strangers {
            all.push("no kernel is in both: programs of other models, or of another backend".to_owned());
        }
        all
    }

    /// The rows that are worse by more than threshold and noise: what they are, and by how much of the base.
    pub fn regressions(&self) -> Vec<(String, Option<f64>)> {
        let mut all = Vec::new();
        let mut look = |name: String, judged: Option<&Judged>| {
            if let Some(judged) = judged.filter(|j| j.regressed(self.threshold)) {
                all.push((name, judged.relative()));
            }
        };
        look("wall time".to_owned(), self.wall.as_ref());
        for program in &self.programs {
            look(program.name(), program.judged.as_ref().map(|j| j.deciding().0));
            for kernel in &program.kernels {
                let name = format!("{} in {}", kernel.label, program.name());
                look(name, kernel.judged.as_ref().map(|j| j.deciding().0));
            }
        }
        for row in &self.memory {
            if let Some(judged) = row.judged.filter(|j| j.regressed(self.threshold)) {
                all.push((format!("memory: {}", row.name), judged.relative()));
            }
        }
        all
    }

    /// Whether a verdict rests on the spread inside a single run a side.
    pub fn single(&self) -> bool {
        self.base_runs == 1 && self.new_runs == 1
    }

    /// Rows by verdict: better, worse, same, cannot tell.
    pub fn verdicts(&self) -> [usize; 4] {
        let rows = self.programs.iter().flat_map(|p| p.kernels.iter().map(|k| k.judged).chain([p.judged]));
        let rows = rows.flatten().map(|j| *j.deciding().0);
        let mut counts = [0; 4];
        for judged in rows.chain(self.memory.iter().filter_map(|m| m.judged)).chain(self.wall) {
            counts[match judged.verdict {
                Verdict::Better => 0,
                Verdict::Worse => 1,
                Verdict::Same => 2,
                Verdict::CannotTell(_) => 3,
            }] += 1;
        }
        counts
    }
}

impl ProgramRow {
    /// `main list of 300 commands [a7d3cd33]`, with both where they differ.
    pub fn name(&self) -> String {
        let either = |base: Option<String>, new: Option<String>| match (base, new) {
            (Some(base), Some(new)) if base != new => format!("{base} → {new}"),
            (Some(one), _) | (None, Some(one)) => one,
            (None, None) => String::new(),
        };
        let commands = either(self.commands.0.map(|n| n.to_string()), self.commands.1.map(|n| n.to_string()));
        let fingerprint = either(self.fingerprints.0.clone(), self.fingerprints.1.clone());
        format!("{} list of {commands} commands [{fingerprint}]", self.list.name())
    }
}

/// Compares two sides. `threshold`: the smallest change that matters, a part of the base.
pub fn compare(base: &[Facts], new: &[Facts], threshold: f64) -> Comparison {
    let slots = matching::slots(base, new);
    let side_cut = (cut(base), cut(new));
    let mut programs: Vec<ProgramRow> =
        slots.iter().map(|slot| program_row(slot, side_cut, threshold)).collect();
    programs.sort_by(|a, b| b.change_ns.abs().total_cmp(&a.change_ns.abs()));
    let traced = |side: &[Facts]| side.iter().any(|f| f.completed > 0);
    let common = slots.iter().any(Slot::has_common_kernel)
        || programs.iter().any(|p| p.kernels.iter().any(KernelRow::is_renamed));
    let one = |of: fn(&Facts) -> Option<u64>| {
        let side = |all: &[Facts]| -> Vec<Value> {
            all.iter().filter_map(of).map(|ns| Value::exact(ns as f64)).collect()
        };
        judge(&side(base), &side(new), threshold)
    };
    Comparison {
        base_runs: base.len(),
        new_runs: new.len(),
        threshold,
        differences: header::differences(base, new, &slots),
        strangers: traced(base) && traced(new) && !common,
        floor: one(|f| f.floor_ns),
        wall: one(|f| f.wall_ns),
        programs,
        memory: memory::rows(base, new, threshold),
        unresolved: (unresolved(base), unresolved(new)),
        cut: side_cut,
        withheld: false,
    }
}

/// Whether every run of a side was cut off: then what is not in it may only not have been reached.
fn cut(side: &[Facts]) -> bool {
    side.iter().all(|f| f.partial.is_some())
}

fn unresolved(side: &[Facts]) -> Option<f64> {
    let sum = |of: fn(&Facts) -> u64| side.iter().map(of).sum::<u64>() as f64;
    let all = sum(|f| f.completed);
    (all > 0.0).then(|| sum(|f| f.unresolved) / all)
}

fn program_row(slot: &Slot<'_>, side_cut: (bool, bool), threshold: f64) -> ProgramRow {
    let pair = slot.pair();
    let times = |side: &[&ProgramFacts]| side.iter().map(|p| p.time).collect::<Vec<Value>>();
    let typical = |side: &[&ProgramFacts]| side.iter().filter_map(|p| p.typical).collect::<Vec<Value>>();
    let (base, new) = (times(&pair.base), times(&pair.new));
    let first = |new| (if new { &pair.new } else { &pair.base }).first().copied().or(slot.side(new).next());
    let runs = |new| slot.side(new).map(|p| p.runs).sum();
    let kind = kind(!base.is_empty(), !new.is_empty());
    // What a side that was cut off does not have may only not have been reached.
    let missed = kind == Kind::New && side_cut.0 || kind == Kind::Vanished && side_cut.1;
    let cut = pair.of == Of::Cut && kind == Kind::Both || missed;
    let judged = twice(&base, &new, &typical(&pair.base), &typical(&pair.new), threshold);
    ProgramRow {
        list: slot.first.list,
        commands: (first(false).map(|p| p.commands), first(true).map(|p| p.commands)),
        fingerprints: (
            first(false).map(|p| p.fingerprint.clone()),
            first(true).map(|p| p.fingerprint.clone()),
        ),
        runs: (runs(false), runs(true)),
        of: if cut { Of::Cut } else { pair.of },
        kind,
        change_ns: if cut { 0.0 } else { median(&new).unwrap_or(0.0) - median(&base).unwrap_or(0.0) },
        judged: judged.filter(|_| !cut),
        kernels: if cut { Vec::new() } else { kernels::rows(&pair, threshold) },
    }
}

fn twice(
    base: &[Value],
    new: &[Value],
    typical_base: &[Value],
    typical_new: &[Value],
    threshold: f64,
) -> Option<Twice> {
    let whole = judge(base, new, threshold)?;
    let all = typical_base.len() == base.len() && typical_new.len() == new.len();
    Some(Twice { whole, typical: judge(typical_base, typical_new, threshold).filter(|_| all) })
}

fn kind(base: bool, new: bool) -> Kind {
    match (base, new) {
        (true, false) => Kind::Vanished,
        (false, true) => Kind::New,
        _ => Kind::Both,
    }
}

#[cfg(test)]
#[path = "../compare_tests.rs"]
mod tests;
