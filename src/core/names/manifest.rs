//! Reads a kernel manifest: only what names a kernel, one export at a time, so that memory is bounded by the exports that
//! are fit and not by what else a file holds.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::core::names::json::{Fields, Json};
use crate::core::names::{MAX_NOTES, MAX_SHOWN};
use crate::core::text::{clipped, printable};

/// More exports are no manifest (public ones have up to 300).
const MAX_EXPORTS: usize = 100_000;
/// A name or family with more bytes is no kernel's (public ones have up to 80).
const MAX_TEXT: usize = 1024;

/// An export that is fit to be named.
#[derive(Debug)]
pub struct Export {
    /// Its place in the list, from 0.
    pub at: usize,
    /// Its name.
    pub name: String,
    /// Its family, when it says one.
    pub family: Option<String>,
    /// Its source file.
    pub source: Option<String>,
    /// How many buffers it binds.
    pub bindings: Option<u64>,
    /// The target it is for; empty = every other.
    pub target: String,
}

/// What is wrong in a manifest: the first few sentences, and how many there were.
#[derive(Debug, Default)]
pub struct Wrong {
    said: Vec<String>,
    count: usize,
}

impl Wrong {
    /// Something is wrong with the export at a place.
    pub fn say(&mut self, at: usize, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.said.len() < MAX_NOTES {
            self.said.push(format!("exports[{at}]: {}", what()));
        }
    }

    /// The sentences, each with the file.
    pub fn notes(self, path: &str) -> Vec<String> {
        let unsaid = self.count - self.said.len();
        let mut notes: Vec<String> = self.said.iter().map(|s| format!("{path}: {s}")).collect();
        if unsaid > 0 {
            notes.push(format!("{path}: {unsaid} more exports with something wrong"));
        }
        notes
    }
}

/// A manifest's content.
#[derive(Debug, Default)]
pub struct Manifest {
    /// The exports that are fit, in the file's order.
    pub exports: Vec<Export>,
    /// What is wrong with the others.
    pub wrong: Wrong,
    /// There was a list of exports.
    listed: bool,
}

/// Reads a manifest.
///
/// # Errors
/// A sentence with line and column, fit to be shown.
pub fn read(text: &[u8]) -> Result<Manifest, String> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let mut manifest = Manifest::default();
    let read = json.deserialize_map(Root(&mut manifest)).and_then(|()| json.end());
    read.map_err(|e| place(&e))?;
    if manifest.listed { Ok(manifest) } else { Err("no \"exports\" in it: not a kernel manifest".into()) }
}

/// An error of JSON's reader with its place first, so that cutting a long text does not lose it.
fn place(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let what = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    format!("line {line}, column {column}: {}", clipped(&printable(what.as_bytes()), 200))
}

impl Manifest {
    /// One element of the list.
    fn take(&mut self, at: usize, item: Json) {
        let Json::Object(fields) = item else {
            self.wrong.say(at, || format!("it is {}, not an object", item.kind()));
            return;
        };
        match self.export(at, *fields) {
            Ok(export) => self.exports.push(export),
            Err(what) => self.wrong.say(at, || what),
        }
    }

    /// The export that an object is; what is wrong beside its name and family costs no more than that.
    fn export(&mut self, at: usize, fields: Fields) -> Result<Export, String> {
        let name = text("name", fields.name)?.ok_or("it has no name")?;
        let family = text("family", fields.family)?;
        let mut tolerated = |read: Result<Option<String>, String>| {
            read.unwrap_or_else(|what| {
                self.wrong.say(at, || what);
                None
            })
        };
        let source = tolerated(text("source", fields.source));
        let target = tolerated(text("target_selector", fields.target)).unwrap_or_default();
        let bindings = self.bindings(at, &name, &fields.bindings, &fields.access);
        Ok(Export { at, name, family, source, bindings, target })
    }

    /// How many buffers are bound: a list of them, or a number.
    fn bindings(&mut self, at: usize, name: &str, bindings: &Json, access: &Json) -> Option<u64> {
        let shown = || clipped(&printable(name.as_bytes()), MAX_SHOWN);
        let n = match bindings {
            Json::List(n) | Json::Number(Some(n)) => *n,
            Json::Null => return None,
            other => {
                self.wrong
                    .say(at, || format!("the bindings of {} are {}, not a list", shown(), other.kind()));
                return None;
            }
        };
        // The backend's generator refuses a manifest where they differ: this one was not built.
        if let Json::List(m) = access
            && *m != n
        {
            self.wrong.say(at, || format!("{} has {n} bindings, and how {m} are accessed", shown()));
        }
        Some(n)
    }
}

/// A text of an export; absent, null and empty are the same.
fn text(what: &str, value: Json) -> Result<Option<String>, String> {
    match value {
        Json::Null => Ok(None),
        Json::Text(text) if text.len() > MAX_TEXT => {
            Err(format!("its {what} has {} bytes, more than {MAX_TEXT}", text.len()))
        }
        Json::Text(text) => Ok(Some(text).filter(|t| !t.is_empty())),
        other => Err(format!("its {what} is {}, not a text", other.kind())),
    }
}

/// Takes the whole file.
struct Root<'m>(&'m mut Manifest);

impl<'de> Visitor<'de> for Root<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"exports\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "exports" {
                map.next_value_seed(Exports(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Takes the list of exports, one at a time.
struct Exports<'m>(&'m mut Manifest);

impl<'de> DeserializeSeed<'de> for Exports<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Exports<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of exports")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.listed = true;
        let mut at = 0;
        while let Some(item) = list.next_element::<Json>()? {
            if at == MAX_EXPORTS {
                return Err(A::Error::custom(format!("more than {MAX_EXPORTS} exports")));
            }
            self.0.take(at, item);
            at += 1;
        }
        Ok(())
    }
}
