//! How a run is ended, and that its whole tree ends with it (rows 2 and 10 to 13 of the supervision contract).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use common::{BIN, Dir, children, demo, state, supervisor_of, target_of, wait_until, words, wrap};

const SIGNALS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/signals.py");
const TERM: i32 = 15;

/// The last exit record of a run folder.
fn end(dir: &Dir) -> serde_json::Value {
    dir.json("run/run.json")["end"].clone()
}

#[test]
fn the_timeout_ends_the_target_with_124() {
    for stdio in ["pipe", "pty"] {
        let dir = Dir::new("timeout");
        let options = ["-t", "100ms", "-o", "run", "--stdio", stdio];
        let done = wrap(words(&options, &["sleep", "600"])).cwd(dir.path()).run();
        assert_eq!(done.code(), Some(124), "{}", done.err());
        assert!(done.err().contains("PARTIAL: the timeout ended the target"));
        assert!(
            done.fact("exit").contains("the timeout of 100.000 ms ended it (SIGTERM); our status is 124")
        );
        assert_eq!(end(&dir)["exit"], serde_json::json!({"code": null, "signal": TERM, "cause": "timeout"}));
    }
}

#[test]
fn a_timeout_sends_the_signal_that_was_asked_for() {
    let done = wrap(words(&["-t", "100ms", "--signal", "USR1"], &["sleep", "600"])).run();
    assert_eq!(done.code(), Some(124));
    assert!(done.fact("exit").starts_with("the target was killed by signal 10 (SIGUSR1)"));
}

#[test]
fn a_timeout_that_kills_is_137_as_with_timeout_and_the_cause_is_the_timeout() {
    // A short grace as well: that SIGKILL is sent once more changes nothing.
    for grace in ["10s", "1ms"] {
        let dir = Dir::new("kill");
        let options = ["-t", "100ms", "-k", grace, "--signal", "KILL", "-o", "run"];
        let done = wrap(words(&options, &["sleep", "600"])).cwd(dir.path()).run();
        assert_eq!(done.code(), Some(137), "{}", done.err());
        assert!(done.err().contains("PARTIAL: the timeout ended the target"), "{}", done.err());
        assert_eq!(
            done.fact("exit"),
            "the target was killed by signal 9 (SIGKILL); the timeout of 100.000 ms ended it (SIGKILL); our status is 137"
        );
        let end = end(&dir);
        assert_eq!(end["exit"], serde_json::json!({"code": null, "signal": 9, "cause": "timeout"}));
        assert_eq!(end["status"], 137);
    }
    let preserved = ["-t", "100ms", "--signal", "KILL", "--preserve-status", "--report", "/dev/null"];
    assert_eq!(wrap(words(&preserved, &["sleep", "600"])).run().died_of(), Some(9));
}

#[test]
fn sigkill_after_the_grace_is_137_and_the_record_has_the_cause() {
    let dir = Dir::new("grace");
    let options = ["-t", "300ms", "-k", "100ms", "-o", "run"];
    let done =
        wrap(demo(&options, &["--ignore-term", "--no-load", "--sleep-ms", "600000"])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(137), "{}", done.err());
    let end = end(&dir);
    assert_eq!(
        (&end["exit"]["cause"], &end["exit"]["signal"]),
        (&"killed-after-grace".into(), &9.into()),
        "{end}"
    );
    assert!(done.fact("exit").contains("SIGKILL was needed 100.000 ms after the first signal"));
}

#[test]
fn a_target_that_exits_in_the_grace_is_124_and_its_own_code_is_recorded() {
    let dir = Dir::new("own-code");
    let target = ["python3", SIGNALS, "stop", "--exit-on", "TERM", "0"];
    let done = wrap(words(&["-t", "3s", "-o", "run"], &target)).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(124), "{}", done.err());
    assert_eq!(end(&dir)["exit"], serde_json::json!({"code": 0, "signal": null, "cause": "timeout"}));
}

#[test]
fn with_preserve_status_the_targets_own_status_comes_through() {
    let dir = Dir::new("preserve");
    let exits = ["python3", SIGNALS, "stop", "--exit-on", "TERM", "5"];
    let done = wrap(words(&["-t", "3s", "--preserve-status"], &exits)).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(5), "{}", done.err());
    let dies = wrap(words(&["-t", "100ms", "--preserve-status"], &["sleep", "600"])).run();
    assert_eq!(dies.died_of(), Some(TERM));
}

#[test]
fn a_target_that_exits_with_124_itself_is_not_taken_for_a_timeout() {
    let dir = Dir::new("124");
    let done = wrap(words(&["-t", "10m", "-o", "run"], &["sh", "-c", "exit 124"])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(124));
    assert_eq!(end(&dir)["exit"]["cause"], "exited");
    assert!(!done.err().contains("PARTIAL"));
}

#[test]
fn what_is_printed_in_the_grace_is_logged() {
    let dir = Dir::new("grace-log");
    let target = [
        "sh",
        "-c",
        "trap 'echo cleaning up >&2; exit 3' TERM; echo begun >&2; while :; do sleep 0.01; done",
    ];
    let done = wrap(words(&["-t", "500ms", "-o", "run"], &target)).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(124));
    let lines = common::traced(dir.text("run/trace.log").as_bytes());
    // The shell may add that its sleep was terminated: the whole tree was asked.
    assert_eq!((lines.first(), lines.last()), (Some(&b"begun".to_vec()), Some(&b"cleaning up".to_vec())));
}

#[test]
fn a_timeout_reaches_the_whole_tree_at_once() {
    let dir = Dir::new("whole-tree");
    // A grandchild in a session of its own says that TERM reached it; the target itself ignores TERM.
    let grandchild = "trap 'echo told >&2; exit' TERM; echo up; while :; do sleep 0.01; done";
    let script = format!("trap '' TERM; setsid sh -c \"trap - TERM; {grandchild}\" & sleep 600");
    let done =
        wrap(words(&["-t", "1s", "-k", "400ms", "-o", "run"], &["sh", "-c", &script])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(137));
    assert!(
        done.err().contains("told")
            || dir.text("run/trace.log").contains("told")
            || !done.out().contains("up")
    );
}

#[test]
fn a_stopped_target_hears_the_timeout() {
    let running = wrap(words(&["-t", "700ms", "-k", "100s"], &["sh", "-c", "kill -STOP $$; sleep 600"]))
        .own_group()
        .start();
    let target = target_of(running.pid());
    wait_until("the stop", || state(target) == Some('T') || state(target).is_none());
    let done = running.finish();
    assert_eq!(
        done.code(),
        Some(124),
        "TERM is followed by CONT, and a stopped front is woken: {}",
        done.err()
    );
    assert!(done.fact("stopped").starts_with("by SIGSTOP at "));
}

#[test]
fn a_term_from_outside_starts_the_same_clock() {
    for signal in [TERM, 2] {
        let dir = Dir::new("clock");
        let target = ["--ignore-term", "--ignore-int", "--ready", "--lines", "1", "--sleep-ms", "600000"];
        let running = wrap(demo(&["-k", "100ms", "-o", "run"], &target)).cwd(dir.path()).start();
        running.wait_out("ready");
        running.signal(signal);
        let done = running.finish();
        assert_eq!(done.code(), Some(137), "{}", done.err());
        assert_eq!(end(&dir)["exit"]["cause"], "killed-after-grace");
    }
}

#[test]
fn other_signals_from_outside_start_no_clock() {
    let dir = Dir::new("no-clock");
    let running =
        wrap(words(&["-k", "1ms", "-o", "run"], &["python3", SIGNALS, "stop"])).cwd(dir.path()).start();
    running.wait_out("ready");
    for n in 1..=5 {
        running.signal(10);
        wait_until("USR1", || running.out().matches("got 10\n").count() == n);
    }
    std::fs::write(dir.join("stop"), "").unwrap();
    assert_eq!(running.finish().code(), Some(0));
}

#[test]
fn a_request_before_a_timeout_is_not_made_twice() {
    let dir = Dir::new("twice");
    let target = ["python3", SIGNALS, "stop"];
    let running = wrap(words(&["-t", "2s", "-k", "4s", "-o", "run"], &target)).cwd(dir.path()).start();
    running.wait_out("ready");
    running.signal(TERM);
    let done = running.finish();
    assert_eq!(done.out().matches("got 15\n").count(), 1, "llama-server takes a second TERM for 'exit now'");
    assert_eq!(done.code(), Some(137));
}

/// Holds a process by ptrace, so that its end cannot be reaped: from us it looks like one that cannot be killed.
const TRACER: &str = "
import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(0x4206, int(sys.argv[1]), 0, 0) != 0: sys.exit(f'ptrace: errno {ctypes.get_errno()}')
print('held', flush=True)
time.sleep(600)
";

#[test]
fn a_target_that_cannot_be_killed_does_not_hang_us() {
    let dir = Dir::new("unkillable");
    // It lets itself be traced where the kernel asks for that (Yama).
    let target = "import ctypes, time; ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1)); print('ready', flush=True); time.sleep(600)";
    let running =
        wrap(words(&["-k", "100ms", "-o", "run"], &["python3", "-c", target])).cwd(dir.path()).start();
    running.wait_out("ready");
    let pid = target_of(running.pid());
    let tracer = common::through("python3", ["-c", TRACER, &pid.to_string()]).start();
    tracer.wait_out("held");
    running.signal(TERM);
    let done = running.finish();
    assert_eq!(done.code(), Some(137), "{}", done.err());
    assert!(done.fact("unkillable").starts_with(&format!("pid {pid} (python3")), "{}", done.err());
    let end = end(&dir);
    assert_eq!((&end["exit"]["cause"], &end["unkillable"][0]["pid"]), (&"unkillable".into(), &pid.into()));
    assert_eq!(end["unkillable"][0]["state"].as_str().map(str::len), Some(1), "its state is named: {end}");
    drop(tracer);
}

#[test]
fn leftovers_are_ended_counted_and_named() {
    for setsid in [&[][..], &["--setsid"]] {
        let dir = Dir::new("leftovers");
        let mut target = vec!["--fork", "3", "--no-load", "--lines", "1", "--exit-code", "4"];
        target.extend(setsid);
        let running = wrap(demo(&["-o", "run"], &target)).cwd(dir.path()).start();
        let mark = running.mark().to_owned();
        let done = running.finish();
        assert_eq!(done.code(), Some(4), "the status is the target's");
        assert!(common::marked(&mark).is_empty(), "nothing is left");
        let end = end(&dir);
        assert_eq!(end["leftovers"].as_array().map(Vec::len), Some(3), "{end}");
        assert!(done.fact("left over").contains("(hrx-wrap), state S: ended"), "{}", done.err());
        assert!(end["partial"].is_null(), "{end}");
    }
}

#[test]
fn leftovers_that_ignore_term_are_killed_after_the_grace() {
    let script = "(trap '' TERM; exec sleep 600) & sleep 0.05; exit 2";
    let running = wrap(words(&["-k", "100ms"], &["sh", "-c", script])).start();
    let mark = running.mark().to_owned();
    let done = running.finish();
    assert_eq!(done.code(), Some(2), "{}", done.err());
    assert!(common::marked(&mark).is_empty());
}

#[test]
fn double_forked_daemons_are_of_the_tree() {
    let script = "(setsid sh -c 'sleep 600 & sleep 600 & exit' &) ; exit 0";
    let running = wrap(words(&[], &["sh", "-c", script])).start();
    let mark = running.mark().to_owned();
    assert_eq!(running.finish().code(), Some(0));
    assert!(common::marked(&mark).is_empty());
}

#[test]
fn with_leave_they_are_left_alone_and_that_is_said() {
    let dir = Dir::new("leave");
    let running = wrap(words(&["--leave", "-o", "run"], &["sh", "-c", "sleep 600 >&- 2>&- & exit 0"]))
        .cwd(dir.path())
        .start();
    let mark = running.mark().to_owned();
    let done = running.finish();
    assert_eq!(done.code(), Some(0));
    let left = common::marked(&mark);
    assert_eq!(left.len(), 1, "the sleep lives");
    assert!(done.fact("left over").ends_with("left alone, as asked"), "{}", done.err());
    assert_eq!(end(&dir)["left_alone"], true);
    common::kill(left[0], 9);
}

#[test]
fn leftovers_are_not_killed_before_their_words_are_read() {
    let dir = Dir::new("words");
    // The grandchild goes on speaking after the target's end, for as long as a shell needs for so many words: it is
    // heard to its own end.
    let script = "(i=0; while [ $i -lt 30000 ]; do echo word $i >&2; i=$((i+1)); done) & exit 0";
    let done = wrap(words(&["-o", "run", "--echo", "none"], &["sh", "-c", script])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0));
    assert_eq!(common::traced(dir.text("run/trace.log").as_bytes()).len(), 30_000);
}

#[test]
fn any_number_of_orphans_is_reaped_while_the_target_runs() {
    let dir = Dir::new("orphans");
    let script = "i=0; while [ $i -lt 300 ]; do (true &) ; i=$((i+1)); done; echo made; read line; exit 0";
    let (from, to) = common::pipe();
    let running = wrap(words(&["-o", "run"], &["sh", "-c", script])).cwd(dir.path()).stdin(from).start();
    running.wait_out("made");
    let supervisor = supervisor_of(running.pid());
    wait_until("no zombie below us", || children(supervisor).iter().all(|p| state(*p) != Some('Z')));
    drop(to);
    assert_eq!(running.finish().code(), Some(0));
    // Some shells fork once for `(true &)` and some twice: each orphan came to us.
    assert!(end(&dir)["reaped"].as_u64() >= Some(300), "{}", end(&dir));
}

#[test]
fn a_target_that_forks_for_ever_is_ended() {
    let script = "while :; do sleep 600 & sleep 0.001; done";
    let running = wrap(words(&["-t", "300ms", "-k", "500ms"], &["sh", "-c", script])).start();
    let mark = running.mark().to_owned();
    let done = running.finish();
    assert_eq!(done.code(), Some(124), "{}", done.err());
    assert!(common::marked(&mark).is_empty());
}

#[test]
fn a_debugger_that_outlives_a_crash_keeps_its_last_words_on_stdout() {
    // As ggml_abort does: fork something that prints a backtrace, then abort.
    let script = "(sleep 0.1; echo backtrace) & kill -ABRT $$";
    let done = wrap(words(&[], &["sh", "-c", script])).run();
    assert_eq!(done.died_of(), Some(6));
    assert_eq!(done.out(), "backtrace\n", "it holds stderr, so it is heard out before it is ended");
}

#[test]
fn the_wrapper_finds_itself_inside_itself() {
    let done = wrap(words(&["--echo", "all"], &[BIN, "--", "sh", "-c", "exit 33"])).run();
    assert_eq!(done.code(), Some(33));
    assert_eq!(done.err().matches("report live").count(), 2);
}
