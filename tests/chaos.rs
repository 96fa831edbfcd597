//! SIGKILL at any moment, on the pid that the user started, on its group, on the supervisor process, on all at once: no
//! process of the tree outlives it by more than a second, every line that the target wrote is in the log once and in
//! order, the log parses, and the reports are there and say that they are partial (rows 12 to 19 of the supervision
//! contract).
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a helper that fails is a test that fails, and says how to see it again"
)]

mod common;

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use common::disk::SmallDisk;
use common::{Dir, Running, children, demo, kill, marked, state, target_of, traced, wait_until, wrap};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

const O_NONBLOCK: i32 = 0o4000;
const STOP: i32 = 19;
const CONT: i32 = 18;
/// A tree has this long to be gone.
const A_SECOND: Duration = Duration::from_secs(1);
/// Numbers without end: such a target lives until something kills it.
const ENDLESS: &str = "10000000";
/// Bytes of a number in the target's own file.
const NUMBER: u64 = 9;

/// Who gets the SIGKILL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    /// The pid that the user started.
    Front,
    /// Its process group.
    Group,
    /// The process that it made to supervise.
    Supervisor,
}

const ALL: [Victim; 3] = [Victim::Front, Victim::Group, Victim::Supervisor];

/// A run of the target that numbers its lines and notes each number in a file of its own once the line is written.
struct Run {
    dir: Dir,
    running: Running,
}

impl Run {
    /// `hrx-wrap -o DIR/run OPTIONS -- demo-target --numbered N --numbered-log DIR/numbers TARGET`.
    fn start(count: &str, options: &[&str], target: &[&str]) -> Run {
        let dir = Dir::new("chaos");
        Run::start_in(dir, count, options, target)
    }

    fn start_in(dir: Dir, count: &str, options: &[&str], target: &[&str]) -> Run {
        let mut all = vec!["-o", "run"];
        all.extend(options);
        let mut numbered = vec!["--numbered", count, "--numbered-log", "numbers"];
        numbered.extend(target);
        let running = wrap(demo(&all, &numbered)).cwd(dir.path()).own_group().start();
        Run { dir, running }
    }

    /// The supervisor process, as soon as it is there.
    fn supervisor(&self) -> i32 {
        let front = self.running.pid();
        let mut found = None;
        wait_until("the supervisor process", || {
            // Where the kernel has it, this is quick enough for the first moments of a run.
            let listed = std::fs::read_to_string(format!("/proc/{front}/task/{front}/children"));
            found = match listed {
                Ok(pids) => pids.split_whitespace().next().and_then(|pid| pid.parse().ok()),
                Err(_) => children(front).first().copied(),
            };
            found.is_some()
        });
        found.expect("waited for")
    }

    /// SIGKILL. Says when, and does not return before a killed front is reaped.
    fn strike(&mut self, victim: Victim) -> Instant {
        let front = self.running.pid();
        let supervisor = (victim == Victim::Supervisor).then(|| self.supervisor());
        let at = Instant::now();
        match victim {
            Victim::Front => sigkill(front),
            Victim::Group => killpg(Pid::from_raw(front), Signal::SIGKILL).expect("killpg"),
            Victim::Supervisor => sigkill(supervisor.expect("looked up")),
        }
        if victim != Victim::Supervisor {
            self.running.child.wait().expect("wait");
        }
        at
    }

    /// As [`Self::strike`], then everything that is promised of it: the tree ends within a second, the rest of it by
    /// itself, and a front that lost its supervisor says so with its status. What is left is looked at by the caller.
    fn strike_and_end(mut self, victim: Victim) -> Left {
        let at = self.strike(victim);
        tree_ends_within_a_second(self.running.mark(), at);
        self.end(victim)
    }

    /// Waits for the end of what goes on after the kill.
    fn end(self, victim: Victim) -> Left {
        let mark = self.running.mark().to_owned();
        let done = self.running.finish();
        if victim == Victim::Supervisor {
            assert_eq!(done.code(), Some(125), "the front's status:\n{}", done.err());
        }
        wait_until("the end of every process", || marked(&mark).is_empty());
        Left { dir: self.dir, err: done.err() }
    }

    /// Waits until the target has written so many numbers.
    fn wait_for_numbers(&self, count: u64) {
        wait_until("lines of the target", || self.numbers() >= count);
    }

    /// How many numbers the target has noted.
    fn numbers(&self) -> u64 {
        self.dir.join("numbers").metadata().map_or(0, |m| m.len() / NUMBER)
    }

    /// A number that the target had noted for far longer than the log may lag behind when everything is killed, on a
    /// machine that keeps threads waiting.
    fn numbers_long_ago(&self) -> u64 {
        self.wait_for_numbers(50);
        let (noted, since) = (self.numbers(), Instant::now());
        wait_until("the target to go on", || since.elapsed() > A_SECOND && self.numbers() > noted);
        noted
    }
}

/// What a run left behind.
struct Left {
    dir: Dir,
    err: String,
}

impl Left {
    /// The log holds every line once and in order, and the reports are there, agree with it and say why they are partial.
    #[track_caller]
    fn is_whole(&self, why: &str) {
        self.log_is_whole();
        self.is_partial(why);
        self.parses_as_partial();
    }

    /// The log has every number once, up to the target's last.
    #[track_caller]
    fn log_is_whole(&self) {
        let (logged, noted) = (numbered(&self.log()), self.noted());
        // The line comes before its number: one may be written and not noted.
        assert!(
            logged == noted || logged == noted + 1,
            "the target noted {noted} lines, the log has {logged}"
        );
    }

    #[track_caller]
    fn is_partial(&self, why: &str) {
        for name in ["run/report.txt", "run/report.json", "run/run.json"] {
            assert!(self.dir.join(name).exists(), "no {name}; stderr:\n{}", self.err);
        }
        let report = self.dir.text("run/report.txt");
        let first = report.lines().next().unwrap_or_default();
        assert!(first.starts_with("PARTIAL: ") && first.contains(why), "not {why:?}: {first:?}");
        let record = self.dir.json("run/run.json");
        assert!(record["end"]["partial"].as_str().is_some_and(|p| p.contains(why)), "{}", record["end"]);
        assert_eq!(self.dir.json("run/report.json")["partial"]["is"], true);
        let unfinished = std::fs::read_dir(self.dir.join("run")).expect("the run folder").flatten();
        let unfinished: Vec<_> =
            unfinished.map(|e| e.file_name()).filter(|n| n.as_encoded_bytes().ends_with(b".new")).collect();
        assert!(unfinished.is_empty(), "{unfinished:?}");
    }

    /// `parse` reads what is left, counts the lines that are there, and says that it is not the whole story.
    #[track_caller]
    fn parses_as_partial(&self) {
        let report = parsed(&self.dir.join("run"));
        assert_eq!(report["partial"]["is"], true);
        assert_eq!(report["coverage"]["lines"], traced(whole_lines(&self.log())).len());
    }

    /// What the target preloaded is gone.
    #[track_caller]
    fn left_no_object(&self) {
        let record = self.dir.json("run/run.json");
        let set = record["changed"]["env"].as_array().expect("a list").iter().filter_map(|v| v.as_str());
        for object in set.filter_map(|v| v.strip_prefix("LD_PRELOAD=")) {
            assert!(!Path::new(object).exists(), "{object} is still there");
        }
    }

    fn log(&self) -> Vec<u8> {
        std::fs::read(self.dir.join("run/trace.log")).unwrap_or_default()
    }

    /// The last number that the target noted.
    fn noted(&self) -> u64 {
        last_number(&self.dir.join("numbers"))
    }
}

/// The numbers in a log, which have to be 1, 2, 3, … without a gap or a repeat; other lines may stand between them.
#[track_caller]
fn numbered(log: &[u8]) -> u64 {
    let lines = traced(whole_lines(log));
    let mut last = 0;
    for line in lines.iter().filter_map(|l| l.strip_prefix(b"numbered ")) {
        let expected = format!("{:08}", last + 1);
        assert_eq!(String::from_utf8_lossy(line), expected, "behind number {last}");
        last += 1;
    }
    last
}

/// A file up to its last line end.
fn whole_lines(text: &[u8]) -> &[u8] {
    &text[..text.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1)]
}

/// The last whole number in the target's own file.
fn last_number(file: &Path) -> u64 {
    let text = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(whole_lines(&text)).into_owned();
    text.lines().next_back().map_or(0, |n| n.parse().expect("a number"))
}

/// The JSON report that `parse` makes.
#[track_caller]
fn parsed(path: &Path) -> serde_json::Value {
    let done = wrap([Path::new("parse"), path, Path::new("--json"), Path::new("-")]).run();
    assert_eq!(done.code(), Some(0), "parse: {}", done.err());
    serde_json::from_slice(&done.stdout).expect("JSON")
}

fn sigkill(pid: i32) {
    nix::sys::signal::kill(Pid::from_raw(pid), Signal::SIGKILL).expect("kill");
}

/// The target and what it started: all of them are the built-in target. The supervisor, or the front that does its work,
/// lives on until the reports are written, and may ask git for them.
fn tree(mark: &str) -> Vec<i32> {
    let of_tree = |pid: &i32| {
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.split(|b| *b == 0).nth(1) == Some(b"demo-target")
    };
    marked(mark).into_iter().filter(of_tree).collect()
}

/// Time that a look at the tree takes where there is a processor for it.
const LOOK: Duration = Duration::from_millis(5);

/// The clock of the second stands still while this thread is kept from running: so are the others then.
#[track_caller]
fn tree_ends_within_a_second(mark: &str, since: Instant) {
    let (mut waited, mut looked) = (Duration::ZERO, since);
    loop {
        let left = tree(mark);
        if left.is_empty() {
            return;
        }
        assert!(waited < A_SECOND, "alive {:?} after the kill: {left:?}", since.elapsed());
        std::thread::sleep(Duration::from_millis(2));
        let now = Instant::now();
        waited += (now - looked).min(LOOK);
        looked = now;
    }
}

/// xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Says what to do to see a failure again.
struct Again(String);

impl Drop for Again {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.0);
        }
    }
}

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

#[test]
fn three_hundred_random_kills() {
    let trials = number_from("HRX_WRAP_CHAOS").unwrap_or(300) as usize;
    let seed = number_from("HRX_WRAP_CHAOS_SEED").unwrap_or_else(|| {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |t| t.subsec_nanos().into())
    });
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= trials {
                        break;
                    }
                    let outcome = std::panic::catch_unwind(|| random_kill(seed, index));
                    if let Err(panic) = outcome {
                        failed.store(true, Ordering::Relaxed);
                        std::panic::resume_unwind(panic);
                    }
                }
            });
        }
    });
}

fn random_kill(seed: u64, index: usize) {
    let mut random = Random((seed + 1) ^ (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let victim = ALL[index % 3];
    let every = ["0", "20", "200"][index / 3 % 3];
    let stamp = ["read", "source"][index / 9 % 2];
    let stdio = if random.below(8) == 0 { "pty" } else { "pipe" };
    let echo = if random.below(4) == 0 { "all" } else { "none" };
    // The first moments, when most is not there yet, get more than their share.
    let span = if random.below(3) == 0 { 12_000 } else { 120_000 };
    let moment = Duration::from_micros(random.below(span));
    let mut again = Again(format!(
        "trial {index}: {victim:?} killed {moment:?} after the start, a line every {every} µs, {stdio}, echo {echo}, \
         stamp {stamp}; \
         again with HRX_WRAP_CHAOS_SEED={seed}"
    ));

    let start = Instant::now();
    let options = ["--stdio", stdio, "--echo", echo, "--stamp", stamp];
    let mut run = Run::start(ENDLESS, &options, &["--every-us", every]);
    again.0 += &format!("; {}", run.dir.path().display());
    std::thread::sleep(moment.saturating_sub(start.elapsed()));
    let at = run.strike(victim);
    tree_ends_within_a_second(run.running.mark(), at);
    let left = run.end(victim);
    if victim != Victim::Supervisor && !left.dir.join("run/report.txt").exists() {
        return killed_before_the_supervisor_was_there(&left);
    }
    let log = left.log();
    let (logged, noted) = (numbered(&without_a_torn_last_line(&log, stdio)), left.noted());
    assert!(logged == noted || logged == noted + 1, "the target noted {noted} lines, the log has {logged}");
    left.is_partial(if victim == Victim::Supervisor {
        "supervisor process was killed"
    } else {
        "first process"
    });
    left.parses_as_partial();
    left.left_no_object();
}

/// A terminal takes a line in pieces, so a killed target may have written half of its last one; a pipe takes it whole.
fn without_a_torn_last_line(log: &[u8], stdio: &str) -> Vec<u8> {
    let mut log = log.to_vec();
    let last = log.split_inclusive(|b| *b == b'\n').rev().find(|l| !l.starts_with(b"#")).map(<[u8]>::to_vec);
    if stdio == "pty"
        && let Some(last) = last
        && traced(&last).first().is_some_and(|line| line.len() < b"numbered 00000000".len())
    {
        let at = log.windows(last.len()).rposition(|w| w == last).expect("found before");
        log.drain(at..at + last.len());
    }
    log
}

/// Then nothing was started, and what is in the folder, if anything, is a run without an end.
fn killed_before_the_supervisor_was_there(left: &Left) {
    assert!(
        !left.dir.join("numbers").exists(),
        "a target ran, and there is no report; stderr:\n{}",
        left.err
    );
    if left.dir.join("run/run.json").exists() {
        let record = left.dir.json("run/run.json");
        assert!(record["end"].is_null() && record["pid"].is_null(), "{record}");
        left.parses_as_partial();
    }
}

/// Reads what comes through a pipe until no process with the mark is left.
fn read_all(from: &mut File, mark: &str) -> String {
    let mut text = Vec::new();
    wait_until("the end of every writer", || {
        let over = marked(mark).is_empty();
        match from.read_to_end(&mut text) {
            Err(e) if e.kind() != ErrorKind::WouldBlock => panic!("{e}"),
            _ => over,
        }
    });
    String::from_utf8(text).expect("text")
}

/// A named pipe that nobody reads yet.
fn named_pipe(path: &Path) -> PathBuf {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
    path.to_owned()
}

/// Its reading end. Waits neither for a writer now nor for bytes later.
fn reader_of(pipe: &Path) -> File {
    File::options().read(true).custom_flags(O_NONBLOCK).open(pipe).expect("the pipe")
}

/// A run that has ended but for its last report: that goes to a pipe which is full.
fn writing_its_last_report(option: &str) -> (Run, File) {
    let dir = Dir::new("chaos");
    let pipe = named_pipe(&dir.join("pipe"));
    let from = reader_of(&pipe);
    let mut to = File::options().write(true).custom_flags(O_NONBLOCK).open(&pipe).expect("the pipe");
    while to.write_all(b"full\n").is_ok() {}
    drop(to);
    let run = Run::start_in(dir, "2000", &["--echo", "none", option, "pipe"], &[]);
    wait_until("the reports in the folder", || run.dir.join("run/report.json").exists());
    (run, from)
}

#[test]
fn a_front_killed_while_the_final_report_is_written_gets_it_written_again_as_partial() {
    let (mut run, mut from) = writing_its_last_report("--report");
    assert!(!run.dir.text("run/report.txt").contains("PARTIAL"));
    let at = run.strike(Victim::Front);
    tree_ends_within_a_second(run.running.mark(), at);
    let text = read_all(&mut from, run.running.mark());
    let left = run.end(Victim::Front);
    let why = "first process) after the target had ended; what it printed is whole";
    left.is_whole(why);
    assert!(text.contains(why), "{text}");
    assert_eq!(left.noted(), 2000);
}

#[test]
fn a_supervisor_killed_while_the_final_report_is_written_leaves_it_to_the_front() {
    let (mut run, mut from) = writing_its_last_report("--json");
    let at = run.strike(Victim::Supervisor);
    tree_ends_within_a_second(run.running.mark(), at);
    let text = read_all(&mut from, run.running.mark());
    let left = run.end(Victim::Supervisor);
    left.is_whole("supervisor process was killed");
    let report = &text[text.rfind("\n{").expect("JSON")..];
    let report: serde_json::Value = serde_json::from_str(report).expect("one whole report");
    assert_eq!((&report["partial"]["is"], &report["coverage"]["lines"]), (&true.into(), &2000.into()));
}

#[test]
fn a_kill_in_the_grace_of_a_timeout_does_not_wait_for_its_end() {
    for victim in ALL {
        let left = in_the_grace_of_a_timeout().strike_and_end(victim);
        left.is_whole("so the target was ended");
    }
}

/// A run whose target got the timeout's signal and lives on.
fn in_the_grace_of_a_timeout() -> Run {
    // On a busy machine the timeout may come before the target is ready for it: then it gets more time.
    for timeout in ["100ms", "500ms", "3s", "15s"] {
        let options = ["--echo", "none", "-t", timeout, "-k", "20s"];
        let mut run = Run::start(ENDLESS, &options, &["--every-us", "200", "--count-signals"]);
        let mut in_grace = false;
        wait_until("the timeout", || {
            in_grace = run.running.out().contains("signal TERM count 1\n");
            in_grace || run.running.child.try_wait().expect("wait").is_some()
        });
        if in_grace {
            return run;
        }
    }
    panic!("the target never was ready in time");
}

#[test]
fn the_rest_is_written_behind_what_is_on_disk_by_whoever_is_left() {
    for stamp in ["read", "source"] {
        for victim in ALL {
            let run = Run::start(ENDLESS, &["--echo", "none", "--stamp", stamp], &["--every-us", "20"]);
            let on_disk = || run.dir.join("run/trace.log").metadata().map_or(0, |m| m.len());
            wait_until("a log of some length", || on_disk() > 300_000);
            let left = run.strike_and_end(victim);
            left.is_whole("so the target was ended");
            let report = left.dir.json("run/report.json");
            let (lines, at_source) = (&report["coverage"]["lines"], &report["stamps"]["source_lines"]);
            assert!(
                if stamp == "source" { at_source == lines } else { at_source == 0 },
                "{at_source} of {lines}"
            );
        }
    }
}

#[test]
fn a_target_that_ignores_term_is_gone_within_a_second() {
    for victim in ALL {
        let run = Run::start(ENDLESS, &["--echo", "none"], &["--every-us", "20", "--ignore-term"]);
        run.wait_for_numbers(200);
        run.strike_and_end(victim).is_whole("so the target was ended");
    }
}

#[test]
fn grandchildren_in_sessions_of_their_own_are_gone_within_a_second() {
    for victim in ALL {
        // They ignore what the target ignores.
        let target = ["--every-us", "200", "--fork", "3", "--setsid", "--hold", "--ignore-term"];
        let run = Run::start(ENDLESS, &["--echo", "none"], &target);
        run.wait_for_numbers(50);
        let said = |log: &str| log.matches(" grandchild ").count();
        wait_until("their lines", || said(&run.dir.text("run/trace.log")) == 3);
        assert_eq!(tree(run.running.mark()).len(), 5);
        let left = run.strike_and_end(victim);
        left.is_whole("so the target was ended");
        assert_eq!(said(&String::from_utf8_lossy(&left.log())), 3);
    }
}

#[test]
fn a_stopped_target_is_gone_within_a_second() {
    for victim in ALL {
        let mut run = Run::start(ENDLESS, &["--echo", "none"], &["--every-us", "200"]);
        run.wait_for_numbers(50);
        let (front, target) = (run.running.pid(), target_of(run.running.pid()));
        kill(target, STOP);
        wait_until("the target and the front to stop", || {
            [target, front].iter().all(|pid| state(*pid) == Some('T'))
        });
        let at = run.strike(victim);
        tree_ends_within_a_second(run.running.mark(), at);
        if victim == Victim::Supervisor {
            // A stopped front does what is left to do once a shell continues it.
            kill(front, CONT);
        }
        run.end(victim).is_whole("so the target was ended");
    }
}

/// Whether the thread that writes the log waits for a pipe's reader.
fn waits_for_a_reader(supervisor: i32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{supervisor}/task")).into_iter().flatten().flatten();
    let mut of_consumer = threads
        .map(|t| t.path())
        .filter(|t| std::fs::read_to_string(t.join("comm")).is_ok_and(|name| name == "consumer\n"));
    of_consumer.any(|t| std::fs::read_to_string(t.join("wchan")).is_ok_and(|at| at.contains("pipe_write")))
}

#[test]
fn a_log_that_is_a_pipe_with_a_slow_reader_gets_whole_lines_in_order() {
    for victim in ALL {
        let dir = Dir::new("chaos");
        let pipe = named_pipe(&dir.join("pipe"));
        let no_writer_yet = reader_of(&pipe);
        let mut run =
            Run::start_in(dir, ENDLESS, &["--echo", "none", "--log", "pipe"], &["--every-us", "20"]);
        let supervisor = run.supervisor();
        wait_until("a full pipe", || waits_for_a_reader(supervisor));
        let written = run.numbers();
        wait_until("the target to go on meanwhile", || run.numbers() > written + 1000);

        let at = run.strike(victim);
        // Else it could see room and write once more on its way out, unnoticed by its successor.
        wait_until("the victim's end", || {
            // Reaped, that is: a zombie's other threads may have their end before them.
            victim != Victim::Supervisor || state(supervisor).is_none()
        });
        let mut from = File::open(&pipe).expect("the pipe");
        drop(no_writer_yet);
        let reading = std::thread::spawn(move || {
            let (mut text, mut piece) = (Vec::new(), [0; 4096]);
            while let Ok(n) = from.read(&mut piece)
                && n > 0
            {
                text.extend_from_slice(&piece[..n]);
                std::thread::sleep(Duration::from_micros(500));
            }
            text
        });
        tree_ends_within_a_second(run.running.mark(), at);
        let left = run.end(victim);
        let log = reading.join().expect("the reader");
        let (logged, noted) = (numbered(&log), left.noted());
        assert!(logged == noted || logged == noted + 1, "{noted} lines noted, {logged} in the log");
        left.is_partial("so the target was ended");
        assert_eq!(left.dir.json("run/report.json")["coverage"]["lines"], logged);
    }
}

#[test]
fn a_log_whose_reader_is_gone_holds_up_nothing() {
    let dir = Dir::new("chaos");
    let pipe = named_pipe(&dir.join("pipe"));
    let from = reader_of(&pipe);
    let count = 100_000;
    let run = Run::start_in(dir, &count.to_string(), &["--echo", "none", "--log", "pipe"], &[]);
    let supervisor = run.supervisor();
    wait_until("a full pipe", || waits_for_a_reader(supervisor));
    drop(from);
    let dir = run.dir.path().to_owned();
    let done = run.running.finish();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    assert_eq!(last_number(&dir.join("numbers")), count);
    assert!(done.err().contains("Broken pipe"), "{}", done.err());
    let report = run.dir.json("run/report.json");
    assert_eq!(report["coverage"]["lines"], count);
    assert!(report["coverage"]["log_lost_lines"].as_u64().is_some_and(|n| n > 0), "{}", report["coverage"]);
}

#[test]
fn a_log_whose_reader_never_reads_does_not_hold_up_whoever_writes_the_report() {
    let dir = Dir::new("chaos");
    let pipe = named_pipe(&dir.join("pipe"));
    let _never_read = reader_of(&pipe);
    let mut run = Run::start_in(dir, ENDLESS, &["--echo", "none", "--log", "pipe"], &["--every-us", "20"]);
    let supervisor = run.supervisor();
    wait_until("a full pipe", || waits_for_a_reader(supervisor));
    let at = run.strike(Victim::Supervisor);
    tree_ends_within_a_second(run.running.mark(), at);
    let left = run.end(Victim::Supervisor);
    left.is_partial("the log's disk (or reader) did not take the rest in time");
}

#[test]
fn a_full_disk_loses_lines_of_the_log_and_none_of_the_count() {
    for victim in ALL {
        let dir = Dir::new("chaos");
        let Some(disk) = SmallDisk::mount(dir.join("disk"), "64k") else {
            eprintln!("skipped: a small disk cannot be mounted here");
            return;
        };
        let run =
            Run::start_in(dir, ENDLESS, &["--echo", "none", "--log", "disk/log"], &["--every-us", "20"]);
        wait_until("a full disk", || run.running.err().contains("No space left on device"));
        let written = run.numbers();
        wait_until("the target to go on", || run.numbers() > written + 1000);

        let left = run.strike_and_end(victim);
        assert_eq!(left.err.matches("No space left on device").count(), 1, "{}", left.err);
        left.is_partial("so the target was ended");
        let log = std::fs::read(left.dir.join("disk/log")).expect("the log");
        let (logged, noted) = (numbered(&log), left.noted());
        let coverage = &left.dir.json("run/report.json")["coverage"];
        let (read, lost) = (coverage["lines"].as_u64(), coverage["log_lost_lines"].as_u64());
        assert!(read == Some(noted) || read == Some(noted + 1), "{noted} lines noted, {coverage}");
        assert_eq!(read, lost.map(|lost| logged + lost), "{logged} whole lines in the log, {coverage}");
        let parsed = parsed(&left.dir.join("disk/log"));
        assert_eq!((&parsed["partial"]["is"], &parsed["coverage"]["lines"]), (&true.into(), &logged.into()));
        // Before the folder, which cannot go while a disk is mounted in it.
        drop(disk);
    }
}

#[test]
fn a_log_on_a_full_device_loses_every_line_and_none_of_the_count() {
    for victim in ALL {
        let run = Run::start(ENDLESS, &["--echo", "none", "--log", "/dev/full"], &["--every-us", "20"]);
        wait_until("a full device", || run.running.err().contains("No space left on device"));
        run.wait_for_numbers(1000);
        let left = run.strike_and_end(victim);
        left.is_partial("so the target was ended");
        let coverage = &left.dir.json("run/report.json")["coverage"];
        let (read, noted) = (coverage["lines"].as_u64(), left.noted());
        assert!(read == Some(noted) || read == Some(noted + 1), "{noted} lines noted, {coverage}");
        assert!(coverage["log_lost_lines"].as_u64() >= read, "{coverage}");
    }
}

#[test]
fn front_and_supervisor_killed_at_once_leave_a_whole_log_and_no_target() {
    for (front_first, stamp) in [(true, "read"), (false, "read"), (true, "source"), (false, "source")] {
        let mut run = Run::start(ENDLESS, &["--echo", "none", "--stamp", stamp], &["--every-us", "20"]);
        let noted = run.numbers_long_ago();
        let mut pids = [run.running.pid(), run.supervisor()];
        if !front_first {
            pids.reverse();
        }
        let at = Instant::now();
        pids.into_iter().for_each(sigkill);
        run.running.child.wait().expect("wait");
        tree_ends_within_a_second(run.running.mark(), at);
        nobody_was_left_to_write(run, noted);
    }
}

#[test]
fn everything_killed_at_once_leaves_a_whole_log() {
    for stamp in ["read", "read", "source", "source"] {
        let options = ["--echo", "none", "--stamp", stamp];
        let mut run = Run::start(ENDLESS, &options, &["--every-us", "20", "--fork", "2", "--setsid"]);
        let noted = run.numbers_long_ago();
        for pid in run.running.alive() {
            // One may have died with another by now.
            let _ = nix::sys::signal::kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        run.running.child.wait().expect("wait");
        nobody_was_left_to_write(run, noted);
    }
}

/// The log is as it was on disk, and holds what is older than 100 ms.
fn nobody_was_left_to_write(run: Run, noted_long_ago: u64) {
    let left = run.end(Victim::Front);
    let logged = numbered(&left.log());
    assert!(logged >= noted_long_ago, "{logged} lines in the log, {noted_long_ago} were there long before");
    assert!(logged <= left.noted() + 1);
    assert!(!left.dir.join("run/report.txt").exists());
    left.parses_as_partial();
}

#[test]
fn a_target_killed_in_mid_flood_is_mirrored_and_its_lines_are_there() {
    for (every, stamp) in [("0", "read"), ("20", "read"), ("0", "source"), ("20", "source")] {
        let run = Run::start(ENDLESS, &["--echo", "none", "--stamp", stamp], &["--every-us", every]);
        run.wait_for_numbers(1000);
        sigkill(target_of(run.running.pid()));
        let done = run.running.finish();
        assert_eq!(done.died_of(), Some(9), "{}", done.err());
        let left = Left { dir: run.dir, err: done.err() };
        left.is_whole("the target was killed by signal 9 (SIGKILL)");
    }
}
