//! The run: a model, a context and a test for the prompt, a context and a test for the tokens, the table.

use std::env;
use std::io;

use anyhow::{Context as _, Result};

use super::args::{Args, Work};
use super::client::Client;
use super::device::{DECODE, PREFILL};
use super::lines::Lines;
use super::load;
use super::packed;
use super::serial::{Backend, Failed, Program};
use super::signals::Counter;
use super::stderr::CStderr;
use super::switches::Switches;
use super::table::{self, Row};
use super::timing::Timing;
use crate::sys::clock::monotonic_ns;

/// Tokens of the prompt, one program.
const PROMPT_TOKENS: u32 = 256;

/// Runs the tests and prints the table. `false`: the backend failed, which llama-bench answers without a table.
///
/// # Errors
/// A stdout that cannot be written.
pub fn run(args: &Args, counter: &Counter) -> Result<bool> {
    let switches = Switches::read(args.work.serial, |name| env::var_os(name));
    let lines = Lines::new(CStderr, args.trouble.own_clock, args.trouble.garble_every);
    let mut client = Client::enter(args.work.proc.as_deref()).context("--proc")?;
    let mut backend = Backend::new(lines, switches, Timing::new(&args.work), &args.trouble);
    if !args.work.no_load {
        load::model(&mut backend.lines.out, args.work.load_ms, |part| client.load(part));
    }
    let rows = match tests(&args.work, &mut backend, &mut client, counter) {
        Ok(rows) => rows,
        Err(Failed) => {
            load::decode_failed(&mut backend.lines.out);
            return Ok(false);
        }
    };
    client.finish().context("--proc")?;
    table::write(&mut io::stdout().lock(), &rows)?;
    Ok(true)
}

/// One of llama-bench's tests: a program, run so many times in a context of its own.
struct Test {
    /// Its name in the table.
    name: String,
    /// What is run.
    program: Program,
    /// Tokens of one run.
    tokens: u32,
    /// The context's batch.
    batch: u32,
    /// Runs.
    runs: u32,
}

/// The tests that the options ask for: the prompt, then the tokens.
fn wanted(work: &Work) -> Vec<Test> {
    let prompt = (work.prefill_commands > 0).then(|| Test {
        name: format!("pp{PROMPT_TOKENS}"),
        program: prefill(work),
        tokens: PROMPT_TOKENS,
        batch: PROMPT_TOKENS,
        runs: 1,
    });
    let tokens = (work.tokens > 0).then(|| Test {
        name: format!("tg{}", work.tokens),
        program: decode(work),
        tokens: 1,
        batch: work.tokens,
        runs: work.tokens,
    });
    prompt.into_iter().chain(tokens).collect()
}

/// The tests one after another, as far as the signals let them.
fn tests(
    work: &Work,
    backend: &mut Backend<CStderr>,
    client: &mut Client,
    counter: &Counter,
) -> Result<Vec<Row>, Failed> {
    let mut rows = Vec::new();
    for test in wanted(work) {
        if !counter.enough() {
            rows.push(run_test(work, backend, client, test, counter)?);
        }
    }
    Ok(rows)
}

/// One test, between the making and the end of its context.
fn run_test(
    work: &Work,
    backend: &mut Backend<CStderr>,
    client: &mut Client,
    test: Test,
    counter: &Counter,
) -> Result<Row, Failed> {
    let decodes = test.tokens == 1;
    client.context(true);
    if !work.no_load {
        load::context(&mut backend.lines.out, test.batch);
        load::decode(&mut backend.lines.out);
    }
    if backend.switches.host_weights {
        packed::prepare(&mut backend.lines.out, decodes, |tenths| client.packed(tenths));
    }
    if work.warm_up {
        backend.warm_up(&test.program)?;
        if !work.no_load {
            load::decode(&mut backend.lines.out);
        }
    }
    let rate = measured(backend, client, &test, counter)?;
    if !work.no_load {
        load::context_end(&mut backend.lines.out);
    }
    client.context(false);
    Ok(Row { test: test.name, rate: rate * f64::from(test.tokens) })
}

/// Runs a test's program as often as it asks. Returns runs a second.
fn measured(
    backend: &mut Backend<CStderr>,
    client: &mut Client,
    test: &Test,
    counter: &Counter,
) -> Result<f64, Failed> {
    // Some of the packed copies go early, so that the peak is one thing and the steady state another.
    let evicted_after = test.runs.div_ceil(3);
    let start = monotonic_ns();
    let mut runs = 0;
    while runs < test.runs && !counter.enough() {
        backend.run(&test.program)?;
        runs += 1;
        if backend.switches.host_weights && test.tokens == 1 && runs == evicted_after {
            packed::evict(&mut backend.lines.out, |tenths| client.packed(tenths));
        }
    }
    // A run flat out may be over within the clock's resolution.
    let seconds = (monotonic_ns() - start).max(1) as f64 / 1e9;
    Ok(f64::from(runs) / seconds)
}

/// The prompt's program; its arena is the context's compute buffer, and the mask is what is large to upload.
fn prefill(work: &Work) -> Program {
    Program {
        sequence: &PREFILL,
        commands: work.prefill_commands,
        init_commands: work.init_commands,
        transient_arena: 45_298_483,
        uploads: &[(1, 1024), (7, 1024), (12, 131_072)],
    }
}

/// A token's program.
fn decode(work: &Work) -> Program {
    Program {
        sequence: &DECODE,
        commands: work.commands,
        init_commands: work.init_commands,
        transient_arena: 1_216_512,
        uploads: &[(1, 4), (7, 4), (12, 512)],
    }
}
