//! The small ways to misbehave.

use std::io::{self, Write as _};

use super::args::{Signals, Trouble};
use crate::core::signals::{INT, TERM};
use crate::sys::signal::{Set, raise_default, set_ignored};

/// Ignores what the options name.
///
/// # Errors
/// The kernel's, which these signals do not meet.
pub fn ignore_signals(options: &Signals) -> io::Result<()> {
    for (asked, signal) in [(options.ignore_term, TERM), (options.ignore_int, INT)] {
        if asked {
            set_ignored(signal, true)?;
        }
    }
    Ok(())
}

/// Ends this process by a signal, whether it is blocked, ignored or caught. Returns only if the signal does not end one.
pub fn die_of(signal: i32) {
    // A mask that cannot be changed leaves a signal that does not come: the run goes on, and the test that waits for
    // the death says so.
    let _ = Set::of([signal]).unblock();
    raise_default(signal);
}

/// The odd lines at the end of stderr, each one write.
///
/// # Errors
/// A stderr that cannot be written.
pub fn last_lines(options: &Trouble) -> io::Result<()> {
    let mut err = io::stderr().lock();
    if options.nul {
        err.write_all(b"a line with a NUL \0 in it\n")?;
    }
    if let Some(bytes) = options.long_line {
        err.write_all(&long_line(bytes))?;
    }
    if options.no_newline {
        err.write_all(b"a last line without a newline")?;
    }
    Ok(())
}

/// A line of so many bytes, newline included.
fn long_line(bytes: usize) -> Vec<u8> {
    let mut line = vec![b'x'; bytes.saturating_sub(1)];
    line.push(b'\n');
    line
}

/// Dies of the signal that the options name, unless it belongs to a dispatch.
pub fn die_at_the_end(options: &Trouble) {
    if let (Some(signal), None) = (options.die_signal, options.die_in_dispatch) {
        die_of(signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_as_long_as_asked() {
        assert_eq!(long_line(1), b"\n");
        assert_eq!(long_line(4), b"xxx\n");
    }
}
