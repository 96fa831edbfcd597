//! What a comparison needs of one run: small, so that many long runs can be held at once.

use crate::core::book::Book;
use crate::core::compare::memory::{self, Figure};
use crate::core::compare::noise::Value;
use crate::core::histogram::Histogram;
use crate::core::moments::Moments;
use crate::core::names::Catalogue;
use crate::core::parse::serial::List;
use crate::core::profile::program::{Kernel, Program};
use crate::core::run::Run;
use crate::core::split::Split;
use crate::core::text::printable;

/// One run.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Its record.
    pub run: Run,
    /// The target's own build line.
    pub build: Option<String>,
    /// From start to the target's end, ns; absent when the run did not end by itself.
    pub wall_ns: Option<u64>,
    /// Why it is not a whole run, if it is not.
    pub partial: Option<String>,
    /// The median wait for an idle device, ns.
    pub floor_ns: Option<u64>,
    /// Dispatches with a known time.
    pub completed: u64,
    /// Of these, those whose time is shown as 0.
    pub unresolved: u64,
    /// Its programs.
    pub programs: Vec<ProgramFacts>,
    /// The figures of its memory, when anything is known of it.
    pub memory: Vec<Figure>,
    /// Its log tells of a model's buffers.
    pub tells_buffers: bool,
}

/// One program in one run.
#[derive(Clone, Debug, Default)]
pub struct ProgramFacts {
    /// Its list.
    pub list: List,
    /// Commands of the list.
    pub commands: u64,
    /// The name of its kernel sequence.
    pub fingerprint: String,
    /// Its runs.
    pub runs: u64,
    /// The numbers are of its whole runs behind the first; else it had one alone, and they are of that.
    pub steady: bool,
    /// Device time of a run, ns.
    pub time: Value,
    /// The same from the kernels' median calls, ns: blind for the few calls that something else held up.
    pub typical: Option<Value>,
    /// Its kernels.
    pub kernels: Vec<KernelFacts>,
}

/// One kernel of one program in one run.
#[derive(Clone, Debug, Default)]
pub struct KernelFacts {
    /// Its id; absent when the lines name none.
    pub id: Option<u64>,
    /// Family and name, when a catalogue has them.
    pub name: Option<String>,
    /// The source file that a manifest gives.
    pub source: Option<String>,
    /// Calls in a run of its program.
    pub calls: f64,
    /// Device time in a run of its program, ns.
    pub time: Value,
    /// Its median call, ns, of all its calls with a time.
    pub call: Option<Value>,
}

impl Facts {
    /// The facts of a run. `partial`: why it is not the whole story; `split`: of its memory, when anything is known.
    pub fn of(
        run: &Run,
        book: &Book,
        partial: Option<String>,
        split: Option<&Split>,
        names: &Catalogue,
    ) -> Facts {
        let end = run.end.as_ref();
        let own_end = end.filter(|end| end.exit.cause == "exited" && partial.is_none());
        let profile = &book.profile;
        let (completed, unresolved) = (profile.coverage.completed, profile.coverage.unresolved);
        let mut programs: Vec<ProgramFacts> =
            profile.programs().into_iter().map(|p| ProgramFacts::of(p, names)).collect();
        if unresolved * 100 > completed {
            // Stamps that came too late scatter in bursts: the spread inside the run says too little about them.
            for program in &mut programs {
                let kernels = program.kernels.iter_mut().flat_map(|k| [Some(&mut k.time), k.call.as_mut()]);
                let all = kernels.chain([Some(&mut program.time), program.typical.as_mut()]);
                all.flatten().for_each(|value| value.error = None);
            }
        }
        Facts {
            run: run.clone(),
            build: book.tally.build.clone(),
            wall_ns: own_end.and_then(|end| end.at_ns.checked_sub(run.clock.start_ns)),
            partial,
            floor_ns: profile.floor_ns(),
            completed,
            unresolved,
            programs,
            memory: split.map(memory::figures).unwrap_or_default(),
            tells_buffers: split.is_some_and(|s| s.loaded),
        }
    }
}

impl ProgramFacts {
    fn of(program: &Program, names: &Catalogue) -> ProgramFacts {
        let steady = program.steady.count() > 0;
        let runs = if steady { program.steady.count() } else { 1 };
        let kernels: Vec<KernelFacts> =
            program.kernels.iter().filter_map(|k| KernelFacts::of(k, steady, runs, names)).collect();
        ProgramFacts {
            list: program.list,
            commands: program.commands,
            fingerprint: program.fingerprint(),
            runs: program.begun,
            steady,
            time: if steady {
                value(program.steady, runs)
            } else {
                alone(program.total(), program.kernels.iter().map(|k| &k.device))
            },
            typical: typical(&kernels),
            kernels,
        }
    }
}

impl KernelFacts {
    /// `None`: the kernel was in the first run alone, or in no whole one.
    fn of(kernel: &Kernel, steady: bool, runs: u64, names: &Catalogue) -> Option<KernelFacts> {
        let name = kernel.id.and_then(|id| names.get(id));
        let (count, time) = if steady {
            (kernel.steady_count, value(kernel.steady, runs))
        } else {
            (kernel.device.count(), alone(kernel.device.total(), [&kernel.device].into_iter()))
        };
        (count > 0).then(|| KernelFacts {
            id: kernel.id,
            name: name.map(|n| n.label()),
            source: name.and_then(|n| n.source.as_ref()).map(|s| printable(s.as_bytes())),
            calls: count as f64 / runs as f64,
            time,
            call: kernel.device.typical().map(|(is, error)| Value {
                is,
                error: Some(error),
                freedom: kernel.device.count().saturating_sub(1),
            }),
        })
    }

    /// `family:name`, or the id of a kernel that no catalogue has.
    pub fn label(&self) -> String {
        match (&self.name, self.id) {
            (Some(name), _) => name.clone(),
            (None, Some(0)) => "uncatalogued (id 0)".to_owned(),
            (None, Some(id)) => format!("unmapped id {id}"),
            (None, None) => "no kernel named in its lines".to_owned(),
        }
    }
}

/// A run of a program from the median calls of its kernels; `None` when a kernel has no call with a time.
fn typical(kernels: &[KernelFacts]) -> Option<Value> {
    let (mut is, mut variance, mut freedom) = (0.0, 0.0, u64::MAX);
    for kernel in kernels {
        let call = kernel.call?;
        is += call.is * kernel.calls;
        variance += (call.error? * kernel.calls).powi(2);
        freedom = freedom.min(call.freedom.max(1));
    }
    (is > 0.0).then(|| Value { is, error: Some(variance.sqrt()), freedom })
}

/// A time a run of the program; runs in which a kernel is not count with nothing.
fn value(moments: Moments, runs: u64) -> Value {
    let (count, mean) = (moments.count(), moments.mean().unwrap_or(0.0));
    let error = moments.error().filter(|_| count == runs);
    Value { is: mean * count as f64 / runs.max(1) as f64, error, freedom: count.saturating_sub(1) }
}

/// A time of the only run of a program. Its error is taken from the spread of its dispatches: too large rather than too
/// small, since the layers of a model need not be alike.
fn alone<'a>(total: u64, dispatches: impl Iterator<Item = &'a Histogram>) -> Value {
    let (mut variance, mut freedom) = (0.0, 0);
    for device in dispatches {
        let Some(mean) = device.mean() else { continue };
        let squares: f64 = device
            .buckets()
            .map(|(from, to, n)| {
                let middle = (from as f64 + to as f64) / 2.0;
                f64::from(n) * (middle - mean as f64) * (middle - mean as f64)
            })
            .sum();
        let count = device.count();
        // A kernel that was called once shows no spread, and is left to the others.
        if count > 1 {
            variance += squares / (count - 1) as f64 * count as f64;
            freedom += count - 1;
        }
    }
    Value { is: total as f64, error: (freedom > 0).then(|| variance.sqrt()), freedom }
}
