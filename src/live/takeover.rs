//! What the front does when the supervisor is dead: it ends what is left of the tree, drains pipe and ring into the
//! log, and writes the reports.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use anyhow::Context as _;

use crate::core::run::{End, Exit};
use crate::live::consumer::Consumer;
use crate::live::echo::Echo;
use crate::live::ending::{LONGEST_DRAIN, PATIENCE, SILENCE};
use crate::live::front::{Outcome, Shared};
use crate::live::left::{self, Left};
use crate::live::log::LogFile;
use crate::live::outcome;
use crate::live::plan::{Keeper, Plan, Verdict, status};
use crate::live::proc::{Proc, seen};
use crate::live::supervise::{DISK_PATIENCE, ECHO_PATIENCE};
use crate::live::tree::Tree;
use crate::live::working::Running;
use crate::sys::clock::monotonic_ns;
use crate::sys::fd::{self, Want};
use crate::sys::process::{self, Children};

/// Pause between two looks at what SIGKILL has not ended yet, ns.
const LOOK_AGAIN_SOON: u64 = 2_000_000;

/// Why the supervisor did not do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was killed.
    Killed,
    /// It could not go on, and has said why.
    Failed,
}

impl Why {
    /// The cause in the record.
    fn cause(self) -> &'static str {
        match self {
            Why::Killed => "supervisor-killed",
            Why::Failed => "supervisor-failed",
        }
    }
}

/// What the supervisor left.
#[derive(Debug)]
pub struct Lost<'a> {
    /// Why.
    pub why: Why,
    /// The target's pid, if it was started.
    pub target: Option<i32>,
    /// Our side of the target's stderr.
    pub ours: &'a OwnedFd,
}

/// Does the rest.
///
/// # Errors
/// Our own stderr cannot be duplicated.
pub fn finish(
    plan: &Plan,
    shared: &Shared,
    lost: &Lost<'_>,
    keeper: &mut dyn Keeper,
) -> anyhow::Result<Outcome> {
    let failed = Outcome::Verdict(Verdict::Exit(status::FAILED));
    let mut end = End { at_ns: monotonic_ns(), status: status::FAILED, ..End::default() };
    end.exit = Exit { code: None, signal: None, cause: lost.why.cause().into() };
    end_tree(&mut end, shared.others.clone());
    if lost.why == Why::Failed && lost.target.is_none() {
        keeper.discard();
        return Ok(failed);
    }
    let log = resumed_log(plan, shared);
    let echo = Echo::start(fd::duplicate(2).context("our stderr")?, log.is_some());
    let left = drain(plan, shared, lost.ours, log, &echo)?;
    let stuck = left.is_none();
    let left = left.unwrap_or_else(|| left::saved(&shared.ring));
    let source = plan.source.as_ref();
    outcome::count(&mut end, &left, &shared.ring, source);
    let Left { book, mut log, .. } = left;
    if let Some(source) = source {
        source.remove();
    }
    // A log that can be read again tells more than the sums in the ring, unless lines are missing in it.
    let whole = log.as_ref().is_some_and(|log| log.is_regular() && log.lost().bytes == 0);
    let mut run = plan.run.clone();
    run.pid = lost.target;
    echo.drain(ECHO_PATIENCE);
    end.counters.echo_lost_bytes = echo.lost();
    end.partial = Some(why_partial(lost, stuck));
    run.end = Some(end);
    let made = keeper.finished(&mut run, (!whole).then_some(book), None);
    if let Some(log) = &mut log {
        outcome::close_log(log, &run);
    }
    outcome::show(&made, &echo);
    if lost.why == Why::Killed {
        echo.say("the supervisor process was killed; the target was ended, and the report is partial");
    }
    echo.drain(ECHO_PATIENCE);
    Ok(failed)
}

/// What was printed and is not in the log yet. `None` when a disk (or a pipe that nobody reads) holds it up.
fn drain(
    plan: &Plan,
    shared: &Shared,
    ours: &OwnedFd,
    log: Option<LogFile>,
    echo: &Echo,
) -> anyhow::Result<Option<Left>> {
    let rest = ours.try_clone().context("a descriptor")?;
    let (ring, source) = (Arc::clone(&shared.ring), plan.source.as_ref());
    let mut consumer = Consumer::new(ring, source, log, echo.share(), plan.echo).reading(&plan.run);
    // On a thread, as in the supervisor: a disk, or a pipe that nobody reads, must not keep us from our end.
    let draining = Running::work(move |_| {
        consumer.drain();
        drain_pipe(&mut consumer, &rest);
        consumer.finish()
    });
    let draining = draining.context("a thread for the rest of the log")?;
    Ok(draining.finish(&shared.ring, DISK_PATIENCE))
}

/// The log, from where the supervisor saved last that it is whole.
fn resumed_log(plan: &Plan, shared: &Shared) -> Option<LogFile> {
    let log = plan.log.as_ref()?;
    let file = log.file.try_clone().ok()?;
    let saved = shared.ring.saved()[1];
    // Nothing was saved yet: only the header is known to be whole.
    let offset = if saved == 0 { log.offset } else { saved };
    Some(LogFile::resume(file, log.path.display().to_string(), offset))
}

fn why_partial(lost: &Lost<'_>, stuck: bool) -> String {
    let why = match lost.why {
        Why::Killed => "hrx-wrap's supervisor process was killed",
        Why::Failed => "hrx-wrap could not set up the run",
    };
    let started = lost.target.is_some();
    let what = if started { "the target was ended" } else { "the target may not have been started" };
    let disk = if stuck { outcome::DISK_STUCK } else { "" };
    format!("{why}, so {what}{disk}")
}

/// The target dies with its parent; what it left behind has come to us.
fn end_tree(end: &mut End, others: Vec<i32>) {
    let no_others = others.is_empty();
    let tree = Tree::below_us(Proc::default(), others);
    let until = monotonic_ns() + PATIENCE;
    loop {
        while let Children::Changed(..) = process::next_change() {
            end.reaped += 1;
        }
        let left = tree.all();
        // One that came to us while /proc was read may not be in the picture, but it is our child.
        if left.is_empty() && (!no_others || !process::has_children()) {
            return;
        }
        if monotonic_ns() >= until {
            end.unkillable = left.iter().map(seen).collect();
            return;
        }
        tree.kill();
        // Without SIGCHLD in an inbox a short look again is the simplest wait that cannot miss anything.
        let _ = fd::wait::<0>([], Some(LOOK_AGAIN_SOON));
    }
}

/// What nobody had read yet.
fn drain_pipe(consumer: &mut Consumer, ours: &OwnedFd) {
    let until = monotonic_ns() + LONGEST_DRAIN;
    let mut piece = vec![0; 64 << 10];
    while monotonic_ns() < until {
        let ready = fd::wait([(Some(ours.as_fd()), Want::Read)], Some(SILENCE));
        if !ready.is_ok_and(|[r]| r.readable) {
            return;
        }
        match fd::read(ours.as_fd(), &mut piece) {
            Ok(n) if n > 0 => consumer.take_bytes(monotonic_ns(), &piece[..n]),
            _ => return,
        }
    }
}
