//! What is known of one run: the content of `run.json` and of the kept trace's header.
//!
//! Every time is in nanoseconds, every size in bytes, and the unit is in the name. What is not known is absent, never zero.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::core::memory::seen::{Sampling, Seen};

/// The schema that this version writes.
pub const SCHEMA: &str = "hrx-wrap/1";
/// Its number. Records with this one and with every smaller one are read; fields that an older one lacks are unknown.
const NEWEST: u32 = 1;

/// One run. `end` is absent while it goes on, and stays absent when everything was killed at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// `hrx-wrap/1`.
    pub schema: String,
    /// Who made the record.
    pub tool: Tool,
    /// The command as given, argument by argument (bytes that are not UTF-8 as `\xNN`).
    pub command: Vec<String>,
    /// The user's own name for the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// A profile of the dispatches was asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub profile: bool,
    /// A split of its memory was asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub split: bool,
    /// The user's pattern for lines of the host-weight trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packed_pattern: Option<String>,
    /// What may stay unattributed, percent of the peak, when the user said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unattributed_percent: Option<f64>,
    /// What we changed for the target.
    pub changed: Changed,
    /// The machine.
    pub host: Host,
    /// The clock of every stamp.
    pub clock: Clock,
    /// Where lines get their time: `read` (by our reader, when it got the bytes), or `source` (by the process that printed
    /// them, where it could; the counters say which lines).
    pub stamped: String,
    /// What there is to say about that: why not at the source, or whom that cannot serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp_note: Option<String>,
    /// What the target's stderr is: `pipe` or `pty`.
    pub stdio: String,
    /// The limits that were set.
    pub limits: Limits,
    /// How the memory is sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// Working folder at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The target's pid, once it was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// The program that was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary: Option<Binary>,
    /// Git repositories that the program and the working folder lie in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<Repository>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
}

/// Name, version and commit of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tool {
    /// `hrx-wrap`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The commit it was built from, when that was known at build time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// What the target got that the caller did not give.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Changed {
    /// Variables set, `NAME=VALUE`.
    pub env: Vec<String>,
    /// Arguments appended.
    pub args: Vec<String>,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Kernel name, release and machine, as `uname -srm` prints them.
    pub kernel: String,
}

/// The clock of every stamp in the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// `CLOCK_MONOTONIC`.
    pub name: String,
    /// `clock_getres` of it, ns.
    pub resolution_ns: u64,
    /// The run's start on it, ns.
    pub start_ns: u64,
    /// The same moment in UTC, RFC 3339.
    pub start_utc: String,
}

/// The limits that were set for the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// `--timeout`, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ns: Option<u64>,
    /// `--kill-after`, ns.
    pub kill_after_ns: u64,
    /// The signal that a timeout sends first.
    pub signal: String,
}

/// The program file that was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Binary {
    /// Its path after the search in `PATH`, links not followed.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// The linker's build id (ELF note `GNU`), hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// SHA-256 of the file, hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A git repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repository {
    /// What lies in it: `binary` or `cwd`.
    pub of: String,
    /// Its top folder.
    pub path: String,
    /// The commit that HEAD names.
    pub commit: String,
    /// Whether tracked files differ from it; absent when git could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
}

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
    /// What brought it about: `exited`, `signal`, `timeout`, `killed-after-grace`, `hrx-wrap-killed`, `supervisor-killed`, `unkillable`.
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
    /// Lines that the log could not take.
    pub log_lost_lines: u64,
    /// Bytes of the log that it could not take.
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

impl Run {
    /// The record's fields one by one, as the kept trace's header holds them.
    pub fn fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            // A struct of strings and integers always is an object.
            _ => Map::new(),
        }
    }

    /// A record from such fields; unknown ones are left out, missing ones take their default.
    ///
    /// # Errors
    /// A sentence that says which field is malformed, or which version is needed to read it.
    pub fn from_fields(fields: Map<String, Value>) -> Result<Run, String> {
        let run: Run =
            serde_json::from_value(Value::Object(fields)).map_err(|e| format!("not a run record: {e}"))?;
        match run.schema.strip_prefix("hrx-wrap/").map(str::parse::<u32>) {
            Some(Ok(1..=NEWEST)) => Ok(run),
            Some(Ok(n)) if n > NEWEST => Err(too_new(n, &run.tool.version)),
            _ => Err(format!("schema '{}' is not hrx-wrap's", run.schema)),
        }
    }
}

/// Why a record of a later version is not read, and what reads it.
fn too_new(schema: u32, made_by: &str) -> String {
    let version = crate::core::text::printable(made_by.as_bytes());
    let needed = match version.as_str() {
        "" => "a later version of hrx-wrap".to_owned(),
        version => format!("hrx-wrap {version} or later"),
    };
    format!("schema hrx-wrap/{schema}: {needed} is needed to read it, this one reads up to {SCHEMA}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_make_the_same_record_again() {
        let end = End {
            status: 3,
            exit: Exit { code: Some(3), signal: None, cause: "exited".into() },
            ..End::default()
        };
        let run = Run {
            schema: SCHEMA.into(),
            command: vec!["a".into()],
            pid: Some(7),
            end: Some(end),
            ..Run::default()
        };
        assert_eq!(Run::from_fields(run.fields()), Ok(run));
    }

    #[test]
    fn a_newer_schema_is_refused_with_what_is_needed() {
        let mut newer = Run { schema: "hrx-wrap/2".into(), ..Run::default() };
        assert!(
            Run::from_fields(newer.fields()).unwrap_err().contains("a later version of hrx-wrap is needed")
        );
        newer.tool.version = "3.1.0".into();
        let error = Run::from_fields(newer.fields()).unwrap_err();
        assert_eq!(
            error,
            "schema hrx-wrap/2: hrx-wrap 3.1.0 or later is needed to read it, this one reads up to hrx-wrap/1"
        );
        let zero = Run { schema: "hrx-wrap/0".into(), ..Run::default() };
        assert!(
            Run::from_fields(zero.fields()).unwrap_err().contains("is not hrx-wrap's"),
            "there never was one"
        );
        assert!(Run::from_fields(Run::default().fields()).unwrap_err().contains("is not hrx-wrap's"));
    }
}
