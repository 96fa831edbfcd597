//! Who is in the tree, by this `/proc`: through the lists of children where the kernel has them, else through every
//! process's parent.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;

use crate::core::procstat;
use crate::sys::dir::{numbers_at, open_at};

/// Where a tree begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// Processes below which it is: they are not of it.
    pub below: Vec<i32>,
    /// Processes that are of it, with everything below them.
    pub from: Vec<i32>,
}

/// The pids of a tree, each once.
pub fn members(proc: &File, roots: &Roots) -> Vec<i32> {
    let known = |pid: &i32| open_at(proc, &format!("{pid}/task/{pid}/children")).is_ok();
    if roots.below.iter().chain(&roots.from).any(known) {
        by_children(proc, roots)
    } else {
        by_parents(proc, roots)
    }
}

fn by_children(proc: &File, roots: &Roots) -> Vec<i32> {
    let mut found: Vec<i32> = roots.from.iter().copied().filter(|pid| is_there(proc, *pid)).collect();
    let mut seen: HashSet<i32> = found.iter().chain(&roots.below).copied().collect();
    let mut ask: Vec<i32> = roots.below.iter().chain(&found).copied().collect();
    while let Some(pid) = ask.pop() {
        for child in children(proc, pid) {
            if seen.insert(child) {
                found.push(child);
                ask.push(child);
            }
        }
    }
    found
}

fn is_there(proc: &File, pid: i32) -> bool {
    open_at(proc, &pid.to_string()).is_ok()
}

/// The children of all threads of a process.
fn children(proc: &File, pid: i32) -> Vec<i32> {
    let threads = numbers_at(proc, &format!("{pid}/task")).unwrap_or_default();
    let list = |tid: u32| {
        let text = open_at(proc, &format!("{pid}/task/{tid}/children")).and_then(io::read_to_string);
        text.unwrap_or_default()
    };
    let lists: Vec<String> = threads.into_iter().map(list).collect();
    lists.iter().flat_map(|text| text.split_ascii_whitespace()).filter_map(|pid| pid.parse().ok()).collect()
}

fn by_parents(proc: &File, roots: &Roots) -> Vec<i32> {
    let pids = numbers_at(proc, ".").unwrap_or_default();
    let parents: HashMap<i32, i32> = pids
        .into_iter()
        .filter_map(|pid| {
            let text = open_at(proc, &format!("{pid}/stat")).and_then(io::read_to_string).ok()?;
            procstat::parse(text.as_bytes()).map(|s| (s.pid, s.parent))
        })
        .collect();
    let belongs = |pid: i32| {
        let (mut at, mut passed) = (pid, HashSet::new());
        loop {
            if roots.from.contains(&at) {
                return true;
            }
            match parents.get(&at) {
                // What was read is not of one moment, so it could hold a ring.
                Some(parent) if passed.insert(at) => at = *parent,
                _ => return false,
            }
            if roots.below.contains(&at) {
                return true;
            }
        }
    };
    let mut found: Vec<i32> = parents.keys().copied().filter(|pid| belongs(*pid)).collect();
    found.sort_unstable();
    found
}
