//! What of the GPU memory is what: a stacked bar at the peak, and the rows with their reasons.

use crate::core::amount::signed_mib;
use crate::core::parse::llama::Place;
use crate::core::split::{Row, Split, What};
use crate::core::text::count;
use crate::report::memory_text;
use crate::report::page::charts::{Part, mib, stack};
use crate::report::page::markup::{Cell, name, table};
use crate::report::view::percent;

/// The whole part.
pub fn part(split: &Split) -> String {
    let mut out = "<h3>What of it is what</h3>\n".to_owned();
    let parts = parts(split);
    match (split.peak.process, split.peak.unattributed) {
        (Some(process), Some(rest)) if rest >= 0 => {
            out.push_str(&stack("GTT at the peak", &parts, process));
        }
        _ => {
            let why = split.process_why.as_ref().or(split.unattributed_why.as_ref());
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            let words = format!("No bar of the peak, since a part of it is unknown{why}");
            out.push_str(&format!("<p class=\"dim\">{}</p>\n", name(&words)));
        }
    }
    out.push_str(&rows(split));
    out
}

/// What a row is of.
fn label(row: &Row) -> String {
    let what = match row.what {
        What::Model => "loader's weights",
        What::Packed => "packed copies",
        What::Kv => "KV cache",
        What::Rs => "recurrent state",
        What::Compute => "compute",
        What::Output => "output",
        What::Lora => "LoRA adapters",
        What::Clip => "projector",
        What::Other => "other",
    };
    let buffer = row.buffer.as_ref().map_or(String::new(), |b| format!(" ({b})"));
    let weights = row.count.map_or(String::new(), |n| format!(", {}", count(n, "weight")));
    format!("{what}{buffer}{weights}")
}

/// The bands of the bar: the known rows on devices, and the rest.
fn parts(split: &Split) -> Vec<Part> {
    let device = split.rows.iter().filter(|row| row.place == Place::Device);
    let mut all: Vec<Part> = device
        .filter_map(|row| Some((label(row), row.bytes.filter(|b| *b > 0)?)))
        .map(|(name, bytes)| Part { name, words: mib(bytes), value: bytes })
        .collect();
    if let Some(rest) = split.peak.unattributed.and_then(|rest| u64::try_from(rest).ok()) {
        all.push(Part { name: "not attributed".to_owned(), words: mib(rest), value: rest });
    }
    all
}

fn rows(split: &Split) -> String {
    let head = ["peak MiB", "% of peak", "steady MiB", "final MiB", "what", "why"].map(str::to_owned);
    let cell = |bytes: Option<u64>| Cell {
        text: bytes.map_or("unknown".to_owned(), memory_text::mib),
        number: bytes,
    };
    let whole = split.peak.process;
    let share = |bytes: Option<u64>| {
        let text = bytes.zip(whole).map_or("–".to_owned(), |(part, whole)| percent(part, whole));
        Cell { text, number: bytes.filter(|_| whole.is_some()) }
    };
    let line = |figures: [Option<u64>; 3], what: String, why: Option<&String>| {
        let [peak, steady, last] = figures;
        let why = why.cloned().unwrap_or_default();
        vec![cell(peak), share(peak), cell(steady), cell(last), what.into(), why.into()]
    };
    let process = [split.peak.process, split.steady.process, split.last.process];
    let mut all = vec![line(process, "process".to_owned(), split.process_why.as_ref())];
    for row in &split.rows {
        let host = if row.place == Place::Host { ", on the host" } else { "" };
        let mut cells = line(
            [row.bytes, row.steady_bytes, row.final_bytes],
            format!("{}{host}", label(row)),
            row.why.as_ref(),
        );
        if row.place == Place::Host {
            // It is no part of the process's GTT.
            cells[1] = "–".to_owned().into();
        }
        all.push(cells);
    }
    let rest = |bytes: Option<i64>| bytes.map_or("unknown".to_owned(), signed_mib);
    let share = split.unattributed_share.map_or("–".to_owned(), |s| format!("{:.1}", s * 100.0));
    all.push(vec![
        rest(split.peak.unattributed).into(),
        share.into(),
        rest(split.steady.unattributed).into(),
        rest(split.last.unattributed).into(),
        "not attributed".to_owned().into(),
        split.unattributed_why.clone().unwrap_or_default().into(),
    ]);
    table("What of the GPU memory is what", &head, &all, 4)
}
