//! The command line: bad input gets one line that names the thing and the remedy, and nothing is made.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use common::{BIN, Dir, demo, words, wrap};

/// A bad call: its status, and what its one line has to hold.
#[track_caller]
fn refused(call: &[&str], status: i32, holds: &[&str]) {
    let dir = Dir::new("bad");
    let done = wrap(call).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(status), "{call:?}: {}", done.err());
    let line = done.complaint();
    for text in holds {
        assert!(line.contains(text), "{call:?}: {line:?} lacks {text:?}");
    }
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(left.is_empty(), "{call:?} left {left:?}");
}

#[test]
fn unknown_options_are_named() {
    refused(&["--bogus", "--", "true"], 125, &["'--bogus'", "--help"]);
    refused(&["-Z", "--", "true"], 125, &["'-Z'", "--help"]);
    refused(&["run", "--bogus", "--", "true"], 125, &["'--bogus'"]);
    refused(&["--tiemout", "3", "--", "true"], 125, &["'--tiemout'", "--timeout"]);
    refused(&["parse", "--bogus", "x"], 2, &["'--bogus'"]);
}

#[test]
fn a_missing_command_is_named() {
    for call in [&["--"][..], &["run", "--"], &["run"], &["-o", "run"], &["-t", "5", "--"]] {
        refused(call, 125, &["no command", "'--'"]);
    }
}

#[test]
fn forgotten_dashes_are_named() {
    refused(&["llama-bench", "-m", "M.gguf"], 125, &["'llama-bench'", "hrx-wrap -- llama-bench"]);
    refused(&["-o", "run", "llama-bench", "-m", "M.gguf"], 125, &["'llama-bench'", "'--'"]);
    refused(&["run", "ls"], 125, &["'ls'", "'--'"]);
    refused(&["run", "-t", "5", "ls", "--", "x"], 125, &["'ls'", "'--'"]);
}

#[test]
fn bad_durations_and_signals_are_named() {
    refused(&["-t", "soon", "--", "true"], 125, &["'soon'", "15m"]);
    refused(&["-k", "-1", "--", "true"], 125, &["-1"]);
    refused(&["--signal", "SIGFOO", "--", "true"], 125, &["'SIGFOO'", "TERM"]);
    refused(&["--stdio", "tty", "--", "true"], 125, &["'tty'", "pty"]);
    refused(&["--echo", "some", "--", "true"], 125, &["'some'", "rest"]);
    refused(&["--env", "NOVALUE", "--", "true"], 125, &["'NOVALUE'", "NAME=VALUE"]);
    refused(&["-t"], 125, &["--timeout"]);
    refused(&["--force", "--", "true"], 125, &["--out"]);
    refused(&["demo", "--tokens", "x"], 2, &["'x'", "--tokens", "whole number"]);
}

#[test]
fn words_of_the_other_commands_are_named() {
    refused(&["-o", "x", "parse", "y"], 125, &["hrx-wrap parse [OPTIONS]"]);
    refused(&["parse"], 2, &["<PATH>", "hrx-wrap parse --help"]);
    refused(&["parse", "a", "b"], 2, &["'b'", "hrx-wrap parse --help"]);
    refused(&["self-test", "x"], 2, &["'x'"]);
}

#[test]
fn the_last_of_an_option_given_twice_counts_and_no_time_is_no_limit() {
    let done = wrap(words(&["-t", "1ms", "-t", "0"], &["sh", "-c", "exit 4"])).run();
    assert_eq!(done.code(), Some(4), "{}", done.err());
}

#[test]
fn bad_places_are_named_and_nothing_is_started() {
    let dir = Dir::new("places");
    std::fs::create_dir(dir.join("full")).unwrap();
    std::fs::write(dir.join("full/mine.txt"), "mine").unwrap();
    std::fs::write(dir.join("file"), "").unwrap();
    let started = dir.join("started");
    let target = ["touch", started.to_str().unwrap()];
    let cases: [(&[&str], &[&str]); 12] = [
        (&["-o", "full"], &["full is not empty", "--force"]),
        (&["-o", "full", "--force"], &["mine.txt", "new folder"]),
        (&["-o", "file"], &["run folder file"]),
        (&["-o", "file/below"], &["file/below"]),
        (&["--log", "absent/log"], &["absent/log", "choose another"]),
        (&["--report", "full"], &["cannot write full"]),
        (&["--json", "absent/json"], &["absent/json"]),
        (&["--log", "x", "--report", "./x"], &["--report ./x", "--log goes there", "a file of its own"]),
        (&["--json", "file", "--html", "full/../file"], &["--html full/../file", "--json goes there"]),
        (&["--log", "x", "--timeline", "x"], &["--timeline x", "--log goes there"]),
        (
            &["--report", "-", "--json", "/dev/stdout"],
            &["--json -", "--report goes to standard output", "a file"],
        ),
        (&["-p", "--manifests", "nowhere"], &["--manifests nowhere", "name a manifest"]),
    ];
    for (options, holds) in cases {
        let done = wrap(words(options, &target)).cwd(dir.path()).run();
        assert_eq!(done.code(), Some(125), "{options:?}: {}", done.err());
        let line = done.complaint();
        assert!(holds.iter().all(|t| line.contains(t)), "{options:?}: {line}");
    }
    assert!(!started.exists());
    let mut left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    left.sort();
    assert_eq!(left, ["file", "full"], "nothing was made");
    assert_eq!(dir.text("full/mine.txt"), "mine");
}

#[test]
fn one_report_goes_to_standard_output_and_no_two() {
    let dir = Dir::new("stdout");
    wrap(words(&["-o", "run"], &["true"])).cwd(dir.path()).run();
    for command in [
        "parse run --csv - --json -",
        "parse run --report - --html -",
        "compare run run --json - --markdown -",
    ] {
        let done = wrap(command.split(' ')).cwd(dir.path()).run();
        assert_eq!((done.code(), done.out().as_str()), (Some(2), ""), "{command}: {}", done.err());
        assert!(
            done.complaint().contains("goes to standard output; give one of them a file"),
            "{}",
            done.err()
        );
    }
    for command in ["parse run --manifests nowhere", "compare run run --manifests nowhere"] {
        let done = wrap(command.split(' ')).cwd(dir.path()).run();
        assert_eq!(done.code(), Some(2), "{command}");
        assert!(done.complaint().contains("--manifests nowhere"), "{command}: {}", done.err());
    }
}

#[test]
fn a_folder_that_is_not_writable_is_named() {
    let dir = Dir::new("unwritable");
    let done = wrap(words(&["-o", "/proc/hrx-wrap-run"], &["true"])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(125));
    assert!(done.complaint().contains("cannot make the run folder /proc/hrx-wrap-run"), "{}", done.err());
}

#[test]
fn force_replaces_a_run_of_ours_and_nothing_else() {
    let dir = Dir::new("force");
    let run = |options: &[&str], code: &str| {
        let script = format!("exit {code}");
        wrap(words(options, &["sh", "-c", &script])).cwd(dir.path()).run()
    };
    assert_eq!(run(&["-o", "run"], "1").code(), Some(1));
    assert_eq!(run(&["-o", "run"], "2").code(), Some(125), "not without --force");
    assert_eq!(dir.json("run/run.json")["end"]["status"], 1);
    assert_eq!(run(&["-o", "run", "--force"], "3").code(), Some(3));
    assert_eq!(dir.json("run/run.json")["end"]["status"], 3);
    std::fs::write(dir.join("run/notes.md"), "mine").unwrap();
    assert_eq!(run(&["-o", "run", "--force"], "4").code(), Some(125));
    std::fs::remove_file(dir.join("run/notes.md")).unwrap();
    std::fs::remove_file(dir.join("run/report.txt")).unwrap();
    std::fs::create_dir(dir.join("run/report.txt")).unwrap();
    let done = run(&["-o", "run", "--force"], "5");
    assert_eq!(done.code(), Some(125));
    assert!(done.complaint().contains("report.txt, which is a folder"), "{}", done.err());
    assert_eq!(dir.json("run/run.json")["end"]["status"], 3, "nothing of it is gone");
}

#[test]
fn force_does_not_replace_a_run_that_goes_on() {
    let dir = Dir::new("going-on");
    let running = wrap(words(&["-o", "run"], &["sleep", "600"])).cwd(dir.path()).start();
    common::target_of(running.pid());
    let done = wrap(words(&["-o", "run", "--force"], &["true"])).cwd(dir.path()).run();
    assert!(done.complaint().contains("still going on"), "{}", done.err());
    running.signal(15);
    running.finish();
}

#[test]
fn patterns_in_the_folders_name_are_filled_in() {
    let dir = Dir::new("patterns");
    let done = wrap(words(&["-o", "runs/%n-%p-100%%-%t-%h"], &["true"])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let name = std::fs::read_dir(dir.join("runs")).unwrap().flatten().next().unwrap().file_name();
    let name = name.to_string_lossy().into_owned();
    assert!(name.starts_with("true-") && name.contains("-100%-20") && name.contains("Z-"), "{name}");
    assert!(!name.contains("%n") && !name.contains("%t"));
}

#[test]
fn reports_go_where_the_user_says() {
    let dir = Dir::new("where");
    let target = ["sh", "-c", "echo out; echo err >&2"];
    let file = wrap(words(&["--report", "r.txt", "--json", "r.json"], &target)).cwd(dir.path()).run();
    assert_eq!((file.out(), file.err()), ("out\n".to_owned(), "err\n".to_owned()));
    assert!(dir.text("r.txt").contains("\nexit        the target exited with 0; our status is 0\n"));
    assert_eq!(dir.json("r.json")["exit"]["code"], 0);
    let stdout = wrap(words(&["--json", "-"], &["true"])).cwd(dir.path()).run();
    let report: serde_json::Value = serde_json::from_slice(&stdout.stdout).expect("JSON on stdout alone");
    assert_eq!(report["schema"], "hrx-wrap/1");
    let text = wrap(words(&["--report", "-"], &["true"])).cwd(dir.path()).run();
    assert!(text.out().starts_with("hrx-wrap ") && text.err().is_empty());
}

#[test]
fn a_report_into_a_pipe_of_the_shells_arrives() {
    let dir = Dir::new("substitution");
    let script = format!(
        "{BIN} --json >(cat >json) --report >(cat >text) -- true; wait; while [ ! -s json ] || [ ! -s text ]; do :; done"
    );
    assert_eq!(common::through("bash", ["-c", &script]).cwd(dir.path()).run().code(), Some(0));
    assert!(dir.text("text").contains("the target exited with 0"));
}

#[test]
fn variables_and_label_are_set_recorded_and_reported() {
    let dir = Dir::new("env");
    let options = [
        "--env",
        "HRX_A=1 2",
        "--env",
        "HRX_A=3",
        "--env",
        "HRX_B=",
        "--label",
        "my \x1b[31mrun",
        "-o",
        "run",
    ];
    let done = wrap(words(&options, &["sh", "-c", "echo \"[$HRX_A] [$HRX_B] [$HRX_C]\""]))
        .env("HRX_A", "caller's")
        .env("HRX_C", "kept")
        .cwd(dir.path())
        .run();
    assert_eq!(done.out(), "[3] [] [kept]\n");
    assert!(done.fact("changed").starts_with("set 'HRX_A=1 2' "), "{}", done.err());
    let run = dir.json("run/run.json");
    assert_eq!(run["label"], "my \\u{1b}[31mrun");
    assert!(!done.err().contains('\x1b'), "nothing reaches a terminal raw");
}

#[test]
fn without_options_nothing_is_changed_for_the_target() {
    let done = wrap(words(&[], &["true"])).run();
    assert_eq!(done.fact("changed"), "nothing");
}

#[test]
fn the_header_names_the_program_and_its_provenance() {
    let dir = Dir::new("header");
    let done = wrap(words(&["-o", "run"], &[BIN, "demo-target", "--tokens", "1", "--device-us", "0"]))
        .cwd(dir.path())
        .run();
    let run = dir.json("run/run.json");
    let size = std::fs::metadata(BIN).unwrap().len();
    let sum = std::process::Command::new("sha256sum").arg(BIN).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap().split(' ').next().unwrap().to_owned();
    assert_eq!((&run["binary"]["size_bytes"], &run["binary"]["sha256"]), (&size.into(), &sum.clone().into()));
    assert!(run["binary"]["build_id"].as_str().is_some_and(|id| id.len() == 40));
    assert!(done.err().contains(&format!("SHA-256 {sum}")));
    assert!(done.fact("build").starts_with("build: "), "{}", done.err());
    assert!(done.fact("clock").starts_with("CLOCK_MONOTONIC, resolution 1 ns, started 20"));
    assert!(done.fact("host").contains(", Linux "));
    assert!(done.fact("stamps").contains("at read"));
    assert_eq!(run["tool"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn repositories_of_program_and_folder_are_named_with_their_state() {
    let dir = Dir::new("git");
    let git = |words: &[&str]| {
        let base = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
        let out = std::process::Command::new("git")
            .args(base)
            .args(words)
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "-q"]);
    dir.script("tool", "#!/bin/sh\nexit 0\n");
    git(&["add", "tool"]);
    git(&["commit", "-q", "-m", "x"]);
    let commit = git(&["rev-parse", "HEAD"]);
    let look = || wrap(words(&["--json", "/dev/stdout"], &["./tool"])).cwd(dir.path()).run().out();
    let report: serde_json::Value = serde_json::from_str(&look()).unwrap();
    let repositories = report["run"]["repositories"].as_array().unwrap().clone();
    assert_eq!(repositories.iter().map(|r| r["of"].as_str().unwrap()).collect::<Vec<_>>(), ["binary", "cwd"]);
    assert!(
        repositories.iter().all(|r| r["commit"] == commit.as_str() && r["dirty"] == false),
        "{repositories:?}"
    );
    std::fs::write(dir.join("tool"), "#!/bin/sh\nexit 0 # changed\n").unwrap();
    let report: serde_json::Value = serde_json::from_str(&look()).unwrap();
    assert_eq!(report["run"]["repositories"][0]["dirty"], true);
}

#[test]
fn help_and_version_go_to_stdout_and_say_what_a_user_needs() {
    let help = wrap(["--help"]).run();
    assert_eq!(help.code(), Some(0));
    for text in [
        "gpu-hold -l LANE -t 15 -- hrx-wrap",
        "'<ns> <the line, unchanged>'",
        "124 the timeout ended it",
        "--kill-after",
    ] {
        assert!(help.out().replace('\n', " ").contains(text), "help lacks {text:?}");
    }
    assert!(wrap(["--version"]).run().out().starts_with("hrx-wrap "));
}

#[test]
fn the_self_test_passes_and_says_what_it_checked() {
    let done = wrap(["self-test"]).run();
    assert_eq!(done.code(), Some(0), "{}{}", done.out(), done.err());
    for check in ["ring", "lines", "kernel ids", "profile: sums", "spawn and reap", "killed front"] {
        assert!(done.out().lines().any(|l| l.starts_with("ok ") && l.contains(check)), "{}", done.out());
    }
    assert!(done.out().ends_with("11 passed, 0 failed\n"));
}

#[test]
fn the_demo_shows_a_whole_run_and_says_where_it_is() {
    let dir = Dir::new("demo");
    let done = wrap(["demo", "-o", "run", "--tokens", "2"]).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    assert!(done.out().contains("| model"), "the target's own table: {}", done.out());
    assert!(done.err().contains("HRX0 model buffer size"));
    assert!(
        done.err().ends_with("the run is kept in run: see it again with hrx-wrap parse run\n"),
        "{}",
        done.err()
    );
    assert!(dir.json("run/report.json")["coverage"]["trace_lines"].as_u64() > Some(3_000));
    let again = wrap(["parse", "run"]).cwd(dir.path()).run();
    assert_eq!(again.out().replace("report of run\n", "report live\n"), dir.text("run/report.txt"));
    let small = wrap(demo(&[], &["--lines", "1"])).run();
    assert_eq!(small.code(), Some(0));
    assert_eq!(wrap(["demo", "-o", "run"]).cwd(dir.path()).run().code(), Some(125), "not without --force");
    let replaced = wrap(["demo", "-o", "run", "--force", "--tokens", "1"]).cwd(dir.path()).run();
    assert_eq!(replaced.code(), Some(0), "{}", replaced.err());
}

#[test]
fn a_report_into_a_named_pipe_waits_for_its_reader() {
    let dir = Dir::new("named-pipe");
    assert!(std::process::Command::new("mkfifo").arg(dir.join("pipe")).status().unwrap().success());
    let running = wrap(words(&["--report", "pipe"], &["true"])).cwd(dir.path()).start();
    assert!(dir.text("pipe").contains("the target exited with 0"));
    assert_eq!(running.finish().code(), Some(0));
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for (words, status) in [(&["--help"][..], 125), (&["--version"], 125), (&["parse", "--help"], 2)] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let done = std::process::Command::new(BIN).args(words).stdout(full).output().unwrap();
        assert_eq!(done.status.code(), Some(status), "{words:?}");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.starts_with("hrx-wrap: cannot write to standard output: No space left"), "{said}");
    }
}
