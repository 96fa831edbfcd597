//! A quick hash for the keys of a profile.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Kernel ids are hashes already, and indices are few: one multiplication spreads them well enough.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as u64);
    }
}

/// A map from such keys.
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;
