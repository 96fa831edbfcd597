//! The devices of clients, in sysfs: what the whole device has and uses.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::core::fdinfo::driver::driver;
use crate::core::fdinfo::word::Word;
use crate::core::memory::clients::Limits;
use crate::core::memory::seen;
use crate::live::sampler::file::read_number;

/// So many devices are told apart.
const MOST: usize = 16;

/// One device.
#[derive(Debug)]
struct Device {
    driver: Word,
    /// Its place on the bus, else its node.
    place: Word,
    used: Option<File>,
    limits: Limits,
    now: Option<u64>,
}

/// The devices that clients of the tree were seen on.
#[derive(Debug)]
pub struct Devices {
    sys: PathBuf,
    all: Vec<Device>,
}

impl Devices {
    /// None yet; they are looked for below this `/sys`.
    pub fn below(sys: PathBuf) -> Devices {
        Devices { sys, all: Vec::new() }
    }

    /// What a client's device has; it is looked up when it is new.
    pub fn limits(&mut self, of: Word, pdev: Option<Word>, node: &[u8]) -> Limits {
        let Some(place) = pdev.or_else(|| Word::of(node)).filter(|w| !w.is_empty()) else {
            return Limits::default();
        };
        if let Some(known) = self.all.iter().find(|d| d.driver == of && d.place == place) {
            return known.limits;
        }
        if self.all.len() >= MOST {
            return Limits::default();
        }
        let device = look_up(&self.sys, of, place);
        let limits = device.limits;
        self.all.push(device);
        limits
    }

    /// GTT in use on all of them, bytes; unknown when none says.
    pub fn used(&mut self, buffer: &mut Vec<u8>) -> Option<u64> {
        let mut sum = None;
        for device in &mut self.all {
            device.now = device.used.as_ref().and_then(|file| read_number(file, buffer));
            sum = device.now.map(|n| n.saturating_add(sum.unwrap_or(0))).or(sum);
        }
        sum
    }

    /// For the record.
    pub fn seen(&self) -> Vec<seen::Device> {
        let one = |d: &Device| seen::Device {
            driver: d.driver.shown(),
            pdev: d.place.shown(),
            gtt_used_bytes: d.now,
            gtt_total_bytes: d.limits.gtt,
            vram_total_bytes: d.limits.vram,
        };
        self.all.iter().map(one).collect()
    }
}

fn look_up(sys: &Path, of: Word, place: Word) -> Device {
    let mut device = Device { driver: of, place, used: None, limits: Limits::default(), now: None };
    let Some([used, gtt, vram]) = driver(of.bytes()).device else { return device };
    if let Some(folder) = folder(sys, &place.shown()) {
        let mut buffer = Vec::new();
        let mut number = |name: &str| read_number(&File::open(folder.join(name)).ok()?, &mut buffer);
        // A device that says 0 has not said it: no client could be on it.
        device.limits = Limits { gtt: number(gtt).filter(|n| *n > 0), vram: number(vram).filter(|n| *n > 0) };
        device.used = File::open(folder.join(used)).ok();
    }
    device
}

/// A device's folder: by its place on the bus, else by the node that leads to it.
fn folder(sys: &Path, place: &str) -> Option<PathBuf> {
    let name = Path::new(place).file_name()?;
    let on_bus = sys.join("bus/pci/devices").join(name);
    if on_bus.is_dir() {
        return Some(on_bus);
    }
    let cards = sys.join("class/drm");
    let of_node = cards.join(name).join("device");
    if of_node.is_dir() {
        return Some(of_node);
    }
    let mut nodes: Vec<PathBuf> =
        std::fs::read_dir(cards).ok()?.flatten().map(|e| e.path().join("device")).collect();
    nodes.sort();
    nodes.into_iter().find(|device| {
        let leads_there = device.canonicalize().is_ok_and(|to| to.file_name() == Some(name));
        let says = std::fs::read_to_string(device.join("uevent")).unwrap_or_default();
        leads_there || says.lines().any(|line| line.strip_prefix("PCI_SLOT_NAME=") == name.to_str())
    })
}
