//! `hrx-wrap parse`: the same report from what a run left, however much that is.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use std::io::Write as _;

use common::{Dir, demo, wait_until, words, wrap};

/// A report without its word on how it was made.
fn same(report: &str) -> String {
    report.split_inclusive('\n').filter(|l| !l.starts_with("hrx-wrap ")).collect()
}

fn parse(dir: &Dir, path: &str) -> common::Done {
    wrap(["parse", path]).cwd(dir.path()).run()
}

#[test]
fn a_live_run_and_a_parse_of_it_agree_byte_for_byte() {
    let targets: [&[&str]; 6] = [
        &["--tokens", "2", "--commands", "5", "--prefill-commands", "3", "--device-us", "0", "--serial=on"],
        &["--lines", "2000", "--no-newline", "--exit-code", "9"],
        &["--lines", "10", "--long-line", "3000000", "--nul"],
        &["--lines", "5", "--die-signal", "6"],
        &["--tokens", "1", "--commands", "9", "--device-us", "0", "--serial=on", "--garble-every", "3"],
        &["--lines", "3", "--fork", "1"],
    ];
    for target in targets {
        let dir = Dir::new("agree");
        wrap(demo(&["-o", "run", "--echo", "none", "--label", "l"], target)).cwd(dir.path()).run();
        let live = dir.text("run/report.txt");
        assert_eq!(same(&parse(&dir, "run").out()), same(&live), "{target:?}");
        assert_eq!(same(&parse(&dir, "run/trace.log").out()), same(&live), "{target:?}, from the log alone");
        let (from, to) = common::pipe();
        let log = std::fs::read(dir.join("run/trace.log")).unwrap();
        let feeding = std::thread::spawn(move || std::fs::File::from(to).write_all(&log));
        let piped = wrap(["parse", "-"]).stdin(from).run();
        feeding.join().unwrap().unwrap();
        assert_eq!(same(&piped.out()), same(&live), "{target:?}, from standard input");
        let json = wrap(["parse", "--json", "-", "run"]).cwd(dir.path()).run();
        let mut parsed: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        let mut kept = dir.json("run/report.json");
        assert_eq!((&kept["made"], &parsed["made"]), (&"live".into(), &"of run".into()));
        kept["made"] = serde_json::Value::Null;
        parsed["made"] = serde_json::Value::Null;
        assert_eq!(kept, parsed);
    }
}

#[test]
fn a_run_that_goes_on_can_be_read() {
    let dir = Dir::new("going");
    let running =
        wrap(demo(&["-o", "run"], &["--numbered", "1000000", "--every-us", "500"])).cwd(dir.path()).start();
    wait_until("lines in the log", || {
        std::fs::read(dir.join("run/trace.log")).is_ok_and(|t| t.split(|b| *b == b'\n').count() > 200)
    });
    for path in ["run", "run/trace.log"] {
        let done = parse(&dir, path);
        assert_eq!(done.code(), Some(0), "{}", done.err());
        assert!(done.out().starts_with("PARTIAL: the run is still going on\n"), "{}", done.out());
        assert_eq!(common::fact(&done.out(), "exit"), "unknown: the record has no end");
    }
    running.signal(15);
    running.finish();
    assert!(parse(&dir, "run").out().starts_with("PARTIAL: the target was killed by signal 15"));
}

#[test]
fn a_trace_cut_anywhere_still_parses_and_the_torn_line_is_counted() {
    let dir = Dir::new("cut");
    wrap(demo(&["-o", "run"], &["--lines", "20", "--line-bytes", "30"])).cwd(dir.path()).run();
    let log = std::fs::read(dir.join("run/trace.log")).unwrap();
    let whole_lines = |text: &[u8]| {
        text.split_inclusive(|b| *b == b'\n').filter(|l| l[0] != b'#' && l.ends_with(b"\n")).count()
    };
    let first = 1 + log.windows(2).position(|w| w[0] == b'\n' && w[1].is_ascii_digit()).unwrap();
    for cut in (first..log.len()).step_by(7) {
        std::fs::write(dir.join("cut.log"), &log[..cut]).unwrap();
        let done = wrap(["parse", "--json", "-", "cut.log"]).cwd(dir.path()).run();
        assert_eq!(done.code(), Some(0), "cut at {cut}: {}", done.err());
        let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(report["coverage"]["lines"], whole_lines(&log[..cut]), "cut at {cut}");
        assert_eq!(report["coverage"]["torn_lines"], u64::from(log[cut - 1] != b'\n'), "cut at {cut}");
        let ended =
            log[..cut].windows(17).any(|w| w == b"# hrx-wrap/1 end ") && !log[..cut].ends_with(b"end ");
        assert!(report["partial"]["is"] == true || ended, "cut at {cut}: {}", report["partial"]);
    }
}

#[test]
fn a_folder_whose_trace_lacks_lines_is_partial_whatever_its_record_says() {
    let dir = Dir::new("lacking");
    wrap(demo(&["-p", "-o", "run", "--echo", "none"], &["--tokens", "2"])).cwd(dir.path()).run();
    let log = dir.bytes("run/trace.log");
    let counted = dir.json("run/run.json")["end"]["counters"]["lines"].as_u64().unwrap();
    let first = |done: &common::Done| done.out().lines().next().unwrap_or_default().to_owned();
    assert!(!first(&parse(&dir, "run")).starts_with("PARTIAL"));
    let half = 1 + log.iter().take(log.len() / 2).rposition(|b| *b == b'\n').unwrap();
    std::fs::write(dir.join("run/trace.log"), &log[..half]).unwrap();
    let there =
        log[..half].split(|b| *b == b'\n').filter(|l| l.first().is_some_and(u8::is_ascii_digit)).count();
    let cut = format!("PARTIAL: the trace is cut: {there} of {counted} lines are in it");
    let done = parse(&dir, "run");
    assert_eq!(first(&done), cut);
    let json = wrap(["parse", "--json", "-", "run"]).cwd(dir.path()).run();
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&report["partial"]["is"], format!("PARTIAL: {}", report["partial"]["why"].as_str().unwrap())),
        (&true.into(), cut)
    );
    // The same where the record says that the disk did not take them.
    let record = dir.json("run/run.json");
    let mut lossy = record.clone();
    lossy["end"]["counters"]["log_lost_lines"] = (counted - there as u64).into();
    std::fs::write(dir.join("run/run.json"), lossy.to_string()).unwrap();
    let missing = counted - there as u64;
    let told = format!("PARTIAL: the trace lacks {missing} lines of {counted}: the disk did not take them");
    assert_eq!(first(&parse(&dir, "run")), told);
    std::fs::write(dir.join("run/run.json"), record.to_string()).unwrap();
    std::fs::remove_file(dir.join("run/trace.log")).unwrap();
    let done = parse(&dir, "run");
    assert_eq!(
        first(&done),
        format!("PARTIAL: the trace is not at hand: none of its {counted} lines is in this report")
    );
    assert!(
        done.out().contains(&format!("NO DISPATCH IS AT HAND: of the {counted} lines none is")),
        "{}",
        done.out()
    );
    // Of a trace without a record the last line alone can tell.
    std::fs::write(dir.join("bare.log"), "100 hello\n200 hel").unwrap();
    assert_eq!(first(&parse(&dir, "bare.log")), "PARTIAL: the trace is cut: it ends inside a line");
}

#[test]
fn a_trace_of_another_tool_is_read_without_a_header() {
    let dir = Dir::new("seed");
    std::fs::write(
        dir.join("seed.log"),
        "100 hrx debug serial: begin phase=command-list list=main\n200 hello\n300 \n",
    )
    .unwrap();
    let done = parse(&dir, "seed.log");
    assert_eq!(done.code(), Some(1), "no dispatch is in it");
    assert!(done.out().starts_with("NO DISPATCH WAS TRACED: 1 line of the serial trace"), "{}", done.out());
    assert!(done.out().contains("a trace without a header"));
    assert!(common::fact(&done.out(), "exit").starts_with("unknown"));
    let json = wrap(["parse", "--json", "-", "seed.log"]).cwd(dir.path()).run();
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&report["coverage"]["lines"], &report["coverage"]["trace_lines"]), (&3.into(), &1.into()));
    for unknown in ["/exit/code", "/exit/status", "/time/start_ns", "/time/duration_ns", "/stalls/count"] {
        assert!(
            report.pointer(unknown).is_some_and(serde_json::Value::is_null),
            "{unknown} is not unknown: {report}"
        );
    }
}

#[test]
fn nothing_to_report_is_1_and_said() {
    let dir = Dir::new("nothing");
    std::fs::write(dir.join("empty"), "").unwrap();
    std::fs::write(dir.join("prose"), "no stamp\nin here\n").unwrap();
    for path in ["empty", "prose"] {
        let done = parse(&dir, path);
        assert_eq!(done.code(), Some(1), "{}", done.out());
        assert!(done.complaint().contains("nothing to report"));
    }
    assert_eq!(common::fact(&parse(&dir, "prose").out(), "unstamped"), "2 lines without a time, not counted");
}

#[test]
fn no_report_takes_the_place_of_what_it_is_made_from() {
    let dir = Dir::new("in-place");
    let done = wrap(demo(&["-o", "run", "--report", "/dev/null"], &["--lines", "3"])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    std::os::unix::fs::symlink("run/trace.log", dir.join("link")).unwrap();
    let files = ["run/trace.log", "run/run.json", "run/gtt.tsv"];
    let before = files.map(|name| dir.text(name));
    for (call, holds) in [
        ("parse run --report run/trace.log", "--report run/trace.log is a file that is read"),
        ("parse link --json run/trace.log", "--json run/trace.log is a file that is read"),
        ("parse run/trace.log --csv link", "--csv link is a file that is read"),
        ("parse run --markdown run/run.json", "--markdown run/run.json is a file that is read"),
        ("parse --samples run/gtt.tsv --html run/gtt.tsv", "--html run/gtt.tsv is a file that is read"),
        ("parse run --timeline run/trace.log", "--timeline run/trace.log is a file that is read"),
        ("parse run --json new --csv ./new", "--csv ./new: --json goes there"),
        ("compare run run --json run/trace.log", "--json run/trace.log is a file that is read"),
    ] {
        let done = wrap(call.split(' ')).cwd(dir.path()).run();
        assert_eq!(done.code(), Some(2), "{call}: {}", done.err());
        assert!(done.complaint().contains(holds), "{call}: {}", done.err());
    }
    assert_eq!(files.map(|name| dir.text(name)), before);
    let twice = wrap(["parse", "run", "--json", "/dev/null", "--csv", "/dev/null"]).cwd(dir.path()).run();
    assert_eq!(twice.code(), Some(0), "{}", twice.err());
}

#[test]
fn what_cannot_be_read_is_2_and_named() {
    let dir = Dir::new("unreadable");
    std::fs::create_dir(dir.join("empty")).unwrap();
    std::fs::create_dir(dir.join("bad")).unwrap();
    std::fs::write(dir.join("bad/run.json"), "{ not json").unwrap();
    std::fs::create_dir(dir.join("newer")).unwrap();
    std::fs::write(dir.join("newer/run.json"), r#"{"schema": "hrx-wrap/99"}"#).unwrap();
    for (path, holds) in [
        ("absent", "cannot read absent"),
        ("empty", "not the folder of a run"),
        ("bad", "run.json is not JSON"),
        ("newer", "hrx-wrap/99: a later version of hrx-wrap is needed to read it"),
    ] {
        let done = parse(&dir, path);
        assert_eq!(done.code(), Some(2), "{path}");
        assert!(done.complaint().contains(holds), "{path}: {}", done.err());
    }
}

#[test]
fn a_folder_of_which_only_the_trace_is_left_is_read_from_its_header() {
    let dir = Dir::new("only-trace");
    wrap(words(&["-o", "run"], &["sh", "-c", "echo x >&2; exit 5"])).cwd(dir.path()).run();
    let live = dir.text("run/report.txt");
    for name in ["run.json", "report.txt", "report.json"] {
        std::fs::remove_file(dir.join("run").join(name)).unwrap();
    }
    assert_eq!(same(&parse(&dir, "run").out()), same(&live));
}

#[test]
fn memory_does_not_grow_with_the_run() {
    // The peak of this program while it keeps a trace of a few lines and of many.
    let peak = |lines: &str| {
        let dir = Dir::new("memory");
        let running =
            wrap(demo(&["-o", "run", "--echo", "none"], &["--lines", lines, "--sleep-ms", "600000"]))
                .cwd(dir.path())
                .start();
        let supervisor = common::supervisor_of(running.pid());
        let wanted = format!(" line {:06} ", lines.parse::<u64>().unwrap());
        wait_until("the last line", || {
            let end = end_of(&dir.join("run/trace.log"));
            end.windows(wanted.len()).any(|w| w == wanted.as_bytes())
        });
        let kib: u64 = common::status_field(supervisor, "VmHWM").trim_end_matches(" kB").parse().unwrap();
        // The ring is memory of a fixed size; how much of it was touched depends on the length until it went around once.
        let shared: u64 =
            common::status_field(supervisor, "RssShmem").trim_end_matches(" kB").parse().unwrap();
        running.signal(9);
        let mark = running.mark().to_owned();
        running.finish();
        wait_until("the end of the tree", || common::marked(&mark).is_empty());
        kib - shared
    };
    let (few, many) = (peak("1000"), peak("300000"));
    assert!(many < few + 3_000, "{few} KiB for 1,000 lines, {many} KiB for 300,000");
}

/// The last few hundred bytes of a file: the rest of a long one need not be read again and again.
fn end_of(path: &std::path::Path) -> Vec<u8> {
    use std::os::unix::fs::FileExt as _;
    let Ok(file) = std::fs::File::open(path) else { return Vec::new() };
    let len = file.metadata().unwrap().len();
    let from = len.saturating_sub(400);
    let mut end = vec![0; (len - from) as usize];
    file.read_exact_at(&mut end, from).unwrap();
    end
}

#[test]
fn a_header_that_is_cut_is_still_known_as_ours() {
    let dir = Dir::new("cut-header");
    wrap(words(&["-o", "run"], &["true"])).cwd(dir.path()).run();
    let log = dir.text("run/trace.log");
    let second = log.find('\n').unwrap() + 1;
    let end = log.find("# hrx-wrap/1 pid ").unwrap();
    for cut in (second..end).step_by(13) {
        std::fs::write(dir.join("cut.log"), &log[..cut]).unwrap();
        let done = parse(&dir, "cut.log");
        assert_eq!(done.code(), Some(0), "cut at {cut}: {}", done.err());
        let first = "PARTIAL: the run was cut off before its target was known to be started\n";
        assert!(done.out().starts_with(first), "cut at {cut}: {}", done.out());
    }
}

#[test]
fn a_trace_of_a_newer_version_is_refused_by_name() {
    let dir = Dir::new("newer-trace");
    std::fs::write(dir.join("t.log"), "# hrx-wrap/2 pid 4\n5 text\n").unwrap();
    let done = parse(&dir, "t.log");
    assert_eq!(done.code(), Some(2), "{}", done.out());
    assert!(
        done.complaint().contains("hrx-wrap/2: a later version of hrx-wrap is needed to read it"),
        "{}",
        done.err()
    );
}
