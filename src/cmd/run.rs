//! `hrx-wrap [run] -- CMD`: from the command line to the verdict.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::bail;

use crate::cli::sampling::{LookArgs, SamplingArgs};
use crate::cli::split::VerboseBy;
use crate::cli::{EchoArg, RunArgs, SortArg, Stdio, TableArgs, UnitArg};
use crate::cmd::files::expand;
use crate::cmd::keep::Kept;
use crate::cmd::places::Places;
use crate::cmd::{environment, search, stamp};
use crate::core::memory::seen::Sampling;
use crate::core::run::{Changed, Clock, Host, Limits, Run, SCHEMA, Tool};
use crate::core::signals;
use crate::core::text::printable;
use crate::live::echo::Mode;
use crate::live::front::{self, Outcome};
use crate::live::plan::{Plan, Verdict, status};
use crate::live::target::Refusal;
use crate::live::{room, sampler};
use crate::report::view::{Sort, Unit, View};
use crate::sys::{clock, host, term};

/// Runs a command. The verdict is what this process ends with.
///
/// # Errors
/// We failed before anything was started: status 125.
pub fn run(args: &RunArgs, inherited: Vec<RawFd>) -> anyhow::Result<Verdict> {
    room::check(inherited.len())?;
    let program = args.command.first().cloned().unwrap_or_default();
    let paths = search::candidates(&program, std::env::var_os("PATH").as_deref());
    if !paths.iter().any(|p| p.symlink_metadata().is_ok()) {
        // Known before anything is made. A file that is there is left to exec, which knows best.
        return Ok(refused(&program, &paths, Refusal { errno: ENOENT, candidate: -1 }));
    }
    let mut record = record(args);
    let places = places(args, &record);
    let keep_stdout = places.need_stdout();
    let executable = search::executable(&paths).cloned();
    let log = places.log_path();
    let source = stamp::prepare(
        args.stamps.with_profile(args.profile),
        executable.as_deref(),
        log.as_deref(),
        &mut record,
    );
    let sampling = look(&args.sampling.look, args.sampling.interval)?;
    let (mut kept, log) = Kept::create(places, executable, &record)?;
    let plan = Plan {
        command: args.command.iter().cloned().chain(appended(args).into_iter().map(OsString::from)).collect(),
        candidates: search::for_exec(&paths),
        environment: environment::with(&record.changed.env)?,
        pty: is_pty(args.stdio),
        timeout_ns: timeout(args),
        kill_after_ns: args.kill_after,
        signal: args.signal,
        preserve_status: args.preserve_status,
        echo: echo(args.echo),
        progress: args.progress,
        leave: args.leave,
        inherited,
        keep_stdout,
        source,
        log,
        sampling,
        samples: kept.take_table(),
        run: record,
    };
    match front::run(&plan, &mut kept) {
        Ok(Outcome::Verdict(verdict)) => Ok(verdict),
        Ok(Outcome::NotStarted(refusal)) => Ok(refused(&program, &paths, refusal)),
        Err(error) => {
            crate::live::plan::Keeper::discard(&mut kept);
            Err(error)
        }
    }
}

/// The arguments that the target gets behind its own: llama-bench knows no other way to be asked for its log.
fn appended(args: &RunArgs) -> Vec<String> {
    let bench = args
        .command
        .first()
        .is_some_and(|program| Path::new(program).file_name().is_some_and(|name| name == "llama-bench"));
    let wanted = match args.split.verbose_by {
        None => bench,
        Some(by) => by == VerboseBy::Arg,
    };
    let given = args.command.iter().skip(1).any(|word| word == "-v" || word == "--verbose");
    let append = args.split.split && wanted && !given;
    append.then(|| "-v".to_owned()).into_iter().collect()
}

/// As with `timeout`, 0 is no limit.
fn timeout(args: &RunArgs) -> Option<u64> {
    args.timeout.filter(|ns| *ns > 0)
}

fn echo(what: EchoArg) -> Mode {
    match what {
        EchoArg::Rest => Mode::Rest,
        EchoArg::All => Mode::All,
        EchoArg::None => Mode::None,
    }
}

fn is_pty(stdio: Stdio) -> bool {
    stdio == Stdio::Pty || stdio == Stdio::Auto && term::is_terminal(2)
}

fn places(args: &RunArgs, record: &Run) -> Places {
    let named = |path: &Option<PathBuf>| path.as_ref().map(|p| expand(p, record, std::process::id()));
    Places {
        out: named(&args.out),
        force: args.force,
        log: named(&args.log),
        report: named(&args.report),
        json: named(&args.json),
        samples: named(&args.sampling.samples),
        csv: named(&args.tables.csv),
        markdown: named(&args.tables.markdown),
        html: named(&args.pictures.html),
        timeline: named(&args.pictures.timeline),
        timeline_max: args.pictures.timeline_max,
        manifests: args.tables.manifests.clone(),
        view: view(&args.tables),
        strict: args.reading.strict,
    }
}

/// The record as far as it is known before the start.
pub fn record(args: &RunArgs) -> Run {
    let set = environment::changed(args);
    let words = args.command.iter().map(|w| printable(w.as_bytes())).collect();
    let now = SystemTime::now();
    Run {
        schema: SCHEMA.to_owned(),
        tool: tool(),
        command: words,
        label: args.label.as_ref().map(|l| printable(l.as_bytes())),
        profile: args.profile,
        split: args.split.split,
        packed_pattern: args.reading.packed_pattern.as_ref().map(|p| p.as_str().to_owned()),
        max_unattributed_percent: args.reading.max_unattributed,
        inherited: environment::inherited(&set),
        changed: Changed { env: set, args: appended(args) },
        host: Host { name: host::name(), kernel: host::kernel() },
        clock: Clock {
            name: "CLOCK_MONOTONIC".to_owned(),
            resolution_ns: clock::resolution_ns(),
            start_ns: clock::monotonic_ns(),
            start_utc: humantime::format_rfc3339_nanos(now).to_string(),
        },
        stamped: "read".to_owned(),
        stdio: if is_pty(args.stdio) { "pty" } else { "pipe" }.to_owned(),
        limits: Limits {
            timeout_ns: timeout(args),
            kill_after_ns: args.kill_after,
            signal: signals::name(args.signal),
        },
        sampling: Some(sampling_record(&args.sampling)),
        cwd: std::env::current_dir().ok().map(|d| printable(d.as_os_str().as_bytes())),
        ..Run::default()
    }
}

/// How the user wants the memory looked at.
///
/// # Errors
/// There is no such `/proc`.
pub fn look(args: &LookArgs, interval_ns: u64) -> anyhow::Result<sampler::Options> {
    if !args.proc.is_dir() {
        bail!("--proc {}: there is no such folder", args.proc.display());
    }
    Ok(sampler::Options {
        interval_ns,
        driver: args.driver.clone(),
        proc: args.proc.clone(),
        sys: args.sys.clone(),
        pss: true,
    })
}

/// The same for the record: places that are not the usual ones are named.
fn sampling_record(args: &SamplingArgs) -> Sampling {
    let other =
        |path: &Path, usual: &str| (path != Path::new(usual)).then(|| printable(path.as_os_str().as_bytes()));
    Sampling {
        interval_ns: args.interval,
        driver: args.look.driver.clone(),
        proc: other(&args.look.proc, "/proc"),
        sys: other(&args.look.sys, "/sys"),
    }
}

/// How the user wants tables.
pub fn view(args: &TableArgs) -> View {
    let sort = match args.sort {
        SortArg::Total => Sort::Total,
        SortArg::Count => Sort::Count,
        SortArg::Mean => Sort::Mean,
        SortArg::Median => Sort::Median,
        SortArg::P95 => Sort::P95,
        SortArg::Max => Sort::Max,
        SortArg::Launch => Sort::Launch,
        SortArg::Name => Sort::Name,
    };
    View { sort, top: args.top.max(1), unit: unit(args.unit) }
}

/// The unit that the user wants.
pub fn unit(unit: UnitArg) -> Unit {
    match unit {
        UnitArg::Ns => Unit::Ns,
        UnitArg::Us => Unit::Us,
        UnitArg::Ms => Unit::Ms,
    }
}

/// This program.
pub fn tool() -> Tool {
    Tool {
        name: "hrx-wrap".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("HRX_WRAP_COMMIT").map(str::to_owned),
    }
}

const ENOENT: i32 = 2;

/// Says why the command was not started; the status is the shell's.
fn refused(program: &std::ffi::OsStr, paths: &[PathBuf], refusal: Refusal) -> Verdict {
    let name = printable(program.as_bytes());
    let tried = usize::try_from(refusal.candidate).ok().and_then(|i| paths.get(i));
    let reason = if refusal.errno == 0 {
        "it ended before it began".to_owned()
    } else {
        let text = std::io::Error::from_raw_os_error(refusal.errno).to_string();
        text.split(" (os error").next().unwrap_or_default().to_owned()
    };
    let searched = !program.as_bytes().contains(&b'/');
    let line = if refusal.errno == ENOENT && searched && tried.is_none_or(|t| !t.exists()) {
        format!("cannot run '{name}': {reason} (not in PATH): give its path, or add its folder to PATH")
    } else {
        let path = tried.map_or_else(|| name.clone(), |t| printable(t.as_os_str().as_bytes()));
        let hint = match refusal.errno {
            ENOENT if tried.is_some_and(|t| t.exists()) => "; the interpreter in its first line is missing",
            ENOENT => ": check the path",
            _ => ": is it a program, and may you execute it?",
        };
        format!("cannot run '{path}': {reason}{hint}")
    };
    crate::cmd::complain(&line);
    Verdict::Exit(if refusal.errno == ENOENT { status::NOT_FOUND } else { status::CANNOT_EXECUTE })
}
