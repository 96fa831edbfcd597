//! The options of the memory's sampling, and of `mem`.

use std::path::PathBuf;

use clap::Args;

/// The heading of these options in the help.
const HEADING: &str = "Memory";

/// How the memory is looked at.
#[derive(Clone, Debug, Args)]
pub struct LookArgs {
    /// The DRM driver whose clients are counted; any = all.
    #[arg(long, value_name = "NAME", default_value = "amdgpu", value_parser = driver, help_heading = HEADING)]
    pub driver: String,
    /// The /proc to read: in a container, the host's, where it is mounted.
    #[arg(long, value_name = "DIR", default_value = "/proc", value_hint = clap::ValueHint::DirPath, help_heading = HEADING)]
    pub proc: PathBuf,
    /// The /sys to read.
    #[arg(long, value_name = "DIR", default_value = "/sys", value_hint = clap::ValueHint::DirPath, help_heading = HEADING)]
    pub sys: PathBuf,
}

/// The sampling of a run.
#[derive(Clone, Debug, Args)]
pub struct SamplingArgs {
    /// From one sample of the memory to the next, 1ms or more.
    #[arg(long, value_name = "DUR", default_value = "50ms", value_parser = interval, help_heading = HEADING)]
    pub interval: u64,
    /// Keep the samples in this file, a row each; with --out they are in gtt.tsv.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = HEADING)]
    pub samples: Option<PathBuf>,
    /// How it is looked at.
    #[command(flatten)]
    pub look: LookArgs,
}

/// The samples of `parse`.
#[derive(Clone, Debug, Args)]
pub struct SamplesArgs {
    /// Samples of the memory: a gtt.tsv, or a list of 'TIME KIB' pairs, one a line.
    ///
    /// TIME is in seconds when it has a fraction or is below 10^10, else in nanoseconds.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = HEADING)]
    pub samples: Option<PathBuf>,
}

/// The options of `mem`.
#[derive(Debug, Args)]
pub struct MemArgs {
    /// A process, with everything below it; may be given again.
    #[arg(long = "pid", value_name = "PID", required = true, num_args = 1.., value_parser = clap::value_parser!(i32).range(1..))]
    pub pids: Vec<i32>,
    /// Look again after each such time, 1ms or more, until the processes have ended.
    #[arg(long, value_name = "DUR", value_parser = interval)]
    pub watch: Option<u64>,
    /// As JSON; with --watch, one line a look.
    #[arg(long)]
    pub json: bool,
    /// How it is looked at.
    #[command(flatten)]
    pub look: LookArgs,
}

fn interval(text: &str) -> Result<u64, String> {
    match crate::core::duration::parse(text) {
        Ok(ns) if ns < crate::core::duration::MS => Err(format!("'{text}' is too short: 1ms or more")),
        other => other,
    }
}

fn driver(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !text.is_empty() && text.len() < 64 && text.chars().all(plain) {
        Ok(text.to_owned())
    } else {
        Err(format!("'{text}' is no driver's name: amdgpu, xe, i915 …, or any"))
    }
}
