//! A file system that fills up.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A small file system, gone with the test.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Of this size (`64k`); `None` where that is not allowed.
    pub fn mount(at: PathBuf, size: &str) -> Option<SmallDisk> {
        std::fs::create_dir(&at).expect("a folder");
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={size}"), "hrx-wrap-test"]).arg(&at);
        command.stderr(Stdio::null());
        command.status().is_ok_and(|s| s.success()).then_some(SmallDisk(at))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
