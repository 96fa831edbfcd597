//! The ring's layout in shared memory: what the supervisor and the object in the target (`preload/stamp.rs`, which is
//! built from this same file) have to agree on.
//!
//! A control page of 64-bit words stands before the data. A record begins at a multiple of [`STEP`]:
//!
//! ```text
//! word 0   mark: its own position, reserved or committed, xor the key. Anything else is old or none.
//! word 1   length of the bytes (32 bits) | span in steps (24) | source (8)
//! word 2   CLOCK_MONOTONIC, ns
//! word 3   pid (32) | thread id (32)
//! …        the bytes, around the end of the memory when need be
//! ```

/// Bytes of the control page before the data.
pub const CONTROL: usize = 4096;
/// Bytes of a record before its payload.
pub const HEADER: u64 = 32;
/// Every position and every span is a multiple of this.
pub const STEP: u64 = 16;
/// In a mark: the room is somebody's.
pub const RESERVED: u64 = 1;
/// In a mark: the record is whole.
pub const COMMITTED: u64 = 2;
/// The source of a record that the printing process stamped.
pub const PRINT: u64 = 2;

// Words of the control page; those that different sides write stand 128 bytes apart.

/// Word: what makes this ring's marks unlike any other's.
pub const KEY: usize = 0;
/// Word: [`MAGIC`], once the ring is open to printing processes.
pub const OPEN: usize = 1;
/// Word: the device that holds the target's stderr, as `fstat` says it …
pub const DEVICE: usize = 2;
/// … and its inode there: an object prints into the ring only while descriptor 2 is that file.
pub const INODE: usize = 3;
/// Word: not 0 once nobody takes records any more; prints go to the descriptor from then on.
pub const CLOSED: usize = 4;
/// Word: where the next record begins.
pub const HEAD: usize = 16;
/// Word: everything before it was released.
pub const TAIL: usize = 32;
/// Word: waits for room.
pub const STALLS: usize = 48;
/// Word: ns in them.
pub const STALL_NS: usize = 49;
/// Word: the longest, ns.
pub const LONGEST_STALL: usize = 50;
/// Word: prints that found no room in [`PATIENCE_NS`] and went to the descriptor.
pub const BYPASSED: usize = 52;
/// Word: processes that print into the ring.
pub const PROCESSES: usize = 53;

/// The value of [`OPEN`]: this layout and no other.
pub const MAGIC: u64 = u64::from_le_bytes(*b"hrxwrap1");
/// The variable that tells the object where the ring is.
pub const VARIABLE: &str = "HRX_WRAP_STAMP";
/// A print waits this long for room in a full ring, ns; then it goes to the descriptor, where it waits as any write does.
pub const PATIENCE_NS: u64 = 5_000_000_000;

/// Bytes of a record with `len` bytes of payload.
pub const fn span(len: u64) -> u64 {
    HEADER + len.next_multiple_of(STEP)
}
