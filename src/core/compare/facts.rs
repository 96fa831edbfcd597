//! What a comparison needs of one run: small, so that many long runs can be held at once.

use crate::core::book::Book;
use crate::core::compare::memory::{self, Figure};
use crate::core::compare::noise::Value;
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
    /// The serial trace is in it, however little of it.
    pub traced: bool,
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

/// What the numbers of a program are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// Its whole runs behind the first.
    Behind,
    /// Its first run, which came to its end. Kernels are made on first use, so it is not like the others.
    First,
    /// Runs that were cut off: of no whole one.
    #[default]
    Cut,
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
    /// What the numbers are of.
    pub of: Of,
    /// The numbers of its first run, where these are of those behind it.
    pub first: Option<Box<ProgramFacts>>,
    /// The part of its commands that was traced, when not all: the first and the last index.
    pub traced: Option<(u64, u64)>,
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
                program.values().for_each(|value| value.error = None);
                program
                    .first
                    .iter_mut()
                    .flat_map(|first| first.values())
                    .for_each(|value| value.error = None);
            }
        }
        Facts {
            run: run.clone(),
            build: book.tally.build.clone(),
            wall_ns: own_end.and_then(|end| end.at_ns.checked_sub(run.clock.start_ns)),
            partial,
            floor_ns: profile.floor_ns(),
            traced: book.tally.trace_lines + book.tally.broken > 0 || profile.has_dispatch(),
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
        let first = if program.first_run_is_cut() { Of::Cut } else { Of::First };
        if program.steady.count() == 0 {
            return ProgramFacts::with(program, first, names);
        }
        let mut facts = ProgramFacts::with(program, Of::Behind, names);
        facts.first = (first == Of::First).then(|| Box::new(ProgramFacts::with(program, first, names)));
        facts
    }

    fn with(program: &Program, of: Of, names: &Catalogue) -> ProgramFacts {
        let kernels: Vec<KernelFacts> =
            program.kernels.iter().filter_map(|k| KernelFacts::of(k, program, of, names)).collect();
        ProgramFacts {
            list: program.list,
            commands: program.commands,
            fingerprint: program.fingerprint(),
            runs: program.begun,
            of,
            first: None,
            traced: program.traced(),
            time: match of {
                Of::Behind => value(program.steady, program.steady.count()),
                Of::First | Of::Cut => {
                    alone(program.first_run_ns, program.kernels.iter().map(|k| &k.first_run))
                }
            },
            typical: typical(&kernels),
            kernels,
        }
    }

    /// Its numbers, but for those of its first run, to change.
    fn values(&mut self) -> impl Iterator<Item = &mut Value> {
        let ProgramFacts { kernels, time, typical, .. } = self;
        let kernels = kernels.iter_mut().flat_map(|k| [Some(&mut k.time), k.call.as_mut()]);
        kernels.chain([Some(time), typical.as_mut()]).flatten()
    }
}

impl KernelFacts {
    /// `None`: the kernel is not in the runs that the numbers are of.
    fn of(kernel: &Kernel, program: &Program, of: Of, names: &Catalogue) -> Option<KernelFacts> {
        let name = kernel.id.and_then(|id| names.get(id));
        let (count, runs, time) = match of {
            Of::Behind => {
                let runs = program.steady.count();
                (kernel.steady_count, runs, value(kernel.steady, runs))
            }
            Of::First | Of::Cut => {
                (kernel.first_run.count(), 1, alone(kernel.first_run_ns, [&kernel.first_run].into_iter()))
            }
        };
        // The calls of all runs say nothing of the first one.
        let call = kernel.device.typical().filter(|_| of == Of::Behind || program.begun == 1);
        (count > 0).then(|| KernelFacts {
            id: kernel.id,
            name: name.map(|n| n.label()),
            source: name.and_then(|n| n.source.as_ref()).map(|s| printable(s.as_bytes())),
            calls: count as f64 / runs as f64,
            time,
            call: call.map(|(is, error)| Value {
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

/// A time of one run of a program. Its error is taken from the spread of its dispatches: too large rather than too small, since
/// the layers of a model need not be alike.
fn alone<'a>(total: u64, kernels: impl Iterator<Item = &'a Moments>) -> Value {
    let (mut variance, mut freedom) = (0.0, 0);
    for dispatches in kernels {
        // A kernel that was called once shows no spread, and is left to the others.
        if let Some(own) = dispatches.variance() {
            variance += own * dispatches.count() as f64;
            freedom += dispatches.count() - 1;
        }
    }
    Value { is: total as f64, error: (freedom > 0).then(|| variance.sqrt()), freedom }
}
