//! The models and contexts of one process, as objects with a life.

mod block;

use crate::core::holding::buffers::Held;
use crate::core::parse::llama::Kind;

/// More of them than any run holds at once.
const MOST: usize = 64;
/// Half of the last digit of `%8.2f` MiB, and a little more.
const ROUNDING: u64 = 6_000;

/// A loaded model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Its weights and adapters.
    pub held: Held,
    /// Bytes of its file's tensors.
    pub file_bytes: Option<u64>,
    /// A context was made on it.
    used: bool,
    /// It is a trial's, without memory.
    trial: bool,
}

/// A context.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// When it was made, ns.
    pub since: u64,
    /// Keys, values, state, output.
    pub held: Held,
    /// Its work space as reserved last.
    pub compute: Held,
    nodes: Option<u64>,
    /// Its times were printed: whatever is made next takes its place.
    over: bool,
    /// The lines of its end that have come.
    farewells: usize,
    trial: bool,
}

/// What was put right in a context's work space by the words of its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// Since when the context was there, ns.
    pub since: u64,
    /// The buffer type.
    pub name: String,
    /// Bytes as they were reserved.
    pub was: u64,
    /// Bytes as they were at the end.
    pub is: u64,
}

/// One process's memory, as its log tells it.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Models alive, the oldest first.
    pub models: Vec<Model>,
    /// Contexts alive, the oldest first.
    pub contexts: Vec<Context>,
    /// Projectors.
    pub projector: Held,
    projector_on: String,
    /// A trial without memory is going on.
    trial: bool,
    /// Work space whose context is not certain yet.
    block: Held,
}

impl Process {
    /// Everything that is held now. False beside it: some of it was too much to keep apart.
    pub fn held(&self) -> (Held, bool) {
        let mut all = Held::default();
        let mut fits = all.add_all(&self.projector);
        for model in self.models.iter().filter(|m| !m.trial) {
            fits &= all.add_all(&model.held);
        }
        for context in self.contexts.iter().filter(|c| !c.trial) {
            fits &= all.add_all(&context.held) && all.add_all(&context.compute);
        }
        (all, fits)
    }

    /// A trial without memory is going on.
    pub fn is_trial(&self) -> bool {
        self.trial
    }

    /// A real context is alive.
    pub fn computes(&self) -> bool {
        self.contexts.iter().any(|c| !c.trial)
    }

    /// A model's file was opened. Another one while a context lives; else the last one is gone, which prints nothing.
    pub fn load(&mut self) {
        self.settle(None);
        self.bury();
        // One trial follows another, and none of them holds anything.
        self.models.retain(|m| !m.trial);
        self.contexts.retain(|c| !c.trial);
        if self.contexts.is_empty() {
            self.models.retain(|m| !m.used);
        }
        if self.models.len() < MOST {
            self.models.push(Model { trial: self.trial, ..Model::default() });
        }
    }

    /// The size of the tensors of the model that is being loaded.
    pub fn file_size(&mut self, bytes: u64) {
        if let Some(model) = self.models.last_mut() {
            model.file_bytes = Some(bytes);
        }
    }

    /// Bytes of the tensors of all files that are loaded, when each one's is known.
    pub fn files(&self) -> Option<u64> {
        let real = self.models.iter().filter(|m| !m.trial && !m.held.shares.is_empty());
        real.map(|m| m.file_bytes).try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)))
    }

    /// What follows is a trial, or is none. The model that is being loaded is told so by this.
    pub fn set_trial(&mut self, trial: bool) {
        if self.trial && !trial {
            self.end_trial();
        }
        self.trial = trial;
        if let Some(model) = self.models.last_mut().filter(|m| !m.used && m.held.shares.is_empty()) {
            model.trial = trial;
        }
    }

    /// The fit is over: nothing of it stays.
    pub fn end_trial(&mut self) {
        self.settle(None);
        self.trial = false;
        // The model that was opened last may be the real one already, whose own word is still to come.
        let last = self.models.len().saturating_sub(1);
        let mut place = 0;
        self.models.retain(|m| {
            place += 1;
            !m.trial || place > last && !m.used && m.held.shares.is_empty()
        });
        self.contexts.retain(|c| !c.trial);
    }

    /// A buffer of a model, an adapter or a projector.
    pub fn weights(&mut self, kind: Kind, name: &str, bytes: u64) -> bool {
        match kind {
            Kind::Clip => {
                let name = std::mem::take(&mut self.projector_on);
                let name = if name.is_empty() { "unknown" } else { &name };
                return self.projector.add(kind, name, bytes);
            }
            Kind::ClipCompute => {
                if let Some(share) = self.projector.find(kind, name) {
                    share.bytes = bytes;
                    return true;
                }
                return self.projector.add(kind, name, bytes);
            }
            _ => {}
        }
        if self.models.is_empty() {
            // A log that begins in the middle.
            self.models.push(Model { trial: self.trial, ..Model::default() });
        }
        self.models.last_mut().is_some_and(|model| model.held.add(kind, name, bytes))
    }

    /// The next projector lies here.
    pub fn projector(&mut self, name: String) {
        self.projector_on = name;
    }

    /// A context is being made.
    pub fn context(&mut self, ns: u64) {
        self.settle(None);
        self.bury();
        for model in &mut self.models {
            model.used = true;
        }
        if self.contexts.len() < MOST {
            self.contexts.push(Context { since: ns, trial: self.trial, ..Context::default() });
        }
    }

    /// A buffer that a context keeps.
    pub fn state(&mut self, ns: u64, kind: Kind, name: &str, bytes: u64) -> bool {
        self.young(ns).is_some_and(|context| context.held.add(kind, name, bytes))
    }

    /// A context's times were printed. llama-bench frees it then; older versions print nothing more.
    pub fn over(&mut self) {
        if let Some(context) = self.contexts.iter_mut().find(|c| !c.over) {
            context.over = true;
        }
    }

    /// The process goes: every context ends.
    pub fn all_over(&mut self) {
        self.contexts.iter_mut().for_each(|context| context.over = true);
    }

    /// A context ends, with the size of one of its buffers at the end.
    pub fn destroyed(&mut self, name: &str, bytes: u64, expected: u64) -> Option<Correction> {
        self.settle(None);
        let close = |a: u64, b: u64| a.abs_diff(b) <= ROUNDING;
        let fits = |c: &Context| {
            c.compute.shares.iter().any(|s| s.name == name && close(s.bytes, expected))
                || c.compute.shares.is_empty()
        };
        // The youngest goes first when two look alike, as a draft's does.
        let at = self.contexts.iter().rposition(|c| !c.trial && fits(c))?;
        let context = &mut self.contexts[at];
        context.farewells += 1;
        let was = context
            .compute
            .find(Kind::Compute, name)
            .map_or(0, |share| std::mem::replace(&mut share.bytes, bytes));
        let correction = Correction { since: context.since, name: name.to_owned(), was, is: bytes };
        if context.farewells >= context.compute.shares.len() {
            self.contexts.remove(at);
        }
        (was > 0).then_some(correction)
    }

    /// A draft model was loaded for nothing: the youngest model and its context go.
    pub fn drop_draft(&mut self) {
        if self.models.len() > 1 {
            self.models.pop();
            if self.contexts.len() > 1 {
                self.contexts.pop();
            }
        }
    }

    /// Nothing is held any more.
    pub fn clear(&mut self) {
        *self = Process::default();
    }

    /// Contexts whose end was announced are gone once something new is made.
    fn bury(&mut self) {
        // One that has said a part of its farewell says no more of it.
        self.contexts.retain(|c| !c.over && c.farewells == 0);
    }

    /// The context that is being made.
    fn young(&mut self, ns: u64) -> Option<&mut Context> {
        if self.contexts.is_empty() {
            // A log that begins in the middle.
            self.context(ns);
        }
        self.contexts.last_mut()
    }
}
