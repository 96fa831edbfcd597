//! `/proc`: who is there, who is whose child, who holds a file. The root is an argument.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::core::procstat::{self, Stat};
use crate::core::run::Process;

/// A `/proc`.
#[derive(Clone, Debug)]
pub struct Proc {
    root: PathBuf,
}

impl Default for Proc {
    fn default() -> Self {
        Proc::at("/proc")
    }
}

impl Proc {
    /// The one at `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Proc { root: root.into() }
    }

    /// A process's `stat`, if it is there.
    pub fn stat(&self, pid: i32) -> Option<Stat> {
        procstat::parse(&std::fs::read(self.root.join(pid.to_string()).join("stat")).ok()?)
    }

    /// Whether a thread has not ended.
    pub fn lives(&self, pid: i32, thread: i32) -> bool {
        let stat = self.root.join(format!("{pid}/task/{thread}/stat"));
        let stat = std::fs::read(stat).ok().and_then(|text| procstat::parse(&text));
        stat.is_some_and(|stat| stat.state != 'Z' && stat.state != 'X')
    }

    /// All processes, in the order of their pids. One that vanishes meanwhile is left out.
    fn all(&self) -> Vec<Stat> {
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let pids = entries.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
        let mut all: Vec<Stat> = pids.filter_map(|pid| self.stat(pid)).collect();
        all.sort_unstable_by_key(|s| s.pid);
        all
    }

    /// All descendants of a process, zombies included.
    pub fn descendants(&self, ancestor: i32) -> Vec<Stat> {
        let all = self.all();
        let parents: HashMap<i32, i32> = all.iter().map(|s| (s.pid, s.parent)).collect();
        all.into_iter().filter(|s| descends(&parents, s.pid, ancestor)).collect()
    }

    /// The children of a process.
    pub fn children(&self, parent: i32) -> Vec<i32> {
        self.all().into_iter().filter(|s| s.parent == parent).map(|s| s.pid).collect()
    }

    /// Whether a process is below another, by the chain of parents as it is now.
    pub fn is_below(&self, mut pid: i32, ancestor: i32) -> bool {
        // Chains are short; the bound is for a /proc that changes under our feet.
        for _ in 0..1_000 {
            match self.stat(pid) {
                Some(stat) if stat.parent == ancestor => return true,
                Some(stat) if stat.parent > 0 => pid = stat.parent,
                _ => return false,
            }
        }
        false
    }

    /// Which of these processes hold the file that `/proc/<pid>/fd/<n>` shows as `target`.
    pub fn holders(&self, of: &Path, among: &[Stat]) -> Vec<Process> {
        let holds = |stat: &&Stat| {
            let fds = std::fs::read_dir(self.root.join(stat.pid.to_string()).join("fd"));
            fds.into_iter()
                .flatten()
                .flatten()
                .any(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == of))
        };
        among.iter().filter(holds).map(seen).collect()
    }
}

fn descends(parents: &HashMap<i32, i32>, mut pid: i32, ancestor: i32) -> bool {
    // A snapshot that is not of one moment could hold a ring.
    let mut passed = HashSet::new();
    while let Some(parent) = parents.get(&pid) {
        if *parent == ancestor {
            return true;
        }
        if !passed.insert(pid) {
            return false;
        }
        pid = *parent;
    }
    false
}

/// A process for the record.
pub fn seen(stat: &Stat) -> Process {
    Process { pid: stat.pid, name: stat.name.clone(), state: stat.state.to_string(), gtt_bytes: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake(name: &str, processes: &[(i32, &str, char, i32)]) -> Proc {
        let root = std::env::temp_dir().join(format!("hrx-wrap-proc-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        for (pid, comm, state, parent) in processes {
            let dir = root.join(pid.to_string());
            std::fs::create_dir_all(dir.join("fd")).unwrap();
            let line = format!(
                "{pid} ({comm}) {state} {parent} {pid} 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {pid}00 0\n"
            );
            std::fs::write(dir.join("stat"), line).unwrap();
        }
        std::fs::create_dir_all(root.join("self")).unwrap();
        std::fs::create_dir_all(root.join("999")).unwrap();
        Proc::at(root)
    }

    #[test]
    fn descendants_of_every_depth_and_nobody_else() {
        let proc = fake(
            "tree",
            &[
                (10, "front", 'S', 1),
                (11, "wrap", 'S', 10),
                (12, "a b) c", 'S', 11),
                (13, "x", 'Z', 12),
                (14, "y", 'S', 1),
            ],
        );
        let pids: Vec<i32> = proc.descendants(11).iter().map(|s| s.pid).collect();
        assert_eq!(pids, [12, 13]);
        assert!(proc.is_below(13, 10) && proc.is_below(12, 11));
        assert!(!proc.is_below(14, 10) && !proc.is_below(999, 10) && !proc.is_below(12345, 10));
        std::fs::remove_dir_all(&proc.root).unwrap();
    }

    #[test]
    fn holders_are_found_by_what_their_descriptors_show() {
        let proc = fake("holders", &[(12, "a", 'S', 1), (13, "b", 'S', 1)]);
        std::os::unix::fs::symlink("pipe:[77]", proc.root.join("13/fd/2")).unwrap();
        std::os::unix::fs::symlink("pipe:[78]", proc.root.join("12/fd/2")).unwrap();
        let held = proc.holders(Path::new("pipe:[77]"), &proc.descendants(1));
        assert_eq!(held, [Process { pid: 13, name: "b".into(), state: "S".into(), gtt_bytes: None }]);
        std::fs::remove_dir_all(&proc.root).unwrap();
    }
}
