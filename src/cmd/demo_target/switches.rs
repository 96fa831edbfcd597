//! The backend's environment switches, read as the backend reads them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use super::args::SerialMode;

/// What the environment asks the backend for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switches {
    /// The serial trace is on.
    pub serial: bool,
    /// Packed weights are reported.
    pub host_weights: bool,
    /// Only programs of this many main commands are traced.
    program_commands: Option<u64>,
    /// Only commands from this index on are traced.
    start: u64,
    /// Only commands up to this index, itself included, are traced.
    end: u64,
}

impl Switches {
    /// Reads them. `lookup` is the environment.
    pub fn read(serial: SerialMode, lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let bytes = |name: &str| lookup(name).map(OsString::into_vec).filter(|v| !v.is_empty());
        let flag = |name: &str| bytes(name).is_some_and(|v| v != b"0");
        let number = |name: &str| bytes(name).map(|v| c_number(&v));
        Self {
            serial: match serial {
                SerialMode::On => true,
                SerialMode::Off => false,
                SerialMode::Env => flag("GGML_HRX_DEBUG_SERIAL_EXECUTION"),
            },
            host_weights: flag("GGML_HRX_HOST_WEIGHT_TRACE"),
            program_commands: number("GGML_HRX_DEBUG_SERIAL_PROGRAM_COMMANDS"),
            start: number("GGML_HRX_DEBUG_SERIAL_START_COMMAND").unwrap_or(0),
            end: number("GGML_HRX_DEBUG_SERIAL_END_COMMAND").unwrap_or(u64::MAX),
        }
    }

    /// Whether lists and commands of a program of `commands` main commands are traced.
    pub fn traces_program(&self, commands: usize) -> bool {
        self.program_commands.is_none_or(|n| n == commands as u64)
    }

    /// Whether command `index` of a list of such a program is traced.
    pub fn traces_command(&self, commands: usize, index: usize) -> bool {
        self.traces_program(commands) && (self.start..=self.end).contains(&(index as u64))
    }
}

/// `strtoull(text, NULL, 0)`: `0x10`, `010` and `16` are numbers, what follows the digits is nobody's business, and a
/// text without digits is 0.
fn c_number(text: &[u8]) -> u64 {
    let text = text.trim_ascii_start();
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (radix, digits) = match text {
        [b'0', b'x' | b'X', rest @ ..] if rest.first().is_some_and(u8::is_ascii_hexdigit) => (16, rest),
        [b'0', rest @ ..] => (8, rest),
        _ => (10, text),
    };
    let mut value: u64 = 0;
    for digit in digits.iter().map_while(|b| char::from(*b).to_digit(radix)) {
        let next = value.checked_mul(u64::from(radix)).and_then(|v| v.checked_add(u64::from(digit)));
        let Some(next) = next else { return u64::MAX };
        value = next;
    }
    if negative { value.wrapping_neg() } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Switches {
        Switches::read(SerialMode::Env, |name| {
            pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v))
        })
    }

    #[test]
    fn a_flag_is_on_for_anything_but_empty_and_exactly_0() {
        for (value, on) in
            [("", false), ("0", false), ("1", true), ("false", true), ("00", true), (" 0", true)]
        {
            let got = read(&[("GGML_HRX_DEBUG_SERIAL_EXECUTION", value)]);
            assert_eq!(got.serial, on, "{value:?}");
            assert_eq!(read(&[("GGML_HRX_HOST_WEIGHT_TRACE", value)]).host_weights, on, "{value:?}");
        }
        assert!(!read(&[]).serial);
    }

    #[test]
    fn options_win_over_the_environment() {
        let on = |_: &str| Some(OsString::from("1"));
        assert!(!Switches::read(SerialMode::Off, on).serial);
        assert!(Switches::read(SerialMode::On, |_| None).serial);
    }

    #[test]
    fn narrowing_is_by_the_size_of_the_program_and_both_ends_are_inside() {
        let all = read(&[("GGML_HRX_DEBUG_SERIAL_PROGRAM_COMMANDS", "")]);
        assert!(all.traces_program(5) && all.traces_command(5, 4));
        let some = read(&[
            ("GGML_HRX_DEBUG_SERIAL_PROGRAM_COMMANDS", "0x10"),
            ("GGML_HRX_DEBUG_SERIAL_START_COMMAND", "2"),
            ("GGML_HRX_DEBUG_SERIAL_END_COMMAND", "010"),
        ]);
        assert!(some.traces_program(16) && !some.traces_program(10));
        let traced: Vec<usize> = (0..16).filter(|i| some.traces_command(16, *i)).collect();
        assert_eq!(traced, [2, 3, 4, 5, 6, 7, 8]);
        assert!(!some.traces_command(10, 3));
    }

    #[test]
    fn numbers_as_c_reads_them() {
        for (text, value) in [
            ("300", 300),
            ("0x12c", 300),
            ("0X12C", 300),
            ("0454", 300),
            ("  +7 apples", 7),
            ("09", 0),
            ("0x", 0),
            ("0xg", 0),
            ("many", 0),
            ("-1", u64::MAX),
            ("18446744073709551615", u64::MAX),
            ("99999999999999999999", u64::MAX),
        ] {
            assert_eq!(c_number(text.as_bytes()), value, "{text:?}");
        }
    }
}
