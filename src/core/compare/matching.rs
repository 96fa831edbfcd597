//! Which program of one run is which of another.
//!
//! Surest first: the same sequence of kernels; the same list and size with the most kernels in common (a changed kernel
//! changes the sequence's name); another size of which at least half of the kernels are the same (a fused or a split
//! kernel changes the size). What is left is new or gone.

use crate::core::compare::facts::{Facts, ProgramFacts};

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
        _ => (like >= 0.5).then_some(like),
    }
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
