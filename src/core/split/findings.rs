//! What a reader of the split must know.

use super::{MAX_UNATTRIBUTED, Split, blind};
use crate::core::amount::{MIB, mib, signed_mib};
use crate::core::book::Book;
use crate::core::memory::sample::State;
use crate::core::memory::sums::Sums;
use crate::core::run::Run;
use crate::core::text::count;

/// A sentence of consequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `--strict` fails by it.
    pub fails: bool,
    /// The sentence.
    pub text: String,
}

/// All of them, the failing ones first.
pub fn all(split: &Split, book: &Book, sums: &Sums, run: &Run) -> Vec<Finding> {
    let mut texts: Vec<Finding> = Vec::new();
    let mut add = |fails: bool, text: Option<String>| {
        texts.extend(text.map(|text| Finding { fails, text }));
    };
    add(true, negative(split, sums));
    add(true, too_much(split, run));
    // Of a run that was not asked for a split it is no loss.
    add(true, split.unjudged.clone().filter(|_| run.split));
    add(false, (!split.loaded).then(|| blind::why(run, &book.tally)));
    for text in tables_apart(split).chain(grown(book)) {
        add(false, Some(text));
    }
    add(false, samples(sums));
    add(
        false,
        book.resumed.then(|| "lines before the supervisor was killed are not in this split".to_owned()),
    );
    let lost = book.holding.overflow || book.holding.coarse() || book.phases.dropped > 0;
    add(
        false,
        lost.then(|| {
            "the log has more models, contexts or phases than are kept apart: times are coarse".to_owned()
        }),
    );
    texts
}

/// Where llama.cpp's own table and its lines do not agree.
fn tables_apart(split: &Split) -> impl Iterator<Item = String> {
    let cells = split.second.iter().flat_map(|row| row.cells().map(|(cell, pair)| (row, cell, pair)));
    cells.filter(|(.., pair)| !pair.agree).map(|(row, cell, pair)| {
        format!(
            "llama.cpp's own table has {} MiB of {cell} on {}, and its buffer lines have {} MiB: one of the two is wrong, or \
             the table is of another context",
            pair.table_mib,
            row.name,
            mib(pair.lines)
        )
    })
}

/// Compute buffers that did not stay as they were reserved.
fn grown(book: &Book) -> impl Iterator<Item = String> {
    book.holding.grown.iter().map(|(name, reserved, end)| {
        let (reserved, end) = (mib(*reserved), mib(*end));
        format!("the compute buffer {name} grew from {reserved} to {end} MiB after it was reserved")
    })
}

/// The parts are more than the whole.
fn negative(split: &Split, sums: &Sums) -> Option<String> {
    let whole = split.peak.process?;
    let more = split.peak.rows.checked_sub(whole).filter(|more| *more > MIB / 100)?;
    let vram = sums.peak.and_then(|f| f.vram_bytes).filter(|bytes| *bytes > MIB);
    let vram =
        vram.map_or(String::new(), |bytes| format!("; up to {} MiB of VRAM are not in the peak", mib(bytes)));
    Some(format!(
        "not attributed is negative: the parts by llama.cpp's log and the host-weight trace are {} MiB, {} more than the \
         peak of {} MiB by the kernel's fdinfo. One of these sources is wrong{vram}",
        mib(split.peak.rows),
        mib(more),
        mib(whole)
    ))
}

fn limit(run: &Run) -> f64 {
    run.max_unattributed_percent.unwrap_or(MAX_UNATTRIBUTED)
}

fn too_much(split: &Split, run: &Run) -> Option<String> {
    let percent = split.unattributed_share? * 100.0;
    (percent > limit(run)).then(|| {
        format!(
            "{} MiB are not attributed, {percent:.1} % of the peak, more than the {} % that are allowed \
             (--max-unattributed); 10-20 % were seen on recorded runs",
            signed_mib(split.peak.unattributed.unwrap_or(0)),
            limit(run)
        )
    })
}

/// Whether too much is unattributed cannot be told. It can when even all of an unknown row would not be too much.
pub fn not_judged(split: &Split, run: &Run) -> Option<String> {
    let why = split.unattributed_why.as_ref()?;
    let bounded = split.peak.process.filter(|whole| split.loaded && *whole > 0).is_some_and(|whole| {
        let most = whole.saturating_sub(split.peak.rows) as f64 / whole as f64;
        most * 100.0 <= limit(run)
    });
    (!bounded).then(|| format!("how much is not attributed is unknown: {why}"))
}

/// What the sampler could not see.
fn samples(sums: &Sums) -> Option<String> {
    let of = |state: State| sums.states.get(state.word()).copied().unwrap_or(0);
    let parts = [
        (of(State::Partial), "a client whose memory the kernel did not tell"),
        (of(State::Denied), "a process that may not be read"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} of {} without {what}", count(sums.samples, "sample")))
        .collect();
    (!parts.is_empty()).then(|| format!("{}: the process has at least what is shown", parts.join(", ")))
}
