//! Which spans of a run stand in its timeline, decided before its trace is read again.
//!
//! The book of the first reading knows how many dispatches there are and how long they took. So the second reading can
//! choose the first, the slowest and the last of them as it goes, and holds nothing.

use std::collections::BTreeMap;

use crate::core::profile::Profile;

/// Spans of a dispatch: wait, launch, device.
const A_DISPATCH: u64 = 3;
/// Spans of a program beside its dispatches: itself and its host phases.
const A_PROGRAM: u64 = 9;

/// The default of `--timeline-max`, spans.
pub const DEFAULT_SPANS: u64 = 1_000_000;

/// What is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Dispatches that came to their end, in all.
    pub all: u64,
    /// Everything is kept; the rest below says nothing then.
    pub whole: bool,
    /// So many from the start, in whole programs.
    pub first: u64,
    /// From this one on (counted from 0), beginning with a program.
    pub last_from: u64,
    /// Elsewhere those that took at least so long on the device, ns …
    pub slow_ns: u64,
    /// … and of these no more than so many.
    pub slow: u64,
    /// Program spans are kept outside the windows too.
    pub programs: bool,
}

impl Plan {
    /// A plan for the run of a profile with at most `spans` spans: half of them from the start, a quarter from the end,
    /// a quarter for the slowest.
    pub fn new(profile: &Profile, spans: u64) -> Plan {
        let all = profile.coverage.completed;
        // Those whose begin and end line are there: a trace without such lines draws no program.
        let programs: u64 = profile.programs().iter().map(|p| p.walls).sum();
        let needed = all.saturating_mul(A_DISPATCH).saturating_add(programs.saturating_mul(A_PROGRAM));
        if needed <= spans {
            return Plan { all, whole: true, ..Plan::default() };
        }
        // Program spans everywhere show where the windows lie, as long as they are few.
        let keep_programs = programs <= spans / 16;
        let room = spans - if keep_programs { programs } else { 0 };
        // A dispatch in a window brings its part of a program's host phases along.
        let each = A_DISPATCH + (programs * A_PROGRAM).div_ceil(all.max(1));
        let (first, last, slow) = (room / 2 / each, room / 4 / each, room / 4 / A_DISPATCH);
        let slow_ns = slowest(profile, slow);
        Plan {
            all,
            whole: false,
            first,
            last_from: all - last.min(all),
            slow_ns,
            slow,
            programs: keep_programs,
        }
    }
}

/// The time that at most `n` dispatches reach, ns.
fn slowest(profile: &Profile, n: u64) -> u64 {
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for kernel in profile.programs().iter().flat_map(|p| &p.kernels) {
        for (from, _, count) in kernel.device.buckets() {
            *buckets.entry(from).or_default() += u64::from(count);
        }
    }
    let (mut seen, mut least) = (0, u64::MAX);
    for (from, count) in buckets.into_iter().rev() {
        seen += count;
        if seen > n {
            break;
        }
        least = from;
    }
    least
}
