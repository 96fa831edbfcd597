//! All programs of a run: lists of commands told apart by their kernels, and the runs of them that are going on.

use super::flight::Key;
use super::program::{Dispatch, Program, Sums};
use super::spread::Map;
use crate::core::parse::serial::{HOST_PHASES, List};

/// A run of a list holds at most this many dispatches; a longer one is settled in parts.
const LONGEST_RUN: usize = 1 << 20;

/// The process, the list and its size: of these, one run is going on at a time.
type Run = (u32, List, u64);

/// From a program's begin to its end, ns, and its host phases.
type Wall = (u64, [u64; HOST_PHASES.len()]);

/// The run of a list that is going on.
#[derive(Clone, Debug, Default)]
struct Going {
    dispatches: Vec<Dispatch>,
}

/// All programs, and the runs that are going on.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    all: Vec<Program>,
    by_size: Map<(List, u64), Vec<usize>>,
    going: Map<Run, Going>,
    /// Runs that ended inside the programs that are going on: whose, which program, and its sums.
    inside: Vec<(u32, usize, Sums)>,
}

impl Programs {
    /// A whole dispatch of a list. One whose index does not go on begins another run.
    pub fn add(&mut self, of: &Key, dispatch: Dispatch) {
        let run = (of.process, of.list, of.commands);
        let going = self.going.entry(run).or_default();
        let goes_on = going.dispatches.last().is_none_or(|last| dispatch.index > last.index);
        if goes_on && going.dispatches.len() < LONGEST_RUN {
            return going.dispatches.push(dispatch);
        }
        self.end(run, true);
        self.going.entry(run).or_default().dispatches.push(dispatch);
    }

    /// A list ends; or it begins, and what of it is still going on had no end of its own. `ended`: not because the trace does, or
    /// because its program failed.
    pub fn end(&mut self, run: Run, ended: bool) {
        let Some(going) = self.going.get_mut(&run) else { return };
        if going.dispatches.is_empty() {
            return;
        }
        let mut dispatches = std::mem::take(&mut going.dispatches);
        let (process, list, commands) = run;
        let place = self.program(list, commands, &dispatches);
        self.all[place].add(&dispatches, process, ended);
        self.inside.push((process, place, Sums::of(&dispatches)));
        dispatches.clear();
        if let Some(going) = self.going.get_mut(&run) {
            // The memory is used again for the next run.
            going.dispatches = dispatches;
        }
    }

    /// The program that a run is one of; a new one when it has other kernels than all that are known.
    fn program(&mut self, list: List, commands: u64, run: &[Dispatch]) -> usize {
        let known = self.by_size.entry((list, commands)).or_default();
        if let Some(place) = known.iter().find(|place| self.all[**place].agrees(run)) {
            return *place;
        }
        known.push(self.all.len());
        self.all.push(Program::of(list, commands));
        self.all.len() - 1
    }

    /// A command program of a process is over: the one whose main list has so many commands, or all where that is not known.
    /// `end`: it came to its end, and its wall and its host phases are known when its beginning was seen too.
    pub fn settle(&mut self, process: u32, main: Option<u64>, end: Option<Option<Wall>>) {
        // Another context of the process may be in the middle of its own main list.
        let ours = |run: &Run| run.0 == process && (run.1 != List::Main || main.is_none_or(|n| n == run.2));
        let left: Vec<Run> = self.going.keys().filter(|run| ours(run)).copied().collect();
        left.into_iter().for_each(|run| self.end(run, end.is_some()));
        let all = std::mem::take(&mut self.inside);
        let (inside, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(process, place, _)| {
            let program = &self.all[*place];
            ours(&(*process, program.list, program.commands))
        });
        self.inside = others;
        let Some((wall, host)) = end.flatten() else { return };
        // The main list's program stands for the whole; without one, whatever ran.
        let Some((_, main, sums)) =
            inside.iter().rev().find(|(_, p, _)| self.all[*p].list == List::Main).or(inside.last())
        else {
            return;
        };
        let others = inside.iter().filter(|(_, p, _)| p != main);
        let init = others.map(|(_, _, s)| s.device + s.launch + s.wait + s.between).sum::<u64>();
        let program = &mut self.all[*main];
        program.wall_ns += wall;
        program.walls += 1;
        let known = &mut program.in_walls;
        known.device += sums.device;
        known.launch += sums.launch;
        known.wait += sums.wait;
        known.between += sums.between;
        known.init += init;
        known.host.iter_mut().zip(host).for_each(|(sum, ns)| *sum += ns);
    }

    /// A process is not waited for any more.
    pub fn forget(&mut self, process: u32) {
        self.settle(process, None, None);
        self.going.retain(|run, _| run.0 != process);
    }

    /// All programs, in the order of their first run.
    pub fn all(&self) -> impl Iterator<Item = &Program> {
        self.all.iter()
    }
}
