//! Durations as a user writes and reads them. Inside, every duration is `u64` nanoseconds.

/// Nanoseconds a millisecond.
pub const MS: u64 = 1_000_000;
/// Nanoseconds a second.
pub const S: u64 = 1_000_000_000;

/// Units of a duration on the command line, the longer names first where one begins another.
const UNITS: [(&str, u64); 8] = [
    ("ms", MS),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
    ("s", S),
    ("m", 60 * S),
    ("h", 3_600 * S),
    ("d", 86_400 * S),
];

/// Reads `90`, `90s`, `1.5s`, `50ms`, `15m`, `1h30m` as nanoseconds; a bare number is seconds.
///
/// # Errors
/// A sentence that names the text and the remedy.
pub fn parse(text: &str) -> Result<u64, String> {
    let bad = || format!("'{text}' is not a duration: write 90, 90s, 50ms, 15m or 1h30m");
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(bad());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let unit = UNITS.iter().find(|(name, _)| after.starts_with(name));
        let (scale, used) = match unit {
            Some((name, scale)) => (*scale, name.len()),
            None if after.is_empty() && rest.len() == text.trim().len() => (S, 0),
            None => return Err(bad()),
        };
        total = scaled(number, scale).and_then(|n| total.checked_add(n)).ok_or_else(bad)?;
        rest = &after[used..];
    }
    Ok(total)
}

/// `number × scale` for a decimal number, exact to the nanosecond and checked.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') || fraction.len() > 9 {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut sum = whole.checked_mul(scale)?;
    if !fraction.is_empty() {
        let digits: u64 = fraction.parse().ok()?;
        let part = u128::from(digits) * u128::from(scale) / 10u128.pow(u32::try_from(fraction.len()).ok()?);
        sum = sum.checked_add(u64::try_from(part).ok()?)?;
    }
    Some(sum)
}

/// A duration for people, three digits behind the point and the unit that fits: `12.346 s`, `3.100 ms`, `850 ns`.
pub fn show(ns: u64) -> String {
    let (unit, scale) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..MS => ("µs", 1_000),
        MS..S => ("ms", MS),
        _ => ("s", S),
    };
    // Integer arithmetic: a float would round 1.0005 differently from one platform to the next.
    let thousandths = ns / (scale / 1_000);
    format!("{}.{:03} {unit}", thousandths / 1_000, thousandths % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_users_write() {
        for (text, ns) in [
            ("90", 90 * S),
            ("90s", 90 * S),
            ("0", 0),
            ("15m", 900 * S),
            ("1h30m", 5_400 * S),
            ("50ms", 50 * MS),
            ("1.5s", 1_500 * MS),
            ("1.5", 1_500 * MS),
            (".5s", 500 * MS),
            ("1d", 86_400 * S),
            ("3us", 3_000),
            ("7ns", 7),
        ] {
            assert_eq!(parse(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest_by_name() {
        for bad in [
            "",
            " ",
            "s",
            "abc",
            "-1",
            "1x",
            "1h30",
            "1..5s",
            ".",
            "999999999999999999999",
            "9999999999999d",
            "1 s",
        ] {
            let error = parse(bad).unwrap_err();
            assert!(error.contains("is not a duration") && error.contains(bad), "{bad}: {error}");
        }
    }

    #[test]
    fn shows_with_a_unit() {
        for (ns, text) in [
            (0, "0 ns"),
            (850, "850 ns"),
            (1_500, "1.500 µs"),
            (3_100_000, "3.100 ms"),
            (999_999_999, "999.999 ms"),
            (12_345_678_901, "12.345 s"),
        ] {
            assert_eq!(show(ns), text);
        }
    }
}
