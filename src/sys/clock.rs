//! Clocks. Every duration and every stamp in this program is `CLOCK_MONOTONIC` nanoseconds.

use std::time::Duration;

use nix::time::{ClockId, clock_getres, clock_gettime};

/// `CLOCK_MONOTONIC` now, ns. No system call: the vDSO answers (`man 7 vdso`).
pub fn monotonic_ns() -> u64 {
    // The clock exists on every Linux, so there is no error to pass on.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |t| Duration::from(t).as_nanos() as u64)
}

/// The resolution of `CLOCK_MONOTONIC`, ns.
pub fn resolution_ns() -> u64 {
    clock_getres(ClockId::CLOCK_MONOTONIC).map_or(1, |t| Duration::from(t).as_nanos() as u64)
}
