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
        fill(&mut rows, phases.spans(), series);
    }
    rows
}

/// Puts the samples' figures into the rows. Samples that are not kept were like the one behind them, at equal distances.
fn fill(rows: &mut [Row], spans: &[Span], series: &Series) {
    let mut known: Vec<Vec<(u64, u64)>> = vec![Vec::new(); rows.len()];
    let mut before_ns = None;
    for (sample, unkept) in series.entries() {
        let since = before_ns.replace(sample.ns).unwrap_or(sample.ns);
        let Some(bytes) = sample.gtt_bytes else { continue };
        let mut count = |phase: Phase, n: u64| {
            if let Some(place) = rows.iter().position(|row| row.phase == phase).filter(|_| n > 0) {
                known[place].push((bytes, n));
            }
        };
        let behind = spans.partition_point(|span| span.from <= since).saturating_sub(1);
        for span in spans[behind.min(spans.len())..].iter().take_while(|span| span.from <= sample.ns) {
            let own = span.from <= sample.ns && span.until.is_none_or(|until| sample.ns < until);
            let overlap = span.until.unwrap_or(u64::MAX).min(sample.ns).saturating_sub(span.from.max(since));
            let share = u128::from(unkept) * u128::from(overlap) / u128::from((sample.ns - since).max(1));
            count(span.phase, u64::from(own) + u64::try_from(share).unwrap_or(u64::MAX));
        }
    }
    for (row, known) in rows.iter_mut().zip(&mut known) {
        known.sort_unstable();
        row.samples = known.iter().map(|(_, n)| n).sum();
        row.peak = known.last().map(|(bytes, _)| *bytes);
        row.median = median(known, row.samples);
    }
}

/// The lower of two middle ones.
fn median(known: &[(u64, u64)], all: u64) -> Option<u64> {
    let middle = all.checked_sub(1)? / 2;
    let mut passed = 0;
    known.iter().find_map(|(bytes, n)| {
        passed += n;
        (passed > middle).then_some(*bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::book::Book;
    use crate::core::lines::Line;
    use crate::core::memory::sample::Sample;

    #[test]
    fn samples_that_are_not_kept_count_in_their_phases() {
        let mut book = Book::default();
        for (ns, text) in [
            (100, "llama_model_loader: loaded meta data with 24"),
            (1_000, "llama_context: constructing llama_context"),
            (2_000, "generate: n_ctx = 4096, n_batch"),
        ] {
            let line = Line { ns, bytes: text.as_bytes(), first: true, last: true, terminated: true };
            book.take(&line, |_, _| {});
        }
        let mut series = Series::default();
        for ns in (0..3_000).step_by(10) {
            let gtt_bytes = Some(if ns < 2_600 { 7 } else { 9 });
            series.push(Sample { ns, gtt_bytes, ..Sample::default() });
        }
        let rows = rows(&book.phases, Some(&series));
        let shown: Vec<_> = rows.iter().map(|r| (r.phase.name(), r.samples, r.peak, r.median)).collect();
        // 90, 100 and 100 were taken in them: shares of a stretch are rounded down.
        assert_eq!(
            shown,
            [
                ("load", 89, Some(7), Some(7)),
                ("context", 99, Some(7), Some(7)),
                ("run", 99, Some(9), Some(7))
            ]
        );
    }
}
