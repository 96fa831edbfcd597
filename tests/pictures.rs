//! What is made to be looked at: the page and the timeline of real runs, live and parsed, whole, killed and empty.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use common::traces::Run;
use common::{BIN, Dir, demo, wrap};
use serde_json::Value;

const TOP: &str = env!("CARGO_MANIFEST_DIR");

/// A Python with Perfetto's own protobuf classes. Made when it is not there, so that `cargo test` alone works on a fresh
/// clone; it stands beside llama.cpp.
fn perfetto() -> &'static Path {
    static READY: LazyLock<PathBuf> = LazyLock::new(|| {
        let given = std::env::var_os("HRX_WRAP_LLAMA").map(PathBuf::from);
        let folder = given.unwrap_or_else(|| Path::new(TOP).join("target/llama"));
        let python = folder.join("perfetto/bin/python");
        if !folder.join("perfetto.stamp").exists() || !python.exists() {
            let mut setup = Command::new("python3");
            setup.arg(Path::new(TOP).join("tests/timeline/setup.py"));
            setup.env("CARGO_TARGET_DIR", folder.parent().expect("a folder below another"));
            let status = setup.status().expect("python3, for tests/timeline/setup.py");
            assert!(
                status.success() && python.exists(),
                "tests/timeline/setup.py did not make {}",
                python.display()
            );
        }
        python
    });
    &READY
}

/// What Perfetto's classes find in a timeline; its totals are compared with the report's there.
#[track_caller]
fn checked(dir: &Dir, timeline: &str, report: &str) -> Value {
    let out = Command::new(perfetto())
        .arg(Path::new(TOP).join("tests/timeline/check.py"))
        .args([dir.join(timeline), dir.join(report)])
        .output()
        .expect("a Python");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

fn run(dir: &Dir, options: &[&str], target: &[&str]) {
    wrap(demo(&[&["-o", "run", "--echo", "none"], options].concat(), target)).cwd(dir.path()).run();
}

fn parse(dir: &Dir, words: &[&str]) -> common::Done {
    wrap(std::iter::once("parse").chain(words.iter().copied())).cwd(dir.path()).run()
}

const QUICK: [&str; 6] = ["--tokens", "3", "--commands", "6", "--prefill-commands", "4"];

#[test]
fn perfetto_reads_the_timeline_of_a_run_and_its_sums_are_the_reports() {
    let dir = Dir::new("timeline");
    run(&dir, &["-p"], &QUICK);
    let found = checked(&dir, "run/timeline.pftrace", "run/report.json");
    assert_eq!((&found["tracks"]["device"], &found["tracks"]["launches"]), (&22.into(), &22.into()));
    assert_eq!(found["tracks"]["programs"], 4);
    assert_eq!((&found["trimmed"], &found["open"]), (&false.into(), &serde_json::json!([])));
    let marks = found["marks"].as_array().unwrap();
    assert_eq!((&marks[0], marks.last().unwrap()), (&"start".into(), &"the target's end: exited".into()));
}

#[test]
fn a_killed_run_has_an_open_ended_span_and_says_what_came() {
    let dir = Dir::new("killed");
    run(&dir, &["-p"], &[&QUICK[..], &["--die-in-dispatch", "9"]].concat());
    let found = checked(&dir, "run/timeline.pftrace", "run/report.json");
    let open = found["open"].as_array().unwrap();
    assert!(open.iter().any(|o| o[0] == "device") && open.iter().any(|o| o[0] == "programs"), "{found}");
    let page = dir.text("run/report.html");
    assert!(page.contains("Not the whole story: the target was killed by signal 9"));
    assert!(page.contains("1 dispatch was begun and not finished, in no total."));
}

#[test]
fn a_timeout_a_stop_and_a_signal_are_marked() {
    let dir = Dir::new("marks");
    let options = ["-t", "300ms", "-k", "5s"];
    run(&dir, &options, &["--lines", "3", "--sleep-ms", "60000"]);
    let found = checked(&dir, "run/timeline.pftrace", "run/report.json");
    let marks = found["marks"].to_string();
    assert!(
        marks.contains("timeout of 300.000 ms") && marks.contains("the target's end: timeout"),
        "{marks}"
    );
}

#[test]
fn a_target_that_is_killed_behind_its_timeout_has_both_marked() {
    let dir = Dir::new("killed-late");
    let target = ["--tokens", "100000", "--ignore-term", "--ready"];
    run(&dir, &["-p", "-t", "300ms", "-k", "100ms"], &target);
    assert_eq!(dir.json("run/run.json")["end"]["exit"]["cause"], "killed-after-grace");
    let found = checked(&dir, "run/timeline.pftrace", "run/report.json");
    let marks = found["marks"].to_string();
    assert!(marks.contains("timeout of 300.000 ms") && marks.contains("killed-after-grace"), "{marks}");
}

#[test]
fn a_long_timeline_is_trimmed_and_says_so_inside() {
    let dir = Dir::new("trimmed");
    Run { tokens: 100, ..Run::default() }.write(&dir.join("t.log"));
    let words = ["t.log", "--json", "r.json", "--report", "/dev/null", "--timeline", "t.pftrace"];
    assert_eq!(parse(&dir, &[&words[..], &["--timeline-max", "2000"]].concat()).code(), Some(0));
    let found = checked(&dir, "t.pftrace", "r.json");
    assert_eq!(found["trimmed"], true);
    assert!(found["spans"].as_u64().unwrap() <= 2_000, "{found}");
    assert!(found["marks"].to_string().contains(" of 3000 dispatches are drawn"), "{found}");
    parse(&dir, &words);
    let whole = checked(&dir, "t.pftrace", "r.json");
    assert_eq!((&whole["trimmed"], &whole["tracks"]["device"]), (&false.into(), &3000.into()));
}

#[test]
fn lines_of_two_contexts_and_damaged_lines_still_make_a_timeline() {
    for target in
        [&["--garble-every", "3"][..], &["--garble"], &["--init-commands", "3"], &["--fail-sync", "5"]]
    {
        let dir = Dir::new("odd");
        run(&dir, &["-p"], &[&QUICK[..], target].concat());
        checked(&dir, "run/timeline.pftrace", "run/report.json");
        parse(&dir, &["run", "--report", "/dev/null", "--timeline", "again.pftrace"]);
        assert!(dir.bytes("run/timeline.pftrace") == dir.bytes("again.pftrace"), "{target:?}");
    }
}

#[test]
fn a_trace_that_can_be_read_but_once_makes_the_same_timeline() {
    let dir = Dir::new("once");
    Run { tokens: 20, killed: true, ..Run::default() }.write(&dir.join("t.log"));
    let words = |trace, timeline| [trace, "--report", "/dev/null", "--timeline", timeline];
    assert_eq!(parse(&dir, &words("t.log", "file.pftrace")).code(), Some(0));
    for (trace, timeline) in [("-", "dash.pftrace"), ("/dev/stdin", "pipe.pftrace")] {
        let mut cat = Command::new("cat").arg(dir.join("t.log")).stdout(Stdio::piped()).spawn().unwrap();
        let setup = wrap(std::iter::once("parse").chain(words(trace, timeline))).cwd(dir.path());
        let done = setup.stdin(cat.stdout.take().unwrap()).run();
        cat.wait().unwrap();
        assert_eq!(done.code(), Some(0), "{}", done.err());
        assert!(dir.bytes("file.pftrace") == dir.bytes(timeline), "{trace}");
    }
    assert!(dir.bytes("file.pftrace").len() > 10_000);
}

#[test]
fn chromes_json_has_the_same_spans() {
    let dir = Dir::new("chrome");
    Run { killed: true, ..Run::default() }.write(&dir.join("t.log"));
    let words = ["t.log", "--report", "/dev/null", "--json", "r.json", "--timeline"];
    for file in ["t.json", "t.pftrace"] {
        assert_eq!(parse(&dir, &[&words[..], &[file]].concat()).code(), Some(0));
    }
    let found = checked(&dir, "t.pftrace", "r.json");
    let events = dir.json("t.json")["traceEvents"].as_array().unwrap().clone();
    let of = |ph: &str| events.iter().filter(|e| e["ph"] == ph).count() as u64;
    assert_eq!(
        (of("X"), of("B")),
        (found["spans"].as_u64().unwrap(), found["open"].as_array().unwrap().len() as u64)
    );
    let device: f64 = events
        .iter()
        .filter(|e| e["ph"] == "X" && e["tid"] == 17)
        .map(|e| e["dur"].as_f64().unwrap() * 1_000.0)
        .sum();
    assert!((device - found["device_ns"].as_f64().unwrap()).abs() < 1.0, "{device}");
    let named = events.iter().find(|e| e["name"] == "unmapped id 41").unwrap();
    assert_eq!((&named["args"]["kernel_id"], &named["args"]["bindings"]), (&"41".into(), &4.into()));
}

#[test]
fn a_live_run_and_a_parse_of_it_make_the_same_pictures() {
    let dir = Dir::new("same");
    run(&dir, &["-p", "--html", "live.html", "--timeline", "live.pftrace"], &QUICK);
    let page = |name: &str| -> String {
        // What differs is the word on how it was made, in its two places.
        dir.text(name).replace("report live", "report").replace("report of run", "report")
    };
    let done = parse(&dir, &["run", "--html", "again.html", "--timeline", "again.pftrace"]);
    assert_eq!(done.code(), Some(0), "{}", done.err());
    assert_eq!(page("run/report.html"), page("again.html"));
    assert_eq!(dir.text("live.html"), dir.text("run/report.html"));
    for name in ["run/timeline.pftrace", "live.pftrace"] {
        assert!(dir.bytes(name) == dir.bytes("again.pftrace"), "{name}");
    }
    assert!(dir.text("again.html").len() < 1 << 20, "a page is under 1 MiB");
}

#[test]
fn a_page_says_what_it_does_not_know() {
    let dir = Dir::new("unknown");
    run(&dir, &[], &["--lines", "3"]);
    let page = dir.text("run/report.html");
    for said in [
        "not one sample that is at hand has an amount of GTT",
        "No profile: it was not asked for",
        "The target exited with 0",
    ] {
        assert!(page.contains(said), "{said}");
    }
    std::fs::write(dir.join("bare.log"), "100 hello\n").unwrap();
    parse(&dir, &["bare.log", "--html", "bare.html"]);
    let page = dir.text("bare.html");
    assert!(page.contains("this run has no samples of GPU memory"));
    assert!(page.contains("No dispatch was traced") && page.contains("a trace without a header"), "{page}");
    run_asked_without_dispatches(&dir);
}

fn run_asked_without_dispatches(dir: &Dir) {
    let words = ["-p", "-o", "asked", "--echo", "none", "--", BIN, "demo-target", "--lines", "3"];
    wrap(words).cwd(dir.path()).run();
    assert!(dir.text("asked/report.html").contains("No dispatch was traced"));
    checked(dir, "asked/timeline.pftrace", "asked/report.json");
}

#[test]
fn a_timeline_without_a_kept_trace_is_refused_with_the_remedy() {
    let dir = Dir::new("refused");
    for (options, told) in [
        (&["--timeline", "t.pftrace"][..], "keep it, with --out DIR or --log FILE"),
        (&["--timeline", "-", "--log", "l"], "goes to a file"),
        (&["--timeline", "t.pftrace", "--log", "/dev/null"], "is no file"),
    ] {
        let done = wrap(demo(options, &["--lines", "1"])).cwd(dir.path()).run();
        assert_eq!(done.code(), Some(125), "{options:?}");
        assert!(done.complaint().contains(told), "{options:?}: {}", done.err());
        assert!(!dir.join("t.pftrace").exists(), "nothing is left of it");
    }
    let done = parse(&dir, &["l", "--timeline", "-"]);
    assert_eq!((done.code(), done.complaint().contains("--timeline goes to a file")), (Some(2), true));
    let done = wrap(demo(&["--log", "l", "--timeline", "t.pftrace", "-p", "--report", "r"], &QUICK))
        .cwd(dir.path())
        .run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    parse(&dir, &["l", "--json", "r.json"]);
    checked(&dir, "t.pftrace", "r.json");
    // What goes wrong with a picture costs no other report.
    let done = parse(&dir, &["l", "--timeline", "absent/t.pftrace"]);
    assert_eq!(done.code(), Some(2));
    assert!(done.complaint().contains("cannot write absent/t.pftrace"), "{}", done.err());
    assert!(done.out().contains("the target exited with 0"), "{}", done.out());
}

#[test]
fn every_report_is_made_again_from_an_older_record_and_a_newer_one_is_refused_by_version() {
    let dir = Dir::new("ages");
    run(&dir, &["-p"], &QUICK);
    // The first version's record: what came since is not in it, and what nobody knows yet is left out.
    let mut record = dir.json("run/run.json");
    let fields = record.as_object_mut().unwrap();
    for later in ["profile", "label", "binary", "repositories", "stdio", "limits"] {
        fields.remove(later);
    }
    fields.insert("of_a_later_version".into(), 7.into());
    std::fs::write(dir.join("run/run.json"), record.to_string()).unwrap();
    for name in ["report.txt", "report.json", "report.html", "timeline.pftrace"] {
        std::fs::remove_file(dir.join(&format!("run/{name}"))).unwrap();
    }
    let words =
        ["run", "--json", "r.json", "--html", "p.html", "--timeline", "t.pftrace", "--report", "r.txt"];
    assert_eq!(parse(&dir, &words).code(), Some(0));
    checked(&dir, "t.pftrace", "r.json");
    assert!(dir.text("p.html").contains("Findings") && dir.text("r.txt").contains("WHERE THE TIME IS"));
    record["schema"] = "hrx-wrap/2".into();
    record["tool"]["version"] = "9.8.7".into();
    std::fs::write(dir.join("run/run.json"), record.to_string()).unwrap();
    for words in [&["parse", "run"][..], &["compare", "run", "run"]] {
        let done = wrap(words).cwd(dir.path()).run();
        assert_eq!(done.code(), Some(2));
        assert!(done.complaint().contains("hrx-wrap 9.8.7 or later is needed"), "{}", done.err());
    }
}

/// What llama.cpp prints of a model's buffers.
const BUFFERS: [&str; 5] = [
    "llama_model_loader: loaded meta data with 20 key-value pairs and 398 tensors from m.gguf (version GGUF V3 (latest))",
    "load_tensors:         HRX0 model buffer size =  1000.00 MiB",
    "llama_context: constructing llama_context",
    "llama_kv_cache:       HRX0 KV buffer size =    36.00 MiB",
    "hrx host-weight-cache: packed resident=300MiB weights=38",
];

#[test]
fn memory_is_a_curve_with_peak_and_steady_a_bar_of_its_parts_and_counters_of_the_timeline() {
    let dir = Dir::new("memory");
    let gtt = [Some(2), Some(900), None, Some(1_400), Some(1_350), Some(1_350), Some(1_350), Some(60)];
    Run { log: BUFFERS.to_vec(), ..Run::default() }.folder(&dir.join("m"), &gtt);
    let words =
        ["m", "--html", "p.html", "--json", "r.json", "--timeline", "t.pftrace", "--report", "/dev/null"];
    assert_eq!(parse(&dir, &words).code(), Some(0));
    let page = dir.text("p.html");
    for said in [
        "aria-label=\"GTT over time\"",
        "<title>peak 1400.0 MiB</title>",
        "loader&#39;s weights (HRX0)</title>".split('<').next().unwrap(),
        "packed copies, 38 weights: 300.0 MiB",
        "Packed copies: 300.0 MiB, 30.0 % of the loader&#39;s weights",
        "Unattributed GTT: 4.6 % of the peak",
    ] {
        assert!(page.contains(said), "{said}");
    }
    // The curve has two pieces: it breaks where nothing is known.
    let curve = page.split("class=\"curve\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!((curve.matches('M').count(), curve.matches('L').count()), (2, 5), "{curve}");
    let found = checked(&dir, "t.pftrace", "r.json");
    assert_eq!((&found["counters"]["GTT"], &found["counters"]["RSS"]), (&7.into(), &8.into()));
    assert!(found["tracks"]["phases"].as_u64().unwrap() >= 2, "{found}");
}
