//! What a reader should know first, in words with the number behind each.

mod profile;

use crate::core::duration::show;
use crate::core::memory::seen::Sampling;
use crate::core::memory::series::Series;
use crate::core::memory::sums::{Figures, Sums};
use crate::core::text::count;
use crate::report::Subject;
use crate::report::page::charts::mib;
use crate::report::view::percent;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// The numbers are wrong, or missing, or something went wrong.
    Bad,
    /// The numbers need care, or something is out of its usual range.
    Care,
    /// A fact.
    Fact,
    /// As it should be.
    Good,
}

impl Weight {
    /// Its class in the style sheet, and its word.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Weight::Bad => ("bad", "wrong"),
            Weight::Care => ("warn", "care"),
            Weight::Fact => ("fact", "fact"),
            Weight::Good => ("good", "good"),
        }
    }
}

/// One finding.
pub type Finding = (Weight, String);

/// All findings, the gravest first.
pub fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut all = Vec::new();
    ending(&mut all, subject);
    lost(&mut all, subject);
    match subject.book {
        Some(book) if !subject.no_dispatch() => {
            profile::open(&mut all, subject, &book.profile);
            profile::hottest(&mut all, subject, &book.profile);
            profile::trust(&mut all, subject, &book.profile);
        }
        Some(_) if subject.run.profile || subject.run.tool.name.is_empty() => {
            all.push((
                Weight::Bad,
                "No dispatch was traced: the text report below says why that may be.".to_owned(),
            ));
        }
        Some(_) => all.push((
            Weight::Fact,
            "No profile: it was not asked for (-p), so there is nothing to say about kernels.".to_owned(),
        )),
        None if subject.run.tool.name.is_empty() => {
            all.push((Weight::Fact, "There is no trace: samples of memory alone were given.".to_owned()));
        }
        None => all.push((Weight::Bad, "The sums of the lines were lost, and no log was kept.".to_owned())),
    }
    sampled(&mut all, subject);
    split(&mut all, subject);
    all.sort_by_key(|(weight, _)| *weight);
    all
}

fn ending(all: &mut Vec<Finding>, subject: &Subject<'_>) {
    if let Some(why) = subject.partial() {
        all.push((Weight::Bad, format!("Not the whole story: {why}.")));
    }
    let Some(end) = &subject.run.end else { return };
    match (end.exit.code, subject.duration_ns()) {
        (Some(0), Some(ns)) if subject.partial().is_none() => {
            all.push((Weight::Good, format!("The target exited with 0 after {}.", show(ns))));
        }
        (Some(code), _) if code != 0 => all.push((Weight::Bad, format!("The target exited with {code}."))),
        _ => {}
    }
    for (list, what) in [(&end.unkillable, "could not be killed"), (&end.leftovers, "outlived the target")] {
        if !list.is_empty() {
            let names: Vec<String> = list.iter().map(|p| format!("{} ({})", p.pid, p.name)).collect();
            all.push((
                Weight::Care,
                format!("{} {what}: {}.", count(list.len() as u64, "process"), names.join(", ")),
            ));
        }
    }
}

/// What of the trace is missing.
fn lost(all: &mut Vec<Finding>, subject: &Subject<'_>) {
    if subject.source.torn {
        all.push((Weight::Care, "The trace is cut: it ends inside a line, which is not counted.".to_owned()));
    }
    let Some(c) = subject.counters() else { return };
    if c.log_lost_bytes > 0 {
        all.push((
            Weight::Bad,
            format!(
                "The disk did not take {} of the log ({} bytes).",
                count(c.log_lost_lines, "line"),
                c.log_lost_bytes
            ),
        ));
    }
    if c.stalls > 0 {
        all.push((
            Weight::Care,
            format!(
                "The target waited {} for our ring, {} in all.",
                count(c.stalls, "time"),
                show(c.stall_ns)
            ),
        ));
    }
    if c.broken > 0 {
        let part = percent(c.broken, c.trace_lines + c.broken);
        all.push((
            Weight::Care,
            format!("{} of the trace could not be read ({part} %).", count(c.broken, "line")),
        ));
    }
}

/// What the split found, and the question that it is made for: is the packed copy there twice, and does it stay?
fn split(all: &mut Vec<Finding>, subject: &Subject<'_>) {
    let Some(split) = subject.split() else { return };
    for finding in &split.findings {
        all.push((if finding.fails { Weight::Bad } else { Weight::Care }, finding.text.clone()));
    }
    let packed = split.packed();
    if let (Some(bytes), Some(share)) = (packed.and_then(|row| row.bytes), split.duplicate_share) {
        let steady = match packed.and_then(|row| row.steady_bytes) {
            Some(0) => "gone in steady state".to_owned(),
            Some(left) => format!("still there in steady state ({})", mib(left)),
            None => "whether it stays is unknown".to_owned(),
        };
        all.push((
            Weight::Care,
            format!(
                "Packed copies: {}, {:.1} % of the loader's weights, {steady}.",
                mib(bytes),
                share * 100.0
            ),
        ));
    }
    if let Some(share) = split.unattributed_share {
        all.push((
            Weight::Fact,
            format!("Unattributed GTT: {:.1} % of the peak (usual: below 20 %).", share * 100.0),
        ));
    }
}

/// Peak beside steady, and holes in the samples, which hide what was in them.
fn sampled(all: &mut Vec<Finding>, subject: &Subject<'_>) {
    let Some(sums) = subject.sums() else { return };
    let elsewhere = subject.run.sampling.as_ref().and_then(Sampling::elsewhere);
    all.extend(elsewhere.map(|from| (Weight::Care, format!("GPU memory: {from}."))));
    let gtt = |figures: Option<Figures>| figures.and_then(|f| f.gtt_bytes);
    match (gtt(sums.peak), gtt(sums.steady)) {
        (Some(peak), Some(steady)) => all.push((
            Weight::Fact,
            format!(
                "GTT: peak {}, steady {}{}.",
                mib(peak),
                mib(steady),
                if peak > 0 { format!(" ({} % of the peak)", percent(steady, peak)) } else { String::new() }
            ),
        )),
        _ => all.push((
            Weight::Care,
            format!(
                "No amount of GTT in {}: no client of the driver was seen, or none that says it.",
                count(sums.samples, "sample")
            ),
        )),
    }
    gaps(all, subject, &sums);
}

/// Holes in the samples: between them, and behind the last one.
fn gaps(all: &mut Vec<Finding>, subject: &Subject<'_>, sums: &Sums) {
    let asked = subject.run.sampling.as_ref().map(|s| s.interval_ns);
    let Some(interval) = asked.or_else(|| usual_step(subject.memory?, sums)) else { return };
    let much = interval.saturating_mul(4);
    if let Some(gap) = sums.longest_gap_ns.filter(|gap| *gap > much) {
        let step = if asked.is_some() { "asked for" } else { "usual in it" };
        all.push((
            Weight::Care,
            format!(
                "Sampler gap of {} ({step}: one sample every {}): a peak in it was not seen.",
                show(gap),
                show(interval)
            ),
        ));
    }
    let last = subject.memory.and_then(|series| series.samples().next_back());
    let end = subject.run.end.as_ref().map(|end| end.at_ns);
    if let (Some(last), Some(end)) = (last, end)
        && let Some(gap) = end.checked_sub(last.ns).filter(|gap| *gap > much)
    {
        all.push((
            Weight::Care,
            format!(
                "The last sample is {} before the target's end: a peak behind it was not seen.",
                show(gap)
            ),
        ));
    }
}

/// The mean step from one sample to the next, the longest left out, ns. Samples that say the same are kept as one, so their
/// number and the whole time have to tell.
fn usual_step(series: &Series, sums: &Sums) -> Option<u64> {
    let (first, last) = (series.samples().next()?, series.samples().next_back()?);
    let others = last.ns.checked_sub(first.ns)?.checked_sub(sums.longest_gap_ns?)?;
    others.checked_div(sums.samples.saturating_sub(2)).filter(|step| *step > 0)
}
