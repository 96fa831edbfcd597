//! Where the target prints, so that tests can look at each print.

use crate::sys::cstdio;

/// C's `stderr` or something that stands for it.
pub trait Stderr {
    /// One `fprintf`: one `write(2)`.
    fn print(&mut self, bytes: &[u8]);
    /// One `fflush`.
    fn flush(&mut self);
}

/// C's own.
pub struct CStderr;

impl Stderr for CStderr {
    fn print(&mut self, bytes: &[u8]) {
        let _ = cstdio::print(bytes);
    }

    fn flush(&mut self) {
        cstdio::flush();
    }
}

/// Keeps the prints apart; a flush is an empty one.
#[cfg(test)]
#[derive(Default)]
pub struct Prints(pub Vec<String>);

#[cfg(test)]
impl Stderr for Prints {
    fn print(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        self.0.push(String::from_utf8(bytes.to_vec()).unwrap());
    }

    fn flush(&mut self) {
        self.0.push(String::new());
    }
}
