//! `/proc/<pid>/fdinfo/<fd>` of a DRM client, of every driver and kernel: known by its keys, never by a version
//! (the kernel's `drm-usage-stats` document, and what the drivers really print).
//!
//! The same [`Body`] is filled again and again; it allocates only while a body has more regions than every earlier one.

pub mod driver;
mod value;
pub mod word;

use memchr::memchr;

use driver::{Region, driver};
use value::{Bad, Field, Sum, bytes, number};
use word::Word;

/// So many regions of a body are told apart; what further ones hold is not counted, and that is.
const MOST_REGIONS: usize = 256;
/// What a memory key says of its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// `drm-resident-<region>`: the backing store that is really there.
    Resident,
    /// `drm-memory-<region>`: an older name of the same.
    Memory,
    /// `<region> mem`: the same before the `drm-` keys (amdgpu on Linux 5.14 to 5.18).
    Legacy,
    /// `drm-total-<region>`: what is allocated, counted where it is preferred to be.
    Total,
    /// `drm-shared-<region>`.
    Shared,
    /// `drm-purgeable-<region>`.
    Purgeable,
    /// `drm-active-<region>`.
    Active,
}

/// How many measures there are. The first of them stand in the order of [`Key`].
const MEASURES: usize = 7;

/// The kernel's key prefixes.
const PREFIXES: [(&[u8], Measure); 6] = [
    (b"resident-", Measure::Resident),
    (b"memory-", Measure::Memory),
    (b"total-", Measure::Total),
    (b"shared-", Measure::Shared),
    (b"purgeable-", Measure::Purgeable),
    (b"active-", Measure::Active),
];

/// Which key a figure is from, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// `drm-resident-*`.
    Resident,
    /// `drm-memory-*`.
    Memory,
    /// The keys of Linux 5.14 to 5.18.
    Legacy,
    /// `drm-total-*`: allocated, which may be more or less than what is there.
    Total,
}

impl Key {
    /// All of them, the best first.
    pub const ALL: [Key; 4] = [Key::Resident, Key::Memory, Key::Legacy, Key::Total];

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Key::Resident => "resident",
            Key::Memory => "memory",
            Key::Legacy => "legacy",
            Key::Total => "total",
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    region: Word,
    fields: [Field; MEASURES],
}

/// What was not understood, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anomalies {
    /// Values with a unit that is none of ours, or without a number.
    pub units: u64,
    /// Values that can only be a counter below 0.
    pub underflows: u64,
    /// Memory keys that were there twice with different values; the larger was taken.
    pub repeated: u64,
    /// Regions beyond the bound, and names that are too long.
    pub regions: u64,
    /// Last lines without line end.
    pub torn: u64,
}

impl Anomalies {
    /// Adds another one's counts.
    pub fn add(&mut self, other: &Anomalies) {
        self.units += other.units;
        self.underflows += other.underflows;
        self.repeated += other.repeated;
        self.regions += other.regions;
        self.torn += other.torn;
    }
}

/// One body, taken apart.
#[derive(Clone, Debug, Default)]
pub struct Body {
    driver: Word,
    drm_pdev: Word,
    old_pdev: Word,
    client_id: Option<u64>,
    pasid: Option<u64>,
    legacy: bool,
    slots: Vec<Slot>,
    anomalies: Anomalies,
}

/// The memory of one kind that a body tells of, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// What is there, by the best key that is printed.
    pub best: Option<u64>,
    /// Which key that is; with several regions, the least of theirs.
    pub key: Option<Key>,
    /// `drm-total-*`.
    pub total: Option<u64>,
    /// `drm-shared-*`.
    pub shared: Option<u64>,
}

impl Body {
    /// Takes a body apart; what the last one said is forgotten.
    pub fn read(&mut self, mut text: &[u8]) {
        let slots = std::mem::take(&mut self.slots);
        *self = Body { slots, ..Body::default() };
        self.slots.clear();
        while let Some(end) = memchr(b'\n', text) {
            self.line(&text[..end]);
            text = &text[end + 1..];
        }
        if !text.is_empty() {
            // A number that is cut is another number. Behind a whole unit nothing can be missing.
            self.anomalies.torn = 1;
            if [&b"KiB"[..], b"MiB", b"kB"].iter().any(|unit| text.ends_with(unit)) {
                self.line(text);
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        let Some(colon) = memchr(b':', line) else { return };
        let (key, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if let Some(key) = key.strip_prefix(b"drm-") {
            match key {
                b"driver" => self.driver = self.word(value),
                b"pdev" => self.drm_pdev = self.word(value),
                b"client-id" => {
                    self.client_id = number(value);
                    self.anomalies.units += u64::from(self.client_id.is_none());
                }
                _ => self.memory_line(key, value),
            }
        } else if let Some(region) = key.strip_suffix(b" mem") {
            self.legacy |= region == b"vram";
            self.set(region, Measure::Legacy, value);
        } else if key == b"pdev" {
            self.old_pdev = self.word(value);
        } else if key == b"pasid" {
            self.pasid = number(value);
        }
    }

    fn word(&mut self, value: &[u8]) -> Word {
        let word = Word::of(value);
        self.anomalies.regions += u64::from(word.is_none());
        word.unwrap_or_default()
    }

    fn memory_line(&mut self, key: &[u8], value: &[u8]) {
        let found =
            PREFIXES.iter().find_map(|(prefix, measure)| Some((key.strip_prefix(*prefix)?, *measure)));
        // `drm-total-cycles-rcs` counts time.
        if let Some((region, measure)) = found.filter(|(region, _)| !region.starts_with(b"cycles")) {
            self.set(region, measure, value);
        }
    }

    fn set(&mut self, region: &[u8], measure: Measure, value: &[u8]) {
        let value = bytes(value);
        match value {
            Err(Bad::Unit) => self.anomalies.units += 1,
            Err(Bad::Underflow) => self.anomalies.underflows += 1,
            Ok(_) => {}
        }
        let Some(slot) = self.slot(region) else {
            self.anomalies.regions += 1;
            return;
        };
        let field = &mut self.slots[slot].fields[measure as usize];
        *field = match (*field, value) {
            (Field::Absent, Ok(new)) | (Field::Rejected, Ok(new)) => Field::Bytes(new),
            (Field::Absent, Err(_)) => Field::Rejected,
            (Field::Bytes(old), Ok(new)) => {
                self.anomalies.repeated += u64::from(old != new);
                Field::Bytes(old.max(new))
            }
            (known, Err(_)) => known,
        };
    }

    /// The place of a region, made when there is room for it.
    fn slot(&mut self, region: &[u8]) -> Option<usize> {
        if let Some(known) = self.slots.iter().position(|s| s.region.bytes() == region) {
            return Some(known);
        }
        let region = Word::of(region).filter(|_| self.slots.len() < MOST_REGIONS)?;
        self.slots.push(Slot { region, ..Slot::default() });
        Some(self.slots.len() - 1)
    }

    /// The driver, when this is a DRM client: a line begins with `drm-driver:`, or with the key of the days before.
    pub fn driver(&self) -> Option<Word> {
        if self.driver.is_empty() && self.legacy { Word::of(b"amdgpu") } else { Some(self.driver) }
            .filter(|name| !name.is_empty())
    }

    /// The device's place on the bus; absent on buses without such places.
    pub fn pdev(&self) -> Option<Word> {
        [self.drm_pdev, self.old_pdev].into_iter().find(|word| !word.is_empty())
    }

    /// The client's number, unique at least on its device.
    pub fn client_id(&self) -> Option<u64> {
        self.client_id
    }

    /// The address space's number: what tells clients apart where they have no other.
    pub fn pasid(&self) -> Option<u64> {
        self.pasid
    }

    /// What was not understood.
    pub fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// What it says of one kind of memory: of each region the best key that is printed, summed. A key that is printed and
    /// cannot be read makes the sum unknown: another key may count something else.
    pub fn memory(&self, wanted: Region) -> Memory {
        let row = driver(self.driver().unwrap_or_default().bytes());
        let regions = self.slots.iter().filter(|s| row.region(s.region.bytes()) == Some(wanted));
        let (mut best, mut total, mut shared) = (Sum::default(), Sum::default(), Sum::default());
        let mut key = None;
        for slot in regions {
            let (field, of) = slot.best();
            best.add(field);
            key = key.max(of);
            total.add(slot.fields[Measure::Total as usize]);
            shared.add(slot.fields[Measure::Shared as usize]);
        }
        let best = best.value();
        Memory { best, key: key.filter(|_| best.is_some()), total: total.value(), shared: shared.value() }
    }

    /// A memory key of it cannot be read.
    pub fn has_rejected(&self) -> bool {
        self.anomalies.units + self.anomalies.underflows > 0
    }
}

impl Slot {
    /// By presence, not by being more than 0: the first of the keys that is printed. The alias stands in for a resident
    /// figure that cannot be read; the total does not, it counts something else.
    fn best(&self) -> (Field, Option<Key>) {
        let printed = |key: Key| match self.fields[key as usize] {
            Field::Absent => None,
            field => Some((field, Some(key))),
        };
        match (printed(Key::Resident), printed(Key::Memory)) {
            (Some((Field::Rejected, _)), Some(alias)) => alias,
            (Some(resident), _) => resident,
            (None, Some(alias)) => alias,
            (None, None) => {
                printed(Key::Legacy).or_else(|| printed(Key::Total)).unwrap_or((Field::Absent, None))
            }
        }
    }
}

#[cfg(test)]
#[path = "../fdinfo_tests.rs"]
mod tests;
