//! GTT by phase.

use crate::core::memory::series::Series;
use crate::core::phases::{Phase, Phases, Span};

/// A phase's figures. It may have come several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which.
    pub phase: Phase,
    /// How often it came.
    pub times: u64,
    /// Its first moment, ns.
    pub from_ns: u64,
    /// How long it was in all, ns; up to the last sample when it goes on.
    pub total_ns: Option<u64>,
    /// Samples in it whose GTT is known.
    pub samples: u64,
    /// The most GTT in it, bytes.
    pub peak: Option<u64>,
    /// The median of GTT in it, bytes.
    pub median: Option<u64>,
}

/// One row a phase that came, in the order of their first moments.
pub fn rows(phases: &Phases, series: Option<&Series>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for span in phases.spans() {
        let long = span.until.map(|until| until.saturating_sub(span.from));
        match rows.iter_mut().find(|row| row.phase == span.phase) {
            Some(row) => {
                row.times += 1;
                row.total_ns = row.total_ns.zip(long).map(|(a, b)| a.saturating_add(b));
            }
            None => rows.push(Row {
                phase: span.phase,
                times: 1,
                from_ns: span.from,
                total_ns: long,
                samples: 0,
                peak: None,
                median: None,
            }),
        }
    }
    if let Some(series) = series {
        rows.iter_mut().for_each(|row| fill(row, phases.spans(), series));
    }
    rows
}

fn fill(row: &mut Row, spans: &[Span], series: &Series) {
    // A span's last moment is the next one's first, unless it had but one.
    let last = |span: &Span| span.until.map_or(u64::MAX, |until| until.saturating_sub(1).max(span.from));
    let times = spans.iter().filter(|span| span.phase == row.phase).map(|span| (span.from, last(span)));
    let over = series.over(times);
    (row.samples, row.peak, row.median) = (over.samples, over.most, over.median);
}
