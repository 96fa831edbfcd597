//! The supervised tree: the target and everything below us. Orphans come to us, since we are a subreaper.

use std::collections::HashSet;

use crate::core::procstat::Stat;
use crate::core::signals::{CONT, KILL};
use crate::live::proc::Proc;
use crate::sys::process::{self, PidFd};

/// The processes below one of ours.
#[derive(Debug)]
pub struct Tree {
    proc: Proc,
    root: i32,
    /// Children that this process had before the run: not of the tree, and neither is what is below them.
    others: Vec<i32>,
    /// Who was asked to end already: pid and start time.
    asked: HashSet<(i32, u64)>,
}

impl Tree {
    /// Everything below this process but these children of it.
    pub fn below_us(proc: Proc, others: Vec<i32>) -> Self {
        Tree { proc, root: process::own_pid(), others, asked: HashSet::new() }
    }

    /// Everything, zombies included.
    pub fn all(&self) -> Vec<Stat> {
        let mut all = self.proc.descendants(self.root);
        let foreign: HashSet<i32> =
            self.others.iter().flat_map(|pid| self.proc.descendants(*pid)).map(|s| s.pid).collect();
        all.retain(|s| !foreign.contains(&s.pid) && !self.others.contains(&s.pid));
        all
    }

    /// The `/proc` it is seen through.
    pub fn proc(&self) -> &Proc {
        &self.proc
    }

    /// All that are there and have not ended.
    pub fn members(&self) -> Vec<Stat> {
        let mut all = self.all();
        all.retain(|s| s.state != 'Z' && s.state != 'X');
        all
    }

    /// Whether a process is of the tree.
    pub fn holds(&self, pid: i32) -> bool {
        pid > 0 && self.proc.is_below(pid, self.root)
    }

    /// A request to end reached this process by another way: it is not asked again.
    pub fn was_asked(&mut self, pid: i32) {
        if let Some(stat) = self.proc.stat(pid) {
            self.asked.insert((pid, stat.started));
        }
    }

    /// Sends `signal`, and CONT so that a stopped process hears it, to all that were not asked yet.
    pub fn ask(&mut self, signal: i32) {
        for stat in self.members() {
            if self.asked.insert((stat.pid, stat.started)) {
                self.signal(&stat, &[signal, CONT]);
            }
        }
    }

    /// SIGKILL to all.
    pub fn kill(&self) {
        for stat in self.members() {
            self.signal(&stat, &[KILL]);
        }
    }

    /// Through a pidfd, and only when the number still is the process that was seen: no other can be meant.
    fn signal(&self, seen: &Stat, signals: &[i32]) {
        let Ok(pidfd) = PidFd::open(seen.pid) else { return };
        if self.proc.stat(seen.pid).is_some_and(|now| now.started == seen.started) {
            for signal in signals {
                // It has ended meanwhile, or is not ours to signal: it is named in the report when it stays.
                let _ = pidfd.signal(*signal);
            }
        }
    }
}
