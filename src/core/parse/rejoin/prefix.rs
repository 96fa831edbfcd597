//! What a logger puts before each of its lines.

/// Colour codes, a clock and a level: what a logger puts before each of its lines.
pub(super) fn is_prefix(text: &[u8]) -> bool {
    let plain: Vec<u8> = without_colours(text);
    let words = plain.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty());
    words.into_iter().all(|word| {
        let clock = word.iter().all(|b| b.is_ascii_digit() || b":.-T[]Z+".contains(b));
        clock || word.len() == 1 || [&b"srv"[..], b"INFO", b"DEBUG"].contains(&word)
    })
}

/// A text without `ESC [ … letter` sequences.
fn without_colours(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == 0x1b && bytes.peek() == Some(&b'[') {
            let _ = bytes.by_ref().find(u8::is_ascii_alphabetic);
        } else {
            plain.push(byte);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_left_out_up_to_their_letter() {
        assert_eq!(without_colours(b"a\x1b[1;34mb\x1b[0mc\x1bd"), b"abc\x1bd");
    }
}
