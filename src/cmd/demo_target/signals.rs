//! Counting the signals that arrive, to check that each one was handed on exactly once.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::args::Signals;
use crate::core::signals::{self as names, CONT, HUP, INT, RT_FIRST, TERM, WINCH};
use crate::sys::fd::{self, Want};
use crate::sys::signal::{Inbox, Set};

/// What is counted. Two of a kind that are pending at once are one, but for the real-time signal.
const COUNTED: [i32; 10] = [HUP, INT, 3, 10, 12, 14, TERM, CONT, WINCH, RT_FIRST];

/// The counting thread, seen from the target's main thread.
pub struct Counter {
    enough: Arc<AtomicBool>,
    done: Option<Receiver<()>>,
}

impl Counter {
    /// Starts to count if the options ask for it. Must run before any other thread is started, so that all block the
    /// signals and none but this one gets them.
    pub fn start(options: &Signals) -> Result<Self> {
        let enough = Arc::new(AtomicBool::new(false));
        if !options.count_signals {
            return Ok(Self { enough, done: None });
        }
        let set = Set::of(COUNTED);
        set.block()?;
        let inbox = Inbox::open(&set)?;
        let (send, done) = mpsc::sync_channel(1);
        let (limit, reached) = (options.exit_after_signals, Arc::clone(&enough));
        let count = move || {
            // A stdout that is gone ends the counting, and with the sender the wait for it.
            let _ = count(&inbox, limit);
            reached.store(true, Ordering::Relaxed);
            let _ = send.send(());
        };
        let builder = thread::Builder::new().name("count-signals".to_owned());
        builder.spawn(count).context("cannot start a thread")?;
        Ok(Self { enough, done: Some(done) })
    }

    /// Enough signals came: the work is to stop.
    pub fn enough(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }

    /// The end of the run: sleeps as long as asked, or until enough signals came.
    pub fn wait(&self, options: &Signals, sleep_ms: u64) {
        let sleep = Duration::from_millis(sleep_ms);
        match &self.done {
            Some(done) if sleep_ms > 0 => {
                let _ = done.recv_timeout(sleep);
            }
            Some(done) if options.exit_after_signals.is_some() => {
                let _ = done.recv();
            }
            Some(_) => {}
            None => thread::sleep(sleep),
        }
    }
}

/// Prints each signal with how many of its kind came so far, until `limit` came in all.
fn count(inbox: &Inbox, limit: Option<u64>) -> io::Result<()> {
    let mut counts = [0_u64; names::RT_LAST as usize + 1];
    while limit.is_none_or(|limit| counts.iter().sum::<u64>() < limit) {
        let Some(arrival) = inbox.next() else {
            fd::wait([(Some(inbox.as_fd()), Want::Read)], None)?;
            continue;
        };
        let Some(count) = counts.get_mut(arrival.signal as usize) else {
            continue;
        };
        *count += 1;
        let name = names::name(arrival.signal);
        let name = name.strip_prefix("SIG").unwrap_or(&name);
        super::say(&format!("signal {name} count {count}"))?;
    }
    Ok(())
}
