//! What is known of one run: the content of `run.json` and of the kept trace's header.
//!
//! Every time is in nanoseconds, every size in bytes, and the unit is in the name. What is not known is absent, never zero.

mod end;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::core::memory::seen::Sampling;

pub use end::{Counters, End, Exit, Forwarded, Process, Stop};

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
    /// Switches of the HRX backend that the target has from its caller, `NAME=value`: they are not ours, and matter as much.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inherited: Vec<String>,
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
