//! `--stamp source`: what a target prints is stamped in its own process, and for the target, the user and the log nothing
//! else changes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a helper that fails is a test that fails, and one that checks nothing says so"
)]

mod common;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use common::disk::SmallDisk;
use common::terminal::Terminal;
use common::{BIN, Dir, Done, demo, kill, through, traced, wait_until, words, wrap};

const STOP: i32 = 19;
const CONT: i32 = 18;

/// A program built from `tests/targets/<name>`, in a folder of this test run.
fn built(compiler: &str, name: &str, options: &[&str]) -> PathBuf {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = std::env::temp_dir().join(format!("hrx-wrap-targets-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        folder
    });
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/targets").join(name);
    let program = FOLDER.join(format!("{name}{}", options.concat()));
    let out =
        Command::new(compiler).args(["-O1", "-w", "-o"]).arg(&program).arg(&source).args(options).output();
    let out = out.unwrap_or_else(|e| panic!("{compiler}, which tests/run installs: {e}"));
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    program
}

/// The C target.
fn target() -> &'static str {
    static TARGET: LazyLock<String> =
        LazyLock::new(|| built("cc", "stderr.c", &["-pthread"]).display().to_string());
    &TARGET
}

/// A command alone, with its stderr in a pipe.
fn alone(command: &[&str]) -> Done {
    through(command[0], &command[1..]).run()
}

/// What a run behind the prefix left.
struct Ran {
    done: Done,
    dir: Dir,
}

impl Ran {
    fn log(&self) -> Vec<Vec<u8>> {
        traced(&std::fs::read(self.dir.join("run/trace.log")).expect("the log"))
    }

    fn stamps(&self) -> (u64, u64) {
        let report = self.dir.json("run/report.json");
        let number = |name: &str| report["stamps"][name].as_u64().expect("a number");
        (number("source_lines"), number("read_lines"))
    }

    /// `parse` makes the same report of it.
    fn parses_the_same(&self) {
        let run = self.dir.join("run");
        let out = wrap([Path::new("parse"), &run]).run().out();
        let live = self.dir.text("run/report.txt");
        let same = |text: &str| {
            text.lines().skip_while(|l| !l.starts_with("command")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(same(&out), same(&live));
    }
}

/// A command behind the prefix, stamped at the source; all of its stderr is echoed and the report goes into the folder.
fn source(options: &[&str], command: &[&str]) -> Ran {
    let dir = Dir::new("stamp");
    let run = dir.join("run").display().to_string();
    let report = dir.join("report").display().to_string();
    let fixed = ["--stamp", "source", "--echo", "all", "-o", &run, "--report", &report];
    let done = wrap(words(&[&fixed[..], options].concat(), command)).run();
    Ran { done, dir }
}

/// Behind the prefix it prints what it prints alone, byte for byte, also into the log, and ends the same. How many lines
/// were stamped at the source, and how many at read.
#[track_caller]
fn same_as_alone(command: &[&str]) -> (u64, u64) {
    let (expected, got) = (alone(command), source(&[], command));
    assert_eq!((got.done.code(), got.done.died_of()), (expected.code(), expected.died_of()), "{command:?}");
    assert_eq!(got.done.out(), expected.out(), "{command:?}: stdout");
    assert_eq!(got.done.err(), expected.err(), "{command:?}: stderr");
    let mut lines: Vec<&[u8]> = expected.stderr.split(|b| *b == b'\n').collect();
    if lines.last().is_some_and(|l| l.is_empty()) {
        lines.pop();
    }
    assert_eq!(got.log(), lines, "{command:?}: the log");
    got.parses_the_same();
    got.stamps()
}

/// The log has the lines that the command prints alone. Of two ways each has its own order; between them what is read has
/// the later stamp, so their order is not certain.
#[track_caller]
fn same_lines_as_alone(command: &[&str]) -> (u64, u64) {
    let (expected, got) = (alone(command), source(&[], command));
    assert_eq!((got.done.code(), got.done.out()), (expected.code(), expected.out()), "{command:?}");
    let mut lines = got.log();
    let mut wanted: Vec<Vec<u8>> = expected.stderr.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    wanted.retain(|l| !l.is_empty());
    lines.sort();
    wanted.sort();
    assert_eq!(lines, wanted, "{command:?}");
    assert_eq!(got.done.stderr.len(), expected.stderr.len(), "as much is shown");
    got.stamps()
}

#[test]
fn everything_that_c_prints_is_the_same_and_stamped_at_the_source() {
    assert_eq!(same_as_alone(&[target(), "ways"]), (12, 0));
}

#[test]
fn who_closes_the_stream_and_prints_or_closes_again_is_not_harmed() {
    assert_eq!(same_as_alone(&[target(), "closed"]), (1, 0));
}

#[test]
fn descriptor_2_is_what_it_was() {
    same_as_alone(&[target(), "state"]);
    let dir = Dir::new("terminal");
    let state = |words: &[&str]| {
        let terminal = Terminal::with(&[words, &[target(), "state"]].concat(), dir.path());
        terminal.wait_for("narrow");
        let text = terminal.screen.text();
        text.lines()
            .filter(|l| l.starts_with("fileno") || l.starts_with("narrow"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let expected = state(&[]);
    assert!(expected[0].contains("fileno 2 isatty 1 1"), "{expected:?}");
    assert_eq!(state(&[BIN, "--stamp", "source", "--stdio", "pty", "--"]), expected);
}

#[test]
fn the_descriptor_itself_is_read_as_before() {
    assert_eq!(same_as_alone(&[target(), "descriptor"]), (0, 2));
    let script = "echo one >&2; echo two >/dev/stderr; printf 'three\\n' 1>&2; ls /nowhere";
    let (source, read) = same_lines_as_alone(&["bash", "-c", script]);
    assert_eq!((source, read), (1, 3), "ls has C's stderr, the shell's echo has not");
    assert_eq!(
        same_as_alone(&[
            "python3",
            "-c",
            "import sys, os; print('a', file=sys.stderr); os.write(2, b'b\\n')"
        ]),
        (0, 2)
    );
    assert_eq!(same_as_alone(&[BIN, "kernels", "no_such_kernel"]), (0, 1), "Rust writes to the descriptor");
}

#[test]
fn text_goes_where_descriptor_2_leads() {
    for (how, ours) in
        [("freopen", (1, 1)), ("dup2", (2, 0)), ("dup3", (2, 0)), ("close", (2, 0)), ("fclose", (1, 0))]
    {
        let dir = Dir::new("divert");
        let file = dir.join("file").display().to_string();
        let command = [target(), "divert", how, file.as_str()];
        alone(&command);
        let expected = std::fs::read(&file).unwrap_or_default();
        let _ = std::fs::remove_file(&file);
        assert_eq!(same_as_alone(&command), ours, "{how}");
        assert_eq!(std::fs::read(&file).unwrap_or_default(), expected, "{how}: what is in the file");
    }
}

#[test]
fn pythons_redirection_of_the_descriptor_is_obeyed() {
    let script = "
import ctypes, os
c = ctypes.CDLL(None)
stderr = ctypes.c_void_p.in_dll(c, 'stderr')
say = lambda text: c.fputs(text, stderr)
say(b'shown\\n')
saved, null = os.dup(2), os.open('/dev/null', os.O_WRONLY)
os.dup2(null, 2)
say(b'suppressed\\n')
os.dup2(saved, 2)
say(b'shown again\\n')
";
    assert_eq!(same_as_alone(&["python3", "-c", script]), (2, 0));
}

#[test]
fn buffers_wide_text_and_last_words_are_as_before() {
    assert_eq!(same_as_alone(&[target(), "buffered", "line"]), (2, 0));
    assert_eq!(same_as_alone(&[target(), "buffered", "full"]), (2, 0));
    assert_eq!(
        same_as_alone(&[target(), "buffered", "kill"]),
        (0, 0),
        "what was never written is lost in any case"
    );
    let (source, read) = same_as_alone(&[target(), "wide"]);
    assert_eq!((source, read), (0, 3), "wide text is written to the descriptor");
    assert_eq!(same_as_alone(&[target(), "assert"]), (1, 0));
    assert_eq!(same_as_alone(&[target(), "segv"]), (1, 0));
    let (source, read) = same_as_alone(&[target(), "free"]);
    assert_eq!((source, read), (0, 1), "the C library's own last words go to the descriptor");
}

#[test]
fn cxx_streams_are_the_same() {
    let program = built("c++", "stderr.cc", &[]).display().to_string();
    for way in ["synced", "apart"] {
        let (source, read) = same_lines_as_alone(&[&program, way]);
        assert_eq!(source + read, 8);
        assert!(source >= 1, "fprintf at least");
        if way == "apart" {
            assert_eq!((source, read), (1, 7), "cerr by itself writes to the descriptor");
        }
    }
}

#[test]
fn threads_print_their_lines_apart_and_each_in_order() {
    let got = source(&[], &[target(), "threads", "4", "5000"]);
    assert_eq!(got.done.code(), Some(0), "{}", got.done.err());
    let mut next: BTreeMap<String, u32> = BTreeMap::new();
    for line in got.log() {
        let line = String::from_utf8(line).expect("text");
        let (thread, rest) = line.split_once(": line ").unwrap_or_else(|| panic!("a mixed line: {line:?}"));
        let next = next.entry(thread.to_owned()).or_default();
        assert_eq!(rest, next.to_string(), "of {thread}");
        *next += 1;
    }
    assert_eq!(next.into_values().collect::<Vec<_>>(), [5000; 4]);
    assert_eq!(got.stamps(), (20_000, 0));
    got.parses_the_same();
    // What is echoed is what was printed, piece by piece: as many bytes of each kind.
    assert_eq!(got.done.err().matches(" line").count(), 20_000);
}

#[test]
fn processes_that_trace_at_once_are_profiled_apart() {
    let emitter = format!(
        "{BIN} demo-target --serial=on --tokens 5 --commands 20 --prefill-commands 10 --device-us 2000"
    );
    let one = source(&["-p"], &["sh", "-c", &emitter]);
    let both = source(&["-p"], &["sh", "-c", &format!("{emitter} & {emitter} & wait")]);
    let coverage = |of: &Ran| of.dir.json("run/report.json")["coverage"].clone();
    let (one, two) = (coverage(&one), coverage(&both));
    assert_eq!(one["processes"], 1);
    assert_eq!(two["processes"], 2, "{two}");
    for name in ["begun", "ended", "completed"] {
        assert!(one[name].as_u64() > Some(0));
        assert_eq!(two[name].as_u64(), one[name].as_u64().map(|n| 2 * n), "{name}");
    }
    for name in ["overlapping", "repeated", "orphan_ends", "broken_dispatches"] {
        assert_eq!(two[name], 0, "{name}");
    }
    assert!(both.dir.text("run/report.txt").contains("2 processes wrote the trace"));
    both.parses_the_same();
}

#[test]
fn a_trace_that_is_read_is_nobodys_who_prints_at_the_source() {
    let emitter = |device: &str, tokens: &str| {
        let how = ["--serial=on", "--no-load", "--commands", "20", "--prefill-commands", "0"];
        [&[BIN, "demo-target"], &how[..], &["--device-us", device, "--tokens", tokens]].concat().join(" ")
    };
    let other = alone(&["sh", "-c", &emitter("0", "3")]);
    let dir = Dir::new("read-beside");
    std::fs::write(dir.join("other"), &other.stderr).expect("a file");
    // The other's trace comes by write(2), again and again, in the middle of what is printed.
    let script = format!(
        "{} & for n in 1 2 3 4 5 6 7 8; do cat {} >&2; sleep 0.02; done; wait",
        emitter("2000", "4"),
        dir.join("other").display()
    );
    let got = source(&["-p"], &["sh", "-c", &script]);
    let coverage = got.dir.json("run/report.json")["coverage"].clone();
    assert_eq!(coverage["completed"], 20 * (8 * 3 + 4), "{coverage}");
    for name in ["overlapping", "repeated", "orphan_ends", "broken_dispatches"] {
        assert_eq!(coverage[name], 0, "{name}");
    }
    got.parses_the_same();
}

#[test]
fn a_small_limit_on_the_size_of_files_is_in_nobodys_way() {
    let script = format!("ulimit -S -f 1; exec {BIN} --stamp source -- {} one x", target());
    let done = through("sh", ["-c", script.as_str()]).run();
    assert!(done.fact("stamps").starts_with("1 line at the source"), "{}", done.err());
}

#[test]
fn children_of_every_kind_print_at_the_source() {
    let got = source(&[], &[target(), "children"]);
    let lines: Vec<String> = got.log().into_iter().map(|l| String::from_utf8(l).expect("text")).collect();
    let expected = [
        "forked child",
        "parent begins and goes on",
        "vforked and executed",
        "executed without descriptors",
        "parent ends",
    ];
    assert_eq!(lines, expected);
    assert_eq!(got.stamps(), (5, 0));
    assert_eq!(got.dir.json("run/report.json")["stamps"]["processes"], 4);
    assert_eq!(got.done.err(), alone(&[target(), "children"]).err(), "shown as it was printed");
}

#[test]
fn a_line_has_the_time_of_its_first_piece_by_the_targets_own_clock() {
    let words = ["--serial", "on", "--own-clock", "--no-load", "--prefill-commands", "0", "--tokens", "3"];
    let dir = Dir::new("clock");
    let done =
        wrap(demo(&["--stamp", "source", "--echo", "none", "--log", "log"], &words)).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let mut clocked = 0;
    for line in dir.text("log").lines().filter(|l| !l.starts_with('#')) {
        let (stamp, rest) = line.split_once(' ').expect("a stamp");
        let Some((_, own)) = rest.rsplit_once(" clock=") else { continue };
        let (stamp, own): (u64, u64) = (stamp.parse().expect("ns"), own.parse().expect("ns"));
        // Not before it was printed. That it is not much later is a matter of the benches: a test cannot know.
        assert!(stamp >= own, "{line}");
        clocked += 1;
    }
    assert!(clocked > 5_000, "{clocked}");
}

#[test]
fn a_library_that_is_loaded_later_prints_at_the_source() {
    let dir = Dir::new("library");
    let library = dir.join("library.so");
    std::fs::write(
        dir.join("library.c"),
        "#include <stdio.h>\nvoid print(void) { fputs(\"from a library\\n\", stderr); }\n",
    )
    .expect("writing");
    let status =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(dir.join("library.c")).status();
    assert!(status.expect("cc, which tests/run installs").success());
    assert_eq!(same_as_alone(&[target(), "load", library.to_str().expect("text")]), (1, 0));
}

#[test]
fn the_header_says_what_was_done_and_how_to_turn_it_off() {
    let dir = Dir::new("header");
    let done =
        wrap(words(&["--stamp", "source", "-o", "run"], &[target(), "one", "hello"])).cwd(dir.path()).run();
    let stamps = done.fact("stamps");
    assert_eq!(
        stamps,
        "1 line at the source, when printed by 1 process; 0 lines at read; the target's stderr is a pipe"
    );
    assert!(done.err().contains("--stamp read preloads nothing"), "{}", done.err());
    let changed = done.fact("changed");
    assert!(changed.contains("LD_PRELOAD=") && changed.contains("HRX_WRAP_STAMP="), "{changed}");
    assert_eq!(dir.json("run/run.json")["stamped"], "source");
    let preload = dir.json("run/run.json")["changed"]["env"][0].as_str().expect("text").to_owned();
    let object = PathBuf::from(preload.strip_prefix("LD_PRELOAD=").expect("the preload"));
    assert!(
        !object.exists() && !object.parent().expect("a folder").exists(),
        "its folder is gone with the run"
    );

    let done =
        wrap(words(&["--stamp", "read"], &["sh", "-c", "echo \"$LD_PRELOAD\" \"$HRX_WRAP_STAMP\""])).run();
    assert_eq!((done.out().trim(), done.fact("changed")), ("", "nothing".to_owned()));
}

#[test]
fn what_is_preloaded_already_stays() {
    let dir = Dir::new("preload");
    let print = "#include <stdio.h>\n__attribute__((constructor)) static void start(void) { puts(\"the user's own\"); }\n";
    std::fs::write(dir.join("own.c"), print).expect("writing");
    let own = dir.join("own.so").display().to_string();
    let status = Command::new("cc").args(["-shared", "-fPIC", "-o", &own]).arg(dir.join("own.c")).status();
    assert!(status.expect("cc, which tests/run installs").success());
    let option = format!("LD_PRELOAD={own}");
    for options in [vec!["--env", option.as_str()], vec![]] {
        let all = [&["--stamp", "source"][..], &options].concat();
        let mut run = wrap(words(&all, &["env", target(), "one", "x"]));
        if options.is_empty() {
            // Our own two processes load it as well, and it prints there, too.
            run = run.env("LD_PRELOAD", &own);
        }
        let done = run.run();
        assert!(done.out().contains("the user's own\n"), "{}", done.out());
        assert!(done.fact("changed").contains(&format!("LD_PRELOAD={own}:")), "{}", done.fact("changed"));
        assert!(done.fact("stamps").starts_with("1 line at the source"), "{}", done.fact("stamps"));
    }
}

#[test]
fn processes_that_are_left_alone_keep_the_object_and_their_programs_start_as_before() {
    let dir = Dir::new("leave");
    let script = format!(
        "(until [ -e go ]; do sleep 0.01; done; exec 2>later; /bin/true; {} one later; echo done >&2) & echo started",
        target()
    );
    let options = ["--stamp", "source", "--leave", "--report", "report"];
    // Its readers would wait for the end of what is left alone.
    let running = wrap(words(&options, &["sh", "-c", &script]))
        .cwd(dir.path())
        .env("TMPDIR", &dir.path().display().to_string());
    let out = std::fs::File::create(dir.join("out")).expect("a file");
    let running =
        running.env("XDG_RUNTIME_DIR", "").stdout(out.try_clone().expect("dup")).stderr(out).start();
    let mark = running.mark().to_owned();
    assert_eq!(running.finish().code(), Some(0), "{}", dir.text("out"));
    std::fs::write(dir.join("go"), "").expect("writing");
    wait_until("their end", || common::marked(&mark).is_empty());
    assert_eq!(dir.text("later"), "later\ndone\n", "no complaint of a loader");
    let kept = |e: &std::fs::DirEntry| e.file_name().to_string_lossy().starts_with("hrx-wrap-stamp-");
    assert_eq!(std::fs::read_dir(dir.path()).expect("the folder").flatten().filter(kept).count(), 1);
}

#[test]
fn a_run_inside_a_run_prints_into_its_own() {
    let got =
        source(&[], &[BIN, "--stamp", "source", "--report", "/dev/null", "--", target(), "one", "inner"]);
    assert_eq!(got.log(), [b"inner".to_vec()], "{}", got.done.err());
    assert_eq!(got.stamps(), (0, 1), "the outer run reads what the inner one echoes");
    let got = source(&[], &["env", "-u", "HRX_WRAP_STAMP", target(), "one", "alone"]);
    assert_eq!(
        (got.log(), got.stamps()),
        (vec![b"alone".to_vec()], (0, 1)),
        "an object without a ring stays out"
    );
}

#[test]
fn whom_it_cannot_serve_is_read_and_the_header_says_so() {
    let program = built("cc", "stderr.c", &["-static", "-pthread"]).display().to_string();
    let got = source(&[], &[&program, "one", "static"]);
    assert_eq!((got.log(), got.stamps()), (vec![b"static".to_vec()], (0, 1)));
    assert!(got.dir.text("report").contains("the command is a static program"), "{}", got.dir.text("report"));
    // What a static program starts is served.
    let got = source(&[], &[&program, "children"]);
    assert_eq!(got.log().len(), 5);

    let dir = Dir::new("pipe");
    assert!(Command::new("mkfifo").arg(dir.join("pipe")).status().expect("mkfifo").success());
    let reading = std::fs::File::options().read(true).write(true).open(dir.join("pipe")).expect("the pipe");
    let done =
        wrap(words(&["--stamp", "auto", "--log", "pipe"], &[target(), "one", "x"])).cwd(dir.path()).run();
    drop(reading);
    assert!(done.err().contains("not at the source: the log is no regular file"), "{}", done.err());
    assert_eq!(done.fact("changed"), "nothing");
}

#[test]
fn a_program_of_another_c_library_is_read_and_the_header_says_so() {
    let program = built("musl-gcc", "words.c", &["-no-pie"]).display().to_string();
    let got = source(&[], &[&program, "one", "two"]);
    assert_eq!((got.log(), got.stamps()), (vec![b"one".to_vec(), b"two".to_vec()], (0, 2)));
    assert_eq!((got.done.code(), got.done.err()), (Some(3), "one\ntwo\n".to_owned()));
    assert!(got.dir.text("report").contains("musl"), "{}", got.dir.text("report"));
    got.parses_the_same();
}

#[test]
fn a_program_that_insists_on_being_first_is_read() {
    let program = built("cc", "stderr.c", &["-fsanitize=address", "-pthread"]).display().to_string();
    let got = source(&[], &[&program, "one", "checked"]);
    assert_eq!(got.log(), [b"checked".to_vec()], "{}", got.done.err());
    assert_eq!((got.done.code(), got.stamps()), (Some(0), (0, 1)));
    assert!(got.dir.text("report").contains("address sanitizer"), "{}", got.dir.text("report"));
}

#[test]
fn a_setuid_program_is_read() {
    let dir = Dir::new("setuid");
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).expect("chmod");
    let program = dir.join("setuid");
    std::fs::copy(target(), &program).expect("a copy");
    let other = if dir.path().metadata().expect("a folder").uid() == 0 { "nobody" } else { "root" };
    let owned = Command::new("chown").arg(other).arg(&program).stderr(std::process::Stdio::null()).status();
    if !owned.expect("chown").success() {
        eprintln!("NOT CHECKED: only root can make a program that is another's");
        return;
    }
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).expect("chmod");
    let program = program.display().to_string();
    let got = source(&[], &[&program, "one", "set"]);
    assert_eq!((got.log(), got.stamps()), (vec![b"set".to_vec()], (0, 1)));
    assert!(got.dir.text("report").contains("setuid or setgid"), "{}", got.dir.text("report"));
}

#[test]
fn a_program_that_may_make_no_system_call_but_write_prints_at_the_source() {
    let got = source(&[], &[target(), "strict"]);
    assert_eq!(got.done.code(), Some(7), "{}", got.done.err());
    assert_eq!(got.stamps(), (1001, 0));
}

#[test]
fn a_target_that_writes_over_the_shared_memory_loses_what_was_in_it_and_no_more() {
    for bytes in ["64", "4096", "1000000"] {
        let got = source(&[], &[target(), "scribble", bytes]);
        assert_eq!(got.done.code(), Some(0), "{bytes}: {}", got.done.err());
        let lines: Vec<String> =
            got.log().into_iter().map(|l| String::from_utf8_lossy(&l).into_owned()).collect();
        assert_eq!(lines.len(), 101, "{bytes}");
        assert_eq!((lines[0].as_str(), lines[100].as_str()), ("before", "after 99"));
        got.parses_the_same();
    }
}

#[test]
fn a_full_ring_holds_the_target_up_and_loses_nothing() {
    let count = 40_000;
    let dir = Dir::new("full");
    let options = ["--stamp", "source", "--echo", "none", "-o", "run"];
    // 40 MB through a ring of 16, with a log that its disk takes as it can.
    let lines = ["--lines", &count.to_string(), "--line-bytes", "1000"];
    let done = wrap(demo(&options, &lines)).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let report = dir.json("run/report.json");
    assert_eq!(report["coverage"]["lines"], count);
    assert_eq!(
        report["stamps"]["source_lines"].as_u64().unwrap() + report["stamps"]["read_lines"].as_u64().unwrap(),
        count
    );
    assert_eq!(report["stamps"]["cut_lines"], 0);
}

#[test]
fn with_nobody_to_make_room_prints_go_to_the_descriptor_after_a_while_and_none_is_lost() {
    let (dir, count) = (Dir::new("bypass"), 200_000);
    let options = ["--stamp", "source", "--echo", "none", "-o", "run"];
    let running =
        wrap(demo(&options, &["--lines", &count.to_string(), "--ready"])).cwd(dir.path()).own_group().start();
    running.wait_out("ready");
    let (supervisor, target) = (common::supervisor_of(running.pid()), common::target_of(running.pid()));
    kill(supervisor, STOP);
    // The ring is full, it waited in vain, and now the pipe is full as well.
    wait_until("a full pipe", || {
        std::fs::read_to_string(format!("/proc/{target}/wchan")).is_ok_and(|at| at.contains("pipe_write"))
    });
    kill(supervisor, CONT);
    let done = running.finish();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let mut lines = traced(&std::fs::read(dir.join("run/trace.log")).expect("the log"));
    lines.sort();
    assert_eq!(lines.len(), count);
    lines.dedup();
    assert_eq!(lines.len(), count, "each once");
    let stamps = dir.json("run/report.json")["stamps"].clone();
    assert!(stamps["bypassed"].as_u64() > Some(0), "{stamps}");
    assert!(done.err().contains("found no room for long and went to the descriptor"), "{}", done.err());
}

#[test]
fn a_very_long_line_is_one_line() {
    let dir = Dir::new("long");
    let options = ["--stamp", "source", "--echo", "none", "-o", "run"];
    let words = ["--no-load", "--tokens", "0", "--prefill-commands", "0", "--long-line", "5000000"];
    let done = wrap(demo(&options, &words)).cwd(dir.path()).run();
    assert_eq!(done.code(), Some(0), "{}", done.err());
    let longest = traced(&std::fs::read(dir.join("run/trace.log")).expect("the log"))
        .into_iter()
        .map(|l| l.len())
        .max();
    assert!(longest >= Some(5_000_000 - 1), "{longest:?}");
    assert_eq!(dir.json("run/report.json")["stamps"]["cut_lines"], 0);
}

#[test]
fn lines_that_have_not_ended_survive_the_supervisor() {
    let dir = Dir::new("open");
    let begin = "
import ctypes, os, time
c = ctypes.CDLL(None)
c.fputs(b'begun by %d' % os.getpid(), ctypes.c_void_p.in_dll(c, 'stderr'))
print('begun', flush=True)
time.sleep(100)
";
    std::fs::write(dir.join("begin.py"), begin).expect("writing");
    let script = format!(
        "python3 begin.py & python3 begin.py & until [ -e go ]; do sleep 0.01; done; {} one go; wait",
        target()
    );
    let options = ["--stamp", "source", "--echo", "none", "-o", "run"];
    let running = wrap(words(&options, &["sh", "-c", &script])).cwd(dir.path()).own_group().start();
    wait_until("both to begin", || running.out().matches("begun").count() == 2);
    // Once a later line is on disk they are off the ring, and on the shelf alone.
    std::fs::write(dir.join("go"), "").expect("writing");
    wait_until("the line on disk", || dir.text("run/trace.log").contains(" go\n"));
    kill(common::supervisor_of(running.pid()), 9);
    let done = running.finish();
    assert_eq!(done.code(), Some(125), "{}", done.err());
    let log = traced(&std::fs::read(dir.join("run/trace.log")).expect("the log"));
    assert_eq!(log.iter().filter(|l| l.starts_with(b"begun by ")).count(), 2, "{log:?}");
    assert_eq!(dir.json("run/report.json")["stamps"]["source_lines"], 3);
}

#[test]
fn processes_that_are_killed_in_mid_print_hold_up_nobody() {
    // Each is killed while two threads of it print as fast as they can; then others print on.
    let script = format!(
        "for n in 1 2 3 4 5 6 7 8 9 10; do {0} threads 2 100000000 & sleep 0.0$n; kill -9 $!; {0} one \"behind $n\"; done; wait",
        target()
    );
    let got = source(&["--echo", "none"], &["bash", "-c", &script]);
    assert_eq!(got.done.code(), Some(0), "{}", got.done.err());
    let log: Vec<String> = got.log().into_iter().map(|l| String::from_utf8_lossy(&l).into_owned()).collect();
    for n in 1..=10 {
        assert_eq!(log.iter().filter(|l| **l == format!("behind {n}")).count(), 1, "{n}");
    }
    // A line of the killed is whole, or the last of its thread.
    let whole = |l: &&String| {
        let rest = l.strip_prefix("thread ").and_then(|l| l[1..].strip_prefix(": line "));
        rest.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let other = log.iter().filter(|l| !whole(l) && !l.starts_with("behind ")).count();
    // The shell says of some that they were killed, over two lines at most.
    assert!(other <= 60, "{other} lines are neither whole nor a last one");
    got.parses_the_same();
}

// A log's disk that takes no more: a word of ours that it did not take is none of the target's lines.

/// What a log holds of lines of `count`, whole and torn.
struct Held {
    whole: u64,
    bytes: u64,
}

impl Held {
    fn of(log: &str) -> Held {
        let theirs = log.split_inclusive('\n').filter(|line| !line.starts_with('#'));
        let (whole, torn): (Vec<&str>, Vec<&str>) = theirs.partition(|line| line.ends_with(" end\n"));
        // A torn line has no end of its own: a LF behind it is ours.
        let torn = torn.iter().map(|line| line.trim_end_matches('\n').len());
        let bytes = whole.iter().map(|line| line.len()).chain(torn).sum::<usize>();
        Held { whole: whole.len() as u64, bytes: bytes as u64 }
    }
}

/// Each line of each process is in the log or is counted as lost, and so is each byte.
#[track_caller]
fn nothing_is_counted_twice(log: &str, report: &serde_json::Value, printed: &[(&str, u64)]) {
    let (held, coverage) = (Held::of(log), &report["coverage"]);
    let number = |name: &str| coverage[name].as_u64().expect("a number");
    let lines: u64 = printed.iter().map(|(_, count)| count).sum();
    assert_eq!((number("lines"), &report["stamps"]["source_lines"]), (lines, &lines.into()), "{coverage}");
    assert!(held.whole > 0 && held.whole < lines, "{} of {lines} lines are whole", held.whole);
    assert_eq!(held.whole + number("log_lost_lines"), lines, "{} are whole, {coverage}", held.whole);
    let text = |name: &str, n: u64| format!("{name} {n} end\n").len() as u64;
    let texts: u64 = printed.iter().flat_map(|(name, count)| (0..*count).map(|n| text(name, n))).sum();
    // The stamps of one run have as many digits each, but where the machine's clock comes to another power of ten.
    let digits = |stamp: u64| stamp.to_string().len() as u64;
    let first = log.lines().find_map(|line| line.split(' ').next()?.parse().ok()).expect("a stamp");
    if digits(first) == digits(hrx_wrap::sys::clock::monotonic_ns()) {
        let all = texts + lines * (digits(first) + 1);
        assert_eq!(held.bytes + number("log_lost_bytes"), all, "{} are there, {coverage}", held.bytes);
    }
}

/// The script of a target whose processes count at once.
fn counting(names: &[&str], count: u64) -> String {
    names.iter().map(|name| format!("{} count {name} {count} & ", target())).collect::<String>() + "wait"
}

#[test]
fn a_full_disk_loses_what_is_said_of_each_process_and_no_more() {
    for names in [&["a"][..], &["a", "b", "c"]] {
        let dir = Dir::new("full");
        let Some(disk) = SmallDisk::mount(dir.join("disk"), "300k") else {
            eprintln!("skipped: a small disk cannot be mounted here");
            return;
        };
        let options = ["--stamp", "source", "--echo", "none", "--log", "disk/log", "--json", "r.json"];
        let done = wrap(words(&options, &["sh", "-c", &counting(names, 20_000)])).cwd(dir.path()).run();
        assert_eq!(done.code(), Some(0), "{}", done.err());
        assert_eq!(done.err().matches("No space left on device").count(), 1, "{}", done.err());
        let log = dir.text("disk/log");
        drop(disk);
        let printed: Vec<_> = names.iter().map(|name| (*name, 20_000)).collect();
        nothing_is_counted_twice(&log, &dir.json("r.json"), &printed);
    }
}

#[test]
fn behind_the_gap_of_a_disk_that_has_room_again_each_process_is_named_and_the_sums_are_exact() {
    for names in [&["a"][..], &["a", "b", "c"]] {
        let dir = Dir::new("full");
        let Some(disk) = SmallDisk::mount(dir.join("disk"), "4400k") else {
            eprintln!("skipped: a small disk cannot be mounted here");
            return;
        };
        // Without it there is room for everything that may still be on its way to the disk.
        std::fs::write(disk.path().join("filler"), vec![0; 4 << 20]).unwrap();
        let (before, behind) = (counting(names, 20_000), counting(&["x", "y"], 1000));
        let script = format!("{before}; until [ -e go ]; do sleep 0.01; done; {behind}");
        let options = ["--stamp", "source", "--echo", "none", "--log", "disk/log", "--json", "r.json"];
        let running = wrap(words(&options, &["sh", "-c", &script])).cwd(dir.path()).start();
        wait_until("a full disk", || running.err().contains("No space left on device"));
        std::fs::remove_file(disk.path().join("filler")).unwrap();
        std::fs::write(dir.join("go"), "").unwrap();
        let done = running.finish();
        assert_eq!(done.code(), Some(0), "{}", done.err());
        let log = dir.text("disk/log");
        drop(disk);
        let mut printed: Vec<_> = names.iter().map(|name| (*name, 20_000)).collect();
        printed.extend([("x", 1000), ("y", 1000)]);
        let report = dir.json("r.json");
        nothing_is_counted_twice(&log, &report, &printed);
        let (mut noted, mut lines) = (0, log.lines());
        while let Some(line) = lines.next() {
            if let Some(gap) = line.strip_prefix("# hrx-wrap/1 lost ") {
                let gap: serde_json::Value = serde_json::from_str(gap).unwrap();
                noted += gap["lines"].as_u64().unwrap();
                let next = lines.next().unwrap();
                assert!(next.starts_with("# hrx-wrap/1 writer "), "whose is it? {next}");
            }
        }
        assert_eq!(report["coverage"]["log_lost_lines"], noted, "each gap is noted where it is");
    }
}
