//! `hrx-wrap compare`: what got slower is found, what did not is called so, and what cannot be compared is refused.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use common::traces::Run;
use common::{BIN, Dir, Done, wrap};
use serde_json::{Value, json};

fn compare(dir: &Dir, words: &[&str]) -> Done {
    wrap(std::iter::once("compare").chain(words.iter().copied())).cwd(dir.path()).run()
}

fn comparison(dir: &Dir, words: &[&str]) -> (Done, Value) {
    let done = compare(dir, &[words, &["--json", "c.json"]].concat());
    let all = dir.json("c.json");
    (done, all["comparisons"][0].clone())
}

/// The row of a kernel.
fn kernel(comparison: &Value, id: &str) -> Value {
    let rows = comparison["programs"][0]["kernels"].as_array().unwrap();
    rows.iter().find(|r| r["kernel_id"] == id).unwrap_or_else(|| panic!("no kernel {id}")).clone()
}

#[test]
fn a_kernel_that_got_ten_percent_slower_is_found_and_an_unchanged_run_shows_no_difference() {
    let dir = Dir::new("compare");
    Run::default().write(&dir.join("base.log"));
    Run::default().write(&dir.join("same.log"));
    Run::default().slower(1, 10).write(&dir.join("slow.log"));
    let (done, c) = comparison(&dir, &["base.log", "slow.log"]);
    assert_eq!(done.code(), Some(1), "{}", done.out());
    let row = kernel(&c, "42");
    assert_eq!((&row["judged"]["verdict"], &row["called_more_ns"]), (&json!("worse"), &json!(0.0)));
    assert!((row["judged"]["change"].as_f64().unwrap() - 0.1).abs() < 1e-3, "{row}");
    assert_eq!(kernel(&c, "41")["judged"]["verdict"], "same");
    assert_eq!(c["programs"][0]["kernels"][0]["kernel_id"], "42", "what changed most stands first");
    let (done, c) = comparison(&dir, &["base.log", "same.log"]);
    assert_eq!(done.code(), Some(0), "{}", done.out());
    for id in ["41", "42", "43"] {
        assert_eq!(kernel(&c, id)["judged"]["verdict"], "same");
    }
    assert!(done.out().contains("no regression above 5.0 %"), "{}", done.out());
    assert_eq!(compare(&dir, &["base.log", "slow.log", "--threshold", "15"]).code(), Some(0));
    assert_eq!(compare(&dir, &["slow.log", "base.log"]).code(), Some(0), "faster is no regression");
    assert_eq!(compare(&dir, &["base.log", "same.log", "slow.log"]).code(), Some(1), "each with the base");
}

#[test]
fn repeated_runs_give_medians_spread_and_a_verdict() {
    let dir = Dir::new("repeated");
    for n in 0..3_u64 {
        // Runs of a side differ by a percent.
        let with = |extra: u64, label: &str| {
            let device = [100_000 + n * 1_000, 60_000 * (100 + extra) / 100 + n * 600, 20_000];
            Run { device, ..Run::default() }.with("label", json!(label))
        };
        with(0, "old").write(&dir.join(&format!("a{n}.log")));
        with(12, "new").write(&dir.join(&format!("b{n}.log")));
    }
    let runs = ["a0.log", "a1.log", "a2.log", "--vs", "b0.log", "b1.log", "b2.log"];
    let (done, c) = comparison(&dir, &runs);
    assert_eq!(done.code(), Some(1), "{}", done.out());
    assert_eq!((&c["base"]["runs"], &c["new"]["runs"]), (&json!(3), &json!(3)));
    assert!(
        c["floor"].is_object() && done.out().contains("cannot tell (the floor not counted)"),
        "{}",
        done.out()
    );
    let row = kernel(&c, "42");
    assert_eq!(row["judged"]["verdict"], "worse");
    let range = row["judged"]["base_range_ns"].as_array().unwrap();
    let median = row["base_ns"].as_f64().unwrap();
    assert!(range[0].as_f64().unwrap() < median && median < range[1].as_f64().unwrap());
    assert_eq!(kernel(&c, "41")["judged"]["verdict"], "same");
    assert_ne!(
        c["wall"]["verdict"], "cannot-tell",
        "three runs a side tell about the wall time: {}",
        c["wall"]
    );
    let by_label =
        ["--label", "old", "--label", "new", "b0.log", "a0.log", "a1.log", "b1.log", "a2.log", "b2.log"];
    let (_, labelled) = comparison(&dir, &by_label);
    assert_eq!(labelled["programs"], c["programs"], "the same runs, told apart by their label");
    // Two wild runs tell nothing, and how many would is said.
    for (n, ns) in [(0, 60_000), (1, 90_000)] {
        Run { device: [100_000, ns, 20_000], ..Run::default() }.write(&dir.join(&format!("w{n}.log")));
    }
    let (done, wild) = comparison(&dir, &["w0.log", "w1.log", "--vs", "b0.log", "b1.log"]);
    let row = kernel(&wild, "42");
    assert_eq!(row["judged"]["verdict"], "cannot-tell");
    assert!(
        row["judged"]["more_runs"].as_u64().is_none_or(|n| n > 1) && done.out().contains("more runs a side")
    );
}

#[test]
fn runs_of_other_length_and_killed_ones_are_compared_by_the_program_run() {
    let dir = Dir::new("length");
    Run::default().write(&dir.join("base.log"));
    Run { tokens: 30, ..Run::default() }.write(&dir.join("long.log"));
    Run { killed: true, ..Run::default() }.write(&dir.join("killed.log"));
    for other in ["long.log", "killed.log"] {
        let (done, c) = comparison(&dir, &["base.log", other]);
        assert_eq!(done.code(), Some(0), "{other}: {}", done.out());
        assert_eq!(kernel(&c, "41")["judged"]["verdict"], "same", "{other}");
        assert_eq!(kernel(&c, "41")["called_more_ns"], 0.0, "{other}");
    }
    let (done, c) = comparison(&dir, &["base.log", "killed.log"]);
    assert!(c["wall"].is_null() && done.out().contains("a side has no run that ended by itself"));
    assert!(c["differences"].as_array().unwrap().iter().any(|d| d["field"] == "partial"), "{c}");
}

#[test]
fn a_run_that_was_cut_off_is_compared_by_its_whole_program_runs_alone() {
    let dir = Dir::new("cut");
    // One run and a half: the first is set against the first, which is a fifth slower than the others.
    Run { first: 20, ..Run::default() }.write(&dir.join("base.log"));
    Run { first: 20, tokens: 2, killed: true, ..Run::default() }.write(&dir.join("second.log"));
    let (done, c) = comparison(&dir, &["base.log", "second.log"]);
    assert_eq!(done.code(), Some(0), "{}", done.out());
    let program = &c["programs"][0];
    let first_ns = 10 * (100_000 + 60_000 + 20_000) * 120 / 100;
    assert_eq!((&program["of"], &program["steady"]), (&json!("first-run"), &json!(false)));
    for side in ["base_ns", "new_ns"] {
        assert_eq!(program["judged"][side], f64::from(first_ns), "{side}: {program}");
    }
    let row = kernel(&c, "41");
    assert_eq!(
        (&row["base_calls"], &row["new_calls"], &row["judged"]["verdict"]),
        (&json!(10.0), &json!(10.0), &json!("same"))
    );
    assert!(done.out().contains("times are of its first run on both sides"), "{}", done.out());
    // Half a run: of it nothing is compared, and no kernel vanished.
    Run { tokens: 1, killed: true, ..Run::default() }.write(&dir.join("first.log"));
    for words in [["base.log", "first.log"], ["first.log", "base.log"]] {
        let (done, c) = comparison(&dir, &words);
        assert_eq!(done.code(), Some(0), "{}", done.out());
        let program = &c["programs"][0];
        assert_eq!(
            (&program["of"], &program["judged"], &program["kernels"]),
            (&json!("cut-off"), &Value::Null, &json!([]))
        );
        assert!(done.out().contains("not compared: a side has no whole run of it"), "{}", done.out());
    }
    // Before its first dispatch came to its end it was traced all the same.
    let text = dir.text("first.log");
    let early: Vec<&str> = text.lines().take_while(|l| !l.contains("end phase=command-dispatch")).collect();
    std::fs::write(dir.join("early.log"), early.join("\n") + "\n").unwrap();
    assert_eq!(compare(&dir, &["base.log", "early.log"]).code(), Some(0));
    // Of three runs the one that is cut off is left out.
    let (done, c) =
        comparison(&dir, &["base.log", "base.log", "--vs", "base.log", "second.log", "first.log"]);
    assert_eq!((done.code(), &c["programs"][0]["of"]), (Some(0), &json!("runs-behind-the-first")));
    assert_eq!(c["programs"][0]["judged"]["change_ns"], 0.0);
}

#[test]
fn one_run_is_set_against_the_first_of_many_and_not_against_those_behind_it() {
    let dir = Dir::new("one");
    Run { first: 200, tokens: 20, ..Run::default() }.write(&dir.join("many.log"));
    Run { first: 200, tokens: 1, ..Run::default() }.write(&dir.join("one.log"));
    for words in [["many.log", "one.log"], ["one.log", "many.log"]] {
        let (done, c) = comparison(&dir, &words);
        assert_eq!(done.code(), Some(0), "{}", done.out());
        assert_eq!(c["programs"][0]["judged"]["change_ns"], 0.0);
        for id in ["41", "42", "43"] {
            assert_eq!(kernel(&c, id)["judged"]["verdict"], "same", "{id}");
        }
    }
}

#[test]
fn a_trace_that_the_caller_narrowed_is_known_by_what_is_in_it() {
    let dir = Dir::new("by-hand");
    Run::default().write(&dir.join("all.log"));
    Run { traced: 10..16, ..Run::default() }.write(&dir.join("part.log"));
    let done = compare(&dir, &["all.log", "part.log"]);
    assert_eq!(done.code(), Some(3), "{}", done.out());
    let told = "different parts of the programs are traced (traced: all of the main list of 30 commands against commands 10 to \
                15 of the main list of 30 commands)";
    assert!(done.out().contains(told), "{}", done.out());
    assert_eq!(compare(&dir, &["part.log", "part.log"]).code(), Some(0));
    // The caller's own switches are in the record, and count as ours do.
    let narrow = ["GGML_HRX_DEBUG_SERIAL_START_COMMAND", "GGML_HRX_DEBUG_SERIAL_END_COMMAND"];
    let target = ["demo-target", "--tokens", "3", "--commands", "20", "--prefill-commands", "0", "--no-load"];
    let run = |out: &str, options: &[&str]| {
        let words = [&["-p", "-o", out, "--echo", "none"], options, &["--", BIN], &target].concat();
        wrap(words).cwd(dir.path())
    };
    run("by-hand", &[]).env(narrow[0], "5").env(narrow[1], "9").run();
    run("by-us", &["--commands", "5..9"]).run();
    assert_eq!(
        dir.json("by-hand/run.json")["inherited"],
        json!([format!("{}=9", narrow[1]), format!("{}=5", narrow[0])])
    );
    assert!(dir.text("by-hand/report.txt").contains("\ninherited   GGML_HRX_DEBUG_SERIAL_END_COMMAND=9 "));
    let done = compare(&dir, &["by-hand", "by-us", "--threshold", "10000"]);
    assert_eq!(done.code(), Some(0), "{}", done.out());
    assert!(!done.out().contains("narrowed"), "{}", done.out());
}

#[test]
fn what_cannot_be_compared_is_refused_without_force() {
    let dir = Dir::new("refused");
    Run::default().write(&dir.join("base.log"));
    Run::default().with("stamped", json!("source")).write(&dir.join("source.log"));
    Run { ids: [51, 52, 53], ..Run::default() }.write(&dir.join("others.log"));
    Run { tokens: 0, ..Run::default() }.write(&dir.join("none.log"));
    let narrowed = json!({"env": ["GGML_HRX_DEBUG_SERIAL_END_COMMAND=9"], "args": []});
    Run::default().with("changed", narrowed).write(&dir.join("narrowed.log"));
    for (other, why) in [
        ("source.log", "times are stamped in different places"),
        ("others.log", "no kernel is in both"),
        ("none.log", "the serial mode slows what it traces"),
        ("narrowed.log", "different parts of the programs are traced"),
    ] {
        let done = compare(&dir, &["base.log", other]);
        assert_eq!(done.code(), Some(3), "{other}: {}", done.out());
        assert!(done.complaint().contains(why) && done.complaint().contains("--force"), "{}", done.err());
        assert!(done.out().contains("NOT COMPARABLE"), "the report says so too");
        assert!(
            !done.out().contains("better") && !done.out().contains("PROGRAM"),
            "no verdict: {}",
            done.out()
        );
        let (_, c) = comparison(&dir, &["base.log", other]);
        assert_eq!((&c["withheld"], &c["programs"], &c["wall"]), (&json!(true), &json!([]), &Value::Null));
        let done = compare(&dir, &["base.log", other, "--force"]);
        assert_eq!((done.code(), done.out().contains("NOT COMPARABLE")), (Some(0), true), "{other}");
        assert!(done.out().contains("PROGRAMS") && done.out().contains("no regression"), "{}", done.out());
    }
    Run::default().with("command", json!(["llama-bench", "-m", "other.gguf"])).write(&dir.join("model.log"));
    let done = compare(&dir, &["base.log", "model.log"]);
    assert_eq!(done.code(), Some(0), "another command is a difference that is shown");
    assert!(done.out().contains("model.log: llama-bench -m other.gguf"), "{}", done.out());
}

#[test]
fn a_renamed_kernel_is_found_by_its_source() {
    let dir = Dir::new("renamed");
    let manifest = |names: &[(&str, &str)]| {
        let exports: Vec<Value> = names
            .iter()
            .map(|(name, source)| json!({"name": name, "family": "f", "source": source, "symbol": "s"}))
            .collect();
        json!({"schema": "v1", "exports": exports}).to_string()
    };
    let both = [("old", "ops/x.loom"), ("new", "ops/x.loom"), ("norm", "ops/n.loom")];
    std::fs::write(dir.join("manifest.json"), manifest(&both)).unwrap();
    let id = |name: &str| hrx_wrap::core::kernel_id::kernel_id("f", name);
    Run { ids: [id("old"), 42, id("norm")], ..Run::default() }.write(&dir.join("a.log"));
    Run { ids: [id("new"), 42, id("norm")], ..Run::default() }.slower(0, 20).write(&dir.join("b.log"));
    let (done, c) = comparison(&dir, &["a.log", "b.log", "--manifests", "manifest.json"]);
    let row = kernel(&c, &id("new").to_string());
    assert_eq!((&row["kind"], &row["renamed_from"]), (&json!("renamed"), &json!("f:old")));
    assert_eq!((done.code(), &row["judged"]["verdict"]), (Some(1), &json!("worse")));
    assert!(done.out().contains("renamed, was f:old"), "{}", done.out());
}

#[test]
fn every_form_has_the_same_rows() {
    let dir = Dir::new("forms");
    Run::default().write(&dir.join("a.log"));
    Run::default().slower(2, 30).write(&dir.join("b.log"));
    let text = compare(&dir, &["a.log", "b.log"]).out();
    let markdown = compare(&dir, &["a.log", "b.log", "--markdown", "-"]).out();
    let page = compare(&dir, &["a.log", "b.log", "--html", "-"]).out();
    let json = compare(&dir, &["a.log", "b.log", "--json", "-"]);
    serde_json::from_slice::<Value>(&json.stdout).expect("nothing but JSON on stdout");
    for number in ["+60.07", "200.22", "260.28", "+30.0", "unmapped id 43"] {
        assert!(text.contains(number), "{number} in {text}");
        assert!(markdown.contains(number), "{number} in {markdown}");
        assert!(page.contains(number), "{number} in the page");
    }
    assert!(markdown.starts_with("## base a.log (1 run), new b.log (1 run)\n"), "{markdown}");
}

#[test]
fn wrong_calls_are_told_in_one_line() {
    let dir = Dir::new("wrong");
    for (label, name) in [("x", "a.log"), ("y", "b.log"), ("z", "c.log")] {
        Run::default().with("label", json!(label)).write(&dir.join(name));
    }
    std::fs::write(dir.join("empty"), "").unwrap();
    for (words, told) in [
        (&["a.log"][..], "two runs at least"),
        (&["a.log", "missing"], "cannot read missing"),
        (&["a.log", "empty"], "nothing to compare"),
        (&["--label", "x", "a.log", "a.log"], "--label is given twice"),
        (&["--label", "x", "--label", "y", "a.log"], "no run has the label 'y': they have x"),
        (&["--label", "x", "--label", "x", "a.log", "b.log"], "--label x is given twice"),
        (
            &["--label", "x", "--label", "y", "a.log", "b.log", "c.log"],
            "c.log has neither label, 'x' nor 'y'",
        ),
        (&["a.log", "a.log", "--threshold", "much"], "is not a percentage"),
    ] {
        let done = compare(&dir, words);
        assert_eq!(done.code(), Some(2), "{words:?}: {}", done.err());
        assert!(done.complaint().contains(told), "{words:?}: {}", done.err());
    }
}

#[test]
fn runs_of_the_demo_are_compared_from_their_folders() {
    let dir = Dir::new("folders");
    let words = |out: &str| {
        let run =
            format!("-p -o {out} --label {out} --echo none -- {BIN} demo-target --tokens 2 --commands 6");
        run.split(' ').map(str::to_owned).collect::<Vec<_>>()
    };
    for out in ["one", "two"] {
        assert_eq!(wrap(words(out)).cwd(dir.path()).run().code(), Some(0));
    }
    let (done, c) = comparison(&dir, &["one", "two"]);
    assert!(matches!(done.code(), Some(0 | 1)), "{}", done.err());
    assert_eq!(c["programs"].as_array().unwrap().len(), 2);
    assert_eq!(c["not_comparable"], json!([]));
}

#[test]
fn the_split_is_compared_row_by_row() {
    let dir = Dir::new("split");
    let model = "load_tensors:         HRX0 model buffer size =  1000.00 MiB";
    let begin = "llama_model_loader: loaded meta data with 20 key-value pairs and 398 tensors from m.gguf (version GGUF V3 (latest))";
    let with = |packed: &'static str| Run { log: vec![begin, model, packed], ..Run::default() };
    with("hrx host-weight-cache: resident=300MiB weights=38").folder(&dir.join("a"), &[Some(1_400); 4]);
    with("hrx host-weight-cache: resident=400MiB weights=38").folder(&dir.join("b"), &[Some(1_500); 4]);
    with("nothing of weights").folder(&dir.join("c"), &[Some(1_100); 4]);
    let (done, c) = comparison(&dir, &["a", "b"]);
    let row = |c: &Value, name: &str| {
        let rows = c["memory"].as_array().unwrap();
        rows.iter().find(|r| r["name"] == name).unwrap_or_else(|| panic!("no {name} in {rows:?}")).clone()
    };
    assert_eq!((done.code(), &row(&c, "packed")["verdict"]), (Some(1), &json!("worse")), "{}", done.out());
    assert_eq!(row(&c, "packed")["change_bytes"], 100.0 * 1_048_576.0);
    assert_eq!(row(&c, "model HRX0")["verdict"], "same");
    assert_eq!(row(&c, "process peak")["verdict"], "cannot-tell", "one sampled figure a side");
    let (_, c) = comparison(&dir, &["a", "c"]);
    assert!(
        row(&c, "packed")["verdict"].is_null() && row(&c, "packed")["why"].is_string(),
        "unknown is no change"
    );
    let (done, c) = comparison(&dir, &["a", "a", "a", "--vs", "b", "b", "b"]);
    assert_eq!(row(&c, "process peak")["verdict"], "worse");
    assert!(done.out().contains("GTT SPLIT") && done.out().contains("+100.0"), "{}", done.out());
}
