//! What the page of a run finds, in words, and how large it may get.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use common::traces::Run;
use common::{Dir, demo, wrap};

/// The page of what a file holds.
fn page_of(dir: &Dir, words: &[&str]) -> String {
    let words = [&["parse"], words, &["--html", "p.html", "--report", "r.txt"]].concat();
    let done = wrap(words).cwd(dir.path()).run();
    assert!(dir.join("p.html").exists(), "{}", done.err());
    dir.text("p.html")
}

#[test]
fn samples_alone_are_no_loss_and_their_holes_are_found() {
    let dir = Dir::new("alone");
    let mut list = String::new();
    for n in 0..40 {
        list.push_str(&format!("{:.2} 2048\n", f64::from(n) * 0.05 + if n > 20 { 1.4 } else { 0.0 }));
    }
    std::fs::write(dir.join("s.txt"), list).unwrap();
    let page = page_of(&dir, &["--samples", "s.txt"]);
    assert!(page.contains("There is no trace: samples of memory alone were given."), "{page}");
    assert!(!page.contains("were lost"));
    assert!(page.contains("Sampler gap of 1.450 s (usual in it: one sample every 50.000 ms)"), "{page}");
    std::fs::write(dir.join("s.txt"), "0.0 0\n0.1 0\n0.2 0\n").unwrap();
    assert!(page_of(&dir, &["--samples", "s.txt"]).contains("GTT: peak 0.0 MiB, steady 0.0 MiB."));
    // Samples that stop long before the end.
    Run::default().folder(&dir.join("run"), &[Some(5); 400]);
    let rows = dir.text("run/gtt.tsv");
    let early: Vec<&str> = rows.lines().take(200).collect();
    std::fs::write(dir.join("run/gtt.tsv"), early.join("\n") + "\n").unwrap();
    let page = page_of(&dir, &["run"]);
    assert!(page.contains("The last sample is "), "{}", dir.text("r.txt"));
    assert!(page.replace("&#39;", "'").contains(" before the target's end: a peak behind it was not seen"));
}

#[test]
fn parts_that_are_more_than_the_wall_are_a_finding_and_have_the_tables_shares() {
    let dir = Dir::new("more");
    let trace = Run { tokens: 4, ..Run::default() };
    // The begin lines of its programs come a millisecond late, so that the walls are too short.
    let late: Vec<String> = trace
        .text()
        .lines()
        .map(|line| match line.split_once(' ') {
            Some((ns, text)) if text.contains(" begin phase=command-program") => {
                format!("{} {text}\n", ns.parse::<u64>().unwrap() + 1_000_000)
            }
            _ => format!("{line}\n"),
        })
        .collect();
    std::fs::write(dir.join("t.log"), late.concat()).unwrap();
    let page = page_of(&dir, &["t.log", "--json", "r.json"]);
    let account = dir.json("r.json")["programs"][0]["account"].clone();
    let of = |field: &str| account[field].as_f64().unwrap();
    let parts = of("wall_ns") - of("unattributed_ns");
    assert!(parts > of("wall_ns"));
    let percent = |part: f64| format!("{:.1} %", part * 100.0 / of("wall_ns"));
    assert!(page.contains(&format!("are {} of it: lines of two contexts", percent(parts))), "{page}");
    assert!(!page.contains("0.0 % of the wall time"));
    let device = percent(of("kernels_ns"));
    assert!(page.contains(&format!("({device})")), "the bar's legend has {device}: {page}");
}

#[test]
fn what_failed_is_a_finding_with_the_backends_reason() {
    let dir = Dir::new("failed");
    let target =
        ["--tokens", "3", "--commands", "6", "--prefill-commands", "4", "--no-load", "--fail-sync", "7"];
    wrap(demo(&["-p", "-o", "run", "--echo", "none"], &target)).cwd(dir.path()).run();
    let coverage = &dir.json("run/report.json")["coverage"];
    assert_eq!((&coverage["failed_programs"], &coverage["repeated"]), (&1.into(), &0.into()), "{coverage}");
    let page = dir.text("run/report.html").replace("&#39;", "'");
    let told = "Failed, by the backend's own word: 1 program: command-post-dispatch list=main index=2";
    assert!(page.contains(told), "{page}");
    assert!(!page.contains("began while another or the same one was open"));
}

#[test]
fn a_page_of_very_many_programs_stays_a_page() {
    let dir = Dir::new("many");
    let mut trace = String::new();
    let mut now = 1_000;
    for program in 0..1_500_u64 {
        for index in 0..6 {
            let kernel = 1_000 + program * 10 + index;
            let d = format!(
                "list=main index={index} list_commands={} kernel_id={kernel} bindings=1",
                7 + program
            );
            for head in [
                "begin phase=command-dispatch",
                "end phase=command-dispatch",
                "sync-end phase=command-post-dispatch",
            ] {
                now += 1_000;
                trace.push_str(&format!("{now} hrx debug serial: {head} {d}\n"));
            }
        }
    }
    std::fs::write(dir.join("t.log"), trace).unwrap();
    let page = page_of(&dir, &["t.log"]);
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
    let whole = dir.text("r.txt").lines().count();
    assert!(whole > 9_000 && page.contains(" lines more: hrx-wrap parse prints them all"), "{whole}");
}
