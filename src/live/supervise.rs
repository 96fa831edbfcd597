//! The supervisor's whole life, as a table of contents.

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use crate::core::memory::series::Series;
use crate::core::run::{End, Run};
use crate::core::signals;
use crate::core::trace;
use crate::live::channel::{Channel, Message};
use crate::live::consumer::Consumer;
use crate::live::echo::Echo;
use crate::live::front::Shared;
use crate::live::left::{self, Left};
use crate::live::log::LogFile;
use crate::live::outcome;
use crate::live::plan::{Keeper, Plan, Verdict};
use crate::live::proc::Proc;
use crate::live::reader::{self, Progress, Reader};
use crate::live::sampler::{self, Sampler};
use crate::live::signalling::Merges;
use crate::live::supervisor::{Supervisor, Target};
use crate::live::target::{self, Surroundings};
use crate::live::tree::Tree;
use crate::live::wires::Wires;
use crate::live::working::Running;
use crate::sys::clock::monotonic_ns;
use crate::sys::process::{self, PidFd};
use crate::sys::signal::{Inbox, Set};
use crate::sys::{fd, term};

/// How long the last bytes may take to reach our stderr's reader without one getting through.
pub const ECHO_PATIENCE: Duration = Duration::from_secs(2);
/// How long a disk may hold up the end of the log without taking a byte.
pub const DISK_PATIENCE: Duration = Duration::from_secs(10);

/// Starts the target, watches it to its end, writes everything down.
///
/// # Errors
/// What could not be done without; the front sees this process end and does the rest.
pub fn supervise(
    plan: &Plan,
    shared: &Shared,
    channel: &Channel,
    wires: Wires,
    keeper: &mut dyn Keeper,
) -> anyhow::Result<()> {
    process::own_new_group().context("a process group for the supervisor")?;
    process::become_subreaper().context("subreaper")?;
    let taken = Set::of(signals::taken().chain([signals::CHLD]));
    taken.block().context("blocking signals")?;
    let inbox = Inbox::open(&taken).context("signalfd")?;
    let Some(target) = start_target(plan, shared, channel, &wires, keeper)? else {
        if let Some(source) = &plan.source {
            source.remove();
        }
        return Ok(());
    };
    let mut run = plan.run.clone();
    run.pid = Some(target.pid);
    let Wires { ours, theirs, name } = wires;
    drop(theirs);
    let_go_of_the_targets(plan)?;
    let flow = Flow::start(plan, shared, target.pid, Arc::new(ours))?;
    // After the reader's start: the disk may take its time for the record, and the target writes already.
    keeper.started(&run);
    let mut supervisor = Supervisor::new(plan, shared, channel, inbox, target, &flow)?;
    supervisor.watch(&name);
    let samples = take_samples(flow.sampler, &mut supervisor.end);
    let left = flow.consumer.finish(&shared.ring, DISK_PATIENCE);
    conclude(supervisor, &mut run, left, &samples, &flow.echo, keeper);
    Ok(())
}

/// The table of samples behind its header.
fn open_table(plan: &Plan) -> anyhow::Result<Option<LogFile>> {
    let Some(table) = &plan.samples else { return Ok(None) };
    let file = table.file.try_clone().context("the samples")?;
    Ok(Some(LogFile::resume(file, table.path.display().to_string(), table.offset)))
}

/// Ends the sampling; what it saw goes into the record.
fn take_samples(sampler: Sampler, end: &mut End) -> Series {
    let sampler::Left { series, seen, trouble } = sampler.finish(DISK_PATIENCE);
    end.notes.extend(trouble);
    end.memory = Some(seen);
    series
}

/// The target, or nothing when it could not be started; then nothing of the run stays.
fn start_target(
    plan: &Plan,
    shared: &Shared,
    channel: &Channel,
    wires: &Wires,
    keeper: &mut dyn Keeper,
) -> anyhow::Result<Option<Target>> {
    let terminal = shared.terminal.as_ref().filter(|_| shared.hand_over);
    let terminal = terminal.map(std::fs::File::as_fd);
    let around = Surroundings { stderr: wires.theirs.as_fd(), terminal, mask: shared.mask };
    match target::start(plan, &around)? {
        Ok(pid) => {
            // At once: should anything fail from here on, our first process knows that there is a target to end.
            channel.send(Message::Started(pid));
            let pidfd = PidFd::open(pid).context("the target's pidfd")?;
            Ok(Some(Target { pid, pidfd, end: None }))
        }
        Err(refusal) => {
            keeper.discard();
            channel.send(Message::NotStarted { errno: refusal.errno, candidate: refusal.candidate });
            Ok(None)
        }
    }
}

/// Standard input and output are the target's, and so are the caller's other descriptors: a reader of a pipe must see
/// its end when the target is gone, not when we are.
///
/// # Errors
/// `/dev/null` cannot be opened.
pub fn let_go_of_the_targets(plan: &Plan) -> anyhow::Result<()> {
    fd::let_go(0).context("/dev/null")?;
    if !plan.keep_stdout {
        fd::let_go(1).context("/dev/null")?;
    }
    fd::close_inherited(&plan.inherited);
    Ok(())
}

/// Everything that a line runs through, running.
#[derive(Debug)]
pub struct Flow {
    /// Our side of the target's stderr.
    pub ours: Arc<std::os::fd::OwnedFd>,
    /// The way to our stderr.
    pub echo: Echo,
    /// The consumer's thread.
    pub consumer: Running,
    /// What the reader tells.
    pub progress: Arc<Progress>,
    /// Closed when the reader ends.
    pub reader_done: std::os::fd::OwnedFd,
    /// What looks at the tree's memory.
    pub sampler: Sampler,
}

impl Flow {
    fn start(
        plan: &Plan,
        shared: &Shared,
        pid: i32,
        ours: Arc<std::os::fd::OwnedFd>,
    ) -> anyhow::Result<Flow> {
        // The reader first: the target writes already, and a line's time is when it is read.
        let (reader_done, done) = fd::pipe().context("a pipe")?;
        let progress = Arc::new(Progress::default());
        let (ring, from, told) = (Arc::clone(&shared.ring), Arc::clone(&ours), Arc::clone(&progress));
        let who = Reader { pid: process::own_pid(), profiled: plan.run.profile };
        reader::spawn(ring, from, who, told, done).context("the reader's thread")?;
        let sampler = Sampler::start(&plan.sampling, pid, open_table(plan)?).context("the sampler")?;
        let log = open_log(plan, pid)?;
        let echo = Echo::start(fd::duplicate(2).context("our stderr")?, log.is_some());
        let (ring, source) = (Arc::clone(&shared.ring), plan.source.as_ref());
        let mut consumer = Consumer::new(ring, source, log, echo.share(), plan.echo)
            .reading(&plan.run)
            .nudging(sampler.nudge())
            .woken_by(Arc::clone(&progress.doze));
        if plan.progress && term::is_terminal(2) {
            // The terminal is the target's group's while it is ours at all, and the front's before and behind that.
            echo.allow_status([pid, shared.front_group]);
            consumer = consumer.with_status(plan.run.clock.start_ns);
        }
        let consumer = Running::start(consumer).context("the consumer's thread")?;
        Ok(Flow { ours, echo, consumer, progress, reader_done, sampler })
    }
}

/// The kept trace behind its header, which gets the target's pid.
fn open_log(plan: &Plan, pid: i32) -> anyhow::Result<Option<LogFile>> {
    let Some(log) = &plan.log else { return Ok(None) };
    let file = log.file.try_clone().context("the log")?;
    let mut log = LogFile::resume(file, log.path.display().to_string(), log.offset);
    let mut text = Vec::new();
    trace::note(&mut text, "pid", &serde_json::json!(pid));
    log.append(&text);
    Ok(Some(log))
}

impl<'a> Supervisor<'a> {
    fn new(
        plan: &'a Plan,
        shared: &'a Shared,
        channel: &'a Channel,
        inbox: Inbox,
        target: Target,
        flow: &Flow,
    ) -> anyhow::Result<Self> {
        let now = monotonic_ns();
        Ok(Supervisor {
            plan,
            shared,
            channel,
            inbox,
            front_gone: false,
            orphaned: false,
            front_stopped: false,
            tree: Tree::below_us(Proc::default(), Vec::new()),
            target,
            ending: None,
            gave_up: false,
            timed_out: false,
            deadline: plan.timeout_ns.map(|t| now.saturating_add(t)),
            looked_at: now,
            merges: Merges::default(),
            end: End::default(),
            progress: Arc::clone(&flow.progress),
            reader_done: flow.reader_done.try_clone().context("a descriptor")?,
            sampler: flow.sampler.nudge(),
            ours: Arc::clone(&flow.ours),
        })
    }
}

/// The record, the reports, the last word to the front.
fn conclude(
    mut supervisor: Supervisor<'_>,
    run: &mut Run,
    left: Option<Left>,
    samples: &Series,
    echo: &Echo,
    keeper: &mut dyn Keeper,
) {
    let mut verdict = outcome::settle(&mut supervisor);
    let stuck = left.is_none();
    // A disk that holds up the log: the sums are known as far as it took them.
    let left = left.unwrap_or_else(|| left::saved(&supervisor.shared.ring));
    let source = supervisor.plan.source.as_ref();
    outcome::count(&mut supervisor.end, &left, &supervisor.shared.ring, source);
    let Left { book, mut log, .. } = left;
    echo.drain(ECHO_PATIENCE);
    supervisor.end.counters.echo_lost_bytes = echo.lost();
    let mut reports = 0;
    // Killed while the reports were being written: they are written once more, and say so.
    while reports == 0 || reports == 1 && !supervisor.front_gone && supervisor.shared.front.has_ended() {
        supervisor.front_gone |= supervisor.shared.front.has_ended();
        supervisor.end.partial = outcome::partial(&supervisor, stuck);
        run.end = Some(supervisor.end.clone());
        let made = keeper.finished(run, Some(book.clone()), Some(samples));
        if let Some(status) = made.status {
            verdict = Verdict::Exit(status);
        }
        if let Some(log) = &mut log {
            outcome::close_log(log, run);
        }
        if reports == 0 {
            outcome::show(&made, echo);
        }
        reports += 1;
    }
    echo.drain(ECHO_PATIENCE);
    // Our first process may be gone, or may not know whether somebody still needs it.
    if let Some(source) = source.filter(|_| !supervisor.end.left_alone) {
        source.remove();
    }
    supervisor.wake_front();
    supervisor.channel.send(Message::Done(verdict));
}
