//! The built-in target from outside: what it writes, how it ends, what it leaves behind.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The target with these options, and nothing of the backend's in its environment.
fn target(options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hrx-wrap"));
    command.arg("demo-target").args(options).stdin(Stdio::null());
    for name in [
        "GGML_HRX_DEBUG_SERIAL_EXECUTION",
        "GGML_HRX_DEBUG_SERIAL_PROGRAM_COMMANDS",
        "GGML_HRX_DEBUG_SERIAL_START_COMMAND",
        "GGML_HRX_DEBUG_SERIAL_END_COMMAND",
        "GGML_HRX_HOST_WEIGHT_TRACE",
    ] {
        command.env_remove(name);
    }
    command
}

fn output(options: &[&str]) -> Output {
    target(options).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Small and without waits.
const QUICK: [&str; 6] =
    ["--device-us=0", "--launch-us=0", "--tokens=2", "--commands=12", "--prefill-commands=4", "--serial=on"];

fn quick(more: &[&str]) -> Output {
    output(&[&QUICK[..], more].concat())
}

/// Starts it, and returns once it said `ready`.
fn ready(options: &[&str]) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = target(options).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, stdout)
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

#[test]
fn six_lines_a_dispatch_and_a_table() {
    let output = quick(&[]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(0));
    let dispatches = 4 + 2 * 12;
    for head in [
        "sync-begin phase=command-pre-dispatch",
        "sync-end phase=command-pre-dispatch",
        "begin phase=command-dispatch",
        "end phase=command-dispatch",
        "sync-begin phase=command-post-dispatch",
        "sync-end phase=command-post-dispatch",
    ] {
        assert_eq!(text.matches(&format!("serial: {head} list=main ")).count(), dispatches, "{head}");
    }
    assert_eq!(text.matches("begin phase=command-program ").count(), 3);
    assert!(text.contains("load_tensors:         HRX0 model buffer size =  2375.91 MiB\n"));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.starts_with("| model "));
    assert_eq!(table.lines().filter(|l| l.starts_with("| qwen3 4B")).count(), 2);
    assert!(table.contains(" pp256 |") && table.contains(" tg2 |"));
    assert!(table.ends_with("build: demo0000 (10605)\n"));
}

#[test]
fn two_runs_write_the_same_text() {
    assert_eq!(quick(&[]).stderr, quick(&[]).stderr);
}

#[test]
fn the_environment_switches_the_trace_and_the_weights() {
    let run = |name: &str, value: &str| {
        let mut command = target(&["--device-us=0", "--tokens=1", "--commands=3", "--no-load"]);
        stderr(&command.env(name, value).output().unwrap())
    };
    assert_eq!(run("GGML_HRX_DEBUG_SERIAL_EXECUTION", "0"), "");
    assert!(run("GGML_HRX_DEBUG_SERIAL_EXECUTION", "false").contains("hrx debug serial: begin"));
    let weights = run("GGML_HRX_HOST_WEIGHT_TRACE", "1");
    assert!(weights.contains("resident=795.8 MiB weights=38\n") && !weights.contains("debug serial"));
    assert!(weights.ends_with(" resident=512.0 MiB weights=16\n"));
}

#[test]
fn known_device_times_are_kept() {
    let output = output(&[
        "--serial=on",
        "--no-load",
        "--prefill-commands=0",
        "--tokens=1",
        "--commands=20",
        "--device-us=400",
        "--spin",
        "--own-clock",
    ]);
    let text = stderr(&output);
    let clock = |line: &str| -> u64 { line.rsplit_once(" clock=").unwrap().1.parse().unwrap() };
    let of = |head: &str| -> Vec<u64> { text.lines().filter(|l| l.contains(head)).map(clock).collect() };
    let (launched, idle) = (of("end phase=command-dispatch"), of("sync-end phase=command-post-dispatch"));
    assert_eq!(launched.len(), 20);
    let mut device: Vec<u64> = launched.iter().zip(&idle).map(|(from, to)| to - from).collect();
    device.sort_unstable();
    // The stamp of a launch's end is a little later than the launch's end. On a busy machine many take longer, not all.
    assert!(device[10] >= 350_000 && device[0] < 4_000_000, "{device:?}");
    let clocks: Vec<u64> = text.lines().map(clock).collect();
    assert!(clocks.is_sorted());
}

#[test]
fn exit_codes_and_last_lines() {
    assert_eq!(quick(&["--exit-code=77"]).status.code(), Some(77));
    let failed = quick(&["--fail-sync=5"]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(failed.stdout.is_empty());
    assert!(stderr(&failed).contains("hrx debug serial: failed phase=command-program "));
    let odd = stderr(&quick(&["--nul", "--long-line=70000", "--no-newline"]));
    assert!(odd.contains("a NUL \0 in it\n"));
    assert!(odd.lines().any(|l| l.len() == 69_999));
    assert!(odd.ends_with("\na last line without a newline"));
}

#[test]
fn dies_in_a_dispatch() {
    for (point, head) in
        [("launch", "begin phase=command-dispatch"), ("device", "sync-begin phase=command-post-dispatch")]
    {
        let output = quick(&["--die-in-dispatch=7", &format!("--die-at={point}")]);
        assert_eq!(output.status.signal(), Some(9));
        let text = stderr(&output);
        let last = text.lines().last().unwrap();
        // The prefill has four.
        assert!(last.contains(&format!("{head} list=main index=2 list_commands=12 ")), "{last}");
    }
    let output = quick(&["--die-in-dispatch=7", "--die-at=line", "--die-signal=ABRT"]);
    assert_eq!(output.status.signal(), Some(6));
    assert!(stderr(&output).ends_with("\nhrx debug serial: end phase=command-dispatch"));
}

#[test]
fn dies_of_any_signal_at_the_end() {
    for (name, number) in [("TERM", 15), ("SEGV", 11), ("INT", 2), ("RTMIN+3", 37)] {
        let output = quick(&["--ignore-term", &format!("--die-signal={name}")]);
        assert_eq!(output.status.signal(), Some(number), "{name}");
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn dies_of_a_pipe_without_a_reader() {
    let mut child = target(&["--lines=100000"]).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().signal(), Some(13));
}

#[test]
fn floods_are_numbered() {
    let text = stderr(&output(&["--lines=1000", "--line-bytes=50"]));
    assert!(text.lines().all(|l| l.len() == 49));
    let numbers = text.lines().map(|l| l[5..11].parse::<u32>().unwrap());
    assert!(numbers.eq(1..=1000));
}

#[test]
fn the_log_of_numbers_is_what_was_written() {
    let log = std::env::temp_dir().join(format!("hrx-wrap-numbered-{}", std::process::id()));
    let option = format!("--numbered-log={}", log.display());
    let start = Instant::now();
    let text = stderr(&output(&["--numbered=40", "--every-us=1000", "--own-clock", &option]));
    assert!(start.elapsed() >= Duration::from_millis(40));
    let logged = fs::read_to_string(&log).unwrap();
    fs::remove_file(&log).unwrap();
    assert!(text.starts_with("numbered 00000001 clock="));
    let written: String = text.lines().map(|l| format!("{}\n", &l[9..17])).collect();
    assert_eq!(logged, written);
    assert!(logged.ends_with("\n00000040\n"));
}

#[test]
fn garbled_text_is_the_clean_text_with_lines_inside() {
    let clean = stderr(&quick(&[]));
    for option in ["--garble", "--garble-every=3"] {
        let mut text = stderr(&quick(&[option]));
        let mut number = 0;
        loop {
            number += 1;
            let line = format!("0.00.034.389 I srv  update_slots: logger line {number:06}\n");
            if !text.contains(&line) {
                break;
            }
            text = text.replacen(&line, "", 1);
        }
        assert!(number > 1, "{option}");
        assert_eq!(text, clean, "{option}");
    }
}

#[test]
fn grandchildren_outlive_the_target() {
    let mut child =
        target(&[&QUICK[..], &["--fork=2", "--setsid", "--hold", "--grandchild-ms=1000"]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let start = Instant::now();
    let drain = thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        text
    });
    assert!(child.wait().unwrap().success());
    let text = drain.join().unwrap();
    assert!(start.elapsed() >= Duration::from_millis(900));
    stdout.read_to_string(&mut String::new()).unwrap();
    for number in 1..=2 {
        assert!(text.contains(&format!("grandchild {number} pid ")));
        assert!(text.contains(&format!("grandchild {number} done\n")));
    }
    assert!(!text.contains("grandchild 0"));
}

#[test]
fn a_session_of_its_own() {
    let mut child = target(&["--tokens=0", "--prefill-commands=0", "--no-load", "--fork=1", "--setsid"])
        .args(["--grandchild-ms=2000"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let pid = line.trim().strip_prefix("grandchild 1 pid ").unwrap().to_owned();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    assert_eq!(fields[3], pid, "{stat}");
    child.wait().unwrap();
}

#[test]
fn an_ignored_term_changes_nothing() {
    let (mut child, _stdout) = ready(&["--tokens=0", "--ignore-term", "--ready", "--sleep-ms=60000"]);
    send(&child, Signal::SIGTERM);
    thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none());
    send(&child, Signal::SIGINT);
    assert_eq!(child.wait().unwrap().signal(), Some(2));
}

#[test]
fn signals_are_counted_and_enough_of_them_end_it() {
    let (mut child, mut stdout) = ready(&[
        "--tokens=0",
        "--prefill-commands=0",
        "--no-load",
        "--count-signals",
        "--exit-after-signals=9",
    ]);
    let mut seen = String::new();
    let real_time = libc::SIGRTMIN();
    let pid = child.id().cast_signed();
    for name in ["HUP", "INT", "TERM", "USR1", "USR1", "WINCH", "CONT", "RTMIN", "ALRM"] {
        if name == "RTMIN" {
            let sent = Command::new("kill").args([format!("-{real_time}"), pid.to_string()]).status();
            assert!(sent.unwrap().success());
        } else {
            send(&child, format!("SIG{name}").parse().unwrap());
        }
        // Until it is counted, or a second one of a kind is the same one.
        let before = seen.len();
        while !seen[before..].contains("signal ") {
            stdout.read_line(&mut seen).unwrap();
        }
    }
    stdout.read_to_string(&mut seen).unwrap();
    assert!(child.wait().unwrap().success());
    let counts: Vec<&str> = seen.lines().filter(|l| l.starts_with("signal ")).collect();
    assert_eq!(
        counts,
        [
            "signal HUP count 1",
            "signal INT count 1",
            "signal TERM count 1",
            "signal USR1 count 1",
            "signal USR1 count 2",
            "signal WINCH count 1",
            "signal CONT count 1",
            "signal RTMIN count 1",
            "signal ALRM count 1",
        ]
    );
}
