//! The sets of tracks that a process's dispatches are drawn on: as many as are on their way at once.

use crate::core::profile::flight::{Flights, Key};

/// A set of tracks, of one process.
#[derive(Clone, Debug, Default)]
struct Context {
    process: u32,
    key: Option<Key>,
    /// Nothing of its device's track may begin before this, ns.
    free: u64,
    /// Commands of its last program.
    main: Option<u64>,
}

/// All sets of tracks, of all processes; one is called by its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Contexts(Vec<Context>);

impl Contexts {
    /// That of a dispatch: its own, its program's if that is free, or the first of its process that is.
    pub(super) fn of(&mut self, key: Key, program: Option<u16>, flights: &Flights) -> u16 {
        if let Some(own) = self.0.iter().position(|c| c.key == Some(key)) {
            return own as u16;
        }
        let is_free = |c: &Context| c.process == key.process && c.key.is_none_or(|key| !flights.holds(key));
        let programs = program.filter(|place| is_free(&self.0[usize::from(*place)]));
        let place = programs.unwrap_or_else(|| self.place(key.process, is_free));
        self.0[usize::from(place)].key = Some(key);
        place
    }

    /// That of a program which begins beside those: one whose last program had as many commands, or else the first of the
    /// process that is not taken.
    pub(super) fn beside(&mut self, process: u32, main: Option<u64>, taken: &[u16]) -> u16 {
        let mut free = (0..self.0.len())
            .filter(|n| self.0[*n].process == process && taken.iter().all(|t| usize::from(*t) != *n));
        let first = free.clone().next();
        let place = free.find(|n| self.0[*n].main == main).or(first).unwrap_or_else(|| self.add(process));
        self.0[place].main = main;
        place as u16
    }

    /// The first that will do, or a new one.
    fn place(&mut self, process: u32, will_do: impl Fn(&Context) -> bool) -> u16 {
        self.0.iter().position(will_do).unwrap_or_else(|| self.add(process)) as u16
    }

    /// A new one, or the last when there are too many.
    fn add(&mut self, process: u32) -> usize {
        if self.0.len() < usize::from(u16::MAX) {
            self.0.push(Context { process, ..Context::default() });
        }
        self.0.len() - 1
    }

    /// Nothing of its device's track may begin before this, ns.
    pub(super) fn free(&self, context: u16) -> u64 {
        self.0[usize::from(context)].free
    }

    /// Its dispatch ended, or is drawn up to here, ns.
    pub(super) fn end(&mut self, context: u16, at: u64) {
        self.0[usize::from(context)].free = at;
    }
}
