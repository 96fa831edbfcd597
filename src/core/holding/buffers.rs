//! Buffers by what they hold and by name, in bounded number.

use crate::core::parse::llama::{Kind, Place};

/// More buffer types than any machine has.
const MOST: usize = 64;

/// A buffer type's share of what is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// What it holds.
    pub kind: Kind,
    /// The buffer type, printable.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
}

impl Share {
    /// Device or host.
    pub fn place(&self) -> Place {
        Place::of(self.name.as_bytes())
    }
}

/// A set of buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// One entry a kind and name, in the order in which they came.
    pub shares: Vec<Share>,
}

impl Held {
    /// Adds to a buffer type's bytes. False when there are too many of them.
    pub fn add(&mut self, kind: Kind, name: &str, bytes: u64) -> bool {
        if let Some(share) = self.find(kind, name) {
            share.bytes = share.bytes.saturating_add(bytes);
            return true;
        }
        let room = self.shares.len() < MOST;
        if room {
            self.shares.push(Share { kind, name: name.to_owned(), bytes });
        }
        room
    }

    /// Adds all of another set.
    pub fn add_all(&mut self, other: &Held) -> bool {
        other.shares.iter().all(|s| self.add(s.kind, &s.name, s.bytes))
    }

    /// A kind and name, to be put right.
    pub fn find(&mut self, kind: Kind, name: &str) -> Option<&mut Share> {
        self.shares.iter_mut().find(|s| s.kind == kind && s.name == name)
    }

    /// The sum of what a test picks, bytes.
    pub fn sum(&self, pick: impl Fn(&Share) -> bool) -> u64 {
        self.shares.iter().filter(|s| pick(s)).map(|s| s.bytes).fold(0, u64::saturating_add)
    }

    /// What lies on devices, bytes.
    pub fn device(&self) -> u64 {
        self.sum(|s| s.place() == Place::Device)
    }

    /// Which of two sets is the larger: by what lies on devices, then by all of it.
    pub fn weight(&self) -> (u64, u64) {
        (self.device(), self.sum(|_| true))
    }
}
