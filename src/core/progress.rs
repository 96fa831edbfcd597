//! The words of the status line.

use crate::core::book::Book;
use crate::core::duration::S;
use crate::core::text::count;

/// GTT of the process tree, bytes: now, and the most so far.
pub type Gtt = (Option<u64>, Option<u64>);

/// `hrx-wrap 1:05  31544 lines  5127 dispatches  GTT 2.4 GiB, peak 2.5 GiB`. `gtt` is absent when nobody samples.
pub fn line(elapsed_ns: u64, book: &Book, gtt: Option<Gtt>) -> String {
    let seconds = elapsed_ns / S;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let time = if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    };
    let mut words = vec![format!("hrx-wrap {time}"), count(book.tally.lines, "line")];
    let completed = book.profile.coverage.completed;
    if completed > 0 {
        words.push(format!("{completed} dispatches"));
    }
    if let Some((now, peak)) = gtt {
        words.push(format!("GTT {}, peak {}", gib(now), gib(peak)));
    }
    words.join("  ")
}

fn gib(bytes: Option<u64>) -> String {
    bytes.map_or("unknown".to_owned(), |bytes| {
        let tenths = (u128::from(bytes) * 10 + (1 << 29)) >> 30;
        format!("{}.{} GiB", tenths / 10, tenths % 10)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_what_is_known() {
        let mut book = Book::default();
        assert_eq!(line(65 * S, &book, None), "hrx-wrap 1:05  0 lines");
        book.tally.lines = 1;
        book.profile.coverage.completed = 7;
        let gtt = Some((Some(5 << 29), None));
        assert_eq!(
            line(3_723 * S, &book, gtt),
            "hrx-wrap 1:02:03  1 line  7 dispatches  GTT 2.5 GiB, peak unknown"
        );
    }
}
