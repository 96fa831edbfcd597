//! The dispatch profile: which kernel is the time in.
//!
//! A dispatch is one command: its wait before (the instrument's floor), its launch, its wait behind (the device). Its
//! time is the device's, from the end of the launch to the end of the wait. Sums are kept, not lines; only the dispatches
//! of the run of a list that is going on are held, because which program it is shows in its kernels.

mod coverage;
pub mod flight;
pub mod program;
mod programs;
mod spread;
pub mod under;
pub mod writers;

use crate::core::event::{Event, Sink};
use crate::core::histogram::Histogram;
use crate::core::lines::Line;
use crate::core::parse::rejoin::Serial;
use crate::core::parse::serial::{self, HOST_PHASES, List, Phase};
use crate::core::text::printable;
pub use coverage::Coverage;
use flight::{Flights, Step};
pub use flight::{Key, Open, State};
use program::Program;
use programs::Programs;
use under::UnderWay;
use writers::Writers;

/// The most names of unknown words that are kept apart.
const MOST_WORDS: usize = 32;
/// The most launches that are kept which never came to an end; all are counted.
const MOST_ABANDONED: usize = 1000;

/// A program that is under way.
#[derive(Clone, Debug, Default)]
struct Under {
    /// When it began.
    since: u64,
    /// The host phase that is going on: which, and since when.
    host: Option<(u8, u64)>,
    /// Its host phases, ns.
    host_sums: [u64; HOST_PHASES.len()],
}

/// Everything that the serial trace of a run adds up to.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Coverage.
    pub coverage: Coverage,
    /// The waits before dispatches: what the instrument itself adds.
    pub floor: Histogram,
    /// Launches that never came to an end, as far as is known now: the first 1000, the coverage counts them all.
    pub abandoned: Vec<Open>,
    programs: Programs,
    flights: Flights,
    /// Whose the lines are now; 0 where that is not known.
    process: u32,
    /// The programs that each process is at.
    writers: Writers<UnderWay<Under>>,
    /// Host phases whose both ends were seen, of all programs.
    pub host_phases: u64,
    /// Stamp of the last line.
    last_ns: u64,
    /// Reasons of failed waits, the first few.
    pub failures: Vec<String>,
}

impl Sink for Profile {
    fn line(&mut self, line: &Line<'_>) {
        self.last_ns = line.ns;
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Process(pid) => self.process = *pid,
            Event::Serial(serial) => self.serial(serial),
            Event::Broken => self.flights.broken(self.process),
            Event::SyncFailed(words) if self.failures.len() < 8 => self.failures.push(printable(words)),
            _ => {}
        }
    }
}

impl Profile {
    fn serial(&mut self, serial: &Serial<'_>) {
        if let Some((gone, _)) = self.writers.turn(self.process) {
            self.give_up(gone);
        }
        self.coverage.processes = self.writers.known();
        self.coverage.note_unknown(serial);
        if !serial.exact {
            // A time that is not its own would make a wrong duration.
            self.coverage.untimed += 1;
            self.flights.broken(self.process);
            return self.untimed_end(serial);
        }
        match serial.phase {
            Phase::Pre | Phase::Launch | Phase::Post => self.command(serial),
            Phase::List => self.list(serial),
            Phase::Program => self.program(serial),
            Phase::Host(place, post) => self.host_phase(serial, place, post),
            Phase::Other => {}
        }
    }

    /// A process is not waited for any more: memory does not grow with their number.
    fn give_up(&mut self, process: u32) {
        for open in self.flights.leave_all(process) {
            self.coverage.left += 1;
            self.keep_abandoned(open);
        }
        self.programs.forget(process);
    }

    fn keep_abandoned(&mut self, open: Open) {
        if self.abandoned.len() < MOST_ABANDONED {
            self.abandoned.push(open);
        }
    }

    /// A dispatch that ended at a time that is not known is broken, and not open.
    fn untimed_end(&mut self, serial: &Serial<'_>) {
        let detail = serial.detail.unwrap_or_default();
        if let (Phase::Post, serial::Event::SyncEnd, Some(list), Some(index), Some(commands)) =
            (serial.phase, serial.event, detail.list, detail.index, detail.list_commands)
            && self.flights.lose(Key { process: self.process, list, commands, index })
        {
            self.coverage.broken += 1;
        }
    }

    fn command(&mut self, serial: &Serial<'_>) {
        let Some(detail) = &serial.detail else {
            self.coverage.untraced_waits += 1;
            return;
        };
        let (Some(list), Some(index), Some(commands)) = (detail.list, detail.index, detail.list_commands)
        else {
            self.flights.broken(self.process);
            return;
        };
        let key = Key { process: self.process, list, commands, index };
        let mut flights = std::mem::take(&mut self.flights);
        flights.take(key, serial, detail, |step| self.step(step));
        self.flights = flights;
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Floor(ns) => self.floor.add(ns),
            Step::Begun { overlapping } => {
                self.coverage.begun += 1;
                self.coverage.overlapping += u64::from(overlapping);
            }
            Step::Ended => self.coverage.ended += 1,
            Step::Orphan => self.coverage.orphans += 1,
            Step::Broken => self.coverage.broken += 1,
            Step::Lost(n) => self.coverage.broken += n,
            Step::Abandoned(open) => {
                self.coverage.repeated += 1;
                self.keep_abandoned(open);
            }
            Step::Failed(open) => {
                self.coverage.failed += 1;
                self.keep_abandoned(open);
            }
            Step::Completed(key, dispatch) => {
                self.coverage.completed += 1;
                self.coverage.unresolved += u64::from(dispatch.device == 0);
                self.programs.add(&key, dispatch);
            }
        }
    }

    fn list(&mut self, serial: &Serial<'_>) {
        let detail = serial.detail.unwrap_or_default();
        let (Some(list), Some(commands)) = (detail.list, detail.list_commands) else { return };
        match serial.event {
            // What of it is still going on when it begins had no end of its own.
            serial::Event::Begin | serial::Event::End => {
                self.programs.end((self.process, list, commands), true)
            }
            _ => {}
        }
    }

    fn program(&mut self, serial: &Serial<'_>) {
        let Some(programs) = self.writers.now() else { return };
        let main = serial.detail.and_then(|d| d.main_commands);
        match serial.event {
            serial::Event::Begin => {
                programs.begin(main, Under { since: serial.ns, ..Under::default() });
            }
            serial::Event::End => {
                let under = programs.end(main);
                let wall = under.map(|u| (serial.ns.saturating_sub(u.since), u.host_sums));
                self.programs.settle(self.process, main, Some(wall));
            }
            serial::Event::Failed => {
                self.coverage.failed_programs += 1;
                programs.end(main);
                self.programs.settle(self.process, main, None);
            }
            _ => {}
        }
    }

    /// A host phase lies between the end of the wait before it and the beginning of the wait behind it.
    fn host_phase(&mut self, serial: &Serial<'_>, place: u8, post: bool) {
        let main = serial.detail.and_then(|d| d.main_commands);
        let Some(under) = self.writers.now().and_then(|programs| programs.of(main)) else { return };
        match (serial.event, post) {
            (serial::Event::SyncEnd, false) => under.host = Some((place, serial.ns)),
            (serial::Event::SyncBegin, true) => {
                if let Some((begun, since)) = under.host.take()
                    && begun == place
                {
                    under.host_sums[usize::from(place)] += serial.ns.saturating_sub(since);
                    self.host_phases += 1;
                }
            }
            _ => {}
        }
    }

    /// The end of all lines: what is still going on is settled as far as it came.
    pub fn finish(&mut self) {
        for (process, _) in self.writers.all() {
            self.programs.settle(process, None, None);
        }
    }

    /// The programs, the one with the most time first.
    pub fn programs(&self) -> Vec<&Program> {
        let mut all: Vec<&Program> = self.programs.all().collect();
        all.sort_by_key(|p| (std::cmp::Reverse(p.total()), p.list, p.commands, p.fingerprint()));
        all
    }

    /// Dispatches that were begun and not finished, oldest first; `until` is the moment they are open to, ns.
    pub fn open(&self) -> Vec<Open> {
        let mut all = self.abandoned.clone();
        all.extend(self.flights.open());
        all.sort_by_key(|o| o.since);
        all
    }

    /// A dispatch was seen.
    pub fn has_dispatch(&self) -> bool {
        self.coverage.begun + self.coverage.completed > 0
    }

    /// How many [`Self::open`] would list if it kept them all.
    pub fn open_count(&self) -> u64 {
        self.coverage.repeated + self.coverage.failed + self.coverage.left + self.flights.open().len() as u64
    }

    /// The instrument's floor: the median wait for a device that is idle, ns. Unknown when both ends of most waits have
    /// one stamp: then one read brought them, and a wait is not over in no time.
    pub fn floor_ns(&self) -> Option<u64> {
        self.floor.quantile(50).filter(|ns| *ns > 0)
    }

    /// Stamp of the last line, ns.
    pub fn last_ns(&self) -> u64 {
        self.last_ns
    }
}

/// The word of a list for reports.
pub fn list_name(list: List) -> &'static str {
    list.name()
}

#[cfg(test)]
#[path = "../profile_tests.rs"]
mod tests;
