//! The signal rules, one row a signal: what the front does when it is sent one.
//!
//! Numbers are Linux's generic ones (x86, Arm, RISC-V; `man 7 signal`); `sys` has a test that they are the C library's.

use crate::core::duration::MS;

/// What happens to a signal that somebody sends to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Handed on to the target, exactly once.
    Forward,
    /// A stop request: handed on; when the target stops, we stop with it.
    JobControl,
    /// Ours alone: its default action, never handed on (faults of our own, and what no process can catch).
    Own,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// The number.
    pub number: i32,
    /// The name without `SIG`.
    pub name: &'static str,
    /// What we do with it.
    pub rule: Rule,
    /// From outside it asks for the end: the clock of `--kill-after` starts with it.
    pub ends: bool,
    /// Sent twice within this time by one sender (to the pid and to its group) it is one request, ns; 0 = never.
    pub breath_ns: u64,
}

/// `timeout`, `pkill` and the like signal the pid and its group in one breath. A person or a script that asks twice
/// takes longer.
const BREATH: u64 = 10 * MS;
/// Signals that programs use to talk to each other can follow one another quickly.
const SHORT_BREATH: u64 = 5 * MS;

const fn row(number: i32, name: &'static str, rule: Rule) -> Signal {
    Signal { number, name, rule, ends: false, breath_ns: 0 }
}

const fn merged(number: i32, name: &'static str) -> Signal {
    Signal { number, name, rule: Rule::Forward, ends: false, breath_ns: BREATH }
}

const fn talk(number: i32, name: &'static str) -> Signal {
    Signal { number, name, rule: Rule::Forward, ends: false, breath_ns: SHORT_BREATH }
}

const fn ending(number: i32, name: &'static str) -> Signal {
    Signal { number, name, rule: Rule::Forward, ends: true, breath_ns: BREATH }
}

/// Hangup.
pub const HUP: i32 = 1;
/// Interrupt.
pub const INT: i32 = 2;
/// `SIGQUIT`.
pub const QUIT: i32 = 3;
/// Bus error.
pub const BUS: i32 = 7;
/// Kill.
pub const KILL: i32 = 9;
/// Segmentation fault.
pub const SEGV: i32 = 11;
/// Broken pipe.
pub const PIPE: i32 = 13;
/// Terminate.
pub const TERM: i32 = 15;
/// Child status changed.
pub const CHLD: i32 = 17;
/// Continue.
pub const CONT: i32 = 18;
/// Stop.
pub const STOP: i32 = 19;
/// Stop from the terminal.
pub const TSTP: i32 = 20;
/// Background read from the terminal.
pub const TTIN: i32 = 21;
/// Background write to the terminal.
pub const TTOU: i32 = 22;
/// Window size changed.
pub const WINCH: i32 = 28;
/// The first real-time signal a program may use with glibc or musl (`SIGRTMIN` there).
pub const RT_FIRST: i32 = 34;
/// The last real-time signal (`SIGRTMAX`).
pub const RT_LAST: i32 = 64;

/// Every standard signal.
pub const TABLE: [Signal; 31] = [
    merged(HUP, "HUP"),
    ending(INT, "INT"),
    merged(QUIT, "QUIT"),
    row(4, "ILL", Rule::Own),
    row(5, "TRAP", Rule::Own),
    row(6, "ABRT", Rule::Own),
    row(7, "BUS", Rule::Own),
    row(8, "FPE", Rule::Own),
    row(KILL, "KILL", Rule::Own),
    talk(10, "USR1"),
    row(11, "SEGV", Rule::Own),
    talk(12, "USR2"),
    row(PIPE, "PIPE", Rule::Own),
    talk(14, "ALRM"),
    ending(TERM, "TERM"),
    row(16, "STKFLT", Rule::Own),
    row(CHLD, "CHLD", Rule::Own),
    merged(CONT, "CONT"),
    row(STOP, "STOP", Rule::Own),
    row(TSTP, "TSTP", Rule::JobControl),
    row(TTIN, "TTIN", Rule::JobControl),
    row(TTOU, "TTOU", Rule::JobControl),
    row(23, "URG", Rule::Own),
    row(24, "XCPU", Rule::Own),
    row(25, "XFSZ", Rule::Own),
    talk(26, "VTALRM"),
    row(27, "PROF", Rule::Own),
    talk(WINCH, "WINCH"),
    row(29, "IO", Rule::Own),
    row(30, "PWR", Rule::Own),
    row(31, "SYS", Rule::Own),
];

/// The row of a signal; a real-time signal has the row `Forward` and no name of its own.
pub fn lookup(number: i32) -> Option<Signal> {
    if (RT_FIRST..=RT_LAST).contains(&number) {
        return Some(talk(number, "RT"));
    }
    TABLE.into_iter().find(|s| s.number == number)
}

/// All signals that the front and the supervisor take in hand, job control included.
pub fn taken() -> impl Iterator<Item = i32> {
    let standard = TABLE.into_iter().filter(|s| s.rule != Rule::Own).map(|s| s.number);
    standard.chain(RT_FIRST..=RT_LAST)
}

/// `SIGTERM`, `SIGRTMIN+3`, or `signal 99` for a number without a name.
pub fn name(number: i32) -> String {
    match lookup(number) {
        Some(s) if s.name == "RT" && number == RT_FIRST => "SIGRTMIN".to_owned(),
        Some(s) if s.name == "RT" => format!("SIGRTMIN+{}", number - RT_FIRST),
        Some(s) => format!("SIG{}", s.name),
        None => format!("signal {number}"),
    }
}

/// Reads a signal as a user writes it: `TERM`, `SIGTERM`, `term`, `15`, `RTMIN+3`, `SIGRTMAX-1`.
///
/// # Errors
/// A sentence that names the text and the remedy.
pub fn parse(text: &str) -> Result<i32, String> {
    let upper = text.trim().to_ascii_uppercase();
    let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
    let number = match bare.parse::<i32>() {
        Ok(n) => Some(n),
        Err(_) => by_name(bare),
    };
    number.filter(|n| lookup(*n).is_some()).ok_or_else(|| {
        format!(
            "'{text}' is not a signal: give a name such as TERM, INT or RTMIN+1, or a number from 1 to 64"
        )
    })
}

fn by_name(bare: &str) -> Option<i32> {
    if let Some(rest) = bare.strip_prefix("RTMIN") {
        let offset = if rest.is_empty() { 0 } else { rest.strip_prefix('+')?.parse::<i32>().ok()? };
        return RT_FIRST.checked_add(offset).filter(|n| *n <= RT_LAST);
    }
    if let Some(rest) = bare.strip_prefix("RTMAX") {
        let offset = if rest.is_empty() { 0 } else { rest.strip_prefix('-')?.parse::<i32>().ok()? };
        return RT_LAST.checked_sub(offset).filter(|n| *n >= RT_FIRST);
    }
    TABLE.into_iter().find(|s| s.name == bare).map(|s| s.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_those_of_the_specification() {
        let forwarded: Vec<&str> = TABLE.iter().filter(|s| s.rule == Rule::Forward).map(|s| s.name).collect();
        assert_eq!(
            forwarded,
            ["HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM", "CONT", "VTALRM", "WINCH"]
        );
        let job: Vec<&str> = TABLE.iter().filter(|s| s.rule == Rule::JobControl).map(|s| s.name).collect();
        assert_eq!(job, ["TSTP", "TTIN", "TTOU"]);
        for own in ["SEGV", "BUS", "FPE", "ILL", "ABRT", "TRAP", "SYS"] {
            assert_eq!(by_name(own).and_then(lookup).map(|s| s.rule), Some(Rule::Own), "{own}");
        }
        assert_eq!(lookup(40).map(|s| s.rule), Some(Rule::Forward));
        assert!(lookup(32).is_none() && lookup(0).is_none() && lookup(65).is_none());
    }

    #[test]
    fn only_term_and_int_start_the_clock() {
        let ends: Vec<&str> = TABLE.iter().filter(|s| s.ends).map(|s| s.name).collect();
        assert_eq!(ends, ["INT", "TERM"]);
    }

    #[test]
    fn table_is_in_order_and_whole() {
        for (i, s) in TABLE.iter().enumerate() {
            assert_eq!(usize::try_from(s.number).unwrap(), i + 1);
        }
    }

    #[test]
    fn names_are_read_both_ways() {
        for (text, n) in
            [("TERM", 15), ("sigterm", 15), ("9", 9), ("RTMIN", 34), ("SIGRTMIN+3", 37), ("RTMAX-1", 63)]
        {
            assert_eq!(parse(text), Ok(n), "{text}");
        }
        for bad in ["", "0", "32", "65", "-1", "FOO", "RTMIN+99", "RTMIN-1", "SIG"] {
            assert!(parse(bad).unwrap_err().contains("is not a signal"), "{bad}");
        }
        assert_eq!(name(15), "SIGTERM");
        assert_eq!(name(34), "SIGRTMIN");
        assert_eq!(name(37), "SIGRTMIN+3");
        assert_eq!(name(99), "signal 99");
    }
}
