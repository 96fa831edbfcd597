//! Text from outside (a target, an argument, a file name) made safe to show.

/// The bytes as text for a terminal or a report: control characters and invalid UTF-8 become `\xNN` or `\u{…}`,
/// so that nothing from outside can move a cursor, colour a screen or reverse a line.
pub fn printable(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if is_shown(c) {
                out.push(c);
            } else {
                out.extend(c.escape_default());
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// Direction marks and other invisible format characters (Unicode Cf, the ranges that reorder or hide text).
fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A command line as one would type it in a POSIX shell, with what is not printable escaped.
pub fn shell_line<S: AsRef<str>>(words: &[S]) -> String {
    words.iter().map(|w| quoted(w.as_ref())).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let shown = printable(word.as_bytes());
    if !shown.is_empty() && shown.chars().all(plain) {
        shown
    } else {
        format!("'{}'", shown.replace('\'', r"'\''"))
    }
}

/// `text` cut to at most `width` characters, with `…` for what is missing.
pub fn clipped(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// `1 line`, `2 lines`, `2 dispatches`: a count with its noun.
pub fn count(n: u64, noun: &str) -> String {
    let ending = match n {
        1 => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{n} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_a_terminal_raw() {
        assert_eq!(printable(b"a\x1b[31mb\x00\xffc"), "a\\u{1b}[31mb\\u{0}\\xffc");
        assert_eq!(printable("µ\u{202e}x".as_bytes()), "µ\\u{202e}x");
        assert_eq!(printable(b"tab\there\n"), "tab\\there\\n");
    }

    #[test]
    fn command_lines_can_be_typed_again() {
        assert_eq!(shell_line(&["llama-bench", "-m", "a b.gguf", ""]), "llama-bench -m 'a b.gguf' ''");
        assert_eq!(shell_line(&["echo", "it's"]), r"echo 'it'\''s'");
    }

    #[test]
    fn counts_have_their_noun() {
        assert_eq!(count(1, "line"), "1 line");
        assert_eq!(count(0, "line"), "0 lines");
        assert_eq!(
            (count(1, "dispatch"), count(2, "dispatch")),
            ("1 dispatch".to_owned(), "2 dispatches".to_owned())
        );
    }

    #[test]
    fn clipping_counts_characters() {
        assert_eq!(clipped("abcdef", 4), "abc…");
        assert_eq!(clipped("äöü", 3), "äöü");
    }
}
