//! The host-weight trace: the packed second copies of weights that the HRX backend makes.
//!
//! Its words differ from build to build. What is taken: a line that mentions host weights (any case, with a space, `-` or
//! `_`) and has a field `resident=`. A pattern of the user's replaces that.

use memchr::memmem;
use regex::bytes::Regex;

use crate::core::amount::bytes;
use crate::core::history::History;

/// Where such a line's fields stand; what is longer is no trace line.
const HEAD: usize = 4096;
/// The names of a count, the best first.
const COUNTS: [&[u8]; 4] = [b"weights", b"entries", b"allocations", b"count"];

/// One line of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Bytes resident after the event.
    pub bytes: u64,
    /// Weights resident after it, when the line says so.
    pub count: Option<u64>,
    /// The line says that something was evicted.
    pub evicted: bool,
}

/// What of the trace was seen.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    pattern: Option<Regex>,
    /// Lines of the trace.
    pub lines: u64,
    /// Lines that mention it and have no amount that can be read.
    pub unread: u64,
    /// Evictions: lines that say so, and those whose amount is smaller than the one before.
    pub evictions: u64,
    largest: Option<(u64, Resident)>,
    last: Option<Resident>,
    history: History<u64>,
}

impl Weights {
    /// Lines are known by this pattern instead. Amount and count are its groups `resident` and `count`, or the first two
    /// groups, or the fields of the line.
    pub fn set_pattern(&mut self, pattern: Regex) {
        self.pattern = Some(pattern);
    }

    /// The user gave a pattern.
    pub fn has_pattern(&self) -> bool {
        self.pattern.is_some()
    }

    /// Takes a line. True when it is one of the trace.
    pub fn take(&mut self, ns: u64, line: &[u8]) -> bool {
        let text = &line[..line.len().min(HEAD)];
        let found = match &self.pattern {
            None => tolerant(text),
            Some(pattern) => by_pattern(pattern, text),
        };
        let Some(found) = found else { return false };
        let Some(resident) = found else {
            self.unread += 1;
            return true;
        };
        self.lines += 1;
        let resident = Resident { count: resident.count.or(Some(self.lines)), ..resident };
        let fell = self.last.is_some_and(|last| resident.bytes < last.bytes);
        self.evictions += u64::from(resident.evicted || fell);
        if self.largest.is_none_or(|(_, largest)| largest.bytes < resident.bytes) {
            self.largest = Some((ns, resident));
        }
        self.last = Some(resident);
        self.history.push(ns, resident.bytes, |bytes| *bytes);
        true
    }

    /// The largest amount, the count on its line, and when.
    pub fn largest(&self) -> Option<(u64, Resident)> {
        self.largest
    }

    /// Bytes as the trace told them last until `ns`.
    pub fn at(&self, ns: u64) -> Option<u64> {
        self.history.at(ns).copied()
    }

    /// What they were for longest from `from` until `until`.
    pub fn longest(&self, from: u64, until: u64) -> Option<u64> {
        self.history.longest(from, until).copied()
    }
}

/// `None`: no line of the trace. `Some(None)`: one whose amount cannot be read.
fn tolerant(text: &[u8]) -> Option<Option<Resident>> {
    memmem::find(text, b"resident=")?;
    let value = field(text, b"resident")?;
    mentions_host_weights(text)
        .then(|| Some(Resident { bytes: bytes(value)?, count: count(text), evicted: evicts(text) }))
}

fn by_pattern(pattern: &Regex, text: &[u8]) -> Option<Option<Resident>> {
    let found = pattern.captures(text)?;
    let by_name = pattern.capture_names().flatten().next().is_some();
    let group = |name: &str, place: usize| {
        let group = if by_name { found.name(name) } else { found.get(place) };
        group.map(|m| m.range())
    };
    // A group may hold the number alone, and the unit stand behind it.
    let amount = group("resident", 1).map(|range| &text[range.start..]).or_else(|| field(text, b"resident"));
    let counted = group("count", 2).and_then(|range| number(&text[range])).or_else(|| count(text));
    Some(amount.and_then(bytes).map(|bytes| Resident { bytes, count: counted, evicted: evicts(text) }))
}

/// What stands behind `name=`, where no letter stands before it.
fn field<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let word = |b: &u8| b.is_ascii_alphanumeric() || b"_-".contains(b);
    memmem::find_iter(text, name).find_map(|at| {
        let value = text[at + name.len()..].strip_prefix(b"=")?;
        let own = at.checked_sub(1).and_then(|before| text.get(before)).is_none_or(|b| !word(b));
        own.then_some(value)
    })
}

fn count(text: &[u8]) -> Option<u64> {
    COUNTS.iter().find_map(|name| number(field(text, name)?))
}

fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

fn evicts(text: &[u8]) -> bool {
    text.windows(5).any(|w| w.eq_ignore_ascii_case(b"evict"))
}

/// `host weight`, `Host-Weights`, `HOST_WEIGHT`.
fn mentions_host_weights(text: &[u8]) -> bool {
    text.windows(11).any(|w| {
        w[..4].eq_ignore_ascii_case(b"host")
            && b" -_".contains(&w[4])
            && w[5..].eq_ignore_ascii_case(b"weight")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;

    fn taken(lines: &[&str]) -> Weights {
        let mut weights = Weights::default();
        for (n, line) in lines.iter().enumerate() {
            weights.take(n as u64, line.as_bytes());
        }
        weights
    }

    fn largest(lines: &[&str]) -> Option<(u64, u64)> {
        let (_, largest) = taken(lines).largest()?;
        Some((largest.bytes, largest.count?))
    }

    #[test]
    fn the_largest_stays_and_evictions_are_counted() {
        let weights = taken(&[
            "HRX host weight cache: resident=304.3 MiB weights=1",
            "HRX host weight cache: resident=795.8 MiB weights=38",
            "HRX host weight cache: evicted x resident=512.0 MiB weights=16",
        ]);
        let (ns, largest) = weights.largest().unwrap();
        assert_eq!((ns, largest.bytes, largest.count), (1, 834_456_781, Some(38)));
        assert_eq!((weights.lines, weights.evictions, weights.unread), (3, 1, 0));
        assert_eq!((weights.at(0), weights.at(9)), (Some(319_081_677), Some(512 * MIB)));
        assert_eq!(
            taken(&["host weight resident=5", "host weight resident=4"]).evictions,
            1,
            "without the word"
        );
    }

    #[test]
    fn any_wording_with_host_weights_and_resident() {
        for (line, expected) in [
            ("ggml_hrx: HOST_WEIGHTS upload, resident=1048576 entries=3", Some((MIB, 3))),
            ("[hrx] Host-Weight: count=9 allocations=4 resident=1MiB", Some((MIB, 4))),
            ("host weight resident=1.5 GiB, done", Some((1536 * MIB, 1))),
            ("0.01.2 I hrx host weights: evictable resident=2 MiB count=7", Some((2 * MIB, 7))),
            ("host weights nonresident=3 MiB", None),
            ("hostweight resident=3 MiB", None),
            ("guest weight resident=3 MiB", None),
            ("host weight resident 3 MiB", None),
            ("host weight resident=many", None),
        ] {
            assert_eq!(largest(&[line]), expected, "{line}");
        }
        assert_eq!(taken(&["host weight resident=many"]).unread, 1);
        assert_eq!(
            largest(&["host weight resident=1", "host weight resident=2"]),
            Some((2, 2)),
            "lines so far"
        );
    }

    #[test]
    fn a_pattern_replaces_the_rule() {
        let with = |pattern: &str, line: &str| {
            let mut weights = Weights::default();
            weights.set_pattern(Regex::new(pattern).unwrap());
            weights.take(1, line.as_bytes());
            weights.largest().map(|(_, r)| (r.bytes, r.count))
        };
        let line = "packed cache now 795.8 MiB in 38 pieces";
        assert_eq!(with(r"packed cache now ([0-9.]+) MiB in (\d+)", line), Some((834_456_781, Some(38))));
        assert_eq!(with(r"in (?P<count>\d+)|now (?P<resident>\S+)", line), Some((834_456_781, Some(1))));
        assert_eq!(with("packed", "packed resident=5 weights=2"), Some((5, Some(2))));
        assert_eq!(with("packed", "host weight resident=5"), None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(text in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut line = b"host weight resident=".to_vec();
            line.extend(&text);
            Weights::default().take(0, &line);
            Weights::default().take(0, &text);
        }
    }
}
