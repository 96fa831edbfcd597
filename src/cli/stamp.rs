//! Where lines are stamped.

use clap::{Args, ValueEnum};

/// Where lines get their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stamp {
    /// Where the target prints, if it can; else at read.
    Auto,
    /// In the target's process, when it prints: an object is preloaded.
    Source,
    /// By hrx-wrap, when it got the bytes: nothing is preloaded.
    Read,
}

/// The options about stamps.
#[derive(Debug, Args)]
pub struct StampArgs {
    /// Where lines get their time; auto with --profile, else read.
    ///
    /// At the source a preloaded object (LD_PRELOAD) stamps what a process prints on C's stderr and puts it into shared memory.
    /// That costs the target a fraction of a write, and the time is exact. Whatever it cannot serve, such as static
    /// programs, is stamped at read, as everything is with `read`, which preloads nothing. The report says how many lines
    /// went which way.
    #[arg(long, value_enum, value_name = "WHERE")]
    pub stamp: Option<Stamp>,
}

impl StampArgs {
    /// Where, for a run with a profile or without one. A profile is made of differences of stamps.
    pub fn with_profile(&self, profile: bool) -> Stamp {
        self.stamp.unwrap_or(if profile { Stamp::Auto } else { Stamp::Read })
    }
}
