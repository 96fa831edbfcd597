//! llama-bench's result on stdout.

use std::io::{self, Write};

/// A test and its rate.
#[derive(Debug)]
pub struct Row {
    /// llama-bench's name of the test: `pp256`, `tg16`.
    pub test: String,
    /// Tokens a second.
    pub rate: f64,
}

/// What `build:` lines name.
pub const BUILD: &str = "demo0000 (10605)";

/// Writes the table and the build line, and flushes.
///
/// # Errors
/// An output that cannot be written.
pub fn write(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    writeln!(
        out,
        "| model                          |       size |     params | backend    | ngl |            test |                  t/s |"
    )?;
    writeln!(
        out,
        "| ------------------------------ | ---------: | ---------: | ---------- | --: | --------------: | -------------------: |"
    )?;
    for Row { test, rate } in rows {
        let model = "qwen3 4B Q4_K - Medium";
        let rate = format!("{rate:.2} ± 0.00");
        writeln!(
            out,
            "| {model:<30} | {:>10} | {:>10} | {:<10} | {:>3} | {test:>15} | {rate:>20} |",
            "2.32 GiB", "4.02 B", "HRX", 99
        )?;
    }
    writeln!(out, "\nbuild: {BUILD}")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut out = Vec::new();
        let row = Row { test: "tg16".to_owned(), rate: 73.254 };
        write(&mut out, &[row]).unwrap();
        let text = String::from_utf8(out).unwrap();
        let widths: Vec<usize> = text.lines().take(3).map(|l| l.chars().count()).collect();
        assert_eq!(widths[0], widths[1]);
        assert_eq!(widths[1], widths[2]);
        assert!(text.contains("|            tg16 |         73.25 ± 0.00 |"));
        assert!(text.ends_with("\n\nbuild: demo0000 (10605)\n"));
    }
}
