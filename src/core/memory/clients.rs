//! The DRM clients of a tree, each counted once: merged by key over all processes and descriptors before anything is summed.

mod figures;

use crate::core::fdinfo::word::Word;
use crate::core::fdinfo::{Anomalies, Body, Key};
use crate::core::memory::sample::State;
use crate::core::memory::seen;
use figures::Figures;

pub use figures::Limits;

/// So many clients that are gone are remembered.
const REMEMBERED: usize = 512;
/// So many processes of a client are named.
const NAMED: usize = 8;

/// Who a client is. Ids can be the same on two devices, so the device belongs to it; a card's and its render node's
/// clients have the same place on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its number.
    pub id: Id,
    /// The driver.
    pub driver: Word,
    /// The device's place on the bus.
    pub pdev: Option<Word>,
    /// The device's node, where there is no such place.
    pub node: Option<Word>,
}

/// A client's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Id {
    /// `drm-client-id`.
    Client(u64),
    /// `pasid`, of a kernel that has no client ids.
    Pasid(u64),
    /// Neither: the descriptor itself, by process and number.
    Descriptor(i32, u32),
}

/// Where a body was read.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    /// The process.
    pub pid: i32,
    /// The descriptor.
    pub fd: u32,
    /// What the descriptor leads to, when that is known.
    pub node: &'a [u8],
}

/// A client of the tree.
#[derive(Clone, Debug)]
struct Client {
    who: Identity,
    /// The moment it was seen last.
    moment: u64,
    now: Figures,
    /// Its last figures that say anything.
    known: Figures,
    pids: [i32; NAMED],
    first_ns: u64,
    last_ns: u64,
    most_gtt: Option<(u64, u64)>,
    most_vram: Option<u64>,
}

/// What the clients add up to at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// GTT that is resident, bytes.
    pub gtt: Option<u64>,
    /// GTT that is allocated, bytes.
    pub gtt_total: Option<u64>,
    /// VRAM that is resident, bytes.
    pub vram: Option<u64>,
    /// Clients.
    pub clients: u32,
    /// Clients whose memory is not known now.
    pub unknown: u32,
    /// Of those, clients whose memory was known before: the driver did not say for the moment.
    pub gaps: u32,
    /// Clients of which a figure was there and was not taken.
    pub rejected: u32,
}

impl Totals {
    /// How complete a sample with these totals is. `left_out`: processes that may not be read, or were not looked into.
    pub fn state(&self, processes: usize, left_out: usize) -> State {
        let silent = self.unknown == self.clients && self.gaps + self.rejected == 0;
        match () {
            () if processes == 0 => State::Gone,
            () if self.unknown + self.rejected > 0 && !silent => State::Partial,
            () if left_out > 0 => State::Denied,
            () if self.clients == 0 => State::NoClient,
            () if silent => State::Unsupported,
            () => State::Ok,
        }
    }
}

/// The clients of a tree. A moment begins with [`Clients::begin`]; then each body that was read is taken.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    all: Vec<Client>,
    moment: u64,
    ns: u64,
    keys: [bool; Key::ALL.len()],
    left_out: u64,
    anomalies: Anomalies,
}

impl Clients {
    /// A new moment, ns.
    pub fn begin(&mut self, ns: u64) {
        self.moment += 1;
        self.ns = ns;
    }

    /// Takes the body of a client's descriptor.
    pub fn take(&mut self, body: &Body, holder: Holder<'_>, limits: Limits) {
        let Some(driver) = body.driver() else { return };
        self.anomalies.add(body.anomalies());
        let figures = Figures::of(body, limits, &mut self.anomalies);
        let who = identity(body, driver, holder);
        let (moment, ns) = (self.moment, self.ns);
        let client = match self.all.iter().position(|c| c.who == who) {
            Some(known) => self.all.get_mut(known),
            None => self.add(who),
        };
        let Some(client) = client else { return };
        client.now = if client.moment == moment { client.now.larger(&figures) } else { figures };
        (client.moment, client.last_ns) = (moment, ns);
        if !client.pids.contains(&holder.pid)
            && let Some(free) = client.pids.iter_mut().find(|pid| **pid == 0)
        {
            *free = holder.pid;
        }
    }

    fn add(&mut self, who: Identity) -> Option<&mut Client> {
        if self.all.len() >= REMEMBERED {
            // The least of those that are gone; all that are there are counted, however many.
            let gone = self.all.iter().enumerate().filter(|(_, c)| c.moment != self.moment);
            if let Some((least, _)) = gone.min_by_key(|(_, c)| c.most_gtt.map(|(bytes, _)| bytes)) {
                self.all.remove(least);
                self.left_out += 1;
            }
        }
        self.all.push(Client {
            who,
            moment: 0,
            now: Figures::default(),
            known: Figures::default(),
            pids: [0; NAMED],
            first_ns: self.ns,
            last_ns: self.ns,
            most_gtt: None,
            most_vram: None,
        });
        self.all.last_mut()
    }

    /// What the clients of this moment add up to. A sum is unknown when no client has a part of it.
    pub fn end(&mut self) -> Totals {
        let mut totals = Totals::default();
        // A part that no sum has room for is no amount of memory: it is left out, as one that its device cannot have.
        let add = |sum: &mut Option<u64>, part: Option<u64>| {
            let whole = part.map(|part| sum.unwrap_or(0).checked_add(part));
            *sum = whole.flatten().or(*sum);
            whole == Some(None)
        };
        for client in self.all.iter_mut().filter(|c| c.moment == self.moment) {
            let now = client.now;
            totals.clients += 1;
            totals.unknown += u32::from(now.is_unknown());
            totals.gaps += u32::from(now.is_unknown() && !client.known.is_unknown());
            let mut rejected = now.rejected;
            rejected |= add(&mut totals.gtt, now.gtt);
            rejected |= add(&mut totals.gtt_total, now.gtt_total);
            rejected |= add(&mut totals.vram, now.vram);
            totals.rejected += u32::from(rejected);
            if let Some(key) = now.key {
                self.keys[key as usize] = true;
            }
            if now.gtt.is_some() && now.gtt > client.most_gtt.map(|(bytes, _)| bytes) {
                client.most_gtt = now.gtt.map(|bytes| (bytes, self.ns));
            }
            client.most_vram = client.most_vram.max(now.vram);
            if !now.is_unknown() {
                client.known = now;
            }
        }
        totals
    }

    /// The clients of this moment that a process holds, GTT summed, bytes.
    pub fn held_by(&self, pid: i32) -> Option<u64> {
        let held = self.all.iter().filter(|c| c.moment == self.moment && c.pids.contains(&pid));
        let add = |sum: Option<u64>, part| sum.unwrap_or(0).checked_add(part).map(Some);
        held.filter_map(|c| c.now.gtt).try_fold(None, add).flatten()
    }

    /// Which keys GTT was from.
    pub fn key(&self) -> Option<String> {
        let used: Vec<&str> =
            Key::ALL.into_iter().filter(|k| self.keys[*k as usize]).map(Key::name).collect();
        (!used.is_empty()).then(|| used.join("+"))
    }

    /// What was not understood, in all.
    pub fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// Clients that were there and are remembered no longer.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Everything for the record, by when they came.
    pub fn seen(&self) -> Vec<seen::Client> {
        self.all.iter().map(Client::seen).collect()
    }

    /// Those of this moment.
    pub fn seen_now(&self) -> Vec<seen::Client> {
        self.all.iter().filter(|c| c.moment == self.moment).map(Client::seen).collect()
    }
}

fn identity(body: &Body, driver: Word, holder: Holder<'_>) -> Identity {
    let pdev = body.pdev();
    let node = if pdev.is_some() { None } else { Word::of(holder.node).filter(|w| !w.is_empty()) };
    let id = match (body.client_id(), body.pasid()) {
        (Some(id), _) => Id::Client(id),
        (None, Some(pasid)) => Id::Pasid(pasid),
        (None, None) => Id::Descriptor(holder.pid, holder.fd),
    };
    Identity { id, driver, pdev, node }
}

impl Client {
    fn seen(&self) -> seen::Client {
        let (client_id, pasid) = match self.who.id {
            Id::Client(id) => (Some(id.to_string()), None),
            Id::Pasid(pasid) => (None, Some(pasid.to_string())),
            Id::Descriptor(..) => (None, None),
        };
        let now = &self.known;
        seen::Client {
            driver: self.who.driver.shown(),
            pdev: self.who.pdev.map(|w| w.shown()),
            node: self.who.node.map(|w| w.shown()),
            client_id,
            pasid,
            pids: self.pids.into_iter().filter(|pid| *pid != 0).collect(),
            first_ns: self.first_ns,
            last_ns: self.last_ns,
            gtt_peak_bytes: self.most_gtt.map(|(bytes, _)| bytes),
            gtt_peak_at_ns: self.most_gtt.map(|(_, at)| at),
            vram_peak_bytes: self.most_vram,
            gtt_bytes: now.gtt,
            gtt_total_bytes: now.gtt_total,
            gtt_shared_bytes: now.gtt_shared,
            vram_bytes: now.vram,
            vram_total_bytes: now.vram_total,
            vram_shared_bytes: now.vram_shared,
            cpu_bytes: now.cpu,
            key: now.key.map(|k| k.name().to_owned()),
        }
    }
}

#[cfg(test)]
#[path = "clients_tests.rs"]
mod tests;
