//! The README's example is the output of a real run. `UPDATE=1 cargo test --test readme` makes it again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use std::collections::BTreeSet;

use common::{BIN, Dir, through};
use hrx_wrap::core::parse::serial::HOST_PHASES;

const BEGIN: &str = "```console\n";
const END: &str = "```\n";

/// What a user types and sees: the demo's report, from a folder of its own so that it names no place of ours.
fn example() -> String {
    let dir = Dir::new("readme");
    std::fs::copy(BIN, dir.join("hrx-wrap")).expect("a copy");
    let done = through(dir.join("hrx-wrap"), ["demo", "-o", "RUN"]).cwd(dir.path()).run();
    let report = dir.text("RUN/report.txt").replace(&format!("{}/", dir.path().display()), "~/bin/");
    assert_eq!(done.code(), Some(0), "{}", done.err());
    format!("$ hrx-wrap demo -o RUN\n{}", report)
}

/// What is the same from run to run: the names of facts, sections and kernels. Numbers, the machine, the order of rows
/// and what a busy machine adds are not.
fn shape(text: &str) -> BTreeSet<String> {
    let facts = text.split("\nWHERE THE TIME IS").next().unwrap_or_default();
    let facts = facts.lines().filter_map(|l| l.split_whitespace().next()).map(str::to_owned);
    let sections = ["WHERE", "PROGRAM", "COVERAGE", "HOW"];
    let words = text.split_whitespace().map(str::to_owned);
    let named = words.filter(|w| w.contains(':') && w.len() > 12 || sections.contains(&w.as_str()));
    // The temporary folder may lie in a repository, and a quick run may be over before the proportional memory is looked at.
    let stable =
        |w: &String| !w.starts_with("20") && !w.contains("(commit") && w != "repository" && w != "PSS,";
    facts.chain(named).filter(stable).collect()
}

#[test]
fn the_example_is_what_a_run_prints() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).expect("README.md");
    let begin = readme.find(BEGIN).expect("the example") + BEGIN.len();
    let end = begin + readme[begin..].find(END).expect("its end");
    let now = example();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, format!("{}{now}{}", &readme[..begin], &readme[end..])).expect("README.md");
        return;
    }
    let kernels = shape(&now).iter().filter(|w| w.starts_with("loom_libs:")).count();
    assert!(kernels > 10, "{kernels} kernels are named");
    assert_eq!(shape(&readme[begin..end]), shape(&now), "UPDATE=1 cargo test --test readme");
}

#[test]
fn the_schema_names_every_field_of_a_report() {
    let dir = Dir::new("schema");
    let target = ["--tokens", "1", "--commands", "4", "--fork", "1", "--die-in-dispatch", "330"];
    let words =
        ["-p", "-s", "-o", "run", "-t", "1h", "--label", "l", "--echo", "none", "--", BIN, "demo-target"];
    let done = common::wrap(words.iter().chain(&target)).cwd(dir.path()).run();
    assert_eq!(done.died_of(), Some(9), "{}", done.err());
    let schema =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/report-schema.md")).expect("docs");
    let mut missing = Vec::new();
    for name in ["report.json", "run.json"] {
        names(&dir.json(&format!("run/{name}")), &mut |field| {
            // A field stands in the table by itself or behind its parent: `lines` or `coverage.lines`.
            if !schema.contains(&format!("`{field}`"))
                && !schema.contains(&format!(".{field}`"))
                && !schema.contains(&format!("`{field}."))
                && !schema.contains(&format!("`{field}[]`"))
                && !schema.contains(&format!(".{field}[]`"))
            {
                missing.push(field.to_owned());
            }
        });
    }
    missing.retain(|f| {
        !["schema", "counters", "begin", "end", "failed", "sync-begin", "sync-end", "other"]
            .contains(&f.as_str())
    });
    // The backend's own words for its phases.
    missing.retain(|f| !HOST_PHASES.contains(&f.as_str()));
    // The counters of run.json are the coverage and the stalls of the report, under names of their own.
    missing.retain(|f| !["stall_ns", "longest_stall_ns"].contains(&f.as_str()));
    assert!(missing.is_empty(), "docs/report-schema.md lacks {missing:?}");
}

/// Every name in a JSON value.
fn names(value: &serde_json::Value, each: &mut impl FnMut(&str)) {
    match value {
        serde_json::Value::Object(map) => {
            for (name, inner) in map {
                each(name);
                names(inner, each);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|inner| names(inner, each)),
        _ => {}
    }
}
