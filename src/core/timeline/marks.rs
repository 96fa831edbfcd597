//! What the record and the samples add to a timeline: marks of the run, and memory as counters.

use crate::core::duration::show;
use crate::core::memory::series::Series;
use crate::core::phases::Span;
use crate::core::run::{End, Run};
use crate::core::signals;
use crate::core::text::count;
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
    // There is room for them, unless the timeline is for next to nothing.
    let room = usize::try_from(plan.most - drawn.spans).unwrap_or(usize::MAX);
    for span in phases.iter().take(room) {
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
    let left_out = drawn.left_out + phases.len().saturating_sub(room) as u64;
    if !plan.whole || left_out > 0 || drawn.dispatches < drawn.completed {
        all.push((start, trimmed(plan, drawn, left_out)));
    }
    let lost = run.end.as_ref().map_or(0, |end| end.counters.log_lost_lines);
    if lost > 0 {
        all.push((
            start,
            format!("NOT WHOLE: the log lacks {} that the disk did not take", count(lost, "line")),
        ));
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
    if let ("timeout" | "killed-after-grace", Some(limit)) = (end.exit.cause.as_str(), run.limits.timeout_ns)
    {
        let at = run.clock.start_ns.saturating_add(limit);
        all.extend((at <= end.at_ns).then(|| (at, format!("timeout of {}", show(limit)))));
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

/// What is drawn of a run that is not drawn whole: what was done, not what was meant.
fn trimmed(plan: &Plan, drawn: &Drawn, left_out: u64) -> String {
    let first = drawn.dispatches - drawn.last - drawn.slow;
    let whole =
        (first > 0 && left_out == 0).then(|| format!(" (in {})", count(drawn.programs, "whole program")));
    let mut parts = vec![format!("the first {first}{}", whole.unwrap_or_default())];
    parts.push(format!("the last {}", drawn.last));
    if drawn.slow > drawn.some {
        parts.push(format!("elsewhere the {} of at least {}", drawn.slow - drawn.some, show(plan.slow_ns)));
    }
    if drawn.some > 0 {
        parts.push(format!("{} of those of at least {}", drawn.some, show(plan.some_ns)));
    }
    let beside = if left_out > 0 {
        format!("; {} of other kinds left out", count(left_out, "span"))
    } else {
        String::new()
    };
    format!(
        "TRIMMED by --timeline-max {}: {} of {} are drawn: {}{beside}",
        plan.most,
        drawn.dispatches,
        count(plan.all, "dispatch"),
        parts.join(", ")
    )
}
