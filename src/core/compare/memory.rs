//! The GTT split of two sides, row by row. Unknown is neither 0 nor a change.

use crate::core::compare::Kind;
use crate::core::compare::facts::Facts;
use crate::core::compare::noise::{Judged, Value, judge};
use crate::core::parse::llama::Place;
use crate::core::split::Split;

/// One figure of a run's memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// What it is of.
    pub name: String,
    /// Bytes; absent when unknown.
    pub bytes: Option<i64>,
    /// Why it is unknown.
    pub why: Option<String>,
    /// The log names it to the byte: it does not scatter from run to run as a sampled one does.
    pub exact: bool,
}

/// A row of the split on both sides. Bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryRow {
    /// What it is of.
    pub name: String,
    /// Whether it is on both sides.
    pub kind: Kind,
    /// Judged, when both sides know it.
    pub judged: Option<Judged>,
    /// The amount on the only side that has it.
    pub alone: Option<f64>,
    /// Why a side does not know it.
    pub why: Option<String>,
}

/// The figures of a run, in the order they are read.
pub fn figures(split: &Split) -> Vec<Figure> {
    let whole = |name: &str, bytes: Option<u64>| Figure {
        name: name.to_owned(),
        bytes: bytes.and_then(|b| i64::try_from(b).ok()),
        why: split.process_why.clone(),
        exact: false,
    };
    let mut all = vec![
        whole("process peak", split.peak.process),
        whole("process steady", split.steady.process),
        whole("process final", split.last.process),
    ];
    all.extend(split.rows.iter().map(|row| {
        let place = if row.place == Place::Host { ", host" } else { "" };
        let buffer = row.buffer.as_ref().map_or(String::new(), |b| format!(" {b}"));
        Figure {
            name: format!("{}{buffer}{place}", row.what.name()),
            bytes: row.bytes.and_then(|b| i64::try_from(b).ok()),
            why: row.why.clone(),
            exact: true,
        }
    }));
    all.push(Figure {
        name: "not attributed".to_owned(),
        bytes: split.peak.unattributed,
        why: split.unattributed_why.clone(),
        exact: false,
    });
    all
}

/// The rows of both sides.
pub fn rows(base: &[Facts], new: &[Facts], threshold: f64) -> Vec<MemoryRow> {
    let mut names: Vec<&str> = Vec::new();
    for figure in base.iter().chain(new).flat_map(|f| &f.memory) {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    names.into_iter().map(|name| row(name, base, new, threshold)).collect()
}

fn row(name: &str, base: &[Facts], new: &[Facts], threshold: f64) -> MemoryRow {
    // What a run holds that was cut off is as far as it came: it is no more exact than a sample.
    let of = |side: &'_ [Facts]| -> Vec<Figure> {
        let found = side.iter().filter_map(|f| Some((f, f.memory.iter().find(|x| x.name == name)?)));
        found.map(|(f, x)| Figure { exact: x.exact && f.partial.is_none(), ..x.clone() }).collect()
    };
    let (b, n) = (of(base), of(new));
    let values = |side: &[Figure]| -> Vec<Value> {
        let known = side.iter().filter_map(|f| Some((f.bytes?, f.exact)));
        known
            .map(|(bytes, exact)| Value { is: bytes as f64, error: exact.then_some(0.0), freedom: u64::MAX })
            .collect()
    };
    let (vb, vn) = (values(&b), values(&n));
    let why = b.iter().chain(&n).find(|f| f.bytes.is_none()).and_then(|f| f.why.clone());
    let judged = judge(&vb, &vn, threshold);
    // A whole log that tells of a model's other buffers would have told of this one.
    let told = |side: &[Facts]| side.iter().any(|f| f.tells_buffers && f.partial.is_none());
    let kind = match (b.is_empty(), n.is_empty()) {
        (true, false) if told(base) => Kind::New,
        (false, true) if told(new) => Kind::Vanished,
        _ => Kind::Both,
    };
    let unknown = judged.is_none() && kind == Kind::Both;
    let alone = crate::core::compare::noise::median(if vb.is_empty() { &vn } else { &vb });
    let cut = |side: &[Facts]| side.iter().any(|f| f.tells_buffers);
    let silent = || {
        let why = if cut(base) && cut(new) { "and was cut off" } else { "and of no model" };
        Some(format!("a side's log tells of no such buffer, {why}"))
    };
    MemoryRow {
        name: name.to_owned(),
        kind,
        judged,
        alone: alone.filter(|_| judged.is_none()),
        why: if unknown { why.or_else(silent) } else { None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::compare::noise::Verdict;

    fn run(figures: &[(&str, Option<i64>, bool)]) -> Facts {
        let memory = figures
            .iter()
            .map(|(name, bytes, exact)| Figure {
                name: (*name).to_owned(),
                bytes: *bytes,
                why: bytes.is_none().then(|| "because".to_owned()),
                exact: *exact,
            })
            .collect();
        Facts { memory, tells_buffers: true, ..Facts::default() }
    }

    #[test]
    fn a_buffer_of_the_log_is_judged_to_the_byte_and_a_sampled_figure_is_not() {
        let base = [run(&[("kv", Some(1_000), true), ("peak", Some(1_000), false)])];
        let rows = rows(&base, &[run(&[("kv", Some(1_200), true), ("peak", Some(1_200), false)])], 0.05);
        let verdicts: Vec<Verdict> = rows.iter().map(|r| r.judged.unwrap().verdict).collect();
        assert_eq!(verdicts, [Verdict::Worse, Verdict::CannotTell(Some(2))]);
    }

    #[test]
    fn unknown_is_no_change_and_keeps_its_reason() {
        let base = [run(&[("packed", None, true), ("gone", Some(5), true)])];
        let rows = rows(&base, &[run(&[("packed", Some(7), true), ("come", Some(9), true)])], 0.05);
        let row = |name: &str| rows.iter().find(|r| r.name == name).unwrap();
        assert_eq!((row("packed").judged, row("packed").why.as_deref()), (None, Some("because")));
        assert_eq!((&row("gone").kind, row("gone").alone), (&Kind::Vanished, Some(5.0)));
        assert_eq!((&row("come").kind, row("come").alone), (&Kind::New, Some(9.0)));
        let cut = Facts { partial: Some("killed".to_owned()), ..run(&[("packed", Some(7), true)]) };
        let rows_cut = super::rows(&base, std::slice::from_ref(&cut), 0.05);
        let gone = rows_cut.iter().find(|r| r.name == "gone").unwrap();
        assert_eq!((&gone.kind, gone.judged), (&Kind::Both, None), "it may only not have been reached");
        assert!(gone.why.as_deref().is_some_and(|why| why.ends_with("was cut off")), "{gone:?}");
        let less = super::rows(&[run(&[("packed", Some(900), true)])], &[cut], 0.05);
        assert_eq!(less[0].judged.map(|j| j.verdict), Some(Verdict::CannotTell(Some(2))));
        let silent = Facts::default();
        let rows = super::rows(&base, &[silent], 0.05);
        assert!(
            rows.iter().all(|r| r.judged.is_none() && r.kind == Kind::Both && r.why.is_some()),
            "{rows:?}"
        );
    }
}
