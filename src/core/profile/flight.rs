//! Dispatches in flight: begin, end and waits of one command paired.

use crate::core::parse::rejoin::Serial;
use crate::core::parse::serial::{Detail, Event, List, Phase};
use crate::core::profile::program::Dispatch;

/// What names a dispatch in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The process that wrote of it; 0 where that is not known.
    pub process: u32,
    /// Its list.
    pub list: List,
    /// Commands of the list.
    pub commands: u64,
    /// Its place in the list.
    pub index: u64,
}

/// How far a dispatch came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The host launches it.
    Launching,
    /// It is on the device.
    OnDevice,
}

impl State {
    /// The word for reports.
    pub fn name(self) -> &'static str {
        match self {
            State::Launching => "launching",
            State::OnDevice => "on the device",
        }
    }
}

/// A dispatch that was begun and not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// Which.
    pub key: Key,
    /// Its kernel.
    pub kernel_id: Option<u64>,
    /// How far it came.
    pub state: State,
    /// When its launch began, ns.
    pub since: u64,
    /// When its launch ended, ns, once it did.
    pub launched: Option<u64>,
    /// The kernel that was completed last before it.
    pub neighbour: Option<u64>,
    /// When the same dispatch began again, or failed, ns: it was open until then at the latest.
    pub until: Option<u64>,
}

/// What an event means for the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A wait for an idle device took this long, ns.
    Floor(u64),
    /// A dispatch began.
    Begun {
        /// Another one was open.
        overlapping: bool,
    },
    /// A launch ended.
    Ended,
    /// An end without a beginning.
    Orphan,
    /// A dispatch of which a line is missing.
    Broken,
    /// So many that began before one that came to its end, and of which a line was broken: theirs was in it.
    Lost(u64),
    /// A dispatch that never came to its end: it begins again.
    Abandoned(Open),
    /// A dispatch that failed, by the backend's own word.
    Failed(Open),
    /// A whole dispatch.
    Completed(Key, Dispatch),
}

/// A command on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    kernel_id: Option<u64>,
    bindings: Option<u64>,
    pre_begin: Option<u64>,
    pre_end: Option<u64>,
    begin: Option<u64>,
    end: Option<u64>,
    /// A line was broken while it was on its way: what is missing of it may be in there.
    damaged: bool,
}

/// All commands on their way: one, when one context writes.
#[derive(Clone, Debug, Default)]
pub struct Flights {
    all: Vec<(Key, Flight)>,
    /// The kernel that was completed last, by process.
    neighbours: Vec<(u32, Option<u64>)>,
}

impl Flights {
    /// A line of this process was lost: whatever it has on its way may have been in it.
    pub fn broken(&mut self, process: u32) {
        self.all.iter_mut().filter(|(k, _)| k.process == process).for_each(|(_, f)| f.damaged = true);
    }

    /// So few are on their way at once that a list is faster than any map.
    fn get(&mut self, key: Key) -> Option<&mut Flight> {
        self.all.iter_mut().find(|(k, _)| *k == key).map(|(_, flight)| flight)
    }

    fn put(&mut self, key: Key, flight: Flight) {
        match self.get(key) {
            Some(known) => *known = flight,
            None => self.all.push((key, flight)),
        }
    }

    fn remove(&mut self, key: Key) -> Option<Flight> {
        let place = self.all.iter().position(|(k, _)| *k == key)?;
        Some(self.all.swap_remove(place).1)
    }

    /// Takes one event of a command, and says what follows from it.
    pub fn take(&mut self, key: Key, serial: &Serial<'_>, detail: &Detail, mut each: impl FnMut(&Step)) {
        let ns = serial.ns;
        match (serial.phase, serial.event) {
            (Phase::Pre, Event::SyncBegin) => {
                self.leave(key, ns, Step::Abandoned, &mut each);
                self.put(key, Flight { pre_begin: Some(ns), ..Flight::default() });
            }
            (Phase::Pre, Event::SyncEnd) => {
                let Some(flight) = self.get(key) else { return };
                flight.pre_end = Some(ns);
                if let Some(begin) = flight.pre_begin {
                    each(&Step::Floor(ns.saturating_sub(begin)));
                }
            }
            (Phase::Launch, Event::Begin) => self.begin(key, ns, detail, &mut each),
            (Phase::Launch, Event::End) => {
                match self.get(key).filter(|f| f.begin.is_some() && f.end.is_none()) {
                    Some(flight) => {
                        flight.end = Some(ns);
                        each(&Step::Ended);
                    }
                    None => each(&Step::Orphan),
                }
            }
            (Phase::Post, Event::SyncEnd) => self.complete(key, ns, &mut each),
            (_, Event::Failed) => self.leave(key, ns, Step::Failed, &mut each),
            _ => {}
        }
    }

    fn begin(&mut self, key: Key, ns: u64, detail: &Detail, each: &mut impl FnMut(&Step)) {
        let before = self.get(key).copied().unwrap_or_default();
        if before.begin.is_some() {
            self.leave(key, ns, Step::Abandoned, each);
        }
        let beside = |k: &Key| k.process == key.process && *k != key;
        let overlapping = self.all.iter().any(|(k, f)| beside(k) && f.begin.is_some() && !f.damaged);
        let waits = if before.begin.is_some() { Flight::default() } else { before };
        let (kernel_id, bindings) = (detail.kernel_id, detail.bindings);
        self.put(key, Flight { kernel_id, bindings, begin: Some(ns), ..waits });
        each(&Step::Begun { overlapping });
    }

    fn complete(&mut self, key: Key, ns: u64, each: &mut impl FnMut(&Step)) {
        let Some(flight) = self.remove(key) else { return each(&Step::Orphan) };
        let (Some(begin), Some(end)) = (flight.begin, flight.end) else {
            let step = if flight.begin.is_some() || flight.damaged { Step::Broken } else { Step::Orphan };
            return each(&step);
        };
        match self.neighbours.iter_mut().find(|(process, _)| *process == key.process) {
            Some((_, last)) => *last = flight.kernel_id,
            None => self.neighbours.push((key.process, flight.kernel_id)),
        }
        let dispatch = Dispatch {
            index: key.index,
            kernel_id: flight.kernel_id,
            bindings: flight.bindings,
            wait: flight.pre_begin.zip(flight.pre_end).map_or(0, |(a, b)| b.saturating_sub(a)),
            from: flight.pre_begin.unwrap_or(begin),
            launch: end.saturating_sub(begin),
            device: ns.saturating_sub(end),
            until: ns,
        };
        // A program's commands run one after another: what began before this one and had a line broken has lost its end.
        let held = self.all.len();
        self.all.retain(|(k, f)| {
            k.process != key.process || !f.damaged || f.begin.is_none_or(|older| older >= begin)
        });
        let lost = (held - self.all.len()) as u64;
        each(&Step::Completed(key, dispatch));
        if lost > 0 {
            each(&Step::Lost(lost));
        }
    }

    /// A command that begins again, or fails, leaves the one before open; or broken, when a line of it may be missing.
    fn leave(&mut self, key: Key, ns: u64, how: fn(Open) -> Step, each: &mut impl FnMut(&Step)) {
        let Some(flight) = self.remove(key).filter(|f| f.begin.is_some()) else { return };
        if flight.damaged {
            each(&Step::Broken);
        } else if let Some(open) = self.opened(key, &flight) {
            each(&how(Open { until: Some(ns), ..open }));
        }
    }

    fn opened(&self, key: Key, flight: &Flight) -> Option<Open> {
        let since = flight.begin?;
        let state = if flight.end.is_some() { State::OnDevice } else { State::Launching };
        let neighbour = self.neighbours.iter().find(|(process, _)| *process == key.process).and_then(|n| n.1);
        let (kernel_id, launched) = (flight.kernel_id, flight.end);
        Some(Open { key, kernel_id, state, since, launched, neighbour, until: None })
    }

    /// The end of a dispatch came without a time of its own. True when that dispatch was on its way.
    pub fn lose(&mut self, key: Key) -> bool {
        self.remove(key).is_some_and(|flight| flight.begin.is_some())
    }

    /// Whether a dispatch is on its way.
    pub fn holds(&self, key: Key) -> bool {
        self.all.iter().any(|(k, _)| *k == key)
    }

    /// A process is not waited for any more: what it has on its way is open for good.
    pub fn leave_all(&mut self, process: u32) -> Vec<Open> {
        let (left, stay) = std::mem::take(&mut self.all).into_iter().partition(|(k, _)| k.process == process);
        self.all = stay;
        let left: Vec<(Key, Flight)> = left;
        let open = left.iter().filter_map(|(key, flight)| self.opened(*key, flight)).collect();
        self.neighbours.retain(|(of, _)| *of != process);
        open
    }

    /// What is on its way now.
    pub fn open(&self) -> Vec<Open> {
        self.all.iter().filter_map(|(key, flight)| self.opened(*key, flight)).collect()
    }
}
