//! The options for reports that are looked at.

use std::path::PathBuf;

use clap::Args;

use crate::core::timeline::DEFAULT_SPANS;

/// Reports that are looked at.
#[derive(Clone, Debug, Args)]
pub struct PictureArgs {
    /// The report as a page in this file: one file, no network (- = stdout).
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Pictures")]
    pub html: Option<PathBuf>,
    /// The timeline in this file, for ui.perfetto.dev; FILE.json: as Chrome trace JSON.
    ///
    /// It is drawn from the kept trace when the run has ended, so a live run needs --out or --log as well.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Pictures")]
    pub timeline: Option<PathBuf>,
    /// Spans of the timeline at the most; of a longer run whole programs from its start, the slowest dispatches and the
    /// last ones are drawn, and the timeline says so.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SPANS, help_heading = "Pictures")]
    pub timeline_max: u64,
}
