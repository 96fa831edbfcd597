//! The split of the real binary: what it sets for the target, what its report says, how it ends.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use std::fmt::Write as _;
use std::path::Path;

use common::{BIN, Dir, demo, words, wrap};
use hrx_wrap::core::book::Book;
use hrx_wrap::core::lines::Line;
use hrx_wrap::core::memory::sample::Sample;
use hrx_wrap::core::memory::series::Series;
use hrx_wrap::core::run::Run;
use hrx_wrap::core::split::Split;
use hrx_wrap::report::split_text;
use serde_json::{Value, json};

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/llama-logs");

/// A target that shows its own words and variables.
fn shows(dir: &Dir, name: &str) -> String {
    let script = "#!/bin/sh\necho \"args: $*\"\necho \"level: $LLAMA_ARG_LOG_VERBOSITY\"\necho \"weights: $GGML_HRX_HOST_WEIGHT_TRACE\"\n";
    dir.script(name, script).display().to_string()
}

/// A capture as a bare trace: every line a µs after the one before.
fn stamped(dir: &Dir, capture: &str) -> String {
    let text = std::fs::read(Path::new(CAPTURES).join(capture)).expect("a capture");
    let mut trace = Vec::new();
    for (n, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
        trace.extend(format!("{} ", 1_000 * (n + 1)).into_bytes());
        trace.extend(line);
    }
    std::fs::write(dir.join("t.log"), trace).unwrap();
    "t.log".to_owned()
}

fn parsed(dir: &Dir, options: &[&str]) -> (common::Done, Value) {
    let mut call = vec!["parse", "t.log", "--report", "/dev/stdout", "--json", "r.json"];
    call.extend(options);
    let done = wrap(call).cwd(dir.path()).run();
    (done, dir.json("r.json"))
}

/// The rows of a kind: buffer, place, bytes.
fn rows(report: &Value, kind: &str) -> Vec<Value> {
    let all = report["split"]["rows"].as_array().expect("rows").iter().filter(|row| row["kind"] == kind);
    all.map(|row| json!([row["buffer"], row["place"], row["bytes"]])).collect()
}

#[test]
fn variables_are_set_and_llama_bench_alone_gets_an_argument() {
    let dir = Dir::new("asks");
    let (bench, server) = (shows(&dir, "llama-bench"), shows(&dir, "llama-server"));
    for (options, target, args, level, appended) in [
        (&["-s"][..], &[&bench, "-m", "x"][..], "-m x -v", "4", json!(["-v"])),
        (&["-s"], &[&bench, "-v"], "-v", "4", json!([])),
        (&["-s"], &[&server, "-m", "x"], "-m x", "4", json!([])),
        (&["-s", "--verbose-by", "env"], &[&bench, "x"], "x", "4", json!([])),
        (&["-s", "--verbose-by", "arg"], &[&server, "x"], "x -v", "", json!(["-v"])),
        (&["-s", "--verbose-by", "none"], &[&bench, "x"], "x", "", json!([])),
        (&["-s", "--env", "LLAMA_ARG_LOG_VERBOSITY=5"], &[&server, "x"], "x", "5", json!([])),
    ] {
        let options: Vec<&str> =
            options.iter().copied().chain(["--json", "r.json", "--report", "r"]).collect();
        let done = wrap(words(&options, target)).cwd(dir.path()).run();
        let expected = format!("args: {args}\nlevel: {level}\nweights: 1\n");
        assert_eq!(done.out(), expected, "{options:?}");
        let run = &dir.json("r.json")["run"];
        assert_eq!((&run["split"], &run["changed"]["args"]), (&json!(true), &appended), "{options:?}");
        if appended == json!(["-v"]) {
            assert!(common::fact(&dir.text("r"), "changed").contains("appended -v"), "{}", dir.text("r"));
        }
    }
    let plain = wrap(words(&["--json", "r.json"], &[&bench, "-m", "x"])).cwd(dir.path()).run();
    assert_eq!(plain.out(), "args: -m x\nlevel: \nweights: \n", "untouched without -s");
    assert_eq!(dir.json("r.json")["split"], Value::Null);
    let refused = wrap(["--verbose-by", "env", "--", "true"]).run();
    assert_eq!(refused.code(), Some(125));
    assert!(refused.complaint().contains("--split"), "{}", refused.err());
}

const QUICK: [&str; 6] = ["--tokens", "2", "--commands", "4", "--prefill-commands", "3"];

#[test]
fn one_run_gives_profile_and_split_and_a_parse_of_it_the_same() {
    let dir = Dir::new("both");
    let done = wrap(demo(&["-p", "-s", "-o", "run", "--echo", "none"], &QUICK)).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let live = dir.text("run/report.txt");
    assert!(live.contains("\nWHERE THE TIME IS") && live.contains("\nGTT SPLIT"), "{live}");
    let report = dir.json("run/report.json");
    let mib = |x: f64| json!((x * 1_048_576.0).round() as u64);
    assert_eq!(rows(&report, "model")[0], json!(["HRX0", "device", mib(2375.91)]));
    assert_eq!(rows(&report, "packed"), [json!([null, "device", mib(795.8)])]);
    assert_eq!(rows(&report, "kv"), [json!(["HRX0", "device", mib(36.0)])]);
    assert_eq!(rows(&report, "compute")[0], json!(["HRX0", "device", mib(43.1999)]), "as its end tells it");
    assert_eq!(rows(&report, "output"), [json!(["HRX0_HOST", "host", mib(0.58)])]);
    assert_eq!(report["split"]["rows"][1]["weights"], 38);
    let duplicate = report["split"]["duplicate_share"].as_f64().unwrap();
    assert_eq!((duplicate * 1000.0).round(), 335.0);
    assert!(live.contains("duplicate: packed copies are 33.5 % of the loader's model buffer"), "{live}");
    let phases: Vec<&str> =
        report["split"]["phases"].as_array().unwrap().iter().map(|p| p["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["load", "context", "run", "tear-down"]);
    let body = |text: &str| text[text.find("\nGTT SPLIT").expect("a split")..].to_owned();
    for path in ["run", "run/trace.log"] {
        assert_eq!(body(&wrap(["parse", path]).cwd(dir.path()).run().out()), body(&live), "{path}");
    }
}

#[test]
fn without_a_client_the_process_is_unknown_and_the_rows_stand() {
    let dir = Dir::new("no-client");
    let done = wrap(demo(&["-s", "-o", "run", "--echo", "none"], &QUICK)).cwd(dir.path()).run();
    let split = &dir.json("run/report.json")["split"];
    assert_eq!(split["unattributed_bytes"], Value::Null);
    assert_eq!(split["process"]["why"], "no amdgpu client was seen", "{split}");
    assert_eq!(split["unattributed_why"], split["process"]["why"]);
    assert!(done.err().contains("process unknown: no amdgpu client was seen"), "{}", done.err());
    assert!(done.err().contains("on the host, in no sum above"), "{}", done.err());
}

#[test]
fn a_killed_supervisor_still_leaves_the_split() {
    let dir = Dir::new("killed");
    let target = ["--tokens", "100000", "--commands", "50", "--prefill-commands", "0"];
    let running = wrap(demo(&["-p", "-s", "-o", "run", "--echo", "none"], &target)).cwd(dir.path()).start();
    common::wait_until("some of the trace", || {
        std::fs::metadata(dir.join("run/trace.log")).is_ok_and(|m| m.len() > 300_000)
    });
    let mark = running.mark().to_owned();
    common::kill(common::supervisor_of(running.pid()), 9);
    running.finish();
    common::wait_until("the end of the tree", || common::marked(&mark).is_empty());
    let report = dir.json("run/report.json");
    assert_eq!(report["partial"]["is"], true);
    assert_eq!(rows(&report, "model")[0][0], "HRX0");
    assert_eq!(report["split"]["rows"][1]["weights"], 38, "{}", report["split"]);
    assert!(!dir.text("run/report.txt").contains("lines before the supervisor was killed"));
}

#[test]
fn strict_changes_the_status_of_a_good_run_alone() {
    let dir = Dir::new("strict");
    let strict = |target: &[&str]| {
        wrap(demo(&["-s", "--strict", "-o", "run", "--force", "--echo", "none"], target))
            .cwd(dir.path())
            .run()
    };
    let done = strict(&QUICK);
    assert_eq!(done.code(), Some(121), "{}", done.err());
    assert!(done.err().contains("WARNING: how much is not attributed is unknown"), "{}", done.err());
    assert!(done.fact("exit").ends_with("our status is 121"), "{}", done.err());
    assert_eq!(dir.json("run/run.json")["end"]["status"], 121);
    let again = wrap(["parse", "run", "--strict"]).cwd(dir.path()).run();
    assert_eq!(again.code(), Some(1));
    assert!(again.err().starts_with("hrx-wrap: --strict: how much is not attributed"), "{}", again.err());
    assert_eq!(wrap(["parse", "run"]).cwd(dir.path()).run().code(), Some(0));
    let failed = strict(&["--exit-code", "3", "--tokens", "1", "--commands", "2"]);
    assert_eq!(failed.code(), Some(3), "the target's own status wins");
}

#[test]
fn a_log_that_cannot_be_seen_is_named_with_the_remedy() {
    let dir = Dir::new("blind");
    for (name, args, holds) in [
        ("llama-server", &["-m", "x", "--log-jsonl"][..], "with --log-jsonl it goes to stdout"),
        ("llama-server", &["--port", "1"], "is a router, which prints its children's logs on stdout"),
        ("llama-completion", &["-lv", "2"], "the command line asks for level 2"),
        ("llama-completion", &["--log-disable"], "--log-disable is given"),
        ("llama-completion", &["-m", "x"], "the target printed nothing on stderr"),
    ] {
        let program = shows(&dir, name);
        let mut target = vec![program.as_str()];
        target.extend(args);
        let done = wrap(words(&["-s"], &target)).cwd(dir.path()).run();
        assert_eq!(done.code(), Some(0));
        assert!(done.err().contains(holds), "{}", done.err());
        let split = done.err().split("GTT SPLIT").nth(1).expect("a split").to_owned();
        assert!(!split.contains(" 0.0  "), "unknown is not 0: {split}");
    }
}

#[test]
fn captured_logs_give_their_split_by_parse() {
    let dir = Dir::new("captures");
    stamped(&dir, "rpc-completion-v-ngl99.stderr");
    let (done, report) = parsed(&dir, &[]);
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let bytes = |mib: f64| json!((mib * 1_048_576.0).round() as u64);
    let device = "RPC0[127.0.0.1:50061]";
    assert_eq!(
        rows(&report, "model"),
        [json!([device, "device", bytes(3.25)]), json!(["CPU_Mapped", "host", bytes(0.25)])]
    );
    assert_eq!(rows(&report, "kv"), [json!([device, "device", bytes(4.0)])]);
    assert_eq!(rows(&report, "compute")[0], json!([device, "device", bytes(7.0117)]));
    assert!(rows(&report, "packed")[0][2].is_null());
    let second = report["split"]["second_source"].as_array().unwrap();
    assert_eq!(second[0]["name"], "RPC0");
    assert!(second.iter().all(|row| row["model"]["agree"] == true && row["compute"]["agree"] == true));
    assert!(done.out().contains("HRX is not seen in the log"), "{}", done.out());
    assert!(!done.out().contains("NO DISPATCH"), "{}", done.out());
}

#[test]
fn the_recorded_4b_run_by_parse_of_a_log_and_samples() {
    let dir = Dir::new("recorded");
    let log = "100000000 load_tensors:   CPU_Mapped model buffer size =   304.28 MiB\n\
               100000001 load_tensors:         HRX0 model buffer size =  2375.91 MiB\n\
               200000000 llama_context: constructing llama_context\n\
               200000001 llama_kv_cache:       HRX0 KV buffer size =    36.00 MiB\n\
               200000002 sched_reserve:       HRX0 compute buffer size =    43.20 MiB\n\
               200000003 sched_reserve: reserve took 24.31 ms, sched copies = 1\n\
               300000000 HRX host weight cache: resident=304.3 MiB weights=1\n\
               300000001 HRX host weight cache: resident=795.8 MiB weights=38\n\
               400000000 HRX host weight cache: evicted x resident=512.0 MiB weights=16\n";
    std::fs::write(dir.join("t.log"), log).unwrap();
    // Older tools left seconds and KiB.
    std::fs::write(dir.join("gtt.txt"), "0.05 2048\n0.35 4019200\n0.45 4000000\n").unwrap();
    let (done, report) = parsed(&dir, &["--samples", "gtt.txt", "--strict"]);
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let split = &report["split"];
    let tenths = |bytes: &Value| bytes.as_f64().map(|b| (b / 104_857.6).round());
    assert_eq!(tenths(&split["process"]["peak"]["gtt_bytes"]), Some(39_250.0), "{split}");
    assert_eq!(tenths(&split["unattributed_bytes"]), Some(6_741.0));
    assert_eq!((split["duplicate_share"].as_f64().unwrap() * 1000.0).round(), 335.0);
    for line in ["3925.0  100.0", "795.8   20.3", "674.1   17.2", "packed copies (38 weights)", "33.5 %"] {
        assert!(done.out().contains(line), "{line}:\n{}", done.out());
    }
    let (strict, _) = parsed(&dir, &["--samples", "gtt.txt", "--strict", "--max-unattributed", "17"]);
    assert_eq!(strict.code(), Some(1));
    assert!(
        strict.err().contains("--strict: 674.1 MiB are not attributed, 17.2 % of the peak"),
        "{}",
        strict.err()
    );
    assert!(strict.out().contains("WARNING: 674.1 MiB are not attributed"), "{}", strict.out());
}

/// The log of the recorded 4B run up to its packed copies, as a shell prints it.
const FOUR_B: &str = "cat >&2 <<'END'
load_tensors:   CPU_Mapped model buffer size =   304.28 MiB
load_tensors:         HRX0 model buffer size =  2375.91 MiB
llama_context: constructing llama_context
llama_kv_cache:       HRX0 KV buffer size =    36.00 MiB
sched_reserve:       HRX0 compute buffer size =    43.20 MiB
sched_reserve: reserve took 24.31 ms, sched copies = 1
HRX host weight cache: resident=795.8 MiB weights=38
END
";

#[test]
fn a_live_run_is_split_by_its_samples_and_a_parse_gives_the_same() {
    let dir = Dir::new("live");
    std::fs::create_dir_all(dir.join("proc")).unwrap();
    let gtt = format!("{}/tests/targets/gtt.py", env!("CARGO_MANIFEST_DIR"));
    // A process of a fake /proc with one client, which waits for each of its amounts in the table.
    let script = format!("{FOUR_B}exec python3 {gtt} proc run/gtt.tsv 2500 3925 3600");
    let options = ["-s", "--strict", "--proc", "proc", "--sys", "sys", "-o", "run"];
    let done = wrap(words(&options, &["sh", "-c", &script])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    for line in
        ["3925.0  100.0", "2375.9   60.5", "795.8   20.3", "674.1   17.2", "packed copies (38 weights)"]
    {
        assert!(done.err().contains(line), "{line}:\n{}", done.err());
    }
    let report = dir.json("run/report.json");
    let split = &report["split"];
    assert_eq!(split["process"]["peak"]["gtt_bytes"], report["memory"]["peak"]["gtt_bytes"]);
    assert_eq!(split["process"]["steady"]["gtt_bytes"], report["memory"]["steady"]["gtt_bytes"]);
    assert!(report["memory"]["steady_between_ns"].is_array(), "known from the log: {}", report["memory"]);
    let run = split["phases"].as_array().unwrap().iter().find(|p| p["phase"] == "run").unwrap();
    assert_eq!(run["peak_gtt_bytes"], 3925_u64 << 20);
    let again = wrap(["parse", "run", "--json", "-"]).cwd(dir.path()).run();
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((&again["split"], &again["memory"]), (split, &report["memory"]));
    let text = wrap(["parse", "run"]).cwd(dir.path()).run().out();
    let body = |text: &str| text[text.find("\nMEMORY").expect("memory")..].to_owned();
    assert_eq!(body(&text), body(&dir.text("run/report.txt")));
}

#[test]
fn the_first_line_of_a_new_phase_asks_for_a_sample() {
    let dir = Dir::new("phase");
    // Without a phase the next sample would be an hour away.
    let script = "rows() { wc -l < run/gtt.tsv; }; before=$(rows)
        echo 'llama_context: constructing llama_context' >&2
        for i in $(seq 3000); do [ $(rows) -gt $before ] && exit 0; sleep 0.01; done; exit 9";
    let done = wrap(words(&["--interval", "1h", "-o", "run"], &["sh", "-c", script])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
}

#[test]
fn the_text_of_a_capture_is_the_golden_one() {
    let dir = Dir::new("golden");
    stamped(&dir, "rpc-fit-shrink-lv4.stderr");
    let (done, _) = parsed(&dir, &[]);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/split.golden.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, done.out()).unwrap();
    }
    assert_eq!(
        done.out(),
        std::fs::read_to_string(path).unwrap_or_default(),
        "UPDATE=1 cargo test --test split"
    );
}

/// A log and samples (ms, KiB) as the two recorded runs left them.
fn recorded(lines: &[(u64, &str)], samples: &[(u64, u64)]) -> String {
    let mut book = Book::default();
    for (ms, text) in lines {
        for text in text.lines() {
            let ns = ms * 1_000_000;
            let line = Line { ns, bytes: text.as_bytes(), first: true, last: true, terminated: true };
            book.take(&line, |_, _| {});
        }
    }
    book.finish();
    let mut series = Series::default();
    for (ms, kib) in samples {
        series.push(Sample { ns: ms * 1_000_000, gtt_bytes: Some(kib * 1024), ..Sample::default() });
    }
    let run = Run { split: true, ..Run::default() };
    split_text::split(&Split::of(&book, Some(&series), &run), 0)
}

#[test]
fn the_tables_of_the_recorded_runs_are_the_golden_ones() {
    const LOAD: (u64, &str) = (100, "llama_model_loader: loaded meta data with 20 key-value pairs");
    const CONTEXT: (u64, &str) = (500, "llama_context: constructing llama_context");
    const RESERVED: (u64, &str) = (530, "sched_reserve: reserve took 24.31 ms, sched copies = 1");
    const THREADS: &str = "set_n_threads: n_threads = 4, n_threads_batch = 4";
    const PERF: (u64, &str) = (5_000, "llama_perf_context_print:        load time =     812.40 ms");
    let four = recorded(
        &[
            LOAD,
            (400, "load_tensors:   CPU_Mapped model buffer size =   304.28 MiB"),
            (400, "load_tensors:         HRX0 model buffer size =  2375.91 MiB"),
            CONTEXT,
            (510, "llama_context:  HRX0_HOST  output buffer size =     0.58 MiB"),
            (510, "llama_kv_cache:       HRX0 KV buffer size =    36.00 MiB"),
            (520, "sched_reserve:       HRX0 compute buffer size =    43.20 MiB"),
            RESERVED,
            (540, THREADS),
            (600, "HRX host weight cache: resident=304.3 MiB weights=1"),
            (700, "HRX host weight cache: resident=795.8 MiB weights=38"),
            (800, THREADS),
            (4_000, "HRX host weight cache: evicted blk.35.ffn_down.weight resident=512.0 MiB weights=16"),
            PERF,
        ],
        &[
            (50, 2_048),
            (450, 2_480_000),
            (750, 4_019_200),
            (2_000, 4_000_000),
            (4_500, 3_700_000),
            (5_050, 90_000),
        ],
    );
    let twenty_seven = recorded(
        &[
            LOAD,
            (400, "load_tensors:         HRX0 model buffer size = 15718.50 MiB"),
            CONTEXT,
            (510, "llama_kv_cache:       HRX0 KV buffer size =    16.00 MiB"),
            (510, "llama_memory_recurrent:       HRX0 RS buffer size =   149.60 MiB"),
            (520, "sched_reserve:       HRX0 compute buffer size =    72.10 MiB"),
            RESERVED,
            (540, THREADS),
            (700, "HRX host weight cache: resident=2631.3 MiB weights=66"),
            (800, THREADS),
            PERF,
        ],
        &[(50, 2_048), (450, 16_100_000), (2_000, 20_988_928), (4_500, 20_988_928), (5_050, 90_000)],
    );
    let now = format!("4B{four}\n27B{twenty_seven}");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/split-recorded.golden.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &now).unwrap();
    }
    assert_eq!(now, std::fs::read_to_string(path).unwrap_or_default(), "UPDATE=1 cargo test --test split");
}

#[test]
fn a_pattern_names_other_words_and_is_kept_with_the_run() {
    let dir = Dir::new("pattern");
    let mut text = String::new();
    for (n, line) in ["load_tensors: HRX0 model buffer size = 100.00 MiB", "packed cache: 40 MiB, 7 pieces"]
        .iter()
        .enumerate()
    {
        writeln!(text, "{} {line}", n + 1).unwrap();
    }
    std::fs::write(dir.join("t.log"), text).unwrap();
    let (_, report) = parsed(&dir, &[]);
    assert!(rows(&report, "packed")[0][2].is_null());
    let (_, report) = parsed(&dir, &["--packed-pattern", r"packed cache: (\d+) MiB, (\d+)"]);
    assert_eq!(rows(&report, "packed")[0][2], 40 << 20);
    assert_eq!(report["split"]["rows"][1]["weights"], 7);
    assert_eq!(report["split"]["duplicate_share"], 0.4);
    let script = dir.script(
        "target",
        "#!/bin/sh\necho 'load_tensors: HRX0 model buffer size = 100.00 MiB' >&2\necho 'cache 5 MiB' >&2\n",
    );
    let script = script.display().to_string();
    wrap(words(&["-s", "-o", "run", "--packed-pattern", "cache (.*)"], &[&script])).cwd(dir.path()).run();
    assert_eq!(rows(&dir.json("run/report.json"), "packed")[0][2], 5 << 20);
    let again = wrap(["parse", "run", "--json", "-"]).cwd(dir.path()).run();
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["split"], dir.json("run/report.json")["split"]);
    for (words, holds) in [
        (&["--packed-pattern", "(", "--", "true"][..], "'(' is no regular expression"),
        (&["--max-unattributed", "x", "--", "true"], "'x' is no percentage"),
        (&["--max-unattributed", "101", "--", "true"], "'101' is no percentage"),
    ] {
        let done = wrap(words).run();
        assert_eq!(done.code(), Some(125));
        assert!(done.complaint().contains(holds), "{}", done.err());
    }
}

#[test]
fn names_from_a_log_reach_no_terminal_raw() {
    let dir = Dir::new("raw");
    std::fs::write(dir.join("t.log"), b"1 load_tensors: HRX\x1b]0;x\x07\xff model buffer size = 1.00 MiB\n")
        .unwrap();
    let (done, report) = parsed(&dir, &[]);
    assert!(!done.stdout.contains(&0x1b) && !done.stdout.contains(&0xff), "{}", done.out());
    assert_eq!(rows(&report, "model")[0][0], "HRX\\u{1b}]0;x\\u{7}\\xff");
}

#[test]
fn the_demo_has_a_split() {
    let dir = Dir::new("demo");
    let done = common::through(BIN, ["demo", "-o", "run", "--tokens", "60"]).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let report = dir.json("run/report.json");
    assert_eq!(rows(&report, "packed")[0][2].as_u64().map(|b| b / 104_858), Some(7_957), "795.8 MiB");
    // The client that it pretends to be is in the samples, and where they are from is said.
    let peak = &report["split"]["process"]["peak"];
    let tenths = |value: &Value| value.as_u64().map(|b| (b * 10 + (1 << 19)) >> 20);
    assert_eq!(
        (tenths(&peak["gtt_bytes"]), tenths(&peak["unattributed_bytes"])),
        (Some(39_250), Some(6_741))
    );
    assert!(dir.text("run/report.txt").contains("the figures are from /") && done.code() == Some(0));
    let proc = report["memory"]["proc"].as_str().expect("a folder");
    assert!(!std::path::Path::new(proc).exists(), "{proc} is gone");
}
