//! Numbers in as few bytes as they need: seven bits a byte, the lowest first, the last byte without the top bit (LEB128;
//! protobuf's varint, <https://protobuf.dev/programming-guides/encoding/#varints>).

/// Appends a number.
pub fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Takes a number off the front; `None` when it is cut, or beyond 64 bits.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut n = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(first & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        n |= bits << shift;
        if first & 0x80 == 0 {
            return Some(n);
        }
    }
    None
}

/// A difference as a number that is small when the difference is, whichever its sign (zigzag).
pub fn fold(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

/// The difference again.
pub fn unfold(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_specification_both_ways() {
        for (n, expected) in [
            (0, &[0][..]),
            (1, &[1]),
            (127, &[0x7f]),
            (128, &[0x80, 1]),
            (300, &[0xac, 0x02]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        ] {
            let mut out = Vec::new();
            put(&mut out, n);
            assert_eq!(out, expected, "{n}");
            let mut rest = &out[..];
            assert_eq!((take(&mut rest), rest), (Some(n), &b""[..]));
            assert_eq!(take(&mut &out[..out.len() - 1]), None, "{n}, cut");
        }
        assert_eq!(take(&mut &[0xff; 11][..]), None, "without an end");
        assert_eq!(
            take(&mut &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2][..]),
            None,
            "65 bits"
        );
    }

    #[test]
    fn a_small_difference_is_a_small_number() {
        for (difference, n) in
            [(0, 0), (-1, 1), (1, 2), (-2, 3), (i64::MAX, u64::MAX - 1), (i64::MIN, u64::MAX)]
        {
            assert_eq!((fold(difference), unfold(n)), (n, difference));
        }
    }
}
