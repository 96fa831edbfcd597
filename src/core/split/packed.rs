//! The packed copies: what the host-weight trace tells, or why it is unknown and what bounds it.

use super::{Row, Split, What};
use crate::core::book::Book;
use crate::core::memory::series::Series;
use crate::core::parse::llama::Place;
use crate::core::phases::Phase;
use crate::core::run::Run;

/// The switch.
pub const SWITCH: &str = "GGML_HRX_HOST_WEIGHT_TRACE";

/// What the samples say of packed copies that no trace tells of, bytes. They hold whatever else came with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// GTT behind the first decode less GTT before it.
    pub first_decode: Option<i64>,
    /// Steady GTT less the known rows.
    pub steady_rest: Option<i64>,
}

/// The row of packed copies. `then`: what they were in the steady state and at the end.
pub fn row(book: &Book, run: &Run, then: [Option<u64>; 2]) -> Row {
    let largest = book.weights.largest();
    let [steady_bytes, final_bytes] = then.map(|bytes| bytes.filter(|_| largest.is_some()));
    Row {
        what: What::Packed,
        buffer: None,
        place: Place::Device,
        bytes: largest.map(|(_, resident)| resident.bytes),
        steady_bytes,
        final_bytes,
        count: largest.and_then(|(_, resident)| resident.count),
        why: largest.is_none().then(|| unknown(book, run)),
    }
}

/// Why there is no figure: the first reason that fits.
fn unknown(book: &Book, run: &Run) -> String {
    let set = run.changed.env.iter().rev().find_map(|v| v.strip_prefix(SWITCH)?.strip_prefix('='));
    let recorded = !run.tool.name.is_empty();
    let hrx = book.holding.hrx || book.tally.trace_lines > 0;
    if book.weights.unread > 0 {
        format!(
            "{} lines of the host-weight trace have no amount that can be read: --packed-pattern names where it stands",
            book.weights.unread
        )
    } else if book.holding.loads == 0 {
        "the log tells of no model load".to_owned()
    } else if !hrx {
        "HRX is not seen in the log: no other backend is known to make or trace packed copies".to_owned()
    } else if recorded && set.is_none_or(|value| value.is_empty() || value == "0") {
        format!("{SWITCH} was not set for the target: -s sets it")
    } else if book.weights.has_pattern() {
        "no line fits the given --packed-pattern".to_owned()
    } else {
        let set = if recorded { "is set" } else { "may not have been set" };
        format!(
            "{SWITCH} {set} and no host-weight line came: an older build, or other words (--packed-pattern)"
        )
    }
}

/// What bounds an unknown row.
pub fn bounds(book: &Book, series: Option<&Series>, split: &Split) -> Bounds {
    let unknown = split.packed().is_none_or(|row| row.bytes.is_none());
    let Some(series) = series.filter(|_| unknown && split.loaded) else { return Bounds::default() };
    let difference = |a: u64, b: u64| i64::try_from(i128::from(a) - i128::from(b)).ok();
    let decode = book.phases.first(Phase::WarmUp).or_else(|| book.phases.first(Phase::Run));
    let first_decode = decode.and_then(|span| {
        let before = series.known_at(span.from)?.gtt_bytes?;
        // A run that was the first decode itself is not over before it ends.
        let behind =
            series.samples().find(|s| span.until.is_some_and(|u| s.ns >= u) && s.gtt_bytes.is_some());
        difference(behind.or_else(|| series.known_at(u64::MAX))?.gtt_bytes?, before)
    });
    let steady_rest = split.steady.process.and_then(|steady| difference(steady, split.steady.rows));
    Bounds { first_decode, steady_rest }
}
