//! Signals and the terminal: each one delivered exactly once, whoever sends it; Ctrl-Z and `fg` work (rows 7 to 9 of the
//! supervision contract).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use common::terminal::Terminal;
use common::{BIN, Dir, Running, state, supervisor_of, target_of, through, wait_until, words, wrap};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

const SIGNALS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/signals.py");
const CALLER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/caller.py");
const USR1: i32 = 10;
const USR2: i32 = 12;
const TERM: i32 = 15;
const CONT: i32 = 18;

/// A target that says each signal it gets, below a wrapper in a process group of its own.
struct Listener {
    dir: Dir,
    running: Running,
}

impl Listener {
    fn start(options: &[&str]) -> Listener {
        let dir = Dir::new("signals");
        let mut all = vec!["-o", "run"];
        all.extend(options);
        let running = wrap(words(&all, &["python3", SIGNALS, "stop"])).cwd(dir.path()).own_group().start();
        running.wait_out("ready\n");
        Listener { dir, running }
    }

    /// How often the target got a signal, in sum, after all that was sent before has arrived: a last one is sent for that.
    fn counts(&self, signals: &[i32]) -> Vec<usize> {
        self.running.signal(USR2);
        self.running.wait_out(&format!("got {USR2}\n"));
        let text = self.running.out();
        signals.iter().map(|s| text.matches(&format!("got {s}\n")).count()).collect()
    }

    fn stop(self) -> serde_json::Value {
        std::fs::write(self.dir.join("stop"), "").unwrap();
        let done = self.running.finish();
        assert_eq!(done.code(), Some(0), "{}", done.err());
        self.dir.json("run/run.json")["end"].clone()
    }
}

/// One process sends both, in one breath, as `timeout` does.
fn to_pid_and_group(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).unwrap();
    killpg(Pid::from_raw(pid), signal).unwrap();
}

#[test]
fn every_forwarded_signal_arrives_exactly_once() {
    let all = [1, 2, 3, USR1, 14, TERM, CONT, 26, 28, 34, 37];
    let listener = Listener::start(&[]);
    for signal in all {
        listener.running.signal(signal);
        listener.running.wait_out(&format!("got {signal}\n"));
    }
    assert_eq!(listener.counts(&all), [1; 11], "{}", listener.running.out());
    let end = listener.stop();
    assert_eq!(end["signals"].as_array().unwrap().len(), 12);
    assert!(end["signals"].as_array().unwrap().iter().all(|s| s["action"] == "forwarded"), "{end}");
}

#[test]
fn every_forwarded_signal_arrives_exactly_once_with_a_pty() {
    let all = [1, 2, 3, USR1, 14, TERM, CONT, 26, 28, 34, 37];
    let listener = Listener::start(&["--stdio", "pty"]);
    for signal in all {
        listener.running.signal(signal);
        listener.running.wait_out(&format!("got {signal}\n"));
    }
    assert_eq!(listener.counts(&all), [1; 11], "{}", listener.running.out());
    listener.stop();
}

#[test]
fn a_signal_to_the_group_arrives_once() {
    let listener = Listener::start(&[]);
    for signal in [1, 2, 3, TERM] {
        common::kill(-listener.running.pid(), signal);
        listener.running.wait_out(&format!("got {signal}\n"));
    }
    assert_eq!(listener.counts(&[1, 2, 3, TERM]), [1, 1, 1, 1]);
    listener.stop();
}

#[test]
fn a_signal_to_pid_and_group_at_once_arrives_once() {
    let listener = Listener::start(&[]);
    let all = [1, 2, 3, USR1, 14, TERM, 26, 28];
    for signal in all {
        to_pid_and_group(listener.running.pid(), Signal::try_from(signal).unwrap());
        listener.running.wait_out(&format!("got {signal}\n"));
    }
    assert_eq!(listener.counts(&all), [1; 8]);
    listener.stop();
}

/// Real-time signals have no name in the test's library: a process of its own sends them.
fn send(listener: &Listener, calls: &str) {
    let start = format!("import ctypes, os\npid = {}\nlibc = ctypes.CDLL(None)\n", listener.running.pid());
    let status = std::process::Command::new("python3").args(["-c", &(start + calls)]).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_real_time_signal_to_pid_and_group_at_once_arrives_once() {
    let listener = Listener::start(&[]);
    // Stopped meanwhile: however busy the machine is, both are there when the first is looked at.
    send(&listener, "os.kill(pid, 19); os.kill(pid, 34); os.killpg(pid, 34); os.kill(pid, 18)");
    listener.running.wait_out("got 34\n");
    assert_eq!(listener.counts(&[34]), [1]);
    listener.stop();
}

#[test]
fn of_signals_that_queue_each_one_arrives() {
    let listener = Listener::start(&[]);
    send(&listener, "for n in range(5): assert libc.sigqueue(pid, 37, None) == 0");
    wait_until("all five", || listener.running.out().matches("got 37\n").count() == 5);
    listener.stop();
}

#[test]
fn a_signal_to_both_of_our_processes_at_once_arrives_once() {
    let listener = Listener::start(&[]);
    let (front, supervisor) = (listener.running.pid(), supervisor_of(listener.running.pid()));
    for pid in [front, supervisor] {
        kill(Pid::from_raw(pid), Signal::SIGTERM).unwrap();
    }
    listener.running.wait_out("got 15\n");
    assert_eq!(listener.counts(&[TERM]), [1], "as pkill does it");
    listener.stop();
}

#[test]
fn a_second_request_is_a_second_one() {
    let listener = Listener::start(&[]);
    for n in 1..=3 {
        listener.running.signal(TERM);
        wait_until("the next TERM", || listener.running.out().matches("got 15\n").count() == n);
    }
    listener.stop();
}

#[test]
fn timeout_around_us_delivers_one() {
    let dir = Dir::new("timeout");
    let words = ["600", BIN, "--", "python3", SIGNALS, "stop", "--exit-on", "USR2", "9"];
    let running = through("timeout", words).cwd(dir.path()).start();
    running.wait_out("ready\n");
    // What is sent to `timeout`, it sends on to its child and then to its whole group, as when its time is over.
    running.signal(TERM);
    running.wait_out("got 15\n");
    let front = common::children(running.pid())[0];
    common::kill(front, USR2);
    let done = running.finish();
    assert_eq!(done.out().matches("got 15\n").count(), 1, "{}", done.out());
}

#[test]
fn a_signal_from_the_targets_tree_is_not_sent_back() {
    let dir = Dir::new("back");
    let target = ["python3", SIGNALS, "stop", "--kill-parents", "USR1"];
    let running = wrap(words(&["-o", "run"], &target)).cwd(dir.path()).start();
    running.wait_out("ready\n");
    running.signal(USR2);
    running.wait_out("got 12\n");
    assert!(!running.out().contains("got 10\n"), "{}", running.out());
    std::fs::write(dir.join("stop"), "").unwrap();
    running.finish();
    let signals = dir.json("run/run.json")["end"]["signals"].clone();
    let back: Vec<&serde_json::Value> =
        signals.as_array().unwrap().iter().filter(|s| s["action"] == "from-target").collect();
    assert_eq!(back.len(), 2, "{signals}");
}

#[test]
fn fault_signals_to_us_are_ours() {
    for signal in [4, 5, 6, 7, 8, 11, 31] {
        let listener = Listener::start(&[]);
        let Listener { dir, running } = listener;
        let target = target_of(running.pid());
        running.signal(signal);
        let mark = running.mark().to_owned();
        let done = running.finish();
        assert_eq!(done.died_of(), Some(signal));
        wait_until("the end of the tree", || common::marked(&mark).is_empty());
        assert!(!done.out().contains(&format!("got {signal}")), "the target {target} saw it");
        assert!(dir.text("run/report.txt").starts_with("PARTIAL: hrx-wrap was killed"));
    }
}

#[test]
fn what_the_caller_ignores_still_reaches_a_target_that_listens_and_starts_no_clock() {
    let dir = Dir::new("ignored");
    let caller =
        [CALLER, "--ignore", "INT", "--", BIN, "-k", "50ms", "-o", "run", "--", "python3", SIGNALS, "stop"];
    let running = through("python3", caller).cwd(dir.path()).start();
    running.wait_out("ready\n");
    for n in 1..=3 {
        running.signal(2);
        wait_until("the next INT", || running.out().matches("got 2\n").count() == n);
    }
    std::fs::write(dir.join("stop"), "").unwrap();
    assert_eq!(running.finish().code(), Some(0), "no SIGKILL after 50 ms");
}

// With a terminal.

/// A shell on a terminal with a listening target in its foreground.
fn on_a_terminal(options: &str) -> (Dir, Terminal) {
    let dir = Dir::new("terminal");
    let terminal = Terminal::with_shell(dir.path());
    terminal.type_line(&format!("{BIN} -o run {options} -- python3 {SIGNALS} stop"));
    terminal.wait_for("ready\r\n");
    (dir, terminal)
}

/// The wrapper's front below a terminal's shell.
fn front(terminal: &Terminal) -> i32 {
    let shell = terminal.shell.pid();
    let mut found = None;
    wait_until("hrx-wrap below the shell", || {
        found = common::children(shell)
            .into_iter()
            .find(|p| common::exe(*p).is_some_and(|e| e.ends_with("hrx-wrap")));
        found.is_some()
    });
    found.unwrap()
}

fn end_on_terminal(dir: &Dir, terminal: Terminal) -> serde_json::Value {
    std::fs::write(dir.join("stop"), "").unwrap();
    wait_until("the record", || {
        std::fs::read(dir.join("run/run.json"))
            .ok()
            .and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok())
            .is_some_and(|run| run.get("end").is_some())
    });
    terminal.type_line("exit 0");
    terminal.type_line("exit 0");
    terminal.shell.finish();
    dir.json("run/run.json")["end"].clone()
}

#[test]
fn ctrl_c_reaches_the_target_alone_and_once() {
    for options in ["", "--stdio pipe"] {
        let (dir, terminal) = on_a_terminal(options);
        let front = front(&terminal);
        wait_until("the target in the foreground", || terminal.foreground() == Some(target_of(front)));
        terminal.keys(b"\x03");
        terminal.wait_for("got 2\r\n");
        common::kill(front, USR2);
        terminal.wait_for("got 12\r\n");
        assert_eq!(terminal.screen.text().matches("got 2\r\n").count(), 1);
        let end = end_on_terminal(&dir, terminal);
        assert_eq!(end["exit"]["code"], 0);
        assert_eq!(
            end["signals"].as_array().unwrap().len(),
            1,
            "the terminal's went to the target alone: {end}"
        );
    }
}

#[test]
fn ctrl_c_and_a_kill_at_once_are_two_requests_of_two_senders() {
    let (dir, terminal) = on_a_terminal("");
    let front = front(&terminal);
    terminal.keys(b"\x03");
    terminal.wait_for("got 2\r\n");
    common::kill(front, TERM);
    terminal.wait_for("got 15\r\n");
    common::kill(front, USR2);
    terminal.wait_for("got 12\r\n");
    let text = terminal.screen.text();
    assert_eq!((text.matches("got 2\r\n").count(), text.matches("got 15\r\n").count()), (1, 1));
    end_on_terminal(&dir, terminal);
}

#[test]
fn ctrl_z_stops_both_and_fg_resumes_both() {
    for options in ["", "--stdio pipe"] {
        let (dir, terminal) = on_a_terminal(options);
        let front = front(&terminal);
        let target = target_of(front);
        for round in 1..=2 {
            wait_until("the foreground", || terminal.foreground() == Some(target));
            terminal.keys(b"\x1a");
            wait_until("both stopped", || state(front) == Some('T') && state(target) == Some('T'));
            wait_until("the shell's foreground", || terminal.foreground() == Some(terminal.shell.pid()));
            terminal.type_line("fg");
            wait_until("both running", || state(front) == Some('S') && state(target) != Some('T'));
            let seen = format!("got {CONT}\r\n");
            wait_until("one CONT", || terminal.screen.text().matches(&seen).count() == round);
        }
        wait_until("the foreground again", || terminal.foreground() == Some(target));
        let end = end_on_terminal(&dir, terminal);
        let stops = end["stops"].as_array().unwrap().clone();
        assert_eq!(stops.len(), 2, "{end}");
        assert!(
            stops.iter().all(|s| s["signal"] == 20 && s["until_ns"].as_u64() > s["at_ns"].as_u64()),
            "{end}"
        );
        assert_eq!(end["exit"]["code"], 0);
    }
}

#[test]
fn a_stopped_job_can_go_on_in_the_background() {
    let (dir, terminal) = on_a_terminal("");
    let front = front(&terminal);
    let target = target_of(front);
    terminal.keys(b"\x1a");
    wait_until("both stopped", || state(front) == Some('T') && state(target) == Some('T'));
    terminal.type_line("bg");
    wait_until("both running", || state(front) == Some('S') && state(target) != Some('T'));
    assert_eq!(terminal.foreground(), Some(terminal.shell.pid()), "the shell keeps the terminal");
    end_on_terminal(&dir, terminal);
}

#[test]
fn a_target_that_reads_the_terminal_from_the_background_stops_and_gets_it_with_fg() {
    let dir = Dir::new("background");
    let terminal = Terminal::with_shell(dir.path());
    terminal.type_line(&format!("{BIN} --report report -- sh -c 'read line; echo \"<$line>\"' &"));
    let front = front(&terminal);
    wait_until("both stopped", || state(front) == Some('T') && state(target_of(front)) == Some('T'));
    terminal.type_line("fg");
    wait_until("the target in the foreground", || terminal.foreground() == Some(target_of(front)));
    terminal.type_line("typed");
    terminal.wait_for("<typed>");
    wait_until("the terminal is the shell's again", || terminal.foreground() == Some(terminal.shell.pid()));
    terminal.type_line("exit");
    terminal.shell.finish();
}

#[test]
fn in_a_pipeline_the_other_commands_keep_the_terminal() {
    let dir = Dir::new("pipeline");
    let terminal = Terminal::with_shell(dir.path());
    // The second command reads a key from the terminal, as a pager does; the first listens for signals.
    terminal.type_line(&format!(
        "{BIN} -o run -- python3 {SIGNALS} stop | (cat & read key </dev/tty; echo \"<$key>\"; wait)"
    ));
    terminal.wait_for("ready");
    terminal.type_line("k");
    terminal.wait_for("<k>");
    let front = front(&terminal);
    common::kill(front, USR2);
    terminal.wait_for("got 12");
    end_on_terminal(&dir, terminal);
}

#[test]
fn ctrl_c_in_a_pipeline_reaches_the_target_once() {
    let dir = Dir::new("pipeline-int");
    let terminal = Terminal::with_shell(dir.path());
    terminal.type_line(&format!("{BIN} -o run -- python3 {SIGNALS} stop | (trap '' INT; cat)"));
    terminal.wait_for("ready");
    let front = front(&terminal);
    terminal.keys(b"\x03");
    terminal.wait_for("got 2");
    common::kill(front, USR2);
    terminal.wait_for("got 12");
    assert_eq!(terminal.screen.text().matches("got 2\r\n").count(), 1);
    end_on_terminal(&dir, terminal);
}

#[test]
fn stopping_without_a_terminal_works_through_the_pid() {
    let listener = Listener::start(&[]);
    let front = listener.running.pid();
    let target = target_of(front);
    listener.running.signal(20);
    wait_until("both stopped", || state(front) == Some('T') && state(target) == Some('T'));
    listener.running.signal(CONT);
    wait_until("both running", || state(front) == Some('S') && state(target) != Some('T'));
    assert_eq!(listener.counts(&[CONT]), [1]);
    let end = listener.stop();
    assert_eq!(end["stops"].as_array().unwrap().len(), 1);
}

#[test]
fn a_target_that_somebody_else_continues_wakes_us() {
    let listener = Listener::start(&[]);
    let front = listener.running.pid();
    let target = target_of(front);
    common::kill(target, 19);
    wait_until("both stopped", || state(front) == Some('T') && state(target) == Some('T'));
    common::kill(target, CONT);
    wait_until("both running", || state(front) == Some('S') && state(target) != Some('T'));
    assert_eq!(listener.counts(&[CONT]), [1]);
    listener.stop();
}

#[test]
fn without_a_shell_to_continue_us_ctrl_z_stops_nothing() {
    let dir = Dir::new("leader");
    let terminal = Terminal::with(&[BIN, "-o", "run", "--", "python3", SIGNALS, "stop"], dir.path());
    terminal.wait_for("ready");
    let front = terminal.shell.pid();
    wait_until("the foreground", || terminal.foreground() == Some(target_of(front)));
    terminal.keys(b"\x1a");
    // The stop is undone at once: the target hears CONT and goes on.
    terminal.wait_for(&format!("got {CONT}"));
    common::kill(front, USR2);
    terminal.wait_for("got 12");
    std::fs::write(dir.join("stop"), "").unwrap();
    assert_eq!(terminal.shell.finish().code(), Some(0));
}

#[test]
fn the_terminals_settings_are_as_they_were() {
    let dir = Dir::new("settings");
    let terminal = Terminal::with_shell(dir.path());
    for (name, options) in [("pty", "--stdio pty"), ("pipe", "--stdio pipe"), ("killed", "--stdio pty")] {
        let end = if name == "killed" { "kill -9 $(ps -o ppid= -p $(ps -o ppid= -p $$))" } else { "true" };
        terminal.type_line(&format!(
            "stty -g >before; {BIN} {options} --report r -- sh -c '{end}'; stty -g >after; cmp before after && echo sa''me-{name}"
        ));
        terminal.wait_for(&format!("same-{name}\r\n"));
    }
    terminal.type_line("exit");
    terminal.shell.finish();
}
