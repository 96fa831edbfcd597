//! Which spans of a run stand in its timeline, decided before its events are gone through again.
//!
//! The book of the first reading knows how many dispatches there are and how long they took. So the drawing can choose the first,
//! the slowest and the last of them as it goes, and holds nothing.

use std::collections::BTreeMap;

use crate::core::profile::Profile;

/// Spans of a dispatch: wait, launch, device.
pub(super) const A_DISPATCH: u64 = 3;
/// Spans of a dispatch that is open: launch and device.
const AN_OPEN_ONE: u64 = 2;

/// The default of `--timeline-max`, spans.
pub const DEFAULT_SPANS: u64 = 1_000_000;

/// What is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Spans at the most, phases and all.
    pub most: u64,
    /// So many of them are kept back for what is open at the end and for the phases.
    pub kept_back: u64,
    /// Dispatches that came to their end, in all.
    pub all: u64,
    /// Everything is kept, as far as can be known; the rest below says nothing then.
    pub whole: bool,
    /// So many dispatches from the start, in whole programs …
    pub first: u64,
    /// … and with all that belongs to them no more spans than this.
    pub first_spans: u64,
    /// From this dispatch on (counted from 0).
    pub last_from: u64,
    /// Elsewhere those that took at least so long on the device, ns, …
    pub slow_ns: u64,
    /// … and as many of those that took at least so long, ns, …
    pub some_ns: u64,
    /// … as this is.
    pub some: u64,
    /// Program spans are kept outside the windows too.
    pub programs: bool,
}

impl Plan {
    /// One that keeps everything.
    pub fn everything() -> Plan {
        Plan { most: u64::MAX, whole: true, ..Plan::default() }
    }

    /// A plan for the run of a profile with at most `most` spans: half of them from the start, a quarter from the end, a quarter
    /// for the slowest. `phases`: of the run, which are spans too.
    pub fn new(profile: &Profile, phases: usize, most: u64) -> Plan {
        let all = profile.coverage.completed;
        // Those whose begin and end line are there: a trace without such lines draws no program.
        let programs: u64 = profile.programs().iter().map(|p| p.walls).sum();
        let beside = profile.open_count().saturating_mul(AN_OPEN_ONE).saturating_add(phases as u64);
        let around = programs.saturating_add(profile.host_phases);
        let needed = [all.saturating_mul(A_DISPATCH), around, beside];
        let kept_back = beside.min(most / 8);
        let plan = Plan { most, kept_back, all, ..Plan::default() };
        if needed.into_iter().fold(0, u64::saturating_add) <= most {
            return Plan { whole: true, ..plan };
        }
        // Program spans everywhere show where the windows lie, as long as they are few.
        let keep_programs = programs <= most / 16;
        let room = most - kept_back - if keep_programs { programs } else { 0 };
        // A dispatch in a window brings its part of a program's host phases along.
        let each = A_DISPATCH + around.div_ceil(all.max(1));
        let (first, last) = (room / 2 / each, room / 4 / each);
        Plan {
            first,
            first_spans: room / 2,
            last_from: all - last.min(all),
            programs: keep_programs,
            ..slowest(profile, room / 4 / A_DISPATCH, plan)
        }
    }
}

/// The plan with the `n` slowest dispatches: times are known by buckets, and of the last bucket not all may fit.
fn slowest(profile: &Profile, n: u64, plan: Plan) -> Plan {
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for kernel in profile.programs().iter().flat_map(|p| &p.kernels) {
        for (from, _, count) in kernel.device.buckets() {
            *buckets.entry(from).or_default() += u64::from(count);
        }
    }
    let (mut seen, mut least) = (0, u64::MAX);
    for (from, count) in buckets.into_iter().rev() {
        if seen + count > n {
            return Plan { slow_ns: least, some_ns: from, some: n - seen, ..plan };
        }
        seen += count;
        least = from;
    }
    Plan { slow_ns: least, some_ns: least, ..plan }
}
