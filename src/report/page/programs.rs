//! The page's parts on programs: where the time went, their kernels, and how long dispatches took.

use super::LONGEST;
use crate::core::profile::Profile;
use crate::core::profile::program::Program;
use crate::core::text::{clipped, count};
use crate::report::Subject;
use crate::report::kernels::{Row, rows, runs};
use crate::report::page::charts::{Bar, Part, bars, histogram, stack};
use crate::report::page::markup::{Cell, escaped, table};
use crate::report::view::{Unit, View, fixed, percent};

/// Bars of a chart; the table has the rest.
const BARS: usize = 12;
/// Histograms of a program.
const PLOTS: usize = 6;
/// Rows of a table: a trace with more kernels than any backend has is not a page.
const ROWS: usize = 400;
/// Programs with a part of their own.
const PROGRAMS: usize = 24;

/// A part for each program, the one with the most time first.
pub(super) fn programs(out: &mut String, subject: &Subject<'_>, profile: &Profile) {
    let all = profile.programs();
    let left = all.len().saturating_sub(PROGRAMS);
    for program in all.into_iter().take(PROGRAMS) {
        one_program(out, subject, profile, program);
    }
    if left > 0 {
        out.push_str(&format!(
            "<p>In the text report and in report.json: {} with less time.</p>\n",
            count(left as u64, "program")
        ));
    }
}

fn one_program(out: &mut String, subject: &Subject<'_>, profile: &Profile, program: &Program) {
    let view = View { top: ROWS, ..subject.view };
    let rows = rows(program, profile, subject.names, view);
    let total = program.total();
    out.push_str(&format!(
        "<h2>Program: {} list of {} commands <span class=\"dim\">[{}]</span></h2>\n<p>{}, {}, {} ms on the \
         device. Shares are compared inside one program only.</p>\n",
        program.list.name(),
        program.commands,
        program.fingerprint(),
        runs(program),
        count(program.dispatches, "dispatch"),
        fixed(total, 1_000_000, 3)
    ));
    account(out, program);
    out.push_str("<h3>Kernels</h3>\n<p class=\"dim\">Thick: time on the device. Thin: launches on the host, on the same scale.</p>\n");
    let chart: Vec<Bar> = rows.iter().take(BARS).map(|row| bar(row, total, view.unit)).collect();
    out.push_str(&bars(&chart));
    out.push_str(&kernel_table(program, &rows, total, view.unit));
    out.push_str("<h3>Durations of dispatches</h3>\n<p class=\"dim\">Time on the device, logarithmic axis.</p>\n<div class=\"plots\">\n");
    for row in rows.iter().take(PLOTS) {
        if let Some(kernel) = program.kernels.iter().find(|k| k.id == row.id) {
            let [median, p95] =
                [row.median, row.p95].map(|ns| format!("{} {}", view.unit.show(ns), view.unit.sign()));
            out.push_str(&histogram(&clipped(&row.label(), LONGEST), &kernel.device, &median, &p95));
        }
    }
    out.push_str("</div>\n");
}

/// Launch against device, and what else the wall time is.
fn account(out: &mut String, program: &Program) {
    let (title, parts, whole) = parts(program);
    let parts: Vec<Part> = parts
        .into_iter()
        .map(|(what, ns)| Part {
            name: what.to_owned(),
            words: format!("{} ms", fixed(ns, 1_000_000, 3)),
            value: ns,
        })
        .collect();
    out.push_str(&format!("<h3>{}</h3>\n", escaped(&title)));
    out.push_str(&stack(&title, &parts, whole));
}

/// What a program's time consists of, ns, with the words for the whole, and the whole.
fn parts(program: &Program) -> (String, Vec<(&'static str, u64)>, u64) {
    if program.walls > 0 {
        let known = program.in_walls;
        let host = known.between + known.init + known.host.iter().sum::<u64>();
        let rest = program.wall_ns.saturating_sub(known.sum());
        let parts = vec![
            ("device", known.device),
            ("launches", known.launch),
            ("waits before dispatches (the instrument)", known.wait),
            ("host", host),
            ("unattributed", rest),
        ];
        (
            format!(
                "Wall time of {}: {} ms",
                count(program.walls, "run"),
                fixed(program.wall_ns, 1_000_000, 3)
            ),
            parts,
            program.wall_ns,
        )
    } else {
        let parts = vec![
            ("device", program.total()),
            ("launches", program.launch_ns),
            ("waits before dispatches (the instrument)", program.wait_ns),
            ("host between dispatches", program.between_ns),
        ];
        let whole = parts.iter().map(|(_, ns)| ns).sum();
        let title = "Its dispatches' time (no run with both ends was seen, so the wall time is unknown)";
        (title.to_owned(), parts, whole)
    }
}

fn bar(row: &Row, total: u64, unit: Unit) -> Bar {
    let launches = row.launch.saturating_mul(row.count);
    Bar {
        name: clipped(&row.label(), LONGEST),
        words: format!(
            "{} %, {} ms, mean {} {}{}",
            percent(row.total, total),
            fixed(row.total, 1_000_000, 3),
            unit.show(row.mean),
            unit.sign(),
            if row.near_floor { ", near the floor" } else { "" }
        ),
        value: row.total,
        second: Some((
            format!("launches: {} × mean {} {}", row.count, unit.show(row.launch), unit.sign()),
            launches,
        )),
    }
}

fn kernel_table(program: &Program, rows: &[Row], total: u64, unit: Unit) -> String {
    let sign = unit.sign();
    let head: Vec<String> = ["total ms", "share %", "count"]
        .into_iter()
        .map(str::to_owned)
        .chain(["mean", "median", "p95", "min", "max", "launch"].map(|what| format!("{what} {sign}")))
        .chain(["kernel".to_owned()])
        .collect();
    let cells: Vec<Vec<Cell>> = rows
        .iter()
        .take(ROWS)
        .map(|row| {
            let mut cells = vec![
                Cell::number(fixed(row.total, 1_000_000, 3), row.total),
                Cell::number(percent(row.total, total), row.total),
                Cell::number(row.count.to_string(), row.count),
            ];
            let times = [row.mean, row.median, row.p95, row.least, row.most, row.launch];
            cells.extend(times.map(|ns| Cell::number(unit.show(ns), ns)));
            let mark = if row.near_floor { " ~floor" } else { "" };
            cells.push(format!("{}{mark}", clipped(&row.label(), LONGEST)).into());
            cells
        })
        .collect();
    table(&format!("Kernels of the list of {} commands", program.commands), &head, &cells, 9)
}
