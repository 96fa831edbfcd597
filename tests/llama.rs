//! Real llama.cpp behind the prefix: it prints, computes and ends as it does alone, and the log has all of it.
//!
//! `tests/llama/README.md` says what the targets are; `tests/common/llama_cpp.rs` where they stand.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use common::llama_cpp::{driver, llama, model, tool};
use common::terminal::Terminal;
use common::{BIN, Dir, Done, PATIENCE, Running, Wrap, fact, marked, through, traced, wait_until, wrap};
use serde_json::Value;

const INT: i32 = 2;
const TERM: i32 = 15;

/// Long enough to be stopped in the middle on any machine, and over by itself in some seconds.
const LONG: u32 = 400;

// The targets.

/// A command line of llama.cpp, and what is known of it.
struct Target {
    words: Vec<String>,
    /// The last line that always comes at the same place.
    opening: &'static str,
    /// How to see that it computes.
    computes: Computes,
    log: Log,
}

/// What llama.cpp itself promises of its lines.
#[derive(Clone, Copy, PartialEq)]
enum Log {
    /// The thread that computes prints them.
    Exact,
    /// A thread of its own prints them, llama-completion's stdout too, and does not always come to the last ones
    /// before the program is over.
    Lossy,
    /// The same, and several threads give it lines as they come: from the opening on there is no order.
    Racy,
}

/// The most comparisons until llama.cpp's logger has lost nothing in both runs: it loses something in one end out of
/// five, and in more on a busy machine.
const TRIES: usize = 20;

enum Computes {
    /// It prints this on stderr.
    Prints(&'static str),
    /// It writes more than this to stdout.
    Writes(&'static str),
}

fn cyllama(model: &str, tokens: u32, more: &[&str]) -> Target {
    Target {
        words: driver("cyllama", model, tokens, more),
        opening: "decoding",
        computes: Computes::Prints("decoding"),
        log: Log::Exact,
    }
}

fn xllamacpp(model: &str, tokens: u32, more: &[&str]) -> Target {
    Target {
        words: driver("xllamacpp", model, tokens, more),
        opening: "model loaded",
        computes: Computes::Prints("decoding"),
        log: Log::Racy,
    }
}

fn llama_bench(model: &str, tokens: u32) -> Option<Target> {
    let mut words = vec![tool("llama-bench")?];
    let options = format!("-m {model} -t 1 -p 0 -r 1 -v --progress -n {tokens}");
    words.extend(options.split(' ').map(str::to_owned));
    let opening = "generation run 1/1";
    Some(Target { words, opening, computes: Computes::Prints(opening), log: Log::Exact })
}

fn llama_completion(model: &str, tokens: u32) -> Option<Target> {
    let mut words = vec![tool("llama-completion")?];
    // Without --simple-io it writes colours to /dev/tty, past every stream of its own.
    let options =
        format!("-m {model} -t 1 -lv 4 --simple-io --temp 0 -s 1 -no-cnv --ignore-eos -n {tokens} -p");
    words.extend(options.split(' ').map(str::to_owned));
    words.push("hello the man".to_owned());
    let computes = Computes::Writes(" hello the man");
    Some(Target { words, opening: "generate: n_ctx", computes, log: Log::Lossy })
}

fn llama_server(model: &str) -> Option<Target> {
    let mut words = vec![tool("llama-server")?];
    let options = format!("-m {model} -t 1 -lv 4 -c 256 -np 1 --host 127.0.0.1 --port 0");
    words.extend(options.split(' ').map(str::to_owned));
    let opening = "model loaded";
    Some(Target { words, opening, computes: Computes::Prints(opening), log: Log::Racy })
}

/// For every run of a target, alone or not.
fn prepared(run: Wrap) -> Wrap {
    // llama.cpp's programs name the folder that they were built in; they may have been copied since.
    run.env("LD_LIBRARY_PATH", &llama().join("tools/build/bin").display().to_string())
}

impl Target {
    fn alone(&self) -> Wrap {
        prepared(through(&self.words[0], &self.words[1..]))
    }

    fn wrapped(&self, dir: &Dir, options: &[&str]) -> Wrap {
        prepared(wrap(self.behind(dir, options)))
    }

    /// The words after the program under test. The run is kept in `run` below the folder.
    fn behind(&self, dir: &Dir, options: &[&str]) -> Vec<String> {
        let mut words = vec!["-o".to_owned(), dir.join("run").display().to_string()];
        words.extend(options.iter().chain(&["--"]).map(|w| (*w).to_owned()));
        words.extend(self.words.iter().cloned());
        words
    }

    /// Waits until it computes. `log` is what it has printed so far.
    fn wait(&self, running: &Running, log: impl Fn() -> String) {
        wait_until("computing", || self.has_computed(&log(), &running.out()));
    }

    fn has_computed(&self, log: &str, out: &str) -> bool {
        let computes = match self.computes {
            Computes::Prints(text) => log.contains(text),
            Computes::Writes(text) => out.len() > text.len() + 4,
        };
        computes && log.contains(self.opening)
    }

    fn lines(&self, text: &str) -> Vec<String> {
        if self.log == Log::Racy { masked_lines(&decoding_last(text)) } else { masked_lines(text) }
    }

    /// What it prints on every run, in the same order wherever it has one.
    fn steady(&self, text: &str) -> Vec<String> {
        let mut lines = self.lines(text);
        if self.log == Log::Racy {
            // On a busy machine its logger may not come to a single line before the end.
            let ordered = self.find_opening(&lines).map_or(0, <[String]>::len);
            // Prints it once more or less, as its threads race.
            lines.retain(|line| !line.contains("all slots are idle"));
            lines[ordered..].sort();
        }
        lines
    }

    /// What it prints before it computes.
    #[track_caller]
    fn opening_of<'a>(&self, lines: &'a [String]) -> &'a [String] {
        let opening = self.find_opening(lines);
        opening.unwrap_or_else(|| panic!("no {:?} in:\n{}", self.opening, lines.join("\n")))
    }

    fn find_opening<'a>(&self, lines: &'a [String]) -> Option<&'a [String]> {
        let at = lines.iter().position(|line| line.contains(self.opening))?;
        Some(&lines[..=at])
    }
}

// What is the same on every run.

/// A target's stderr without what differs from run to run: clocks, durations, rates, free memory, the port.
fn masked_lines(text: &str) -> Vec<String> {
    text.replace("\r\n", "\n").lines().map(masked).collect()
}

/// The drivers write it past llama.cpp's logger, so it may come before other lines, and inside one.
fn decoding_last(text: &str) -> String {
    let mut text = text.replace("\r\n", "\n");
    if let Some(at) = text.find("decoding\n") {
        text.replace_range(at..at + "decoding\n".len(), "");
        text.push_str("decoding\n");
    }
    text
}

fn masked(line: &str) -> String {
    let line = without_clocks(line);
    let line = match line.split_once("http://127.0.0.1:") {
        Some((before, port)) => format!("{before}#{}", port.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => line,
    };
    let words: Vec<String> = line.replace('(', "( ").split_whitespace().map(str::to_owned).collect();
    let measured = |i: usize| {
        let unit = words[i + 1..].join(" ");
        let units = ["ms", "seconds", "%", "tokens per second", "MiB free"];
        words[i].parse::<f64>().is_ok() && units.iter().any(|u| unit.starts_with(u))
    };
    if !(0..words.len()).any(measured) {
        return line;
    }
    // Figures are padded to a width, so the spaces go too.
    let shown = words.iter().enumerate().map(|(i, word)| if measured(i) { "#" } else { word });
    shown.collect::<Vec<_>>().join(" ")
}

/// Both are the same; else shows where they part.
#[track_caller]
fn assert_lines(found: &[String], wanted: &[String]) {
    let parting = found.iter().zip(wanted).take_while(|(f, w)| f == w).count();
    let (f, w) = (&found[parting..], &wanted[parting..]);
    assert!(f.is_empty() && w.is_empty(), "line {parting}:\nfound  {:#?}\nwanted {:#?}", head(f), head(w));
}

fn head(lines: &[String]) -> &[String] {
    &lines[..lines.len().min(4)]
}

/// `0.00.035.060` (minutes, seconds, ms, µs): before a line of llama.cpp's, and inside one where llama.cpp forgot to end
/// the line before.
fn without_clocks(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[at..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(rest.len(), |n| at + n);
        let widths: Vec<usize> = rest[at..end].split('.').map(str::len).collect();
        out += &rest[..at];
        out += if matches!(widths[..], [_, 2, 3, 3]) { "#" } else { &rest[at..end] };
        rest = &rest[end..];
    }
    out + rest
}

/// stdout; the rates in a table of llama-bench differ from run to run.
fn steady_stdout(stdout: &str) -> String {
    let lines = stdout.split_inclusive('\n').map(|line| match line.split_once(" ± ") {
        Some((row, _)) => &row[..row.rfind('|').expect("a table")],
        None => line,
    });
    lines.collect()
}

#[test]
fn only_what_differs_from_run_to_run_is_masked() {
    let cases = [
        ("0.00.019.543 I slot release: n_tokens = 25", "# I slot release: n_tokens = 25"),
        ("\x1b[34m12.34.567.890\x1b[0m \x1b[32mI \x1b[0mload", "\x1b[34m#\x1b[0m \x1b[32mI \x1b[0mload"),
        ("1.2.3 is no clock", "1.2.3 is no clock"),
        ("speculative 0.00.064.765 I slot", "speculative # I slot"),
        ("load:    a  =     3.32 MiB", "load:    a  =     3.32 MiB"),
        ("total time =   8.92 ms /    25 tokens", "total time = # ms / 25 tokens"),
        ("(    0.10 ms per token, 10438.41 tokens per second)", "( # ms per token, # tokens per second)"),
        ("(1000.10 ms per token,      inf tokens per second)", "( # ms per token, # tokens per second)"),
        ("CPU : Xeon (24105 MiB, 9 MiB free)", "CPU : Xeon ( 24105 MiB, # MiB free)"),
        ("listening on http://127.0.0.1:33703", "listening on #"),
    ];
    for (line, wanted) in cases {
        assert_eq!(masked(line), wanted);
    }
    assert_eq!(masked_lines("a\r\ndecoding\r\nb\r\n"), ["a", "decoding", "b"]);
    assert_eq!(decoding_last("a\n0.00.0decoding\n19.543 I b\nc\n"), "a\n0.00.019.543 I b\nc\ndecoding\n");
}

// What a run leaves.

/// The kept trace as the target printed it.
fn log(dir: &Dir) -> String {
    let bytes = std::fs::read(dir.join("run/trace.log")).unwrap_or_default();
    // A run that goes on may have a line in it that is not whole yet.
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let lines = traced(&bytes[..whole]).into_iter();
    let mut text: Vec<u8> = lines.flat_map(|line| [&line[..], b"\n"].concat()).collect();
    if bytes.split(|b| *b == b'\n').any(|line| line.starts_with(b"# hrx-wrap/1 no-newline ")) {
        text.pop();
    }
    String::from_utf8(text).expect("llama.cpp prints UTF-8")
}

fn parse(path: &Path) -> String {
    let done = wrap(["parse".as_ref(), path.as_os_str()]).run();
    assert_eq!((done.code(), done.err()), (Some(0), String::new()));
    done.out()
}

/// What every run leaves that has ended: reports that agree with one another and with a parse, and no process.
/// Yields the report as JSON.
#[track_caller]
fn left_whole(dir: &Dir, done: &Done, mark: &str) -> Value {
    assert_eq!(marked(mark), [0; 0], "processes are left");
    let report = dir.text("run/report.txt");
    // What passes through is the log, to the byte, with the report behind it.
    let shown = done.err();
    let between = shown.strip_prefix(&log(dir)).and_then(|rest| rest.strip_suffix(&report));
    assert!(matches!(between, Some("" | "\n")), "not the log and the report:\n{shown}");
    // A parse says of itself what it read; the rest is the same to the byte.
    let of = |made: &str| report.replacen(", report live\n", &format!(", report {made}\n"), 1);
    let (folder, trace) = (dir.join("run"), dir.join("run/trace.log"));
    assert_eq!(parse(&folder), of(&format!("of {}", folder.display())));
    assert_eq!(parse(&trace), of(&format!("of {}", trace.display())));
    let json = dir.json("run/report.json");
    assert_eq!(json["coverage"]["lines"], log(dir).lines().count());
    assert_eq!(json["partial"]["is"], report.starts_with("PARTIAL: "));
    assert_eq!(json["coverage"]["log_lost_lines"], 0);
    json
}

/// How often each signal came to us, as the report has it.
fn signals(json: &Value) -> Vec<i64> {
    let list = json["events"]["signals"].as_array().expect("signals");
    list.iter().map(|s| s["signal"].as_i64().expect("a number")).collect()
}

// To the end.

/// Runs it alone and behind the prefix and compares everything.
#[track_caller]
fn same_as_alone(target: &Target, status: i32) {
    same(target, || {
        let dir = Dir::new("llama-same");
        let alone = target.alone().run();
        assert_eq!(alone.code(), Some(status), "{}", alone.err());
        let running = target.wrapped(&dir, &[]).start();
        let mark = running.mark().to_owned();
        let done = running.finish();
        assert_eq!(done.code(), Some(status), "{}", done.err());
        let json = left_whole(&dir, &done, &mark);
        assert_eq!(json["partial"]["is"], false);
        assert_eq!(json["exit"]["code"], status);
        [Printed { log: log(&dir), stdout: done.out() }, Printed { log: alone.err(), stdout: alone.out() }]
    });
}

/// Runs it alone and behind the prefix with its lines stamped at the source: the same lines, in whatever order its own
/// writers race in.
#[track_caller]
fn same_at_the_source(target: &Target, status: i32) {
    let sorted = |text: &str| {
        let mut lines = masked_lines(&decoding_last(text));
        lines.retain(|line| !line.contains("all slots are idle"));
        lines.sort();
        lines
    };
    for left in (0..TRIES).rev() {
        let dir = Dir::new("llama-source");
        let alone = target.alone().run();
        let running = target.wrapped(&dir, &["--stamp", "source"]).start();
        let mark = running.mark().to_owned();
        let done = running.finish();
        assert_eq!((alone.code(), done.code()), (Some(status), Some(status)), "{}", done.err());
        assert_eq!(marked(&mark), [0; 0], "processes are left");
        let json = dir.json("run/report.json");
        assert!(json["stamps"]["source_lines"].as_u64() > Some(10), "{}", json["stamps"]);
        assert_eq!(json["stamps"]["cut_lines"], 0);
        let (found, wanted) = (sorted(&log(&dir)), sorted(&alone.err()));
        if left == 0 || target.log == Log::Exact || found == wanted {
            return assert_lines(&found, &wanted);
        }
    }
}

/// What a run has printed.
struct Printed {
    log: String,
    stdout: String,
}

/// Compares what two runs have printed; as often as it takes where llama.cpp itself may have lost some.
#[track_caller]
fn same(target: &Target, mut runs: impl FnMut() -> [Printed; 2]) {
    for left in (0..TRIES).rev() {
        let [found, wanted] = runs();
        let lines = [target.steady(&found.log), target.steady(&wanted.log)];
        let stdout = [steady_stdout(&found.stdout), steady_stdout(&wanted.stdout)];
        assert!(target.log == Log::Lossy || stdout[0] == stdout[1], "{stdout:#?}");
        if left == 0 || target.log == Log::Exact || lines[0] == lines[1] && stdout[0] == stdout[1] {
            assert_lines(&lines[0], &lines[1]);
            assert_eq!(stdout[0], stdout[1]);
            return;
        }
    }
}

#[test]
fn stamped_at_the_source_they_print_the_same() {
    same_at_the_source(&cyllama(&model("tiny"), 32, &[]), 0);
    same_at_the_source(&xllamacpp(&model("tiny"), 8, &["--exit-code", "7"]), 7);
    let tools = [llama_bench(&model("tiny"), 16), llama_completion(&model("tiny"), 32)];
    for target in tools.into_iter().flatten() {
        same_at_the_source(&target, 0);
    }
}

#[test]
fn cyllama_prints_computes_and_ends_as_it_does_alone() {
    same_as_alone(&cyllama(&model("tiny"), 32, &[]), 0);
    same_as_alone(&cyllama(&model("tiny"), 8, &["--stdout-every", "--exit-code", "7"]), 7);
}

#[test]
fn xllamacpp_prints_computes_and_ends_as_it_does_alone() {
    same_as_alone(&xllamacpp(&model("tiny"), 32, &[]), 0);
    same_as_alone(&xllamacpp(&model("tiny"), 8, &["--stdout-every", "--exit-code", "7"]), 7);
}

#[test]
fn llama_bench_prints_computes_and_ends_as_it_does_alone() {
    let Some(target) = llama_bench(&model("tiny"), 16) else { return };
    same_as_alone(&target, 0);
}

#[test]
fn llama_completion_prints_computes_and_ends_as_it_does_alone() {
    let Some(target) = llama_completion(&model("tiny"), 32) else { return };
    same_as_alone(&target, 0);
}

/// As above for a target that fails before it opens anything, with its lines in order.
#[track_caller]
fn fails_as_alone(mut target: Target) {
    if target.log == Log::Racy {
        target.log = Log::Lossy;
    }
    same_as_alone(&target, 1);
}

#[test]
fn a_model_that_is_not_there_fails_as_it_does_alone() {
    let missing = "/nonexistent/model.gguf";
    fails_as_alone(cyllama(missing, 8, &[]));
    fails_as_alone(xllamacpp(missing, 8, &[]));
    let tools = [llama_bench(missing, 8), llama_completion(missing, 8), llama_server(missing)];
    for target in tools.into_iter().flatten() {
        fails_as_alone(target);
    }
}

/// It has no HRX backend: a profile that was asked for has nothing to show, and says so; the target ends as it does alone.
fn has_no_dispatch(target: &Target, status: i32) {
    let dir = Dir::new("llama");
    let done = prepared(wrap(target.behind(&dir, &["-p"]))).run();
    assert_eq!(done.code(), Some(status), "{}", done.err());
    let lines = log(&dir).lines().count();
    let unit = if lines == 1 { "line" } else { "lines" };
    let why = format!("NO DISPATCH WAS TRACED: {lines} {unit} read, and none of the serial trace");
    let report = dir.text("run/report.txt");
    assert!(report.contains(&why) && report.contains("a build with the HRX backend"), "{report}");
    assert!(report.contains("GGML_HRX_DEBUG_SERIAL_EXECUTION=1"), "{report}");
    assert!(done.err().contains(&why), "{}", done.err());
    let parsed = wrap(["parse".as_ref(), dir.join("run").as_os_str()]).run();
    assert_eq!((parsed.code(), parsed.out().contains(&why)), (Some(1), true), "{}", parsed.out());
}

#[test]
fn a_real_run_without_the_backend_says_that_no_dispatch_was_traced_and_keeps_its_status() {
    let tiny = model("tiny");
    has_no_dispatch(&cyllama(&tiny, 8, &[]), 0);
    has_no_dispatch(&xllamacpp(&tiny, 8, &[]), 0);
    for target in [llama_bench(&tiny, 8), llama_completion(&tiny, 8)].into_iter().flatten() {
        has_no_dispatch(&target, 0);
    }
    has_no_dispatch(&cyllama("/nonexistent/model.gguf", 8, &[]), 1);
}

// Ended while it computes.

/// How a run ended, and what it has printed before it computed.
struct Ended {
    code: Option<i32>,
    died_of: Option<i32>,
    opening: Vec<String>,
}

impl Ended {
    #[track_caller]
    fn of(target: &Target, done: &Done, log: &str) -> Ended {
        let opening = target.opening_of(&target.lines(log)).to_vec();
        Ended { code: done.code(), died_of: done.died_of(), opening }
    }
}

/// Signals it while it computes, alone.
#[track_caller]
fn ended_alone(target: &Target, signal: i32) -> Ended {
    let running = target.alone().start();
    target.wait(&running, || running.err());
    running.signal(signal);
    let done = running.finish();
    Ended::of(target, &done, &done.err())
}

/// Signals it while it computes, behind the prefix. Yields the report as JSON too.
#[track_caller]
fn ended_behind(target: &Target, signal: i32, options: &[&str]) -> (Ended, Value) {
    let dir = Dir::new("llama-signal");
    let running = target.wrapped(&dir, options).start();
    target.wait(&running, || log(&dir));
    let meanwhile = parse(&dir.join("run"));
    assert!(meanwhile.starts_with("PARTIAL: the run is still going on\n"), "{meanwhile}");
    assert!(fact(&meanwhile, "exit").starts_with("unknown"), "{meanwhile}");
    running.signal(signal);
    let mark = running.mark().to_owned();
    let done = running.finish();
    let json = left_whole(&dir, &done, &mark);
    assert_eq!(signals(&json), [i64::from(signal)]);
    // One that ends by itself when asked to has told its whole story.
    assert_eq!(json["partial"]["is"], json["exit"]["signal"].is_i64());
    (Ended::of(target, &done, &log(&dir)), json)
}

/// It dies of the signal, alone and behind the prefix.
#[track_caller]
fn dies_of(target: &Target, signal: i32) {
    let alone = ended_alone(target, signal);
    let (behind, json) = ended_behind(target, signal, &[]);
    for ended in [&alone, &behind] {
        assert_eq!((ended.code, ended.died_of), (None, Some(signal)));
    }
    assert_eq!(json["exit"]["signal"], signal);
    assert_lines(&behind.opening, &alone.opening);
}

#[test]
fn cyllama_dies_of_the_signal_that_ends_it() {
    for signal in [TERM, INT] {
        dies_of(&cyllama(&model("big"), LONG, &["--stdout-every"]), signal);
    }
}

#[test]
fn xllamacpp_dies_of_the_signal_that_ends_it() {
    for signal in [TERM, INT] {
        dies_of(&xllamacpp(&model("big"), LONG, &["--stdout-every"]), signal);
    }
}

#[test]
fn llama_bench_dies_of_the_signal_that_ends_it() {
    for signal in [TERM, INT] {
        let Some(target) = llama_bench(&model("big"), LONG) else { return };
        dies_of(&target, signal);
    }
}

#[test]
fn llama_completion_dies_of_term() {
    let Some(target) = llama_completion(&model("big"), LONG) else { return };
    dies_of(&target, TERM);
}

#[test]
fn llama_completion_ends_by_itself_on_int_or_is_killed_after_the_grace() {
    let Some(target) = llama_completion(&model("big"), LONG) else { return };
    for _ in 0..TRIES {
        let (ended, json) = ended_behind(&target, INT, &["-k", "2s"]);
        if ended.code == Some(130) {
            assert_eq!((&json["exit"]["code"], &json["exit"]["signal"]), (&130.into(), &Value::Null));
            return;
        }
        // It prints from its signal handler, and waits for ever when it was just printing.
        assert_eq!((ended.code, &json["exit"]["cause"]), (Some(137), &"killed-after-grace".into()));
    }
    panic!("it never ended by itself");
}

/// Waits for the end of a long run: however slow the machine is, as long as tokens come.
#[track_caller]
fn finish_long(mut running: Running) -> Done {
    let (mut tokens, mut since) = (0, Instant::now());
    while running.child.try_wait().expect("wait").is_none() {
        let now = running.out().len();
        if now > tokens {
            (tokens, since) = (now, Instant::now());
        }
        assert!(since.elapsed() < PATIENCE, "nothing came in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    running.finish()
}

/// Gives it less time than it needs. Returns what it wrote to stdout.
#[track_caller]
fn times_out(target: &Target, mut time: Duration) -> Vec<u8> {
    loop {
        let dir = Dir::new("llama-timeout");
        let limit = format!("{}ms", time.as_millis());
        let running = target.wrapped(&dir, &["-t", &limit]).start();
        let mark = running.mark().to_owned();
        let done = finish_long(running);
        assert_eq!(done.code(), Some(124), "{}", done.err());
        let computed = target.has_computed(&log(&dir), &done.out());
        if !computed && time < PATIENCE {
            // The machine was too busy to come to the point that this is about.
            time *= 2;
            continue;
        }
        let json = left_whole(&dir, &done, &mark);
        assert_eq!(json["exit"]["cause"], "timeout");
        assert_eq!(signals(&json), [0_i64; 0]);
        let report = dir.text("run/report.txt");
        assert!(report.starts_with("PARTIAL: the timeout ended the target\n"), "{report}");
        let took = json["time"]["duration_ns"].as_u64().expect("a duration");
        assert!(u128::from(took) >= time.as_nanos(), "ended early: {report}");
        return done.stdout;
    }
}

/// Runs it to its end, then with a fraction of the time it took.
#[track_caller]
fn cut_in_the_middle(target: &Target, last: &str) {
    let dir = Dir::new("llama-long");
    let running = target.wrapped(&dir, &[]).start();
    let mark = running.mark().to_owned();
    let whole = finish_long(running);
    assert_eq!(whole.code(), Some(0), "{}", whole.err());
    assert!(whole.out().trim_end().ends_with(last), "{}", whole.out());
    let took = left_whole(&dir, &whole, &mark)["time"]["duration_ns"].as_u64().expect("a duration");
    // A quarter: the machine may be less busy the second time.
    let cut = times_out(target, Duration::from_nanos(took / 4));
    assert!(whole.stdout.starts_with(&cut) && cut.len() < whole.stdout.len(), "not a beginning of the same");
}

#[test]
fn four_hundred_tokens_of_cyllama_end_in_the_middle_when_the_time_is_over() {
    cut_in_the_middle(&cyllama(&model("big"), LONG, &["--stdout-every"]), "done 400");
}

#[test]
fn four_hundred_tokens_of_xllamacpp_end_in_the_middle_when_the_time_is_over() {
    cut_in_the_middle(&xllamacpp(&model("big"), LONG, &["--stdout-every"]), "done 400");
}

#[test]
fn the_time_of_llama_bench_can_be_over() {
    let Some(target) = llama_bench(&model("big"), 2000) else { return };
    times_out(&target, Duration::from_secs(1));
}

#[test]
fn four_hundred_tokens_of_llama_completion_end_in_the_middle_when_the_time_is_over() {
    let Some(target) = llama_completion(&model("big"), LONG) else { return };
    cut_in_the_middle(&target, "");
}

// On a terminal.

/// Runs a command on a terminal, its stdout aside in `out`. Yields what the terminal shows.
fn on_a_terminal(dir: &Dir, out: &str, command: &[String]) -> String {
    // The harness's terminal leaves line ends alone, a user's does not.
    // llama.cpp asks TERM whether the terminal knows colours.
    let script = r#"
        stty opost
        export TERM=xterm LD_LIBRARY_PATH="$1"
        out=$2
        shift 2
        "$@" </dev/null >"$out"
        echo "THE END $?" >&2
    "#;
    let libraries = llama().join("tools/build/bin").display().to_string();
    let mut words = vec!["sh", "-c", script, "sh", &libraries, out];
    words.extend(command.iter().map(String::as_str));
    let terminal = Terminal::with(&words, dir.path());
    terminal.wait_for("THE END ");
    wait_until("the last line's end", || terminal.screen.text().ends_with('\n'));
    let screen = terminal.screen.clone();
    assert_eq!(terminal.shell.finish().code(), Some(0));
    let text = screen.text();
    let (shown, status) = text.rsplit_once("THE END ").expect("waited for");
    assert_eq!(status.trim_end(), "0", "{text}");
    shown.to_owned()
}

/// On a terminal it shows what it shows there alone.
#[track_caller]
fn shows_the_same_on_a_terminal(target: &Target, coloured: bool) {
    let colours = Cell::new(false);
    same(target, || {
        let dir = Dir::new("llama-terminal");
        let alone = on_a_terminal(&dir, "alone", &target.words);
        let mut behind = vec![BIN.to_owned()];
        behind.extend(target.behind(&dir, &["--report", &dir.join("report").display().to_string()]));
        let shown = on_a_terminal(&dir, "behind", &behind);
        assert!(!shown.replace("\r\n", "").contains(['\r', '\n']), "not a terminal's line ends: {shown:?}");
        assert_eq!(log(&dir), shown.replace("\r\n", "\n"));
        assert_eq!(dir.json("run/run.json")["stdio"], "pty");
        colours.set(colours.get() || alone.contains("\x1b["));
        let behind = Printed { log: shown, stdout: dir.text("behind") };
        [behind, Printed { log: alone, stdout: dir.text("alone") }]
    });
    assert_eq!(colours.get(), coloured);
}

/// With a terminal of its own it prints what it shows on a user's, whatever our stderr is.
#[track_caller]
fn prints_the_same_on_a_terminal_of_its_own(target: &Target) {
    same(target, || {
        let dir = Dir::new("llama-pty");
        let alone = on_a_terminal(&dir, "alone", &target.words);
        let running = target.wrapped(&dir, &["--stdio", "pty"]).env("TERM", "xterm").start();
        let mark = running.mark().to_owned();
        let done = running.finish();
        assert_eq!(done.code(), Some(0), "{}", done.err());
        left_whole(&dir, &done, &mark);
        let own = Printed { log: log(&dir), stdout: done.out() };
        [own, Printed { log: alone, stdout: dir.text("alone") }]
    });
}

#[test]
fn cyllama_shows_the_same_on_a_terminal() {
    let target = cyllama(&model("tiny"), 8, &[]);
    shows_the_same_on_a_terminal(&target, false);
    prints_the_same_on_a_terminal_of_its_own(&target);
}

#[test]
fn xllamacpp_shows_the_same_colours_on_a_terminal() {
    let target = xllamacpp(&model("tiny"), 8, &[]);
    shows_the_same_on_a_terminal(&target, true);
    prints_the_same_on_a_terminal_of_its_own(&target);
}

#[test]
fn llama_completion_shows_the_same_colours_on_a_terminal() {
    let Some(target) = llama_completion(&model("tiny"), 8) else { return };
    shows_the_same_on_a_terminal(&target, true);
    prints_the_same_on_a_terminal_of_its_own(&target);
}

// llama-server.

/// The port that a server has chosen, once it says so.
fn port(printed: impl Fn() -> String) -> u16 {
    let mut port = None;
    wait_until("the server's port", || {
        let text = printed();
        let after = text
            .split_once("listening on http://127.0.0.1:")
            .and_then(|(_, rest)| rest.split_once(['\r', '\n']));
        port = after.and_then(|(digits, _)| digits.parse().ok());
        port.is_some()
    });
    port.expect("waited for")
}

/// One request. Yields the text that was generated.
fn completion(port: u16) -> String {
    let body = r#"{"prompt": "hello the man", "n_predict": 16, "temperature": 0, "seed": 1}"#;
    let head =
        "POST /completion HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close";
    let mut server = TcpStream::connect(("127.0.0.1", port)).expect("the server");
    server.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    write!(server, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).expect("a request");
    let mut answer = String::new();
    server.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    let body: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(body["tokens_predicted"], 16);
    body["content"].as_str().expect("a text").to_owned()
}

/// The server says that it was asked to end, and prints its memory table last: when its logger comes to it.
fn ended_with_the_memory_table(printed: &str) -> bool {
    let (_, end) = printed.split_once("cleaning up before exit").unwrap_or_default();
    end.contains("memory breakdown [MiB]") && end.lines().any(|line| line.contains("- Host "))
}

/// Starts the server alone and behind the prefix, asks it the same, and ends it.
#[track_caller]
fn serves_as_alone(target: &Target, to_the_group: bool) {
    let table = Cell::new(false);
    let once = || {
        let running = target.alone().start();
        let answer = completion(port(|| running.err()));
        running.signal(TERM);
        let alone = running.finish();
        assert_eq!(alone.code(), Some(0), "{}", alone.err());

        let dir = Dir::new("llama-server");
        let running = target.wrapped(&dir, &[]).own_group().start();
        assert_eq!(completion(port(|| running.err())), answer);
        common::kill(if to_the_group { -running.pid() } else { running.pid() }, TERM);
        let mark = running.mark().to_owned();
        let done = running.finish();
        // A second signal would make it fail.
        assert_eq!(done.code(), Some(0), "{}", done.err());
        let json = left_whole(&dir, &done, &mark);
        assert_eq!(signals(&json), [i64::from(TERM)]);
        assert_eq!(json["partial"]["is"], false);
        table.set(table.get() || ended_with_the_memory_table(&log(&dir)));
        [Printed { log: log(&dir), stdout: done.out() }, Printed { log: alone.err(), stdout: alone.out() }]
    };
    same(target, once);
    // Both may have lost it, and be the same in that.
    assert!(
        (0..TRIES).any(|_| table.get() || (once(), table.get()).1),
        "the memory table is never in the log"
    );
}

#[test]
fn llama_server_answers_and_ends_as_it_does_alone() {
    let Some(target) = llama_server(&model("tiny")) else { return };
    serves_as_alone(&target, false);
}

#[test]
fn a_signal_to_the_whole_group_comes_to_llama_server_once() {
    let Some(target) = llama_server(&model("tiny")) else { return };
    serves_as_alone(&target, true);
}

#[test]
fn ctrl_c_on_the_terminal_ends_llama_server_cleanly() {
    let Some(target) = llama_server(&model("tiny")) else { return };
    let dir = Dir::new("llama-server-key");
    let script = r#""$@"; echo "THE END $?""#;
    let mut words: Vec<String> = ["sh", "-c", script, "sh", BIN].map(str::to_owned).into();
    words.extend(target.behind(&dir, &[]));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let terminal = Terminal::with(&words, dir.path());
    completion(port(|| terminal.screen.text()));
    terminal.keys(b"\x03");
    terminal.wait_for("THE END ");
    assert!(terminal.screen.text().contains("THE END 0"), "{}", terminal.screen.text());
    let mark = terminal.shell.mark().to_owned();
    assert_eq!(terminal.shell.finish().code(), Some(0));
    assert_eq!(marked(&mark), [0; 0], "processes are left");
    assert!(!log(&dir).contains("second interrupt"), "{}", log(&dir));
}

#[test]
fn llama_server_that_is_given_a_time_uses_it_and_ends_cleanly() {
    let Some(target) = llama_server(&model("tiny")) else { return };
    times_out(&target, Duration::from_secs(1));
}
