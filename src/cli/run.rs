//! The options of `run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::sampling::SamplingArgs;
use super::split::{ReadingArgs, SplitArgs};
use super::stamp::StampArgs;
use super::{PictureArgs, TableArgs};

/// What the target's stderr is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Stdio {
    /// A pipe.
    Pipe,
    /// A terminal of its own, with raw output.
    Pty,
    /// A terminal when our stderr is one, else a pipe.
    #[default]
    Auto,
}

/// What of the target's stderr passes through to ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum EchoArg {
    /// All but lines of the serial trace.
    #[default]
    Rest,
    /// Everything.
    All,
    /// Nothing.
    None,
}

/// The options of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Profile the dispatches: sets GGML_HRX_DEBUG_SERIAL_EXECUTION=1 for the target.
    #[arg(short, long, help_heading = "Profile")]
    pub profile: bool,
    /// Trace only programs of N commands (sets GGML_HRX_DEBUG_SERIAL_PROGRAM_COMMANDS).
    #[arg(long, value_name = "N", requires = "profile", help_heading = "Profile")]
    pub programs: Option<u64>,
    /// Trace only commands A to B of a list, both included (sets GGML_HRX_DEBUG_SERIAL_START_COMMAND and _END_COMMAND).
    #[arg(long, value_name = "A..B", requires = "profile", value_parser = range, help_heading = "Profile")]
    pub commands: Option<(u64, u64)>,
    /// The tables.
    #[command(flatten)]
    pub tables: TableArgs,
    /// The memory's sampling.
    #[command(flatten)]
    pub sampling: SamplingArgs,
    /// The split.
    #[command(flatten)]
    pub split: SplitArgs,
    /// How the split is read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Keep the run in this folder: run.json trace.log gtt.tsv report.txt report.json report.html
    /// timeline.pftrace.
    ///
    /// It must be new or empty. %h %p %t %n in it stand for host, our pid, UTC time and the target's name.
    #[arg(short, long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// With --out: replace a run of ours that is there (nothing else is ever replaced).
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Keep the time-stamped trace of stderr in this file.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub log: Option<PathBuf>,
    /// The text report goes to this file instead of stderr (- = stdout).
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    /// The report as JSON in this file (- = stdout).
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Pictures.
    #[command(flatten)]
    pub pictures: PictureArgs,
    /// End the target after this time: 90, 90s, 15m, 1h30m; 0 = never.
    #[arg(short, long, value_name = "DUR", value_parser = duration)]
    pub timeout: Option<u64>,
    /// From the first signal to SIGKILL.
    #[arg(short, long, value_name = "DUR", default_value = "10s", value_parser = duration)]
    pub kill_after: u64,
    /// The signal that a timeout sends first.
    #[arg(long, value_name = "SIG", default_value = "TERM", value_parser = crate::core::signals::parse)]
    pub signal: i32,
    /// After a timeout, exit with the target's status instead of 124.
    #[arg(long)]
    pub preserve_status: bool,
    /// What the target's stderr is.
    #[arg(long, value_enum, value_name = "KIND", default_value = "auto")]
    pub stdio: Stdio,
    /// What of the target's stderr passes through to ours.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "rest")]
    pub echo: EchoArg,
    /// Where lines are stamped.
    #[command(flatten)]
    pub stamps: StampArgs,
    /// One status line a second on a terminal: elapsed time, lines, dispatches, GTT now and at its peak.
    #[arg(long)]
    pub progress: bool,
    /// Leave processes alone that outlive the target; the default is to end them.
    #[arg(long)]
    pub leave: bool,
    /// A name for the run, kept in run.json.
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Set a variable for the target; may be given again.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    pub env: Vec<String>,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "CMD", value_hint = clap::ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

fn duration(text: &str) -> Result<u64, String> {
    crate::core::duration::parse(text)
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let bounds = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    bounds.filter(|(a, b)| a <= b).ok_or_else(|| format!("'{text}' is not a range: write 0..99"))
}

fn variable(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((name, _)) if !name.is_empty() => Ok(text.to_owned()),
        _ => Err(format!("'{text}' is not NAME=VALUE")),
    }
}
