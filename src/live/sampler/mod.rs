//! The sampler: a thread that looks at the tree's memory on a timer, and whenever it is told to.
//!
//! Its deadlines are absolute, so a late sample does not make the next one late. Each sample is on disk when the next one
//! is taken: whoever reads the table of a killed run has all but the last.

pub mod device;
pub mod file;
pub mod look;
pub mod process;
pub mod tree;

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

use crate::core::memory::seen::Seen;
use crate::core::memory::series::Series;
use crate::core::memory::table;
use crate::live::log::LogFile;
use crate::sys::clock::monotonic_ns;
use crate::sys::fd::{self, Want};

use look::{Look, own_pid_in};
use tree::Roots;

/// How long a signal waits for the sample before it: a look takes a fraction of a millisecond.
const BEFORE_A_SIGNAL: Duration = Duration::from_millis(10);

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

/// What both sides of the thread see.
#[derive(Debug)]
struct Shared {
    bell: OwnedFd,
    /// Samples asked for, and up to which of them they are taken.
    asked: AtomicU64,
    taken: Mutex<u64>,
    more_taken: Condvar,
    /// What there is has to be listed anew.
    changed: AtomicBool,
    stop: AtomicBool,
    /// The tree that the last sample saw, for whoever names what is left of it.
    held: Mutex<Vec<(i32, Option<u64>)>>,
}

/// A way to ask for a sample now, from any thread.
#[derive(Clone, Debug)]
pub struct Nudge(Arc<Shared>);

impl Nudge {
    /// A sample soon: the first line of a new phase, say. Does not wait.
    pub fn now(&self) {
        self.0.asked.fetch_add(1, Ordering::AcqRel);
        self.ring();
    }

    /// A sample before what comes next: it is taken when this returns, unless the sampler is held up for longer than
    /// some milliseconds.
    pub fn first(&self) {
        self.0.changed.store(true, Ordering::Release);
        let wanted = self.0.asked.fetch_add(1, Ordering::AcqRel) + 1;
        self.ring();
        let taken = self.0.taken.lock().unwrap_or_else(PoisonError::into_inner);
        // Whether it came in time is no question: the signal does not wait any longer.
        let _ = self.0.more_taken.wait_timeout_while(taken, BEFORE_A_SIGNAL, |taken| *taken < wanted);
    }

    /// The tree has other processes: they are looked for at the next sample.
    pub fn changed(&self) {
        self.0.changed.store(true, Ordering::Release);
    }

    /// GTT of the clients that a process held in the last sample, bytes.
    pub fn held_by(&self, pid: i32) -> Option<u64> {
        let held = self.0.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.iter().find(|(of, _)| *of == pid).and_then(|(_, bytes)| *bytes)
    }

    fn ring(&self) {
        // A bell that is full rings already.
        let _ = fd::send(self.0.bell.as_fd(), b"!");
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
    left: mpsc::Receiver<Left>,
}

impl Sampler {
    /// Starts it on the tree below this process. `table` is the file for the samples, its header written.
    ///
    /// # Errors
    /// No thread or descriptor is left, or there is no such `/proc`.
    pub fn start(options: &Options, target: i32, table: Option<LogFile>) -> anyhow::Result<Sampler> {
        let look = Look::new(options, roots(options, target))?;
        let (bell, heard) = fd::message_pair()?;
        let shared = Arc::new(Shared {
            bell,
            asked: AtomicU64::new(0),
            taken: Mutex::new(0),
            more_taken: Condvar::new(),
            changed: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            held: Mutex::new(Vec::new()),
        });
        let (give, left) = mpsc::channel();
        let thread = Thread {
            look,
            table,
            heard,
            interval_ns: options.interval_ns,
            shared: Arc::clone(&shared),
            series: Series::default(),
            row: String::new(),
            lost_rows: 0,
        };
        std::thread::Builder::new().name("sampler".into()).spawn(move || {
            // A receiver that is gone has given up waiting.
            let _ = give.send(thread.run());
        })?;
        Ok(Sampler { shared, left })
    }

    /// A way to ask for samples.
    pub fn nudge(&self) -> Nudge {
        Nudge(Arc::clone(&self.shared))
    }

    /// Ends it; `None` when a disk holds it up for `patience`.
    pub fn finish(self, patience: Duration) -> Option<Left> {
        self.shared.stop.store(true, Ordering::Release);
        self.nudge().ring();
        self.left.recv_timeout(patience).ok()
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
    look: Look,
    table: Option<LogFile>,
    heard: OwnedFd,
    interval_ns: u64,
    shared: Arc<Shared>,
    series: Series,
    row: String,
    lost_rows: u64,
}

impl Thread {
    fn run(mut self) -> Left {
        let (mut next, mut answered) = (monotonic_ns(), 0);
        loop {
            // Read before the look: whoever asks during it gets another one.
            let asked = self.shared.asked.load(Ordering::Acquire);
            if self.shared.stop.load(Ordering::Acquire) {
                return self.finish();
            }
            let now = monotonic_ns();
            if now >= next || asked != answered {
                self.sample(now);
                answered = asked;
                *self.shared.taken.lock().unwrap_or_else(PoisonError::into_inner) = asked;
                self.shared.more_taken.notify_all();
            }
            if next <= now {
                // Those that were missed are not made up for.
                next += (now - next) / self.interval_ns * self.interval_ns + self.interval_ns;
            }
            self.wait(next);
        }
    }

    fn wait(&self, until: u64) {
        let pause = until.saturating_sub(monotonic_ns());
        let ready = fd::wait([(Some(self.heard.as_fd()), Want::Read)], Some(pause));
        if ready.is_ok_and(|[bell]| bell.readable) {
            let mut message = [0; 1];
            while fd::receive(self.heard.as_fd(), &mut message).is_ok_and(|n| n > 0) {}
        }
    }

    fn sample(&mut self, now: u64) {
        let thorough = self.shared.changed.swap(false, Ordering::AcqRel);
        let sample = self.look.sample(now, thorough);
        let found = self.look.found();
        let mut held = self.shared.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.clear();
        held.extend(found.iter().map(|p| (p.pid, self.look.held_by(p.pid))));
        drop(held);
        self.series.push(sample);
        if let Some(file) = &mut self.table {
            self.row.clear();
            table::row(&mut self.row, &sample);
            let before = file.lost().lines;
            file.append(self.row.as_bytes());
            self.lost_rows += file.lost().lines - before;
        }
    }

    fn finish(self) -> Left {
        let mut seen = self.look.seen(false);
        seen.lost_rows = self.lost_rows;
        let trouble = self.table.and_then(|mut file| file.take_trouble());
        Left { series: self.series, seen, trouble }
    }
}
