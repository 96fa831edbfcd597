//! Starting the target: everything between fork and exec, in the child.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{BorrowedFd, OwnedFd};

use anyhow::Context as _;

use crate::core::signals;
use crate::live::plan::Plan;
use crate::sys::signal::Set;
use crate::sys::{fd, process, signal, startup, term};

/// What the child needs besides the plan.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// Its stderr.
    pub stderr: BorrowedFd<'a>,
    /// The terminal whose foreground it takes, when the front has it.
    pub terminal: Option<BorrowedFd<'a>>,
    /// The caller's signal mask.
    pub mask: Set,
}

/// Why a target could not be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The kernel's reason.
    pub errno: i32,
    /// Which of the plan's candidates, by index.
    pub candidate: i32,
}

/// Forks the target. Only from a process with one thread, which has to live as long as the target: the target's
/// parent-death signal watches that thread.
///
/// # Errors
/// No process or descriptor is left. That the program cannot be executed is not an error but a [`Refusal`].
pub fn start(plan: &Plan, around: &Surroundings<'_>) -> anyhow::Result<Result<i32, Refusal>> {
    let (told, tell) = fd::pipe().context("a pipe for the target's start")?;
    let parent = process::own_pid();
    match process::fork().context("fork of the target")? {
        process::Forked::Child => {
            let refusal = become_target(plan, around, parent);
            let mut text = [0; 8];
            text[..4].copy_from_slice(&refusal.errno.to_ne_bytes());
            text[4..].copy_from_slice(&refusal.candidate.to_ne_bytes());
            let _ = File::from(tell).write_all(&text);
            process::exit_now(127)
        }
        process::Forked::Parent(pid) => Ok(hear(told, tell).map_or(Ok(pid), Err)),
    }
}

/// Waits for the exec: end of file when it worked, since the pipe closes on exec; else the reason.
fn hear(told: OwnedFd, tell: OwnedFd) -> Option<Refusal> {
    drop(tell);
    let mut text = [0; 8];
    File::from(told).read_exact(&mut text).ok()?;
    let number = |at: usize| i32::from_ne_bytes([text[at], text[at + 1], text[at + 2], text[at + 3]]);
    Some(Refusal { errno: number(0), candidate: number(4) })
}

fn become_target(plan: &Plan, around: &Surroundings<'_>, parent: i32) -> Refusal {
    let failed = |error: std::io::Error| Refusal { errno: error.raw_os_error().unwrap_or(0), candidate: -1 };
    let prepared = process::own_new_group()
        .and_then(|()| process::die_with(parent))
        .and_then(|()| fd::place(around.stderr, 2));
    if let Err(error) = prepared {
        return failed(error);
    }
    // With SIGTTOU still blocked, this is allowed from the background.
    if let Some(terminal) = around.terminal {
        let _ = term::set_foreground(terminal, process::own_pid());
    }
    // What was closed is closed again: the numbers are held by the /dev/null of Rust's runtime.
    fd::close_inherited(&[0, 1].into_iter().filter(|n| startup::was_closed(*n)).collect::<Vec<_>>());
    let _ = signal::set_ignored(signals::PIPE, startup::sigpipe_was_ignored());
    let _ = signal::set_ignored(signals::CHLD, startup::sigchld_was_ignored());
    if let Err(error) = around.mask.install() {
        return failed(error);
    }
    execute(plan)
}

const ENOENT: i32 = 2;
const ENOEXEC: i32 = 8;
const EACCES: i32 = 13;
const ENOTDIR: i32 = 20;

/// As `execvp` does: the first file that can be executed; what no kernel loader knows is a script for `sh`; a file
/// without permission is remembered while the search goes on.
fn execute(plan: &Plan) -> Refusal {
    let arguments: Vec<CString> = plan.command.iter().filter_map(c_string).collect();
    let mut last = Refusal { errno: ENOENT, candidate: -1 };
    let mut denied = None;
    for (index, file) in plan.candidates.iter().enumerate() {
        let candidate = i32::try_from(index).unwrap_or(-1);
        let mut errno = process::exec(file, &arguments, &plan.environment).raw_os_error().unwrap_or(0);
        if errno == ENOEXEC {
            errno = as_script(file, &arguments, &plan.environment);
        }
        last = Refusal { errno, candidate };
        match errno {
            EACCES => denied = Some(denied.unwrap_or(last)),
            ENOENT | ENOTDIR => {}
            _ => return last,
        }
    }
    denied.unwrap_or(last)
}

fn as_script(file: &CStr, arguments: &[CString], environment: &[CString]) -> i32 {
    let mut words = vec![c"/bin/sh".to_owned(), file.to_owned()];
    words.extend(arguments.iter().skip(1).cloned());
    process::exec(c"/bin/sh", &words, environment).raw_os_error().unwrap_or(ENOEXEC)
}

fn c_string(word: &std::ffi::OsString) -> Option<CString> {
    use std::os::unix::ffi::OsStrExt as _;
    CString::new(word.as_bytes()).ok()
}
