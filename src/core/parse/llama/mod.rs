//! Lines of llama.cpp's own log, 2024 to now.
//!
//! They are read unanchored and as bytes: a clock, a level, colours, the dots of a progress bar, a JSON record or a
//! router's `[port] ` may stand before them, and another thread's text as well. A line without one of the `MARKS`
//! costs one search. A line in new words is one row there and one function.

pub mod breakdown;
pub mod buffers;
mod marks;

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::Regex;

pub use breakdown::Cells;
pub use buffers::{Kind, Place};

/// Marks stand near a line's beginning; what is longer is a prompt or a list of tokens.
const HEAD: usize = 4096;

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word<'a> {
    /// A buffer was made: what for, of which type, how large.
    Buffer {
        /// What it holds.
        kind: Kind,
        /// Its buffer type's name; empty for a projector's weights.
        name: &'a [u8],
        /// Its size.
        bytes: u64,
    },
    /// The tensors of a model's file have so many bytes.
    FileSize(u64),
    /// A context ends, and this was its work space.
    Destroyed {
        /// The buffer type.
        name: &'a [u8],
        /// Its size at the end.
        bytes: u64,
        /// Its size as it was reserved.
        expected: u64,
    },
    /// A copy of a context's state was moved to the device.
    StateCopy {
        /// The buffer type.
        name: &'a [u8],
        /// Its size.
        bytes: u64,
    },
    /// A model's file was opened.
    Loading,
    /// Whether what follows is a trial without memory.
    NoAlloc(bool),
    /// The fit of parameters begins.
    FitBegins,
    /// It is over.
    FitEnds,
    /// A context is being made.
    Context,
    /// A graph of so many nodes was reserved.
    Nodes(u64),
    /// A context's work space is reserved.
    Reserved,
    /// The warm-up begins.
    WarmUp,
    /// A decode is prepared (llama-bench).
    Threads,
    /// A prompt or tokens are computed, or the server is ready for them.
    Running,
    /// A context's times are printed: it ends.
    TearDown,
    /// The server goes.
    Closing,
    /// The server let go of everything.
    Asleep,
    /// It loads again.
    Awake,
    /// A draft model was loaded for nothing and let go.
    DraftDropped,
    /// A projector's backend.
    Projector(&'a [u8]),
    /// A device is used.
    Device(&'a [u8]),
    /// A table of memory begins.
    Table,
    /// A row of it.
    Row {
        /// Device, `Host`, or a buffer type.
        name: &'a [u8],
        /// Its cells.
        cells: Cells,
    },
    /// A whole table as a JSON record.
    Record(&'a [u8]),
}

/// What a line says, and which of a router's children says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// The child's port.
    pub port: Option<u16>,
    /// The word.
    pub word: Word<'a>,
}

/// Reads a line around a mark, which stands at the given place.
type Read = for<'a> fn(&'a [u8], usize) -> Option<Word<'a>>;

/// What a line is known by, and who reads it.
const MARKS: [(&str, Read); 31] = [
    ("buffer size", buffers::size),
    ("model size:", buffers::projector),
    ("file size   = ", marks::file_size),
    ("model size       = ", marks::file_size),
    ("allocated '", buffers::state_copy),
    ("loaded meta data with", |_, _| Some(Word::Loading)),
    ("no_alloc", marks::no_alloc),
    ("getting device memory data for initial", |_, _| Some(Word::FitBegins)),
    ("fitting params to device memory", |_, _| Some(Word::FitBegins)),
    ("fitting params to free memory took", |_, _| Some(Word::FitEnds)),
    ("constructing llama_context", |_, _| Some(Word::Context)),
    ("n_ctx  ", marks::old_context),
    ("graph nodes", marks::nodes),
    ("graph: nodes", marks::nodes),
    ("reserve took", |_, _| Some(Word::Reserved)),
    ("warming up the model", |_, _| Some(Word::WarmUp)),
    ("set_n_threads: n_threads", |_, _| Some(Word::Threads)),
    ("llama-bench: benchmark ", marks::bench),
    ("generate: n_ctx = ", |_, _| Some(Word::Running)),
    (" | processing task", |_, _| Some(Word::Running)),
    (" | new prompt, ", |_, _| Some(Word::Running)),
    ("calculating perplexity over", |_, _| Some(Word::Running)),
    ("load time = ", marks::perf),
    (": model loaded", |_, _| Some(Word::Running)),
    ("cleaning up before exit", |_, _| Some(Word::Closing)),
    (" sleeping state", marks::sleep),
    ("no implementations specified for speculative", |_, _| Some(Word::DraftDropped)),
    ("CLIP using ", marks::projector),
    ("using device ", marks::device),
    ("| memory breakdown [MiB]", |_, _| Some(Word::Table)),
    ("|   - ", breakdown::row),
];

/// The mark of a table that is one record.
const RECORD: &str = "\"fit_memory_breakdown\"";

/// All marks as one search.
static SEARCH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let marks = MARKS.iter().map(|(mark, _)| *mark).chain([RECORD]);
    let escaped: Vec<String> = marks.map(regex::escape).collect();
    Regex::new(&escaped.join("|")).ok()
});

/// What a line says of memory or phase, if anything.
pub fn said(line: &[u8]) -> Option<Said<'_>> {
    let text = &line[..line.len().min(HEAD)];
    let search = SEARCH.as_ref()?;
    let word = search.find_iter(text).find_map(|found| match found.as_bytes() {
        mark if mark == RECORD.as_bytes() => Some(Word::Record(line)),
        mark => {
            let (_, read) = MARKS.iter().find(|(m, _)| m.as_bytes() == mark)?;
            read(text, found.start())
        }
    })?;
    Some(Said { port: port(text), word })
}

/// The `[49813] ` that a router puts before its children's lines, behind colours.
fn port(mut text: &[u8]) -> Option<u16> {
    while let Some(code) = text.strip_prefix(b"\x1b[") {
        let end = code.iter().position(u8::is_ascii_alphabetic)?;
        text = &code[end + 1..];
    }
    let text = text.strip_prefix(b"[")?;
    let end = text.iter().position(|b| !b.is_ascii_digit())?;
    let number = std::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
    text[end..].starts_with(b"] ").then_some(number)
}

/// llama.cpp's account of its build, from the word `build` on.
///
/// Seen from 2024 to 2026: `build: 1 (4227c9b) with cc …`, `build = 1 (1d1ccce)`,
/// `common_params_print_info: build 10605 (name) with …`, `build: name (10605)` (llama-bench).
pub fn build_line(line: &[u8]) -> Option<&[u8]> {
    let at = memmem::find(line, b"build")?;
    if at > 0 && !line[at - 1].is_ascii_whitespace() && line[at - 1] != b'm' {
        return None;
    }
    let text = line[at..].trim_ascii_end();
    let rest = text[b"build".len()..].trim_ascii_start();
    let rest = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"=")).unwrap_or(rest).trim_ascii_start();
    let word = rest.iter().position(|b| *b == b' ').filter(|n| *n > 0)?;
    let (first, after) = (&rest[..word], rest[word + 1..].strip_prefix(b"(")?);
    let close = after.iter().position(|b| *b == b')')?;
    let number = |w: &[u8]| !w.is_empty() && w.iter().all(u8::is_ascii_digit);
    (number(first) || number(&after[..close])).then_some(text)
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod line_tests;

#[cfg(test)]
mod tests {
    use super::build_line;

    #[test]
    fn every_wording_since_2024() {
        for (line, build) in [
            (
                &b"build: 1 (4227c9b) with cc 12.2.0 for x86_64"[..],
                &b"build: 1 (4227c9b) with cc 12.2.0 for x86_64"[..],
            ),
            (b"main: build = 1 (1d1ccce)", b"build = 1 (1d1ccce)"),
            (
                b"0.00.009 I cmn common_param: common_params_print_info: build 10605 (pydist) with GNU",
                b"build 10605 (pydist) with GNU",
            ),
            (b"build: pydist0940 (10605)", b"build: pydist0940 (10605)"),
        ] {
            assert_eq!(build_line(line), Some(build));
        }
    }

    #[test]
    fn other_lines_about_building_are_not_it() {
        for line in [
            &b"rebuild: 1 (abc)"[..],
            b"build the graph (slow)",
            b"build",
            b"build: ",
            b"version: 0.2 (build 10605, commit x)",
        ] {
            assert_eq!(build_line(line), None, "{}", String::from_utf8_lossy(line));
        }
    }
}
