//! What a sampler saw besides its samples: the part of the record that no table of samples holds.

use serde::{Deserialize, Serialize};

use crate::core::memory::sums::Sums;

/// How a run is sampled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampling {
    /// From one sample to the next, ns.
    pub interval_ns: u64,
    /// The DRM driver whose clients are counted; `any` for all.
    pub driver: String,
    /// The `/proc` that is read, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proc: Option<String>,
    /// The `/sys` that is read, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sys: Option<String>,
}

impl Sampling {
    /// Where the figures are from, when not from this machine's kernel.
    pub fn elsewhere(&self) -> Option<String> {
        let read = [(&self.proc, "/proc"), (&self.sys, "/sys")];
        let parts: Vec<String> = read
            .into_iter()
            .filter_map(|(folder, usual)| Some(format!("{} in place of {usual}", folder.as_ref()?)))
            .collect();
        (!parts.is_empty()).then(|| format!("the figures are from {}", parts.join(" and ")))
    }
}

/// What was seen of the tree's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// Which of the kernel's keys GTT is from: `resident`, `memory`, `legacy`, `total`; several with `+` between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The DRM clients that were counted, by when they came.
    pub clients: Vec<Client>,
    /// Clients that were there and are not in that list: it keeps those with the most memory.
    #[serde(skip_serializing_if = "is_0")]
    pub clients_left_out: u64,
    /// Their devices.
    pub devices: Vec<Device>,
    /// Drivers of clients that were there and not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_drivers: Vec<String>,
    /// Pids of processes that may not be read, the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<i32>,
    /// The most processes that were there at once.
    pub processes: u64,
    /// Processes beyond the number that is looked into.
    #[serde(skip_serializing_if = "is_0")]
    pub processes_left_out: u64,
    /// Reads that failed in a way that says nothing of the tree.
    pub failed_reads: u64,
    /// Values that can only be a counter below 0, or more than the device has: not taken.
    pub underflows: u64,
    /// Values with a unit that is not known: not taken.
    pub unknown_units: u64,
    /// The most proportional memory of the processes (pages in several of them shared out), bytes, looked at about once
    /// a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pss_peak_bytes: Option<u64>,
    /// The same, looked at last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pss_final_bytes: Option<u64>,
    /// Samples that the table on disk misses.
    #[serde(skip_serializing_if = "is_0")]
    pub lost_rows: u64,
    /// All of this but the sums was lost with the process that saw it; the sums are of the table on disk.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// What the samples add up to.
    pub sums: Sums,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_0(n: &u64) -> bool {
    *n == 0
}

/// One DRM client, counted once however many descriptors and processes hold it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Client {
    /// Its driver.
    pub driver: String,
    /// Its device's place on the bus.
    pub pdev: Option<String>,
    /// Its device's node, where there is no such place.
    pub node: Option<String>,
    /// Its number, as the kernel prints it.
    pub client_id: Option<String>,
    /// The number of its address space, where it has no other.
    pub pasid: Option<String>,
    /// The processes that held it, the first of them.
    pub pids: Vec<i32>,
    /// First seen, ns.
    pub first_ns: u64,
    /// Last seen, ns.
    pub last_ns: u64,
    /// The most GTT it had, bytes.
    pub gtt_peak_bytes: Option<u64>,
    /// When, ns.
    pub gtt_peak_at_ns: Option<u64>,
    /// The most VRAM it had, bytes.
    pub vram_peak_bytes: Option<u64>,
    /// GTT that is resident, when it was last known, bytes.
    pub gtt_bytes: Option<u64>,
    /// GTT that is allocated, bytes.
    pub gtt_total_bytes: Option<u64>,
    /// Of the GTT, what other clients may hold too: at most so much is counted twice, bytes.
    pub gtt_shared_bytes: Option<u64>,
    /// VRAM that is resident, bytes.
    pub vram_bytes: Option<u64>,
    /// VRAM that is allocated, bytes.
    pub vram_total_bytes: Option<u64>,
    /// Of the VRAM, what other clients may hold too, bytes.
    pub vram_shared_bytes: Option<u64>,
    /// The driver's system memory that the GPU does not see, bytes.
    pub cpu_bytes: Option<u64>,
    /// Which of the kernel's keys its GTT is from.
    pub key: Option<String>,
}

/// A device with clients of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// Its driver.
    pub driver: String,
    /// Its place on the bus, or its node.
    pub pdev: String,
    /// GTT in use on it by everybody (`mem_info_gtt_used`) in the last sample, bytes.
    pub gtt_used_bytes: Option<u64>,
    /// GTT that it can have (`mem_info_gtt_total`), bytes.
    pub gtt_total_bytes: Option<u64>,
    /// VRAM that it has (`mem_info_vram_total`), bytes.
    pub vram_total_bytes: Option<u64>,
}
