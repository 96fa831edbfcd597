//! Where the reports of a run go, as the user said.

use std::path::PathBuf;

use anyhow::bail;

use crate::cmd::files::{apart, is_dash};
use crate::report::view::View;

/// Where things go.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The run folder.
    pub out: Option<PathBuf>,
    /// It may replace a run of ours.
    pub force: bool,
    /// The kept trace.
    pub log: Option<PathBuf>,
    /// The text report instead of stderr.
    pub report: Option<PathBuf>,
    /// The JSON report.
    pub json: Option<PathBuf>,
    /// The samples.
    pub samples: Option<PathBuf>,
    /// The tables as CSV.
    pub csv: Option<PathBuf>,
    /// The tables as Markdown.
    pub markdown: Option<PathBuf>,
    /// The report as a page.
    pub html: Option<PathBuf>,
    /// The timeline.
    pub timeline: Option<PathBuf>,
    /// Its spans at the most.
    pub timeline_max: u64,
    /// Kernel manifests that the user named.
    pub manifests: Vec<PathBuf>,
    /// How tables are shown.
    pub view: View,
    /// A report that fails makes our status another one.
    pub strict: bool,
}

impl Places {
    /// Whether a report goes to our standard output.
    pub fn need_stdout(&self) -> bool {
        [&self.report, &self.json, &self.csv, &self.markdown, &self.html]
            .into_iter()
            .flatten()
            .any(|p| is_dash(p))
    }

    /// Where the kept trace will be.
    pub fn log_path(&self) -> Option<PathBuf> {
        self.log.clone().or_else(|| self.out.as_ref().map(|out| out.join("trace.log")))
    }

    /// Whether anything is kept, so that it is worth asking git.
    pub fn keep_anything(&self) -> bool {
        let files = [&self.out, &self.log, &self.samples, &self.json, &self.report, &self.html];
        files.into_iter().any(Option::is_some)
    }

    /// Whether each file is one of its own.
    ///
    /// # Errors
    /// A sentence with the options that name one file.
    pub fn check_apart(&self) -> anyhow::Result<()> {
        let all = [
            ("--log", &self.log),
            ("--samples", &self.samples),
            ("--report", &self.report),
            ("--json", &self.json),
            ("--csv", &self.csv),
            ("--markdown", &self.markdown),
            ("--html", &self.html),
            ("--timeline", &self.timeline),
        ];
        apart(&[], &all.map(|(option, path)| (option, path.as_deref())))
    }

    /// Whether the timeline can be made: it is drawn from the kept trace when the run has ended.
    ///
    /// # Errors
    /// A sentence with the remedy.
    pub fn check_timeline(&self) -> anyhow::Result<()> {
        let Some(timeline) = &self.timeline else { return Ok(()) };
        if is_dash(timeline) {
            bail!("--timeline goes to a file: name one");
        }
        match (&self.out, &self.log) {
            (_, Some(log)) if log.metadata().is_ok_and(|m| !m.is_file()) => {
                bail!(
                    "--timeline is drawn from the kept trace, and {} is no file: choose a file with --log",
                    log.display()
                )
            }
            (None, None) => {
                bail!("--timeline is drawn from the kept trace: keep it, with --out DIR or --log FILE")
            }
            _ => Ok(()),
        }
    }
}
