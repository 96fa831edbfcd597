//! `--progress`: one line that is redrawn below everything else, on a terminal alone, and gone at the end.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use common::terminal::Terminal;
use common::{BIN, Dir, demo, wait_until, wrap};

/// The lines that a terminal shows after these bytes: LF, CR and 'erase to the end of the line' are all it has to know.
fn shown(bytes: &[u8]) -> Vec<String> {
    let (mut lines, mut column) = (vec![Vec::new()], 0);
    let mut rest = bytes;
    while let Some((byte, behind)) = rest.split_first() {
        let line = lines.last_mut().unwrap();
        rest = behind;
        match byte {
            b'\r' => column = 0,
            b'\n' => lines.push(Vec::new()),
            0x1b if behind.starts_with(b"[K") => {
                line.truncate(column);
                rest = &behind[2..];
            }
            byte => {
                line.resize(line.len().max(column + 1), b' ');
                line[column] = *byte;
                column += 1;
            }
        }
    }
    lines.iter().map(|l| String::from_utf8_lossy(l).into_owned()).collect()
}

#[test]
fn the_line_never_mixes_with_what_passes_through_and_is_gone_at_the_end() {
    let dir = Dir::new("progress");
    let terminal = Terminal::with_shell(dir.path());
    let script = format!(
        "{BIN} --progress --stdio pipe --log l --report r -- {BIN} demo-target --numbered 600 --every-us 4000; echo over-$?"
    );
    terminal.type_line(&script);
    terminal.wait_for("over-0");
    let bytes = terminal.screen.bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(
        text.contains("\r\u{1b}[Khrx-wrap 0:00  ") && text.contains("hrx-wrap 0:02  "),
        "no status line: {text}"
    );
    let lines = shown(&bytes);
    let leftover = lines.iter().find(|l| l.contains("hrx-wrap 0:0"));
    assert_eq!(leftover, None, "a status line is left: {lines:?}");
    let from = lines.iter().position(|l| l.contains("--every-us")).unwrap();
    let passed: Vec<&String> =
        lines[from..].iter().filter(|l| l.chars().any(|c| c.is_ascii_digit())).collect();
    let numbered = passed
        .iter()
        .filter(|l| l.split_whitespace().all(|w| w.chars().all(|c| c.is_ascii_alphanumeric())))
        .count();
    assert!(numbered >= 600, "{numbered} lines are whole: {lines:?}");
}

#[test]
fn a_target_in_the_middle_of_a_line_has_it_to_itself() {
    let dir = Dir::new("middle");
    let terminal = Terminal::with_shell(dir.path());
    let script = "while ! test -e begin; do sleep 0.01; done; printf part >&2; while ! test -e go; do sleep 0.01; done; echo ' and rest' >&2; while ! test -e end; do sleep 0.01; done";
    terminal.type_line(&format!(
        "{BIN} --progress --stdio pipe --log l --report r -- sh -c \"{script}\"; echo over-$?"
    ));
    // Only a line that stands there makes room.
    terminal.wait_for("\r\u{1b}[Khrx-wrap 0:");
    std::fs::write(dir.join("begin"), "").unwrap();
    terminal.wait_for("\r\u{1b}[Kpart");
    std::fs::write(dir.join("go"), "").unwrap();
    // Its line is over, so ours may stand below it again.
    wait_until("the status line behind the target's own", || {
        let text = terminal.screen.text();
        text.split(" and rest\r\n").nth(1).is_some_and(|behind| behind.contains("hrx-wrap 0:"))
    });
    let text = terminal.screen.text();
    let own = text.split("part").nth(2).unwrap().split(" and rest").next().unwrap();
    assert_eq!(own, "", "nothing was drawn into the target's line");
    std::fs::write(dir.join("end"), "").unwrap();
    terminal.wait_for("over-0");
}

#[test]
fn a_stopped_wrapper_draws_nothing() {
    let dir = Dir::new("stopped");
    let terminal = Terminal::with_shell(dir.path());
    terminal.type_line(&format!("{BIN} --progress --stdio pipe --log l --report r -- sleep 60"));
    terminal.wait_for("hrx-wrap 0:00");
    let prompts = terminal.screen.text().matches("READY").count();
    terminal.keys(b"\x1a");
    wait_until("the shell's prompt", || terminal.screen.text().matches("READY").count() > prompts);
    let before = terminal.screen.text().matches("hrx-wrap 0:").count();
    terminal.type_line("sleep 2.2; echo slept");
    wait_until("two seconds", || terminal.screen.text().matches("slept").count() >= 2);
    assert_eq!(terminal.screen.text().matches("hrx-wrap 0:").count(), before, "{}", terminal.screen.text());
    terminal.type_line("fg");
    wait_until("the status line again", || terminal.screen.text().matches("hrx-wrap 0:").count() > before);
    terminal.keys(b"\x03");
    wait_until("the end", || terminal.screen.text().matches("READY").count() > prompts + 2);
}

#[test]
fn without_a_terminal_there_is_no_line() {
    let dir = Dir::new("pipe");
    let target = ["--numbered", "300", "--every-us", "4000"];
    let done = wrap(demo(&["--progress", "--log", "l", "--report", "r"], &target)).cwd(dir.path()).run();
    assert!(!done.err().contains('\u{1b}') && !done.err().contains("hrx-wrap"), "{}", done.err());
    assert_eq!(done.err().lines().count(), 300);
}

#[test]
fn a_terminal_that_does_not_know_its_width_has_a_whole_line() {
    let dir = Dir::new("width");
    let script = format!("stty cols 0; exec {BIN} --progress --stdio pipe --log l --report r -- sleep 60");
    let terminal = Terminal::with(&["sh", "-c", &script], dir.path());
    // Cut to the narrowest line this would be "hrx-wrap 0:00  0 li".
    terminal.wait_for("0 lines");
    terminal.keys(b"\x03");
}
