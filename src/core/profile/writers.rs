//! The processes that wrote a trace, each with what is going on in it: one, nearly always.

/// More processes than these are not waited for at once: the one that has been silent for longest is given up.
pub const MOST_WRITERS: usize = 256;

#[derive(Clone, Debug, Default)]
struct Writer<T> {
    process: u32,
    /// The change after its last line.
    seen: u64,
    state: T,
}

/// All of them, with a state each. A pid of 0 stands for lines of which nobody knows whose they are.
#[derive(Clone, Debug, Default)]
pub struct Writers<T> {
    all: Vec<Writer<T>>,
    /// Where the process of the last line is.
    now: usize,
    known: u64,
    changes: u64,
}

impl<T: Default> Writers<T> {
    /// The next line is of this process. Yields the process that is given up for it, if any, and what it was at.
    #[inline]
    pub fn turn(&mut self, process: u32) -> Option<(u32, T)> {
        match self.all.get(self.now) {
            Some(now) if now.process == process => None,
            _ => self.change(process),
        }
    }

    /// Another process writes. How long each has been silent is counted in such changes.
    fn change(&mut self, process: u32) -> Option<(u32, T)> {
        self.changes += 1;
        if let Some(before) = self.all.get_mut(self.now) {
            before.seen = self.changes;
        }
        if let Some(place) = self.all.iter().position(|w| w.process == process) {
            self.now = place;
            return None;
        }
        let gone = self.make_room();
        self.known += u64::from(process != 0);
        self.now = self.all.len();
        self.all.push(Writer { process, ..Writer::default() });
        gone
    }

    fn make_room(&mut self) -> Option<(u32, T)> {
        if self.all.len() < MOST_WRITERS {
            return None;
        }
        let oldest = (0..self.all.len()).min_by_key(|n| self.all[*n].seen)?;
        let Writer { process, state, .. } = self.all.swap_remove(oldest);
        Some((process, state))
    }

    /// What the process of this line is at; `None` before the first line.
    pub fn now(&mut self) -> Option<&mut T> {
        self.all.get_mut(self.now).map(|w| &mut w.state)
    }

    /// Those that are waited for, and what they are at.
    pub fn all(&self) -> impl Iterator<Item = (u32, &T)> {
        self.all.iter().map(|w| (w.process, &w.state))
    }

    /// How many processes wrote, as far as their pids are known.
    pub fn known(&self) -> u64 {
        self.known
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::core::book::Book;
    use crate::core::profile::{Open, Profile};
    use crate::core::test_trace::{Trace, line};

    /// One process' trace, line by line; stamps are given when it is mixed with others'.
    fn lines(runs: u64) -> Vec<String> {
        let mut trace = Trace::default();
        (0..runs).for_each(|_| trace.program(7, 1, &[1, 1]));
        trace.lines.into_iter().map(|(_, text)| text).collect()
    }

    /// A book that was told lines with their writer and stamp.
    fn told(lines: &[(u32, u64, String)]) -> Profile {
        let mut book = Book::default();
        let mut last = 0;
        for (writer, ns, text) in lines {
            if last != *writer {
                last = *writer;
                book.writer(*writer);
            }
            book.take(&line(*ns, text), |_, _| {});
        }
        book.finish();
        book.profile
    }

    /// What is added up: per kernel dispatches, device and launch time; and walls, host phases and time between.
    fn sums(of: &[&Profile]) -> Vec<[u64; 3]> {
        let mut all = vec![[0; 3]; 4];
        for program in of.iter().flat_map(|p| p.programs()) {
            for (n, kernel) in program.kernels.iter().enumerate() {
                let own = [kernel.device.count(), kernel.device.total(), kernel.launch_ns];
                (0..3).for_each(|i| all[n][i] += own[i]);
            }
            let walls = [program.walls, program.wall_ns, program.between_ns];
            let inside = [program.in_walls.sum(), program.begun, program.in_walls.host.iter().sum()];
            (0..3).for_each(|i| all[2][i] += walls[i]);
            (0..3).for_each(|i| all[3][i] += inside[i]);
        }
        all
    }

    proptest! {
        #[test]
        fn processes_that_write_at_once_add_up_to_what_each_is_alone(
            runs in prop::collection::vec(1u64..4, 2..4),
            order in prop::collection::vec((0usize..3, 1u64..50), 0..200),
        ) {
            let mut left: Vec<std::collections::VecDeque<String>> = runs.iter().map(|r| lines(*r).into()).collect();
            let mut mixed = Vec::new();
            let mut now = 0;
            // What the order does not cover comes in turns.
            for (who, after) in order.into_iter().chain((0..200).map(|n| (n, 3))) {
                let who = who % left.len();
                now += after;
                mixed.extend(left[who].pop_front().map(|text| (100 + who as u32, now, text)));
            }
            let alone: Vec<Profile> = (0..left.len() as u32)
                .map(|who| told(&mixed.iter().filter(|l| l.0 == 100 + who).cloned().collect::<Vec<_>>()))
                .collect();
            let together = told(&mixed);
            prop_assert_eq!(sums(&[&together]), sums(&alone.iter().collect::<Vec<_>>()));
            let c = &together.coverage;
            prop_assert_eq!((c.overlapping, c.repeated, c.orphans, c.left), (0, 0, 0, 0));
            prop_assert_eq!(c.processes, runs.len() as u64);
            prop_assert_eq!(together.programs().len(), 1, "of one kind");
        }
    }

    #[test]
    fn a_broken_line_and_the_last_kernel_are_their_own_processs() {
        let whole = lines(1);
        let of = |writer, from: usize, to: usize, ns: u64| {
            whole[from..to].iter().enumerate().map(move |(n, text)| (writer, ns + n as u64, text.clone()))
        };
        // Process 2 completes a dispatch and is in its second; of process 1 a line is broken meanwhile.
        let mut all: Vec<_> = of(2, 0, 14, 10).collect();
        all.extend(of(1, 0, 8, 30));
        all.push((1, 40, "hrx debug serial: begin phase=command-dispatch".to_owned()));
        all.push((1, 41, "text".to_owned()));
        let profile = told(&all);
        let open = profile.open();
        let told: Vec<_> = open.iter().map(|o| (o.key.process, o.kernel_id, o.neighbour)).collect();
        assert_eq!(told, [(2, Some(8), Some(7)), (1, Some(7), None)]);
    }

    #[test]
    fn memory_does_not_grow_with_the_processes_and_what_was_open_is_kept_and_counted() {
        let begun = &lines(1)[..8];
        let mut all = Vec::new();
        for process in 1..=MOST_WRITERS as u32 + 50 {
            all.extend(begun.iter().map(|text| (process, u64::from(process) * 10, text.clone())));
        }
        let profile = told(&all);
        assert_eq!((profile.coverage.left, profile.open_count()), (50, MOST_WRITERS as u64 + 50));
        let of = |open: &Open| open.key.process;
        assert_eq!(
            profile.open().iter().map(of).collect::<Vec<_>>(),
            (1..=MOST_WRITERS as u32 + 50).collect::<Vec<_>>()
        );
        assert!(profile.writers.all.len() <= MOST_WRITERS);
    }
}
