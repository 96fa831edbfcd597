//! What the record and the samples add to a timeline: marks of the run, and memory as counters.

use crate::core::duration::show;
use crate::core::memory::series::Series;
use crate::core::phases::Span;
use crate::core::run::{End, Run};
use crate::core::signals;
use crate::core::timeline::{Canvas, Drawn, Facts, Name, Plan, Stretch, Track};

/// What is known beside the dispatches.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    /// The record.
    pub run: &'a Run,
    /// The samples of memory, when there are any.
    pub memory: Option<&'a Series>,
    /// The phases, by time.
    pub phases: &'a [Span],
}

/// Draws them. What was left out of the timeline is said at its beginning.
pub fn marks(canvas: &mut impl Canvas, beside: &Beside<'_>, plan: &Plan, drawn: &Drawn) {
    let Beside { run, memory, phases } = *beside;
    let start = run.clock.start_ns;
    for span in phases {
        // One that goes on does so up to the end that the record knows.
        let until = span.until.or(run.end.as_ref().map(|end| end.at_ns)).map(|until| until.max(span.from));
        let facts = Facts { open: until.is_none(), ..Facts::default() };
        let name = Name::Words(span.phase.name());
        canvas.span(&Stretch { track: Track::Phases, name, from: span.from, until, facts });
    }
    let mut all: Vec<(u64, String)> = Vec::new();
    if start > 0 {
        all.push((start, "start".to_owned()));
    }
    if !plan.whole {
        all.push((start, trimmed(plan, drawn)));
    }
    if let Some(end) = &run.end {
        all.extend(of_end(run, end));
    }
    all.sort_by_key(|(at, _)| *at);
    for (at, words) in all {
        canvas.mark(Track::Marks, &words, at);
    }
    if let Some(series) = memory {
        amounts(canvas, series);
    }
}

/// What happened to a run that has ended, and when.
fn of_end(run: &Run, end: &End) -> Vec<(u64, String)> {
    let mut all: Vec<(u64, String)> = Vec::new();
    for signal in &end.signals {
        all.push((signal.at_ns, format!("{} {}", signals::name(signal.signal), signal.action)));
    }
    for stop in &end.stops {
        all.push((stop.at_ns, format!("stopped by {}", signals::name(stop.signal))));
        all.extend(stop.until_ns.map(|until| (until, "continued".to_owned())));
    }
    if let ("timeout", Some(limit)) = (end.exit.cause.as_str(), run.limits.timeout_ns) {
        all.push((run.clock.start_ns.saturating_add(limit), format!("timeout of {}", show(limit))));
    }
    all.push((end.at_ns, format!("the target's end: {}", end.exit.cause)));
    all
}

/// The samples of memory, as counters.
fn amounts(canvas: &mut impl Canvas, series: &Series) {
    for sample in series.samples() {
        let amounts = [
            (Track::Gtt, sample.gtt_bytes),
            (Track::Vram, sample.vram_bytes),
            (Track::Rss, sample.rss_bytes),
        ];
        for (track, bytes) in amounts {
            // An amount that is not known is no amount: the counter keeps its last one.
            if let Some(bytes) = bytes {
                canvas.bytes(track, sample.ns, bytes);
            }
        }
    }
}

fn trimmed(plan: &Plan, drawn: &Drawn) -> String {
    let slow = if plan.slow_ns == u64::MAX {
        "no others".to_owned()
    } else {
        format!("elsewhere those of at least {}", show(plan.slow_ns))
    };
    format!(
        "TRIMMED by --timeline-max: {} of {} dispatches are drawn: whole programs from the start, the last ones, {slow}",
        drawn.dispatches, plan.all
    )
}
