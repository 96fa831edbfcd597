//! Signals that come to us: handed on exactly once, or not at all.

use std::collections::HashMap;

use crate::core::run::Forwarded;
use crate::core::signals;
use crate::live::channel::Message;
use crate::live::ending::{Ending, Reason};
use crate::live::supervisor::Supervisor;
use crate::sys::clock::monotonic_ns;
use crate::sys::process::signal_group;
use crate::sys::signal::{Arrival, is_ignored};

/// The record keeps this many; a target that lives on signals must not make it grow.
const KEPT: usize = 200;

/// The last arrival of each signal that merges.
#[derive(Debug, Default)]
pub struct Merges(HashMap<i32, (i32, u64)>);

impl Merges {
    /// Something happened that makes the next arrival of this signal a new request.
    pub(super) fn forget(&mut self, signal: i32) {
        self.0.remove(&signal);
    }

    /// Whether this arrival repeats the last one.
    fn repeats(&mut self, arrival: Arrival) -> bool {
        let breath = signals::lookup(arrival.signal).map_or(0, |s| s.breath_ns);
        let last = self.0.insert(arrival.signal, (arrival.sender, arrival.ns));
        // The kernel sends each of its own to one process only.
        let same = |(sender, at): (i32, u64)| sender == arrival.sender && arrival.ns.abs_diff(at) < breath;
        !arrival.queued && arrival.sender != 0 && last.is_some_and(same)
    }
}

impl Supervisor<'_> {
    /// Signals sent to this process itself, and the end of children.
    pub(super) fn take_signals(&mut self) {
        while let Some(arrival) = self.inbox.next() {
            if arrival.signal != signals::CHLD {
                self.take_signal(arrival);
            }
        }
        self.reap();
    }

    /// Signals that the front hands on.
    pub(super) fn take_messages(&mut self) {
        while let Some(message) = self.channel.next() {
            if let Message::Signal { signal, sender, ns, queued } = message {
                self.take_signal(Arrival { signal, sender, ns, queued });
            }
        }
    }

    fn take_signal(&mut self, arrival: Arrival) {
        let now = monotonic_ns();
        let action = if self.target.end.is_some() {
            "no-target"
        } else if self.tree.holds(arrival.sender) {
            "from-target"
        } else if self.merges.repeats(arrival) {
            "merged"
        } else {
            self.hand_on(arrival, now)
        };
        if self.end.signals.len() < KEPT {
            let (signal, sender) = (arrival.signal, arrival.sender);
            self.end.signals.push(Forwarded { at_ns: now, signal, sender, action: action.to_owned() });
        }
    }

    fn hand_on(&mut self, arrival: Arrival, now: u64) -> &'static str {
        // What the caller has us ignore is no request to end, whoever sends it.
        let ends = signals::lookup(arrival.signal).is_some_and(|s| s.ends) && !is_ignored(arrival.signal);
        if ends || [signals::HUP, signals::QUIT].contains(&arrival.signal) {
            self.sampler.first();
        }
        // A terminal signals a whole group, and so does a shell that continues a job; a process signals one.
        let to_group = arrival.sender == 0 || arrival.signal == signals::CONT;
        let sent = if to_group {
            signal_group(self.target.pid, arrival.signal)
        } else {
            self.target.pidfd.signal(arrival.signal)
        };
        if ends && arrival.sender != 0 {
            self.tree.was_asked(self.target.pid);
            self.begin(Ending::begin(Reason::Request, now, self.plan.kill_after_ns));
        }
        if sent.is_ok() { "forwarded" } else { "no-target" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_breath_is_one_request_and_the_next_is_another() {
        let mut merges = Merges::default();
        let term = Arrival { signal: signals::TERM, sender: 9, ns: 0, queued: false };
        let at = |signal: Arrival, ns| Arrival { ns, ..signal };
        let breath = signals::lookup(signals::TERM).unwrap().breath_ns;
        assert!(!merges.repeats(at(term, 0)));
        assert!(merges.repeats(at(term, breath - 1)));
        assert!(
            !merges.repeats(at(Arrival { sender: 8, ..term }, breath)),
            "another sender is another request"
        );
        assert!(
            !merges.repeats(at(Arrival { signal: signals::INT, ..term }, breath)),
            "so is another signal"
        );
        assert!(!merges.repeats(at(term, 3 * breath)));
        let cont = Arrival { signal: signals::CONT, ..term };
        assert!(!merges.repeats(at(cont, 0)) && merges.repeats(at(cont, 1)));
        merges.forget(signals::CONT);
        assert!(!merges.repeats(at(cont, 2)), "a stop came between");
        for talk in [10, signals::RT_FIRST] {
            let signal = Arrival { signal: talk, ..term };
            assert!(!merges.repeats(at(signal, 0)) && merges.repeats(at(signal, 1)), "{talk}");
            assert!(!merges.repeats(at(signal, 6_000_000)), "{talk} may follow soon");
            let queued = Arrival { queued: true, ..signal };
            assert!(!merges.repeats(at(queued, 6_000_001)), "{talk}: of those that queue each one counts");
        }
        let key = Arrival { sender: 0, signal: signals::INT, ..term };
        assert!(!merges.repeats(at(key, 0)) && !merges.repeats(at(key, 1)), "so does a key");
    }
}
