//! Where a run was when: from the marks that llama.cpp's log has.

use crate::core::event::{Event, Sink};
use crate::core::lines::Line;
use crate::core::parse::llama::Word;

/// More spans than that are not kept apart: the last one goes on.
const MOST: usize = 8192;
/// What is printed while a warm-up goes on.
const DURING: [&str; 6] = [
    "sched_reserve:",
    "graph_reserve:",
    "set_warmup: value = 1",
    "lora",
    "attach_threadpool",
    "resolve_fused",
];

/// A phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Parameters are fitted, without memory.
    Fit,
    /// A model is loaded.
    Load,
    /// A context is made.
    Context,
    /// The first decode.
    WarmUp,
    /// Prompts and tokens, or waiting for them.
    Run,
    /// Contexts end.
    TearDown,
}

impl Phase {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Fit => "fit",
            Phase::Load => "load",
            Phase::Context => "context",
            Phase::WarmUp => "warm-up",
            Phase::Run => "run",
            Phase::TearDown => "tear-down",
        }
    }
}

/// A stretch of one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which.
    pub phase: Phase,
    /// Its first moment, ns.
    pub from: u64,
    /// Its last moment, ns; `None` = it goes on.
    pub until: Option<u64>,
}

/// The phases of a run, in their order.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    ns: u64,
    spans: Vec<Span>,
    trial: bool,
    /// Decodes that were prepared since the context was made (llama-bench).
    decodes: u32,
    /// The warm-up has a line of its own.
    told: bool,
    /// A line told that something runs since the context was made.
    ran: bool,
    /// Changes that found no room.
    pub dropped: u64,
}

impl Sink for Phases {
    fn line(&mut self, line: &Line<'_>) {
        self.ns = line.ns;
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Llama(said) => self.word(said.word),
            Event::Text(text) => self.text(text),
            _ => {}
        }
    }
}

impl Phases {
    /// The phase that goes on.
    pub fn now(&self) -> Option<Phase> {
        self.spans.last().filter(|s| s.until.is_none()).map(|s| s.phase)
    }

    /// All spans by time.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// From the end of the first load and its context to the beginning of the last tear-down, ns: what is steady lies
    /// between. `None` while it has not begun; without a tear-down it has no end.
    pub fn steady(&self) -> Option<(u64, Option<u64>)> {
        let begins = self.spans.iter().find(|s| matches!(s.phase, Phase::WarmUp | Phase::Run))?;
        let ends = self.spans.iter().rev().take_while(|s| matches!(s.phase, Phase::TearDown));
        Some((begins.from, ends.last().map(|s| s.from)))
    }

    /// The same for samples, of which the last is at `last`, ns.
    pub fn steady_until(&self, last: u64) -> Option<(u64, u64)> {
        let (from, until) = self.steady()?;
        let until = until.unwrap_or(last);
        (from <= until).then_some((from, until))
    }

    /// The first span of a phase.
    pub fn first(&self, phase: Phase) -> Option<Span> {
        self.spans.iter().find(|s| s.phase == phase).copied()
    }

    /// A warm-up ends with the next line that llama.cpp prints; what the backend prints is of it.
    fn text(&mut self, text: &[u8]) {
        if self.now() != Some(Phase::WarmUp) || !self.told {
            return;
        }
        let has = |words: &[u8]| memchr::memmem::find(text, words).is_some();
        let backend = text.windows(3).any(|w| w.eq_ignore_ascii_case(b"hrx")) || has(b"resident=");
        if !backend && !DURING.iter().any(|words| has(words.as_bytes())) {
            self.enter(Phase::Run);
        }
    }

    fn word(&mut self, word: Word<'_>) {
        match word {
            Word::FitBegins => self.enter(Phase::Fit),
            Word::FitEnds => self.leave(),
            Word::NoAlloc(trial) => {
                self.trial = trial;
                self.enter(if trial { Phase::Fit } else { Phase::Load });
            }
            // In a fit it is a trial's, until its own word says otherwise.
            Word::Loading if self.now() != Some(Phase::Fit) => self.enter(Phase::Load),
            Word::Context if !self.trial => {
                (self.decodes, self.told, self.ran) = (0, false, false);
                self.enter(Phase::Context);
            }
            Word::Reserved | Word::Nodes(_) if self.now() == Some(Phase::Context) => self.enter(Phase::Run),
            Word::WarmUp => {
                self.told = true;
                self.warm_up();
            }
            Word::Threads => self.decode(),
            Word::Running => {
                self.ran = true;
                self.enter(Phase::Run);
            }
            Word::TearDown => {
                self.only_one_decode();
                self.enter(Phase::TearDown);
            }
            Word::Destroyed { .. } | Word::Closing => self.enter(Phase::TearDown),
            Word::Asleep => self.leave(),
            _ => {}
        }
    }

    /// llama-bench prepares its warm-up and each of its runs with the same line.
    fn decode(&mut self) {
        self.decodes = self.decodes.saturating_add(1);
        match self.now() {
            Some(Phase::Run) if self.decodes == 1 && !self.told => self.warm_up(),
            Some(Phase::WarmUp) if self.decodes > 1 => self.enter(Phase::Run),
            _ => {}
        }
    }

    /// What lies between a context's last line and its warm-up is of the context.
    fn warm_up(&mut self) {
        if let [.., Span { phase: Phase::Context, .. }, Span { phase: Phase::Run, until: None, .. }] =
            self.spans.as_slice()
            && !self.ran
        {
            self.spans.pop();
            if let Some(context) = self.spans.last_mut() {
                context.until = None;
            }
        }
        self.enter(Phase::WarmUp);
    }

    /// One decode alone was no warm-up but the run.
    fn only_one_decode(&mut self) {
        if let Some(span) = self.spans.last_mut().filter(|s| s.phase == Phase::WarmUp)
            && self.decodes == 1
            && !self.told
        {
            span.phase = Phase::Run;
        }
    }

    fn enter(&mut self, phase: Phase) {
        if self.now() == Some(phase) {
            return;
        }
        if self.spans.len() == MOST {
            self.dropped += 1;
            return;
        }
        self.leave();
        self.spans.push(Span { phase, from: self.ns, until: None });
    }

    fn leave(&mut self) {
        if self.dropped == 0
            && let Some(span) = self.spans.last_mut().filter(|s| s.until.is_none())
        {
            span.until = Some(self.ns);
        }
    }
}

#[cfg(test)]
#[path = "phases_tests.rs"]
mod tests;
