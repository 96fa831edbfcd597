//! What a consumer leaves, and where in the ring it saves its sums for a successor.

use crate::core::book::Book;
use crate::core::tally::{NUMBERS, Tally};
use crate::live::log::{self, LogFile};
use crate::live::ring::Ring;

/// Where the log's state stands among the saved numbers …
pub const LOG_STATE: usize = 3 + NUMBERS;
/// … and what was handed to a log that cannot be cut.
pub const HANDED: usize = LOG_STATE + log::STATE;
/// How far the target's ring was taken.
pub const PRINTED: usize = HANDED + 1;
/// Lines that were stamped at the source.
pub const SOURCE_LINES: usize = HANDED + 2;
/// Lines that we ended.
pub const CUT_LINES: usize = HANDED + 3;
/// Where the open lines are on the shelf.
pub const SHELVED: usize = HANDED + 4;
/// Whose line has the floor …
pub const FLOOR: usize = HANDED + 5;
/// … since when.
pub const FLOOR_NS: usize = HANDED + 6;
/// Whose the last line was.
pub const WRITER: usize = HANDED + 7;

/// What the consumer leaves.
#[derive(Debug)]
pub struct Left {
    /// The sums.
    pub book: Book,
    /// The log.
    pub log: Option<LogFile>,
    /// Where the lines were stamped.
    pub stamps: Stamps,
}

/// Where lines were stamped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// Lines that were stamped by the process that printed them.
    pub source_lines: u64,
    /// Lines that we ended where their writer had not: others' lines came between.
    pub cut_lines: u64,
    /// The target wrote over the memory that it prints into.
    pub damaged: bool,
}

/// What was saved last, of a consumer that is not waited for any more.
pub fn saved(ring: &Ring) -> Left {
    let words = ring.saved();
    let (source_lines, cut_lines) = (words[SOURCE_LINES], words[CUT_LINES]);
    Left { book: saved_book(ring), log: None, stamps: Stamps { source_lines, cut_lines, damaged: false } }
}

/// The sums as they were saved last.
pub fn saved_book(ring: &Ring) -> Book {
    let mut numbers = [0; NUMBERS];
    numbers.copy_from_slice(&ring.saved()[3..3 + NUMBERS]);
    Book::from_tally(Tally::from_numbers(numbers))
}
