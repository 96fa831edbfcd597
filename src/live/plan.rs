//! What a run is to do: everything is decided before the first fork.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::os::fd::RawFd;
use std::path::PathBuf;

use crate::core::book::Book;
use crate::core::memory::series::Series;
use crate::core::run::Run;
use crate::live::echo::Mode;
use crate::live::sampler;
use crate::live::source::Source;

/// One run, decided.
#[derive(Debug)]
pub struct Plan {
    /// The program and its arguments, as given.
    pub command: Vec<OsString>,
    /// Files to try in turn, the way `execvp` searches.
    pub candidates: Vec<CString>,
    /// The target's whole environment, `NAME=VALUE`.
    pub environment: Vec<CString>,
    /// The target's stderr is a terminal of its own.
    pub pty: bool,
    /// End the target after this, ns.
    pub timeout_ns: Option<u64>,
    /// From the first signal to SIGKILL, ns.
    pub kill_after_ns: u64,
    /// The signal that a timeout sends first.
    pub signal: i32,
    /// After a timeout the exit status is the target's.
    pub preserve_status: bool,
    /// What passes through to our stderr.
    pub echo: Mode,
    /// A status line once a second, when our stderr is a terminal.
    pub progress: bool,
    /// Processes that outlive the target are left alone.
    pub leave: bool,
    /// Descriptors ≥ 3 that the caller gave us: the target's, not ours.
    pub inherited: Vec<RawFd>,
    /// Our standard output is needed at the end (a report goes there), so it is kept open beside the target's.
    pub keep_stdout: bool,
    /// Lines are stamped at the source, where a process can.
    pub source: Option<Source>,
    /// The kept trace, with its header written.
    pub log: Option<Log>,
    /// How the tree's memory is looked at.
    pub sampling: sampler::Options,
    /// The table of samples, with its header written.
    pub samples: Option<Log>,
    /// The record, as far as it is known.
    pub run: Run,
}

/// The file of the kept trace, or of the samples.
#[derive(Debug)]
pub struct Log {
    /// The open file.
    pub file: File,
    /// Its path, for messages.
    pub path: PathBuf,
    /// The length of the header.
    pub offset: u64,
}

/// What the commands above do with a run. Called in the process that survives, never in the one that was killed.
pub trait Keeper {
    /// The target runs.
    fn started(&mut self, run: &Run);
    /// The run is over. Yields the report for our stderr, if one goes there. `book` and `samples` are absent when they were
    /// lost with the process that kept them.
    fn finished(&mut self, run: &mut Run, book: Option<Book>, samples: Option<&Series>) -> Finished;
    /// The target could not be started: nothing of the run stays.
    fn discard(&mut self);
}

/// What a [`Keeper`] made of a run.
#[derive(Debug, Default)]
pub struct Finished {
    /// The report for our stderr.
    pub report: String,
    /// What could not be written, a sentence each.
    pub troubles: Vec<String>,
    /// Our status in place of the target's 0: the report failed. The record says it too.
    pub status: Option<i32>,
}

/// How `hrx-wrap` itself ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// With this status.
    Exit(i32),
    /// Of this signal, as the target did.
    Die(i32),
}

impl Verdict {
    /// What a shell sees in `$?`.
    pub fn status(self) -> i32 {
        match self {
            Verdict::Exit(code) => code,
            Verdict::Die(signal) => 128 + signal,
        }
    }
}

/// The statuses that are ours (`timeout`'s and the shell's).
pub mod status {
    /// The target exited with 0 and the report failed (`--strict`).
    pub const REPORT_FAILED: i32 = 121;
    /// The timeout ended the target, not by SIGKILL.
    pub const TIMED_OUT: i32 = 124;
    /// We failed.
    pub const FAILED: i32 = 125;
    /// The command was found and cannot be executed.
    pub const CANNOT_EXECUTE: i32 = 126;
    /// The command was not found.
    pub const NOT_FOUND: i32 = 127;
    /// SIGKILL was needed after the grace, or was the timeout's signal.
    pub const KILLED: i32 = 137;
}
