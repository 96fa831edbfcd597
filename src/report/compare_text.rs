//! A comparison as text and as Markdown.

use crate::core::compare::Comparison;
use crate::core::text::{count, printable};
use crate::report::compare_rows::{Sides, Table, summary, tables};
use crate::report::view::{View, columns};

/// The first line: what is compared with what.
pub fn headline(comparison: &Comparison, sides: &Sides) -> String {
    let runs = |n: usize| count(n as u64, "run");
    format!(
        "base {} ({}), new {} ({})",
        printable(sides.base.as_bytes()),
        runs(comparison.base_runs),
        printable(sides.new.as_bytes()),
        runs(comparison.new_runs)
    )
}

/// The whole comparison as text.
pub fn text(comparison: &Comparison, sides: &Sides, view: View) -> String {
    let mut out = format!("hrx-wrap compare: {}\n", headline(comparison, sides));
    for table in tables(comparison, &names(sides), view) {
        out.push_str(&format!("\n{}\n", table.title));
        for note in &table.notes {
            out.push_str(&format!("  {note}\n"));
        }
        if !table.rows.is_empty() {
            let head: Vec<&str> = table.head.iter().map(String::as_str).collect();
            out.push_str(&columns(&head, &table.rows, table.words_from));
        }
    }
    out.push_str("\nVERDICT\n");
    for line in summary(comparison) {
        out.push_str(&format!("  {line}\n"));
    }
    out
}

/// Names of sides are the user's and may be anything.
fn names(sides: &Sides) -> Sides {
    let safe = |text: &str| printable(text.as_bytes());
    Sides { base: safe(&sides.base), new: safe(&sides.new) }
}

/// The whole comparison as Markdown, for an issue.
pub fn markdown(comparison: &Comparison, sides: &Sides, view: View) -> String {
    let mut out = format!("## {}\n\n", escaped(&headline(comparison, sides)));
    for line in summary(comparison) {
        out.push_str(&format!("- {}\n", escaped(&line)));
    }
    for table in tables(comparison, &names(sides), view) {
        out.push_str(&format!("\n### {}\n\n", escaped(&table.title)));
        for note in &table.notes {
            out.push_str(&format!("{}\n\n", escaped(note)));
        }
        if !table.rows.is_empty() {
            out.push_str(&grid(&table));
        }
    }
    out
}

fn grid(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| escaped(c)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule: Vec<&str> =
        (0..table.head.len()).map(|n| if n < table.words_from { "---:" } else { "---" }).collect();
    let mut out = line(&table.head);
    out.push_str(&format!("|{}|\n", rule.join("|")));
    table.rows.iter().for_each(|row| out.push_str(&line(row)));
    out
}

/// What Markdown or the HTML in it would take for its own.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '[' | ']' | '*' | '`' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}
