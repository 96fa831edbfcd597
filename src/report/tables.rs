//! The profile's tables as CSV and as Markdown.

use crate::core::names::Catalogue;
use crate::core::profile::Profile;
use crate::report::kernels::{rows, runs};
use crate::report::view::{View, fixed, percent};

const CSV: &str = "list,list_commands,fingerprint,runs,kernel_id,family,name,count,total_ns,share,launch_mean_ns,\
device_mean_ns,device_median_ns,device_p95_ns,device_min_ns,device_max_ns\n";

/// One line a kernel of a program, all of them; times in ns, share as a part of 1.
pub fn csv(profile: &Profile, names: &Catalogue, view: View) -> String {
    let mut out = CSV.to_owned();
    for program in profile.programs() {
        let total = program.total();
        for row in rows(program, profile, names, view) {
            let (family, name) = row.name.clone().unwrap_or_default();
            let share =
                if total == 0 { String::new() } else { format!("{:.6}", row.total as f64 / total as f64) };
            let cells = [
                program.list.name().to_owned(),
                program.commands.to_string(),
                program.fingerprint(),
                program.runs().to_string(),
                row.id.map_or(String::new(), |id| id.to_string()),
                quoted(&family),
                quoted(&name),
                row.count.to_string(),
                row.total.to_string(),
                share,
                row.launch.to_string(),
                row.mean.to_string(),
                row.median.to_string(),
                row.p95.to_string(),
                row.least.to_string(),
                row.most.to_string(),
            ];
            out.push_str(&cells.join(","));
            out.push('\n');
        }
    }
    out
}

/// A field as RFC 4180 has it. One that a spreadsheet would take for a formula gets an apostrophe.
fn quoted(text: &str) -> String {
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// One table a program, as an issue or a page takes it.
pub fn markdown(profile: &Profile, names: &Catalogue, view: View) -> String {
    let mut out = String::new();
    let unit = view.unit.sign();
    for program in profile.programs() {
        let total = program.total();
        out.push_str(&format!(
            "### {} list of {} commands `{}`: {}, {} ms on the device\n\n",
            program.list.name(),
            program.commands,
            program.fingerprint(),
            runs(program),
            fixed(total, 1_000_000, 3)
        ));
        out.push_str(&format!(
            "| kernel | total ms | share % | count | mean {unit} | median {unit} | p95 {unit} | min {unit} | max {unit} | launch {unit} |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        ));
        for row in rows(program, profile, names, view).iter().take(view.top) {
            let times =
                [row.mean, row.median, row.p95, row.least, row.most, row.launch].map(|ns| view.unit.show(ns));
            out.push_str(&format!(
                "| {}{} | {} | {} | {} | {} |\n",
                row.label().replace('|', "\\|").replace('<', "&lt;"),
                if row.near_floor { " ~floor" } else { "" },
                fixed(row.total, 1_000_000, 3),
                percent(row.total, total),
                row.count,
                times.join(" | ")
            ));
        }
        out.push('\n');
    }
    out
}
