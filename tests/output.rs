//! The target's output: every byte, in the log and on our stderr, whatever the disk, the reader or the terminal does
//! (rows 16 to 21 of the supervision contract), and what is kept of it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use common::terminal::Terminal;
use common::{BIN, Dir, demo, through, traced, wait_until, words, wrap};

const BYTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/bytes.py");
const CALLER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/caller.py");

/// The bytes of a kept trace, as the target wrote them.
fn bytes_of(log: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut unterminated = false;
    for line in log.split_inclusive(|b| *b == b'\n') {
        if line.starts_with(b"# hrx-wrap/1 ") {
            unterminated |= line.starts_with(b"# hrx-wrap/1 no-newline ");
        } else {
            let space = line.iter().position(|b| *b == b' ').expect("a stamp");
            text.extend_from_slice(&line[space + 1..]);
        }
    }
    if unterminated {
        text.pop();
    }
    text
}

/// The target's bytes through the log and through the echo, written in pieces of `size`.
fn through_both(text: &[u8], size: usize, options: &[&str]) -> (Vec<u8>, Vec<u8>, serde_json::Value) {
    let dir = Dir::new("bytes");
    std::fs::write(dir.join("text"), text).unwrap();
    let mut all = vec!["-o", "run", "--report", "report", "--echo", "all"];
    all.extend(options);
    let size = size.to_string();
    let done = wrap(words(&all, &["python3", BYTES, "text", &size])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let log = std::fs::read(dir.join("run/trace.log")).unwrap();
    (bytes_of(&log), done.stderr, dir.json("run/report.json"))
}

#[test]
fn bytes_in_the_same_bytes_out() {
    let texts: [&[u8]; 6] = [
        b"plain\n",
        b"nul \0 and invalid \xff\xfe utf-8\n\x80\n",
        b"progress 1%\rprogress 2%\rprogress 100%\ndone\n",
        b"\n\n\n",
        b"no line end",
        b"# hrx-wrap/1 end {}\n12345 stamped?\n",
    ];
    for text in texts {
        for size in [1, 3, 4096] {
            for stdio in ["pipe", "pty"] {
                let (logged, shown, report) = through_both(text, size, &["--stdio", stdio]);
                assert_eq!(logged, text, "{stdio} {size}");
                assert_eq!(shown, text, "{stdio} {size}");
                assert_eq!(report["coverage"]["bytes"], text.len());
                let lines = text.split_inclusive(|b| *b == b'\n').count();
                assert_eq!(report["coverage"]["lines"], lines);
                assert_eq!(report["coverage"]["unterminated"], !text.ends_with(b"\n"));
            }
        }
    }
}

#[test]
fn lines_of_many_mib_are_passed_on_in_bounded_memory() {
    let mut text: Vec<u8> = (0..5 << 20).map(|i: u32| b'a' + (i % 23) as u8).collect();
    text.extend_from_slice(b"\nafter\n");
    let (logged, shown, report) = through_both(&text, 1 << 16, &[]);
    assert!(logged == text && shown == text, "{} and {} bytes of {}", logged.len(), shown.len(), text.len());
    assert_eq!((&report["coverage"]["lines"], &report["coverage"]["long_lines"]), (&2.into(), &1.into()));
}

#[test]
fn a_line_has_the_stamp_of_its_first_byte() {
    let dir = Dir::new("stamp");
    let script = "printf 'first ' >&2; echo half; read line; echo second >&2";
    let (from, to) = common::pipe();
    let running = wrap(words(&["-o", "run"], &["sh", "-c", script])).cwd(dir.path()).stdin(from).start();
    running.wait_out("half");
    // The first half is on disk while its line is open.
    wait_until("the first half in the log", || dir.text("run/trace.log").ends_with(" first "));
    let between = hrx_wrap::sys::clock::monotonic_ns();
    drop(to);
    running.finish();
    let log = dir.text("run/trace.log");
    let line = log.lines().find(|l| l.ends_with(" first second")).expect("the whole line");
    let stamp: u64 = line.split(' ').next().unwrap().parse().unwrap();
    assert!(stamp < between, "{stamp} is of the second half, {between}");
}

#[test]
fn stamps_never_go_back_and_lie_within_the_run() {
    let dir = Dir::new("order");
    wrap(demo(&["-o", "run"], &["--no-load", "--numbered", "5000"])).cwd(dir.path()).run();
    let run = dir.json("run/run.json");
    let log = dir.text("run/trace.log");
    let stamps: Vec<u64> = log
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| l.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(stamps.len(), 5000);
    assert!(stamps.is_sorted());
    assert!(stamps[0] > run["clock"]["start_ns"].as_u64().unwrap());
    assert!(stamps[4999] < hrx_wrap::sys::clock::monotonic_ns());
}

#[test]
fn echo_rest_leaves_out_the_serial_trace_alone() {
    let serial = "--serial=on";
    let quick = ["--tokens", "2", "--commands", "3", "--prefill-commands", "2", "--device-us", "0", serial];
    let texts = ["rest", "all", "none"].map(|echo| {
        let dir = Dir::new("echo");
        let done =
            wrap(demo(&["--echo", echo, "--report", "r", "--log", "log"], &quick)).cwd(dir.path()).run();
        (done.err(), bytes_of(&std::fs::read(dir.join("log")).unwrap()))
    });
    let [(rest, log), (all, _), (none, _)] = texts;
    assert_eq!(all.as_bytes(), log);
    assert_eq!(none, "");
    let without: String = all.split_inclusive('\n').filter(|l| !l.contains("hrx debug serial: ")).collect();
    assert!(rest == without && rest.len() < all.len() && rest.contains("model buffer size"), "{rest}");
}

#[test]
fn a_prompt_without_a_line_end_passes_through_while_it_waits() {
    for stdio in ["pipe", "pty"] {
        let (from, to) = common::pipe();
        let script = "printf 'continue? ' >&2; read answer; echo \"$answer\"";
        let running = wrap(words(&["--stdio", stdio], &["sh", "-c", script])).stdin(from).start();
        wait_until("the prompt", || running.err() == "continue? ");
        File::from(to).write_all(b"yes\n").unwrap();
        assert_eq!(running.finish().out(), "yes\n");
    }
}

#[test]
fn a_line_after_a_long_silence_is_echoed_and_kept() {
    let dir = Dir::new("silence");
    // Half a second without a line and the consumer sleeps, however long, until the reader wakes it.
    let script = "for word in one two three; do echo $word >&2; sleep 0.5; done; exec sleep 600";
    let running =
        wrap(words(&["--log", "log", "--report", "r"], &["sh", "-c", script])).cwd(dir.path()).start();
    wait_until("the last word's echo", || running.err().contains("three\n"));
    wait_until("the last word on disk", || dir.text("log").contains("three\n"));
    running.signal(15);
    running.finish();
}

#[test]
fn everything_written_before_the_end_is_logged() {
    for stdio in ["pipe", "pty"] {
        let dir = Dir::new("burst");
        let done = wrap(demo(&["-o", "run", "--echo", "none", "--stdio", stdio], &["--lines", "40000"]))
            .cwd(dir.path())
            .run();
        assert_eq!(done.code(), Some(0));
        let lines = traced(&std::fs::read(dir.join("run/trace.log")).unwrap());
        assert_eq!(lines.len(), 40_000, "{stdio}");
        for (i, line) in lines.iter().enumerate() {
            assert!(
                line.starts_with(format!("line {:06} ", i + 1).as_bytes()),
                "{}",
                String::from_utf8_lossy(line)
            );
        }
    }
}

#[test]
fn a_quick_commands_last_words_are_not_lost_on_a_pty() {
    for _ in 0..50 {
        let done =
            wrap(words(&["--stdio", "pty", "--report", "/dev/null"], &["sh", "-c", "echo last words >&2"]))
                .run();
        assert_eq!(done.err(), "last words\n");
    }
}

#[test]
fn a_process_that_holds_stderr_does_not_hang_us_and_is_named() {
    for stdio in ["pipe", "pty"] {
        let dir = Dir::new("holder");
        let target = ["--hold", "--no-load", "--lines", "3", "--exit-code", "8"];
        let running =
            wrap(demo(&["--leave", "-o", "run", "--stdio", stdio], &target)).cwd(dir.path()).start();
        let mark = running.mark().to_owned();
        let done = running.finish();
        assert_eq!(done.code(), Some(8));
        let left = common::marked(&mark);
        assert_eq!(left.len(), 1);
        let held = dir.json("run/run.json")["end"]["stderr_held_by"].clone();
        assert_eq!(held[0]["pid"], left[0], "{held}");
        assert!(done.fact("stderr").contains("still holds it"), "{}", done.err());
        common::kill(left[0], 9);
    }
}

// Readers of our stderr.

/// A run whose stderr goes to `to`; what matters must be as if it went to a good place.
fn with_stderr(to: std::process::Stdio) {
    let dir = Dir::new("stderr");
    let target = ["--lines", "30000", "--exit-code", "6"];
    let done = wrap(demo(&["-o", "run", "--echo", "all"], &target)).cwd(dir.path()).stderr(to).run();
    assert_eq!(done.code(), Some(6));
    assert_eq!(traced(&std::fs::read(dir.join("run/trace.log")).unwrap()).len(), 30_000);
    let lost = dir.json("run/report.json")["coverage"]["echo_lost_bytes"].as_u64().unwrap();
    assert!(lost > 0, "what was not shown is counted");
    assert!(dir.text("run/report.txt").contains("\nnot shown   "));
}

#[test]
fn a_reader_of_our_stderr_that_never_reads_costs_nothing_but_its_own_view() {
    let (_from, to) = common::pipe();
    with_stderr(to.into());
}

#[test]
fn a_reader_of_our_stderr_that_is_gone_costs_nothing_but_its_own_view() {
    let (from, to) = common::pipe();
    drop(from);
    with_stderr(to.into());
}

#[test]
fn a_full_device_as_our_stderr_costs_nothing_but_its_view() {
    with_stderr(File::options().write(true).open("/dev/full").unwrap().into());
}

#[test]
fn a_slow_reader_of_our_stderr_gets_everything() {
    let dir = Dir::new("slow");
    let (from, to) = common::pipe();
    let running = wrap(demo(&["--echo", "all", "--report", "r"], &["--lines", "20000"]))
        .cwd(dir.path())
        .stderr(to)
        .start();
    let mut from = File::from(from);
    let (mut text, mut piece) = (Vec::new(), vec![0; 3000]);
    while let Ok(n @ 1..) = from.read(&mut piece) {
        text.extend_from_slice(&piece[..n]);
        // Slower than the target, by the work of looking at what came.
        std::hint::black_box(text.iter().filter(|b| **b == b'\n').count());
    }
    assert_eq!(running.finish().code(), Some(0));
    assert_eq!(text.iter().filter(|b| **b == b'\n').count(), 20_000);
}

#[test]
fn our_own_messages_never_panic() {
    for words in [
        &["--bad-option"][..],
        &["--", "/nonexistent"],
        &["parse", "/nonexistent"],
        &["--help"],
        &["self-test"],
    ] {
        let full = || File::options().write(true).open("/dev/full").unwrap();
        let done = wrap(words).stdout(full()).stderr(full()).run();
        assert!(done.code().is_some_and(|c| c != 101), "{words:?}: {done:?}");
    }
}

// The log's disk.

#[test]
fn a_full_disk_neither_blocks_nor_kills_the_target_and_the_loss_is_exact() {
    let dir = Dir::new("full");
    let options = ["--log", "/dev/full", "--json", "report.json"];
    let done = wrap(demo(&options, &["--lines", "1000", "--exit-code", "3"])).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(3));
    let message = "hrx-wrap: cannot write /dev/full: No space left on device";
    assert_eq!(done.err().matches(message).count(), 1, "{}", done.err());
    let coverage = dir.json("report.json")["coverage"].clone();
    assert_eq!((&coverage["lines"], &coverage["log_lost_lines"]), (&1000.into(), &1000.into()), "{coverage}");
}

#[test]
fn a_disk_that_fills_up_in_the_run_loses_what_is_said_and_no_more() {
    if !common::status_field(std::process::id().cast_signed(), "Uid").starts_with("0\t") {
        // Without root no small file system can be made; a file size limit is the same to the log.
        return limited_by_rlimit();
    }
    let dir = Dir::new("small-disk");
    let disk = dir.join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=128k", "none"])
        .arg(&disk)
        .status();
    assert!(mounted.unwrap().success());
    let done =
        wrap(demo(&["--log", "disk/log", "--json", "r.json"], &["--lines", "5000", "--exit-code", "3"]))
            .cwd(dir.path())
            .run();
    let log = std::fs::read(disk.join("log")).unwrap_or_default();
    let unmounted = std::process::Command::new("umount").arg(&disk).status();
    assert!(unmounted.unwrap().success());
    check_loss(&done, &log, &dir.json("r.json"));
}

fn limited_by_rlimit() {
    let dir = Dir::new("small-limit");
    let script = format!(
        "trap '' XFSZ; ulimit -S -f 128; exec {BIN} --log log --json r.json -- {BIN} demo-target --lines 5000 --exit-code 3"
    );
    let done = through("bash", ["-c", &script]).cwd(dir.path()).run();
    check_loss(&done, &std::fs::read(dir.join("log")).unwrap(), &dir.json("r.json"));
}

fn check_loss(done: &common::Done, log: &[u8], report: &serde_json::Value) {
    assert_eq!(done.code(), Some(3), "{}", done.err());
    assert_eq!(done.err().matches("hrx-wrap: cannot write ").count(), 1, "one message: {}", done.err());
    let coverage = &report["coverage"];
    assert_eq!(coverage["lines"], 5000, "all were seen");
    let whole =
        log.split_inclusive(|b| *b == b'\n').filter(|l| l[0] != b'#' && l.ends_with(b"\n")).count() as u64;
    assert_eq!(coverage["log_lost_lines"].as_u64(), Some(5000 - whole), "{coverage}");
    assert!(done.fact("LOST").contains("the disk did not take them"));
    let words = ["parse", "-"];
    let (from, to) = common::pipe();
    let log = log.to_vec();
    let feeding = std::thread::spawn(move || File::from(to).write_all(&log));
    assert_eq!(wrap(words).stdin(from).run().code(), Some(0));
    feeding.join().unwrap().unwrap();
}

#[test]
fn a_slow_disk_makes_the_target_wait_and_loses_nothing() {
    let dir = Dir::new("slow-disk");
    assert!(std::process::Command::new("mkfifo").arg(dir.join("log")).status().unwrap().success());
    let target = ["--lines", "200000", "--line-bytes", "200"];
    let running =
        wrap(demo(&["--log", "log", "--echo", "none", "--json", "r.json"], &target)).cwd(dir.path()).start();
    let mut log = File::open(dir.join("log")).unwrap();
    // 40 MB do not fit into the ring: the target has to wait before we read the first byte.
    let mut text = vec![0; 1];
    log.read_exact(&mut text).unwrap();
    let supervisor = common::supervisor_of(running.pid());
    let target = common::target_of(running.pid());
    wait_until("the target waits for room in its pipe", || {
        let wait = std::fs::read_to_string(format!("/proc/{target}/wchan")).unwrap_or_default();
        wait.contains("pipe") || common::state(target) == Some('S')
    });
    assert!(common::state(supervisor).is_some());
    log.read_to_end(&mut text).unwrap();
    assert_eq!(running.finish().code(), Some(0));
    assert_eq!(traced(&text).len(), 200_000);
    let stalls = dir.json("r.json")["stalls"].clone();
    assert!(stalls["count"].as_u64() >= Some(1) && stalls["longest_ns"].as_u64() > Some(0), "{stalls}");
}

// Terminals.

#[test]
fn in_pty_mode_stderr_is_a_terminal_and_in_pipe_mode_it_is_not() {
    let test = ["sh", "-c", "test -t 2"];
    assert_eq!(wrap(words(&["--stdio", "pty"], &test)).run().code(), Some(0));
    assert_eq!(wrap(words(&["--stdio", "pipe"], &test)).run().code(), Some(1));
    assert_eq!(wrap(words(&[], &test)).run().code(), Some(1), "auto, and our stderr is a pipe");
    let dir = Dir::new("auto");
    let terminal = Terminal::with(&[BIN, "--report", "r", "--", "sh", "-c", "test -t 2"], dir.path());
    assert_eq!(terminal.shell.finish().code(), Some(0), "auto, and our stderr is a terminal");
}

#[test]
fn the_targets_terminal_has_the_users_window_size_and_follows_it() {
    let dir = Dir::new("window");
    let script = "while :; do stty size <&2 >size.new; mv size.new size; sleep 0.01; done";
    let terminal = Terminal::with(&[BIN, "--", "sh", "-c", script], dir.path());
    let size = || std::fs::read_to_string(dir.join("size")).unwrap_or_default();
    wait_until("the first size", || size() == "24 200\n");
    terminal.resize(50, 132);
    wait_until("the new size", || size() == "50 132\n");
    terminal.keys(b"\x03");
    terminal.shell.finish();
}

#[test]
fn a_pty_that_closes_is_an_end_of_file_and_not_an_error() {
    let dir = Dir::new("eio");
    let done = wrap(words(
        &["--stdio", "pty", "-o", "run"],
        &["sh", "-c", "echo one >&2; exec 2>&-; echo two; exit 2"],
    ))
    .cwd(dir.path())
    .run();
    assert_eq!((done.code(), done.out()), (Some(2), "two\n".to_owned()));
    assert_eq!(traced(dir.text("run/trace.log").as_bytes()), [b"one".to_vec()]);
}

// Idle.

/// CPU time of a process as the scheduler counts it, and how often one of its threads went to sleep, which is how often one woke.
fn idling(pid: i32) -> (Duration, u64) {
    let clock = nix::time::ClockId::pid_cpu_clock_id(nix::unistd::Pid::from_raw(pid)).unwrap();
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let slept = |task: std::fs::DirEntry| -> u64 {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let line = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
    };
    (clock.now().unwrap().into(), tasks.map(slept).sum())
}

#[test]
fn idle_it_wakes_for_its_samples_and_for_nothing_else_whatever_is_closed() {
    let closings: [&[&str]; 4] = [
        &[],
        &["--close", "0", "--close", "1"],
        &["--close", "2"],
        &["--close", "0", "--close", "1", "--close", "2"],
    ];
    let dirs: Vec<Dir> = closings.iter().map(|_| Dir::new("idle")).collect();
    let runs: Vec<_> = closings
        .iter()
        .zip(&dirs)
        .map(|(closed, dir)| {
            // The target's stderr is closed as well: the reader has nothing to wait for any more.
            let target = ["--", "sh", "-c", "exec 2>&-; exec sleep 600"];
            let all = [CALLER].iter().chain(*closed).chain(&["--", BIN, "--report", "r"]).chain(&target);
            through("python3", all).cwd(dir.path()).start()
        })
        .collect();
    for running in &runs {
        wait_until("the target's sleep", || {
            common::exe(target_of(running)).is_some_and(|e| e.ends_with("sleep"))
        });
    }
    let pids: Vec<[i32; 2]> = runs.iter().map(|r| [r.pid(), common::supervisor_of(r.pid())]).collect();
    let sum = |pids: &[i32; 2]| {
        pids.iter().map(|p| idling(*p)).fold((Duration::ZERO, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    let before: Vec<_> = pids.iter().map(sum).collect();
    let since = std::time::Instant::now();
    wait_until("three seconds of idling", || since.elapsed().as_secs() >= 3);
    for (pids, before) in pids.iter().zip(before) {
        let (now, seconds) = (sum(pids), since.elapsed().as_secs_f64());
        // 20 samples a second, and some room. What a wake costs is the machine's matter (55 to 330 µs were seen on one), so the
        // share of a core that this comes to is measured by a bench; here a loop that never sleeps has to show.
        let woke = (now.1 - before.1) as f64;
        assert!(woke > 2.0 * seconds && woke < 28.0 * seconds, "it woke {woke} times in {seconds} s");
        assert!((now.0 - before.0).as_secs_f64() < seconds / 5.0, "{:?} in {seconds} s", now.0 - before.0);
    }
    for running in runs {
        running.signal(15);
        running.finish();
    }
}

fn target_of(running: &common::Running) -> i32 {
    // Behind caller.py, which has become hrx-wrap by the time it has children.
    wait_until("hrx-wrap", || common::exe(running.pid()).is_some_and(|e| e == Path::new(BIN)));
    common::target_of(running.pid())
}

#[test]
fn our_report_does_not_stick_to_the_targets_last_words() {
    for (echo, shown) in [("rest", "a\nb\nhrx-wrap "), ("all", "a\nb\nhrx-wrap "), ("none", "hrx-wrap ")] {
        let done = wrap(["--echo", echo, "--", "sh", "-c", r"printf 'a\nb' >&2"]).run();
        assert!(done.err().starts_with(shown), "{echo}: {}", done.err());
    }
    let done = wrap(["--report", "/dev/null", "--", "sh", "-c", r"printf 'a\nb' >&2"]).run();
    assert_eq!(done.err(), "a\nb", "without a report of ours the bytes are the target's");
}
