//! A program: a list of commands with its kernels, and the sums of its runs.

use crate::core::histogram::Histogram;
use crate::core::moments::Moments;
use crate::core::parse::serial::{HOST_PHASES, List};
use crate::core::profile::spread::Map;
use crate::core::profile::writers::MOST_WRITERS;

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
    /// Its dispatches in that run, ns each.
    pub first_run: Moments,
    /// Its device time in each whole run of the program behind its process's first, ns: what a comparison judges by.
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
    /// Runs begun, whole or not.
    pub begun: u64,
    /// The processes that ran it: each makes its own kernels in its first run.
    processes: Vec<u32>,
    /// Dispatches.
    pub dispatches: u64,
    /// Sum of launches, ns.
    pub launch_ns: u64,
    /// Sum of the waits before dispatches: the instrument.
    pub wait_ns: u64,
    /// Host time between dispatches, ns.
    pub between_ns: u64,
    /// Device times of all its runs, ns.
    pub device_ns: u64,
    /// Device time of its first run, ns.
    pub first_run_ns: u64,
    /// Dispatches of its first run.
    pub first_run_count: u64,
    /// The first run came to its end.
    first_run_ended: bool,
    /// Device times of its whole runs behind each process's first, ns: one that was cut off would look fast.
    pub steady: Moments,
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
    /// A program that has not run.
    pub(super) fn of(list: List, commands: u64) -> Program {
        Program { list, commands, ..Program::default() }
    }

    /// Its runs: dispatches by commands. Not a whole number where one was cut off, or only a range of commands is traced.
    pub fn runs(&self) -> f64 {
        if self.commands == 0 { self.begun as f64 } else { self.dispatches as f64 / self.commands as f64 }
    }

    /// The first run did not come to its end, or has fewer dispatches than the program is known to have.
    pub fn first_run_is_cut(&self) -> bool {
        !self.first_run_ended || self.first_run_count < self.sequence.len() as u64
    }

    /// The part of its commands that is traced: from the first to the last index that was seen, when that is not all.
    pub fn traced(&self) -> Option<(u64, u64)> {
        let (first, last) = (*self.sequence.keys().min()?, *self.sequence.keys().max()?);
        (first > 0 || last.checked_add(1).is_some_and(|n| n < self.commands)).then_some((first, last))
    }

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
    pub(super) fn agrees(&self, run: &[Dispatch]) -> bool {
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

    /// Whether a process runs it for the first time. Of very many processes the later ones are not told apart.
    fn is_first_of(&mut self, process: u32) -> bool {
        let first = !self.processes.contains(&process) && self.processes.len() < MOST_WRITERS;
        if first {
            self.processes.push(process);
        }
        first
    }

    /// Adds a run of a process, or a part of a long one. `ended`: the trace went on behind it.
    pub(super) fn add(&mut self, run: &[Dispatch], process: u32, ended: bool) {
        let first = self.begun == 0;
        self.begun += 1;
        let ended = ended || run.len() as u64 == self.commands;
        let its_first = self.is_first_of(process);
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
                kernel.first_run.add(dispatch.device as f64);
            }
        }
        let counts = !its_first && ended && run.len() == self.sequence.len();
        for kernel in &mut self.kernels {
            let (ns, count) = std::mem::take(&mut kernel.going);
            if counts && count > 0 {
                kernel.steady.add(ns as f64);
                kernel.steady_count += count;
            }
        }
        let sums = Sums::of(run);
        self.dispatches += run.len() as u64;
        self.device_ns += sums.device;
        self.launch_ns += sums.launch;
        self.wait_ns += sums.wait;
        self.between_ns += sums.between;
        if first {
            (self.first_run_ns, self.first_run_count) = (sums.device, run.len() as u64);
            self.first_run_ended = ended;
        }
        if counts {
            self.steady.add(sums.device as f64);
        }
    }
}

/// Sums over one run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) device: u64,
    pub(super) launch: u64,
    pub(super) wait: u64,
    pub(super) between: u64,
}

impl Sums {
    pub(super) fn of(run: &[Dispatch]) -> Sums {
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
