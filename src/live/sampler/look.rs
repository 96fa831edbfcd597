//! One look at a tree: who is in it, which DRM clients it has, what they and the processes hold.
//!
//! Two beats: which processes and descriptors there are is asked about once a second, and when something says that it has
//! changed; what is held is read each time.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::core::duration::{MS, S};
use crate::core::fdinfo::Body;
use crate::core::fdinfo::word::Word;
use crate::core::memory::clients::Clients;
use crate::core::memory::sample::Sample;
use crate::core::memory::seen;
use crate::live::sampler::Options;
use crate::live::sampler::common::{Budget, Common, Wanted};
use crate::live::sampler::device::Devices;
use crate::live::sampler::file::{Trouble, read_whole, trouble};
use crate::live::sampler::process::{HELD_EACH, Process};
use crate::live::sampler::tree::{Roots, members};
use crate::sys::dir::open_at;
use crate::sys::host;

/// Processes and descriptors are listed anew at least this often …
const SLOW: u64 = S;
/// … and at most this often when a cheap sign says that there are others, or while no client is known.
const QUICK: u64 = 500 * MS;
/// A proportional figure may take this part of the time: the kernel walks through all pages for it.
const PSS_SHARE: u64 = 500;
/// So many processes that may not be read are named.
const NAMED: usize = 16;

/// The state of the looks at one tree.
#[derive(Debug)]
pub struct Look {
    proc: File,
    loads: Option<File>,
    roots: Roots,
    processes: Vec<Process>,
    common: Common,
    most_processes: usize,
    left_out: u64,
    listed_ns: u64,
    checked_ns: u64,
    newest: Option<Vec<u8>>,
    denied: Vec<i32>,
    most: u64,
    pss_due_ns: u64,
    pss_peak: Option<u64>,
    pss_last: Option<u64>,
    with_pss: bool,
}

/// A process as a look found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its number.
    pub pid: i32,
    /// It may not be read.
    pub denied: bool,
    /// A client of it is counted.
    pub has_client: bool,
}

impl Look {
    /// Nothing is read yet but that there is such a `/proc`.
    ///
    /// # Errors
    /// There is not.
    pub fn new(options: &Options, roots: Roots) -> anyhow::Result<Look> {
        let proc = File::open(&options.proc).with_context(|| {
            format!("cannot read {}: give --proc the folder of a /proc", options.proc.display())
        })?;
        let wanted = match options.driver.as_str() {
            "any" => Wanted::Any,
            name => Wanted::Driver(Word::of(name.as_bytes()).context("the driver's name is too long")?),
        };
        // Half of what is allowed stays for everybody else in this process.
        let half = host::open_files_limit() / 2;
        let most_processes = (half / 2 / HELD_EACH).clamp(1, 128);
        Ok(Look {
            loads: open_at(&proc, "loadavg").ok(),
            proc,
            roots,
            processes: Vec::new(),
            common: Common {
                wanted,
                clients: Clients::default(),
                devices: Devices::below(options.sys.clone()),
                other_drivers: Vec::new(),
                failed_reads: 0,
                budget: Budget((half / 2).min(256)),
                body: Body::default(),
                buffer: Vec::new(),
            },
            most_processes: usize::try_from(most_processes).unwrap_or(1),
            left_out: 0,
            listed_ns: 0,
            checked_ns: 0,
            newest: None,
            denied: Vec::new(),
            most: 0,
            pss_due_ns: 0,
            pss_peak: None,
            pss_last: None,
            with_pss: options.pss,
        })
    }

    /// Takes a sample. `thorough`: what there is is listed anew in any case.
    pub fn sample(&mut self, now: u64, thorough: bool) -> Sample {
        if thorough || self.listing_is_due(now) {
            self.list(now, thorough);
        }
        self.common.clients.begin(now);
        let failed_before = self.common.failed_reads;
        let mut rss: Option<u64> = None;
        for process in &mut self.processes {
            if process.stale || process.has_other_fds() && now.saturating_sub(process.listed_ns) >= QUICK {
                process.list(now, &mut self.common);
            }
            process.read(&mut self.common);
            // What was closed may have been opened again under another number: once more, in the same moment.
            if process.stale {
                process.list(now, &mut self.common);
                process.read(&mut self.common);
            }
            let own = process.rss(&mut self.common.buffer);
            rss = own.map(|own| own.saturating_add(rss.unwrap_or(0))).or(rss);
        }
        self.drop_the_gone();
        let mut totals = self.common.clients.end();
        totals.rejected += u32::from(self.common.failed_reads > failed_before);
        let state = totals.state(self.processes.len(), self.note_denied() + usize::from(self.left_out > 0));
        // A thorough look is one that somebody waits for.
        if !thorough {
            self.proportional(now);
        }
        Sample {
            ns: now,
            gtt_bytes: totals.gtt,
            gtt_total_bytes: totals.gtt_total,
            vram_bytes: totals.vram,
            rss_bytes: rss,
            device_gtt_used_bytes: self.common.devices.used(&mut self.common.buffer),
            clients: totals.clients,
            fds: self.processes.iter().map(|p| p.counted).sum(),
            state,
        }
    }

    fn listing_is_due(&mut self, now: u64) -> bool {
        let age = now.saturating_sub(self.listed_ns);
        if self.listed_ns == 0 || age >= SLOW {
            return true;
        }
        if age < QUICK {
            return false;
        }
        self.is_eager() || newest(self.loads.as_ref(), &mut self.common.buffer) != self.newest
    }

    /// A tree without a client is looked through more often where nothing tells of new descriptors: the first client is
    /// worth it.
    fn is_eager(&self) -> bool {
        !self.processes.iter().any(|p| p.counted > 0) && self.processes.iter().any(|p| !p.tells_count)
    }

    /// Who is there, and the descriptors of those whose list is old.
    fn list(&mut self, now: u64, thorough: bool) {
        self.listed_ns = now;
        self.newest = newest(self.loads.as_ref(), &mut self.common.buffer);
        let mut members = members(&self.proc, &self.roots);
        members.sort_unstable();
        let (proc, common) = (&self.proc, &mut self.common);
        // A number that is used again is no matter of moments: the held folder says that its process is gone.
        let check = thorough || now.saturating_sub(self.checked_ns) >= SLOW;
        if check {
            self.checked_ns = now;
        }
        self.processes.retain(|p| {
            let stays = members.contains(&p.pid) && (!check || p.is_same(proc));
            if !stays {
                p.let_go(common);
            }
            stays
        });
        let mut left_out = 0;
        for pid in members {
            if self.processes.iter().any(|p| p.pid == pid) {
                continue;
            }
            match Process::open(&self.proc, pid) {
                Ok(_) if self.processes.len() >= self.most_processes => left_out += 1,
                Ok(process) => self.processes.push(process),
                Err(error) if trouble(&error) == Trouble::Failed => self.common.failed_reads += 1,
                Err(_) => {}
            }
        }
        self.left_out = left_out;
        self.most = self.most.max(self.processes.len() as u64 + left_out);
        let eager = self.is_eager();
        for process in &mut self.processes {
            let age = now.saturating_sub(process.listed_ns);
            process.stale |= thorough || age >= SLOW || eager && age >= QUICK;
        }
    }

    fn drop_the_gone(&mut self) {
        let common = &mut self.common;
        let before = self.processes.len();
        self.processes.retain(|p| {
            if p.gone {
                p.let_go(common);
            }
            !p.gone
        });
        if self.processes.len() < before {
            // Its children have another parent now, and may be there for the first time.
            self.listed_ns = 0;
        }
    }

    fn note_denied(&mut self) -> usize {
        let denied = self.processes.iter().filter(|p| p.denied);
        for process in denied.clone() {
            if self.denied.len() < NAMED && !self.denied.contains(&process.pid) {
                self.denied.push(process.pid);
            }
        }
        denied.count()
    }

    /// Proportional memory, when its turn has come: the longer it takes, the rarer.
    fn proportional(&mut self, now: u64) {
        if !self.with_pss || now < self.pss_due_ns {
            return;
        }
        let parts: Vec<Option<u64>> = self.processes.iter().map(Process::pss).collect();
        let took = crate::sys::clock::monotonic_ns().saturating_sub(now);
        self.pss_due_ns = now.saturating_add(SLOW.max(took.saturating_mul(PSS_SHARE)));
        // With a part missing it would be too little.
        if let Some(sum) = parts.into_iter().collect::<Option<Vec<u64>>>().filter(|all| !all.is_empty()) {
            let sum = sum.into_iter().fold(0, u64::saturating_add);
            self.pss_peak = self.pss_peak.max(Some(sum));
            self.pss_last = Some(sum);
        }
    }

    /// The processes as the last sample found them.
    pub fn found(&self) -> Vec<Found> {
        let one = |p: &Process| Found { pid: p.pid, denied: p.denied, has_client: p.counted > 0 };
        self.processes.iter().map(one).collect()
    }

    /// GTT of the clients that a process held in the last sample, bytes.
    pub fn held_by(&self, pid: i32) -> Option<u64> {
        self.common.clients.held_by(pid)
    }

    /// What was seen besides the samples; `now`: of the clients, those of the last sample only.
    pub fn seen(&self, now: bool) -> seen::Seen {
        let clients = &self.common.clients;
        let anomalies = clients.anomalies();
        seen::Seen {
            key: clients.key(),
            clients: if now { clients.seen_now() } else { clients.seen() },
            clients_left_out: clients.left_out(),
            devices: self.common.devices.seen(),
            other_drivers: self.common.other_drivers.iter().map(Word::shown).collect(),
            denied: self.denied.clone(),
            processes: self.most,
            processes_left_out: self.left_out,
            failed_reads: self.common.failed_reads,
            underflows: anomalies.underflows,
            unknown_units: anomalies.units,
            pss_peak_bytes: self.pss_peak,
            pss_final_bytes: self.pss_last,
            ..seen::Seen::default()
        }
    }
}

/// The number that was given to a process or thread last, as text: when it is the same, nobody is new.
fn newest(loads: Option<&File>, buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let text = read_whole(loads?, buffer).ok()?.trim_ascii_end();
    text.rsplit(|b| *b == b' ').next().map(<[u8]>::to_vec)
}

/// The pid of this process in a `/proc`, which may be that of an outer namespace.
pub fn own_pid_in(proc: &Path) -> Option<i32> {
    let link: PathBuf = std::fs::read_link(proc.join("self")).ok()?;
    link.file_name()?.to_str()?.parse().ok()
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
