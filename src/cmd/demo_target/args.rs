//! The options of the built-in target.

use std::path::PathBuf;

use clap::ValueEnum;

/// Behave like llama.cpp on the HRX backend, as seen from outside: load lines, serial trace, table
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// How much is computed and how it is traced.
    #[command(flatten)]
    pub work: Work,
    /// Numbered lines in place of the work.
    #[command(flatten)]
    pub flood: Flood,
    /// Ways to misbehave.
    #[command(flatten)]
    pub trouble: Trouble,
    /// Processes that the target starts.
    #[command(flatten)]
    pub grandchildren: Grandchildren,
    /// What the target does with signals.
    #[command(flatten)]
    pub signals: Signals,
}

/// When the serial trace is written.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum SerialMode {
    /// Always.
    On,
    /// Never.
    Off,
    /// When `GGML_HRX_DEBUG_SERIAL_EXECUTION` says so.
    Env,
}

/// How much is computed and how it is traced.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Work")]
pub struct Work {
    /// Tokens to decode, one command program each
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub tokens: u32,
    /// Commands of the decode program
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub commands: usize,
    /// Commands of the prefill program; 0 = no prefill
    #[arg(long, value_name = "N", default_value_t = 327)]
    pub prefill_commands: usize,
    /// Commands of the init list of every program
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub init_commands: usize,
    /// Run each program once more before it is measured, with slow launches, as a first run compiles
    #[arg(long)]
    pub warm_up: bool,
    /// Write the serial trace: always, never, or as the environment says
    #[arg(long, value_name = "WHEN", default_value = "env")]
    pub serial: SerialMode,
    /// Multiply every device time
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub scale: f64,
    /// A kernel (by its name) takes so many percent longer on the device
    #[arg(long, value_name = "KERNEL=PERCENT", value_parser = slow)]
    pub slow: Option<(String, f64)>,
    /// Every kernel takes N µs on the device; 0 = no wait at all
    #[arg(long, value_name = "N")]
    pub device_us: Option<u64>,
    /// A launch takes N µs on the host
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub launch_us: u64,
    /// Wait for the device by spinning alone, so that the known times are exact
    #[arg(long)]
    pub spin: bool,
    /// Print no load lines
    #[arg(long)]
    pub no_load: bool,
    /// Loading the model takes N ms
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub load_ms: u64,
    /// Enter a GPU client with the memory of a recorded run into DIR, a /proc made for it
    #[arg(long, value_name = "DIR")]
    pub proc: Option<PathBuf>,
}

fn slow(text: &str) -> Result<(String, f64), String> {
    let both = text.split_once('=').and_then(|(name, part)| Some((name.to_owned(), part.parse().ok()?)));
    both.filter(|(_, part): &(String, f64)| part.is_finite() && *part > -100.0)
        .ok_or_else(|| format!("'{text}' is not KERNEL=PERCENT"))
}

/// Numbered lines in place of the work.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Floods, in place of the work")]
pub struct Flood {
    /// Write N numbered lines as fast as possible, one write each
    #[arg(long, value_name = "N")]
    pub lines: Option<u64>,
    /// Bytes of such a line, newline included
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub line_bytes: usize,
    /// Write N short numbered lines, one write each
    #[arg(long, value_name = "N", conflicts_with = "lines")]
    pub numbered: Option<u64>,
    /// One such line every N µs; 0 = flat out
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub every_us: u64,
    /// Append each number to FILE once its line is written
    #[arg(long, value_name = "FILE")]
    pub numbered_log: Option<PathBuf>,
}

/// The point of a dispatch at which the target dies.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DieAt {
    /// After the line that begins the dispatch: it is being launched.
    Launch,
    /// Half of the device's time after the launch, while the target waits for it.
    Device,
    /// Inside the line that ends the launch: its head is out and its newline is not.
    Line,
}

/// Ways to misbehave.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Trouble")]
pub struct Trouble {
    /// Die in the K-th dispatch of the run, counted from 1
    #[arg(long, value_name = "K")]
    pub die_in_dispatch: Option<u64>,
    /// Where in that dispatch; without the serial trace always on the device
    #[arg(long, value_name = "POINT", default_value = "device")]
    pub die_at: DieAt,
    /// The signal to die of (default KILL); without --die-in-dispatch: at the end of the run
    #[arg(long, value_name = "SIG", value_parser = crate::core::signals::parse)]
    pub die_signal: Option<i32>,
    /// Fail the device wait of the K-th dispatch, counted from 1, and exit with 1
    #[arg(long, value_name = "K")]
    pub fail_sync: Option<u64>,
    /// A second thread writes logger lines straight to stderr at random moments
    #[arg(long)]
    pub garble: bool,
    /// Put a logger line inside every K-th trace line, between its first and its second write
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub garble_every: u64,
    /// Seed of the random moments
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// End each trace line and each short numbered line with ` clock=<CLOCK_MONOTONIC ns>`, read just before its first
    /// write
    #[arg(long)]
    pub own_clock: bool,
    /// Write a line with a NUL byte at the end
    #[arg(long)]
    pub nul: bool,
    /// Write a line of N bytes at the end
    #[arg(long, value_name = "N")]
    pub long_line: Option<usize>,
    /// Write a last line without a newline
    #[arg(long)]
    pub no_newline: bool,
    /// Sleep N ms at the end
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub sleep_ms: u64,
    /// Exit status
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub exit_code: u8,
}

/// Processes that the target starts and does not wait for.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Grandchildren")]
pub struct Grandchildren {
    /// Start N processes that print a line and sleep
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub fork: u32,
    /// Give each of them a session of its own
    #[arg(long)]
    pub setsid: bool,
    /// Start a silent process that keeps stderr open and outlives the target
    #[arg(long)]
    pub hold: bool,
    /// How long they live, ms
    #[arg(long, value_name = "N", default_value_t = 60_000)]
    pub grandchild_ms: u64,
    /// Be the grandchild of this number.
    #[arg(long, hide = true)]
    pub grandchild: Option<u32>,
    /// As a grandchild: print nothing.
    #[arg(long, hide = true)]
    pub silent: bool,
}

/// What the target does with signals.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Signals")]
pub struct Signals {
    /// Ignore SIGTERM
    #[arg(long)]
    pub ignore_term: bool,
    /// Ignore SIGINT
    #[arg(long)]
    pub ignore_int: bool,
    /// Print `ready` on stdout once everything is set up and before the work
    #[arg(long)]
    pub ready: bool,
    /// Catch signals and print `signal NAME count K` on stdout for each; prints `ready` first
    #[arg(long)]
    pub count_signals: bool,
    /// Exit once N signals came, and not before unless --sleep-ms is over
    #[arg(long, value_name = "N", requires = "count_signals")]
    pub exit_after_signals: Option<u64>,
}
