//! llama.cpp's logger: a thread of its own that writes to the same descriptor as the trace.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The longest pause between two lines, ns.
const PAUSE_NS: u64 = 200_000;

/// A logger that writes at random moments.
pub struct Garble {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Garble {
    /// Starts it. The pauses follow from the seed; where they fall in the trace is up to the scheduler.
    pub fn start(seed: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut random = Random(seed);
            let mut number = 0;
            loop {
                // At least one line, however short the work is.
                number += 1;
                // Nobody to tell when stderr is gone.
                let _ = io::stderr().write_all(line(number).as_bytes());
                if seen.load(Ordering::Relaxed) {
                    break;
                }
                thread::sleep(Duration::from_nanos(random.next() % PAUSE_NS));
            }
        });
        Self { stop, thread }
    }

    /// Stops it after the line that it is writing.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        // It cannot panic; if it did, there is nothing left to stop.
        let _ = self.thread.join();
    }
}

/// The logger's line of this number, newline included.
pub fn line(number: u64) -> String {
    format!("0.00.034.389 I srv  update_slots: logger line {number:06}\n")
}

/// Xorshift (Marsaglia 2003) with a multiplier: even enough for pauses.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // Zero is the one state that never changes.
        let mut x = self.0.max(1);
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.0 = x;
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_its_pauses() {
        let pauses = |seed| -> Vec<u64> {
            let mut random = Random(seed);
            (0..8).map(|_| random.next() % PAUSE_NS).collect()
        };
        assert_eq!(pauses(1), pauses(1));
        assert_ne!(pauses(1), pauses(2));
        assert!(pauses(0).iter().any(|p| *p > 0));
    }
}
