//! Every captured log of llama.cpp, 2024 to now, and what is read from it. `UPDATE=1 cargo test --test llama_logs` writes
//! the expected text anew; `tests/data/llama-logs/README.md` says what each capture is of.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hrx_wrap::core::amount::mib;
use hrx_wrap::core::book::Book;
use hrx_wrap::core::holding::buffers::Held;
use hrx_wrap::core::lines::{Assembler, Splitter};
use hrx_wrap::core::split::second;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/llama-logs");
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/llama-logs.golden.txt");

fn captures() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(FOLDER).expect("captures").flatten().map(|e| e.path()).collect();
    all.retain(|path| path.extension().is_none_or(|e| e != "md"));
    all.sort();
    all
}

/// A capture as stamped pieces: `.jsonl` has the reads of a run with their times, else a line comes every µs.
fn pieces(path: &Path) -> Vec<(u64, Vec<u8>)> {
    let text = std::fs::read(path).expect("a capture");
    if path.extension().is_some_and(|e| e == "jsonl") {
        let reads = text.split(|b| *b == b'\n').filter(|l| !l.is_empty());
        let reads = reads.map(|line| serde_json::from_slice::<serde_json::Value>(line).expect("a read"));
        let of_stderr = reads.filter(|read| read["fd"] == 2);
        return of_stderr
            .map(|read| {
                let data = read["data"].as_str().expect("its bytes, as latin-1");
                let ns = (read["t"].as_f64().expect("its time") * 1e9) as u64;
                (ns, data.chars().map(|c| u8::try_from(u32::from(c)).expect("latin-1")).collect())
            })
            .collect();
    }
    let lines = text.split_inclusive(|b| *b == b'\n');
    lines.enumerate().map(|(n, line)| (1_000 * (n as u64 + 1), line.to_vec())).collect()
}

fn read(pieces: &[(u64, Vec<u8>)]) -> Book {
    let (mut splitter, mut assembler, mut book) =
        (Splitter::default(), Assembler::default(), Book::default());
    for (ns, bytes) in pieces {
        splitter.feed(*ns, bytes, |fragment| assembler.feed(&fragment, |line| book.take(&line, |_, _| {})));
    }
    assembler.finish(|line| book.take(&line, |_, _| {}));
    book.finish();
    book
}

fn shares(held: Option<&Held>) -> String {
    let Some(held) = held.filter(|h| !h.shares.is_empty()) else { return "nothing".to_owned() };
    let mut parts: Vec<String> = Vec::new();
    for share in &held.shares {
        let mib = format!("{:.2}", share.bytes as f64 / 1_048_576.0);
        parts.push(format!("{:?} {} {mib}", share.kind, share.name));
    }
    parts.join(", ")
}

fn described(book: &Book) -> String {
    let (holding, mut out) = (&book.holding, String::new());
    let _ = writeln!(out, "  peak: {}", shares(holding.peak().map(|(_, held)| held)));
    let _ = writeln!(out, "  end:  {}", shares(holding.at(u64::MAX)));
    if holding.trials > 0 {
        let _ = writeln!(out, "  {} lines of trials, {} of what is held", holding.trials, holding.buffers);
    }
    let names: Vec<&str> = book.phases.spans().iter().map(|span| span.phase.name()).collect();
    let _ = writeln!(out, "  phases: {}", names.join(" "));
    for row in holding.table.iter().flat_map(second::rows) {
        let cells = row.cells().map(|(name, pair)| {
            format!("{name} {}{}{}", mib(pair.lines), if pair.agree { "≈" } else { "≠" }, pair.table_mib)
        });
        let _ = writeln!(out, "  table: {}: {}", row.name, cells.join(", "));
    }
    out
}

#[test]
fn every_capture_gives_its_golden_result() {
    let mut now = String::new();
    for path in captures() {
        let book = read(&pieces(&path));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let _ = write!(now, "{name}\n{}", described(&book));
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(GOLDEN, &now).unwrap();
    }
    let golden = std::fs::read_to_string(GOLDEN).unwrap_or_default();
    for (now, golden) in now.lines().zip(golden.lines()) {
        assert_eq!(now, golden, "UPDATE=1 cargo test --test llama_logs");
    }
    assert_eq!(now.lines().count(), golden.lines().count(), "UPDATE=1 cargo test --test llama_logs");
}

#[test]
fn every_line_with_a_buffers_size_is_understood() {
    let mut seen = 0;
    for path in captures().into_iter().filter(|p| p.extension().is_none_or(|e| e != "jsonl")) {
        let text = std::fs::read(&path).unwrap();
        for line in text.split(|b| *b == b'\n').filter(|l| l.windows(11).any(|w| w == b"buffer size")) {
            assert!(
                hrx_wrap::core::parse::llama::said(line).is_some(),
                "{}: {}",
                path.display(),
                String::from_utf8_lossy(line)
            );
            seen += 1;
        }
    }
    assert!(seen > 450, "only {seen} lines");
}

/// What may stand before a line, and may not change what it says.
#[test]
fn prefixes_colours_dots_and_a_second_prefix_change_nothing() {
    let plain = read(&pieces(&Path::new(FOLDER).join("completion-lv4-noprefix.stderr")));
    let expected = shares(plain.holding.peak().map(|(_, held)| held));
    for name in ["completion-lv4.stderr", "completion-lv4-notime.stderr", "completion-lv4-colors.stderr"] {
        let book = read(&pieces(&Path::new(FOLDER).join(name)));
        assert_eq!(shares(book.holding.peak().map(|(_, held)| held)), expected, "{name}");
    }
    for prefix in
        ["..........", "= 0.00.006.811 I ", "\x1b[33mD \x1b[0m", "{\"type\":\"log\",\"msg\":\"", "\u{fffd}\r"]
    {
        let pieces: Vec<(u64, Vec<u8>)> = pieces(&Path::new(FOLDER).join("completion-lv4-noprefix.stderr"))
            .into_iter()
            .map(|(ns, line)| (ns, [prefix.as_bytes(), &line].concat()))
            .collect();
        assert_eq!(shares(read(&pieces).holding.peak().map(|(_, held)| held)), expected, "{prefix:?}");
    }
}

/// A log may end anywhere: nothing panics, and what was held is what was told until then.
#[test]
fn any_cut_of_a_log_is_read() {
    let whole = pieces(&Path::new(FOLDER).join("server-v-draft-simple.stderr"));
    let mut most = 0;
    for lines in (0..whole.len()).step_by(9).chain([whole.len()]) {
        let book = read(&whole[..lines]);
        let now = book.holding.peak().map_or(0, |(_, held)| held.weight().1);
        // The last lines tell work space to more digits than the first ones.
        assert!(now + 10_000 >= most, "a longer log has no smaller peak: {lines} lines");
        most = now;
    }
}
