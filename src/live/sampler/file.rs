//! Reading the kernel's small files whole, in one read from their beginning: what comes in pieces is of several moments.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// A file larger than this is none of those.
const MOST: usize = 4 << 20;
/// Room for the first read.
const ROOM: usize = 8 << 10;

/// Reads a file whole into the buffer, which keeps its room from one time to the next.
///
/// # Errors
/// The kernel's; `FileTooLarge` when it does not fit in some MiB.
pub fn read_whole<'a>(file: &File, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
    if buffer.len() < ROOM {
        buffer.resize(ROOM, 0);
    }
    loop {
        match file.read_at(buffer, 0) {
            Ok(n) if n < buffer.len() => return Ok(&buffer[..n]),
            // There may be more: once again from the beginning, with more room.
            Ok(n) if n < MOST => buffer.resize(n * 2, 0),
            Ok(_) => return Err(io::ErrorKind::FileTooLarge.into()),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// A file that holds one number.
pub fn read_number(file: &File, buffer: &mut Vec<u8>) -> Option<u64> {
    std::str::from_utf8(read_whole(file, buffer).ok()?).ok()?.trim().parse().ok()
}

/// What an error of a read says of the process or descriptor behind the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It is gone.
    Gone,
    /// It may not be read.
    Denied,
    /// Neither.
    Failed,
}

/// Tells the errors apart.
pub fn trouble(error: &io::Error) -> Trouble {
    /// `man 3 errno`: no such process.
    const ESRCH: i32 = 3;
    match error.kind() {
        io::ErrorKind::NotFound => Trouble::Gone,
        io::ErrorKind::PermissionDenied => Trouble::Denied,
        _ if error.raw_os_error() == Some(ESRCH) => Trouble::Gone,
        _ => Trouble::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_however_long_it_is() {
        let path = std::env::temp_dir().join(format!("hrx-wrap-whole-{}", std::process::id()));
        let mut buffer = Vec::new();
        for length in [0, 5, ROOM - 1, ROOM, ROOM + 1, 5 * ROOM] {
            std::fs::write(&path, vec![b'7'; length]).unwrap();
            let file = File::open(&path).unwrap();
            assert_eq!(read_whole(&file, &mut buffer).unwrap().len(), length);
        }
        std::fs::write(&path, vec![b'7'; MOST + 1]).unwrap();
        let error = read_whole(&File::open(&path).unwrap(), &mut buffer).unwrap_err();
        assert_eq!(trouble(&error), Trouble::Failed);
        std::fs::write(&path, "4096\n").unwrap();
        assert_eq!(read_number(&File::open(&path).unwrap(), &mut buffer), Some(4096));
        std::fs::remove_file(path).unwrap();
    }
}
