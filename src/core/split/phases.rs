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
    let phase_at = |ns: u64| {
        let behind = spans.partition_point(|span| span.from <= ns);
        let span = spans.get(behind.checked_sub(1)?)?;
        span.until.is_none_or(|until| ns < until || until == span.from && ns == until).then_some(span.phase)
    };
    let within = series.samples().filter(|s| phase_at(s.ns) == Some(row.phase));
    let mut known: Vec<u64> = within.filter_map(|s| s.gtt_bytes).collect();
    known.sort_unstable();
    row.samples = known.len() as u64;
    row.peak = known.last().copied();
    row.median = known.len().checked_sub(1).and_then(|last| known.get(last / 2)).copied();
}
