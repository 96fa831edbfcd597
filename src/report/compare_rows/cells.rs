//! What stands in a comparison's cells: numbers with signs and ranges, and the words of verdicts.

use crate::core::compare::Kind;
use crate::core::compare::noise::{Judged, Twice, Verdict};
use crate::report::view::{Unit, fixed};

/// A number with its sign; in integers behind the point, so that it is the same everywhere.
pub(super) fn signed(ns: f64, scale: u64, digits: u32) -> String {
    let text = fixed(ns.abs().round() as u64, scale, digits);
    let zero = text.chars().all(|c| matches!(c, '0' | '.'));
    let sign = if zero {
        ""
    } else if ns < 0.0 {
        "−"
    } else {
        "+"
    };
    format!("{sign}{text}")
}

pub(super) fn scale(unit: Unit) -> (u64, u32) {
    match unit {
        Unit::Ns => (1, 0),
        Unit::Us => (1_000, 2),
        Unit::Ms => (1_000_000, 4),
    }
}

pub(super) fn plain(ns: f64, unit: Unit) -> String {
    unit.show(ns.max(0.0).round() as u64)
}

/// `30.10 [29.90–30.40]`: a median, and the range of several runs.
pub(super) fn with_range(median: f64, range: Option<(f64, f64)>, unit: Unit) -> String {
    match range {
        Some((least, most)) => {
            format!("{} [{}–{}]", plain(median, unit), plain(least, unit), plain(most, unit))
        }
        None => plain(median, unit),
    }
}

/// A part in percent, signed.
pub fn relative(part: Option<f64>) -> String {
    part.map_or("–".to_owned(), |p| signed(p * 1e6, 10_000, 1))
}

pub(super) fn noise(judged: &Judged) -> String {
    judged
        .relative_noise()
        .map_or("?".to_owned(), |n| format!("±{}", fixed((n * 1e6).round() as u64, 10_000, 1)))
}

/// The verdict on a row that is on both sides, else what it is.
pub(super) fn verdict(kind: &Kind, judged: Option<&Twice>) -> String {
    let words = judged.map_or(String::new(), |twice| match twice.deciding() {
        (typical, true) => {
            format!("{} (median call {} %)", typical.verdict.words(), relative(typical.relative()))
        }
        (whole, false) => whole.verdict.words(),
    });
    match kind {
        Kind::Both => words,
        Kind::New => "new".to_owned(),
        Kind::Vanished => "vanished".to_owned(),
        Kind::Renamed(old) => format!("{words}; renamed, was {old}"),
    }
}

/// The word of a verdict for a script.
pub fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "same",
        Verdict::CannotTell(_) => "cannot-tell",
    }
}
