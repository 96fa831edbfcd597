//! The serial trace against golden text.

use std::ffi::OsString;

use clap::Parser;

use super::super::args::{Args, SerialMode};
use super::super::device::DECODE;
use super::super::stderr::Prints;
use super::*;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: Args,
}

fn program(commands: usize) -> Program {
    Program { sequence: &DECODE, commands, init_commands: 0, transient_arena: 4096, uploads: &[(3, 4)] }
}

/// The prints of one run of a program of so many commands.
fn prints(
    options: &[&str],
    environment: &[(&str, &str)],
    commands: usize,
) -> (Vec<String>, Result<(), Failed>) {
    let line = ["demo-target", "--device-us=0", "--launch-us=0"].iter().chain(options);
    let args = Cli::parse_from(line).args;
    let lookup = |name: &str| environment.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
    let switches = Switches::read(args.work.serial, lookup);
    let lines = Lines::new(Prints::default(), false, 0);
    let mut backend = Backend::new(lines, switches, Timing::new(&args.work), &args.trouble);
    let result = backend.run(&program(commands));
    (backend.lines.out.0, result)
}

fn text(options: &[&str], environment: &[(&str, &str)], commands: usize) -> String {
    prints(options, environment, commands).0.concat()
}

const DISPATCH: &str = "\
hrx debug serial: sync-begin phase=command-pre-dispatch list=main index=1 list_commands=2 ordinal=1 kind=Kernel kernel_id=ID bindings=5
hrx debug serial: sync-end phase=command-pre-dispatch list=main index=1 list_commands=2 ordinal=1 kind=Kernel kernel_id=ID bindings=5
hrx debug serial: begin phase=command-dispatch list=main index=1 list_commands=2 ordinal=1 kind=Kernel kernel_id=ID bindings=5
hrx debug serial: end phase=command-dispatch list=main index=1 list_commands=2 ordinal=1 kind=Kernel kernel_id=ID bindings=5
hrx debug serial: sync-begin phase=command-post-dispatch list=main index=1 list_commands=2 ordinal=1 kind=Kernel kernel_id=ID bindings=5
hrx debug serial: sync-end phase=command-post-dispatch list=main index=1 list_commands=2 ordinal=1 kind=Kernel kernel_id=ID bindings=5
hrx debug serial: end phase=command-list list=main list_commands=2 main_commands=2
hrx debug serial: sync-begin phase=host-staging-download-pre main_commands=2 init_commands=0
hrx debug serial: sync-end phase=host-staging-download-pre main_commands=2 init_commands=0
hrx debug serial: sync-begin phase=host-staging-download-post main_commands=2 init_commands=0
hrx debug serial: sync-end phase=host-staging-download-post main_commands=2 init_commands=0
hrx debug serial: end phase=command-program main_commands=2 init_commands=0 transient_arena=4096
";

#[test]
fn the_last_dispatch_and_the_end_of_a_program() {
    let (prints, result) = prints(&["--serial=on"], &[], 2);
    assert_eq!(result, Ok(()));
    assert!(prints.concat().ends_with(&DISPATCH.replace("ID", "5337847305324508356")), "{}", prints.concat());
    // Each line is three prints and a flush.
    let lines: Vec<&[String]> = prints.chunks(4).collect();
    assert!(
        lines
            .iter()
            .all(|l| l[0].starts_with("hrx ") && l[1].starts_with(' ') && l[2] == "\n" && l[3].is_empty())
    );
}

#[test]
fn the_phases_of_a_program_in_order() {
    let text = text(&["--serial=on", "--init-commands=0"], &[], 1);
    let heads: Vec<String> = text
        .lines()
        .filter(|l| !l.contains("sync-end") && !l.contains("command-pre") && !l.contains("command-post"))
        .map(|l| l.strip_prefix("hrx debug serial: ").unwrap().replace("phase=", ""))
        .map(|l| l.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let before = BEFORE.map(|phase| format!("sync-begin {phase}"));
    let rest = [
        "sync-begin host-staging-upload-pre",
        "sync-begin host-staging-upload-buffer-pre",
        "sync-begin host-staging-upload-buffer-post",
        "sync-begin host-staging-upload-post",
        "begin command-list",
        "end command-list",
        "begin command-list",
        "begin command-dispatch",
        "end command-dispatch",
        "end command-list",
        "sync-begin host-staging-download-pre",
        "sync-begin host-staging-download-post",
        "end command-program",
    ];
    assert_eq!(heads[0], "begin command-program");
    assert_eq!(heads[1..=before.len()], before);
    assert_eq!(heads[before.len() + 1..], rest);
    assert!(text.contains("phase=host-staging-upload-buffer-pre value=3 length=4\n"));
    assert!(text.contains("begin phase=command-list list=init list_commands=0 main_commands=1\n"));
}

#[test]
fn off_is_silent() {
    assert_eq!(text(&["--serial=off"], &[("GGML_HRX_DEBUG_SERIAL_EXECUTION", "1")], 3), "");
    assert_eq!(text(&[], &[("GGML_HRX_DEBUG_SERIAL_EXECUTION", "0")], 3), "");
    assert_ne!(text(&[], &[("GGML_HRX_DEBUG_SERIAL_EXECUTION", "false")], 3), "");
}

#[test]
fn commands_outside_the_range_keep_their_waits_without_detail() {
    let range = [("GGML_HRX_DEBUG_SERIAL_START_COMMAND", "1"), ("GGML_HRX_DEBUG_SERIAL_END_COMMAND", "2")];
    let text = text(&["--serial=on"], &range, 5);
    let count =
        |what: &str| text.lines().filter(|l| *l == what || l.starts_with(&format!("{what} "))).count();
    assert_eq!(count("hrx debug serial: begin phase=command-dispatch"), 2);
    assert_eq!(count("hrx debug serial: sync-end phase=command-post-dispatch"), 5);
    let bare = "hrx debug serial: sync-end phase=command-post-dispatch";
    assert_eq!(text.lines().filter(|l| *l == bare).count(), 3);
    assert_eq!(count("hrx debug serial: begin phase=command-list"), 2);
}

#[test]
fn programs_of_another_size_lose_their_list_lines_too() {
    let other = [("GGML_HRX_DEBUG_SERIAL_PROGRAM_COMMANDS", "6")];
    let text = text(&["--serial=on"], &other, 5);
    assert!(!text.contains("command-list") && !text.contains("command-dispatch"));
    assert!(text.contains("begin phase=command-program main_commands=5"));
    assert_eq!(text.matches("sync-end phase=command-post-dispatch\n").count(), 5);
}

#[test]
fn a_failed_wait_ends_the_program_as_failed() {
    let (prints, result) = prints(&["--serial=on", "--fail-sync=2"], &[], 3);
    assert_eq!(result, Err(Failed));
    let text = prints.concat();
    let tail: Vec<&str> = text.lines().rev().take(3).collect();
    assert!(tail[0].starts_with("hrx debug serial: failed phase=command-program main_commands=3"));
    assert!(
        tail[1].starts_with("HRX debug serial sync failed phase=command-post-dispatch list=main index=1 ")
    );
    assert!(tail[1].ends_with(": device lost"));
    assert!(
        tail[2].starts_with("hrx debug serial: sync-begin phase=command-post-dispatch list=main index=1 ")
    );
}

#[test]
fn serial_mode_names() {
    for (name, mode) in [("on", SerialMode::On), ("off", SerialMode::Off), ("env", SerialMode::Env)] {
        let args = Cli::parse_from(["demo-target", "--serial", name]).args;
        assert_eq!(args.work.serial, mode);
    }
}
