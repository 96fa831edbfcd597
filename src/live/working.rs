//! A consumer at work, on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

use crate::live::consumer::Consumer;
use crate::live::left::Left;
use crate::live::ring::Ring;

/// A consumer on a thread of its own.
#[derive(Debug)]
pub struct Running {
    thread: Thread,
    stop: Arc<AtomicBool>,
    left: std::sync::mpsc::Receiver<Left>,
}

impl Running {
    /// Starts it.
    ///
    /// # Errors
    /// No thread is left.
    pub fn start(consumer: Consumer) -> std::io::Result<Running> {
        Running::work(|stop| consumer.run(stop))
    }

    /// Starts what a consumer is to do, in the end.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn work(work: impl FnOnce(&AtomicBool) -> Left + Send + 'static) -> std::io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let (give, left) = std::sync::mpsc::channel();
        let asked = Arc::clone(&stop);
        let handle = std::thread::Builder::new().name("consumer".into()).spawn(move || {
            // A receiver that is gone has given up waiting.
            let _ = give.send(work(&asked));
        })?;
        Ok(Running { thread: handle.thread().clone(), stop, left })
    }

    /// Asks for the end and waits for it, as long as it gets on; `None` when a disk (or a pipe that nobody reads) holds
    /// it up for `patience`.
    pub fn finish(self, ring: &Ring, patience: Duration) -> Option<Left> {
        self.stop.store(true, Ordering::Release);
        loop {
            let before = (ring.saved(), ring.handed());
            self.thread.unpark();
            match self.left.recv_timeout(patience) {
                Ok(left) => return Some(left),
                Err(_) if (ring.saved(), ring.handed()) == before => return None,
                Err(_) => {}
            }
        }
    }
}
