//! Which program of one run is which of another.
//!
//! Surest first: the same sequence of kernels; the same list and size with the most kernels in common (a changed kernel
//! changes the sequence's name); another size of which at least half of the kernels are the same (a fused or a split
//! kernel changes the size). What is left is new or gone.

use crate::core::compare::facts::{Facts, Of, ProgramFacts};

/// A program across all runs: absent where a run has none.
#[derive(Debug)]
pub struct Slot<'a> {
    /// The run that showed it first.
    pub first: &'a ProgramFacts,
    /// In each run of the base.
    pub base: Vec<Option<&'a ProgramFacts>>,
    /// In each new run.
    pub new: Vec<Option<&'a ProgramFacts>>,
}

impl<'a> Slot<'a> {
    /// Those of one side that are there.
    pub fn side(&self, new: bool) -> impl Iterator<Item = &'a ProgramFacts> + '_ {
        (if new { &self.new } else { &self.base }).iter().flatten().copied()
    }
}

/// What of a program is compared: like with like.
#[derive(Debug)]
pub struct Pair<'a> {
    /// What the numbers of both sides are of.
    pub of: Of,
    /// Those of the base's runs that have such numbers.
    pub base: Vec<&'a ProgramFacts>,
    /// Those of the new runs.
    pub new: Vec<&'a ProgramFacts>,
}

impl<'a> Slot<'a> {
    /// Whether both sides have a kernel of it.
    pub fn has_common_kernel(&self) -> bool {
        let kernels = |new: bool| self.side(new).flat_map(|p| &p.kernels);
        kernels(false).any(|old| kernels(true).any(|now| now.id == old.id))
    }

    /// The runs behind the first where each side has some; else the first runs; else there is nothing to compare. A program that
    /// one side does not have is shown by the best of the other.
    pub fn pair(&self) -> Pair<'a> {
        let all = |of: Of| {
            let side = |new: bool| self.side(new).filter_map(|p| numbers(p, of)).collect::<Vec<_>>();
            Pair { of, base: side(false), new: side(true) }
        };
        let both = self.side(false).next().is_some() && self.side(true).next().is_some();
        let has = |pair: &Pair<'_>| {
            let (base, new) = (!pair.base.is_empty(), !pair.new.is_empty());
            if both { base && new } else { base || new }
        };
        [Of::Behind, Of::First].map(all).into_iter().find(has).unwrap_or_else(|| all(Of::Cut))
    }
}

/// The numbers of a program that are of this; anything will do for what was cut off.
fn numbers(program: &ProgramFacts, of: Of) -> Option<&ProgramFacts> {
    match (of, program.of) {
        (Of::Cut, _) => Some(program),
        (Of::First, Of::Behind) => program.first.as_deref(),
        (of, own) => (of == own).then_some(program),
    }
}

/// The part of two programs' kernels that both have, of all that either has.
fn likeness(a: &ProgramFacts, b: &ProgramFacts) -> f64 {
    let has = |p: &ProgramFacts, id| p.kernels.iter().any(|k| k.id == id);
    let both = a.kernels.iter().filter(|k| has(b, k.id)).count();
    let either = a.kernels.len() + b.kernels.len() - both;
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
}

/// How surely two programs are one; `None`: they are not. The larger the surer.
fn surety(a: &ProgramFacts, b: &ProgramFacts) -> Option<f64> {
    if a.list != b.list {
        return None;
    }
    let like = likeness(a, b);
    match (a.commands == b.commands, a.fingerprint == b.fingerprint) {
        (true, true) => Some(3.0),
        (true, false) => Some(1.0 + like),
        _ => (like >= 0.5).then(|| like - NEARNESS * apart(a.commands, b.commands)),
    }
}

/// Of programs with the same kernels the nearest in size is the one: so much of their likeness is a matter of size.
const NEARNESS: f64 = 0.01;

/// How far two sizes are apart, a part of the larger.
fn apart(a: u64, b: u64) -> f64 {
    a.abs_diff(b) as f64 / a.max(b).max(1) as f64
}

/// The programs of all runs, each once.
pub fn slots<'a>(base: &'a [Facts], new: &'a [Facts]) -> Vec<Slot<'a>> {
    let mut slots: Vec<Slot<'a>> = Vec::new();
    for (is_new, place, facts) in base
        .iter()
        .enumerate()
        .map(|(i, f)| (false, i, f))
        .chain(new.iter().enumerate().map(|(i, f)| (true, i, f)))
    {
        let known = slots.len();
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for (p, program) in facts.programs.iter().enumerate() {
            for (s, slot) in slots.iter().enumerate() {
                pairs.extend(surety(slot.first, program).map(|sure| (sure, p, s)));
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut of_program = vec![None; facts.programs.len()];
        let mut taken = vec![false; known];
        for (_, p, s) in pairs {
            if of_program[p].is_none() && !taken[s] {
                of_program[p] = Some(s);
                taken[s] = true;
            }
        }
        for (program, slot) in facts.programs.iter().zip(of_program) {
            let slot = slot.unwrap_or_else(|| {
                slots.push(Slot { first: program, base: vec![None; base.len()], new: vec![None; new.len()] });
                slots.len() - 1
            });
            let side = if is_new { &mut slots[slot].new } else { &mut slots[slot].base };
            side[place] = Some(program);
        }
    }
    slots
}
