//! When the consumer works, what it does between records, and when it sleeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Consumer, READER};
use crate::core::duration::MS;
use crate::live::doze::Doze;
use crate::live::left::Left;
use crate::live::proc::Proc;
use crate::sys::clock::monotonic_ns;

/// After so many records in a row, what is due by time is done.
const IN_A_ROW: u32 = 4096;
/// The log is written when its oldest unwritten byte is this old: with the pauses below it is on disk well within 100 ms.
const FLUSH_NS: u64 = 50 * MS;
/// An unfinished line passes through to our stderr after this.
const PAUSE_NS: u64 = 30 * MS;
/// Pause after something came; it doubles while nothing does.
const SHORT: Duration = Duration::from_millis(1);
/// The longest pause while there is somebody who does not wake us: a print is echoed within 50 ms of it. Some 40 wake-ups a
/// second.
const LONG: Duration = Duration::from_millis(25);
/// After this long without a record, nothing is due by time any more …
const QUIET_NS: u64 = 200 * MS;
/// … and where the reader alone adds records, it wakes us. A status line is renewed meanwhile.
const ASLEEP: Duration = Duration::from_secs(3600);
const ASLEEP_WITH_STATUS: Duration = Duration::from_millis(200);

impl Consumer {
    /// Is woken by the reader, so that it need not look while nothing comes.
    pub fn woken_by(mut self, doze: Arc<Doze>) -> Self {
        self.doze = Some(doze);
        self
    }

    /// Works until `stop` is set and nothing whole is left, then finishes.
    pub fn run(mut self, stop: &AtomicBool) -> Left {
        let mut pause = SHORT;
        loop {
            // Read before the ring is looked at: what was committed before the word was given is still taken.
            let last_round = stop.load(Ordering::Acquire);
            if last_round {
                // The reader waits for a pipe that somebody still holds, or was kept from its commit: what it has read
                // is in the ring in any case.
                self.intake.close();
                self.drain();
                return self.finish();
            }
            let mut took = 0;
            while took < IN_A_ROW && self.step() {
                took += 1;
            }
            let now = monotonic_ns();
            self.idle(now);
            pause = if took > 0 { SHORT } else { (pause * 2).min(LONG) };
            if took < IN_A_ROW {
                self.rest(now, pause);
            }
        }
    }

    /// Between records: what is due by time.
    fn idle(&mut self, now: u64) {
        let in_trace_line = self.book.in_trace_line();
        self.tell(now);
        if now.saturating_sub(self.last_ns) >= PAUSE_NS {
            self.filter.pause(self.assembler.pending(), in_trace_line, &mut self.echo_text);
        }
        for strand in self.strands.held().iter_mut().filter(|s| now.saturating_sub(s.last_ns) >= PAUSE_NS) {
            // Of a line by itself, only one that was read may have the rest of another in it.
            let in_trace_line = in_trace_line && strand.writer == READER;
            self.filter.pause_in(&strand.text, &mut strand.shown, in_trace_line, &mut self.echo_text);
        }
        if self.filter.waiting_since().is_some_and(|since| now.saturating_sub(since) >= PAUSE_NS) {
            self.filter.end_waiting(&mut self.echo_text);
        }
        self.show();
        self.intake.pass_over_the_dead(now, &Proc::default());
        if self.is_unsaved() && now.saturating_sub(self.oldest_ns) >= FLUSH_NS {
            self.flush();
        }
    }

    fn is_unsaved(&self) -> bool {
        !self.text.is_empty() || self.intake.holds_room()
    }

    fn rest(&self, now: u64, pause: Duration) {
        let quiet = now.saturating_sub(self.last_ns) >= QUIET_NS && !self.is_unsaved();
        match self.doze.as_ref().filter(|_| quiet && self.intake.is_read_only()) {
            Some(doze) => {
                let most = if self.status.is_some() { ASLEEP_WITH_STATUS } else { ASLEEP };
                doze.sleep(most, || self.intake.has_read());
            }
            None => std::thread::park_timeout(pause),
        }
    }
}
