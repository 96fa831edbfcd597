//! The dispatch profile of the real binary: live, from a kept trace, from a bare one, and from a run that was killed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use common::{BIN, Dir, demo, words, wrap};
use hrx_wrap::cmd::demo_target::device::{DECODE, PREFILL};
use serde_json::Value;

/// A bare trace: lines with times of our choice, as other tools leave them.
#[derive(Default)]
struct Trace {
    text: String,
    now: u64,
}

impl Trace {
    fn line(&mut self, after: u64, text: &str) {
        self.now += after;
        writeln!(self.text, "{} {text}", self.now).unwrap();
    }

    fn dispatch(&mut self, commands: u64, index: u64, kernel: u64, times: [u64; 3]) {
        let d = format!(
            "list=main index={index} list_commands={commands} ordinal={index} kind=Kernel kernel_id={kernel} bindings=7"
        );
        let [wait, launch, device] = times;
        for (after, head) in [
            (1_000, "sync-begin phase=command-pre-dispatch"),
            (wait, "sync-end phase=command-pre-dispatch"),
            (500, "begin phase=command-dispatch"),
            (launch, "end phase=command-dispatch"),
            (0, "sync-begin phase=command-post-dispatch"),
            (device, "sync-end phase=command-post-dispatch"),
        ] {
            self.line(after, &format!("hrx debug serial: {head} {d}"));
        }
    }
}

/// Two programs: a prefill of three commands, once, and a decode of two, four times.
fn trace() -> Trace {
    let mut trace = Trace { now: 1_000_000, ..Trace::default() };
    trace.line(10, "load_tensors: HRX0 model buffer size = 1.00 MiB");
    for (index, device) in [400_000, 900_000, 700_000].into_iter().enumerate() {
        trace.dispatch(3, index as u64, 5_916_100_870_017_593_149, [2_000, 4_000, device]);
    }
    for run in 0..4 {
        trace.dispatch(2, 0, 11_938_313_152_504_284_411, [2_000, 6_000, 30_000 + run * 1_000]);
        trace.dispatch(2, 1, 42, [2_000, 5_000, 3_000]);
    }
    trace
}

fn parsed(text: &str, options: &[&str]) -> (common::Done, Value) {
    let dir = Dir::new("profile");
    std::fs::write(dir.join("t.log"), text).unwrap();
    let mut call = vec!["parse", "t.log", "--report", "/dev/stdout", "--json", "r.json"];
    call.extend(options);
    let done = wrap(call).cwd(dir.path()).run();
    (done, dir.json("r.json"))
}

#[test]
fn every_number_of_a_known_trace_comes_out() {
    let (done, report) = parsed(&trace().text, &[]);
    assert_eq!(done.code(), Some(0), "{}", done.err());
    assert_eq!(report["floor_ns"], 2_000);
    let programs = report["programs"].as_array().unwrap();
    assert_eq!(programs.len(), 2);
    let prefill = &programs[0];
    let facts =
        ["list", "list_commands", "runs", "dispatches", "total_ns", "launch_ns", "wait_ns", "first_run_ns"];
    let got: Vec<&Value> = facts.iter().map(|f| &prefill[*f]).collect();
    assert_eq!(
        serde_json::json!(got),
        serde_json::json!(["main", 3, 1, 3, 2_000_000, 12_000, 6_000, 2_000_000])
    );
    let kernel = &prefill["kernels"][0];
    assert_eq!(kernel["kernel_id"], "5916100870017593149", "ids are strings");
    assert_eq!(kernel["family"], "loom_libs");
    assert_eq!(kernel["name"], "ggml_mul_mat_f32_f32_wmma");
    let decode = &programs[1];
    assert_eq!((&decode["runs"], &decode["total_ns"]), (&4.into(), &138_000.into()));
    assert_eq!((&decode["steady_runs"], &decode["steady_mean_ns"]), (&3.into(), &35_000.into()));
    let first = &decode["kernels"][0];
    let facts = [
        "count",
        "total_ns",
        "device_mean_ns",
        "device_min_ns",
        "device_max_ns",
        "launch_mean_ns",
        "near_floor",
    ];
    let got: Vec<&Value> = facts.iter().map(|f| &first[*f]).collect();
    assert_eq!(serde_json::json!(got), serde_json::json!([4, 126_000, 31_500, 30_000, 33_000, 6_000, false]));
    let share = first["share"].as_f64().unwrap() + decode["kernels"][1]["share"].as_f64().unwrap();
    assert!((share - 1.0).abs() < 1e-12);
    let median = first["device_median_ns"].as_f64().unwrap();
    assert!((median - 31_000.0).abs() <= 31_000.0 * 0.008, "{median}");
    assert_eq!(decode["kernels"][1]["near_floor"], true, "3 µs are under twice the floor of 2 µs");
    let c = &report["coverage"];
    let facts = [
        "lines",
        "trace_lines",
        "rejoined",
        "broken",
        "begun",
        "ended",
        "completed",
        "unmapped_ids",
        "unmapped_ns",
    ];
    let got: Vec<&Value> = facts.iter().map(|f| &c[*f]).collect();
    assert_eq!(serde_json::json!(got), serde_json::json!([67, 66, 0, 0, 11, 11, 11, 1, 12_000]));
}

#[test]
fn the_text_report_is_the_golden_one() {
    let (done, _) = parsed(&trace().text, &[]);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/profile.golden.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data")).unwrap();
        std::fs::write(path, done.out()).unwrap();
    }
    assert_eq!(
        done.out(),
        std::fs::read_to_string(path).unwrap_or_default(),
        "UPDATE=1 cargo test --test profile"
    );
}

#[test]
fn shares_end_at_100_percent_with_the_rest_in_a_row() {
    let (done, _) = parsed(&trace().text, &["--top", "1", "--unit", "ms", "--sort", "count"]);
    let text = done.out();
    assert!(text.contains("rest: 1 kernel"), "{text}");
    assert!(text.contains("mean ms") && !text.contains("mean µs"), "{text}");
}

#[test]
fn csv_and_markdown_hold_the_same_numbers() {
    let dir = Dir::new("tables");
    std::fs::write(dir.join("t.log"), trace().text).unwrap();
    let csv = wrap(["parse", "t.log", "--csv", "-"]).cwd(dir.path()).run().out();
    let row = csv.lines().find(|l| l.contains(",11938313152504284411,")).expect("the row");
    assert!(row.starts_with("main,2,") && row.contains(",4,126000,0.913043,6000,31500,"), "{row}");
    let markdown = wrap(["parse", "t.log", "--markdown", "-", "--unit", "ns"]).cwd(dir.path()).run().out();
    assert!(
        markdown.contains(
            "| loom_libs:ggml_flash_attention_decode_split_f32_f16_wmma_next_q8 | 0.126 | 91.3 | 4 | 31500 |"
        ),
        "{markdown}"
    );
}

#[test]
fn the_three_empty_cases_are_told_apart_and_exit_with_1() {
    let waits = "5 hrx debug serial: sync-begin phase=command-pre-dispatch\n6 hrx debug serial: sync-end phase=command-pre-dispatch\n";
    for (text, holds) in [
        ("# hrx-wrap/1 pid 3\n", "printed no line on stderr"),
        ("5 llama\n6 llama\n", "2 lines read, and none of the serial trace"),
        (waits, "2 lines of the serial trace, and not one dispatch; 2 waits without a detail"),
    ] {
        let (done, report) = parsed(text, &[]);
        assert_eq!(done.code(), Some(1), "{text}");
        assert!(
            done.out().starts_with("NO DISPATCH WAS TRACED: ") && done.out().contains(holds),
            "{}",
            done.out()
        );
        assert!(!done.out().contains("PROGRAM "), "no table from nothing");
        assert_eq!(report["programs"], serde_json::json!([]));
        assert!(report["floor_ns"].is_null() || text == waits);
    }
}

#[test]
fn events_behind_a_prefix_are_named_as_the_reason() {
    let text = trace().text.replace(" hrx debug serial", " [pod] stderr: hrx debug serial");
    let (done, report) = parsed(&text, &[]);
    assert_eq!(done.code(), Some(1));
    assert!(done.out().contains("66 events stand behind other text in their line"), "{}", done.out());
    assert_eq!(report["coverage"]["untimed_events"], 66);
}

#[test]
fn a_dispatch_that_begins_again_while_it_is_open_is_warned_about() {
    let mut trace = Trace { now: 5, ..Trace::default() };
    let d = "list=main index=0 list_commands=1 ordinal=0 kind=Kernel kernel_id=42 bindings=7";
    trace.line(1, &format!("hrx debug serial: begin phase=command-dispatch {d}"));
    trace.dispatch(1, 0, 42, [10, 10, 10]);
    let (done, report) = parsed(&trace.text, &[]);
    assert_eq!(report["coverage"]["repeated"], 1);
    assert!(done.out().contains("1 dispatch began again while open"), "{}", done.out());
}

#[test]
fn a_profiled_run_without_a_dispatch_keeps_its_status_and_warns_loudly() {
    let done = wrap(words(&["-p"], &["sh", "-c", "echo llama >&2; exit 3"])).run();
    assert_eq!(done.code(), Some(3));
    assert!(
        done.err().contains("NO DISPATCH WAS TRACED: 1 line read, and none of the serial trace"),
        "{}",
        done.err()
    );
}

const QUICK: [&str; 8] =
    ["--tokens", "3", "--commands", "12", "--prefill-commands", "9", "--no-load", "--warm-up"];

#[test]
fn live_kept_bare_and_piped_give_the_identical_tables() {
    let dir = Dir::new("identical");
    let done = wrap(demo(&["-p", "-o", "run", "--echo", "none"], &QUICK)).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let tables = |text: &str| text[text.find("\nWHERE THE TIME IS").expect("tables")..].to_owned();
    let live = tables(&dir.text("run/report.txt"));
    assert!(
        live.contains("PROGRAM main list of 12 commands") && live.contains("PROGRAM main list of 9 commands")
    );
    let log = dir.text("run/trace.log");
    let bare: String = log.split_inclusive('\n').filter(|l| !l.starts_with('#')).collect();
    std::fs::write(dir.join("bare.log"), bare).unwrap();
    for path in ["run", "run/trace.log", "bare.log"] {
        assert_eq!(tables(&wrap(["parse", path]).cwd(dir.path()).run().out()), live, "{path}");
    }
}

#[test]
fn counts_of_every_kernel_are_the_emitters() {
    let dir = Dir::new("emitter");
    wrap(demo(&["-p", "-o", "run", "--echo", "none"], &["--tokens", "5", "--no-load"])).cwd(dir.path()).run();
    let report = dir.json("run/report.json");
    for (program, expected, runs) in [(300, DECODE.expected(300), 5), (327, PREFILL.expected(327), 1)] {
        let programs = report["programs"].as_array().unwrap();
        let one = programs.iter().find(|p| p["list_commands"] == program).expect("the program");
        assert_eq!(one["runs"], runs);
        let got: BTreeMap<u64, u64> = one["kernels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|k| (k["kernel_id"].as_str().unwrap().parse().unwrap(), k["count"].as_u64().unwrap()))
            .collect();
        let wanted: BTreeMap<u64, u64> = expected.iter().map(|(id, (n, _))| (*id, *n * runs)).collect();
        assert_eq!(got, wanted);
    }
}

#[test]
fn a_run_that_dies_in_a_dispatch_names_it() {
    for (at, state) in [("launch", "launching"), ("device", "on the device")] {
        let dir = Dir::new("dies");
        let target = [
            "--tokens",
            "3",
            "--commands",
            "10",
            "--prefill-commands",
            "0",
            "--no-load",
            "--die-in-dispatch",
            "17",
            "--die-at",
            at,
        ];
        let done = wrap(demo(&["-p", "-o", "run", "--echo", "none"], &target)).cwd(dir.path()).run();
        assert_eq!(done.died_of(), Some(9));
        let report = dir.json("run/report.json");
        let open = report["open"].as_array().unwrap();
        assert_eq!(open.len(), 1, "{open:?}");
        assert_eq!(
            (&open[0]["index"], &open[0]["list_commands"], &open[0]["state"]),
            (&6.into(), &10.into(), &state.into())
        );
        assert!(open[0]["open_ns"].is_u64() && open[0]["completed_before"].is_string());
        assert!(
            done.err().contains("\nOPEN: 1 dispatch begun and not finished, in no total\n"),
            "{}",
            done.err()
        );
        let again = wrap(["parse", "--json", "-", "run"]).cwd(dir.path()).run();
        let again: Value = serde_json::from_slice(&again.stdout).unwrap();
        assert_eq!(again["open"], report["open"]);
    }
}

#[test]
fn a_run_that_was_cut_off_is_no_whole_one() {
    let dir = Dir::new("cut-run");
    let target = "--tokens 5 --commands 10 --prefill-commands 0 --no-load --die-in-dispatch 27";
    let target: Vec<&str> = target.split(' ').collect();
    let done = wrap(demo(&["-p", "-o", "run", "--echo", "none"], &target)).cwd(dir.path()).run();
    assert_eq!(done.died_of(), Some(9));
    let report = dir.json("run/report.json");
    let program = &report["programs"][0];
    assert_eq!((program["dispatches"].as_u64(), program["runs"].as_f64()), (Some(26), Some(2.6)));
    assert_eq!((program["runs_begun"].as_u64(), program["steady_runs"].as_u64()), (Some(3), Some(1)));
    // Of the time behind the first run, a part lies in the run that was cut off.
    let time = |name: &str| program[name].as_u64().unwrap();
    assert!(time("steady_mean_ns") + time("first_run_ns") < time("total_ns"), "{program}");
    for text in [": 2.60 runs (3 begun), 26 dispatches, ", "; mean of the 1 whole run behind it "] {
        assert!(done.err().contains(text), "no {text:?} in {}", done.err());
    }
    let csv = wrap(["parse", "run", "--csv", "-", "--report", "/dev/null"]).cwd(dir.path()).run().out();
    assert!(csv.lines().nth(1).is_some_and(|row| row.contains(",2.6,")), "{csv}");
}

#[test]
fn a_killed_wrapper_still_leaves_the_profile() {
    for kind in ["front", "supervisor"] {
        let dir = Dir::new("killed");
        let target = ["--tokens", "100000", "--commands", "50", "--prefill-commands", "0", "--no-load"];
        let running = wrap(demo(&["-p", "-o", "run", "--echo", "none"], &target)).cwd(dir.path()).start();
        common::wait_until("some of the trace", || {
            std::fs::metadata(dir.join("run/trace.log")).is_ok_and(|m| m.len() > 300_000)
        });
        let mark = running.mark().to_owned();
        common::kill(if kind == "front" { running.pid() } else { common::supervisor_of(running.pid()) }, 9);
        running.finish();
        common::wait_until("the end of the tree", || common::marked(&mark).is_empty());
        let report = dir.json("run/report.json");
        assert_eq!(report["partial"]["is"], true);
        assert!(report["programs"][0]["total_ns"].as_u64() > Some(0), "{kind}");
        let text = dir.text("run/report.txt");
        let again = wrap(["parse", "run"]).cwd(dir.path()).run().out();
        let tables = |t: &str| t[t.find("\nWHERE THE TIME IS").expect("tables")..].to_owned();
        assert_eq!(tables(&again), tables(&text), "{kind}");
    }
}

#[test]
fn lines_written_into_each_other_are_joined_and_nothing_foreign_is_lost() {
    let dir = Dir::new("garbled");
    let target =
        ["--tokens", "2", "--commands", "20", "--prefill-commands", "0", "--no-load", "--garble-every", "4"];
    let done = wrap(demo(&["-p", "-o", "run", "--report", "r"], &target)).cwd(dir.path()).run();
    let report = dir.json("run/report.json");
    let c = &report["coverage"];
    assert!(c["rejoined"].as_u64() >= Some(50), "{c}");
    assert_eq!((&c["completed"], &c["broken"], &c["begun"]), (&40.into(), &0.into(), &40.into()), "{c}");
    assert_eq!(report["open"], serde_json::json!([]));
    let log = dir.text("run/trace.log");
    let numbers = |text: &str| text.matches("logger line ").count();
    assert!(numbers(&log) > 50 && numbers(&done.err()) == numbers(&log), "{}", done.err());
    assert!(!done.err().contains("hrx debug serial") && !done.err().contains(" list=main"), "{}", done.err());
}

#[test]
fn narrowing_switches_reach_the_backend() {
    let dir = Dir::new("narrow");
    let options = ["-p", "--programs", "12", "--commands", "2..4", "-o", "run", "--echo", "none"];
    let done = wrap(demo(&options, &QUICK)).cwd(dir.path()).run();
    assert!(done.fact("changed").contains("GGML_HRX_DEBUG_SERIAL_PROGRAM_COMMANDS=12"), "{}", done.err());
    let report = dir.json("run/report.json");
    let programs = report["programs"].as_array().unwrap();
    assert_eq!(programs.len(), 1, "{report}");
    assert_eq!(
        (&programs[0]["list_commands"], &programs[0]["dispatches"]),
        (&12.into(), &(3 * programs[0]["runs_begun"].as_u64().unwrap()).into())
    );
    assert!(report["coverage"]["untraced_waits"].as_u64() > Some(0));
}

#[test]
fn a_failed_wait_is_named_with_its_reason() {
    let dir = Dir::new("failed");
    let target =
        ["--tokens", "2", "--commands", "5", "--prefill-commands", "0", "--no-load", "--fail-sync", "7"];
    let done = wrap(demo(&["-p", "-o", "run"], &target)).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(1));
    let report = dir.json("run/report.json");
    assert_eq!(report["coverage"]["failed_programs"], 1);
    assert!(done.err().contains("failed wait: command-post-dispatch list=main index=1"), "{}", done.err());
    assert_eq!(report["open"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_dispatch_that_failed_is_open_until_then_and_did_not_begin_again() {
    let dir = Dir::new("failed-dispatch");
    let d = "list=main index=0 list_commands=1 ordinal=0 kind=Kernel kernel_id=7 bindings=2";
    let launch = [format!("begin phase=command-dispatch {d}"), format!("failed phase=command-dispatch {d}")];
    let wait = [
        format!("begin phase=command-dispatch {d}"),
        format!("end phase=command-dispatch {d}"),
        format!("sync-begin phase=command-post-dispatch {d}"),
        format!("failed phase=command-post-dispatch {d}"),
    ];
    for events in [&launch[..], &wait] {
        let lines = (1..).zip(events).map(|(n, event)| format!("{n}00 hrx debug serial: {event}\n"));
        std::fs::write(dir.join("t.log"), lines.collect::<String>()).unwrap();
        let done = wrap(["parse", "t.log", "--json", "r.json"]).cwd(dir.path()).run();
        let report = dir.json("r.json");
        let coverage = &report["coverage"];
        assert_eq!(
            (&coverage["failed_dispatches"], &coverage["repeated"]),
            (&1.into(), &0.into()),
            "{coverage}"
        );
        assert_eq!(report["open"][0]["open_ns"], (events.len() as u64 - 1) * 100);
        assert!(done.out().contains("1 dispatch failed, by the backend's own word"), "{}", done.out());
        assert!(
            !done.out().contains("began again") && !done.out().contains("most of 0 waits"),
            "{}",
            done.out()
        );
    }
}

#[test]
fn no_dispatch_fails_a_strict_run_and_a_parse_says_why_it_fails() {
    let dir = Dir::new("strict");
    let strict = |options: &[&str], target: &str| {
        let words =
            [&["--strict", "-o", "run", "--force", "--echo", "none"], options, &["--", target]].concat();
        wrap(words).cwd(dir.path()).run().code()
    };
    assert_eq!(strict(&["-p"], "true"), Some(121));
    let again = wrap(["parse", "run"]).cwd(dir.path()).run();
    assert_eq!(again.code(), Some(1));
    assert!(again.complaint().contains("no dispatch was traced"), "{}", again.err());
    assert_eq!(strict(&[], "true"), Some(0), "nobody asked for a profile");
    assert_eq!(strict(&["-p"], "false"), Some(1), "the target's own status comes first");
}

#[test]
fn bad_ranges_are_named() {
    for (words, holds) in [
        (&["-p", "--commands", "5", "--", "true"][..], "'5' is not a range"),
        (&["-p", "--commands", "9..2", "--", "true"], "'9..2' is not a range"),
        (&["-p", "--programs", "x", "--", "true"], "'x'"),
        (&["--programs", "3", "--", "true"], "--profile"),
    ] {
        let done = wrap(words).run();
        assert_eq!(done.code(), Some(125));
        assert!(done.complaint().contains(holds), "{}", done.err());
    }
}

#[test]
fn the_user_can_override_the_switch() {
    let words = [
        "-p",
        "--env",
        "GGML_HRX_DEBUG_SERIAL_EXECUTION=0",
        "--",
        BIN,
        "demo-target",
        "--tokens",
        "1",
        "--no-load",
    ];
    let done = wrap(words).run();
    assert!(done.err().contains("NO DISPATCH WAS TRACED"), "{}", done.err());
}

#[test]
fn where_most_lines_are_torn_that_is_the_reason_for_no_dispatch() {
    let dir = Dir::new("torn-lines");
    let torn = (1..6).map(|n| format!("{n}00 hrx debug serial: beg{n}hello\n"));
    let list = "900 hrx debug serial: begin phase=command-list list=main\n".to_owned();
    std::fs::write(dir.join("t.log"), torn.chain([list]).collect::<String>()).unwrap();
    let done = wrap(["parse", "t.log"]).cwd(dir.path()).run();
    assert!(
        done.out().contains("; 5 lines of it were torn by another writer's text: --stamp source"),
        "{}",
        done.out()
    );
}
