//! What the record of a run says of its end.

use serde::{Deserialize, Serialize};

use crate::core::memory::seen::Seen;

/// How and when a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct End {
    /// The target's end (or when we gave up on it), ns.
    pub at_ns: u64,
    /// The target's own end.
    pub exit: Exit,
    /// The exit status of `hrx-wrap` itself, as a shell sees it.
    pub status: i32,
    /// Why the record is not the whole story, when it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// What the ring, the log and the echo counted.
    pub counters: Counters,
    /// What was seen of the tree's memory; absent when it was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Seen>,
    /// Signals that were handed on, and those that were not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Forwarded>,
    /// When the target was stopped, and for how long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<Stop>,
    /// Processes that were still there when the target had ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leftovers: Vec<Process>,
    /// True: they were left alone, as asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left_alone: bool,
    /// Processes that SIGKILL did not end in the time we waited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unkillable: Vec<Process>,
    /// Processes that held the target's stderr open when we stopped reading it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stderr_held_by: Vec<Process>,
    /// Processes of the tree that we reaped, the target itself not counted.
    pub reaped: u64,
    /// What else a reader should know, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The target's end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exit {
    /// Its exit code, when it exited.
    pub code: Option<i32>,
    /// The signal that ended it, when one did.
    pub signal: Option<i32>,
    /// What brought it about: `exited`, `signal`, `timeout`, `killed-after-grace`, `hrx-wrap-killed`, `supervisor-killed`,
    /// `supervisor-failed`, `unkillable`.
    pub cause: String,
}

/// What was counted while the target's stderr was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Lines seen.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Lines of the serial trace.
    pub trace_lines: u64,
    /// Lines with the serial trace's mark that cannot be read.
    pub broken: u64,
    /// Lines that were stamped by the process that printed them; the others were stamped at read.
    pub source_lines: u64,
    /// Processes that stamped what they printed.
    pub source_processes: u64,
    /// Prints that found no room in the ring for long and were written to the descriptor, and stamped at read.
    pub source_bypassed: u64,
    /// Lines that we ended where their writer had not, since others' lines came between.
    pub cut_lines: u64,
    /// Times the reader, or a process that printed, waited because the ring was full.
    pub stalls: u64,
    /// How long it waited in all, ns.
    pub stall_ns: u64,
    /// The longest wait, ns.
    pub longest_stall_ns: u64,
    /// Lines of the target's that the log could not take.
    pub log_lost_lines: u64,
    /// Bytes of theirs, as the log would have them, that it could not take.
    pub log_lost_bytes: u64,
    /// Bytes that could not be passed through to our own stderr.
    pub echo_lost_bytes: u64,
}

/// A signal that came to us.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forwarded {
    /// When, ns.
    pub at_ns: u64,
    /// Which.
    pub signal: i32,
    /// Who sent it; 0 = the kernel (a terminal).
    pub sender: i32,
    /// What we did: `forwarded`, `merged` (a repeat in the same breath), `from-target` (not sent back), `no-target`.
    pub action: String,
}

/// The target was stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stop {
    /// When it stopped, ns.
    pub at_ns: u64,
    /// By which signal.
    pub signal: i32,
    /// When it went on; absent when it ended stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_ns: Option<u64>,
}

/// A process, as it was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    /// Its pid.
    pub pid: i32,
    /// Its name (`comm`).
    pub name: String,
    /// Its state letter in `/proc/<pid>/stat`.
    pub state: String,
    /// GTT of the clients that it held when it was seen last, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gtt_bytes: Option<u64>,
}
