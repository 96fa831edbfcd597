//! What the tests of the real binary share. Every wait is for a condition; a fixed time only bounds how long a test may
//! take before it fails.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "each test file uses its own part, and a helper that fails is a test that fails"
)]

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub mod disk;
pub mod llama_cpp;
pub mod terminal;
pub mod traces;

/// The program under test.
pub const BIN: &str = env!("CARGO_BIN_EXE_hrx-wrap");
/// No test waits longer for anything: a machine may be busy, but not dead.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Names the processes of one test: whatever a test starts carries it in its environment.
const MARK: &str = "HRX_WRAP_TEST_MARK";

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A fresh folder, gone with the test.
pub struct Dir(PathBuf);

impl Dir {
    pub fn new(name: &str) -> Dir {
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        // Not under target/: an unprivileged user's tests run from a tree that is not theirs.
        let path = std::env::temp_dir().join(format!("hrx-wrap-test-{}-{n}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Dir(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&self.bytes(name)).into_owned()
    }

    /// A file in it, as it is.
    #[track_caller]
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        let path = self.join(name);
        std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// A JSON file in it.
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.text(name)).expect("JSON")
    }

    /// A file in it, made executable.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.join(name);
        std::fs::write(&path, text).expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("chmod");
        path
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// Waits for a condition, at most [`PATIENCE`].
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let since = Instant::now();
    while !condition() {
        assert!(since.elapsed() < PATIENCE, "did not come in {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A command line of the program under test.
pub struct Wrap {
    command: Command,
    mark: String,
}

/// `hrx-wrap WORDS…`, with stdin from /dev/null and both outputs collected.
pub fn wrap<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Wrap {
    through(BIN, words)
}

/// Another program that starts the one under test.
pub fn through<S: AsRef<OsStr>>(program: impl AsRef<OsStr>, words: impl IntoIterator<Item = S>) -> Wrap {
    let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let mut command = Command::new(program);
    command.args(words).env(MARK, &mark).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Wrap { command, mark }
}

impl Wrap {
    pub fn env(mut self, name: &str, value: &str) -> Wrap {
        self.command.env(name, value);
        self
    }

    pub fn cwd(mut self, dir: &Path) -> Wrap {
        self.command.current_dir(dir);
        self
    }

    pub fn stdin(mut self, from: impl Into<Stdio>) -> Wrap {
        self.command.stdin(from);
        self
    }

    pub fn stdout(mut self, to: impl Into<Stdio>) -> Wrap {
        self.command.stdout(to);
        self
    }

    pub fn stderr(mut self, to: impl Into<Stdio>) -> Wrap {
        self.command.stderr(to);
        self
    }

    /// Its own process group, as a shell with job control makes one.
    pub fn own_group(mut self) -> Wrap {
        use std::os::unix::process::CommandExt as _;
        self.command.process_group(0);
        self
    }

    /// Starts it.
    pub fn start(mut self) -> Running {
        let mut child = self.command.spawn().expect("the program under test");
        let stdout = child.stdout.take().map(|s| Collected::of(OwnedFd::from(s)));
        let stderr = child.stderr.take().map(|s| Collected::of(OwnedFd::from(s)));
        Running { child, stdout, stderr, mark: self.mark, done: false }
    }

    /// Runs it to its end.
    pub fn run(self) -> Done {
        self.start().finish()
    }
}

/// Output that is collected while it comes.
#[derive(Clone)]
pub struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: Arc<Mutex<Option<std::thread::JoinHandle<()>>>>,
}

impl Collected {
    pub fn of(from: OwnedFd) -> Collected {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&bytes);
        let mut from = File::from(from);
        let thread = std::thread::spawn(move || {
            let mut piece = [0; 65536];
            while let Ok(n) = from.read(&mut piece) {
                if n == 0 {
                    break;
                }
                into.lock().unwrap().extend_from_slice(&piece[..n]);
            }
        });
        Collected { bytes, thread: Arc::new(Mutex::new(Some(thread))) }
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// Everything, once the other side is closed.
    fn whole(&self) -> Vec<u8> {
        if let Some(thread) = self.thread.lock().unwrap().take() {
            wait_until("the end of an output", || thread.is_finished());
        }
        self.bytes()
    }
}

/// A program that runs.
pub struct Running {
    pub child: Child,
    pub stdout: Option<Collected>,
    pub stderr: Option<Collected>,
    mark: String,
    done: bool,
}

/// A program that has ended.
#[derive(Debug)]
pub struct Done {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Running {
    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Sends a signal to the pid that the user knows.
    pub fn signal(&self, signal: i32) {
        kill(self.pid(), signal);
    }

    pub fn out(&self) -> String {
        self.stdout.as_ref().map(Collected::text).unwrap_or_default()
    }

    pub fn err(&self) -> String {
        self.stderr.as_ref().map(Collected::text).unwrap_or_default()
    }

    /// Waits until stdout holds a text.
    pub fn wait_out(&self, text: &str) {
        let since = Instant::now();
        while !self.out().contains(text) {
            assert!(
                since.elapsed() < PATIENCE,
                "stdout has no {text:?}:\n{}\nstderr:\n{}",
                self.out(),
                self.err()
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Its processes that are alive, whoever their parent is by now.
    pub fn alive(&self) -> Vec<i32> {
        marked(&self.mark)
    }

    /// The mark of its processes.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Done {
        let mut status = None;
        wait_until("the end of hrx-wrap", || {
            status = self.child.try_wait().expect("wait");
            status.is_some()
        });
        self.done = true;
        let whole = |c: &Option<Collected>| c.as_ref().map(Collected::whole).unwrap_or_default();
        Done { status: status.expect("waited for"), stdout: whole(&self.stdout), stderr: whole(&self.stderr) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.done {
            for pid in marked(&self.mark) {
                let _ = nix::sys::signal::kill(
                    nix::unistd::Pid::from_raw(pid),
                    nix::sys::signal::Signal::SIGKILL,
                );
            }
            let _ = self.child.wait();
        }
    }
}

impl Done {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn died_of(&self) -> Option<i32> {
        self.status.signal()
    }

    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// A line of the report on stderr, by its name.
    #[track_caller]
    pub fn fact(&self, name: &str) -> String {
        fact(&self.err(), name)
    }

    /// The one line that a failure prints.
    #[track_caller]
    pub fn complaint(&self) -> String {
        let text = self.err();
        assert!(
            text.starts_with("hrx-wrap: ") && text.lines().count() == 1,
            "not one line of ours: {text:?}"
        );
        text.trim_end().to_owned()
    }
}

/// A line of a text report, by its name.
#[track_caller]
pub fn fact(report: &str, name: &str) -> String {
    let line = report.lines().find_map(|l| l.strip_prefix(name).filter(|rest| rest.starts_with(' ')));
    line.unwrap_or_else(|| panic!("no line {name:?} in:\n{report}")).trim_start().to_owned()
}

/// Sends a signal (negative pid: to a group).
pub fn kill(pid: i32, signal: i32) {
    // The command knows real-time signals, for which nix has no name.
    let status = Command::new("kill").args([format!("-{signal}"), "--".to_owned(), pid.to_string()]).status();
    assert!(status.expect("kill").success(), "kill -{signal} {pid}");
}

/// Living processes whose environment has the mark.
pub fn marked(mark: &str) -> Vec<i32> {
    let wanted = format!("{MARK}={mark}");
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|b| *b == 0).any(|v| v == wanted.as_bytes())
            && !matches!(state(*pid), None | Some('Z' | 'X'))
    })
    .collect()
}

/// A process's state letter.
pub fn state(pid: i32) -> Option<char> {
    stat_field(pid, 0)?.chars().next()
}

/// A process's parent.
pub fn parent(pid: i32) -> Option<i32> {
    stat_field(pid, 1)?.parse().ok()
}

/// A field of `/proc/<pid>/stat`, counted from the state on.
pub fn stat_field(pid: i32, n: usize) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text[text.rfind(')')? + 1..].split_whitespace().nth(n).map(str::to_owned)
}

/// The children of a process.
pub fn children(pid: i32) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|p| parent(*p) == Some(pid)).collect()
}

/// The supervisor process below a front.
pub fn supervisor_of(front: i32) -> i32 {
    let mut found = None;
    wait_until("the supervisor process", || {
        found = children(front).into_iter().find(|p| exe(*p).as_deref() == exe(front).as_deref());
        found.is_some()
    });
    found.expect("waited for")
}

/// The target below a front.
pub fn target_of(front: i32) -> i32 {
    let supervisor = supervisor_of(front);
    let mut found = None;
    wait_until("the target", || {
        found = children(supervisor).first().copied();
        found.is_some()
    });
    found.expect("waited for")
}

/// The program of a process.
pub fn exe(pid: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// A field of `/proc/<pid>/status`.
pub fn status_field(pid: i32, name: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':').map(str::trim));
    line.unwrap_or_default().to_owned()
}

/// The lines of a kept trace without their stamps, and without the header.
pub fn traced(text: &[u8]) -> Vec<Vec<u8>> {
    let lines = text.split(|b| *b == b'\n').filter(|l| !l.is_empty() && l[0] != b'#');
    lines
        .map(|line| {
            let space = line.iter().position(|b| *b == b' ').expect("a stamp");
            assert!(
                line[..space].iter().all(u8::is_ascii_digit),
                "not a stamp: {}",
                String::from_utf8_lossy(line)
            );
            line[space + 1..].to_vec()
        })
        .collect()
}

/// A pipe: read end, write end.
pub fn pipe() -> (OwnedFd, OwnedFd) {
    hrx_wrap::sys::fd::pipe().expect("a pipe")
}

/// Bytes that wait in a pipe, or room in it: whether it can be read from without waiting.
pub fn readable(fd: &OwnedFd) -> bool {
    let wanted = [(Some(fd.as_fd()), hrx_wrap::sys::fd::Want::Read)];
    hrx_wrap::sys::fd::wait(wanted, Some(0)).is_ok_and(|[r]| r.readable)
}

/// The words of a run with a folder, for `wrap`.
pub fn words(options: &[&str], target: &[&str]) -> Vec<String> {
    options.iter().chain(&["--"]).chain(target).map(|w| (*w).to_owned()).collect()
}

/// As [`words`], with this program's built-in target.
pub fn demo(options: &[&str], target: &[&str]) -> Vec<String> {
    let mut all = words(options, &[BIN, "demo-target"]);
    all.extend(target.iter().map(|w| (*w).to_owned()));
    all
}
