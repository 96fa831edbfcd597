//! The kernel catalogue: which family and name a `kernel_id=` stands for.
//!
//! Three sources, the stronger one wins: manifests that the user gave, manifests found beside the target's program, and
//! the list that is built in. A manifest's text is a stranger's: what is said about it here is made fit to be shown.

mod json;
mod manifest;

use std::collections::{BTreeMap, HashSet};

use crate::core::kernel_id::kernel_id;
use crate::core::names::manifest::{Export, Wrong};
use crate::core::text::{clipped, count, printable};

/// The id of a kernel that the backend does not know by name.
pub const UNCATALOGUED: u64 = 0;
/// The family of kernels that are registered while the program runs: no manifest has them, and their name is their symbol.
pub const HIP: &str = "hip";
/// The family of an export that names none, as the backend's generator has it.
const DEFAULT_FAMILY: &str = "qwen3_moe";
/// The families of the known directories of manifests.
const BY_DIRECTORY: [(&str, &str); 4] =
    [("qwen_moe", "qwen3_moe"), ("qwen", "qwen"), ("hrx", "hrx"), ("loom-libs", "loom_libs")];
/// What is wrong in one manifest is said so many times; the rest is counted.
const MAX_NOTES: usize = 5;
/// Characters of a manifest's text in a sentence about it.
const MAX_SHOWN: usize = 100;

/// Where a name is from. The smaller one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A manifest that the user gave.
    Given,
    /// A manifest found beside the target's program.
    Found,
    /// The list that is built in.
    BuiltIn,
}

impl Origin {
    /// `given`, `found` or `built-in`.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Given => "given",
            Origin::Found => "found",
            Origin::BuiltIn => "built-in",
        }
    }
}

/// One kernel. Its texts are a stranger's: [`printable`] before they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The kernel's family.
    pub family: String,
    /// Its name in that family, which need not be its symbol.
    pub name: String,
    /// Its source file, relative to the manifest's directory; the built-in list has none.
    pub source: Option<String>,
    /// How many buffers it binds, to compare with a line's `bindings=`; unknown when its manifest does not say.
    pub bindings: Option<u64>,
    /// The targets it is built for, sorted; an empty text is the variant for every other target.
    pub targets: Vec<String>,
    /// Where this is from.
    pub from: Origin,
}

impl Name {
    /// A kernel of which only family and name are known.
    pub fn bare(family: &str, name: &str, from: Origin) -> Name {
        let (family, name) = (family.to_owned(), name.to_owned());
        Name { family, name, source: None, bindings: None, targets: Vec::new(), from }
    }

    /// The id that the backend gives it.
    pub fn id(&self) -> u64 {
        kernel_id(&self.family, &self.name)
    }

    /// `family:name`, fit to be shown.
    pub fn label(&self) -> String {
        printable(format!("{}:{}", self.family, self.name).as_bytes())
    }
}

/// What a manifest brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Its exports that could be read.
    pub exports: usize,
    /// The kernels they stand for: fewer when an export is there for several targets, more when it names no family.
    pub kernels: usize,
    /// Sentences about what is wrong in it, with file and place, fit to be shown.
    pub notes: Vec<String>,
}

/// Ids and their names.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Nearly always one name an id; the strongest first.
    by_id: BTreeMap<u64, Vec<Name>>,
}

impl Catalogue {
    /// The list that is built in.
    pub fn built_in() -> Catalogue {
        let mut catalogue = Catalogue::default();
        for line in include_str!("../../data/hrx-kernels.tsv").lines().filter(|l| !l.starts_with('#')) {
            let mut fields = line.split('\t');
            if let (Some(family), Some(name)) = (fields.next(), fields.next()) {
                catalogue.add(Name::bare(family, name, Origin::BuiltIn));
            }
        }
        catalogue
    }

    /// Adds a manifest: JSON with `exports`, whatever its schema says. `directory` is the name of the folder it is in,
    /// `path` what it is called in notes. An export that cannot be read is a note and does not lose the others.
    ///
    /// # Errors
    /// It is no manifest; the sentence has the path and the place. Nothing was added then.
    pub fn add_manifest(
        &mut self,
        text: &[u8],
        directory: &str,
        origin: Origin,
        path: &str,
    ) -> Result<Added, String> {
        let path = printable(path.as_bytes());
        let read = manifest::read(text).map_err(|e| format!("{path}: {e}"))?;
        let mut adding = Adding { directory, origin, variants: HashSet::new(), wrong: read.wrong };
        let exports = read.exports.len();
        for export in read.exports {
            self.add_export(&export, &mut adding);
        }
        let kernels: HashSet<_> = adding.variants.iter().map(|(family, name, _)| (family, name)).collect();
        Ok(Added { exports, kernels: kernels.len(), notes: adding.wrong.notes(&path) })
    }

    /// Adds an export under each family that it can be of.
    fn add_export(&mut self, export: &Export, adding: &mut Adding<'_>) {
        for family in families(export.family.as_deref(), adding.directory) {
            let kernel = Name {
                source: export.source.clone(),
                bindings: export.bindings,
                targets: vec![export.target.clone()],
                ..Name::bare(family, &export.name, adding.origin)
            };
            let variant = (kernel.family.clone(), kernel.name.clone(), export.target.clone());
            // Said of few kernels only: not worth making for all of them.
            let label = || clipped(&Name::bare(family, &export.name, adding.origin).label(), MAX_SHOWN);
            if !adding.variants.insert(variant) {
                let target = clipped(&printable(export.target.as_bytes()), MAX_SHOWN);
                let twice = || format!("{} is there twice for the target '{target}'", label());
                adding.wrong.say(export.at, twice);
            }
            if let Some((first, here)) = self.add(kernel) {
                let disagree =
                    || format!("{} has {here} bindings here and {first} before; the first counts", label());
                adding.wrong.say(export.at, disagree);
            }
        }
    }

    /// Adds a name, or what it says to one that is there: the stronger origin wins, equal ones share their targets.
    /// Yields the numbers of bindings, there and here, on which equal ones disagree.
    fn add(&mut self, name: Name) -> Option<(u64, u64)> {
        let same_id = self.by_id.entry(name.id()).or_default();
        let Some(there) = same_id.iter_mut().find(|n| n.family == name.family && n.name == name.name) else {
            same_id.push(name);
            same_id.sort_by_key(|n| n.from);
            return None;
        };
        if there.from != name.from {
            if name.from < there.from {
                *there = name;
                same_id.sort_by_key(|n| n.from);
            }
            return None;
        }
        there.targets.extend(name.targets);
        there.targets.sort();
        there.targets.dedup();
        there.source = there.source.take().or(name.source);
        let disagree = there.bindings.zip(name.bindings).filter(|(first, here)| first != here);
        there.bindings = there.bindings.or(name.bindings);
        disagree
    }

    /// The name of an id, the strongest when several names have it.
    pub fn get(&self, id: u64) -> Option<&Name> {
        self.all(id).first()
    }

    /// Every name of an id, the strongest first.
    pub fn all(&self, id: u64) -> &[Name] {
        self.by_id.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Every kernel with its id, by family and name.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Name)> {
        let mut all: Vec<_> =
            self.by_id.iter().flat_map(|(id, names)| names.iter().map(|n| (*id, n))).collect();
        all.sort_by_key(|(_, n)| (&n.family, &n.name));
        all.into_iter()
    }

    /// The kernels that a word stands for, by family and name: the one that is called so with its family, or those that
    /// are called so, or else those that have it in `family:name` (small and large ASCII letters are the same then).
    pub fn lookup(&self, word: &str) -> Vec<(u64, &Name)> {
        let full = |n: &Name| format!("{}:{}", n.family, n.name);
        let exact: Vec<_> = self.iter().filter(|(_, n)| n.name == word || full(n) == word).collect();
        if !exact.is_empty() {
            return exact;
        }
        let word = word.to_ascii_lowercase();
        self.iter().filter(|(_, n)| full(n).to_ascii_lowercase().contains(&word)).collect()
    }

    /// How many kernels have their name from there.
    pub fn count(&self, origin: Origin) -> usize {
        self.by_id.values().flatten().filter(|n| n.from == origin).count()
    }

    /// A sentence about ids that stand for two names, if there are any: the backend refuses to run those.
    pub fn collisions(&self) -> Option<String> {
        let mut twice = self.by_id.iter().filter(|(_, names)| names.len() > 1);
        let (id, names) = twice.next()?;
        let labels: Vec<String> = names.iter().map(|n| clipped(&n.label(), MAX_SHOWN)).collect();
        let n = count(1 + twice.count() as u64, "id");
        Some(format!("{n} with more than one name, the first of them {id}: {}", labels.join(" and ")))
    }
}

/// A manifest that is being added.
struct Adding<'a> {
    directory: &'a str,
    origin: Origin,
    /// What was there already: family, name and target.
    variants: HashSet<(String, String, String)>,
    wrong: Wrong,
}

/// The families that an export can be of: its own, or else the generator's default and the one of its directory.
fn families<'a>(own: Option<&'a str>, directory: &str) -> Vec<&'a str> {
    if let Some(own) = own {
        return vec![own];
    }
    let by_directory = BY_DIRECTORY.iter().find(|(d, _)| *d == directory).map(|(_, family)| *family);
    let mut all = vec![DEFAULT_FAMILY];
    all.extend(by_directory.filter(|f| *f != DEFAULT_FAMILY));
    all
}

#[cfg(test)]
mod malformed_tests;
#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
