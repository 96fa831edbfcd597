//! The sampler: a thread that looks at the tree's memory on a timer, and whenever it is told to.
//!
//! Its deadlines are absolute, so a late sample does not make the next one late. Each sample is on disk when the next one
//! is taken: whoever reads the table of a killed run has all but the last.

pub mod common;
pub mod device;
pub mod file;
pub mod look;
pub mod process;
pub mod tree;

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, mpsc};
use std::time::{Duration, Instant};

use crate::core::memory::sample::Sample;
use crate::core::memory::seen::Seen;
use crate::core::memory::series::Series;
use crate::core::memory::table;
use crate::core::progress::Gtt;
use crate::live::log::LogFile;
use crate::sys::clock::monotonic_ns;
use crate::sys::fd::{self, Want};

use look::{Look, own_pid_in};
use tree::Roots;

/// How long a signal waits for the sample before it, when a look is under way already.
const BEFORE_A_SIGNAL: Duration = Duration::from_millis(50);
/// How often it is tried meanwhile.
const TRY_AGAIN: Duration = Duration::from_micros(100);

/// How a tree is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// From one sample to the next, ns.
    pub interval_ns: u64,
    /// The DRM driver whose clients are counted; `any` for all.
    pub driver: String,
    /// The `/proc` that is read.
    pub proc: PathBuf,
    /// The `/sys` that is read.
    pub sys: PathBuf,
    /// Proportional memory is looked at as well.
    pub pss: bool,
}

/// What was sampled so far. Nothing that can wait for a disk is done while it is locked.
#[derive(Debug)]
struct State {
    look: Look,
    series: Series,
    /// Rows that are not on disk yet.
    rows: String,
}

impl State {
    fn sample(&mut self, thorough: bool) {
        let sample = self.look.sample(monotonic_ns(), thorough);
        self.series.push(sample);
        table::row(&mut self.rows, &sample);
    }
}

/// What the thread and those who ask see.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    bell: OwnedFd,
    /// A sample is asked for.
    asked: AtomicBool,
    /// What there is has to be listed anew.
    changed: AtomicBool,
    stop: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Self::lock`], for whoever cannot wait long.
    fn lock_soon(&self) -> Option<MutexGuard<'_, State>> {
        let until = Instant::now() + BEFORE_A_SIGNAL;
        loop {
            match self.state.try_lock() {
                Ok(state) => return Some(state),
                Err(TryLockError::Poisoned(state)) => return Some(state.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => return None,
                Err(TryLockError::WouldBlock) => std::thread::sleep(TRY_AGAIN),
            }
        }
    }

    fn ring(&self) {
        // A bell that is full rings already.
        let _ = fd::send(self.bell.as_fd(), b"!");
    }
}

/// A way to ask for a sample now, from any thread.
#[derive(Clone, Debug)]
pub struct Nudge(Arc<Shared>);

impl Nudge {
    /// A sample soon: the first line of a new phase, say. Does not wait.
    pub fn now(&self) {
        self.0.asked.store(true, Ordering::Release);
        self.0.ring();
    }

    /// A sample before what comes next, by this thread: on a busy machine another may not get to run before a signal has
    /// ended what there was to see.
    pub fn first(&self) {
        if let Some(mut state) = self.0.lock_soon() {
            state.sample(true);
        }
        // For the row.
        self.0.ring();
    }

    /// The tree has other processes: they are looked for at the next sample.
    pub fn changed(&self) {
        self.0.changed.store(true, Ordering::Release);
    }

    /// GTT as it was seen last, and the most so far, bytes; `None` while a sample is being taken, or none knew it.
    pub fn gtt(&self) -> Option<Gtt> {
        let state = self.0.state.try_lock().ok()?;
        let whole = state.series.whole();
        let of = |sample: Option<Sample>| sample.and_then(|s| s.gtt_bytes);
        of(whole.most_gtt).map(|most| (of(whole.last_known), Some(most)))
    }

    /// GTT of the clients that a process held in the last sample, bytes.
    pub fn held_by(&self, pid: i32) -> Option<u64> {
        self.0.lock_soon()?.look.held_by(pid)
    }
}

/// What a sampler leaves.
#[derive(Debug)]
pub struct Left {
    /// The samples.
    pub series: Series,
    /// What was seen besides.
    pub seen: Seen,
    /// What went wrong with the table on disk, in words.
    pub trouble: Option<String>,
}

/// A sampler on a thread of its own.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<Shared>,
    done: mpsc::Receiver<Option<LogFile>>,
}

impl Sampler {
    /// Starts it on the tree below this process, with a first sample. `table` is the file for the samples, its header written.
    ///
    /// # Errors
    /// No thread or descriptor is left, or there is no such `/proc`.
    pub fn start(options: &Options, target: i32, table: Option<LogFile>) -> anyhow::Result<Sampler> {
        let look = Look::new(options, roots(options, target))?;
        let (bell, heard) = fd::message_pair()?;
        let mut state = State { look, series: Series::default(), rows: String::new() };
        // A target that ends at once has a sample, too.
        state.sample(true);
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            bell,
            asked: AtomicBool::new(false),
            changed: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        });
        let (give, done) = mpsc::channel();
        let interval_ns = options.interval_ns;
        let thread = Thread { table, heard, interval_ns, shared: Arc::clone(&shared), rows: String::new() };
        std::thread::Builder::new().name("sampler".into()).spawn(move || {
            // A receiver that is gone has given up waiting.
            let _ = give.send(thread.run());
        })?;
        Ok(Sampler { shared, done })
    }

    /// A way to ask for samples.
    pub fn nudge(&self) -> Nudge {
        Nudge(Arc::clone(&self.shared))
    }

    /// Ends it. A disk that holds it up for `patience` loses rows of the table, and no sample.
    pub fn finish(self, patience: Duration) -> Left {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.ring();
        let table = self.done.recv_timeout(patience);
        let mut state = self.shared.lock();
        let mut seen = state.look.seen(false);
        let trouble = match table {
            Ok(Some(mut table)) => {
                seen.lost_rows = table.lost().lines;
                table.take_trouble()
            }
            Ok(None) => None,
            Err(_) => {
                seen.lost_rows = state.rows.lines().count() as u64;
                Some("the disk did not take the rest of the samples in time".to_owned())
            }
        };
        Left { series: std::mem::take(&mut state.series), seen, trouble }
    }
}

/// The tree below this process, as this `/proc` numbers it. One that does not know us is not the kernel's own: there the
/// target is known by its number as well.
fn roots(options: &Options, target: i32) -> Roots {
    let own = crate::sys::process::own_pid();
    match own_pid_in(&options.proc) {
        Some(pid) if pid != own => Roots { below: vec![pid], from: Vec::new() },
        Some(_) => Roots { below: vec![own], from: Vec::new() },
        None => Roots { below: vec![own], from: vec![target] },
    }
}

/// What the thread works with.
struct Thread {
    table: Option<LogFile>,
    heard: OwnedFd,
    interval_ns: u64,
    shared: Arc<Shared>,
    rows: String,
}

impl Thread {
    fn run(mut self) -> Option<LogFile> {
        let mut next = monotonic_ns().saturating_add(self.interval_ns);
        loop {
            let last_round = self.shared.stop.load(Ordering::Acquire);
            let now = monotonic_ns();
            let asked = self.shared.asked.swap(false, Ordering::AcqRel);
            let mut state = self.shared.lock();
            if !last_round && (now >= next || asked) {
                // Who asks for one wants the tree as it is now.
                state.sample(self.shared.changed.swap(false, Ordering::AcqRel) || asked);
            }
            std::mem::swap(&mut self.rows, &mut state.rows);
            drop(state);
            self.write();
            if last_round {
                return self.table;
            }
            if next <= now {
                // Those that were missed are not made up for.
                let missed = (now - next) / self.interval_ns * self.interval_ns;
                next = next.saturating_add(missed).saturating_add(self.interval_ns);
            }
            self.wait(next);
        }
    }

    fn write(&mut self) {
        if let Some(table) = self.table.as_mut().filter(|_| !self.rows.is_empty()) {
            table.append(self.rows.as_bytes());
        }
        self.rows.clear();
    }

    fn wait(&self, until: u64) {
        let pause = until.saturating_sub(monotonic_ns());
        let ready = fd::wait([(Some(self.heard.as_fd()), Want::Read)], Some(pause));
        if ready.is_ok_and(|[bell]| bell.readable) {
            let mut message = [0; 1];
            while fd::receive(self.heard.as_fd(), &mut message).is_ok_and(|n| n > 0) {}
        }
    }
}

#[cfg(test)]
#[path = "sampler_tests.rs"]
mod tests;
