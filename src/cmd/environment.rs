//! The target's environment: the caller's, and what we set in it.

use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt as _;

use anyhow::Context as _;

use crate::cli::RunArgs;
use crate::cli::split::VerboseBy;
use crate::core::split::packed::SWITCH as HOST_WEIGHTS;
use crate::core::text::printable;

/// The variables that the target gets: ours first, so that the user's own win.
pub fn changed(args: &RunArgs) -> Vec<String> {
    let mut set = Vec::new();
    if args.profile {
        set.push("GGML_HRX_DEBUG_SERIAL_EXECUTION=1".to_owned());
    }
    if let Some(n) = args.programs {
        set.push(format!("GGML_HRX_DEBUG_SERIAL_PROGRAM_COMMANDS={n}"));
    }
    if let Some((from, to)) = args.commands {
        set.push(format!("GGML_HRX_DEBUG_SERIAL_START_COMMAND={from}"));
        set.push(format!("GGML_HRX_DEBUG_SERIAL_END_COMMAND={to}"));
    }
    if args.split.split {
        set.push(format!("{HOST_WEIGHTS}=1"));
        if args.split.verbose_by.is_none_or(|by| by == VerboseBy::Env) {
            // Level 4 prints each buffer once and nothing a token; llama.cpp of before 2024-09 prints them anyway.
            set.push("LLAMA_ARG_LOG_VERBOSITY=4".to_owned());
        }
    }
    set.extend(args.env.iter().cloned());
    set
}

/// What the environment has of the backend's switches already, but for those that are `set` anew.
pub fn inherited(set: &[String]) -> Vec<String> {
    let anew = |name: &str| set.iter().any(|v| v.split_once('=').is_some_and(|(own, _)| own == name));
    let all = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| name.starts_with("GGML_HRX_") && !anew(name))?;
        Some(format!("{name}={}", printable(value.as_bytes())))
    });
    let mut all: Vec<String> = all.collect();
    all.sort_unstable();
    all
}

/// The caller's environment with the user's variables in it. Order and repeats are the caller's.
///
/// # Errors
/// A variable cannot be one.
pub fn with(set: &[String]) -> anyhow::Result<Vec<CString>> {
    let set: BTreeMap<&str, &str> = set.iter().filter_map(|v| v.split_once('=')).collect();
    let mut all: Vec<OsString> = Vec::new();
    for (name, value) in std::env::vars_os() {
        if !name.to_str().is_some_and(|n| set.contains_key(n)) {
            let mut both = name;
            both.push("=");
            both.push(value);
            all.push(both);
        }
    }
    all.extend(set.iter().map(|(name, value)| OsString::from(format!("{name}={value}"))));
    all.iter().map(|v| CString::new(v.as_bytes()).context("a variable holds a NUL byte")).collect()
}
