//! From a polite request to SIGKILL: the clock behind every forced end.
//!
//! Pure: it is told the time and says what is due. The supervisor does it.

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The grace is over: SIGKILL to the whole tree.
    Kill,
    /// Even SIGKILL did not end it (state D, a tracer): go on without it.
    GiveUp,
}

/// How far the end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Asked { kill_at: u64 },
    Killed { give_up_at: u64 },
    GivenUp,
}

/// One escalation: asked → killed → given up. All times are `CLOCK_MONOTONIC` nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Escalation {
    stage: Stage,
    patience: u64,
}

impl Escalation {
    /// The request was made at `now`; SIGKILL is due after `grace` ns, giving up `patience` ns after that.
    pub fn asked(now: u64, grace: u64, patience: u64) -> Self {
        Escalation { stage: Stage::Asked { kill_at: now.saturating_add(grace) }, patience }
    }

    /// When [`Self::due`] has something next; `None` when nothing will come any more.
    pub fn next_at(&self) -> Option<u64> {
        match self.stage {
            Stage::Asked { kill_at } => Some(kill_at),
            Stage::Killed { give_up_at } => Some(give_up_at),
            Stage::GivenUp => None,
        }
    }

    /// The action that is due at `now`, once.
    pub fn due(&mut self, now: u64) -> Option<Action> {
        match self.stage {
            Stage::Asked { kill_at } if now >= kill_at => {
                self.stage = Stage::Killed { give_up_at: now.saturating_add(self.patience) };
                Some(Action::Kill)
            }
            Stage::Killed { give_up_at } if now >= give_up_at => {
                self.stage = Stage::GivenUp;
                Some(Action::GiveUp)
            }
            _ => None,
        }
    }

    /// Brings the kill forward: it is due no later than `at`. Nothing when it was sent already.
    pub fn hurry(&mut self, at: u64) {
        if let Stage::Asked { kill_at } = &mut self.stage {
            *kill_at = (*kill_at).min(at);
        }
    }

    /// SIGKILL was sent.
    pub fn killed(&self) -> bool {
        !matches!(self.stage, Stage::Asked { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_kills_gives_up_once_each() {
        let mut e = Escalation::asked(100, 50, 20);
        assert_eq!((e.next_at(), e.due(149), e.killed()), (Some(150), None, false));
        assert_eq!((e.due(150), e.killed()), (Some(Action::Kill), true));
        assert_eq!((e.due(150), e.due(169), e.next_at()), (None, None, Some(170)));
        assert_eq!(e.due(200), Some(Action::GiveUp));
        assert_eq!((e.due(300), e.next_at()), (None, None));
    }

    #[test]
    fn hurrying_never_delays_and_never_repeats() {
        let mut e = Escalation::asked(0, 100, 10);
        e.hurry(40);
        e.hurry(90);
        assert_eq!(e.next_at(), Some(40));
        assert_eq!(e.due(40), Some(Action::Kill));
        e.hurry(0);
        assert_eq!(e.next_at(), Some(50));
    }

    #[test]
    fn the_far_end_of_the_clock_does_not_overflow() {
        let mut e = Escalation::asked(u64::MAX - 1, u64::MAX, 1);
        assert_eq!(e.due(u64::MAX - 1), None);
    }
}
