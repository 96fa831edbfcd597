//! The reader: reads, stamps, pushes, and does nothing else. It never waits for a disk, a terminal or a lock.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::live::doze::Doze;
use crate::live::read_port::ReadPort;
use crate::live::ring::{Ring, Slot};
use crate::sys::clock::monotonic_ns;
use crate::sys::fd::{self, Want};

/// Bytes asked for at once: little, because a trace comes in small pieces and memory is blanked before each read …
const SMALL: usize = 4 << 10;
/// … and much once a read comes back full.
const LARGE: usize = 64 << 10;
/// In a run that is profiled the reader looks out for the next bytes this long before it falls asleep, ns: longer than
/// most dispatches take. A line that finds it awake is stamped at once and costs its writer a write; one that has to wake it
/// is stamped late by that, and costs several writes. Both ends of a dispatch have to be of one kind, else the lateness of
/// one of them is in its time: so it is this long, or not at all.
const LINGER: u64 = 2_000_000;
/// Between two looks lies about a microsecond. When it was this long, somebody else had the processor for a whole slice:
/// then the machine is busy, and a thread that sleeps gets to run sooner than one that has used its share for looking, ns …
const PREEMPTED: u64 = 1_000_000;
/// … so it sleeps for this long, ns.
const ABSTAIN: u64 = 20_000_000;
/// Pause while the ring is full.
const FULL_PAUSE: Duration = Duration::from_micros(100);

/// What the reader tells the others.
#[derive(Debug, Default)]
pub struct Progress {
    /// When bytes last came, or were waited for because the ring was full; ns.
    pub active_ns: AtomicU64,
    /// The other side is closed: nothing will come any more.
    pub ended: AtomicBool,
    /// Who takes from the ring sleeps here while nothing comes.
    pub doze: Arc<Doze>,
}

/// Who reads, and what for.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// This process.
    pub pid: i32,
    /// Times between lines matter.
    pub profiled: bool,
}

/// Reads until the end of the target's stderr. `done` is closed when it returns, so that others can wait for that.
pub fn run(ring: &Ring, from: BorrowedFd<'_>, who: Reader, progress: &Progress, done: OwnedFd) {
    let mut port = ReadPort::new(ring, who.pid);
    let mut room = SMALL;
    let mut lookout = Lookout::new(who.profiled);
    loop {
        if room == SMALL {
            lookout.linger(from);
        }
        let slot = reserve(ring, &mut port, room, progress);
        let got = port.read(&slot, from);
        let now = monotonic_ns();
        // A terminal whose other side is closed says EIO; every other error ends the reading as well.
        let n = got.unwrap_or(0);
        ring.commit(&slot, now, n);
        progress.doze.wake();
        if n == 0 {
            break;
        }
        progress.active_ns.store(now, Ordering::Release);
        lookout.last = now;
        room = if n >= room { LARGE } else { SMALL };
    }
    progress.ended.store(true, Ordering::Release);
    drop(done);
}

/// Looks for bytes without falling asleep, where that pays.
struct Lookout {
    /// When bytes came last, ns.
    last: u64,
    /// Not before this, ns.
    not_before: u64,
}

impl Lookout {
    fn new(profiled: bool) -> Self {
        // On one processor it would only keep the target from it.
        let pays = profiled && std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
        Lookout { last: 0, not_before: if pays { 0 } else { u64::MAX } }
    }

    fn linger(&mut self, from: BorrowedFd<'_>) {
        let mut now = monotonic_ns();
        while now < self.last + LINGER && now >= self.not_before {
            if fd::wait([(Some(from), Want::Read)], Some(0)).is_ok_and(|[r]| r.readable) {
                return;
            }
            // Some looks less: each one passes through the kernel.
            (0..20).for_each(|_| std::hint::spin_loop());
            let before = std::mem::replace(&mut now, monotonic_ns());
            if now - before > PREEMPTED {
                self.not_before = now + ABSTAIN;
            }
        }
    }
}

/// Room for a read. A full ring makes the target wait, which is counted: a byte of the log is never dropped for it.
fn reserve(ring: &Ring, port: &mut ReadPort<'_>, room: usize, progress: &Progress) -> Slot {
    if let Some(slot) = port.reserve(room) {
        return slot;
    }
    let since = monotonic_ns();
    loop {
        std::thread::sleep(FULL_PAUSE);
        progress.active_ns.store(monotonic_ns(), Ordering::Release);
        if let Some(slot) = port.reserve(room) {
            ring.count_stall(monotonic_ns().saturating_sub(since));
            return slot;
        }
    }
}

/// A reader on a thread of its own.
///
/// # Errors
/// No thread is left.
pub fn spawn(
    ring: Arc<Ring>,
    from: Arc<OwnedFd>,
    who: Reader,
    progress: Arc<Progress>,
    done: OwnedFd,
) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name("reader".into());
    thread.spawn(move || run(&ring, from.as_fd(), who, &progress, done)).map(drop)
}
