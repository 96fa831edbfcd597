//! Phases from the marks of real and of shortened logs.

use super::*;
use crate::core::book::Book;

fn book(lines: &[&str]) -> Book {
    let mut book = Book::default();
    for (n, text) in lines.iter().enumerate() {
        let line = Line {
            ns: 10 * (n as u64 + 1),
            bytes: text.as_bytes(),
            first: true,
            last: true,
            terminated: true,
        };
        book.take(&line, |_, _| {});
    }
    book
}

fn spans(lines: &[&str]) -> Vec<(&'static str, u64, Option<u64>)> {
    book(lines).phases.spans().iter().map(|s| (s.phase.name(), s.from, s.until)).collect()
}

const LOAD: &str = "llama_model_loader: loaded meta data with 24 key-value pairs";
const CONTEXT: &str = "llama_context: constructing llama_context";
const RESERVED: &str = "sched_reserve: reserve took 2.03 ms, sched copies = 1";
const WARM: &str = "cmn  common_init_: warming up the model with an empty run - please wait ...";
const THREADS: &str = "set_n_threads: n_threads = 2, n_threads_batch = 2";
const PERF: &str = "llama_perf_context_print:        load time =     492.32 ms";

#[test]
fn a_tool_from_load_to_tear_down() {
    let lines =
        [LOAD, CONTEXT, RESERVED, WARM, "system_info: n_threads = 2", "generate: n_ctx = 4096, n", PERF];
    let expected = [
        ("load", 10, Some(20)),
        ("context", 20, Some(40)),
        ("warm-up", 40, Some(50)),
        ("run", 50, Some(70)),
        ("tear-down", 70, None),
    ];
    assert_eq!(spans(&lines), expected);
    assert_eq!(book(&lines).phases.steady(), Some((40, Some(70))));
    assert_eq!(book(&lines[..2]).phases.steady(), None);
    assert_eq!(book(&lines[..4]).phases.steady(), Some((40, None)));
}

#[test]
fn what_the_backend_prints_is_of_the_warm_up() {
    let lines = [
        CONTEXT,
        RESERVED,
        WARM,
        "HRX host weight cache: resident=304.3 MiB weights=1",
        "hrx: graph prepared",
        "sched_reserve: reserving ...",
        "set_warmup: value = 1",
        "srv    load_model: initializing, n_slots = 4",
    ];
    let got = spans(&lines);
    assert_eq!(got[1..], [("warm-up", 30, Some(80)), ("run", 80, None)]);
}

#[test]
fn llama_bench_has_no_mark_but_its_threads() {
    let both = [LOAD, CONTEXT, RESERVED, THREADS, THREADS, PERF, CONTEXT, RESERVED, THREADS, THREADS, PERF];
    let names: Vec<_> = spans(&both).iter().map(|s| s.0).collect();
    let one = ["context", "warm-up", "run", "tear-down"];
    assert_eq!(names, [&["load"][..], &one, &one].concat());
    let alone = spans(&[CONTEXT, RESERVED, THREADS, PERF]);
    assert_eq!(alone[1].0, "run", "--no-warmup: one decode is the run");
    let told = spans(&[
        CONTEXT,
        RESERVED,
        "llama-bench: benchmark 1/2: warmup prompt run",
        THREADS,
        "llama-bench: benchmark 1/2: prompt run 1/1",
        THREADS,
        PERF,
    ]);
    let names: Vec<_> = told.iter().map(|s| (s.0, s.1)).collect();
    assert_eq!(names, [("context", 10), ("warm-up", 30), ("run", 50), ("tear-down", 70)]);
}

#[test]
fn a_fit_is_one_phase_however_many_trials_it_has() {
    let trial = "print_info: no_alloc              = 1";
    let lines = [
        "common_params_fit_impl: getting device memory data for initial parameters:",
        LOAD,
        trial,
        CONTEXT,
        RESERVED,
        LOAD,
        trial,
        "common_fit_params: fitting params to free memory took 0.02 seconds",
        LOAD,
        "print_info: no_alloc              = 0",
        CONTEXT,
    ];
    let expected = [("fit", 10, Some(80)), ("load", 90, Some(110)), ("context", 110, None)];
    assert_eq!(spans(&lines), expected);
}

#[test]
fn a_sleeping_server_is_in_no_phase() {
    let mut all = book(&[
        LOAD,
        "srv  llama_server: model loaded",
        "srv  handle_sleep: server is entering sleeping state",
    ]);
    assert_eq!(all.phase(), None);
    let line = Line { ns: 99, bytes: LOAD.as_bytes(), first: true, last: true, terminated: true };
    all.take(&line, |_, _| {});
    assert_eq!(all.phase(), Some(Phase::Load), "a change that live can see");
}

#[test]
fn memory_is_bounded() {
    let lines: Vec<&str> = [CONTEXT, RESERVED, THREADS, THREADS, PERF].repeat(5_000);
    let all = book(&lines);
    assert!(all.phases.spans().len() <= MOST && all.phases.dropped > 0);
}
