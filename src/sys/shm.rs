//! Memory that several processes share: an anonymous file (`man 2 memfd_create`), mapped.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use super::{check, counted};

/// A shared mapping of whole 64-bit words. It stays mapped in children made by fork.
#[derive(Debug)]
pub struct Shared {
    base: NonNull<AtomicU64>,
    words: usize,
    file: OwnedFd,
}

// SAFETY: the memory lives until drop and is reached as atomics, or by the copying functions below, whose callers
// own the range by the ring's protocol.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// A range of the mapping that wraps around inside a window: the ring's data area.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// First byte of the window in the mapping; a multiple of 8.
    pub start: usize,
    /// Its length in bytes; a multiple of 8.
    pub len: usize,
}

/// Does work that makes a file of `bytes`. A limit on the size of files (`ulimit -f`) counts for files of ours too that are
/// on no disk, or gone with the run: the soft one is lifted for the moment, and a hard one is said, since going over it
/// would end this process by SIGXFSZ.
///
/// # Errors
/// The hard limit, or the work's own.
pub fn with_size_limit_lifted<T>(bytes: usize, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes one rlimit.
    check(unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) })?;
    if limit.rlim_max < bytes as libc::rlim_t {
        let text =
            format!("the limit on the size of files (ulimit -f) is under the {bytes} bytes that are needed");
        return Err(io::Error::other(text));
    }
    let lifted = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
    // SAFETY: reads one rlimit. Up to the hard limit is always allowed.
    unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const lifted) };
    let result = work();
    // SAFETY: as above.
    unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) };
    result
}

impl Shared {
    /// New zeroed memory of `bytes`, rounded up to whole words.
    ///
    /// # Errors
    /// No memory, or no descriptor is left.
    pub fn create(bytes: usize) -> io::Result<Shared> {
        // SAFETY: the name is a C string; the flag closes it on exec.
        let fd = check(unsafe { libc::memfd_create(c"hrx-wrap-ring".as_ptr(), libc::MFD_CLOEXEC) })?;
        // SAFETY: the descriptor is new and nobody else's.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        let words = bytes.div_ceil(8);
        with_size_limit_lifted(words * 8, || {
            // SAFETY: takes an open descriptor and a length.
            check(unsafe { libc::ftruncate(file.as_raw_fd(), (words * 8) as libc::off_t) })
        })?;
        Self::map(file, words)
    }

    /// Maps memory that was made by [`Self::create`], from its descriptor.
    ///
    /// # Errors
    /// The descriptor is not such a file.
    pub fn attach(file: OwnedFd) -> io::Result<Shared> {
        let size = std::fs::File::from(file.try_clone()?).metadata()?.len();
        let words = usize::try_from(size / 8).map_err(io::Error::other)?;
        Self::map(file, words)
    }

    fn map(file: OwnedFd, words: usize) -> io::Result<Shared> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh shared mapping of the whole file at an address of the kernel's choice.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), words * 8, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        Ok(Shared { base, words, file })
    }

    /// The mapping's words.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: page-aligned memory of this many words, mapped until drop, any bytes valid.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.words) }
    }

    /// The file behind it, for another process to attach.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The one or two stretches of memory that `len` bytes from `at` take in the window.
    fn stretches(&self, window: Window, at: u64, len: usize) -> [(*mut u8, usize); 2] {
        assert!(
            len <= window.len && window.start + window.len <= self.words * 8,
            "outside the shared memory"
        );
        let offset = (at % window.len as u64) as usize;
        let first = len.min(window.len - offset);
        let base = self.base.as_ptr().cast::<u8>();
        // SAFETY: both stay inside the mapping: the window does, and the offset and the lengths stay in the window.
        unsafe { [(base.add(window.start + offset), first), (base.add(window.start), len - first)] }
    }

    /// Copies bytes into the window from position `at` on, around its end.
    pub fn copy_in(&self, window: Window, at: u64, bytes: &[u8]) {
        let [(a, n), (b, m)] = self.stretches(window, at, bytes.len());
        // SAFETY: the stretches are as long as the slice in sum, and the caller reserved them: nobody reads them yet.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), a, n);
            std::ptr::copy_nonoverlapping(bytes.as_ptr().add(n), b, m);
        }
    }

    /// Appends `len` bytes of the window from position `at` on.
    pub fn copy_out(&self, window: Window, at: u64, len: usize, out: &mut Vec<u8>) {
        out.reserve(len);
        for (from, n) in self.stretches(window, at, len) {
            // SAFETY: the capacity was reserved; the range was committed by its writer, who is done with it.
            unsafe {
                std::ptr::copy_nonoverlapping(from, out.as_mut_ptr().add(out.len()), n);
                out.set_len(out.len() + n);
            }
        }
    }

    /// Fills a range of the window with one byte.
    pub fn fill(&self, window: Window, at: u64, len: usize, byte: u8) {
        for (to, n) in self.stretches(window, at, len) {
            // SAFETY: the caller reserved the range: nobody reads it yet.
            unsafe { std::ptr::write_bytes(to, byte, n) };
        }
    }

    /// Reads once from a descriptor straight into the window, so that no byte is ever in one process's hands alone.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read_from(&self, fd: BorrowedFd<'_>, window: Window, at: u64, len: usize) -> io::Result<usize> {
        let parts =
            self.stretches(window, at, len).map(|(to, n)| libc::iovec { iov_base: to.cast(), iov_len: n });
        // SAFETY: both ranges lie in the mapping, and the caller reserved them.
        counted(|| unsafe { libc::readv(fd.as_raw_fd(), parts.as_ptr(), 2) })
    }
}

/// Whether code in a file can be mapped to be executed: not on a file system that is mounted `noexec`.
///
/// # Errors
/// The kernel's reason.
pub fn can_be_executed(file: BorrowedFd<'_>) -> io::Result<()> {
    let protection = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: a fresh private mapping at an address of the kernel's choice, which nobody reads and which goes at once.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), 1, protection, libc::MAP_PRIVATE, file.as_raw_fd(), 0);
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        libc::munmap(at, 1);
    }
    Ok(())
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: exactly the range that was mapped; no reference into it outlives `self`.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.words * 8) };
    }
}
