//! What comes next: from the reader's ring, and from the one that the target prints into.
//!
//! Two rings and not one, for two reasons. The reader holds a reservation while it waits in `read(2)`, and everything
//! behind it would wait as well. And a target can write anywhere in the memory that it is given, so nothing that the log
//! and a successor depend on is in there: a ring that was damaged is given up, and the other one goes on.
//!
//! Each ring gives its records in the order of their reservation. Between the two the earlier stamp is first, as far as both
//! are there: what is read is stamped late, so of two prints by different ways the later one can come first.

use std::sync::Arc;
use std::time::Duration;

use crate::core::duration::{MS, S};
use crate::live::proc::Proc;
use crate::live::ring::{Next, Record, Ring};

/// A print takes well under a microsecond. After this long its process is looked for …
const LOOK_FOR_IT: u64 = 200 * MS;
/// … and after this long one that had not said who it is counts as dead: it had two instructions to go.
const NAMELESS: u64 = 2 * S;
/// How long prints that are under way may take when nobody waits for more.
const UNDER_WAY: Duration = Duration::from_millis(2);

/// Both rings and how far they were taken.
#[derive(Debug)]
pub struct Intake {
    read: Side,
    print: Option<Side>,
    /// The reader's last reservation was taken as it was found: nobody waits for more.
    read_ended: bool,
    /// The target wrote over the memory of its ring.
    damaged: bool,
    /// Since when which position has been open, ns.
    open_since: Option<(u64, u64)>,
}

#[derive(Debug)]
struct Side {
    ring: Arc<Ring>,
    cursor: u64,
}

impl Side {
    fn recover(&mut self, now: u64, out: &mut Vec<u8>) -> Option<Record> {
        if self.ring.next(self.cursor, &mut Vec::new()) != Next::Open {
            return None;
        }
        let record = self.ring.recover(self.cursor, now, out);
        self.cursor = record.next;
        Some(record)
    }
}

impl Intake {
    /// Goes on at these positions.
    pub fn new(read: (Arc<Ring>, u64), print: Option<(Arc<Ring>, u64)>) -> Self {
        let side = |(ring, cursor)| Side { ring, cursor };
        Intake {
            read: side(read),
            print: print.map(side),
            read_ended: false,
            damaged: false,
            open_since: None,
        }
    }

    /// The next whole record; its bytes are appended to `out`.
    pub fn next(&mut self, out: &mut Vec<u8>) -> Option<Record> {
        if let Some(stamp) = self.print_stamp()
            && self.read.ring.stamp(self.read.cursor).is_none_or(|read| stamp < read)
            && let Some(record) = self.next_print(out)
        {
            return Some(record);
        }
        if self.read_ended {
            return None;
        }
        match self.read.ring.next(self.read.cursor, out) {
            Next::Record(record) => {
                self.read.cursor = record.next;
                Some(record)
            }
            Next::Open | Next::End => None,
        }
    }

    fn print_stamp(&mut self) -> Option<u64> {
        let print = self.print.as_ref().filter(|_| !self.damaged)?;
        if !print.ring.is_sane(print.cursor) {
            self.give_up();
            return None;
        }
        print.ring.stamp(print.cursor)
    }

    fn next_print(&mut self, out: &mut Vec<u8>) -> Option<Record> {
        let print = self.print.as_mut()?;
        let before = out.len();
        let Next::Record(record) = print.ring.next(print.cursor, out) else { return None };
        // What is past the head was never reserved: this is not what a print leaves.
        if record.next.wrapping_sub(print.cursor) > print.ring.head().wrapping_sub(print.cursor) {
            out.truncate(before);
            self.give_up();
            return None;
        }
        print.cursor = record.next;
        Some(record)
    }

    /// From here on prints go to the descriptor, and are read there.
    fn give_up(&mut self) {
        self.damaged = true;
        if let Some(print) = &self.print {
            print.ring.close();
        }
    }

    /// Whether the target wrote over its ring.
    pub fn damaged(&self) -> bool {
        self.damaged
    }

    /// Goes on behind an open record whose producer is dead for certain, or is not waited for any more, taking what the
    /// reader had read. `None` when no record is open.
    pub fn recover(&mut self, now: u64, out: &mut Vec<u8>) -> Option<Record> {
        if !self.read_ended {
            self.read_ended = true;
            if let Some(record) = self.read.recover(now, out) {
                return Some(record);
            }
        }
        let print = self.print.as_mut().filter(|p| !self.damaged && p.ring.is_sane(p.cursor));
        print.and_then(|side| side.recover(now, out))
    }

    /// Goes on behind a print whose process or thread died in it, so that the others' prints do not wait for it. One that is
    /// alive is waited for: it may be stopped, and its room is its own.
    pub fn pass_over_the_dead(&mut self, now: u64, proc: &Proc) {
        let Some(print) = self.print.as_mut().filter(|p| !self.damaged && p.ring.is_sane(p.cursor)) else {
            return;
        };
        if print.ring.next(print.cursor, &mut Vec::new()) != Next::Open {
            self.open_since = None;
            return;
        }
        let since = match self.open_since {
            Some((at, since)) if at == print.cursor => since,
            _ => now,
        };
        self.open_since = Some((print.cursor, since));
        let waited = now.saturating_sub(since);
        let dead = match print.ring.holder(print.cursor) {
            Some((pid, thread)) => waited >= LOOK_FOR_IT && !proc.lives(pid, thread),
            None => waited >= NAMELESS,
        };
        if dead {
            let _ = print.recover(now, &mut Vec::new());
        }
    }

    /// Nothing is taken any more after what is there now: prints from here on go to the descriptor.
    pub fn close(&self) {
        let Some(print) = &self.print else { return };
        print.ring.close();
        if print.ring.printers().0 > 0 {
            std::thread::sleep(UNDER_WAY);
        }
    }

    /// How far the reader's ring was taken, and the target's.
    pub fn cursors(&self) -> (u64, u64) {
        (self.read.cursor, self.print.as_ref().map_or(0, |p| p.cursor))
    }

    /// Nobody but the reader adds anything.
    pub fn is_read_only(&self) -> bool {
        self.print.is_none() || self.damaged
    }

    /// A record of the reader is there.
    pub fn has_read(&self) -> bool {
        self.read.ring.stamp(self.read.cursor).is_some()
    }

    /// Something was taken whose room was not given back.
    pub fn holds_room(&self) -> bool {
        self.sides().any(|side| side.ring.tail() != side.cursor)
    }

    /// A good part of a ring was taken and not given back. What nobody has taken yet does not count: giving back room after
    /// each record would not make it less, and would make whoever takes it slow when it is late already.
    pub fn is_crowded(&self) -> bool {
        self.sides().any(|side| side.cursor.saturating_sub(side.ring.tail()) > side.ring.capacity() / 4)
    }

    /// Gives the room back of everything that was taken.
    pub fn release(&self) {
        self.sides().for_each(|side| side.ring.release(side.cursor));
    }

    fn sides(&self) -> impl Iterator<Item = &Side> {
        std::iter::once(&self.read).chain(self.print.as_ref().filter(|_| !self.damaged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::ring::{Producer, Source};

    const READER: Producer = Producer { pid: 1, thread: 0, source: Source::Read };
    const PRINTER: Producer = Producer { pid: 2, thread: 3, source: Source::Print };

    fn both() -> (Arc<Ring>, Arc<Ring>, Intake) {
        let ring = |key| Arc::new(Ring::create(1024, key).unwrap());
        let (read, print) = (ring(0x1234_5678_9ABC), ring(0x9876_5432_1012));
        let intake = Intake::new((Arc::clone(&read), 0), Some((Arc::clone(&print), 0)));
        (read, print, intake)
    }

    fn all(intake: &mut Intake) -> Vec<u64> {
        std::iter::from_fn(|| intake.next(&mut Vec::new())).map(|r| r.ns).collect()
    }

    #[test]
    fn of_what_is_there_the_earlier_stamp_is_first() {
        let (read, print, mut intake) = both();
        for (ring, who, ns) in
            [(&read, READER, 5), (&print, PRINTER, 3), (&print, PRINTER, 6), (&read, READER, 7)]
        {
            assert!(ring.push(who, ns, b"x"));
        }
        assert_eq!(all(&mut intake), [3, 5, 6, 7]);
        intake.release();
        assert_eq!((read.used(), print.used()), (0, 0));
    }

    #[test]
    fn a_reader_that_waits_holds_up_no_print() {
        let (read, print, mut intake) = both();
        let _slot = read.reserve(100, READER).unwrap();
        assert!(print.push(PRINTER, 9, b"x"));
        assert_eq!(all(&mut intake), [9]);
    }

    #[test]
    fn what_was_taken_is_a_crowd_and_what_waits_to_be_taken_is_none() {
        let (_read, print, mut intake) = both();
        while print.used() <= print.capacity() / 2 {
            assert!(print.push(PRINTER, 1, b"x"));
        }
        assert!(intake.next(&mut Vec::new()).is_some() && !intake.is_crowded());
        while intake.next(&mut Vec::new()).is_some() {}
        assert!(intake.is_crowded());
        intake.release();
        assert!(!intake.is_crowded());
    }

    #[test]
    fn a_ring_that_was_written_over_is_given_up_and_the_other_goes_on() {
        for word in [crate::core::ring_layout::HEAD, 512 + 1] {
            let (read, print, mut intake) = both();
            assert!(print.push(PRINTER, 1, b"x") && read.push(READER, 2, b"y"));
            print.memory.words()[word].store(0x00FF_FFFF_FFFF_FFFF, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(all(&mut intake), [2], "word {word}");
            assert!(intake.damaged() && intake.recover(1, &mut Vec::new()).is_none());
        }
    }

    #[test]
    fn a_print_of_the_dead_is_passed_over_and_one_of_the_living_is_not() {
        let own = std::process::id().cast_signed();
        for (pid, passed) in [(own, false), (i32::MAX, true)] {
            let (_read, print, mut intake) = both();
            let _slot = print.reserve(8, Producer { pid, thread: pid, ..PRINTER }).unwrap();
            assert!(print.push(PRINTER, 4, b"behind"));
            intake.pass_over_the_dead(0, &Proc::default());
            assert_eq!(all(&mut intake), [0; 0], "not at once: it may be about to commit");
            intake.pass_over_the_dead(LOOK_FOR_IT, &Proc::default());
            assert_eq!(!all(&mut intake).is_empty(), passed, "pid {pid}");
        }
    }
}
