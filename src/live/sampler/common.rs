//! What all processes of a look share.

use crate::core::fdinfo::Body;
use crate::core::fdinfo::word::Word;
use crate::core::memory::clients::Clients;
use crate::live::sampler::device::Devices;

/// How many descriptors of ours may be held for fdinfo files.
#[derive(Debug)]
pub struct Budget(pub u64);

/// Which clients are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All.
    Any,
    /// Of this driver.
    Driver(Word),
}

/// What all processes of a look share: memory that is used again, and what is counted.
#[derive(Debug)]
pub struct Common {
    /// Which clients are counted.
    pub wanted: Wanted,
    /// The clients.
    pub clients: Clients,
    /// Their devices.
    pub devices: Devices,
    /// Drivers of clients that are not counted, the first of them.
    pub other_drivers: Vec<Word>,
    /// Reads that failed in a way that says nothing of the tree.
    pub failed_reads: u64,
    /// What may still be held.
    pub budget: Budget,
    /// A body, taken apart.
    pub body: Body,
    /// For reading.
    pub buffer: Vec<u8>,
}

/// So many other drivers are named.
const NAMED: usize = 8;

impl Common {
    /// Whether the body is of a client that is counted; a driver that is not is noted.
    pub(super) fn counts(&mut self) -> bool {
        let Some(driver) = self.body.driver() else { return false };
        if self.wanted == Wanted::Any || self.wanted == Wanted::Driver(driver) {
            return true;
        }
        if !self.other_drivers.contains(&driver) && self.other_drivers.len() < NAMED {
            self.other_drivers.push(driver);
        }
        false
    }
}
