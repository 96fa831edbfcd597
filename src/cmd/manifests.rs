//! Finds and reads kernel manifests. A bad one costs its own names and a sentence, never more.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::core::names::{Added, Catalogue, Origin};
use crate::core::text::{count, printable};

/// A larger file is no manifest (public ones have up to 300 KB).
const MAX_BYTES: u64 = 64 << 20;
/// So many manifests are read of one folder.
const MAX_FILES: usize = 1000;
/// How far above the program's folder manifests are looked for: `build/bin` and what else may lie between.
const MAX_LEVELS: usize = 6;
/// Where the folders with manifests are in a source tree, and in parts of one.
const TREES: [&str; 2] = ["ggml/src/ggml-hrx/kernel-corpus/kernels", "kernel-corpus/kernels"];

/// Names from every source.
#[derive(Debug)]
pub struct Loaded {
    /// Ids and their names.
    pub catalogue: Catalogue,
    /// Sentences: which manifest named how many kernels, and at the end how many have their name from where.
    pub sources: Vec<String>,
    /// Sentences about what could not be read, with file and place.
    pub notes: Vec<String>,
}

/// Whether what the user names is there: a wrong word is better found before a run than in its report.
///
/// # Errors
/// A sentence with the path and the remedy.
pub fn check(given: &[PathBuf]) -> anyhow::Result<()> {
    for path in given {
        if let Err(error) = path.metadata() {
            bail!(
                "--manifests {}: {}: name a manifest, a folder of manifests, or a source tree",
                path.display(),
                error
            );
        }
    }
    Ok(())
}

/// As [`gather`], with what is to be said of names in a report: the sources, then what could not be read.
pub fn load(given: &[PathBuf], binary: Option<&Path>) -> (Catalogue, Vec<String>) {
    let loaded = gather(given, binary);
    (loaded.catalogue, [loaded.sources, loaded.notes].concat())
}

/// Names from the built-in list, from `given` (each a manifest, a folder of manifests or of folders with one, or a
/// source tree), and from the source tree that `binary` (a path, not a name to search) lies in.
pub fn gather(given: &[PathBuf], binary: Option<&Path>) -> Loaded {
    let mut loading = Loading::default();
    for path in given {
        loading.given(path);
    }
    if let Some(binary) = binary {
        loading.beside(binary);
    }
    let Loading { catalogue, mut sources, mut notes, .. } = loading;
    notes.extend(catalogue.collisions());
    sources.push(totals(&catalogue));
    Loaded { catalogue, sources, notes }
}

/// How many kernels have their name from where.
fn totals(catalogue: &Catalogue) -> String {
    let from = [
        (Origin::Given, "given manifests"),
        (Origin::Found, "found ones"),
        (Origin::BuiltIn, "the built-in list"),
    ];
    let counts = from.map(|(origin, words)| (catalogue.count(origin), words));
    let parts: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} from {words}")).collect();
    let all: usize = counts.iter().map(|(n, _)| n).sum();
    format!("{} known: {}", count(all as u64, "kernel"), parts.join(", "))
}

/// What was read so far.
struct Loading {
    catalogue: Catalogue,
    sources: Vec<String>,
    notes: Vec<String>,
    /// Files that were read: a folder may be given twice, or be found too.
    seen: HashSet<PathBuf>,
}

impl Default for Loading {
    fn default() -> Loading {
        let catalogue = Catalogue::built_in();
        Loading { catalogue, sources: Vec::new(), notes: Vec::new(), seen: HashSet::new() }
    }
}

impl Loading {
    /// What the user named.
    fn given(&mut self, path: &Path) {
        match path.metadata() {
            Ok(meta) if !meta.is_dir() => return self.read(path, Origin::Given),
            Ok(_) => {}
            Err(e) => return self.note(path, &e.to_string()),
        }
        let in_trees = || TREES.into_iter().chain(["kernels"]).flat_map(|tree| below(&path.join(tree)));
        let found = match manifests(path) {
            Ok(found) if found.is_empty() => in_trees().collect(),
            Ok(found) => found,
            Err(e) => return self.note(path, &e.to_string()),
        };
        if found.is_empty() {
            self.note(
                path,
                "no kernel manifest there: neither manifest.json, */manifest.json, nor *.json with exports",
            );
        }
        if found.len() > MAX_FILES {
            self.note(path, &format!("{} manifests there, the first {MAX_FILES} are read", found.len()));
        }
        for manifest in found.iter().take(MAX_FILES) {
            self.read(manifest, Origin::Given);
        }
    }

    /// What lies beside the target's program: in the lowest folder above it that has manifests.
    fn beside(&mut self, binary: &Path) {
        let binary = binary.canonicalize().unwrap_or_else(|_| binary.to_owned());
        for folder in binary.ancestors().skip(1).take(1 + MAX_LEVELS) {
            let found: Vec<PathBuf> = TREES.iter().flat_map(|tree| below(&folder.join(tree))).collect();
            for manifest in found.iter().take(MAX_FILES) {
                self.read(manifest, Origin::Found);
            }
            if !found.is_empty() {
                break;
            }
        }
    }

    fn read(&mut self, path: &Path, origin: Origin) {
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if !self.seen.insert(whole.clone()) {
            return;
        }
        let text = match bytes(path) {
            Ok(text) => text,
            Err(e) => return self.note(path, &e.to_string()),
        };
        let (directory, shown) = (directory(path, &whole), path.to_string_lossy());
        match self.catalogue.add_manifest(&text, &directory, origin, &shown) {
            Ok(Added { exports, kernels, notes }) => {
                self.notes.extend(notes);
                let (exports, kernels) = (count(exports as u64, "export"), count(kernels as u64, "kernel"));
                self.sources.push(format!("{} ({}): {exports}, {kernels}", printed(path), origin.word()));
            }
            Err(note) => self.notes.push(note),
        }
    }

    fn note(&mut self, path: &Path, what: &str) {
        self.notes.push(format!("{}: {what}", printed(path)));
    }
}

/// A path, fit to be shown.
fn printed(path: &Path) -> String {
    printable(path.as_os_str().as_encoded_bytes())
}

/// The manifests in a folder that was given: its own, those of the folders in it, and other JSON files with exports.
fn manifests(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = std::fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    let own = folder.join("manifest.json");
    let is_other = |path: &&PathBuf| {
        // Other JSON is no manifest of anything, and nothing is wrong with it.
        path.extension().is_some_and(|e| e == "json")
            && **path != own
            && path.is_file()
            && bytes(path).is_ok_and(|text| memchr::memmem::find(&text, b"\"exports\"").is_some())
    };
    let other: Vec<PathBuf> = entries.iter().filter(is_other).cloned().collect();
    let inside = entries.iter().map(|path| path.join("manifest.json"));
    let named = std::iter::once(own.clone()).chain(inside).filter(|path| path.is_file());
    Ok(named.chain(other).collect())
}

/// The manifests of the folders in a folder, if it is there.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|e| e.path().join("manifest.json")).filter(|path| path.is_file()).collect();
    found.sort();
    found
}

/// The name that a family is guessed from: of the folder that a manifest.json is in, or of a file with another name.
fn directory(path: &Path, whole: &Path) -> String {
    let name = |p: Option<&Path>| p.and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
    let is_manifest = path.file_stem().is_some_and(|s| s == "manifest");
    let of = if is_manifest {
        name(path.parent()).or_else(|| name(whole.parent()))
    } else {
        path.file_stem().map(|s| s.to_string_lossy().into_owned())
    };
    of.unwrap_or_default()
}

/// A file's content, when it is not too large.
fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    // Not the size that it says it has: what is read may be a pipe, or grow.
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("larger than {} MiB: not a kernel manifest", MAX_BYTES >> 20)));
    }
    Ok(text)
}

#[cfg(test)]
#[path = "manifests_tests.rs"]
mod tests;
