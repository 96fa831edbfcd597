//! The events of a trace between its one reading and the drawing of its timeline, which needs the sums of the whole run.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::SpooledTempFile;

use crate::core::event::Event;
use crate::core::shorthand::Reader;

/// So many bytes are held in memory; a longer run's go to a file that has no name and goes with us.
const HELD: usize = 1 << 20;

/// Blocks of events, each with its length before it.
#[derive(Debug)]
pub struct Spool {
    file: SpooledTempFile,
    /// What went wrong in writing: said when the timeline is drawn, since all other reports can do without.
    failed: Option<io::Error>,
}

impl Spool {
    /// An empty one. Where its file has to be on a disk, that is the timeline's, which it is smaller than.
    pub fn beside(timeline: &Path) -> Self {
        let file = SpooledTempFile::new_in(HELD, folder(timeline));
        Spool { file, failed: None }
    }

    /// Takes a block of events away.
    pub fn put(&mut self, block: &mut Vec<u8>) {
        if self.failed.is_none() && !block.is_empty() {
            self.failed = self.write(block).err();
        }
        block.clear();
    }

    fn write(&mut self, block: &[u8]) -> io::Result<()> {
        let length = u32::try_from(block.len()).map_err(io::Error::other)?;
        self.file.write_all(&length.to_ne_bytes())?;
        self.file.write_all(block)
    }

    /// Hands on every event, and calls `pause` behind each block.
    ///
    /// # Errors
    /// The file's, in writing or in reading, or what `pause` says.
    pub fn replay<T>(
        mut self,
        to: &mut T,
        event: impl Fn(&mut T, &Event<'_>),
        mut pause: impl FnMut(&mut T) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.file.rewind()?;
        let (mut reader, mut block, mut length) = (Reader::default(), Vec::new(), [0; 4]);
        loop {
            match self.file.read_exact(&mut length) {
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                other => other?,
            }
            block.resize(u32::from_ne_bytes(length) as usize, 0);
            self.file.read_exact(&mut block)?;
            reader.read(&block, |e| event(to, e)).ok_or(io::ErrorKind::InvalidData)?;
            pause(to)?;
        }
    }
}

/// The folder of a file that is, or will be, an ordinary one; else the one for temporary files.
fn folder(timeline: &Path) -> PathBuf {
    if timeline.metadata().is_ok_and(|m| !m.is_file()) {
        return std::env::temp_dir();
    }
    match timeline.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::event::Sink as _;
    use crate::core::shorthand::Writer;

    /// Puts blocks of pids into a spool, `n` in all.
    fn put(spool: &mut Spool, n: u32) {
        let mut writer = Writer::default();
        for pid in 0..n {
            writer.event(&Event::Process(pid));
            if pid % 1000 == 999 {
                spool.put(writer.out());
            }
        }
        spool.put(writer.out());
    }

    fn pids(spool: Spool, pauses: &mut u32) -> io::Result<Vec<u32>> {
        let mut all = Vec::new();
        let take = |all: &mut Vec<u32>, event: &Event<'_>| {
            if let Event::Process(pid) = event {
                all.push(*pid);
            }
        };
        spool.replay(&mut all, take, |_| {
            *pauses += 1;
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn all_of_it_comes_again_in_its_order_from_memory_and_from_a_file_that_nobody_sees() {
        let folder = tempfile::tempdir().unwrap();
        let timeline = folder.path().join("t.pftrace");
        for (n, on_disk) in [(0, false), (2_500, false), (400_000, true)] {
            let mut spool = Spool::beside(&timeline);
            put(&mut spool, n);
            assert_eq!(spool.file.is_rolled(), on_disk, "{n}");
            assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing has a name there");
            let mut pauses = 0;
            let read = pids(spool, &mut pauses).unwrap();
            assert!(read.iter().copied().eq(0..n), "{n}");
            assert_eq!(pauses, n.div_ceil(1000));
        }
    }

    #[test]
    fn a_file_that_cannot_be_is_said_when_the_timeline_is_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::beside(&folder.path().join("absent/t.pftrace"));
        put(&mut spool, 400_000);
        assert_eq!(pids(spool, &mut 0).err().map(|e| e.kind()), Some(io::ErrorKind::NotFound));
    }

    #[test]
    fn a_device_has_no_room_beside_it() {
        assert_eq!(folder(Path::new("/dev/null")), std::env::temp_dir());
        assert_eq!(folder(Path::new("t.pftrace")), Path::new("."));
        assert_eq!(folder(Path::new("a/t.pftrace")), Path::new("a"));
    }
}
