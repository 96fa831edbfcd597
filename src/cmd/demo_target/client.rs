//! The GPU memory that the target pretends to hold, as the kernel would show it: a client of amdgpu in the fdinfo of an entry
//! of its own in a `/proc` made for it.
//!
//! The keys are those of <https://docs.kernel.org/gpu/drm-usage-stats.html>. Everything else of the process is the kernel's,
//! by links.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::Path;

/// The descriptor of the client.
const FD: u32 = 5;
/// Files of the entry that are the kernel's own.
const REAL: [&str; 4] = ["stat", "statm", "smaps_rollup", "task"];

/// What a driver holds before anything is asked of it, KiB.
const RUNTIME: u64 = 96 << 10;
/// Arenas, staging and kernels, which come with the first context and which no line names, KiB: with the runtime's the part
/// that was not attributed in the recorded run.
const ARENAS: u64 = 690_278 - RUNTIME;
/// The model's buffer, 2375.91 MiB, KiB.
const MODEL: u64 = 2_432_932;
/// A context's KV cache and compute buffer, 36.00 and 43.20 MiB, KiB.
const CONTEXT: u64 = (36 << 10) + 44_237;

/// A client; or none, and then nothing that it is told to hold is shown.
#[derive(Debug, Default)]
pub struct Client {
    fdinfo: Option<File>,
    arenas: bool,
    model: u64,
    context: bool,
    packed: u64,
    failed: Option<io::Error>,
}

impl Client {
    /// Enters this process into a `/proc`, if one is given.
    ///
    /// # Errors
    /// The folder's.
    pub fn enter(proc: Option<&Path>) -> io::Result<Client> {
        let Some(proc) = proc else { return Ok(Client::default()) };
        let pid = std::process::id();
        // It gets its name when all of it is there.
        let (new, entry) = (proc.join(format!("new-{pid}")), proc.join(pid.to_string()));
        fs::create_dir(&new)?;
        fs::create_dir(new.join("fd"))?;
        fs::create_dir(new.join("fdinfo"))?;
        for name in REAL {
            symlink(format!("/proc/{pid}/{name}"), new.join(name))?;
        }
        symlink("/dev/dri/renderD128", new.join(format!("fd/{FD}")))?;
        let fdinfo = File::create(new.join(format!("fdinfo/{FD}")))?;
        let client = Client { fdinfo: Some(fdinfo), ..Client::default() };
        client.show()?;
        fs::rename(new, entry)?;
        Ok(client)
    }

    /// So much of the model is loaded, of 1.
    pub fn load(&mut self, part: f64) {
        self.model = (MODEL as f64 * part) as u64;
        self.tell();
    }

    /// A context is made, or ends.
    pub fn context(&mut self, there: bool) {
        self.context = there;
        self.arenas |= there;
        self.tell();
    }

    /// The packed copies of weights are so many tenths of a MiB.
    pub fn packed(&mut self, tenths: u64) {
        self.packed = (tenths << 10) / 10;
        self.tell();
    }

    /// The end of it; what went wrong in between is said here.
    ///
    /// # Errors
    /// The file's.
    pub fn finish(self) -> io::Result<()> {
        self.failed.map_or(Ok(()), Err)
    }

    fn tell(&mut self) {
        if self.failed.is_none() {
            self.failed = self.show().err();
        }
    }

    fn kib(&self) -> u64 {
        let parts = [(self.arenas, ARENAS), (self.context, CONTEXT)];
        RUNTIME
            + self.model
            + self.packed
            + parts.iter().filter(|(is, _)| *is).map(|(_, kib)| kib).sum::<u64>()
    }

    /// In one piece and of one length, so that a reader never sees a part.
    fn show(&self) -> io::Result<()> {
        let Some(file) = &self.fdinfo else { return Ok(()) };
        let kib = self.kib();
        let text = format!(
            "pos:\t0\nflags:\t02100002\nmnt_id:\t27\nino:\t640\n\
             drm-driver:\tamdgpu\ndrm-client-id:\t1\ndrm-pdev:\t0000:c5:00.0\n\
             drm-total-gtt:\t{kib:10} KiB\ndrm-shared-gtt:\t         0 KiB\ndrm-resident-gtt:\t{kib:10} KiB\n\
             drm-total-vram:\t     16384 KiB\ndrm-shared-vram:\t         0 KiB\ndrm-resident-vram:\t     16384 KiB\n"
        );
        file.write_all_at(text.as_bytes(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_the_recorded_run_held() {
        let proc = tempfile::tempdir().unwrap();
        let mut client = Client::enter(Some(proc.path())).unwrap();
        let pid = std::process::id();
        let shown = || {
            let text = fs::read_to_string(proc.path().join(format!("{pid}/fdinfo/{FD}"))).unwrap();
            let line = text.lines().find_map(|l| l.strip_prefix("drm-resident-gtt:")).unwrap().to_owned();
            line.trim().trim_end_matches(" KiB").parse::<u64>().unwrap()
        };
        assert_eq!(shown(), RUNTIME);
        client.load(0.5);
        assert_eq!(shown(), RUNTIME + MODEL / 2);
        client.load(1.0);
        client.context(true);
        client.packed(7958);
        // 3925.0 MiB, of which 674.1 are in no line.
        let tenths = |kib: u64| (kib * 10 + 512) / 1024;
        assert_eq!(tenths(shown()), 39_250);
        assert_eq!(tenths(shown() - MODEL - CONTEXT - (7958 << 10) / 10), 6_741);
        client.context(false);
        assert_eq!(tenths(shown()), 38_458);
        assert!(proc.path().join(format!("{pid}/stat")).exists());
        client.finish().unwrap();
    }

    #[test]
    fn without_a_folder_nothing_is_shown() {
        let mut client = Client::enter(None).unwrap();
        client.load(1.0);
        let folder = tempfile::tempdir().unwrap();
        assert!(Client::enter(Some(&folder.path().join("absent"))).is_err());
    }
}
