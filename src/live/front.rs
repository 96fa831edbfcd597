//! The front: the process that the shell, the user and an outer wrapper know.
//!
//! It does the terminal's duties, hands signals on and mirrors the end. It keeps no state that could be lost with it:
//! when it dies, even by SIGKILL, the supervisor goes on. When the supervisor dies, the front does the rest.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use anyhow::Context as _;

use crate::core::signals;
use crate::live::channel::{Channel, Message};
use crate::live::plan::{Keeper, Plan, Verdict, status};
use crate::live::proc::Proc;
use crate::live::ring::{DEFAULT_CAPACITY, Ring};
use crate::live::takeover::{Lost, Why};
use crate::live::target::Refusal;
use crate::live::wires::Wires;
use crate::live::{supervise, takeover};
use crate::sys::clock::monotonic_ns;
use crate::sys::fd::{self, Want};
use crate::sys::process::{self, Children, Forked, PidFd};
use crate::sys::signal::{Arrival, Inbox, Set, is_ignored, raise_default, set_ignored};
use crate::sys::{startup, term};

/// What both processes have from before their fork.
#[derive(Debug)]
pub struct Shared {
    /// The ring, in memory that both see.
    pub ring: Arc<Ring>,
    /// The front's pidfd, opened by itself: it cannot mean another process.
    pub front: PidFd,
    /// Its pid.
    pub front_pid: i32,
    /// Its process group.
    pub front_group: i32,
    /// The controlling terminal.
    pub terminal: Option<File>,
    /// The target takes the terminal's foreground at once.
    pub hand_over: bool,
    /// The caller's signal mask.
    pub mask: Set,
    /// Children that this process had before (a shell that became us): no business of ours.
    pub others: Vec<i32>,
}

impl Shared {
    /// All of it, in the process that will be the front. `mask`: the caller's.
    fn gather(mask: Set) -> anyhow::Result<Shared> {
        let terminal = term::controlling();
        Ok(Shared {
            ring: new_ring().context("the ring's memory")?,
            front: PidFd::open(process::own_pid()).context("pidfd")?,
            front_pid: process::own_pid(),
            front_group: process::own_group(),
            hand_over: owns(terminal.as_ref()) && !in_pipeline(),
            terminal,
            mask,
            others: if process::has_children() {
                Proc::default().children(process::own_pid())
            } else {
                Vec::new()
            },
        })
    }
}

/// How a run ended for the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// End like this.
    Verdict(Verdict),
    /// The target could not be started.
    NotStarted(Refusal),
}

/// Runs the plan in two processes. Returns in the front only.
///
/// # Errors
/// What could not be set up, before any target was started.
pub fn run(plan: &Plan, keeper: &mut dyn Keeper) -> anyhow::Result<Outcome> {
    let taken = Set::of(signals::taken());
    let mask = taken.block().context("blocking signals")?;
    plain_faults().context("fault signals")?;
    // An ignored SIGCHLD would reap the supervisor behind our back.
    set_ignored(signals::CHLD, false).context("SIGCHLD")?;
    process::become_subreaper().context("subreaper")?;
    let inbox = Inbox::open(&taken).context("signalfd")?;
    let shared = Shared::gather(mask)?;
    let wires = Wires::open(plan.pty, shared.terminal.as_ref()).context("the target's stderr")?;
    if let Some(source) = &plan.source {
        source.bind(&wires.theirs).context("the target's stderr")?;
    }
    let (channel, theirs) = Channel::pair().context("a socket pair")?;
    match process::fork().context("fork of the supervisor")? {
        Forked::Child => {
            drop((channel, inbox));
            supervisor_process(plan, &shared, &theirs, wires, keeper)
        }
        Forked::Parent(pid) => {
            drop((theirs, wires.theirs));
            let supervisor = PidFd::open(pid).context("the supervisor's pidfd")?;
            supervise::let_go_of_the_targets(plan)?;
            if let Some(source) = plan.source.as_ref().filter(|_| plan.leave) {
                source.leave();
            }
            Front { plan, shared: &shared, channel, inbox, supervisor, pid, target: None, failed: false }
                .run(&wires.ours, keeper)
        }
    }
}

/// Rust's runtime catches SEGV and BUS to tell a stack overflow, and lets the first one that another process sends pass
/// without effect. Sent to us they have their default action, as every signal that is not handed on.
fn plain_faults() -> std::io::Result<()> {
    for signal in [signals::SEGV, signals::BUS] {
        if !is_ignored(signal) {
            set_ignored(signal, false)?;
        }
    }
    Ok(())
}

/// The ring of a run.
fn new_ring() -> std::io::Result<Arc<Ring>> {
    let key = monotonic_ns().rotate_left(32) ^ u64::from(std::process::id());
    Ring::create(DEFAULT_CAPACITY, key).map(Arc::new)
}

/// The supervisor's process. Whatever goes wrong in it ends it, and the front takes over.
fn supervisor_process(
    plan: &Plan,
    shared: &Shared,
    channel: &Channel,
    wires: Wires,
    keeper: &mut dyn Keeper,
) -> ! {
    let life = AssertUnwindSafe(|| supervise::supervise(plan, shared, channel, wires, keeper));
    let code = match std::panic::catch_unwind(life) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            let text = format!("hrx-wrap: {error:#}\n");
            if let Ok(to) = fd::duplicate(2) {
                let _ = fd::write(to.as_fd(), text.as_bytes());
            }
            channel.send(Message::Failed);
            status::FAILED
        }
        Err(_) => status::FAILED,
    };
    process::exit_now(code)
}

/// Whether our process group is in the terminal's foreground.
fn owns(terminal: Option<&File>) -> bool {
    terminal.is_some_and(|t| term::foreground(t.as_fd()) == Some(process::own_group()))
}

/// Whether we stand in a shell's pipeline. The other commands in it are of our process group: were the foreground taken
/// from it, a pager among them would stop at its first key. Then the target gets it only when it asks, by stopping.
fn in_pipeline() -> bool {
    let is_pipe = |number: i32| {
        std::fs::read_link(format!("/proc/self/fd/{number}"))
            .is_ok_and(|to| to.as_os_str().to_string_lossy().starts_with("pipe:"))
    };
    (is_pipe(0) && !startup::was_closed(0)) || (is_pipe(1) && !startup::was_closed(1))
}

/// The front's state.
struct Front<'a> {
    plan: &'a Plan,
    shared: &'a Shared,
    channel: Channel,
    inbox: Inbox,
    supervisor: PidFd,
    pid: i32,
    /// The target's pid and process group.
    target: Option<i32>,
    /// The supervisor could not go on.
    failed: bool,
}

impl Front<'_> {
    fn run(mut self, ours: &OwnedFd, keeper: &mut dyn Keeper) -> anyhow::Result<Outcome> {
        let mut outcome = None;
        loop {
            let ready = fd::wait(
                [
                    (Some(self.inbox.as_fd()), Want::Read),
                    (outcome.is_none().then(|| self.channel.as_fd()), Want::Read),
                    (Some(self.supervisor.as_fd()), Want::Read),
                ],
                None,
            );
            let [inbox, _, supervisor] = ready.context("poll")?;
            if inbox.readable {
                self.take_signals();
            }
            // Before the supervisor's end is looked at: its last message may be waiting.
            outcome = outcome.or(self.take_messages());
            if supervisor.readable {
                outcome = outcome.or(self.take_messages());
                break;
            }
        }
        self.reap_supervisor();
        self.take_terminal_back();
        match outcome {
            Some(outcome) => Ok(outcome),
            None => {
                let why = if self.failed { Why::Failed } else { Why::Killed };
                takeover::finish(self.plan, self.shared, &Lost { why, target: self.target, ours }, keeper)
            }
        }
    }

    fn take_signals(&mut self) {
        while let Some(arrival) = self.inbox.next() {
            if arrival.signal == signals::CONT {
                self.hand_over();
            }
            // The supervisor wakes us with CONT when the target goes on: the target had it already.
            if arrival.sender != self.pid {
                self.tell(arrival);
            }
        }
    }

    fn tell(&self, arrival: Arrival) {
        self.channel.send(Message::Signal {
            signal: arrival.signal,
            sender: arrival.sender,
            ns: arrival.ns,
            queued: arrival.queued,
        });
    }

    fn take_messages(&mut self) -> Option<Outcome> {
        while let Some(message) = self.channel.next() {
            match message {
                Message::Started(pid) => self.target = Some(pid),
                Message::Stopped(signal) => self.stop(signal),
                Message::Done(verdict) => return Some(Outcome::Verdict(verdict)),
                Message::NotStarted { errno, candidate } => {
                    return Some(Outcome::NotStarted(Refusal { errno, candidate }));
                }
                Message::Failed => self.failed = true,
                Message::Signal { .. } => {}
            }
        }
        None
    }

    /// The target stopped: so do we, and the shell takes over; unless there is nothing to stop for.
    fn stop(&mut self, signal: i32) {
        let asks_for_terminal = signal == signals::TTIN || signal == signals::TTOU;
        if asks_for_terminal && owns(self.shared.terminal.as_ref()) {
            self.hand_over();
            self.go_on();
            return;
        }
        // No shell would ever continue us: as the kernel does for such a group, the stop is ignored.
        if signal == signals::TSTP && self.is_orphaned() {
            self.go_on();
            return;
        }
        self.take_terminal_back();
        raise_default(signal);
        // Continued. SIGCONT is waiting in the inbox and is handled there.
        let _ = Set::of([signal]).block();
    }

    fn go_on(&self) {
        self.tell(Arrival { signal: signals::CONT, sender: 0, ns: monotonic_ns(), queued: false });
    }

    /// Nobody in our session outside our group can continue us (`man 7 credentials`, orphaned process group).
    fn is_orphaned(&self) -> bool {
        process::session(process::parent_pid()) != process::session(0)
    }

    /// Gives the terminal's foreground to the target's group, if it is ours to give.
    fn hand_over(&self) {
        if let (Some(terminal), Some(target)) = (&self.shared.terminal, self.target)
            && owns(Some(terminal))
        {
            let _ = term::set_foreground(terminal.as_fd(), target);
        }
    }

    /// Takes it back, if the target's group has it.
    fn take_terminal_back(&self) {
        if let (Some(terminal), Some(target)) = (&self.shared.terminal, self.target)
            && term::foreground(terminal.as_fd()) == Some(target)
        {
            let _ = term::set_foreground(terminal.as_fd(), process::own_group());
        }
    }

    fn reap_supervisor(&self) {
        // Its pidfd said that it has ended; others of the tree may have come to us with its death.
        while let Children::Changed(pid, _) = process::next_change() {
            if pid == self.pid {
                return;
            }
        }
    }
}
