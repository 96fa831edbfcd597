//! `hrx-wrap demo`: this program wrapped around its own built-in target.

use std::ffi::OsString;
use std::os::fd::RawFd;

use anyhow::Context as _;

use crate::cli::{Cli, DemoArgs};
use crate::cmd::files::expand;
use crate::cmd::{complain, run};
use crate::live::plan::Verdict;

/// The model takes so long to load: some samples long, so that its way up can be seen.
const LOAD_MS: u32 = 250;

/// Runs the demo and says where its files are.
///
/// # Errors
/// This program's own file cannot be found, or the run's folder cannot be made.
pub fn demo(args: &DemoArgs, inherited: Vec<RawFd>) -> anyhow::Result<Verdict> {
    let own = std::env::current_exe().context("this program's own file")?;
    let out = args.out.clone().unwrap_or_else(|| std::env::temp_dir().join("hrx-wrap-demo-%t-%p"));
    // There is no GPU: the target shows its client in a /proc of the demo's, and the reports say so.
    let proc = tempfile::Builder::new().prefix("hrx-wrap-demo-proc-").tempdir();
    let proc = proc.context("a temporary folder for the target's GPU client")?;
    let words: [OsString; 18] = [
        "hrx-wrap".into(),
        "--out".into(),
        out.into(),
        "--profile".into(),
        "--split".into(),
        "--label".into(),
        "demo".into(),
        "--proc".into(),
        proc.path().into(),
        "--".into(),
        own.into(),
        "demo-target".into(),
        "--tokens".into(),
        args.tokens.to_string().into(),
        "--load-ms".into(),
        LOAD_MS.to_string().into(),
        "--proc".into(),
        proc.path().into(),
    ];
    let mut command_line =
        <Cli as clap::Parser>::try_parse_from(words).context("the demo's own command line")?.run;
    let record = run::record(&command_line);
    command_line.force = args.force;
    command_line.out = command_line.out.map(|out| expand(&out, &record, std::process::id()));
    let verdict = run::run(&command_line, inherited)?;
    if let Some(out) = &command_line.out {
        complain(&format!("the run is kept in {0}: see it again with hrx-wrap parse {0}", out.display()));
    }
    Ok(verdict)
}
