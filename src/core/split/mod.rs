//! The split: what of a process's GPU memory is what.
//!
//! The parts are from llama.cpp's log and HRX's host-weight trace, the whole is from the kernel. Whatever one of them does
//! not tell is unknown, with the reason, and never 0.

pub mod blind;
pub mod findings;
pub mod packed;
pub mod phases;
mod rows;
pub mod second;
mod times;

use crate::core::book::Book;
use crate::core::memory::sample::State;
use crate::core::memory::series::Series;
use crate::core::memory::sums::Sums;
use crate::core::parse::llama::{Kind, Place};
use crate::core::run::Run;
use crate::core::text::printable;
use findings::Finding;
use times::Times;

/// What may stay unattributed, percent, unless the user says otherwise.
pub const MAX_UNATTRIBUTED: f64 = 20.0;

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The loader's weights.
    Model,
    /// HRX's packed copies of weights.
    Packed,
    /// Keys and values.
    Kv,
    /// Recurrent state.
    Rs,
    /// Work space.
    Compute,
    /// Logits.
    Output,
    /// Adapters.
    Lora,
    /// Projectors.
    Clip,
    /// What the log names and no rule covers.
    Other,
}

impl What {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            What::Model => "model",
            What::Packed => "packed",
            What::Kv => "kv",
            What::Rs => "rs",
            What::Compute => "compute",
            What::Output => "output",
            What::Lora => "lora",
            What::Clip => "clip",
            What::Other => "other",
        }
    }

    fn of(kind: Kind) -> What {
        match kind {
            Kind::Model => What::Model,
            Kind::Kv => What::Kv,
            Kind::Rs => What::Rs,
            Kind::Compute => What::Compute,
            Kind::Output => What::Output,
            Kind::Lora => What::Lora,
            Kind::Clip | Kind::ClipCompute => What::Clip,
        }
    }
}

/// One part. Bytes are `None` where they are unknown, and `why` says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it holds.
    pub what: What,
    /// The buffer type; absent for packed copies, whose buffers the log does not name.
    pub buffer: Option<String>,
    /// Device or host.
    pub place: Place,
    /// Bytes at the moment of the peak; packed copies: the largest that the trace tells.
    pub bytes: Option<u64>,
    /// Bytes in the steady state: at the sample of its median; without samples what it was for longest.
    pub steady_bytes: Option<u64>,
    /// Bytes at the last sample, when that is before the tear-down: what a tear-down frees the log does not tell.
    pub final_bytes: Option<u64>,
    /// How many weights were packed.
    pub count: Option<u64>,
    /// Why it is unknown, or what else is to be known of it.
    pub why: Option<String>,
}

/// The process's figure, its parts on devices, and the difference, at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// When, ns: the sample's time; of steady that of the first sample with the median.
    pub at_ns: Option<u64>,
    /// GTT of the process, bytes.
    pub process: Option<u64>,
    /// The sum of the known rows on devices, bytes.
    pub rows: u64,
    /// The process's figure less all rows, bytes; unknown when one of them is.
    pub unattributed: Option<i64>,
}

/// The split of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Split {
    /// The parts: devices first, then hosts.
    pub rows: Vec<Row>,
    /// At the peak.
    pub peak: Column,
    /// In the steady state: from the end of the first load to the last tear-down.
    pub steady: Column,
    /// At the last sample.
    pub last: Column,
    /// Why the process's figure is unknown.
    pub process_why: Option<String>,
    /// Why the rest is unknown.
    pub unattributed_why: Option<String>,
    /// The rest as a part of the peak.
    pub unattributed_share: Option<f64>,
    /// Packed copies as a part of the loader's weights on devices.
    pub duplicate_share: Option<f64>,
    /// Bytes of the tensors of the loaded files, by the log.
    pub file_bytes: Option<u64>,
    /// What bounds packed copies that no trace tells of.
    pub bounds: packed::Bounds,
    /// GTT in each phase.
    pub phases: Vec<phases::Row>,
    /// llama.cpp's own table beside its lines.
    pub second: Vec<second::Row>,
    /// Why it cannot be told whether too much is unattributed.
    pub unjudged: Option<String>,
    /// What a reader must know, the failing ones first.
    pub findings: Vec<Finding>,
    /// The log tells of a model's buffers.
    pub loaded: bool,
}

impl Split {
    /// The split from a run's lines, its record, and its samples; where they are not at hand from what the record notes of
    /// them.
    pub fn of(book: &Book, series: Option<&Series>, run: &Run) -> Split {
        let noted = || run.end.as_ref().and_then(|end| end.memory.as_ref()).map(|seen| seen.sums.clone());
        let sums = series.map(|series| Sums::by_phases(series, Some(&book.phases)));
        let sums = sums.or_else(noted).unwrap_or_default();
        let times = Times::of(book, &sums);
        let [at_peak, at_steady, at_last] = times.held(book);
        let mut split = Split { loaded: book.holding.loads > 0, ..Split::default() };
        split.rows = rows::of(&at_peak, &at_steady, &at_last);
        let packed = packed::row(book, run, times.packed(&book.weights));
        let behind =
            split.rows.iter().take_while(|row| row.what == What::Model && row.place == Place::Device).count();
        split.rows.insert(behind, packed);
        split.rows.extend(rows::state_copy(book));
        split.peak = split.column(times.peak, |row| row.bytes);
        split.steady = split.column(times.steady, |row| row.steady_bytes);
        split.last = split.column(times.last, |row| row.final_bytes);
        split.process_why = split.peak.process.is_none().then(|| no_figure(&sums, run));
        split.shares();
        split.file_bytes = book.holding.files.filter(|bytes| *bytes > 0);
        split.bounds = packed::bounds(book, series, &split);
        split.phases = phases::rows(&book.phases, series);
        split.second = book.holding.table.as_ref().map(second::rows).unwrap_or_default();
        split.unjudged = findings::not_judged(&split, run);
        split.findings = findings::all(&split, book, &sums, run);
        split
    }

    /// Nothing is known: neither a part nor the whole.
    pub fn is_empty(&self) -> bool {
        !self.loaded && self.peak.process.is_none() && self.rows.iter().all(|row| row.bytes.is_none())
    }

    /// A finding makes `--strict` fail.
    pub fn fails(&self) -> bool {
        self.findings.iter().any(|finding| finding.fails)
    }

    /// Known bytes of device rows.
    pub fn device(&self, pick: impl Fn(&Row) -> bool) -> u64 {
        let rows = self.rows.iter().filter(|row| row.place == Place::Device && pick(row));
        rows.filter_map(|row| row.bytes).fold(0, u64::saturating_add)
    }

    /// The packed copies.
    pub fn packed(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.what == What::Packed)
    }

    fn column(&self, figure: Option<(Option<u64>, u64)>, bytes: impl Fn(&Row) -> Option<u64>) -> Column {
        let rows = || self.rows.iter().filter(|row| row.place == Place::Device);
        let sum = rows().filter_map(&bytes).fold(0, u64::saturating_add);
        let known =
            self.loaded && rows().filter(|row| row.what != What::Other).all(|row| bytes(row).is_some());
        let process = figure.map(|(_, bytes)| bytes);
        let rest = |whole: u64| i64::try_from(i128::from(whole) - i128::from(sum)).ok();
        let unattributed = process.filter(|_| known).and_then(rest);
        Column { at_ns: figure.and_then(|(ns, _)| ns), process, rows: sum, unattributed }
    }

    fn shares(&mut self) {
        let part = |part: f64, whole: u64| (whole > 0).then(|| part / whole as f64);
        let whole = self.peak.process.unwrap_or(0);
        self.unattributed_share = self.peak.unattributed.and_then(|rest| part(rest as f64, whole));
        let packed = self.packed().and_then(|row| row.bytes);
        let model = self.device(|row| row.what == What::Model);
        self.duplicate_share = packed.and_then(|packed| part(packed as f64, model));
        self.unattributed_why = match self.peak.unattributed {
            Some(_) => None,
            None if self.peak.process.is_none() => self.process_why.clone(),
            None if !self.loaded => Some("the log tells of no model's buffers".to_owned()),
            None => Some("the packed copies are unknown".to_owned()),
        };
    }
}

/// Why the process's figure is unknown.
fn no_figure(sums: &Sums, run: &Run) -> String {
    let driver = run.sampling.as_ref().map_or("amdgpu", |sampling| sampling.driver.as_str());
    let client = if driver == "any" {
        "DRM client".to_owned()
    } else {
        format!("{} client", printable(driver.as_bytes()))
    };
    let seen = |state: State| sums.states.contains_key(state.word());
    if sums.samples == 0 {
        "no samples of GPU memory are at hand".to_owned()
    } else if seen(State::Unsupported) || seen(State::Partial) {
        format!("{client}s were seen, and the kernel prints no memory of theirs")
    } else if seen(State::Denied) {
        format!("no {client} was seen in what may be read: run hrx-wrap as the user of the processes")
    } else {
        format!("no {client} was seen")
    }
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
