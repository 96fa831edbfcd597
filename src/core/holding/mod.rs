//! What a run holds in memory, as llama.cpp's own log tells it.
//!
//! Models and contexts are objects with a life: buffers of what lives at once add up, those of a loop's contexts one
//! after another do not. A fit's trials hold nothing, a work space that is reserved again replaces the one before, and
//! the words of a context's end are an echo. Each process behind a router is kept apart.

pub mod buffers;
mod process;

use crate::core::event::{Event, Sink};
use crate::core::history::History;
use crate::core::lines::Line;
use crate::core::parse::llama::{Cells, Kind, Said, Word, breakdown};
use crate::core::text::printable;
use buffers::Held;
use process::{Correction, Process};

/// More children than a router starts.
const MOST_PROCESSES: usize = 64;
/// More rows than a table of memory has.
const MOST_ROWS: usize = 32;
/// The longest name that is kept.
const NAME: usize = 128;

/// llama.cpp's own table of memory, and what its lines said at that moment of the same context and its model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// When, ns.
    pub ns: u64,
    /// Its rows.
    pub rows: Vec<(String, Cells)>,
    /// The oldest model and the oldest context.
    pub lines: Held,
}

/// The log's account of memory.
#[derive(Clone, Debug, Default)]
pub struct Holding {
    ns: u64,
    processes: Vec<(Option<u16>, Process)>,
    history: History<Held>,
    peak: Option<(u64, Held)>,
    /// Lines about buffers that are held (a trial's are not).
    pub buffers: u64,
    /// Models that were loaded, trials not counted.
    pub loads: u64,
    /// Lines of trials, which hold nothing.
    pub trials: u64,
    /// Something was too much to be kept apart.
    pub overflow: bool,
    /// A device or buffer type of HRX was named.
    pub hrx: bool,
    table_open: bool,
    /// Bytes of the tensors of the files that were loaded at the peak, when they are known.
    pub files: Option<u64>,
    /// The last table behind a real context.
    pub table: Option<Table>,
    /// The largest copy of a state on a device, which no row holds: bytes and buffer type.
    pub state_copy: Option<(u64, String)>,
    /// Work space that grew after it was reserved: name, reserved, at the end.
    pub grown: Vec<(String, u64, u64)>,
}

impl Sink for Holding {
    fn line(&mut self, line: &Line<'_>) {
        self.ns = line.ns;
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Llama(said) = event {
            self.said(said);
        }
    }
}

impl Holding {
    /// What was held at `ns`.
    pub fn at(&self, ns: u64) -> Option<&Held> {
        self.history.at(ns)
    }

    /// What was held for longest from `from` until `until`.
    pub fn longest(&self, from: u64, until: u64) -> Option<&Held> {
        self.history.longest(from, until)
    }

    /// What was held at the moment of a sample. A line comes a little later than what it tells of, so those that come
    /// within `late` ns still count where they are of more.
    pub fn at_sample(&self, ns: u64, late: u64) -> Option<&Held> {
        self.history.within(ns, ns.saturating_add(late)).max_by_key(|held| held.weight())
    }

    /// The most that was held at once on devices, and when. Work space that grew unseen is in it.
    pub fn peak(&self) -> Option<(u64, &Held)> {
        self.peak.as_ref().map(|(ns, held)| (*ns, held))
    }

    /// Older states were thinned out.
    pub fn coarse(&self) -> bool {
        self.history.coarse
    }

    /// The end of all lines: what was reserved last and not followed by a word on whose it is.
    pub fn finish(&mut self) {
        for (_, process) in &mut self.processes {
            process.settle(None);
        }
        self.note();
    }

    fn said(&mut self, said: &Said<'_>) {
        let at = self.processes.iter().position(|(port, _)| *port == said.port);
        let Some(at) = at.or_else(|| self.new_process(said.port)) else { return };
        let (ns, process) = (self.ns, &mut self.processes[at].1);
        let mut correction = None;
        match said.word {
            Word::Buffer { kind, name, bytes } => self.buffer(at, kind, name, bytes),
            Word::Destroyed { name, bytes, expected } => {
                correction = process.destroyed(&shown(name), bytes, expected);
                if bytes != expected && correction.is_some() && self.grown.len() < MOST_ROWS {
                    self.grown.push((shown(name), expected, bytes));
                }
            }
            Word::StateCopy { name, bytes } if self.state_copy.as_ref().is_none_or(|(b, _)| *b < bytes) => {
                self.state_copy = Some((bytes, shown(name)));
            }
            Word::Loading => process.load(),
            Word::FileSize(bytes) => process.file_size(bytes),
            Word::NoAlloc(trial) => process.set_trial(trial),
            Word::FitEnds => process.end_trial(),
            Word::Context => process.context(ns),
            Word::Nodes(nodes) => process.settle(Some(nodes)),
            Word::Reserved => process.settle(None),
            Word::TearDown => process.over(),
            Word::Asleep => process.clear(),
            Word::Closing if said.port.is_some() => process.clear(),
            // Its table is still to come; another program of the run may load behind it.
            Word::Closing => process.all_over(),
            Word::DraftDropped => process.drop_draft(),
            Word::Projector(name) => process.projector(shown(name)),
            Word::Device(name) => self.hrx |= name.starts_with(b"HRX"),
            Word::Table => self.begin_table(at),
            Word::Row { name, cells } => self.row(shown(name), cells),
            Word::Record(text) => self.record(at, text),
            _ => {}
        }
        if let Some(correction) = correction {
            self.correct(&correction);
        }
        self.note();
    }

    fn new_process(&mut self, port: Option<u16>) -> Option<usize> {
        if self.processes.len() == MOST_PROCESSES {
            self.overflow = true;
            return None;
        }
        self.processes.push((port, Process::default()));
        Some(self.processes.len() - 1)
    }

    fn buffer(&mut self, at: usize, kind: Kind, name: &[u8], bytes: u64) {
        self.hrx |= name.starts_with(b"HRX");
        let name = shown(name);
        let process = &mut self.processes[at].1;
        let fits = match kind {
            Kind::Model | Kind::Lora | Kind::Clip | Kind::ClipCompute => process.weights(kind, &name, bytes),
            Kind::Kv | Kind::Rs | Kind::Output => process.state(self.ns, kind, &name, bytes),
            Kind::Compute => process.compute(self.ns, &name, bytes),
        };
        self.overflow |= !fits;
        if process.is_trial() {
            self.trials += 1;
        } else {
            self.buffers += 1;
            self.loads += u64::from(kind == Kind::Model);
        }
    }

    /// Writes down what is held, when that has changed.
    fn note(&mut self) {
        let mut all = Held::default();
        for (_, process) in &self.processes {
            let (held, fits) = process.held();
            self.overflow |= !(fits && all.add_all(&held));
        }
        if self.history.last().map_or(all.shares.is_empty(), |held| *held == all) {
            return;
        }
        if self.peak.as_ref().is_none_or(|(_, peak)| peak.weight() < all.weight()) {
            self.peak = Some((self.ns, all.clone()));
            let mut files = self.processes.iter().map(|(_, process)| process.files());
            self.files = files.try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)));
        }
        self.history.push(self.ns, all, Held::device);
    }

    /// A context's end told its work space to four digits, or that it grew: what is known of the past is put right.
    fn correct(&mut self, correction: &Correction) {
        let Correction { since, name, was, is } = correction;
        let right = |held: &mut Held| {
            if let Some(share) = held.find(Kind::Compute, name) {
                share.bytes = share.bytes.saturating_sub(*was).saturating_add(*is);
            }
        };
        self.history.since_mut(*since).for_each(right);
        if let Some((_, held)) = self.peak.as_mut().filter(|(ns, _)| ns >= since) {
            right(held);
        }
        let largest = self.history.within(*since, self.ns).max_by_key(|held| held.weight());
        if let (Some(largest), Some((ns, held))) = (largest, &mut self.peak)
            && held.weight() < largest.weight()
        {
            (*ns, *held) = (self.ns, largest.clone());
        }
    }

    /// A table counts only behind a real context: those of a fit are projections.
    fn begin_table(&mut self, at: usize) {
        let process = &self.processes[at].1;
        if !process.computes() {
            self.table_open = false;
            return;
        }
        let mut lines = Held::default();
        let weights = process.models.first().into_iter().flat_map(|m| &m.held.shares);
        for share in weights.filter(|s| s.kind == Kind::Model) {
            lines.add(share.kind, &share.name, share.bytes);
        }
        if let Some(context) = process.contexts.first() {
            lines.add_all(&context.held);
            lines.add_all(&context.compute);
        }
        self.table_open = true;
        self.table = Some(Table { ns: self.ns, rows: Vec::new(), lines });
    }

    fn row(&mut self, name: String, cells: Cells) {
        if let Some(table) = self.table.as_mut().filter(|t| self.table_open && t.rows.len() < MOST_ROWS) {
            table.rows.push((name, cells));
        }
    }

    fn record(&mut self, at: usize, text: &[u8]) {
        let rows = breakdown::record(text);
        if !rows.is_empty() {
            self.begin_table(at);
            rows.into_iter().for_each(|(name, cells)| self.row(shown(&name), cells));
        }
    }
}

/// A name from the log as reports show it.
fn shown(name: &[u8]) -> String {
    printable(&name[..name.len().min(NAME)])
}

#[cfg(test)]
#[path = "holding_tests.rs"]
mod tests;
