//! Drawings as SVG in the page. Every number on hover is the one that stands in the tables, in the same words.

use crate::core::histogram::Histogram;
use crate::report::memory_text;
use crate::report::page::markup::{escaped, name};
use crate::report::view::percent;

/// One bar of a chart: a name, its words, and parts of the longest bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What it is of.
    pub name: String,
    /// Its numbers in words.
    pub words: String,
    /// Its length.
    pub value: u64,
    /// A second, thin one beneath it, on the same scale: its words and length.
    pub second: Option<(String, u64)>,
}

/// A part of `whole` as a percentage for an attribute.
fn width(part: u64, whole: u64) -> String {
    if whole == 0 { "0%".to_owned() } else { format!("{:.3}%", part as f64 * 100.0 / whole as f64) }
}

/// Bars below each other, with their names above them, so that they are read on a narrow screen as well.
pub fn bars(all: &[Bar]) -> String {
    let longest = all.iter().map(|b| b.value.max(b.second.as_ref().map_or(0, |s| s.1))).max().unwrap_or(0);
    let mut out = "<div class=\"bars\">\n".to_owned();
    for bar in all {
        let second = bar.second.as_ref().map_or(String::new(), |(words, value)| {
            format!(
                "<rect class=\"b\" y=\"11\" height=\"5\" width=\"{}\"><title>{}</title></rect>",
                width(*value, longest),
                escaped(words)
            )
        });
        let height = if bar.second.is_some() { 17 } else { 11 };
        out.push_str(&format!(
            "<div class=\"bar\"><span class=\"name\">{}</span> <span class=\"num\">{}</span>\
             <svg height=\"{height}\" role=\"img\" aria-label=\"{}\"><rect class=\"a\" height=\"10\" width=\"{}\"><title>{}: {}</title></rect>{second}</svg></div>\n",
            name(&bar.name),
            escaped(&bar.words),
            escaped(&bar.words),
            width(bar.value, longest),
            escaped(&bar.name),
            escaped(&bar.words),
        ));
    }
    out.push_str("</div>\n");
    out
}

/// One part of a stacked bar.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// Its number in words.
    pub words: String,
    /// Its size.
    pub value: u64,
}

/// The fills, in their order: told apart by any eye, and named in the legend.
const FILLS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A stacked bar with its legend: parts of `of`, as the tables have them. The bar is longer where the parts are more than that.
pub fn stack(label: &str, parts: &[Part], of: u64) -> String {
    let whole = of.max(parts.iter().map(|p| p.value).sum());
    let mut out =
        format!("<svg class=\"stack\" height=\"26\" role=\"img\" aria-label=\"{}\">", escaped(label));
    let mut before = 0;
    for (n, part) in parts.iter().enumerate() {
        out.push_str(&format!(
            "<rect class=\"{}\" x=\"{}\" height=\"26\" width=\"{}\"><title>{}: {}</title></rect>",
            FILLS[n % FILLS.len()],
            width(before, whole),
            width(part.value, whole),
            escaped(&part.name),
            escaped(&part.words)
        ));
        before += part.value;
    }
    out.push_str("</svg>\n<ul class=\"legend\">");
    for (n, part) in parts.iter().enumerate() {
        out.push_str(&format!(
            "<li><svg width=\"11\" height=\"11\" aria-hidden=\"true\"><rect class=\"{}\" width=\"11\" height=\"11\"/></svg> {} \
             <span class=\"dim\">{} ({} %)</span></li>",
            FILLS[n % FILLS.len()],
            escaped(&part.name),
            escaped(&part.words),
            percent(part.value, of)
        ));
    }
    out.push_str("</ul>\n");
    out
}

/// Width and height of a histogram, and where its axis is.
const PLOT: (f64, f64, f64) = (320.0, 110.0, 84.0);
/// Columns of a histogram.
const COLUMNS: usize = 40;

/// A histogram of durations on a logarithmic axis. What is shown as 0 has no place on it and is said in words.
pub fn histogram(title: &str, device: &Histogram, median: &str, p95: &str) -> String {
    let zeros: u64 = device.buckets().filter(|b| b.0 == 0).map(|b| u64::from(b.2)).sum();
    let (Some(from), Some(most)) = (device.buckets().map(|b| b.0).find(|n| *n > 0), device.most()) else {
        return String::new();
    };
    let (low, high) = ((from as f64).ln(), (most.max(from + 1) as f64 * 1.02).ln());
    let columns = columns(device, low, high);
    let tallest = columns.iter().copied().max().unwrap_or(1).max(1);
    let (w, h, base) = PLOT;
    let each = w / COLUMNS as f64;
    let mut out = format!(
        "<figure><figcaption><span class=\"name\">{}</span> <span class=\"dim\">median {}, p95 {}{}</span></figcaption>\
         <svg viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"durations of {}\">",
        name(title),
        escaped(median),
        escaped(p95),
        if zeros > 0 { format!(", {zeros} of {} not resolved (0)", device.count()) } else { String::new() },
        escaped(title)
    );
    let edge = |n: usize| (low + (high - low) * n as f64 / COLUMNS as f64).exp();
    for (n, count) in columns.iter().enumerate().filter(|(_, c)| **c > 0) {
        let height = (*count as f64 / tallest as f64 * (base - 14.0)).max(1.0);
        out.push_str(&format!(
            "<rect class=\"a\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"><title>{} to {}: {count}</title></rect>",
            n as f64 * each,
            base - height,
            each - 0.6,
            span(edge(n)),
            span(edge(n + 1))
        ));
    }
    axis(&mut out, tallest, low, high);
    out.push_str("</svg></figure>\n");
    out
}

/// The axis of durations, and what the tallest column has.
fn axis(out: &mut String, tallest: u64, low: f64, high: f64) {
    let (w, _, base) = PLOT;
    out.push_str(&format!(
        "<path class=\"axis\" d=\"M0 {base}H{w}\"/><text class=\"dim\" x=\"0\" y=\"10\">{tallest} ↑ dispatches</text>"
    ));
    for (part, anchor) in [(0.0, "start"), (0.5, "middle"), (1.0, "end")] {
        out.push_str(&format!(
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"{anchor}\">{}</text>",
            part * w,
            base + 16.0,
            span((low + (high - low) * part).exp())
        ));
    }
}

/// Dispatches by column, from `low` to `high`, logarithms of ns.
fn columns(device: &Histogram, low: f64, high: f64) -> [u64; COLUMNS] {
    let mut columns = [0_u64; COLUMNS];
    for (begin, end, count) in device.buckets().filter(|b| b.0 > 0) {
        let middle = (begin as f64 * end as f64).sqrt().ln();
        let place = (middle - low) / (high - low) * COLUMNS as f64;
        columns[(place.max(0.0) as usize).min(COLUMNS - 1)] += u64::from(count);
    }
    columns
}

/// A time with three figures and its unit, for axes.
fn span(ns: f64) -> String {
    let (scale, unit) = match ns {
        n if n < 1e3 => (1.0, "ns"),
        n if n < 1e6 => (1e3, "µs"),
        n if n < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let n = ns / scale;
    let digits = if n < 10.0 {
        2
    } else if n < 100.0 {
        1
    } else {
        0
    };
    format!("{n:.digits$} {unit}")
}

/// Bytes as MiB with one digit.
pub fn mib(bytes: u64) -> String {
    format!("{} MiB", memory_text::mib(bytes))
}
