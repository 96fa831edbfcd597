//! The lines that have begun and not ended, where a successor finds them: with several writers they are neither in the log
//! nor in the ring. Two places by turns, so that what was saved last stays whole while the next is being written.

use std::io;

use crate::core::strands::MOST_SAVED;
use crate::sys::shm::{Shared, Window};

const PLACE: usize = MOST_SAVED.next_multiple_of(8);

/// Memory that both of our processes see, and no target.
#[derive(Debug)]
pub struct Shelf(Shared);

fn window(side: u64) -> Window {
    Window { start: (side % 2) as usize * PLACE, len: PLACE }
}

impl Shelf {
    /// An empty one.
    ///
    /// # Errors
    /// No memory is left.
    pub fn create() -> io::Result<Shelf> {
        Shared::create(2 * PLACE).map(Shelf)
    }

    /// Puts bytes (at most [`MOST_SAVED`]) where the last ones are not, and says how to find them again.
    pub fn put(&self, last: u64, bytes: &[u8]) -> u64 {
        let side = (last >> 32) + 1;
        self.0.copy_in(window(side), 0, bytes);
        side << 32 | bytes.len() as u64
    }

    /// What was put there.
    pub fn get(&self, at: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let len = ((at & 0xFFFF_FFFF) as usize).min(PLACE);
        self.0.copy_out(window(at >> 32), 0, len, &mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_last_outlives_half_of_the_next() {
        let shelf = Shelf::create().unwrap();
        let first = shelf.put(0, b"first");
        let second = shelf.put(first, &vec![b'x'; MOST_SAVED]);
        assert_eq!(shelf.get(first), b"first");
        assert_eq!(shelf.get(second).len(), MOST_SAVED);
        assert_eq!(shelf.get(shelf.put(second, b"")), b"");
    }
}
