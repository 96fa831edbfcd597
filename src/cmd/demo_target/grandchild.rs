//! Processes that the target starts and leaves behind: this program once more, with a hidden option.

use std::env;
use std::io::{self, Write as _};
use std::process::{self, Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::args::Grandchildren;
use crate::sys::cstdio;

/// The word that selects this target on the command line.
pub const SUBCOMMAND: &str = "demo-target";

/// Starts what the options ask for, and does not wait for it.
pub fn start(options: &Grandchildren) -> Result<Vec<Child>> {
    let mut children = Vec::new();
    for number in 1..=options.fork {
        let mut command = command(options, number)?;
        if options.setsid {
            command.arg("--setsid");
        }
        children.push(command.spawn().context("cannot start a grandchild")?);
    }
    if options.hold {
        let mut command = command(options, 0)?;
        command.arg("--silent").stdout(Stdio::null());
        children.push(command.spawn().context("cannot start a grandchild")?);
    }
    Ok(children)
}

fn command(options: &Grandchildren, number: u32) -> Result<Command> {
    let program = env::current_exe().context("cannot find this program")?;
    let mut command = Command::new(program);
    command
        .arg(SUBCOMMAND)
        .arg(format!("--grandchild={number}"))
        .arg(format!("--grandchild-ms={}", options.grandchild_ms))
        .stdin(Stdio::null());
    Ok(command)
}

/// Takes the ends of those that are over already. The others become orphans, which is what they are for.
pub fn reap(children: Vec<Child>) {
    for mut child in children {
        let _ = child.try_wait();
    }
}

/// The life of a grandchild: a line at its start, sleep, a line at its end.
pub fn live(number: u32, options: &Grandchildren) -> Result<u8> {
    if options.setsid {
        cstdio::new_session().context("setsid")?;
    }
    if !options.silent {
        say(&format!("grandchild {number} pid {}\n", process::id()));
    }
    thread::sleep(Duration::from_millis(options.grandchild_ms));
    if !options.silent {
        say(&format!("grandchild {number} done\n"));
    }
    Ok(0)
}

fn say(line: &str) {
    // Nobody to tell when stderr is gone.
    let _ = io::stderr().write_all(line.as_bytes());
}
