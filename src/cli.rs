//! The command line: one definition for the parser, the help, the man pages and the completions.

pub mod sampling;
pub mod split;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cmd::demo_target;
use sampling::{MemArgs, SamplesArgs};

mod compare;
mod pictures;
mod run;
pub mod stamp;
pub use compare::CompareArgs;
pub use pictures::PictureArgs;
pub use run::{EchoArg, RunArgs, Stdio};

const TRACE_FORMAT: &str = "\
The kept trace has one line for each line of the target's stderr: '<ns> <the line, unchanged>', where ns is \
CLOCK_MONOTONIC in nanoseconds when the line's first byte was read, or printed (--stamp). Lines that begin with '# hrx-wrap/1 ' are ours: \
what the run is (before the first stamped line), lines that a full disk did not take ('lost'), a last line without \
line end ('no-newline'), and how the run ended ('end').";

const EXIT_STATUS: &str = "\
Exit status: the target's own; or we die of the signal that the target died of; 124 the timeout ended it; \
125 we failed; 126 it cannot be executed; 127 it was not found; 137 SIGKILL was needed after the grace, \
or was the timeout's signal; \
121 the target exited with 0 and --strict found the report failed.";

const TICKET: &str = "\
Inside a GPU ticket that kills when its time is over:\n  \
gpu-hold -l LANE -t 15 -- hrx-wrap -p -s -o RUN -t 14m -- llama-bench -m M.gguf -ngl 99 -p 512 -n 16 -r 1\n\
What was printed until then is in RUN/trace.log, and RUN/report.txt says how far it came.";

const KERNELS: &str = "\
One line a kernel: id, FAMILY:NAME, number of bindings, source, origin ('-' = unknown). The origin is 'given' (--manifests), \
'built-in', or 'computed': the id of a FAMILY:NAME that no manifest has.\n\n\
An id is decimal or 0x hexadecimal. A name without family stands for every kernel that is called so, or else for those \
that have it in their name. Kernels of the family hip are in no manifest: hrx-wrap kernels hip:SYMBOL computes the id.\n\n\
Exit status: 0 done, 1 a word stands for no kernel, 2 usage or I/O.";

const COMPARE: &str = "\
Times are a run of a program, behind its first one (kernels are made on first use), so runs of different length can be \
compared. 'noise' is half the 99 % interval of the difference; 'no difference' is said only where it is under the \
threshold. With one run a side it is the spread inside the runs: give three a side for what differs from run to run.\n\n\
Exit status: 0 no regression, 1 a regression above --threshold that is larger than the noise, 2 usage or I/O, \
3 not comparable (serial trace against none, other stamps or clock, no kernel in both) without --force.";

const MEM: &str = "\
GTT is what is resident where the kernel says so; a process's clients are counted once, however many descriptors and \
processes hold them. Memory of hipMallocManaged does not show: look at the processes' own beside it.\n\n\
Exit status: 0 done, 1 no client of the driver, 2 usage or I/O: no such process, or it may not be read.";

/// Supervise a command that runs llama.cpp on an AMD GPU
///
/// Put it in front of the command: it time-stamps and keeps what the command prints on stderr, ends the whole process
/// tree when its time is over, and reports what happened, also when it was killed.
#[derive(Debug, Parser)]
#[command(
    name = "hrx-wrap",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    args_override_self = true,
    after_long_help = format!("{TICKET}\n\n{TRACE_FORMAT}\n\n{EXIT_STATUS}"),
    override_usage = "hrx-wrap [run] [OPTIONS] -- CMD [ARG…]\n       hrx-wrap <COMMAND> …"
)]
pub struct Cli {
    /// What to do; `run` when it is left out.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The options of `run`.
    #[command(flatten)]
    pub run: RunArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Supervise one command.
    #[command(
        after_long_help = format!("{TICKET}\n\n{TRACE_FORMAT}\n\n{EXIT_STATUS}"),
        override_usage = "hrx-wrap run [OPTIONS] -- CMD [ARG…]"
    )]
    Run(Box<RunArgs>),
    /// The same report from what a run left: a run folder, a kept trace, or `-` for standard input.
    #[command(after_long_help = format!(
        "Works on a run that is still going, and on one that was killed.\n\n{TRACE_FORMAT}\n\n\
         Exit status: 0 done, 1 nothing to report or --strict failed, 2 usage or I/O."
    ))]
    Parse(ParseArgs),
    /// Two or more runs side by side: where the time went up or down, and whether that is more than noise.
    #[command(after_long_help = COMPARE, override_usage = "hrx-wrap compare [OPTIONS] BASE NEW…\n       hrx-wrap compare [OPTIONS] BASE… --vs NEW…\n       hrx-wrap compare [OPTIONS] --label OLD --label NEW RUN…")]
    Compare(CompareArgs),
    /// The GPU memory that a running process tree holds now.
    #[command(after_long_help = MEM)]
    Mem(MemArgs),
    /// The kernel catalogue: id to family and name, and back.
    #[command(after_long_help = KERNELS)]
    Kernels(KernelsArgs),
    /// A built-in target, no GPU or model needed: every report from one command.
    Demo(DemoArgs),
    /// Checks this installed program without a device, in seconds.
    SelfTest,
    /// The built-in target of the demo.
    #[command(hide = true)]
    DemoTarget(Box<demo_target::Args>),
}

/// The order of a table's rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SortArg {
    /// Time on the device in all.
    #[default]
    Total,
    /// Dispatches.
    Count,
    /// Mean device time.
    Mean,
    /// Median device time.
    Median,
    /// 95th percentile of the device time.
    P95,
    /// Longest device time.
    Max,
    /// Mean launch.
    Launch,
    /// Name.
    Name,
}

/// The unit of a dispatch's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum UnitArg {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    #[default]
    Us,
    /// Milliseconds.
    Ms,
}

/// The profile's tables.
#[derive(Clone, Debug, Args)]
pub struct TableArgs {
    /// Kernel manifests: a folder of manifests or of folders, or one file; may be given again.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::AnyPath, help_heading = "Profile")]
    pub manifests: Vec<PathBuf>,
    /// The order of a table's rows.
    #[arg(long, value_enum, value_name = "BY", default_value = "total", help_heading = "Profile")]
    pub sort: SortArg,
    /// Rows of a table; the others are summed up.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Profile")]
    pub top: usize,
    /// The unit of a dispatch's times.
    #[arg(long, value_enum, value_name = "UNIT", default_value = "us", help_heading = "Profile")]
    pub unit: UnitArg,
    /// The tables as CSV in this file (- = stdout).
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Profile")]
    pub csv: Option<PathBuf>,
    /// The tables as Markdown in this file (- = stdout).
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Profile")]
    pub markdown: Option<PathBuf>,
}

/// The options of `parse`.
#[derive(Debug, Args)]
pub struct ParseArgs {
    /// A run folder, a kept trace, or - for standard input; may be left out when --samples is given.
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::AnyPath, required_unless_present = "samples")]
    pub path: Option<PathBuf>,
    /// The samples.
    #[command(flatten)]
    pub samples: SamplesArgs,
    /// The text report goes to this file instead of stdout.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    /// The report as JSON in this file (- = stdout, then without the text).
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// The tables.
    #[command(flatten)]
    pub tables: TableArgs,
    /// Pictures.
    #[command(flatten)]
    pub pictures: PictureArgs,
    /// How the split is read.
    #[command(flatten)]
    pub reading: split::ReadingArgs,
}

/// The options of `kernels`.
#[derive(Debug, Args)]
pub struct KernelsArgs {
    /// Kernel manifests: a folder of them, a folder of folders with a manifest.json, or one file; may be given again.
    ///
    /// In a llama.cpp tree it is ggml/src/ggml-hrx/kernel-corpus/kernels. They win over the built-in list.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::AnyPath)]
    pub manifests: Vec<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// A kernel's id, FAMILY:NAME, name, or a part of it; all kernels when left out.
    #[arg(value_name = "ID|NAME")]
    pub words: Vec<String>,
}

/// The options of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the run in this folder; a new one in the temporary folder when left out.
    #[arg(short, long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Replace the run in --out; nothing but a run of hrx-wrap is replaced.
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Decode tokens that the built-in target makes.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub tokens: u32,
}
