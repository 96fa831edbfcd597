//! A short text that is held in place: names from the kernel, copied without allocation.

use crate::core::text::printable;

/// The longest text it holds, bytes.
pub const LONGEST: usize = 63;

/// A short text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Word {
    length: u8,
    bytes: [u8; LONGEST],
}

impl Default for Word {
    fn default() -> Self {
        Word { length: 0, bytes: [0; LONGEST] }
    }
}

impl std::fmt::Debug for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.shown())
    }
}

impl Word {
    /// The text, unless it is longer than [`LONGEST`]: half a name would be another one's.
    pub fn of(text: &[u8]) -> Option<Word> {
        let mut word = Word { length: u8::try_from(text.len()).ok()?, ..Word::default() };
        word.bytes.get_mut(..text.len())?.copy_from_slice(text);
        Some(word)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// It holds nothing.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Fit to be shown.
    pub fn shown(&self) -> String {
        printable(self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_no_word() {
        assert_eq!(Word::of(b"0000:c5:00.0").map(|w| w.shown()), Some("0000:c5:00.0".to_owned()));
        assert!(Word::of(&[b'x'; LONGEST]).is_some());
        assert_eq!(Word::of(&[b'x'; LONGEST + 1]), None);
        assert_eq!(Word::of(&[b'x'; 300]), None);
        assert!(Word::of(b"").is_some_and(|w| w.is_empty()));
    }
}
