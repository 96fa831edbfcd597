//! The report as one page: no network, no fonts, nothing from elsewhere. It is made of the same rows as the text report.

mod axes;
mod charts;
mod findings;
mod markup;
mod memory;
mod programs;
mod split;

use crate::core::compare::Comparison;
use crate::core::memory::sums::{Figures, Sums};
use crate::core::text::{clipped, count};
use crate::report::compare_rows::{Sides, summary, tables};
use crate::report::compare_text::headline;
use crate::report::view::View;
use crate::report::{Subject, text};
use charts::mib;
use findings::findings;
use markup::{Cell, escaped, name, page, table};

/// Phases marked in the curve: a benchmark's loop has thousands.
const MARKS: usize = 12;
/// A name is shown so far.
const LONGEST: usize = 300;

/// The most of the text report that stands in a page, bytes: of a run with hundreds of programs it is longer than the rest.
const LONGEST_TEXT: usize = 256 << 10;

/// The whole page of a run.
pub fn report(subject: &Subject<'_>) -> String {
    let run = subject.run;
    let title = match (&run.label, run.command.first()) {
        (Some(label), _) => label.clone(),
        (None, Some(command)) => command.rsplit('/').next().unwrap_or(command).to_owned(),
        (None, None) => "a kept trace".to_owned(),
    };
    let title = clipped(&title, LONGEST);
    let mut out = format!("<h1>{}</h1>\n", name(&title));
    out.push_str("<h2>Findings</h2>\n<ul class=\"findings\">\n");
    for (weight, words) in findings(subject) {
        let (class, tag) = weight.words();
        out.push_str(&format!("<li class=\"{class}\"><b class=\"tag\">{tag}</b>{}</li>\n", name(&words)));
    }
    out.push_str("</ul>\n");
    out.push_str(&memory_part(subject));
    if let Some(split) = subject.split() {
        out.push_str(&split::part(&split));
    }
    if let (Some(book), false) = (subject.book, subject.no_dispatch()) {
        programs::programs(&mut out, subject, &book.profile);
    }
    out.push_str("<h2>The run</h2>\n<dl class=\"facts\">\n");
    for (fact, value) in text::facts(subject) {
        let value = clipped(&value, 4_000);
        out.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", escaped(&fact), name(&value)));
    }
    out.push_str("</dl>\n");
    out.push_str(&format!(
        "<h2>The text report</h2>\n<details><summary>Show</summary><pre>{}</pre></details>\n",
        name_lines(&text::report(subject))
    ));
    page(&format!("{title} – hrx-wrap"), &out)
}

/// A text of lines: each is safe by itself, and the line ends stay. A very long one is cut, and says so.
fn name_lines(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref() {
        out.push_str(&format!("{}\n", escaped(&clipped(line, 2_000))));
        if out.len() > LONGEST_TEXT {
            break;
        }
    }
    let left = lines.count() as u64;
    if left > 0 {
        out.push_str(&format!("… {} more: hrx-wrap parse prints them all\n", count(left, "line")));
    }
    out
}

fn memory_part(subject: &Subject<'_>) -> String {
    let mut out = "<h2>GPU memory</h2>\n".to_owned();
    let Some(sums) = subject.sums() else {
        let why = if subject.run.sampling.is_some() {
            "the samples are not at hand: they are in gtt.tsv of the run's folder, or were lost with their process"
        } else {
            "this run has no samples of GPU memory"
        };
        out.push_str(&format!("<p class=\"dim\">Unknown: {why}.</p>\n"));
        return out;
    };
    let (from, until) = (subject.run.clock.start_ns, subject.open_until());
    let steady = sums.steady.and_then(|f| f.gtt_bytes);
    let curve = subject.memory.and_then(|series| {
        let from = if from > 0 { from } else { series.samples().next().map_or(0, |s| s.ns) };
        memory::curve(series, from, until, steady, &marks(subject))
    });
    match curve {
        Some(curve) => out.push_str(&curve),
        None => out.push_str(
            "<p class=\"dim\">No curve: not one sample that is at hand has an amount of GTT.</p>\n",
        ),
    }
    out.push_str(&memory_table(&sums));
    out
}

/// Moments to mark in the curve.
fn marks(subject: &Subject<'_>) -> Vec<memory::Mark> {
    let mut marks: Vec<memory::Mark> = Vec::new();
    let phases = subject.book.map_or(&[][..], |book| book.phases.spans());
    marks.extend(phases.iter().take(MARKS).map(|span| (span.from, span.phase.name().to_owned())));
    if let Some(end) = &subject.run.end {
        marks.extend(end.signals.iter().map(|s| (s.at_ns, crate::core::signals::name(s.signal))));
        marks.push((end.at_ns, "end".to_owned()));
    }
    marks.sort_by_key(|(at, _)| *at);
    marks
}

/// One amount: its name, and where it stands.
type Amount = (&'static str, fn(&Figures) -> Option<u64>);

fn memory_table(sums: &Sums) -> String {
    let amounts: [Amount; 5] = [
        ("GTT, resident", |f| f.gtt_bytes),
        ("GTT, allocated", |f| f.gtt_total_bytes),
        ("VRAM", |f| f.vram_bytes),
        ("resident memory of the processes", |f| f.rss_bytes),
        ("GTT of the whole device, used by everybody", |f| f.device_gtt_used_bytes),
    ];
    let head = ["peak", "steady", "final", "what"].map(str::to_owned);
    let rows: Vec<Vec<Cell>> = amounts
        .into_iter()
        .map(|(what, of)| {
            let mut cells: Vec<Cell> = [&sums.peak, &sums.steady, &sums.last]
                .into_iter()
                .map(|figures| figures.as_ref().and_then(of))
                .map(|amount| Cell { text: amount.map_or("unknown".to_owned(), mib), number: amount })
                .collect();
            cells.push(what.to_owned().into());
            cells
        })
        .collect();
    table("GPU memory", &head, &rows, 3)
}

/// The page of comparisons.
pub fn comparison(all: &[(Comparison, Sides)], view: View) -> String {
    let mut out = String::new();
    for (comparison, sides) in all {
        out.push_str(&format!("<h1>{}</h1>\n<ul class=\"findings\">\n", name(&headline(comparison, sides))));
        for line in comparison.refusals() {
            out.push_str(&format!(
                "<li class=\"bad\"><b class=\"tag\">not comparable</b>{}</li>\n",
                name(&line)
            ));
        }
        for line in summary(comparison) {
            let class = if line.starts_with("REGRESSION") { "bad" } else { "fact" };
            out.push_str(&format!("<li class=\"{class}\">{}</li>\n", name(&line)));
        }
        out.push_str("</ul>\n");
        for one in tables(comparison, sides, view) {
            out.push_str(&format!("<h2>{}</h2>\n", name(&one.title)));
            for note in &one.notes {
                out.push_str(&format!("<p class=\"dim\">{}</p>\n", name(note)));
            }
            let cell = |text: &String| Cell::from(clipped(text, LONGEST * 4));
            let rows: Vec<Vec<Cell>> = one.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
            if !rows.is_empty() {
                out.push_str(&table(&one.title, &one.head, &rows, one.words_from));
            }
        }
    }
    page("comparison – hrx-wrap", &format!("<div class=\"compared\">\n{out}</div>\n"))
}
