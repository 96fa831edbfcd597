//! The HRX serial trace: `hrx debug serial: <event> phase=<phase>[ <detail>]`.

use memchr::memmem;

/// What marks a line of the serial trace, anywhere in it.
pub const MARK: &[u8] = b"hrx debug serial: ";

/// One line of the serial trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serial<'a> {
    /// What happened, as written: `begin`, `end`, `failed`, `sync-begin`, `sync-end`, or a word of a later build.
    pub event: &'a [u8],
    /// The phase, as written.
    pub phase: &'a [u8],
    /// What follows the phase, without the space before it; empty when there is no detail.
    pub detail: &'a [u8],
    /// What stood in the line before the mark: colour codes, a logger's prefix, another writer's text.
    pub before: &'a [u8],
}

/// Looks for the mark. `None`: not a trace line; `Some(None)`: the mark without an event and a phase (a broken line).
pub fn find(line: &[u8]) -> Option<Option<Serial<'_>>> {
    let at = memmem::find(line, MARK)?;
    let before = &line[..at];
    Some(head(&line[at + MARK.len()..]).map(|(event, phase, detail)| Serial { event, phase, detail, before }))
}

/// Splits `<event> phase=<phase>[ <detail>]`.
fn head(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = memchr::memchr(b' ', text)?;
    let (event, rest) = (&text[..space], &text[space + 1..]);
    let rest = rest.strip_prefix(b"phase=")?;
    let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
    let (phase, detail) = rest.split_at(end);
    let is_word = |word: &[u8]| !word.is_empty() && word.iter().all(|b| b.is_ascii_graphic());
    (is_word(event) && is_word(phase)).then(|| (event, phase, detail.strip_prefix(b" ").unwrap_or(detail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_details_and_what_stood_before() {
        let line =
            b"\x1b[0m0.01.2 I hrx debug serial: sync-end phase=command-post-dispatch list=main index=3";
        let got = find(line).unwrap().unwrap();
        assert_eq!(got.event, b"sync-end");
        assert_eq!(got.phase, b"command-post-dispatch");
        assert_eq!(got.detail, b"list=main index=3");
        assert_eq!(got.before, b"\x1b[0m0.01.2 I ");
        let bare = find(b"hrx debug serial: begin phase=command-list").unwrap().unwrap();
        assert_eq!((bare.event, bare.detail), (&b"begin"[..], &b""[..]));
    }

    #[test]
    fn cut_heads_are_broken_and_other_lines_are_none() {
        for broken in [
            &b"hrx debug serial: "[..],
            b"hrx debug serial: begin",
            b"hrx debug serial: begin phase=",
            b"hrx debug serial: begin phas",
        ] {
            assert_eq!(find(broken), Some(None), "{}", String::from_utf8_lossy(broken));
        }
        assert_eq!(find(b"hrx debug seria"), None);
        assert_eq!(find(b"HRX debug serial sync failed phase=x"), None);
    }
}
