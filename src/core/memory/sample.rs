//! One sample: what the kernel said of the tree at one moment.

/// How complete a sample is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Every client of the tree was read.
    #[default]
    Ok,
    /// A client was there whose memory the kernel did not say: the figures are a lower bound.
    Partial,
    /// A process of the tree may not be read.
    Denied,
    /// No client of the wanted driver is there: no figure, and no error.
    NoClient,
    /// The clients are there, and their driver prints no memory keys.
    Unsupported,
    /// The tree is gone.
    Gone,
}

/// The states with their words in tables.
pub const STATES: [(State, &str); 6] = [
    (State::Ok, "ok"),
    (State::Partial, "partial"),
    (State::Denied, "denied"),
    (State::NoClient, "no-client"),
    (State::Unsupported, "unsupported"),
    (State::Gone, "gone"),
];

impl State {
    /// Its word in tables.
    pub fn word(self) -> &'static str {
        STATES[self as usize].1
    }

    /// The state of a word.
    pub fn of(word: &[u8]) -> Option<State> {
        STATES.iter().find(|(_, name)| name.as_bytes() == word).map(|(state, _)| *state)
    }
}

/// The tree's memory at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// When, `CLOCK_MONOTONIC`, ns.
    pub ns: u64,
    /// GTT that is resident (the kernel's best word for it), summed over the clients, bytes.
    pub gtt_bytes: Option<u64>,
    /// GTT that is allocated (`drm-total-gtt`), bytes.
    pub gtt_total_bytes: Option<u64>,
    /// VRAM that is resident, bytes.
    pub vram_bytes: Option<u64>,
    /// Resident memory of the processes, bytes.
    pub rss_bytes: Option<u64>,
    /// GTT in use on the whole device (`mem_info_gtt_used`), bytes: context, not the tree's.
    pub device_gtt_used_bytes: Option<u64>,
    /// DRM clients counted.
    pub clients: u32,
    /// DRM descriptors seen.
    pub fds: u32,
    /// How complete it is.
    pub state: State,
}

impl Sample {
    /// Its GTT is known, and no client's is missing in it for the moment. A process that may never be read does not count
    /// against it: that is so in every sample.
    pub fn is_whole(&self) -> bool {
        self.gtt_bytes.is_some() && self.state != State::Partial
    }

    /// What it says but for the time is what another one says.
    pub fn is_like(&self, other: &Sample) -> bool {
        Sample { ns: other.ns, ..*self } == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_its_word() {
        for (n, (state, word)) in STATES.into_iter().enumerate() {
            assert_eq!((state as usize, state.word(), State::of(word.as_bytes())), (n, word, Some(state)));
        }
        assert_eq!(State::of(b"fine"), None);
    }
}
