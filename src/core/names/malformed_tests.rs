//! Manifests that are not what they should be.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::tests::{export, manifest, read, with};
use super::*;

/// What is said of a file that is no manifest.
#[track_caller]
fn refused(text: &[u8]) -> String {
    let mut catalogue = Catalogue::default();
    let said = catalogue.add_manifest(text, "hrx", Origin::Given, "m.json").unwrap_err();
    assert_eq!(catalogue.iter().count(), 0, "nothing of it was added");
    said
}

#[test]
fn broken_json_is_named_with_line_and_column() {
    let whole = manifest(&[export("k", Some("hrx"), &["a"])]);
    for cut in [1, 2, whole.len() / 3, whole.len() / 2, whole.len() - 2] {
        let said = refused(&whole[..cut]);
        assert!(said.starts_with("m.json: line ") && said.contains("EOF"), "{said}");
    }
    for (text, said) in [
        (&b""[..], "m.json: line 1, column 0: EOF while parsing a value"),
        (
            b"{\n  \"exports\": 7\n}",
            "m.json: line 2, column 14: invalid type: integer `7`, expected a list of exports",
        ),
        (
            b"{\"exports\": {\".\": 1}}",
            "m.json: line 1, column 12: invalid type: map, expected a list of exports",
        ),
        (b"[1]", "m.json: line 1, column 0: invalid type: sequence, expected an object with \"exports\""),
        (b"{}", "m.json: no \"exports\" in it: not a kernel manifest"),
        (b"{\"exports\": []} x", "m.json: line 1, column 17: trailing characters"),
        (b"{\"exports\": [{\"name\": \"a\xffb\"}]}", "m.json: line 1, column 25: invalid unicode code point"),
    ] {
        assert_eq!(refused(text), said, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn a_bad_export_is_named_and_does_not_lose_the_others() {
    let good = || export("good", Some("hrx"), &["a"]);
    for (bad, said) in [
        (json!({"family": "hrx"}), "it has no name"),
        (with(good(), "name", "".into()), "it has no name"),
        (with(good(), "name", 7.into()), "its name is a number, not a text"),
        (with(good(), "family", json!([])), "its family is a list, not a text"),
        (with(good(), "name", "n".repeat(5000).into()), "its name has 5000 bytes, more than 1024"),
        (json!("text"), "it is a text, not an object"),
        (json!(null), "it is null, not an object"),
        (json!(-1.5), "it is a number, not an object"),
        (json!([[[]]]), "it is a list, not an object"),
        (json!(true), "it is true or false, not an object"),
    ] {
        let (catalogue, added) = read(&manifest(&[bad, good()]), "hrx");
        assert_eq!(added.notes, [format!("m.json: exports[0]: {said}")]);
        assert_eq!((added.exports, catalogue.iter().count()), (1, 1));
    }
}

#[test]
fn what_is_odd_beside_the_name_costs_only_itself() {
    let k = || export("k", Some("hrx"), &["a"]);
    for (odd, bindings, notes) in [
        (with(k(), "source", 5.into()), Some(1), vec!["its source is a number, not a text"]),
        (
            with(k(), "target_selector", json!({})),
            Some(1),
            vec!["its target_selector is an object, not a text"],
        ),
        (with(k(), "bindings", "three".into()), None, vec!["the bindings of k are a text, not a list"]),
        (with(k(), "bindings", json!(-3)), None, vec!["the bindings of k are a number, not a list"]),
        (with(k(), "bindings", 1.into()), Some(1), vec![]),
        (with(k(), "bindings", Value::Null), None, vec![]),
        (json!({"name": "k", "family": "hrx"}), None, vec![]),
    ] {
        let (catalogue, added) = read(&manifest(&[odd]), "hrx");
        let notes: Vec<String> = notes.iter().map(|n| format!("m.json: exports[0]: {n}")).collect();
        assert_eq!(added.notes, notes);
        assert_eq!(catalogue.get(kernel_id("hrx", "k")).unwrap().bindings, bindings);
    }
}

#[test]
fn many_bad_exports_are_counted() {
    let bad = vec![json!(1); 1000];
    let (_, added) = read(&manifest(&bad), "hrx");
    assert_eq!(added.notes.len(), MAX_NOTES + 1);
    assert_eq!(added.notes[MAX_NOTES], "m.json: 995 more exports with something wrong");
}

#[test]
fn large_and_deep_files_are_read_or_refused_in_bounded_memory() {
    let many: Vec<Value> =
        (0..4000).map(|i| export(&format!("kernel_{i}"), Some("hrx"), &["a", "b"])).collect();
    let text = manifest(&many);
    assert!(text.len() > 2 << 20, "{} bytes", text.len());
    assert_eq!(read(&text, "hrx").1, Added { exports: 4000, kernels: 4000, notes: vec![] });
    let deep = |inside: &str| [inside, &"[".repeat(1 << 20), &"]".repeat(1 << 20)].concat();
    // Nobody looks inside what names nothing.
    let beside = format!("{}, \"exports\": [{{\"name\": \"k\"}}]}}", deep("{\"files\": "));
    assert_eq!(read(beside.as_bytes(), "hrx").1.exports, 1);
    let inside = format!("{}]}}", deep("{\"exports\": ["));
    assert_eq!(read(inside.as_bytes(), "hrx").1.notes, ["m.json: exports[0]: it is a list, not an object"]);
    let nested = ["{\"exports\": [", &"{\"name\":".repeat(1 << 20)].concat();
    assert!(refused(nested.as_bytes()).contains("recursion limit exceeded"));
    let endless = ["{\"exports\": [", &"{},".repeat(100_001), "{}]}"].concat();
    assert!(refused(endless.as_bytes()).ends_with(": more than 100000 exports"));
}

#[test]
fn no_note_carries_raw_or_endless_text() {
    let ugly = "\u{1b}[31m\u{202e}".repeat(20);
    let text = manifest(&[export(&ugly, Some("hrx"), &["a"]), export(&ugly, Some("hrx"), &["a", "b"])]);
    let mut catalogue = Catalogue::default();
    let added = catalogue.add_manifest(&text, "hrx", Origin::Given, "\u{1b}m.json").unwrap();
    assert_eq!(added.notes.len(), 2);
    let said = refused(["{\"exports\": \"", &"\u{9b}".repeat(5000), "\"}"].concat().as_bytes());
    for note in added.notes.iter().chain([&said]) {
        assert!(note.chars().count() < 300 && *note == printable(note.as_bytes()), "{note}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let keys = "name|family|source|target_selector|bindings|binding_access|exports|x";
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(keys, inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Catalogue::default().add_manifest(&bytes, "hrx", Origin::Found, "m.json");
    }

    #[test]
    fn any_json_is_read_or_refused_and_any_list_of_exports_is_read(json in value()) {
        let text = serde_json::to_vec(&json).unwrap();
        let _ = Catalogue::default().add_manifest(&text, "hrx", Origin::Found, "m.json");
        if json.is_array() {
            let text = serde_json::to_vec(&json!({"exports": json})).unwrap();
            let mut catalogue = Catalogue::default();
            let added = catalogue.add_manifest(&text, "hrx", Origin::Found, "m.json").unwrap();
            prop_assert_eq!(added.kernels, catalogue.iter().count());
            prop_assert!(catalogue.iter().all(|(id, n)| n.id() == id));
        }
    }

    #[test]
    fn damage_anywhere_is_read_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = manifest(&[export("k", Some("hrx"), &["a"]), export("l", None, &["a", "b"])]);
        let at = at.index(text.len());
        text[at] = byte;
        let _ = Catalogue::default().add_manifest(&text, "hrx", Origin::Found, "m.json");
    }
}
