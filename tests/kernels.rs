//! `hrx-wrap kernels`: ids and names, both ways, from manifests as builds have them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod common;

use common::{Dir, Done, wrap};
use hrx_wrap::core::kernel_id::kernel_id;
use serde_json::{Value, json};

/// Where a llama.cpp tree has its manifests.
const KERNELS: &str = "llama.cpp/ggml/src/ggml-hrx/kernel-corpus/kernels";

fn kernels(dir: &Dir, words: &[&str]) -> Done {
    wrap(["kernels"].iter().chain(words)).cwd(dir.path()).run()
}

/// A manifest with exports of these names, each with this many bindings.
fn manifest(family: Option<&str>, exports: &[(&str, usize)]) -> String {
    let export = |(name, bindings): &(&str, usize)| {
        let mut export = json!({
            "name": name,
            "symbol": name,
            "source": "ops/some file.loom",
            "workload_parameters": [],
            "launch_parameters": [{"name": "token_count", "type": "index"}],
            "bindings": (0..*bindings).map(|n| format!("b{n}")).collect::<Vec<_>>(),
            "binding_access": vec!["read"; *bindings],
            "target_selector": "",
            "compile_recipe": {"mode": "direct", "primary_sources": [], "library_sources": []},
            "compile_dependencies": [],
        });
        if let Some(family) = family {
            export["family"] = family.into();
        }
        export
    };
    let exports: Vec<Value> = exports.iter().map(export).collect();
    json!({"schema": "ggml-hrx-kernel-corpus-v1", "files": [], "exports": exports}).to_string()
}

fn put(dir: &Dir, path: &str, text: impl AsRef<[u8]>) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The cells of a line of the list.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect()
}

/// The one line that was printed, in cells.
#[track_caller]
fn one(done: &Done) -> Vec<String> {
    let out = done.out();
    assert_eq!((done.code(), out.lines().count()), (Some(0), 1), "{out}{}", done.err());
    cells(out.trim_end()).into_iter().map(str::to_owned).collect()
}

#[test]
fn without_words_the_whole_catalogue_is_listed_in_order() {
    let dir = Dir::new("list");
    let done = kernels(&dir, &[]);
    assert_eq!((done.code(), done.err().as_str()), (Some(0), ""));
    let out = done.out();
    let names: Vec<_> = out.lines().map(|l| cells(l)[1].split_once(':').unwrap()).collect();
    assert_eq!(names.len(), 273);
    assert!(names.is_sorted());
    for line in out.lines() {
        let cells = cells(line);
        let (family, name) = cells[1].split_once(':').unwrap();
        assert_eq!(cells[0], kernel_id(family, name).to_string());
        assert_eq!(cells[2..], ["-", "-", "built-in"]);
    }
}

#[test]
fn an_id_has_its_name_however_it_is_written() {
    let dir = Dir::new("ids");
    let id = kernel_id("loom_libs", "ggml_mul_mat_f32_f32_wmma");
    for word in [format!("{id}"), format!("0x{id:x}"), format!("0X{id:X}"), format!("kernel_id={id}")] {
        assert_eq!(
            one(&kernels(&dir, &[&word])),
            ["5916100870017593149", "loom_libs:ggml_mul_mat_f32_f32_wmma", "-", "-", "built-in"]
        );
    }
    assert_eq!(one(&kernels(&dir, &["0"])), ["0", "uncatalogued", "-", "-", "-"]);
}

#[test]
fn a_name_has_its_id_with_and_without_family() {
    let dir = Dir::new("names");
    let exact = kernels(&dir, &["hrx:ggml_gather_add_f32"]);
    assert_eq!(one(&exact)[0], kernel_id("hrx", "ggml_gather_add_f32").to_string());
    let every = kernels(&dir, &["ggml_gather_add_f32"]);
    let out = every.out();
    let names: Vec<&str> = out.lines().map(|l| cells(l)[1]).collect();
    assert_eq!(names, ["hrx:ggml_gather_add_f32", "qwen3_moe:ggml_gather_add_f32"]);
    assert_eq!(one(&kernels(&dir, &["iq3xxs"]))[1], "hrx:ggml_mul_mat_vec_iq3xxs_f32");
}

#[test]
fn a_name_that_no_manifest_has_is_computed_and_says_so() {
    let dir = Dir::new("computed");
    let hip = kernels(&dir, &["hip:my_kernel"]);
    assert_eq!(hip.err(), "", "a HIP kernel never is in a manifest");
    assert_eq!(
        one(&hip),
        [&kernel_id("hip", "my_kernel").to_string(), "hip:my_kernel", "-", "-", "computed"]
    );
    let other = kernels(&dir, &["loom_libs:ggml_typo"]);
    assert!(other.complaint().contains("loom_libs:ggml_typo is in no manifest"), "{}", other.err());
    assert_eq!(one(&other)[4], "computed");
    // The first colon ends the family.
    assert_eq!(one(&kernels(&dir, &["hip:a:b"]))[0], kernel_id("hip", "a:b").to_string());
}

#[test]
fn what_stands_for_nothing_is_named_and_the_rest_is_answered() {
    let dir = Dir::new("missing");
    let done = kernels(&dir, &["12345"]);
    assert_eq!((done.code(), done.out().as_str()), (Some(1), ""));
    let line = done.complaint();
    assert!(line.contains("id 12345") && line.contains("--manifests DIR"), "{line}");
    let done = kernels(&dir, &["no_such_kernel", "iq3xxs", "7"]);
    assert_eq!((done.code(), done.out().lines().count(), done.err().lines().count()), (Some(1), 1, 2));
    assert!(done.err().contains("'no_such_kernel'"), "{}", done.err());
}

#[test]
fn bad_words_and_paths_are_refused_before_anything_is_printed() {
    let dir = Dir::new("usage");
    for (words, holds) in [
        (&["iq3xxs", ""][..], "''"),
        (&["18446744073709551616"], "64 bits"),
        (&["0xnothex"], "'0xnothex'"),
        (&["0x+1"], "'0x+1'"),
        (&["12ab"], "'12ab'"),
        (&["kernel_id="], "'kernel_id='"),
        (&[":name"], "FAMILY:NAME"),
        (&["family:"], "FAMILY:NAME"),
        (&["--manifests", "nowhere"], "nowhere"),
        (&["--bogus"], "hrx-wrap kernels --help"),
        (&["--manifests"], "--manifests"),
    ] {
        let done = kernels(&dir, words);
        assert_eq!((done.code(), done.out().as_str()), (Some(2), ""), "{words:?}");
        assert!(done.complaint().contains(holds), "{words:?}: {}", done.err());
    }
}

#[test]
fn manifests_are_found_in_every_shape_of_folder() {
    let dir = Dir::new("shapes");
    put(&dir, "one/manifest.json", manifest(Some("hrx"), &[("shape_own", 1)]));
    put(&dir, "many/qwen/manifest.json", manifest(None, &[("shape_inside", 2)]));
    put(&dir, "many/README", "no manifest");
    put(&dir, "flat/loom-libs.json", manifest(None, &[("shape_flat", 3)]));
    put(&dir, "flat/package.json", r#"{"name": "something else"}"#);
    put(&dir, "flat/broken-but-other.json", "{");
    put(&dir, &format!("{KERNELS}/hrx/manifest.json"), manifest(None, &[("shape_tree", 4)]));
    for (path, name, families) in [
        ("one", "shape_own", &["hrx"][..]),
        ("one/manifest.json", "shape_own", &["hrx"]),
        ("many", "shape_inside", &["qwen", "qwen3_moe"]),
        ("many/qwen", "shape_inside", &["qwen", "qwen3_moe"]),
        ("many/qwen/manifest.json", "shape_inside", &["qwen", "qwen3_moe"]),
        ("flat", "shape_flat", &["loom_libs", "qwen3_moe"]),
        ("llama.cpp", "shape_tree", &["hrx", "qwen3_moe"]),
        ("llama.cpp/ggml/src/ggml-hrx", "shape_tree", &["hrx", "qwen3_moe"]),
        ("llama.cpp/ggml/src/ggml-hrx/kernel-corpus", "shape_tree", &["hrx", "qwen3_moe"]),
        (KERNELS, "shape_tree", &["hrx", "qwen3_moe"]),
    ] {
        let done = kernels(&dir, &["--manifests", path, name]);
        assert_eq!((done.code(), done.err().as_str()), (Some(0), ""), "{path}");
        let expected: Vec<String> = families.iter().map(|f| format!("{f}:{name}")).collect();
        let out = done.out();
        let found: Vec<&str> = out.lines().map(|l| cells(l)[1]).collect();
        assert_eq!(found, expected, "{path}");
        assert!(out.lines().all(|l| cells(l)[3..] == ["ops/some file.loom", "given"]), "{out}");
    }
    let inside = wrap(["kernels", "--manifests", "manifest.json", "shape_inside"]);
    assert_eq!(
        inside.cwd(&dir.join("many/qwen")).run().out().lines().count(),
        2,
        "its folder's name is known"
    );
}

#[test]
fn given_manifests_win_and_may_be_given_twice() {
    let dir = Dir::new("twice");
    put(&dir, "a/hrx/manifest.json", manifest(Some("hrx"), &[("ggml_gather_add_f32", 4)]));
    put(&dir, "b/hrx/manifest.json", manifest(Some("hrx"), &[("ggml_gather_add_f32", 5), ("other", 1)]));
    let word = "hrx:ggml_gather_add_f32";
    assert_eq!(one(&kernels(&dir, &[word]))[4], "built-in");
    let same = kernels(&dir, &["--manifests", "a", "--manifests", "a/hrx", "--manifests=./a", word]);
    assert_eq!(same.err(), "", "one file is read once");
    assert_eq!(one(&same)[2..], ["4", "ops/some file.loom", "given"]);
    let both = kernels(&dir, &["--manifests", "a", "--manifests", "b", word]);
    let line = both.complaint();
    assert!(line.contains("b/hrx/manifest.json: exports[0]: hrx:ggml_gather_add_f32 has 5"), "{line}");
    assert_eq!(one(&both)[2], "4");
}

#[test]
fn a_bad_manifest_is_a_note_and_the_others_are_read() {
    let dir = Dir::new("bad");
    let good = manifest(Some("hrx"), &[("still_there", 2)]);
    put(&dir, "k/a/manifest.json", &good[..good.len() / 2]);
    put(&dir, "k/b/manifest.json", r#"{"exports": 7}"#);
    put(&dir, "k/c/manifest.json", &good);
    put(&dir, "k/d/manifest.json", b"{\"exports\": [{\"name\": \"\xff\"}]}");
    put(&dir, "k/e/manifest.json", "{}");
    put(&dir, "k/f/manifest.json", r#"{"exports": [{"name": 1}, {"name": "fine"}]}"#);
    let large = std::fs::File::create(dir.join("k/large.json")).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    let done = kernels(&dir, &["--manifests", "k", "--manifests", "k/large.json", "still_there"]);
    assert_eq!((done.code(), done.out().lines().count()), (Some(0), 1), "{}", done.err());
    let notes = done.err();
    for (line, holds) in notes.lines().zip([
        "k/a/manifest.json: line 1, column ",
        "k/b/manifest.json: line 1, column ",
        "k/d/manifest.json: line 1, column ",
        "k/e/manifest.json: no \"exports\"",
        "k/f/manifest.json: exports[0]: its name is a number",
        "k/large.json: larger than 64 MiB",
    ]) {
        assert!(line.starts_with("hrx-wrap: ") && line.contains(holds), "{line:?} lacks {holds:?}");
    }
    assert_eq!(notes.lines().count(), 6, "{notes}");
    std::fs::create_dir(dir.join("empty")).unwrap();
    let done = kernels(&dir, &["--manifests", "empty", "still_there"]);
    assert_eq!(done.code(), Some(1));
    assert!(done.err().starts_with("hrx-wrap: empty: no kernel manifest there"), "{}", done.err());
}

#[test]
fn a_strangers_text_reaches_no_terminal_raw() {
    let dir = Dir::new("ugly");
    let ugly = "x\u{1b}[31m\u{202e}\u{9b}\n";
    put(&dir, "k/manifest.json", manifest(Some(ugly), &[(ugly, 2), (ugly, 3)]));
    for words in [&["--manifests", "k", "[31m"][..], &["--manifests", "k", "--json", "[31m"]] {
        let done = kernels(&dir, words);
        assert_eq!(done.code(), Some(0));
        for text in [done.out(), done.err()] {
            let raw = text.chars().find(|c| *c != '\n' && (c.is_control() || *c == '\u{202e}'));
            assert_eq!(raw, None, "{text:?}");
        }
        assert!(done.out().contains("[31m"));
    }
}

#[test]
fn json_has_ids_as_strings_and_unknown_as_null() {
    let dir = Dir::new("json");
    put(&dir, "k/hrx/manifest.json", manifest(Some("hrx"), &[("mine", 3)]));
    let words =
        ["--json", "--manifests", "k", "hrx:mine", "0", "hip:s", "hrx:ggml_gather_add_f32", "no_such"];
    let done = kernels(&dir, &words);
    assert_eq!(done.code(), Some(1));
    let all: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&all["schema"], &all["missing"]), (&json!("hrx-wrap/1"), &json!(["no_such"])));
    let id = |family, name| kernel_id(family, name).to_string();
    let expected = json!([
        {"id": id("hrx", "mine"), "family": "hrx", "name": "mine", "bindings": 3, "source": "ops/some file.loom",
         "targets": [""], "origin": "given"},
        {"id": "0", "family": null, "name": "uncatalogued", "bindings": null, "source": null, "targets": null,
         "origin": null},
        {"id": id("hip", "s"), "family": "hip", "name": "s", "bindings": null, "source": null, "targets": null,
         "origin": "computed"},
        {"id": id("hrx", "ggml_gather_add_f32"), "family": "hrx", "name": "ggml_gather_add_f32", "bindings": null,
         "source": null, "targets": null, "origin": "built-in"},
    ]);
    assert_eq!(all["kernels"], expected);
    assert_eq!(all["notes"], json!([]));
    let whole = kernels(&dir, &["--json"]);
    let all: Value = serde_json::from_slice(&whole.stdout).unwrap();
    assert_eq!(all["kernels"].as_array().unwrap().len(), 273);
}

#[test]
fn a_reader_that_is_gone_is_no_failure_and_a_full_disk_is_one() {
    let (from, to) = common::pipe();
    drop(from);
    let done = wrap(["kernels"]).stdout(to).run();
    assert_eq!((done.code(), done.err().as_str()), (Some(0), ""));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let done = wrap(["kernels"]).stdout(full).run();
    assert_eq!(done.code(), Some(2));
    assert!(done.complaint().contains("standard output"), "{}", done.err());
}
