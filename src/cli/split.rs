//! The options of the split.

use clap::{Args, ValueEnum};
use regex::bytes::Regex;

/// How llama.cpp is asked for the lines about its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VerboseBy {
    /// LLAMA_ARG_LOG_VERBOSITY=4 in the environment.
    Env,
    /// -v behind the arguments.
    Arg,
    /// Not at all.
    None,
}

/// What a run does for the split.
#[derive(Clone, Debug, Args)]
pub struct SplitArgs {
    /// Split the GPU memory: sets GGML_HRX_HOST_WEIGHT_TRACE=1 and LLAMA_ARG_LOG_VERBOSITY=4, appends -v to llama-bench.
    #[arg(short, long, help_heading = "Split")]
    pub split: bool,
    /// How llama.cpp is asked for its buffer lines; the default is both: the variable, and -v for llama-bench alone.
    #[arg(long, value_enum, value_name = "HOW", requires = "split", help_heading = "Split")]
    pub verbose_by: Option<VerboseBy>,
}

/// How the split is read.
#[derive(Clone, Debug, Args)]
pub struct ReadingArgs {
    /// What may stay unattributed before the report warns, percent of the peak; the default is 20.
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Split")]
    pub max_unattributed: Option<f64>,
    /// Lines of the host-weight trace are those that fit this pattern.
    ///
    /// The amount is its group 'resident' or its first one, the count its group 'count' or its second one; without groups
    /// the line's fields resident= and weights=.
    #[arg(long, value_name = "REGEX", value_parser = pattern, help_heading = "Split")]
    pub packed_pattern: Option<Regex>,
    /// Fail when too much is unattributed, when that is unknown or negative, or when -p traced no dispatch.
    ///
    /// A run whose target exited with 0 exits with 121 then, parse with 1.
    #[arg(long, help_heading = "Split")]
    pub strict: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim().parse::<f64>().ok();
    let fits = number.filter(|n| (0.0..=100.0).contains(n));
    fits.ok_or_else(|| format!("'{text}' is no percentage from 0 to 100"))
}

fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        format!("'{text}' is no regular expression: {last}")
    })
}
