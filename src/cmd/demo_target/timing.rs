//! How long things take: the launch on the host, the kernel on the device, the wait for it.

use std::thread;
use std::time::Duration;

use super::args::Work;
use super::device::{FAMILY, Kernel};
use crate::core::kernel_id::kernel_id;
use crate::sys::clock::monotonic_ns;

/// A sleeping thread is woken late by up to the kernel's timer slack (50 µs, `man 2 prctl`): that much is spun instead.
const SPIN_NS: u64 = 60_000;
/// A first launch also compiles.
const COMPILE_FACTOR: u64 = 20;

/// The times of the pretended device and its host.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Device time of every kernel, ns, in place of the kernel's own.
    device_ns: Option<u64>,
    /// Factor of the kernel's own time.
    scale: f64,
    /// The id of a kernel that takes longer, and the factor.
    slow: Option<(u64, f64)>,
    /// Host time of a launch, ns.
    launch_ns: u64,
    /// Wait by spinning alone.
    spin: bool,
}

impl Timing {
    /// As the options say.
    pub fn new(work: &Work) -> Self {
        Self {
            device_ns: work.device_us.map(|us| us.saturating_mul(1000)),
            scale: work.scale,
            slow: work.slow.as_ref().map(|(name, percent)| (kernel_id(FAMILY, name), 1.0 + percent / 100.0)),
            launch_ns: work.launch_us.saturating_mul(1000),
            spin: work.spin,
        }
    }

    /// With the launches of a first run.
    pub fn compiling(self) -> Self {
        Self { launch_ns: self.launch_ns.saturating_mul(COMPILE_FACTOR), ..self }
    }

    /// How long a kernel keeps the device, ns.
    pub fn device_ns(&self, kernel: &Kernel) -> u64 {
        let own = || (kernel.device_us as f64 * 1000.0 * self.scale) as u64;
        let ns = self.device_ns.unwrap_or_else(own);
        match self.slow {
            Some((id, factor)) if id == kernel.id() => (ns as f64 * factor) as u64,
            _ => ns,
        }
    }

    /// Launches: the host is busy, then the device starts.
    pub fn launch(&self, device_ns: u64) -> Busy {
        if self.launch_ns > 0 {
            spin_until(monotonic_ns().saturating_add(self.launch_ns));
        }
        Busy((device_ns > 0).then(|| (monotonic_ns().saturating_add(device_ns), device_ns)))
    }

    /// Waits until the device is idle, as a blocking wait would.
    pub fn wait(&self, busy: Busy) {
        if let Busy(Some((deadline, _))) = busy {
            wait_until(deadline, self.spin);
        }
    }

    /// Waits until half of the device's time is left.
    pub fn wait_half(&self, busy: Busy) {
        if let Busy(Some((deadline, device_ns))) = busy {
            wait_until(deadline - device_ns / 2, self.spin);
        }
    }
}

/// What the device is doing: until when (`CLOCK_MONOTONIC` ns) and for how long in all (ns), or nothing.
#[derive(Clone, Copy, Debug)]
pub struct Busy(Option<(u64, u64)>);

impl Busy {
    /// An idle device.
    pub const IDLE: Busy = Busy(None);
}

/// Waits until a time of the monotonic clock: asleep while there is time for it, then spinning.
pub fn wait_until(deadline: u64, spin: bool) {
    let left = deadline.saturating_sub(monotonic_ns());
    if !spin && left > 2 * SPIN_NS {
        thread::sleep(Duration::from_nanos(left - SPIN_NS));
    }
    spin_until(deadline);
}

fn spin_until(deadline: u64) {
    while monotonic_ns() < deadline {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::super::device::{FILL, OUTPUT};
    use super::*;

    fn timing(device_ns: Option<u64>, scale: f64) -> Timing {
        Timing { device_ns, scale, slow: None, launch_ns: 0, spin: false }
    }

    #[test]
    fn device_times() {
        assert_eq!(timing(None, 1.0).device_ns(&OUTPUT), 350_000);
        assert_eq!(timing(None, 0.5).device_ns(&OUTPUT), 175_000);
        assert_eq!(timing(Some(7000), 0.5).device_ns(&OUTPUT), 7000);
        assert!(timing(Some(0), 1.0).launch(0).0.is_none());
        let slow = Timing { slow: Some((OUTPUT.id(), 1.1)), ..timing(None, 1.0) };
        assert_eq!((slow.device_ns(&OUTPUT), slow.device_ns(&FILL)), (385_000, 9_000));
    }

    #[test]
    fn a_wait_is_never_short() {
        for spin in [false, true] {
            let start = monotonic_ns();
            let timing = Timing { spin, ..timing(None, 1.0) };
            timing.wait(timing.launch(300_000));
            assert!(monotonic_ns() - start >= 300_000);
        }
    }
}
