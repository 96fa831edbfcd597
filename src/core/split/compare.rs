//! Two splits row by row. Unknown is neither 0 nor a change.

use super::{Column, Row, Split, What};

/// How a row of one run is to that of another.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The same to the byte.
    Same,
    /// More or less: bytes, and percent of the base's where that is not 0.
    By(i64, Option<f64>),
    /// It is in the new run alone.
    Appeared,
    /// It is in the base run alone.
    Vanished,
    /// One of the two is unknown, with the reason.
    Unknown(String),
}

/// A row of two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The row's name: a kind of [`What`], or `process peak`, `process steady`, `process final`, `unattributed`.
    pub name: &'static str,
    /// The buffer type.
    pub buffer: Option<String>,
    /// Bytes in the base run.
    pub base: Option<i64>,
    /// Bytes in the new run.
    pub new: Option<i64>,
    /// What became of it.
    pub change: Change,
}

/// All rows of both splits: the process's figures, the parts, the rest.
pub fn differences(base: &Split, new: &Split) -> Vec<Difference> {
    let mut all: Vec<Difference> = [
        ("process peak", base.peak, new.peak),
        ("process steady", base.steady, new.steady),
        ("process final", base.last, new.last),
    ]
    .into_iter()
    .map(|(name, a, b)| whole(name, a, b, base, new))
    .collect();
    for row in &base.rows {
        let other = new.rows.iter().find(|r| same(r, row));
        all.push(part(row, Some(row), other, new.loaded));
    }
    for row in new.rows.iter().filter(|row| !base.rows.iter().any(|r| same(r, row))) {
        all.push(part(row, None, Some(row), base.loaded));
    }
    let why = [base, new].into_iter().find_map(|split| split.unattributed_why.clone());
    let (a, b) = (base.peak.unattributed, new.peak.unattributed);
    all.push(Difference { name: "unattributed", buffer: None, base: a, new: b, change: change(a, b, why) });
    all
}

fn same(a: &Row, b: &Row) -> bool {
    a.what == b.what && a.buffer == b.buffer
}

fn signed(bytes: Option<u64>) -> Option<i64> {
    bytes.and_then(|bytes| i64::try_from(bytes).ok())
}

fn whole(name: &'static str, a: Column, b: Column, base: &Split, new: &Split) -> Difference {
    let (a, b) = (signed(a.process), signed(b.process));
    let why = [base, new].into_iter().find_map(|split| split.process_why.clone());
    Difference { name, buffer: None, base: a, new: b, change: change(a, b, why) }
}

/// A part that is in one run alone has appeared or vanished when the other's log would have told of it.
fn part(row: &Row, base: Option<&Row>, new: Option<&Row>, other_loaded: bool) -> Difference {
    let bytes = |row: Option<&Row>| row.and_then(|row| signed(row.bytes));
    let (a, b) = (bytes(base), bytes(new));
    let why =
        [base, new].into_iter().flatten().find(|row| row.bytes.is_none()).and_then(|row| row.why.clone());
    let change = match (base, new) {
        (Some(_), Some(_)) => change(a, b, why),
        _ if !other_loaded => Change::Unknown("the other run's log tells of no model's buffers".to_owned()),
        (None, _) if b.is_some() => Change::Appeared,
        (_, None) if a.is_some() => Change::Vanished,
        _ => change(a, b, why),
    };
    Difference { name: What::name(row.what), buffer: row.buffer.clone(), base: a, new: b, change }
}

fn change(base: Option<i64>, new: Option<i64>, why: Option<String>) -> Change {
    let (Some(base), Some(new)) = (base, new) else {
        return Change::Unknown(why.unwrap_or_else(|| "one of the two is unknown".to_owned()));
    };
    let by = new.saturating_sub(base);
    if by == 0 {
        return Change::Same;
    }
    Change::By(by, (base != 0).then(|| by as f64 / base.unsigned_abs() as f64 * 100.0))
}
