use std::fs;

use super::*;

/// A fresh folder, gone with the test.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("hrx-wrap-manifests-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Dir(path)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// How many names are from given manifests, from found ones, and from the built-in list.
    fn counts(&self, given: &[&str], program: &str) -> [usize; 3] {
        let given: Vec<_> = given.iter().map(|g| self.0.join(g)).collect();
        let loaded = gather(&given, Some(&self.0.join(program)));
        assert_eq!(loaded.notes, [""; 0]);
        [Origin::Given, Origin::Found, Origin::BuiltIn].map(|o| loaded.catalogue.count(o))
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const TWO: &str = r#"{"exports": [{"name": "a", "family": "hrx"}, {"name": "b", "family": "hrx"}]}"#;
const ONE: &str = r#"{"exports": [{"name": "c", "family": "loom_libs", "bindings": ["x", "y"]}]}"#;
const KERNELS: &str = "llama.cpp/ggml/src/ggml-hrx/kernel-corpus/kernels";

#[test]
fn manifests_are_found_up_to_six_folders_above_the_programs() {
    let dir = Dir::new("levels");
    dir.put(&format!("{KERNELS}/hrx/manifest.json"), TWO);
    dir.put(&format!("{KERNELS}/loom-libs/manifest.json"), ONE);
    for program in ["llama.cpp/x", "llama.cpp/build/bin/x", "llama.cpp/1/2/3/4/5/6/x"] {
        dir.put(program, "");
        assert_eq!(dir.counts(&[], program), [0, 3, 273], "{program}");
    }
    dir.put("llama.cpp/1/2/3/4/5/6/7/x", "");
    assert_eq!(dir.counts(&[], "llama.cpp/1/2/3/4/5/6/7/x"), [0, 0, 273], "too far");
    std::os::unix::fs::symlink(dir.0.join("llama.cpp/build/bin/x"), dir.0.join("link")).unwrap();
    assert_eq!(dir.counts(&[], "link"), [0, 3, 273], "what a link leads to counts");
    assert_eq!(dir.counts(&[], "absent/x"), [0, 0, 273]);
    assert_eq!(gather(&[], Some(Path::new(""))).notes, [""; 0]);
    let said = ["273 kernels known: 273 from the built-in list"];
    assert_eq!(gather(&[], None).sources, said);
}

#[test]
fn the_nearest_folder_with_manifests_ends_the_search() {
    let dir = Dir::new("nearest");
    dir.put(&format!("{KERNELS}/hrx/manifest.json"), TWO);
    dir.put("llama.cpp/build/kernel-corpus/kernels/loom-libs/manifest.json", ONE);
    dir.put("llama.cpp/build/bin/x", "");
    assert_eq!(dir.counts(&[], "llama.cpp/build/bin/x"), [0, 1, 273]);
}

#[test]
fn what_is_given_is_not_found_again() {
    let dir = Dir::new("given");
    dir.put(&format!("{KERNELS}/hrx/manifest.json"), TWO);
    dir.put("llama.cpp/x", "");
    assert_eq!(dir.counts(&[KERNELS], "llama.cpp/x"), [2, 0, 273]);
}

#[test]
fn sources_are_sentences() {
    let dir = Dir::new("sources");
    dir.put(&format!("{KERNELS}/hrx/manifest.json"), TWO);
    dir.put("given.json", ONE);
    let loaded = gather(&[dir.0.join("given.json")], Some(&dir.0.join("llama.cpp/x")));
    let [given, found, all] = &loaded.sources[..] else { panic!("{:?}", loaded.sources) };
    assert!(given.ends_with("/given.json (given): 1 export, 1 kernel"), "{given}");
    assert!(found.ends_with("/kernels/hrx/manifest.json (found): 2 exports, 2 kernels"), "{found}");
    assert_eq!(
        all,
        "276 kernels known: 1 from given manifests, 2 from found ones, 273 from the built-in list"
    );
}

#[test]
fn more_manifests_than_are_read_is_said() {
    let dir = Dir::new("many");
    for n in 0..=MAX_FILES {
        dir.put(&format!("{n}/manifest.json"), &format!(r#"{{"exports": [{{"name": "k{n}"}}]}}"#));
    }
    let loaded = gather(std::slice::from_ref(&dir.0), None);
    assert_eq!(loaded.catalogue.count(Origin::Given), MAX_FILES);
    let [note] = &loaded.notes[..] else { panic!("{:?}", loaded.notes) };
    assert!(note.ends_with("1001 manifests there, the first 1000 are read"), "{note}");
}

#[test]
fn a_given_path_that_is_not_there_is_a_note() {
    let loaded = gather(&[PathBuf::from("/nowhere/at\x1ball")], None);
    assert_eq!(loaded.notes, ["/nowhere/at\\u{1b}all: No such file or directory (os error 2)"]);
    assert_eq!(loaded.catalogue.count(Origin::BuiltIn), 273);
    let (_, said) = load(&[PathBuf::from("/nowhere/at\x1ball")], None);
    assert_eq!(said, [loaded.sources, loaded.notes].concat());
}
