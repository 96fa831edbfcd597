//! The kernel's interface: the system calls that the object makes, without the C library's wrappers, which set `errno`.

use core::arch::asm;

// Linux, x86-64 (`man 2 syscall`, asm/unistd_64.h).
pub(super) const READ_WRITE: usize = 2;
pub(super) const CLOEXEC: usize = 0o2_000_000;
pub(super) const SYS_WRITE: usize = 1;
pub(super) const SYS_OPEN: usize = 2;
pub(super) const SYS_CLOSE: usize = 3;
pub(super) const SYS_FSTAT: usize = 5;
pub(super) const SYS_MMAP: usize = 9;
pub(super) const SYS_MUNMAP: usize = 11;
pub(super) const SYS_MADVISE: usize = 28;
pub(super) const SYS_DUP2: usize = 33;
pub(super) const SYS_NANOSLEEP: usize = 35;
pub(super) const SYS_GETPID: usize = 39;
pub(super) const SYS_GETTID: usize = 186;
pub(super) const SYS_DUP3: usize = 292;
pub(super) const PROT_READ_WRITE: usize = 3;
pub(super) const MAP_SHARED: usize = 1;
pub(super) const MAP_PRIVATE_ANONYMOUS: usize = 0x22;
pub(super) const MADV_WIPEONFORK: usize = 18;

/// One system call: what the kernel answered, below 0 an `errno`.
pub(super) fn call(number: usize, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let result;
    // SAFETY: the convention of the kernel; what the arguments point to is the business of each caller.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack)
        );
    }
    result
}

/// `struct stat` on x86-64: what of it is used.
#[repr(C)]
struct Stat {
    device: u64,
    inode: u64,
    rest: [u64; 16],
}

/// Device, inode and size of the file behind a descriptor.
pub(super) fn identity(fd: usize) -> Option<(u64, u64, i64)> {
    let mut stat = Stat { device: 0, inode: 0, rest: [0; 16] };
    let got = call(SYS_FSTAT, [fd, (&raw mut stat) as usize, 0, 0, 0, 0]);
    // st_size is the sixth of the eight-byte fields.
    (got == 0).then_some((stat.device, stat.inode, stat.rest[4].cast_signed()))
}
