//! `/proc/<pid>/stat`: the few fields that matter here (`man 5 proc_pid_stat`).

/// A process as its `stat` line shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Its pid.
    pub pid: i32,
    /// Its name; may hold spaces and `)`.
    pub name: String,
    /// State letter: R S D Z T t X I.
    pub state: char,
    /// Its parent.
    pub parent: i32,
    /// Its process group.
    pub group: i32,
    /// When it started, in clock ticks after boot: with the pid it names one process.
    pub started: u64,
}

/// Reads a `stat` line. The name ends at the **last** `)`.
pub fn parse(text: &[u8]) -> Option<Stat> {
    let open = memchr::memchr(b'(', text)?;
    let close = memchr::memrchr(b')', text).filter(|close| *close > open)?;
    let pid = std::str::from_utf8(&text[..open]).ok()?.trim().parse().ok()?;
    let name = crate::core::text::printable(&text[open + 1..close]);
    let mut rest = std::str::from_utf8(&text[close + 1..]).ok()?.split_ascii_whitespace();
    let state = rest.next()?.chars().next()?;
    let parent = rest.next()?.parse().ok()?;
    let group = rest.next()?.parse().ok()?;
    // Field 22 of the line; the state is field 3.
    let started = rest.nth(16)?.parse().ok()?;
    Some(Stat { pid, name, state, parent, group, started })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_with_spaces_and_brackets() {
        let line = b"42 (a) b (c)) S 7 42 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 998877 1 2\n";
        let stat = parse(line).unwrap();
        assert_eq!((stat.pid, stat.name.as_str(), stat.state), (42, "a) b (c)", 'S'));
        assert_eq!((stat.parent, stat.group, stat.started), (7, 42, 998_877));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse(&bytes);
        }
    }
}
