//! Amounts of memory as programs print them: a decimal number and a unit, read exactly.

/// One MiB in bytes.
pub const MIB: u64 = 1 << 20;
/// More digits than any amount of memory has.
const DIGITS: usize = 18;

/// A decimal number, as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u64,
    places: u32,
}

impl Decimal {
    /// The number at the beginning of a text, and what follows it.
    pub fn read(text: &[u8]) -> Option<(Decimal, &[u8])> {
        let count = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
        let whole = count(text);
        let behind = text.get(whole + 1..).filter(|_| text.get(whole) == Some(&b'.'));
        let places = behind.map_or(0, count);
        if whole == 0 || whole + places > DIGITS {
            return None;
        }
        let fraction = behind.map_or(&b""[..], |text| &text[..places]);
        let all = text[..whole].iter().chain(fraction);
        let digits = all.fold(0, |sum: u64, digit| sum * 10 + u64::from(digit - b'0'));
        let rest = if places > 0 { &text[whole + 1 + places..] } else { &text[whole..] };
        Some((Decimal { digits, places: u32::try_from(places).ok()? }, rest))
    }

    /// So many units in bytes, rounded to the nearest.
    pub fn of(self, unit: u64) -> Option<u64> {
        let tens = 10_u128.pow(self.places);
        u64::try_from((u128::from(self.digits) * u128::from(unit) + tens / 2) / tens).ok()
    }
}

/// `304.28 MiB` at the beginning of a text: bytes, and what follows. llama.cpp's `MB` of old is a MiB as well.
pub fn mebibytes(text: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = Decimal::read(text.trim_ascii_start())?;
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b"MiB").or_else(|| rest.strip_prefix(b"MB"))?;
    Some((number.of(MIB)?, rest))
}

/// An amount whose unit may be missing: bare numbers are bytes, `KB` is 1000, `K` and `KiB` are 1024.
pub fn bytes(text: &[u8]) -> Option<u64> {
    let (number, rest) = Decimal::read(text)?;
    let word = rest.trim_ascii_start();
    let word = &word[..word.iter().take_while(|b| b.is_ascii_alphabetic()).count()];
    let unit = unit(word);
    // `1e3`, `5,5` and `5 ZiB` are more than the number that they begin with.
    let goes_on = match rest {
        [b'.' | b',', b'0'..=b'9', ..] => true,
        [first, ..] => first.is_ascii_alphabetic() && unit.is_none(),
        [] => false,
    };
    let other = unit.is_none() && word.len() <= 3 && word.ends_with(b"B");
    if goes_on || other { None } else { number.of(unit.unwrap_or(1)) }
}

/// Bytes in MiB with one digit, rounded in integers so that it is the same everywhere.
pub fn mib(bytes: u64) -> String {
    let tenths = (u128::from(bytes) * 10 + u128::from(MIB) / 2) / u128::from(MIB);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// The same for a difference.
pub fn signed_mib(bytes: i64) -> String {
    let shown = mib(bytes.unsigned_abs());
    if bytes < 0 && shown != "0.0" { format!("-{shown}") } else { shown }
}

/// Bytes of a unit's sign; `None` for a word that is no unit.
fn unit(word: &[u8]) -> Option<u64> {
    let word = word.to_ascii_lowercase();
    let power = match word.first()? {
        b'b' => return ([&b"b"[..], b"byte", b"bytes"].contains(&word.as_slice())).then_some(1),
        b'k' => 1,
        b'm' => 2,
        b'g' => 3,
        b't' => 4,
        _ => return None,
    };
    match &word[1..] {
        b"" | b"ib" => Some(1024_u64.pow(power)),
        b"b" => Some(1000_u64.pow(power)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn amounts_are_exact() {
        assert_eq!(mebibytes(b"  2375.91 MiB\n"), Some((2_491_322_204, &b"\n"[..])));
        assert_eq!(mebibytes(b"0.00 MiB"), Some((0, &b""[..])));
        assert_eq!(mebibytes(b"13.2637 MiB,"), Some((13_907_997, &b","[..])));
        assert_eq!(mebibytes(b"12 GiB"), None);
        assert_eq!(mebibytes(b". MiB"), None);
    }

    #[test]
    fn every_unit_and_none() {
        for (text, expected) in [
            ("795.8 MiB weights=38", Some(834_456_781)),
            ("795.8MiB,", Some(834_456_781)),
            ("834456781 weights=38", Some(834_456_781)),
            ("834456781", Some(834_456_781)),
            ("12B", Some(12)),
            ("3 bytes", Some(3)),
            ("1.5 GiB", Some(1_610_612_736)),
            ("7 KB", Some(7_000)),
            ("7 KiB", Some(7_168)),
            ("2 M", Some(2 << 20)),
            ("1 TiB", Some(1 << 40)),
            ("5 ms", Some(5)),
            ("5, done", Some(5)),
            ("5. Done", Some(5)),
            ("1e3 MiB", None),
            ("0x10", None),
            ("5,5 MiB", None),
            ("1.234.567", None),
            ("5 ZiB", None),
            ("5 PB", None),
            ("5ms", None),
            ("-5 MiB", None),
            ("unknown", None),
            ("9999999999999999999", None),
        ] {
            assert_eq!(bytes(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(text in prop::collection::vec(any::<u8>(), 0..40)) {
            mebibytes(&text);
            bytes(&text);
        }
    }
}
