//! The built-in target, `hrx-wrap demo-target`: what llama.cpp on the HRX backend looks like from outside.
//!
//! It needs no GPU and no model. Tests, benches and `hrx-wrap demo` run it in llama.cpp's place: it prints the load
//! lines and the serial trace with the backend's own words, order and number of writes, keeps known device times, and
//! misbehaves in every way that a supervisor has to survive.

pub mod args;
mod bench;
mod client;
pub mod device;
mod flood;
mod garble;
mod grandchild;
mod lines;
mod load;
mod odd;
mod packed;
mod serial;
mod signals;
mod stderr;
mod switches;
mod table;
mod timing;

use std::io::{self, Write as _};

use anyhow::Result;

use crate::core::signals as names;
use crate::sys::{signal, startup};

pub use args::Args;

/// Runs the target and returns its exit status.
///
/// # Errors
/// A grandchild that does not start, a log file that does not open, a standard stream that cannot be written.
pub fn run(args: &Args) -> Result<u8> {
    // Rust's runtime ignores SIGPIPE; llama.cpp leaves it as it found it and dies of it when its reader is gone.
    signal::set_ignored(names::PIPE, startup::sigpipe_was_ignored())?;
    if let Some(number) = args.grandchildren.grandchild {
        return grandchild::live(number, &args.grandchildren);
    }
    odd::ignore_signals(&args.signals)?;
    let counter = signals::Counter::start(&args.signals)?;
    let children = grandchild::start(&args.grandchildren)?;
    if args.signals.count_signals || args.signals.ready {
        say("ready")?;
    }
    let garble = args.trouble.garble.then(|| garble::Garble::start(args.trouble.seed));
    let worked = work(args, &counter)?;
    if let Some(garble) = garble {
        garble.stop();
    }
    odd::last_lines(&args.trouble)?;
    counter.wait(&args.signals, args.trouble.sleep_ms);
    odd::die_at_the_end(&args.trouble);
    grandchild::reap(children);
    Ok(if worked { args.trouble.exit_code } else { 1 })
}

/// What the target does between its start and its end. `false`: the backend failed, as `--fail-sync` asked.
fn work(args: &Args, counter: &signals::Counter) -> Result<bool> {
    if args.flood.numbered.is_some() {
        flood::numbered(&args.flood, args.trouble.own_clock, counter)?;
        return Ok(true);
    }
    if args.flood.lines.is_some() {
        flood::lines(&args.flood, counter)?;
        return Ok(true);
    }
    bench::run(args, counter)
}

/// One line on stdout, out at once.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
