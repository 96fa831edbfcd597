//! The memory of one client at one moment, and what of a body is believed.

use crate::core::fdinfo::driver::Region;
use crate::core::fdinfo::{Anomalies, Body, Key};

/// What a device has in all, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// GTT.
    pub gtt: Option<u64>,
    /// VRAM.
    pub vram: Option<u64>,
}

/// The memory of one client at one moment, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) gtt: Option<u64>,
    pub(super) gtt_total: Option<u64>,
    pub(super) gtt_shared: Option<u64>,
    pub(super) vram: Option<u64>,
    pub(super) vram_total: Option<u64>,
    pub(super) vram_shared: Option<u64>,
    pub(super) cpu: Option<u64>,
    pub(super) key: Option<Key>,
    /// A figure was there and was not taken.
    pub(super) rejected: bool,
}

impl Figures {
    /// What a body says, as far as its device can have that much.
    pub(super) fn of(body: &Body, limits: Limits, anomalies: &mut Anomalies) -> Figures {
        let (gtt, vram) = (body.memory(Region::Gtt), body.memory(Region::Vram));
        let both = limits.gtt.zip(limits.vram).and_then(|(a, b)| a.checked_add(b));
        // What is allocated counts where it is preferred to be, which may be more than there is of that kind.
        let bound = |key, of_kind: Option<u64>| if key == Some(Key::Total) { both } else { of_kind };
        let mut rejected = body.has_rejected();
        let mut fits = |value: Option<u64>, limit: Option<u64>| {
            let too_much = value.zip(limit).is_some_and(|(value, limit)| value > limit);
            anomalies.underflows += u64::from(too_much);
            rejected |= too_much;
            value.filter(|_| !too_much)
        };
        let mut figures = Figures {
            gtt: fits(gtt.best, bound(gtt.key, limits.gtt)),
            gtt_total: fits(gtt.total.filter(|_| gtt.key != Some(Key::Total)), both),
            gtt_shared: gtt.shared,
            vram: fits(vram.best, bound(vram.key, limits.vram)),
            vram_total: fits(vram.total.filter(|_| vram.key != Some(Key::Total)), both),
            vram_shared: vram.shared,
            cpu: body.memory(Region::Cpu).best,
            key: gtt.key,
            rejected: false,
        };
        if gtt.key == Some(Key::Total) {
            figures.gtt_total = figures.gtt;
        }
        if vram.key == Some(Key::Total) {
            figures.vram_total = figures.vram;
        }
        figures.key = figures.key.filter(|_| figures.gtt.is_some());
        figures.rejected = rejected && (figures.gtt.is_none() || figures.vram.is_none());
        figures
    }

    /// Nothing is known of it.
    pub(super) fn is_unknown(&self) -> bool {
        self.gtt.is_none() && self.vram.is_none()
    }

    /// Of two reads of one client within a moment, the larger.
    pub(super) fn larger(&self, other: &Figures) -> Figures {
        let key = if other.gtt > self.gtt { other.key } else { self.key };
        Figures {
            gtt: self.gtt.max(other.gtt),
            gtt_total: self.gtt_total.max(other.gtt_total),
            gtt_shared: self.gtt_shared.max(other.gtt_shared),
            vram: self.vram.max(other.vram),
            vram_total: self.vram_total.max(other.vram_total),
            vram_shared: self.vram_shared.max(other.vram_shared),
            cpu: self.cpu.max(other.cpu),
            key,
            rejected: self.rejected && other.rejected,
        }
    }
}
