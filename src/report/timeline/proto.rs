//! As much of protobuf's wire format as a timeline needs: numbers, text and messages inside messages.

use crate::core::varint::put as varint;

/// Varint.
const VARINT: u64 = 0;
/// Length and bytes.
const BYTES: u64 = 2;

/// A number.
pub fn number(out: &mut Vec<u8>, field: u64, n: u64) {
    varint(out, field << 3 | VARINT);
    varint(out, n);
}

/// Text, or a message that is written already.
pub fn bytes(out: &mut Vec<u8>, field: u64, content: &[u8]) {
    varint(out, field << 3 | BYTES);
    varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

/// A message inside a message. Its length stands before it, so it is written behind and moved by the length's own.
pub fn message(out: &mut Vec<u8>, field: u64, write: impl FnOnce(&mut Vec<u8>)) {
    varint(out, field << 3 | BYTES);
    let at = out.len();
    // Nearly all are shorter than 128 bytes: their length is one byte.
    out.push(0);
    write(out);
    let length = out.len() - at - 1;
    if length < 0x80 {
        out[at] = length as u8;
        return;
    }
    let mut prefix = Vec::with_capacity(10);
    varint(&mut prefix, length as u64);
    out.splice(at..=at, prefix);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_length_before_it_whatever_that_is() {
        for length in [0, 1, 127, 128, 300, 20_000] {
            let mut out = Vec::new();
            message(&mut out, 3, |inner| inner.resize(inner.len() + length, 7));
            let mut expected = vec![3 << 3 | 2];
            varint(&mut expected, length as u64);
            expected.resize(expected.len() + length, 7);
            assert_eq!(out, expected, "{length}");
        }
    }

    #[test]
    fn text_and_numbers_have_their_field() {
        let mut out = Vec::new();
        number(&mut out, 1, 150);
        bytes(&mut out, 2, b"testing");
        assert_eq!(out, b"\x08\x96\x01\x12\x07testing");
    }
}
