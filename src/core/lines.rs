//! From stamped byte pieces to lines: bounded memory, exact bytes, one stamp a line.
//!
//! A line ends at LF; CR stays in it. Its time is the stamp of the piece that brought its **first** byte.
//! [`Splitter`] cuts pieces at line ends and keeps nothing; [`Assembler`] puts the parts of a line together again,
//! up to [`MAX_LINE`] bytes at a time.

use memchr::memchr;

/// The longest line that is held as one; a longer one is passed on in parts of exactly this many bytes.
pub const MAX_LINE: usize = 1 << 20;

/// A part of one line, without its LF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// Stamp of the line's first byte, ns.
    pub ns: u64,
    /// The bytes, exactly as written.
    pub bytes: &'a [u8],
    /// It is the beginning of its line.
    pub starts: bool,
    /// Its line ends behind it (LF).
    pub ends: bool,
}

/// Cuts stamped pieces at line ends. Holds one stamp, no bytes.
#[derive(Debug, Default)]
pub struct Splitter {
    open: Option<u64>,
}

impl Splitter {
    /// A splitter in the middle of a line that began at `ns`, or at the beginning of one.
    pub fn resumed(open: Option<u64>) -> Self {
        Splitter { open }
    }

    /// Cuts one piece, all of whose bytes were read at `ns`.
    pub fn feed<'a>(&mut self, ns: u64, mut bytes: &'a [u8], mut each: impl FnMut(Fragment<'a>)) {
        while !bytes.is_empty() {
            let starts = self.open.is_none();
            let stamp = *self.open.get_or_insert(ns);
            let end = memchr(b'\n', bytes);
            let (part, rest) = match end {
                Some(at) => (&bytes[..at], &bytes[at + 1..]),
                None => (bytes, &bytes[..0]),
            };
            if end.is_some() {
                self.open = None;
            }
            each(Fragment { ns: stamp, bytes: part, starts, ends: end.is_some() });
            bytes = rest;
        }
    }

    /// The last byte seen was not an LF.
    pub fn in_line(&self) -> bool {
        self.open.is_some()
    }
}

/// A whole line, or one part of a line longer than [`MAX_LINE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Stamp of the line's first byte, ns.
    pub ns: u64,
    /// The bytes without LF.
    pub bytes: &'a [u8],
    /// It holds the line's beginning.
    pub first: bool,
    /// It holds the line's end.
    pub last: bool,
    /// An LF followed; `false` for the last words of a target that wrote none.
    pub terminated: bool,
}

/// Puts fragments together to lines. Allocates only while a line grows beyond every earlier one.
#[derive(Debug, Default)]
pub struct Assembler {
    held: Vec<u8>,
    ns: u64,
    open: bool,
    continued: bool,
}

impl Assembler {
    /// Takes one fragment and yields what became whole.
    pub fn feed(&mut self, fragment: &Fragment<'_>, mut each: impl FnMut(Line<'_>)) {
        let Fragment { ns, mut bytes, starts, ends } = *fragment;
        if starts {
            self.ns = ns;
            self.continued = false;
            self.open = true;
        }
        if self.held.is_empty() && !self.continued && ends && bytes.len() <= MAX_LINE {
            self.open = false;
            each(Line { ns: self.ns, bytes, first: true, last: true, terminated: true });
            return;
        }
        while self.held.len() + bytes.len() > MAX_LINE {
            let (part, rest) = bytes.split_at(MAX_LINE - self.held.len());
            self.held.extend_from_slice(part);
            bytes = rest;
            self.emit(false, true, &mut each);
        }
        self.held.extend_from_slice(bytes);
        if ends {
            self.emit(true, true, &mut each);
        }
    }

    /// The end of all input: yields a line that was never ended.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if self.open {
            self.emit(true, false, &mut each);
        }
    }

    /// The bytes of the line that has not ended yet.
    pub fn pending(&self) -> &[u8] {
        &self.held
    }

    fn emit(&mut self, last: bool, terminated: bool, each: &mut impl FnMut(Line<'_>)) {
        let first = !self.continued;
        each(Line { ns: self.ns, bytes: &self.held, first, last, terminated });
        self.held.clear();
        self.continued = !last;
        self.open = !last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Owned = (u64, Vec<u8>, bool, bool, bool);

    fn lines(pieces: &[(u64, &[u8])]) -> Vec<Owned> {
        let (mut splitter, mut assembler, mut out) = (Splitter::default(), Assembler::default(), Vec::new());
        for (ns, bytes) in pieces {
            splitter.feed(*ns, bytes, |f| {
                assembler.feed(&f, |l| out.push((l.ns, l.bytes.to_vec(), l.first, l.last, l.terminated)));
            });
        }
        assembler.finish(|l| out.push((l.ns, l.bytes.to_vec(), l.first, l.last, l.terminated)));
        out
    }

    #[test]
    fn a_line_has_the_stamp_of_its_first_byte() {
        let got = lines(&[(1, b"a"), (2, b"b\nc\nd"), (3, b"\n"), (4, b"\n\re"), (5, b"f")]);
        let whole = |ns, text: &[u8]| (ns, text.to_vec(), true, true, true);
        let last = (4, b"\ref".to_vec(), true, true, false);
        assert_eq!(got, [whole(1, b"ab"), whole(2, b"c"), whole(2, b"d"), whole(4, b""), last]);
    }

    #[test]
    fn nul_and_invalid_utf8_are_bytes_like_others() {
        assert_eq!(lines(&[(7, b"\0\xff\xfe\n")]), [(7, b"\0\xff\xfe".to_vec(), true, true, true)]);
    }

    #[test]
    fn a_line_longer_than_the_bound_comes_in_exact_parts() {
        let long = vec![b'x'; 2 * MAX_LINE + 5];
        let mut text = long.clone();
        text.push(b'\n');
        let expect: Vec<(usize, bool, bool)> =
            vec![(MAX_LINE, true, false), (MAX_LINE, false, false), (5, false, true)];
        for cut in [1, MAX_LINE - 1, MAX_LINE, MAX_LINE + 1, text.len()] {
            let got = lines(&[(1, &text[..cut]), (2, &text[cut..])]);
            let shape: Vec<_> = got.iter().map(|l| (l.1.len(), l.2, l.3)).collect();
            assert_eq!(shape, expect, "cut at {cut}");
            assert!(got.iter().all(|l| l.0 == 1));
        }
    }

    #[test]
    fn a_line_of_exactly_the_bound_is_one() {
        let mut text = vec![b'y'; MAX_LINE];
        text.push(b'\n');
        for cut in [0, 5, MAX_LINE] {
            let got = lines(&[(1, &text[..cut]), (2, &text[cut..])]);
            assert_eq!(got.len(), 1, "cut at {cut}");
            assert!(got[0].2 && got[0].3);
        }
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_lines(text in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200),
                                        cuts in prop::collection::vec(0usize..200, 0..8)) {
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|c| *c <= text.len()).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<(u64, &[u8])> = cuts.windows(2).map(|w| (9, &text[w[0]..w[1]])).collect();
            prop_assert_eq!(lines(&pieces), lines(&[(9, &text)]));
        }
    }
}
