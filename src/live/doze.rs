//! Sleeping until somebody rings, for a thread whose work comes from another thread of this process.
//!
//! A timer that expires costs some 50 µs of a core on a virtual machine, whatever is done then: a thread that looks every
//! 20 ms takes a third of a percent for nothing.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread::Thread;
use std::time::Duration;

/// One sleeper, and those who wake it.
#[derive(Debug, Default)]
pub struct Doze {
    asleep: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Doze {
    /// Sleeps in the calling thread, which must be the same each time: until [`Self::wake`], for `most` at the most. Not at all
    /// when `busy` says that there is work: it is asked once the others can see that somebody sleeps, so that work which they
    /// added before they looked is not slept over.
    pub fn sleep(&self, most: Duration, busy: impl FnOnce() -> bool) {
        self.thread.get_or_init(std::thread::current);
        self.asleep.store(true, Ordering::Relaxed);
        // With the one in `wake`: either we see the work, or they see us asleep.
        fence(Ordering::SeqCst);
        if !busy() {
            std::thread::park_timeout(most);
        }
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// Wakes the sleeper, if it sleeps: to be called behind every piece of work. While it is awake this is no system call.
    pub fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed)
            && self.asleep.swap(false, Ordering::Relaxed)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn work_that_comes_in_any_moment_is_not_slept_over() {
        const WORK: u64 = 20_000;
        let (doze, given, taken) =
            (Arc::<Doze>::default(), Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let worker = {
            let (doze, given, taken) = (Arc::clone(&doze), Arc::clone(&given), Arc::clone(&taken));
            std::thread::spawn(move || {
                let mut done = 0;
                while done < WORK {
                    // A wake-up that is lost would be this long, and the test would not come to its end.
                    doze.sleep(Duration::from_secs(3600), || given.load(Ordering::Acquire) > done);
                    done = given.load(Ordering::Acquire);
                    taken.store(done, Ordering::Release);
                }
            })
        };
        for n in 1..=WORK {
            given.store(n, Ordering::Release);
            doze.wake();
            while n % 2 == 0 && taken.load(Ordering::Acquire) < n {
                std::hint::spin_loop();
            }
        }
        worker.join().unwrap();
    }

    #[test]
    fn it_sleeps_while_nothing_comes() {
        let doze = Doze::default();
        let since = std::time::Instant::now();
        // Parking may end early without a reason.
        while since.elapsed() < Duration::from_millis(20) {
            doze.sleep(Duration::from_millis(20), || false);
        }
        doze.sleep(Duration::from_secs(3600), || true);
        assert!(!doze.asleep.load(Ordering::Relaxed));
    }
}
