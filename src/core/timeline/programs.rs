//! What a process is at beside its dispatches, as spans: its programs and its host phases.

use super::{Facts, Name, Spans, Track, Weaver};
use crate::core::parse::rejoin::Serial;
use crate::core::parse::serial::{self, HOST_PHASES};

/// What a process is at, beside its dispatches.
#[derive(Clone, Debug, Default)]
pub(super) struct Weaving {
    /// The program that is going on: since when, and its commands.
    pub(super) program: Option<(u64, Option<u64>)>,
    host: Option<(u8, u64)>,
    /// Where its programs are drawn: its first context.
    pub(super) context: Option<u16>,
    /// Nothing of its programs' track may begin before this, ns.
    pub(super) programs_free: u64,
}

impl<C: Spans> Weaver<'_, C> {
    /// A program begins or ends.
    pub(super) fn program(&mut self, serial: &Serial<'_>) {
        match serial.event {
            serial::Event::Begin => {
                let commands = serial.detail.and_then(|d| d.main_commands);
                let before = self.writers.now().and_then(|w| w.program.replace((serial.ns, commands)));
                if let Some((since, known)) = before {
                    // It has no end of its own: that of the next one's beginning is the latest that it can be.
                    self.program_span(since, Some(serial.ns), known, true);
                }
                let ahead = self.drawn.completed + commands.unwrap_or(0);
                self.past_first |= ahead > self.plan.first && self.drawn.completed > 0;
                self.in_last |= self.drawn.completed >= self.plan.last_from;
            }
            serial::Event::End | serial::Event::Failed => {
                if let Some((since, commands)) = self.writers.now().and_then(|w| w.program.take()) {
                    let left = serial.event == serial::Event::Failed;
                    self.program_span(since, Some(serial.ns), commands, left);
                }
            }
            _ => {}
        }
    }

    /// A program is drawn, where programs are.
    pub(super) fn program_span(&mut self, since: u64, until: Option<u64>, commands: Option<u64>, left: bool) {
        if !self.in_window() && !self.plan.programs && until.is_some() {
            return;
        }
        let context = self.programs_context();
        let facts = Facts { main_commands: commands, open: until.is_none(), left, ..Facts::default() };
        let Some(weaving) = self.writers.now() else { return };
        let since = since.max(weaving.programs_free);
        weaving.programs_free = until.unwrap_or(since).max(since);
        self.span(Track::Programs(context), Name::Program(commands), since, until, &facts);
    }

    /// A host phase lies between the end of the wait before it and the beginning of the wait behind it.
    pub(super) fn host(&mut self, serial: &Serial<'_>, place: u8, post: bool) {
        match (serial.event, post) {
            (serial::Event::SyncEnd, false) => {
                if let Some(weaving) = self.writers.now() {
                    weaving.host = Some((place, serial.ns));
                }
            }
            (serial::Event::SyncBegin, true) => {
                let begun = self.writers.now().and_then(|w| w.host.take()).filter(|(p, _)| *p == place);
                if let (Some((_, since)), true) = (begun, self.in_window()) {
                    let name = Name::Words(HOST_PHASES[usize::from(place)]);
                    let context = self.programs_context();
                    self.span(Track::Host(context), name, since, Some(serial.ns), &Facts::default());
                }
            }
            _ => {}
        }
    }

    /// Where the programs of the process are drawn.
    fn programs_context(&mut self) -> u16 {
        if let Some(known) = self.writers.now().and_then(|w| w.context) {
            return known;
        }
        let place = self.contexts.first(self.process);
        if let Some(weaving) = self.writers.now() {
            weaving.context = Some(place);
        }
        place
    }

    fn in_window(&self) -> bool {
        self.plan.whole || !self.past_first || self.in_last
    }
}
