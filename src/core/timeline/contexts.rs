//! The sets of tracks that a process's dispatches are drawn on: as many as are on their way at once.

use crate::core::profile::flight::{Flights, Key};

/// A set of tracks, of one process.
#[derive(Clone, Debug, Default)]
struct Context {
    process: u32,
    key: Option<Key>,
    /// Nothing of its device's track may begin before this, ns.
    free: u64,
}

/// All sets of tracks, of all processes; one is called by its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Contexts(Vec<Context>);

impl Contexts {
    /// That of a dispatch: its own, or the first of its process that is free.
    pub(super) fn of(&mut self, key: Key, flights: &Flights) -> u16 {
        if let Some(own) = self.0.iter().position(|c| c.key == Some(key)) {
            return own as u16;
        }
        let is_free = |c: &Context| c.process == key.process && c.key.is_none_or(|key| !flights.holds(key));
        let place = self.place(key.process, is_free);
        self.0[usize::from(place)].key = Some(key);
        place
    }

    /// The first of a process.
    pub(super) fn first(&mut self, process: u32) -> u16 {
        self.place(process, |c| c.process == process)
    }

    /// The first that will do, or a new one, or the last when there are too many.
    fn place(&mut self, process: u32, will_do: impl Fn(&Context) -> bool) -> u16 {
        let place = self.0.iter().position(will_do).unwrap_or_else(|| {
            if self.0.len() < usize::from(u16::MAX) {
                self.0.push(Context { process, ..Context::default() });
            }
            self.0.len() - 1
        });
        place as u16
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
