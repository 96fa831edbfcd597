//! Programs: lists of commands told apart by their kernels, and the sums of their runs.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::core::histogram::Histogram;
use crate::core::moments::Moments;
use crate::core::parse::serial::{HOST_PHASES, List};
use crate::core::profile::flight::Key;

/// A run of a list holds at most this many dispatches; a longer one is settled in parts.
const LONGEST_RUN: usize = 1 << 20;

/// Kernel ids are hashes already, and indices are few: one multiplication spreads them well enough.
#[derive(Clone, Copy, Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as u64);
    }
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

/// A whole dispatch. Times in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dispatch {
    /// Its place in the list.
    pub index: u64,
    /// Its kernel; absent when the line names none.
    pub kernel_id: Option<u64>,
    /// Its number of bindings.
    pub bindings: Option<u64>,
    /// The wait before it.
    pub wait: u64,
    /// When that wait began.
    pub from: u64,
    /// Its launch on the host.
    pub launch: u64,
    /// From launched to idle.
    pub device: u64,
    /// When the device was idle again.
    pub until: u64,
}

/// The sums of one kernel in one program.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Its id; absent when the lines name none.
    pub id: Option<u64>,
    /// Its number of bindings, as the lines have it.
    pub bindings: Option<u64>,
    /// Device times.
    pub device: Histogram,
    /// The sum of its launches, ns.
    pub launch_ns: u64,
    /// The part of its device time that lies in the program's first run, ns.
    pub first_run_ns: u64,
    /// Its device time in each whole run of the program behind the first, ns: what a comparison judges by.
    pub steady: Moments,
    /// Its dispatches in those runs.
    pub steady_count: u64,
    /// Of the run that is being added: device time, ns, and dispatches.
    going: (u64, u64),
}

/// One program: a list of a size, with a sequence of kernels.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its list.
    pub list: List,
    /// Commands of the list.
    pub commands: u64,
    /// Kernels by index, as far as they were seen.
    sequence: Map<u64, Option<u64>>,
    /// Its kernels' sums.
    pub kernels: Vec<Kernel>,
    places: Map<Option<u64>, usize>,
    /// Runs begun, in parts or whole.
    pub runs: u64,
    /// Dispatches.
    pub dispatches: u64,
    /// Sum of launches, ns.
    pub launch_ns: u64,
    /// Sum of the waits before dispatches: the instrument.
    pub wait_ns: u64,
    /// Host time between dispatches, ns.
    pub between_ns: u64,
    /// Device time of its first run, ns.
    pub first_run_ns: u64,
    /// Device times of its runs behind the first.
    pub steady: Histogram,
    /// Mean and spread of those that are whole, ns: one that was cut off would look fast.
    pub steady_moments: Moments,
    /// The time from begin to end of the program runs whose both ends are known, ns.
    pub wall_ns: u64,
    /// Those runs.
    pub walls: u64,
    /// Of these: device, launch, wait, between and the host phases, ns; what is left is unattributed.
    pub in_walls: InWalls,
}

/// What lies in the known walls of a program. Sums in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InWalls {
    /// Device time.
    pub device: u64,
    /// Launches.
    pub launch: u64,
    /// Waits before dispatches.
    pub wait: u64,
    /// Host time between dispatches.
    pub between: u64,
    /// Its init list, whole.
    pub init: u64,
    /// The host's phases, in [`HOST_PHASES`]' order.
    pub host: [u64; HOST_PHASES.len()],
}

impl InWalls {
    /// All of it.
    pub fn sum(&self) -> u64 {
        self.device + self.launch + self.wait + self.between + self.init + self.host.iter().sum::<u64>()
    }
}

impl Program {
    /// Device time of all its dispatches, ns.
    pub fn total(&self) -> u64 {
        self.kernels.iter().map(|k| k.device.total()).sum()
    }

    /// A short name of the kernel sequence: programs of one size with other kernels have another.
    pub fn fingerprint(&self) -> String {
        let mut indices: Vec<(&u64, &Option<u64>)> = self.sequence.iter().collect();
        indices.sort_unstable();
        let start = 0xcbf2_9ce4_8422_2325_u64;
        let hash = indices.iter().fold(start, |hash, (index, id)| {
            let word = id.unwrap_or(0).rotate_left(17) ^ **index;
            word.to_le_bytes().iter().fold(hash, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
        });
        format!("{:08x}", hash as u32 ^ (hash >> 32) as u32)
    }

    /// Whether a run can be one of this program: no index has another kernel.
    fn agrees(&self, run: &[Dispatch]) -> bool {
        run.iter().all(|d| self.sequence.get(&d.index).is_none_or(|id| *id == d.kernel_id))
    }

    fn kernel(&mut self, dispatch: &Dispatch) -> &mut Kernel {
        let next = self.kernels.len();
        let place = *self.places.entry(dispatch.kernel_id).or_insert(next);
        if place == next {
            let (id, bindings) = (dispatch.kernel_id, dispatch.bindings);
            self.kernels.push(Kernel { id, bindings, ..Kernel::default() });
        }
        &mut self.kernels[place]
    }

    fn add(&mut self, run: &[Dispatch]) {
        let first = self.runs == 0;
        self.runs += 1;
        for dispatch in run {
            self.sequence.insert(dispatch.index, dispatch.kernel_id);
            let kernel = self.kernel(dispatch);
            kernel.device.add(dispatch.device);
            kernel.launch_ns += dispatch.launch;
            kernel.bindings = kernel.bindings.or(dispatch.bindings);
            kernel.going.0 += dispatch.device;
            kernel.going.1 += 1;
            if first {
                kernel.first_run_ns += dispatch.device;
            }
        }
        let counts = !first && run.len() == self.sequence.len();
        for kernel in &mut self.kernels {
            let (ns, count) = std::mem::take(&mut kernel.going);
            if counts && count > 0 {
                kernel.steady.add(ns as f64);
                kernel.steady_count += count;
            }
        }
        let sums = Sums::of(run);
        self.dispatches += run.len() as u64;
        self.launch_ns += sums.launch;
        self.wait_ns += sums.wait;
        self.between_ns += sums.between;
        if first {
            self.first_run_ns = sums.device;
        } else {
            self.steady.add(sums.device);
        }
        if counts {
            self.steady_moments.add(sums.device as f64);
        }
    }
}

/// Sums over one run.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    device: u64,
    launch: u64,
    wait: u64,
    between: u64,
}

impl Sums {
    fn of(run: &[Dispatch]) -> Sums {
        let mut sums = Sums::default();
        let mut last: Option<u64> = None;
        for d in run {
            sums.device += d.device;
            sums.launch += d.launch;
            sums.wait += d.wait;
            // From the device's idleness to the next wait, and between that wait and the launch.
            let whole = d.until.saturating_sub(last.unwrap_or(d.from));
            sums.between += whole.saturating_sub(d.device + d.launch + d.wait);
            last = Some(d.until);
        }
        sums
    }
}

/// The process, the list and its size: of these, one run is going on at a time.
type Run = (u32, List, u64);

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
        self.end(run);
        self.going.entry(run).or_default().dispatches.push(dispatch);
    }

    /// A list ends; or it begins, and what of it is still going on had no end of its own.
    pub fn end(&mut self, run: Run) {
        let Some(going) = self.going.get_mut(&run) else { return };
        if going.dispatches.is_empty() {
            return;
        }
        let mut dispatches = std::mem::take(&mut going.dispatches);
        let (process, list, commands) = run;
        let place = self.program(list, commands, &dispatches);
        self.all[place].add(&dispatches);
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
        self.all.push(Program { list, commands, ..Program::default() });
        self.all.len() - 1
    }

    /// A command program of a process is over; its wall is known when both its ends were seen.
    pub fn settle(&mut self, process: u32, wall: Option<u64>, host: &[u64; HOST_PHASES.len()]) {
        let left: Vec<Run> = self.going.keys().filter(|run| run.0 == process).copied().collect();
        left.into_iter().for_each(|run| self.end(run));
        let (ours, others) = std::mem::take(&mut self.inside).into_iter().partition(|i| i.0 == process);
        self.inside = others;
        let inside: Vec<(u32, usize, Sums)> = ours;
        let Some(wall) = wall else { return };
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
        self.settle(process, None, &[0; HOST_PHASES.len()]);
        self.going.retain(|run, _| run.0 != process);
    }

    /// All programs, in the order of their first run.
    pub fn all(&self) -> impl Iterator<Item = &Program> {
        self.all.iter()
    }
}
