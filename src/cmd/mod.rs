//! The commands: each one a table of contents over the layers below.
#![forbid(unsafe_code)]

pub mod compare;
pub mod demo;
pub mod demo_target;
pub mod environment;
pub mod files;
pub mod found;
pub mod keep;
pub mod kept;
pub mod kernels;
pub mod manifests;
pub mod mem;
pub mod parse;
pub mod places;
pub mod provenance;
pub mod replaceable;
pub mod run;
pub mod samples;
pub mod search;
pub mod self_test;
pub mod spool;
pub mod stamp;
pub mod timeline;
pub mod usage;

use std::io::Write as _;
use std::os::fd::RawFd;

use clap::Parser as _;

use crate::cli::{Cli, Command};
use crate::live::plan::{Verdict, status};

/// Usage or I/O, in every command but `run`.
const USAGE: i32 = 2;

/// The whole program but for its end.
pub fn main() -> Verdict {
    // Before anything is opened: what is open now is the caller's.
    let inherited = inherited();
    let words: Vec<String> = std::env::args_os().map(|w| w.to_string_lossy().into_owned()).collect();
    match Cli::try_parse() {
        Ok(cli) => dispatch(cli, inherited),
        Err(error) if !error.use_stderr() => tell(&error, &words),
        Err(error) => {
            complain(&usage::line(&error, &words));
            misused(&words)
        }
    }
}

/// Help or version, on stdout.
fn tell(help: &clap::Error, words: &[String]) -> Verdict {
    match help.print().and_then(|()| std::io::stdout().flush()) {
        // A reader that is gone (a pager, head) needs no word.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            complain(&format!("cannot write to standard output: {error}"));
            misused(words)
        }
        _ => Verdict::Exit(0),
    }
}

/// The status of usage and I/O errors.
fn misused(words: &[String]) -> Verdict {
    Verdict::Exit(if is_run(words) { status::FAILED } else { USAGE })
}

/// Whether the words are meant for `run`, whose failures have the status of `timeout`'s.
fn is_run(words: &[String]) -> bool {
    !usage::OTHERS.contains(&words.get(1).map_or("", String::as_str))
}

fn dispatch(cli: Cli, inherited: Vec<RawFd>) -> Verdict {
    let (result, failed) = match cli.command {
        None => (run::run(&cli.run, inherited), status::FAILED),
        Some(Command::Run(args)) => (run::run(&args, inherited), status::FAILED),
        Some(Command::Demo(args)) => (demo::demo(&args, inherited), status::FAILED),
        Some(Command::Parse(args)) => (parse::parse(&args).map(Verdict::Exit), USAGE),
        Some(Command::Compare(args)) => (compare::run(&args).map(Verdict::Exit), USAGE),
        Some(Command::Mem(args)) => (mem::mem(&args).map(Verdict::Exit), USAGE),
        Some(Command::Kernels(args)) => (kernels::kernels(&args).map(Verdict::Exit), USAGE),
        Some(Command::SelfTest) => (self_test::self_test().map(Verdict::Exit), USAGE),
        Some(Command::DemoTarget(args)) => (demo_target::run(&args).map(|n| Verdict::Exit(n.into())), USAGE),
    };
    result.unwrap_or_else(|error| {
        complain(&format!("{error:#}"));
        Verdict::Exit(failed)
    })
}

/// One line of ours on stderr. A reader that is gone needs no word.
pub fn complain(text: &str) {
    let line = format!("hrx-wrap: {}\n", crate::core::text::printable(text.as_bytes()));
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Descriptors from 3 on that are open at our start.
fn inherited() -> Vec<RawFd> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<RawFd> = entries.filter_map(|e| e.file_name().to_str()?.parse().ok()).collect();
    // The folder's own descriptor was among them and is closed by now.
    let is_open =
        |n: &RawFd| std::path::Path::new("/proc/self/fd").join(n.to_string()).symlink_metadata().is_ok();
    open.into_iter().filter(|n| *n > 2 && is_open(n)).collect()
}
