//! Which dispatches are drawn, as they come.

use super::{Spans, Weaver, plan};
use crate::core::profile::program::Dispatch;

impl<C: Spans> Weaver<'_, C> {
    /// Whether a dispatch that came to its end is drawn.
    pub(super) fn wanted(&mut self, dispatch: &Dispatch) -> bool {
        let nth = self.drawn.completed;
        self.drawn.completed += 1;
        if self.drawn.spans + plan::A_DISPATCH > self.room() {
            return false;
        }
        if self.plan.whole {
            return true;
        }
        // A trace without program lines, or a program larger than the window, is cut where the window ends.
        self.past_first |= nth >= self.plan.first || self.drawn.spans >= self.plan.first_spans;
        self.in_last |= nth >= self.plan.last_from;
        if !self.past_first || self.in_last {
            self.drawn.last += u64::from(self.past_first);
            return true;
        }
        let slow = dispatch.device >= self.plan.slow_ns;
        let some = !slow && dispatch.device >= self.plan.some_ns && self.drawn.some < self.plan.some;
        self.drawn.some += u64::from(some);
        self.drawn.slow += u64::from(slow || some);
        slow || some
    }

    /// Spans that there is room for, but for what is open at the end.
    pub(super) fn room(&self) -> u64 {
        self.plan.most - self.plan.kept_back
    }
}
