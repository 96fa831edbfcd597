//! One process of the tree: its folder in `/proc` is held, and so are the fdinfo files of its DRM descriptors.
//!
//! A held folder never means another process, and a held fdinfo file says that its descriptor is closed. It does not say
//! that the number means another file by now: so who a client is is read anew each time, from the body itself.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use crate::core::fdinfo::word::Word;
use crate::core::memory::clients::Holder;
use crate::core::procstat;
use crate::live::sampler::common::Common;
use crate::live::sampler::file::{Trouble, read_whole, trouble};
use crate::sys::dir::{link_at, numbers_at, open_at};
use crate::sys::host;

/// A descriptor of a client that is counted.
#[derive(Debug)]
struct Held {
    fd: u32,
    /// Absent when too many are held already: then it is opened anew each time.
    file: Option<File>,
    /// What the descriptor leads to.
    node: Word,
}

/// A process of the tree.
#[derive(Debug)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// It may not be read.
    pub denied: bool,
    /// It has ended.
    pub gone: bool,
    /// The descriptors were listed at this time, ns.
    pub listed_ns: u64,
    /// They have to be listed again.
    pub stale: bool,
    /// Descriptors of clients that were counted in the last sample.
    pub counted: u32,
    /// The kernel tells how many descriptors it has open.
    pub tells_count: bool,
    started: u64,
    folder: File,
    /// Where its files are: in its folder, or in that of a thread that outlived the first one.
    base: String,
    statm: Option<File>,
    fds: Option<File>,
    fd_count: u64,
    held: Vec<Held>,
    /// Descriptors that are of no client that is counted, by what they lead to.
    passed: HashMap<u32, u64>,
}

/// How many descriptors of ours a process takes besides its clients'.
pub const HELD_EACH: u64 = 3;

impl Process {
    /// Opens the folder of a process.
    ///
    /// # Errors
    /// The kernel's; `NotFound` also for one that has ended and was not reaped.
    pub fn open(proc: &File, pid: i32) -> io::Result<Process> {
        let folder = open_at(proc, &pid.to_string())?;
        let mut process = Process {
            pid,
            denied: false,
            gone: false,
            listed_ns: 0,
            stale: true,
            counted: 0,
            tells_count: false,
            started: started(&folder)?,
            folder,
            base: String::new(),
            statm: None,
            fds: None,
            fd_count: 0,
            held: Vec::new(),
            passed: HashMap::new(),
        };
        process.settle();
        if process.has_ended() { Err(io::ErrorKind::NotFound.into()) } else { Ok(process) }
    }

    /// Whether the number in this `/proc` still means the same process. One that cannot be read any more is gone.
    pub fn is_same(&self, proc: &File) -> bool {
        let now = open_at(proc, &self.pid.to_string()).and_then(|folder| started(&folder));
        now.is_ok_and(|now| now == self.started) && !self.has_ended()
    }

    /// A zombie without a living thread.
    fn has_ended(&self) -> bool {
        let text = open_at(&self.folder, &format!("{}stat", self.base)).and_then(io::read_to_string);
        text.is_ok_and(|t| procstat::parse(t.as_bytes()).is_some_and(|s| matches!(s.state, 'Z' | 'X')))
    }

    /// Finds the folder whose files say something: a first thread that has exited lists no descriptors and shows no memory
    /// while others live on.
    fn settle(&mut self) {
        self.base.clear();
        if self.has_ended() {
            let mut threads = numbers_at(&self.folder, "task").unwrap_or_default();
            threads.retain(|tid| i32::try_from(*tid) != Ok(self.pid));
            let lives = |base: &String| {
                let text = open_at(&self.folder, &format!("{base}stat")).and_then(io::read_to_string);
                text.is_ok_and(|t| {
                    procstat::parse(t.as_bytes()).is_some_and(|s| !matches!(s.state, 'Z' | 'X'))
                })
            };
            self.base = threads.iter().map(|tid| format!("task/{tid}/")).find(lives).unwrap_or_default();
        }
        self.statm = open_at(&self.folder, &format!("{}statm", self.base)).ok();
        self.fds = open_at(&self.folder, &format!("{}fd", self.base)).ok();
    }

    /// Lists the descriptors anew and opens the clients among them.
    pub fn list(&mut self, now: u64, common: &mut Common) {
        (self.listed_ns, self.stale) = (now, false);
        self.settle();
        self.fd_count = self.count();
        common.budget.0 += self.held.iter().filter(|h| h.file.is_some()).count() as u64;
        self.held.clear();
        let mut numbers = match numbers_at(&self.folder, &format!("{}fdinfo", self.base)) {
            Ok(numbers) => numbers,
            Err(error) => return self.failed(&error, common),
        };
        numbers.sort_unstable();
        self.denied = false;
        self.tells_count = self.fd_count == numbers.len() as u64;
        self.passed.retain(|fd, _| numbers.contains(fd));
        for fd in numbers {
            let link = link_at(&self.folder, &format!("{}fd/{fd}", self.base)).ok();
            let hash = link.as_ref().map(|text| {
                let mut hasher = DefaultHasher::new();
                text.hash(&mut hasher);
                hasher.finish()
            });
            // What leads to the same place as before is the same kind of thing as before.
            if hash.is_some() && self.passed.get(&fd) == hash.as_ref() {
                continue;
            }
            let node = link.and_then(|text| Word::of(text.as_bytes())).unwrap_or_default();
            self.look_into(fd, node, hash, common);
        }
    }

    fn look_into(&mut self, fd: u32, node: Word, hash: Option<u64>, common: &mut Common) {
        let file = match open_at(&self.folder, &format!("{}fdinfo/{fd}", self.base)) {
            Ok(file) => file,
            // Most likely closed meanwhile.
            Err(error) => return self.failed(&error, common),
        };
        match read_whole(&file, &mut common.buffer) {
            Ok(text) => common.body.read(text),
            Err(error) => return self.failed(&error, common),
        }
        if !common.counts() {
            self.passed.extend(hash.map(|hash| (fd, hash)));
            return;
        }
        let file = (common.budget.0 > 0).then_some(file);
        common.budget.0 -= u64::from(file.is_some());
        self.held.push(Held { fd, file, node });
    }

    /// What is gone spoils nothing: a process that is on its way out is there as long as it is listed.
    fn failed(&mut self, error: &io::Error, common: &mut Common) {
        match trouble(error) {
            Trouble::Gone => {}
            Trouble::Denied => self.denied = true,
            Trouble::Failed => common.failed_reads += 1,
        }
    }

    /// How many descriptors it has open: kernels from 6.2 on say so as the folder's size.
    fn count(&self) -> u64 {
        self.fds.as_ref().and_then(|f| f.metadata().ok()).map_or(0, |m| m.len())
    }

    /// Whether it has opened or closed descriptors since they were listed, where the kernel says so cheaply.
    pub fn has_other_fds(&self) -> bool {
        self.tells_count && self.count() != self.fd_count
    }

    /// Reads its clients into the look's. Those that are closed are dropped.
    pub fn read(&mut self, common: &mut Common) {
        self.counted = 0;
        let mut n = 0;
        while n < self.held.len() {
            match self.read_one(n, common) {
                Ok(true) => n += 1,
                Ok(false) => self.drop_held(n, common),
                Err(error) => {
                    if trouble(&error) == Trouble::Gone {
                        self.drop_held(n, common);
                    } else {
                        self.failed(&error, common);
                        n += 1;
                    }
                }
            }
        }
    }

    /// Whether it still is a client that counts.
    fn read_one(&mut self, n: usize, common: &mut Common) -> io::Result<bool> {
        let held = &self.held[n];
        let text = match &held.file {
            Some(file) => read_whole(file, &mut common.buffer)?,
            None => {
                let file = open_at(&self.folder, &format!("{}fdinfo/{}", self.base, held.fd))?;
                read_whole(&file, &mut common.buffer)?
            }
        };
        common.body.read(text);
        if !common.counts() {
            return Ok(false);
        }
        let held = &self.held[n];
        let (driver, pdev) = (common.body.driver().unwrap_or_default(), common.body.pdev());
        let limits = common.devices.limits(driver, pdev, held.node.bytes());
        common.clients.take(
            &common.body,
            Holder { pid: self.pid, fd: held.fd, node: held.node.bytes() },
            limits,
        );
        self.counted += 1;
        Ok(true)
    }

    fn drop_held(&mut self, n: usize, common: &mut Common) {
        let held = self.held.swap_remove(n);
        common.budget.0 += u64::from(held.file.is_some());
        self.stale = true;
    }

    /// What it has to give back when it is dropped.
    pub fn let_go(&self, common: &mut Common) {
        common.budget.0 += self.held.iter().filter(|h| h.file.is_some()).count() as u64;
    }

    /// Its resident memory, bytes: world-readable, unlike its descriptors.
    pub fn rss(&mut self, buffer: &mut Vec<u8>) -> Option<u64> {
        let text = match read_whole(self.statm.as_ref()?, buffer) {
            Ok(text) => text,
            Err(error) => {
                self.gone |= trouble(&error) == Trouble::Gone;
                return None;
            }
        };
        let pages = std::str::from_utf8(text).ok()?.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()?;
        // A thread without memory has none to tell of: it is on its way out, and another may live.
        self.stale |= pages == 0;
        pages.checked_mul(host::page_size()).filter(|n| *n > 0)
    }

    /// Its proportional memory, bytes. The kernel walks through all of its pages for that.
    pub fn pss(&self) -> Option<u64> {
        let text =
            open_at(&self.folder, &format!("{}smaps_rollup", self.base)).and_then(io::read_to_string).ok()?;
        let kib = text
            .lines()
            .find_map(|l| l.strip_prefix("Pss:"))?
            .trim()
            .strip_suffix("kB")?
            .trim()
            .parse::<u64>();
        kib.ok()?.checked_mul(1 << 10)
    }
}

/// When a process started: with its number it names one process.
fn started(folder: &File) -> io::Result<u64> {
    let text = io::read_to_string(open_at(folder, "stat")?)?;
    procstat::parse(text.as_bytes()).map(|s| s.started).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
