//! The house's rules about itself: imports point down, `unsafe` and the kernel's interfaces stay in `sys` and in the object
//! that a target preloads.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

use std::path::{Path, PathBuf};

/// Who may import whom, by the first folder or file below `src`.
const MAY: [(&str, &[&str]); 7] = [
    ("core", &["core"]),
    ("sys", &["sys", "core"]),
    ("live", &["live", "sys", "core"]),
    ("report", &["report", "core"]),
    ("cmd", &["cmd", "cli", "report", "live", "sys", "core"]),
    ("cli", &["cli", "cmd", "core"]),
    ("main", &["cmd", "live", "sys"]),
];

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a source folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// Every source file with its layer and its text without comments.
fn files() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    sources(&root, &mut all);
    assert!(all.len() > 20, "the sources were not found");
    all.into_iter()
        .map(|path| {
            let name = path.strip_prefix(&root).expect("below src").display().to_string();
            let layer = name.split(['/', '.']).next().expect("a name").to_owned();
            let text = std::fs::read_to_string(&path).expect("a source file");
            let code: Vec<&str> = text.lines().map(|l| l.split("//").next().unwrap_or_default()).collect();
            (name, layer, code.join("\n"))
        })
        .collect()
}

/// The layers that a file names: `crate::x` and `hrx_wrap::x`, grouped imports taken apart.
fn named(code: &str) -> Vec<String> {
    let mut layers = Vec::new();
    for root in ["crate::", "hrx_wrap::"] {
        for (at, _) in code.match_indices(root) {
            let rest = &code[at + root.len()..];
            let group = rest.strip_prefix('{').map(|g| g.split('}').next().unwrap_or_default());
            let parts = group.unwrap_or(rest).split(if group.is_some() { ',' } else { ';' });
            let parts: Vec<&str> = if group.is_some() { parts.collect() } else { vec![rest] };
            for part in parts {
                let word: String =
                    part.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                layers.push(word);
            }
        }
    }
    layers
}

#[test]
fn imports_point_down() {
    let mut seen = 0;
    for (name, layer, code) in files() {
        if layer == "lib" {
            continue;
        }
        let may =
            MAY.iter().find(|(l, _)| *l == layer).unwrap_or_else(|| panic!("{name} is in no known layer"));
        for import in named(&code) {
            assert!(may.1.contains(&import.as_str()), "{name}: {layer} may not know {import}");
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} imports were seen");
}

#[test]
fn unsafe_and_the_kernels_interfaces_stay_in_sys() {
    let mut unsafe_blocks = 0;
    for (name, layer, code) in files() {
        let words: Vec<&str> = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        if layer == "sys" {
            unsafe_blocks += words.iter().filter(|w| **w == "unsafe").count();
            continue;
        }
        assert!(!words.contains(&"unsafe"), "{name} holds unsafe code");
        for interface in ["libc", "nix", "signal_hook"] {
            assert!(!words.contains(&interface), "{name} uses {interface}");
        }
    }
    assert!(unsafe_blocks > 20, "only {unsafe_blocks} unsafe words in sys: it was not read");
}

/// The object is a guest in somebody else's process: it is small, alone, and each of its unsafe blocks says why.
#[test]
fn the_preloaded_object_needs_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("preload");
    let mut found = Vec::new();
    sources(&folder, &mut found);
    let texts: Vec<(String, String)> = found
        .into_iter()
        .map(|path| {
            (path.display().to_string(), std::fs::read_to_string(&path).expect("the object's source"))
        })
        .collect();
    let whole: usize = texts.iter().map(|(_, text)| text.lines().count()).sum();
    assert!(whole < 700, "{whole} lines");
    assert!(texts.iter().any(|(_, text)| text.lines().any(|l| l == "#![no_std]")));
    let mut blocks = 0;
    for (name, text) in &texts {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, l)| !l.starts_with("//")) {
            for word in ["std::", "alloc::", "extern crate", "#[link("] {
                assert!(!line.contains(word), "{name}: {line}: the object links nothing");
            }
            if line.contains("unsafe {") {
                let said = lines[..at].iter().rev().take(4).any(|l| l.starts_with("// SAFETY: "));
                assert!(said, "{name}, line {}: no SAFETY line above {line}", at + 1);
                blocks += 1;
            }
        }
    }
    assert!(blocks > 10, "{blocks} unsafe blocks were seen");
}

#[test]
fn core_and_report_do_nothing_but_think() {
    for (name, layer, code) in files().into_iter().filter(|f| !f.0.ends_with("_tests.rs")) {
        if layer == "core" || layer == "report" {
            let code = code.split("#[cfg(test)]").next().unwrap_or_default();
            for world in
                ["std::fs", "std::net", "std::process", "std::thread", "std::env", "Instant", "SystemTime"]
            {
                assert!(!code.contains(world), "{name} reaches for {world}");
            }
        }
    }
}

#[test]
fn files_stay_readable() {
    for (name, _, code) in files().into_iter().filter(|f| !f.0.ends_with("_tests.rs")) {
        let lines = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().lines().count();
        assert!(lines <= 320, "{name} has {lines} lines: is there a second thing in it?");
    }
}
