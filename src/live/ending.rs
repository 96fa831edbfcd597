//! Why a run is being ended, and how far that has come.

use crate::core::duration::{MS, S};
use crate::core::escalate::Escalation;

/// From SIGTERM to SIGKILL when we were killed: nothing of the tree may be left a second later.
pub const ORPHAN_GRACE: u64 = 300 * MS;
/// How long we wait for a process after SIGKILL (state D, a tracer).
pub const PATIENCE: u64 = 3 * S;
/// How often newcomers of the tree are looked for while it is being ended.
pub const LOOK_AGAIN: u64 = 50 * MS;
/// After the target's end its stderr is read on until this much silence …
pub const SILENCE: u64 = 200 * MS;
/// … at most for this long.
pub const LONGEST_DRAIN: u64 = 5 * S;

/// Who wanted the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The timeout.
    Timeout,
    /// A TERM or INT from outside.
    Request,
    /// The front is gone.
    Orphaned,
    /// The target has ended; these are its leftovers.
    Leftovers,
}

/// An end under way.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// Why.
    pub reason: Reason,
    /// How far.
    pub escalation: Escalation,
    /// The whole tree is asked, not the target alone.
    pub whole_tree: bool,
}

impl Ending {
    /// An end that begins now.
    pub fn begin(reason: Reason, now: u64, grace: u64) -> Self {
        let escalation = Escalation::asked(now, grace, PATIENCE);
        Ending { reason, escalation, whole_tree: reason != Reason::Request }
    }
}
