//! Start and end: the exit status, exec errors, and that the target gets what the caller had (rows 1 to 6 of the
//! supervision contract).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use common::terminal::Terminal;
use common::{BIN, Dir, children, readable, supervisor_of, through, wait_until, words, wrap};

const STATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/state.py");
const CALLER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/caller.py");

fn sh(script: &str) -> Vec<String> {
    words(&[], &["sh", "-c", script])
}

/// `caller.py OPTIONS -- COMMAND`.
fn called(options: &[&str], command: &[&str]) -> Vec<String> {
    [CALLER].iter().chain(options).chain(&["--"]).chain(command).map(|w| (*w).to_owned()).collect()
}

#[test]
fn every_exit_code_passes_through() {
    for code in 0..=255 {
        let done = wrap(sh(&format!("exit {code}"))).run();
        assert_eq!(done.code(), Some(code));
        assert!(done.fact("exit").starts_with(&format!("the target exited with {code};")), "{}", done.err());
    }
}

#[test]
fn exit_codes_pass_through_a_terminal_of_the_targets_own() {
    for code in [0, 1, 7, 124, 125, 255] {
        let done = wrap(words(&["--stdio", "pty"], &["sh", "-c", &format!("exit {code}")])).run();
        assert_eq!(done.code(), Some(code));
    }
}

#[test]
fn death_by_a_signal_is_mirrored_by_dying_of_it() {
    for signal in [1, 2, 3, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 24, 31, 34, 40, 64] {
        let done =
            wrap(words(&[], &[BIN, "demo-target", "--lines", "1", "--die-signal", &signal.to_string()]))
                .run();
        assert_eq!(done.died_of(), Some(signal), "{done:?}");
        assert!(done.err().contains("\nPARTIAL: the target was killed by signal "), "{}", done.err());
    }
}

#[test]
fn a_crash_of_the_target_makes_no_core_file_of_ours() {
    let dir = Dir::new("core");
    let crash = ["sh", "-c", "kill -SEGV $$"];
    let mut wrapped = vec![BIN, "--"];
    wrapped.extend(crash);
    let done = through("python3", called(&["--core", "-1"], &wrapped)).cwd(dir.path()).run();
    use std::os::unix::process::ExitStatusExt as _;
    assert_eq!(done.died_of(), Some(11));
    assert!(!done.status.core_dumped(), "a core file of hrx-wrap");
}

#[test]
fn as_pid_1_the_signal_becomes_a_status() {
    let words = [
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "--mount-proc",
        BIN,
        "--",
        "sh",
        "-c",
        "kill -TERM $$",
    ];
    let done = through("unshare", words).run();
    assert_eq!(done.code(), Some(143), "{}", done.err());
}

#[test]
fn a_target_that_is_not_there_is_127_and_leaves_nothing() {
    let dir = Dir::new("absent");
    for program in ["no-such-program-anywhere", "./no/such", "/nonexistent/x", ""] {
        let out = dir.join("run");
        let done = wrap(words(&["-o", out.to_str().unwrap()], &[program])).run();
        assert_eq!(done.code(), Some(127), "{program}");
        let line = done.complaint();
        assert!(
            line.contains("No such file or directory") && line.contains(&format!("'{program}'")),
            "{line}"
        );
        assert!(!out.exists());
    }
}

#[test]
fn a_target_that_cannot_be_executed_is_126_and_leaves_nothing() {
    let dir = Dir::new("denied");
    std::fs::write(dir.join("plain"), "text").unwrap();
    for program in [dir.join("plain"), dir.path().to_owned()] {
        let out = dir.join("run/in/there");
        let program = program.to_str().unwrap();
        let done = wrap(words(&["-o", out.to_str().unwrap()], &[program])).run();
        assert_eq!(done.code(), Some(126), "{program}: {}", done.err());
        assert!(done.complaint().contains(program));
        assert!(!dir.join("run").exists());
    }
}

#[test]
fn a_missing_interpreter_is_named() {
    let dir = Dir::new("interpreter");
    let script = dir.script("script", "#!/nonexistent/interpreter\n");
    let done = wrap(words(&["-o", dir.join("run").to_str().unwrap()], &[script.to_str().unwrap()])).run();
    assert_eq!(done.code(), Some(127));
    assert!(done.complaint().contains("interpreter in its first line is missing"));
    assert!(!dir.join("run").exists());
}

#[test]
fn a_script_without_an_interpreter_line_runs_in_sh() {
    let dir = Dir::new("script");
    let script = dir.script("script", "echo \"$0\" \"$1\"; exit 9\n");
    let done = wrap(words(&[], &[script.to_str().unwrap(), "an argument"])).run();
    assert_eq!((done.code(), done.out()), (Some(9), format!("{} an argument\n", script.display())));
}

#[test]
fn path_is_searched_as_execvp_does() {
    let dir = Dir::new("path");
    for sub in ["a", "b", "c"] {
        std::fs::create_dir(dir.join(sub)).unwrap();
    }
    std::fs::write(dir.join("a/tool"), "not executable").unwrap();
    dir.script("b/tool", "#!/bin/sh\necho from b\n");
    dir.script("c/tool", "#!/bin/sh\necho from c\n");
    let path = |folders: &[&str]| {
        let folders: Vec<String> = folders.iter().map(|f| dir.join(f).display().to_string()).collect();
        folders.join(":")
    };
    let found = wrap(words(&[], &["tool"])).env("PATH", &path(&["a", "b", "c"])).run();
    assert_eq!(found.out(), "from b\n", "one without permission is passed over");
    let denied = wrap(words(&[], &["tool"])).env("PATH", &path(&["a"])).run();
    assert_eq!(denied.code(), Some(126), "and remembered");
}

/// What a target was given, directly and through the wrapper, by the same caller.
fn given(options: &[&str], wrapper: &[&str]) -> (serde_json::Value, serde_json::Value) {
    let dir = Dir::new("given");
    let (direct, wrapped) = (dir.join("direct"), dir.join("wrapped"));
    let run = |out: &str, before: &[&str]| {
        let mut command = before.to_vec();
        command.extend(["python3", STATE, out, "a b", ""]);
        let done = through("python3", called(options, &command))
            .cwd(dir.path())
            .env("HRX_WRAP_TEST_MARK", "same")
            .run();
        assert_eq!(done.code(), Some(0), "{}", done.err());
    };
    run(direct.to_str().unwrap(), &[]);
    run(wrapped.to_str().unwrap(), wrapper);
    (dir.json("direct"), dir.json("wrapped"))
}

const PLAIN: &[&str] = &[BIN, "--"];

#[test]
fn the_target_gets_what_the_caller_had() {
    let options = ["--umask", "027", "--nice", "3", "--nofile", "200", "--open", "7", "--open", "19"];
    let (mut direct, mut wrapped) = given(&options, PLAIN);
    for state in [&mut direct, &mut wrapped] {
        // Its stderr is ours by design; pipes have numbers of their own.
        for number in ["0", "1", "2"] {
            state["fds"][number] = serde_json::Value::Null;
        }
        state["session"] = serde_json::Value::Null;
    }
    assert_eq!(direct["arguments"], serde_json::json!(["a b", ""]));
    assert_eq!(direct["fds"]["19"], "/dev/zero");
    assert_eq!(direct, wrapped);
}

#[test]
fn blocked_and_ignored_signals_are_exactly_the_callers() {
    let every: [&[&str]; 6] = [
        &[],
        &["--ignore", "PIPE"],
        &["--ignore", "CHLD"],
        &["--ignore", "HUP", "--ignore", "INT", "--ignore", "TTOU", "--ignore", "RTMIN"],
        &["--block", "TERM", "--block", "USR1", "--block", "CHLD"],
        &["--ignore", "PIPE", "--block", "PIPE", "--block", "RTMAX"],
    ];
    for options in every {
        for wrapper in [PLAIN, &[BIN, "--stdio", "pty", "--"]] {
            let (direct, wrapped) = given(options, wrapper);
            assert_eq!(direct["signals"], wrapped["signals"], "{options:?} {wrapper:?}");
        }
    }
}

#[test]
fn closed_standard_descriptors_in_any_combination() {
    for closed in 0..8_u8 {
        let numbers: Vec<String> =
            (0..3).filter(|n| closed & (1 << n) != 0).map(|n: u8| n.to_string()).collect();
        let options: Vec<&str> = numbers.iter().flat_map(|n| ["--close", n.as_str()]).collect();
        let (direct, wrapped) = given(&options, PLAIN);
        for n in ["0", "1"] {
            let open = |state: &serde_json::Value| state["fds"].get(n).is_some();
            assert_eq!(open(&direct), open(&wrapped), "descriptor {n} with {options:?} closed");
        }
        assert!(wrapped["fds"]["2"].as_str().is_some_and(|to| to.starts_with("pipe:")));
        let others = |state: &serde_json::Value| {
            let numbers = state["fds"].as_object().unwrap().keys().cloned();
            numbers.filter(|n| !["0", "1", "2"].contains(&n.as_str())).collect::<Vec<_>>()
        };
        assert_eq!(others(&direct), others(&wrapped), "none of ours leaks");
    }
}

#[test]
fn an_ignored_sigchld_does_not_hang_us() {
    let done = through("python3", called(&["--ignore", "CHLD"], &[BIN, "--", "sh", "-c", "exit 6"])).run();
    assert_eq!(done.code(), Some(6));
}

#[test]
fn children_that_we_already_had_are_not_ours_to_end() {
    let script = format!("sleep 600 & echo $!; exec {BIN} -- sh -c 'exit 5'");
    let running = through("sh", ["-c", &script]).stderr(std::process::Stdio::null()).start();
    wait_until("the child's pid", || running.out().contains('\n'));
    let child: i32 = running.out().trim().parse().unwrap();
    let mark = running.mark().to_owned();
    let stdout = running.stdout.clone();
    let mut running = running;
    running.stdout = None;
    let done = running.finish();
    assert_eq!(done.code(), Some(5));
    assert_eq!(common::marked(&mark), [child], "{:?}", stdout.map(|s| s.text()));
    common::kill(child, 9);
}

#[test]
fn a_killed_supervisor_does_not_cost_us_children_that_we_already_had() {
    let dir = Dir::new("already");
    let script = format!(
        "sleep 600 & echo $!; exec {BIN} -o run -- {BIN} demo-target --ready --sleep-ms 600000 --lines 1"
    );
    // The child would hold the test's pipe open.
    let running = through("sh", ["-c", &script]).cwd(dir.path()).stderr(std::process::Stdio::null()).start();
    running.wait_out("ready");
    let child: i32 = running.out().lines().next().unwrap().parse().unwrap();
    common::kill(supervisor_of(running.pid()), 9);
    let mark = running.mark().to_owned();
    let mut running = running;
    running.stdout = None;
    let done = running.finish();
    assert_eq!(done.code(), Some(125));
    assert_eq!(common::marked(&mark), [child]);
    common::kill(child, 9);
}

#[test]
fn stdin_is_the_targets_and_never_read_by_us() {
    let (from, to) = common::pipe();
    std::io::Write::write_all(&mut std::fs::File::from(to), b"one\ntwo\n").unwrap();
    let first =
        wrap(words(&[], &["sh", "-c", "read line; echo \"$line\""])).stdin(from.try_clone().unwrap()).run();
    assert_eq!(first.out(), "one\n");
    let second = wrap(words(&[], &["cat"])).stdin(from).run();
    assert_eq!(second.out(), "two\n");
}

#[test]
fn a_reader_of_stdout_that_goes_away_is_the_targets_sigpipe() {
    let (from, to) = common::pipe();
    let running = wrap(words(&[], &["yes"])).stdout(to).start();
    wait_until("output", || readable(&from));
    drop(from);
    assert_eq!(running.finish().died_of(), Some(13));
}

#[test]
fn neither_process_keeps_the_targets_stdin_stdout_or_descriptors_open() {
    let (out, to) = common::pipe();
    let (from, input) = common::pipe();
    // The target lets go of its own and goes on.
    let script = "exec 3<&0 <&- 3<&- >&-; exec sleep 600 2>/dev/null";
    let running = wrap(sh(script)).stdin(from).stdout(to).start();
    let mut byte = [0];
    let n = std::io::Read::read(&mut std::fs::File::from(out), &mut byte).unwrap();
    assert_eq!(n, 0, "end of file while hrx-wrap and its target live");
    let target = common::target_of(running.pid());
    wait_until("the target's sleep", || common::exe(target).is_some_and(|e| e.ends_with("sleep")));
    let mut input = std::fs::File::from(input);
    let error = std::io::Write::write(&mut input, b"x").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "nobody reads the target's stdin any more");
    running.signal(15);
    assert_eq!(running.finish().died_of(), Some(15));
}

#[test]
fn descriptors_of_the_caller_are_let_go_with_the_target() {
    let dir = Dir::new("let-go");
    let script = format!("exec {BIN} -- sh -c 'exec 9>&-; echo closed; exec sleep 600' 9>fifo");
    assert!(std::process::Command::new("mkfifo").arg(dir.join("fifo")).status().unwrap().success());
    let running = through("sh", ["-c", &script]).cwd(dir.path()).start();
    let mut end = Vec::new();
    std::io::Read::read_to_end(&mut std::fs::File::open(dir.join("fifo")).unwrap(), &mut end).unwrap();
    assert!(end.is_empty());
    assert!(children(running.pid()).len() == 1, "hrx-wrap lives");
    running.signal(15);
    running.finish();
}

#[test]
fn three_process_groups_one_session() {
    let dir = Dir::new("groups");
    let terminal = Terminal::with(&[BIN, "--", "python3", STATE, "state"], dir.path());
    wait_until("the state", || dir.join("state").exists() && !dir.text("state").is_empty());
    terminal.shell.finish();
    // A session leader's session is its pid, which is not the target's.
    assert!(dir.json("state")["session"].as_i64().unwrap() > 1);

    let running = wrap(sh("exec sleep 600")).own_group().start();
    let supervisor = supervisor_of(running.pid());
    let target = common::target_of(running.pid());
    let (group, session) = (2, 3);
    let of = |pid, n| common::stat_field(pid, n).unwrap();
    assert_eq!(of(running.pid(), group), running.pid().to_string());
    assert_eq!(of(supervisor, group), supervisor.to_string());
    // A target that was forked this moment is still on its way there.
    wait_until("the target's group", || of(target, group) == target.to_string());
    assert_eq!(of(running.pid(), session), of(supervisor, session));
    assert_eq!(of(running.pid(), session), of(target, session));
    running.signal(15);
    running.finish();
}

// Where there is no room for a run.

/// What is left of what a run keeps.
fn kept(dir: &Dir) -> Vec<String> {
    let names = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name != "begun").collect()
}

#[test]
fn a_limit_of_descriptors_that_is_too_low_is_named_before_anything_is_started() {
    for options in
        ["", "-o run", "-p", "-o run -p", "-o run -p -s --stamp source --stdio pty --json /dev/null"]
    {
        for limit in 4..=40 {
            let dir = Dir::new("few");
            let script = format!("ulimit -n {limit}; exec {BIN} {options} -- sh -c 'echo >begun; exit 3'");
            let done = through("bash", ["-c", &script]).cwd(dir.path()).run();
            assert_eq!(done.code(), Some(125), "{limit} {options}: {}", done.err());
            let line = done.complaint();
            assert!(line.starts_with("hrx-wrap: too many open files: a run needs "), "{line}");
            assert!(line.contains(&format!("the limit of {limit} leaves ")), "{line}");
            assert!(line.ends_with(": raise it, as with `ulimit -n 1024`"), "{line}");
            assert!(!dir.join("begun").exists() && kept(&dir).is_empty(), "{limit} {options}");
        }
    }
}

#[test]
fn the_lowest_limit_of_descriptors_that_is_taken_is_enough_for_everything() {
    let dir = Dir::new("enough");
    let files = ["json", "html", "timeline", "csv", "markdown", "report"].map(|f| format!("--{f} /dev/null"));
    let options = format!("-o run -p -s --stamp source --stdio pty {}", files.join(" "));
    // A tree of more processes than descriptors, each looked at while it is there.
    let target = "for i in $(seq 100); do sleep 600 & done; exit 3";
    let script = |limit: usize| format!("ulimit -n {limit}; exec {BIN} -k 5s {options} -- sh -c '{target}'");
    let is_refused = |limit: &usize| {
        let script = format!("ulimit -n {limit}; exec {BIN} --report /dev/null -- true");
        through("bash", ["-c", &script]).run().code() == Some(125)
    };
    let least = (10..1024).find(|limit| !is_refused(limit)).unwrap();
    let running = through("bash", ["-c", &script(least)]).cwd(dir.path()).start();
    let mark = running.mark().to_owned();
    let done = running.finish();
    assert_eq!((done.code(), done.err().as_str()), (Some(3), ""));
    assert_eq!(common::marked(&mark), [0; 0], "all were ended");
    let end = dir.json("run/run.json")["end"].clone();
    assert_eq!(end["leftovers"].as_array().map(Vec::len), Some(100));
    assert!(end["notes"].is_null() && end["unkillable"].is_null(), "{end}");
}

#[test]
fn a_run_that_cannot_be_set_up_says_so_in_one_line_and_nothing_of_it_goes_on() {
    let dir = Dir::new("set-up");
    // There for our first process alone: the other one finds no such /proc, with the target started already.
    let proc = "--proc /proc/self/task/$$ -o run --report report";
    let script = format!("exec {BIN} {proc} -- sh -c 'echo begun >&2; sleep 600'");
    let running = through("bash", ["-c", &script]).cwd(dir.path()).start();
    let mark = running.mark().to_owned();
    let done = running.finish();
    assert_eq!(done.code(), Some(125), "{}", done.err());
    let lines: Vec<_> = done.err().lines().filter(|line| *line != "begun").map(str::to_owned).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("hrx-wrap: the sampler: cannot read /proc/self/task/"), "{lines:?}");
    assert_eq!(common::marked(&mark), [0; 0], "the target was ended");
    let end = dir.json("run/run.json")["end"].clone();
    assert_eq!(end["exit"]["cause"], "supervisor-failed");
    let report = dir.text("report");
    assert!(
        report.starts_with("PARTIAL: hrx-wrap could not set up the run, so the target was ended"),
        "{report}"
    );
    assert!(common::fact(&report, "exit").contains("; hrx-wrap could not set up the run; our status is 125"));
}
