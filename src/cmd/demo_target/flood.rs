//! Numbered lines, to measure a reader and to see what of a stream arrived. They go to C's `stderr`, as llama.cpp's do.

use std::fs::OpenOptions;
use std::io::{self, Write};

use anyhow::{Context as _, Result};

use super::args::Flood;
use super::lines::write_text;
use super::signals::Counter;
use super::timing::wait_until;
use crate::sys::clock::monotonic_ns;
use crate::sys::cstdio;

/// `line 000001 …`, each padded to `--line-bytes` and one write.
pub fn lines(options: &Flood, counter: &Counter) -> Result<()> {
    let mut text = Vec::with_capacity(options.line_bytes);
    for number in 1..=options.lines.unwrap_or(0) {
        if counter.enough() {
            break;
        }
        padded(&mut text, number, options.line_bytes);
        print(&text)?;
    }
    Ok(())
}

fn print(text: &[u8]) -> Result<()> {
    anyhow::ensure!(cstdio::print(text), "stderr: {}", io::Error::last_os_error());
    Ok(())
}

/// One line: its number, padded with dots; longer than asked if the number needs it.
fn padded(text: &mut Vec<u8>, number: u64, bytes: usize) {
    text.clear();
    write_text(text, format_args!("line {number:06}"));
    if text.len() + 2 < bytes {
        text.push(b' ');
        text.resize(bytes - 1, b'.');
    }
    text.push(b'\n');
}

/// `numbered 00000001`, paced, each one write; its number goes to the log after that write succeeded.
pub fn numbered(options: &Flood, own_clock: bool, counter: &Counter) -> Result<()> {
    let mut log = match &options.numbered_log {
        Some(path) => Some(
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .with_context(|| format!("cannot open {}", path.display()))?,
        ),
        None => None,
    };
    let mut text = Vec::new();
    let start = monotonic_ns();
    for number in 1..=options.numbered.unwrap_or(0) {
        if counter.enough() {
            break;
        }
        text.clear();
        write_text(&mut text, format_args!("numbered {number:08}"));
        if own_clock {
            write_text(&mut text, format_args!(" clock={}", monotonic_ns()));
        }
        text.push(b'\n');
        print(&text)?;
        if let Some(log) = &mut log {
            log.write_all(format!("{number:08}\n").as_bytes())?;
        }
        let due = number.saturating_mul(options.every_us).saturating_mul(1000);
        wait_until(start.saturating_add(due), false);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_length_asked_for() {
        let mut text = Vec::new();
        for (number, bytes, line) in [
            (1, 16, "line 000001 ...\n"),
            (1, 14, "line 000001 .\n"),
            (1, 13, "line 000001\n"),
            (1, 0, "line 000001\n"),
            (1_234_567, 16, "line 1234567 ..\n"),
        ] {
            padded(&mut text, number, bytes);
            assert_eq!(String::from_utf8_lossy(&text), line);
        }
    }
}
