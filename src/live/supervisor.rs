//! The supervisor process: the only one that forks, signals and reaps, and the one that survives.
//!
//! One thread decides (this one); the reader, the consumer and the echo have threads of their own and decide nothing.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::core::escalate::Action;
use crate::core::procstat::Stat;
use crate::core::run::{End, Process, Stop};
use crate::core::signals;
use crate::live::channel::{Channel, Message};
use crate::live::ending::{Ending, LONGEST_DRAIN, LOOK_AGAIN, ORPHAN_GRACE, Reason, SILENCE};
use crate::live::front::Shared;
use crate::live::plan::Plan;
use crate::live::proc::seen;
use crate::live::reader::Progress;
use crate::live::sampler::Nudge;
use crate::live::signalling::Merges;
use crate::live::tree::Tree;
use crate::sys::clock::monotonic_ns;
use crate::sys::fd::{self, Want};
use crate::sys::process::{self, Change, Children, PidFd};
use crate::sys::signal::Inbox;
use crate::sys::term;

/// How often the size of the user's window is looked at in pty mode: its change is not told to us in the background.
const WINDOW_LOOK: u64 = 200_000_000;

/// How long a process may take from closing its stderr to its end before it counts as left over.
const EXITING: u64 = 20_000_000;

/// How often a reader that is late is looked after.
const READER_DELAY: u64 = 10_000_000;

/// The target, while it is ours to reap.
#[derive(Debug)]
pub struct Target {
    /// Its pid, which is also its process group.
    pub pid: i32,
    /// Its descriptor.
    pub pidfd: PidFd,
    /// How it ended, once it did, and when.
    pub end: Option<(u64, Change)>,
}

/// The supervisor's state.
#[derive(Debug)]
pub struct Supervisor<'a> {
    pub(super) plan: &'a Plan,
    pub(super) shared: &'a Shared,
    pub(super) channel: &'a Channel,
    pub(super) inbox: Inbox,
    pub(super) front_gone: bool,
    /// It went while the target was running.
    pub(super) orphaned: bool,
    pub(super) front_stopped: bool,
    pub(super) tree: Tree,
    pub(super) target: Target,
    pub(super) ending: Option<Ending>,
    pub(super) gave_up: bool,
    pub(super) timed_out: bool,
    pub(super) deadline: Option<u64>,
    pub(super) looked_at: u64,
    pub(super) merges: Merges,
    pub(super) end: End,
    pub(super) progress: Arc<Progress>,
    pub(super) reader_done: OwnedFd,
    pub(super) sampler: Nudge,
    /// Our side of the target's stderr.
    pub(super) ours: Arc<OwnedFd>,
}

impl Supervisor<'_> {
    /// From the target's start until nothing of its tree is left that is to be ended, and its stderr is read.
    pub(super) fn watch(&mut self, stderr_name: &Path) {
        while self.target.end.is_none() && !self.gave_up {
            self.turn(None);
        }
        self.drain();
        // Killing leftovers does not come before everything that was written is read.
        self.end_leftovers();
        self.drain();
        if !self.progress.ended.load(Ordering::Acquire) {
            let members = self.tree.members();
            self.end.stderr_held_by = self.tree.proc().holders(stderr_name, &members);
        }
    }

    /// Waits once, at most until `limit`, and does everything that is due.
    fn turn(&mut self, limit: Option<u64>) {
        let now = monotonic_ns();
        let until = [limit, self.next_timer(now)].into_iter().flatten().min();
        let reading = !self.progress.ended.load(Ordering::Acquire);
        let ready = fd::wait(
            [
                (Some(self.inbox.as_fd()), Want::Read),
                ((!self.front_gone).then(|| self.channel.as_fd()), Want::Read),
                ((!self.front_gone).then(|| self.shared.front.as_fd()), Want::Read),
                (reading.then(|| self.reader_done.as_fd()), Want::Read),
            ],
            until.map(|t| t.saturating_sub(now)),
        );
        let Ok([inbox, channel, front, _]) = ready else {
            return;
        };
        if inbox.readable {
            self.take_signals();
        }
        if channel.readable {
            self.take_messages();
        }
        if front.readable {
            self.front_died();
        }
        self.timers(monotonic_ns());
        if self.plan.pty {
            self.follow_window();
        }
    }

    fn next_timer(&self, now: u64) -> Option<u64> {
        let ending = self.ending.and_then(|e| e.escalation.next_at().map(|at| at.min(now + LOOK_AGAIN)));
        let deadline = if self.timed_out || self.target.end.is_some() { None } else { self.deadline };
        let window = (self.plan.pty && self.shared.terminal.is_some()).then_some(now + WINDOW_LOOK);
        [ending, deadline, window].into_iter().flatten().min()
    }

    fn timers(&mut self, now: u64) {
        if !self.timed_out && self.target.end.is_none() && self.deadline.is_some_and(|d| now >= d) {
            self.timed_out = true;
            self.sampler.first();
            self.begin(Ending::begin(Reason::Timeout, now, self.plan.kill_after_ns));
        }
        let Some(mut ending) = self.ending else { return };
        match ending.escalation.due(now) {
            Some(Action::Kill) => {
                self.tree.kill();
                ending.whole_tree = true;
            }
            Some(Action::GiveUp) => self.give_up(),
            None if now.saturating_sub(self.looked_at) >= LOOK_AGAIN && ending.whole_tree => {
                self.looked_at = now;
                if ending.escalation.killed() { self.tree.kill() } else { self.tree.ask(self.first_signal()) }
            }
            None => {}
        }
        self.ending = Some(ending);
    }

    /// The signal that asks: the user's for a timeout, else TERM.
    fn first_signal(&self) -> i32 {
        if self.timed_out { self.plan.signal } else { signals::TERM }
    }

    /// Begins an end, or makes one that is under way stricter; the clock of the first one stays.
    pub(super) fn begin(&mut self, ending: Ending) {
        let whole_tree = ending.whole_tree;
        match &mut self.ending {
            Some(under_way) => {
                under_way.whole_tree |= whole_tree;
                if let Some(at) = ending.escalation.next_at() {
                    under_way.escalation.hurry(at);
                }
            }
            None => self.ending = Some(ending),
        }
        if whole_tree {
            self.looked_at = monotonic_ns();
            self.tree.ask(self.first_signal());
        }
    }

    fn front_died(&mut self) {
        self.front_gone = true;
        self.orphaned = self.target.end.is_none();
        self.sampler.first();
        self.begin(Ending::begin(Reason::Orphaned, monotonic_ns(), ORPHAN_GRACE));
    }

    fn give_up(&mut self) {
        self.gave_up = true;
        // Zombies count here: one that a tracer holds cannot be reaped.
        self.end.unkillable = self.tree.all().iter().map(seen).collect();
    }

    /// The only reaper in the program.
    pub(super) fn reap(&mut self) -> bool {
        let now = monotonic_ns();
        loop {
            match process::next_change() {
                Children::None => return false,
                Children::Quiet => return true,
                Children::Changed(pid, change) if pid == self.target.pid => self.target_changed(now, change),
                Children::Changed(_, Change::Exited(_) | Change::Killed(_)) => {
                    // One that came to us: so may others have.
                    self.sampler.changed();
                    self.end.reaped += 1;
                }
                Children::Changed(..) => {}
            }
        }
    }

    fn target_changed(&mut self, now: u64, change: Change) {
        match change {
            Change::Exited(_) | Change::Killed(_) => self.target.end = Some((now, change)),
            Change::Stopped(signal) => {
                // Time goes on while it is stopped; so does the record.
                self.end.stops.push(Stop { at_ns: now, signal, until_ns: None });
                self.front_stopped = true;
                self.merges.forget(signals::CONT);
                self.channel.send(Message::Stopped(signal));
            }
            Change::Continued => {
                if let Some(stop) = self.end.stops.last_mut() {
                    stop.until_ns.get_or_insert(now);
                }
                self.wake_front();
            }
        }
    }

    /// A front that stopped with the target goes on with it, whoever woke the target.
    pub(super) fn wake_front(&mut self) {
        if std::mem::take(&mut self.front_stopped)
            && self.tree.proc().stat(self.shared.front_pid).is_some_and(|s| s.state == 'T')
        {
            let _ = self.shared.front.signal(signals::CONT);
        }
    }

    /// Reads on while the target's stderr says something.
    fn drain(&mut self) {
        let since = monotonic_ns();
        let (mut printed, mut printed_at) = (self.printed(), since);
        while !self.progress.ended.load(Ordering::Acquire) {
            let now = monotonic_ns();
            let prints = self.printed();
            if prints != printed {
                (printed, printed_at) = (prints, now);
            }
            let silent_since = self.progress.active_ns.load(Ordering::Acquire).max(printed_at);
            let mut until = (silent_since + SILENCE).min(since + LONGEST_DRAIN);
            if now >= until {
                if now >= since + LONGEST_DRAIN || !self.has_more() {
                    return;
                }
                until = now + READER_DELAY;
            }
            self.turn(Some(until));
        }
    }

    /// How much the tree has printed into its ring.
    fn printed(&self) -> u64 {
        self.plan.source.as_ref().map_or(0, |source| source.ring.head())
    }

    /// What nobody has read yet is no silence: a busy machine can keep the reader from it for long.
    fn has_more(&self) -> bool {
        fd::wait([(Some(self.ours.as_fd()), Want::Read)], Some(0)).is_ok_and(|[r]| r.readable)
    }

    /// Ends what the target left behind, or leaves it alone.
    fn end_leftovers(&mut self) {
        if !self.reap() || self.gave_up {
            return;
        }
        // A process that closed its stderr because it ends is none that is left: it gets the moment that this takes.
        let until = monotonic_ns() + EXITING;
        while monotonic_ns() < until {
            self.turn(Some(until));
            if !self.reap() {
                return;
            }
        }
        let members = self.tree.members();
        self.sampler.first();
        let held = |stat: &Stat| Process { gtt_bytes: self.sampler.held_by(stat.pid), ..seen(stat) };
        self.end.leftovers = members.iter().map(held).collect();
        if self.plan.leave && !self.front_gone {
            self.end.left_alone = !members.is_empty();
            return;
        }
        let grace = if self.front_gone { ORPHAN_GRACE } else { self.plan.kill_after_ns };
        if self.ending.is_none_or(|e| !e.escalation.killed()) {
            self.begin(Ending::begin(Reason::Leftovers, monotonic_ns(), grace));
        }
        while !self.gave_up && self.reap() {
            self.turn(None);
        }
    }

    /// In pty mode the target's terminal is as large as the user's.
    fn follow_window(&self) {
        let Some(size) = self.shared.terminal.as_ref().and_then(|t| term::window_size(t.as_fd())) else {
            return;
        };
        if term::window_size(self.ours.as_fd()) != Some(size) {
            term::set_window_size(self.ours.as_fd(), size);
        }
    }
}
