//! `hrx-wrap self-test`: checks this installed program on this machine, without a device.

mod profile;
mod split;

use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use crate::cmd::kept::{Way, read_trace};
use crate::core::duration::{MS, S};
use crate::core::lines::{Assembler, Splitter};
use crate::live::proc::Proc;
use crate::live::read_port::ReadPort;
use crate::live::ring::{Next, Producer, Ring, Source};
use crate::sys::clock::monotonic_ns;
use crate::sys::fd;

/// A check of the installed program.
type Check = (&'static str, fn(&Path) -> anyhow::Result<()>);

const CHECKS: [Check; 11] = [
    ("ring: wraps around, takes over", ring),
    ("lines: split and stamped", splitter),
    ("kernel ids: published vectors and the built-in catalogue", profile::ids),
    ("profile: sums, shares and floor of a known trace", profile::sums),
    ("profile: an open dispatch is named and in no total", profile::open),
    ("profile: lines written into each other are joined", profile::rejoin),
    ("profile: nothing gives no table", profile::empty),
    ("split: the recorded 4B run", split::recorded),
    ("clock: CLOCK_MONOTONIC goes on", clock),
    ("spawn and reap: exit status and signal come back", spawn_and_reap),
    ("killed front: the tree ends, the log is whole, the report is partial", killed_front),
];

/// The longest that any check waits for something.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs every check; 0 when all pass, 1 when one fails.
///
/// # Errors
/// No temporary folder can be made, or stdout is gone.
pub fn self_test() -> anyhow::Result<i32> {
    let folder = std::env::temp_dir().join(format!("hrx-wrap-self-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut failed = 0;
    for (name, check) in CHECKS {
        let since = Instant::now();
        let line = match check(&folder) {
            Ok(()) => format!("ok      {name} ({} ms)\n", since.elapsed().as_millis()),
            Err(error) => {
                failed += 1;
                format!("FAILED  {name}: {error:#}\n")
            }
        };
        std::io::stdout().write_all(line.as_bytes()).context("stdout")?;
    }
    let _ = std::fs::remove_dir_all(&folder);
    let line = format!("{} passed, {failed} failed\n", CHECKS.len() - failed);
    std::io::stdout().write_all(line.as_bytes()).context("stdout")?;
    Ok(i32::from(failed > 0))
}

fn ring(_: &Path) -> anyhow::Result<()> {
    let ring = Ring::create(1 << 10, 7).context("shared memory")?;
    let who = Producer { pid: 1, thread: 1, source: Source::Print };
    let mut cursor = 0;
    for turn in 0..1_000_u64 {
        let bytes = vec![turn as u8; (turn % 97) as usize];
        ensure!(ring.push(who, turn, &bytes), "no room at record {turn}");
        let mut out = Vec::new();
        let Next::Record(record) = ring.next(cursor, &mut out) else { bail!("record {turn} is not there") };
        ensure!(record.ns == turn && out == bytes, "record {turn} came back changed");
        cursor = record.next;
        ring.release(cursor);
    }
    let (from, to) = fd::pipe().context("a pipe")?;
    fd::write(to.as_fd(), b"read, not committed").context("a pipe")?;
    let mut port = ReadPort::new(&ring, 1);
    let slot = port.reserve(100).context("room")?;
    port.read(&slot, from.as_fd()).context("reading into the ring")?;
    let other = Ring::attach(ring.file().try_clone_to_owned()?).context("attaching")?;
    let mut out = Vec::new();
    other.recover(cursor, 1, &mut out);
    ensure!(out == b"read, not committed", "a successor finds {:?}", String::from_utf8_lossy(&out));
    Ok(())
}

fn splitter(_: &Path) -> anyhow::Result<()> {
    let (mut splitter, mut assembler, mut lines) = (Splitter::default(), Assembler::default(), Vec::new());
    for (ns, piece) in [(1, &b"a"[..]), (2, b"b\nc"), (3, b"\n\nlast")] {
        splitter.feed(ns, piece, |f| assembler.feed(&f, |l| lines.push((l.ns, l.bytes.to_vec()))));
    }
    assembler.finish(|l| lines.push((l.ns, l.bytes.to_vec())));
    let expected = [(1, "ab"), (2, "c"), (3, ""), (3, "last")].map(|(ns, s)| (ns, s.as_bytes().to_vec()));
    ensure!(lines == expected, "got {lines:?}");
    Ok(())
}

fn clock(_: &Path) -> anyhow::Result<()> {
    let (first, since) = (monotonic_ns(), Instant::now());
    std::thread::sleep(Duration::from_millis(20));
    let passed = monotonic_ns().saturating_sub(first);
    let longest = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
    ensure!(passed >= 20 * MS && passed <= longest + S, "20 ms took {passed} ns");
    Ok(())
}

fn wrap(arguments: &[&str]) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("this program's own file")?);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

fn spawn_and_reap(_: &Path) -> anyhow::Result<()> {
    let code = wrap(&["--", "sh", "-c", "exit 73"])?.status().context("starting ourselves")?;
    ensure!(code.code() == Some(73), "a target that exits with 73 gives {code}");
    let died = wrap(&["--", "sh", "-c", "kill -USR1 $$"])?.status().context("starting ourselves")?;
    ensure!(died.signal() == Some(10), "a target killed by SIGUSR1 gives {died}");
    let absent = wrap(&["--", "/nonexistent/program"])?.status().context("starting ourselves")?;
    ensure!(absent.code() == Some(127), "a target that is not there gives {absent}");
    Ok(())
}

fn killed_front(folder: &Path) -> anyhow::Result<()> {
    let own = std::env::current_exe().context("this program's own file")?;
    let (out, numbers) = (folder.join("killed"), folder.join("numbers"));
    let [own, place, told] = [&own, &out, &numbers].map(|p| p.display().to_string());
    let target =
        ["demo-target", "--numbered", "1000000", "--every-us", "100", "--numbered-log", told.as_str()];
    let mut words = vec!["-o", &place, "--", &own];
    words.extend(target);
    let mut front = wrap(&words)?.spawn().context("starting ourselves")?;
    let result = kill_and_look(&mut front, &out, &numbers);
    if result.is_err() {
        let _ = front.kill();
    }
    result
}

fn kill_and_look(front: &mut Child, out: &Path, numbers: &Path) -> anyhow::Result<()> {
    wait_for("the target's lines", || numbers.metadata().is_ok_and(|m| m.len() > 500))?;
    let tree = Proc::default().descendants(front.id().cast_signed());
    front.kill().context("killing ourselves")?;
    front.wait().context("reaping ourselves")?;
    wait_for("the end of the tree", || {
        let gone =
            |pid, started| Proc::default().stat(pid).is_none_or(|s| s.started != started || s.state == 'Z');
        tree.iter().all(|s| gone(s.pid, s.started))
    })?;
    let report = std::fs::read_to_string(out.join("report.txt")).context("report.txt")?;
    ensure!(report.starts_with("PARTIAL: "), "the report does not say that it is partial");
    let read =
        read_trace(&mut std::fs::File::open(out.join("trace.log"))?, Way::default()).context("trace.log")?;
    let last = std::fs::read_to_string(numbers)?.lines().last().and_then(|n| n.trim().parse::<u64>().ok());
    let written = last.context("the target's own count")?;
    // The target counts from 1, and counts a line once it is written.
    let kept = read.book.tally.lines;
    ensure!(kept >= written, "{kept} of {written} lines are in the log");
    Ok(())
}

fn wait_for(what: &str, mut condition: impl FnMut() -> bool) -> anyhow::Result<()> {
    let since = Instant::now();
    while !condition() {
        ensure!(since.elapsed() < PATIENCE, "{what} did not come in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
