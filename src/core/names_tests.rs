//! What ids stand for, and who says so.

use serde_json::{Value, json};

use super::*;

/// An export in the shape that public manifests have.
pub fn export(name: &str, family: Option<&str>, bindings: &[&str]) -> Value {
    let mut export = json!({
        "name": name,
        "symbol": name,
        "source": "ops/copy.loom",
        "workload_parameters": [{"name": "token_count", "type": "index"}],
        "launch_parameters": [{"name": "token_count", "type": "index"}],
        "bindings": bindings,
        "binding_access": bindings.iter().map(|_| "read_write").collect::<Vec<_>>(),
        "target_selector": "",
        "compile_recipe": {"mode": "direct", "primary_sources": ["ops/copy.loom"], "library_sources": []},
        "compile_dependencies": [],
    });
    if let Some(family) = family {
        export["family"] = family.into();
    }
    export
}

pub fn with(mut export: Value, field: &str, value: Value) -> Value {
    export[field] = value;
    export
}

pub fn manifest(exports: &[Value]) -> Vec<u8> {
    let whole = json!({
        "schema": "ggml-hrx-kernel-corpus-v1",
        "upstream_revision": "local",
        "files": [{"path": "ops/copy.loom"}],
        "exports": exports,
        "link_modules": [],
        "plan_cases": [],
    });
    serde_json::to_vec_pretty(&whole).unwrap()
}

/// A catalogue of one manifest that was given, and what it brought.
pub fn read(text: &[u8], directory: &str) -> (Catalogue, Added) {
    let mut catalogue = Catalogue::default();
    let added = catalogue.add_manifest(text, directory, Origin::Given, "m.json").unwrap();
    (catalogue, added)
}

fn labels(found: &[(u64, &Name)]) -> Vec<String> {
    found.iter().map(|(_, n)| n.label()).collect()
}

#[test]
fn every_id_of_the_built_in_list_is_the_hash_of_its_name() {
    let text = include_str!("../../data/hrx-kernels.tsv");
    let lines: Vec<Vec<&str>> =
        text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t').collect()).collect();
    assert_eq!(lines.len(), 273);
    let built_in = Catalogue::built_in();
    assert_eq!((built_in.iter().count(), built_in.collisions()), (273, None));
    for line in lines {
        let [family, name, id] = line[..] else { panic!("three fields: {line:?}") };
        assert_eq!(kernel_id(family, name).to_string(), id, "{family}:{name}");
        assert_eq!(built_in.get(id.parse().unwrap()), Some(&Name::bare(family, name, Origin::BuiltIn)));
    }
}

#[test]
fn known_ids_have_their_names() {
    let built_in = Catalogue::built_in();
    for (id, label) in [
        (5_916_100_870_017_593_149, "loom_libs:ggml_mul_mat_f32_f32_wmma"),
        (14_896_872_061_627_543_929, "qwen3_moe:qwen3_moe_routed_gate_up_swiglu_q4k_q8_1_x4_next_q8"),
        (11_938_313_152_504_284_411, "loom_libs:ggml_flash_attention_decode_split_f32_f16_wmma_next_q8"),
    ] {
        assert_eq!(built_in.get(id).map(Name::label).as_deref(), Some(label));
    }
    assert_eq!(built_in.get(UNCATALOGUED), None);
    assert_eq!(built_in.get(1), None);
}

#[test]
fn a_manifest_says_source_and_number_of_bindings() {
    let text = manifest(&[export("copy", Some("loom_libs"), &["source", "output"])]);
    let (catalogue, added) = read(&text, "anywhere");
    assert_eq!(added, Added { exports: 1, kernels: 1, notes: vec![] });
    let name = Name {
        source: Some("ops/copy.loom".into()),
        bindings: Some(2),
        targets: vec![String::new()],
        ..Name::bare("loom_libs", "copy", Origin::Given)
    };
    assert_eq!(catalogue.get(kernel_id("loom_libs", "copy")), Some(&name));
}

#[test]
fn an_export_without_family_stands_under_each_that_it_can_have() {
    for (directory, families) in [
        ("qwen_moe", &["qwen3_moe"][..]),
        ("qwen", &["qwen", "qwen3_moe"]),
        ("hrx", &["hrx", "qwen3_moe"]),
        ("loom-libs", &["loom_libs", "qwen3_moe"]),
        ("elsewhere", &["qwen3_moe"]),
        ("", &["qwen3_moe"]),
    ] {
        for none in [export("k", None, &[]), with(export("k", None, &[]), "family", Value::Null)] {
            let (catalogue, added) = read(&manifest(&[none]), directory);
            let found: Vec<&str> = catalogue.iter().map(|(_, n)| n.family.as_str()).collect();
            assert_eq!(found, families, "{directory}");
            assert_eq!((added.exports, added.kernels), (1, families.len()));
            assert!(catalogue.iter().all(|(id, n)| id == kernel_id(&n.family, "k")));
        }
    }
}

#[test]
fn variants_for_several_targets_are_one_kernel() {
    let of = |target: &str| with(export("k", Some("hrx"), &["a", "b"]), "target_selector", target.into());
    let (catalogue, added) = read(&manifest(&[of("gfx1201"), of(""), of("gfx1100")]), "hrx");
    assert_eq!(added, Added { exports: 3, kernels: 1, notes: vec![] });
    assert_eq!(catalogue.all(kernel_id("hrx", "k")).len(), 1);
    assert_eq!(catalogue.get(kernel_id("hrx", "k")).unwrap().targets, ["", "gfx1100", "gfx1201"]);
    let (_, added) = read(&manifest(&[of("gfx1201"), of("gfx1201")]), "hrx");
    assert_eq!(added.notes, ["m.json: exports[1]: hrx:k is there twice for the target 'gfx1201'"]);
}

#[test]
fn disagreement_about_bindings_is_a_note_and_the_first_counts() {
    let (mut catalogue, _) = read(&manifest(&[export("k", Some("hrx"), &["a", "b"])]), "hrx");
    let other = manifest(&[export("k", Some("hrx"), &["a"])]);
    let added = catalogue.add_manifest(&other, "hrx", Origin::Given, "other.json").unwrap();
    assert_eq!(
        added.notes,
        ["other.json: exports[0]: hrx:k has 1 bindings here and 2 before; the first counts"]
    );
    assert_eq!(catalogue.get(kernel_id("hrx", "k")).unwrap().bindings, Some(2));
    let odd = with(export("k", Some("hrx"), &["a", "b"]), "binding_access", json!(["read"]));
    let (_, added) = read(&manifest(&[odd]), "hrx");
    assert_eq!(added.notes, ["m.json: exports[0]: k has 2 bindings, and how 1 are accessed"]);
}

#[test]
fn the_stronger_origin_wins_in_any_order() {
    let id = kernel_id("hrx", "ggml_gather_add_f32");
    let of = |n: usize| manifest(&[export("ggml_gather_add_f32", Some("hrx"), &["x", "y", "z"][..n])]);
    let sources = [(Origin::Given, 1), (Origin::Found, 2)];
    for order in [[0, 1], [1, 0]] {
        let mut catalogue = Catalogue::built_in();
        assert_eq!(catalogue.get(id).map(|n| n.from), Some(Origin::BuiltIn));
        for i in order {
            let (origin, n) = sources[i];
            let added = catalogue.add_manifest(&of(n), "hrx", origin, "m.json").unwrap();
            assert_eq!(added.notes, [""; 0], "another origin is no disagreement");
        }
        let name = catalogue.get(id).unwrap();
        assert_eq!((name.from, name.bindings), (Origin::Given, Some(1)));
        assert_eq!(catalogue.all(id).len(), 1);
        assert_eq!([Origin::Given, Origin::Found, Origin::BuiltIn].map(|o| catalogue.count(o)), [1, 0, 272]);
    }
}

#[test]
fn kernels_come_by_family_and_name() {
    let exports = [
        export("b", Some("y"), &[]),
        export("a", Some("y"), &[]),
        export("c", Some("x"), &[]),
        export("z", Some("hip"), &[]),
    ];
    let (catalogue, _) = read(&manifest(&exports), "");
    let all: Vec<_> = catalogue.iter().collect();
    assert_eq!(labels(&all), ["hip:z", "x:c", "y:a", "y:b"]);
}

#[test]
fn a_word_stands_for_the_name_or_else_for_what_has_it() {
    let built_in = Catalogue::built_in();
    let found = |word: &str| labels(&built_in.lookup(word));
    assert_eq!(found("ggml_gather_add_f32"), ["hrx:ggml_gather_add_f32", "qwen3_moe:ggml_gather_add_f32"]);
    assert_eq!(found("hrx:ggml_gather_add_f32"), ["hrx:ggml_gather_add_f32"]);
    assert_eq!(found("IQ3XXS"), ["hrx:ggml_mul_mat_vec_iq3xxs_f32"]);
    assert_eq!(found("hrx:").len(), 2);
    assert_eq!(found("no such kernel"), [""; 0]);
}

#[test]
fn an_id_with_two_names_is_said() {
    // The separator is a zero byte, so that a name with one in it can stand for another family's.
    let exports = [export("b\0c", Some("a"), &[]), export("c", Some("a\0b"), &[])];
    let (catalogue, added) = read(&manifest(&exports), "");
    assert_eq!((added.exports, added.kernels), (2, 2));
    let id = kernel_id("a", "b\0c");
    assert_eq!(catalogue.all(id).len(), 2);
    let said = catalogue.collisions().unwrap();
    assert_eq!(
        said,
        format!("1 id with more than one name, the first of them {id}: a:b\\u{{0}}c and a\\u{{0}}b:c")
    );
}
