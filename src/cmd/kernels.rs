//! `hrx-wrap kernels`: the kernel catalogue, id to family and name, and back.

use std::io::{self, Write as _};

use anyhow::{Context as _, anyhow, bail};
use serde_json::{Value, json};

use crate::cli::KernelsArgs;
use crate::cmd::manifests::{Loaded, gather};
use crate::core::names::{HIP, Name, Origin, UNCATALOGUED};
use crate::core::run::SCHEMA;
use crate::core::text::{count, printable};

/// The origin of a name that is in no catalogue.
const COMPUTED: &str = "computed";
/// Columns are padded up to so many characters; a longer name moves the rest of its own line only.
const MAX_PAD: usize = 90;

/// A word of the command line.
#[derive(Debug, PartialEq, Eq)]
enum Word {
    Id(u64),
    /// Family and name.
    Full(String, String),
    /// A name, or a part of one.
    Part(String),
}

/// A kernel to show.
#[derive(Debug)]
struct Row {
    id: u64,
    /// Absent: the kernel has no name.
    name: Option<Name>,
    origin: &'static str,
}

impl Row {
    fn known(id: u64, name: &Name) -> Row {
        Row { id, name: Some(name.clone()), origin: name.from.word() }
    }
}

/// The command. Yields the exit status: 0 done, 1 a word stands for no kernel.
///
/// # Errors
/// Usage or I/O: status 2.
pub fn kernels(args: &KernelsArgs) -> anyhow::Result<i32> {
    for path in &args.manifests {
        path.metadata().with_context(|| {
            format!("cannot read {}: --manifests takes a manifest or a folder of them", path.display())
        })?;
    }
    let words = args.words.iter().map(|text| word(text)).collect::<anyhow::Result<Vec<_>>>()?;
    let loaded = gather(&args.manifests, None);
    for note in &loaded.notes {
        crate::cmd::complain(note);
    }
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    if words.is_empty() {
        rows.extend(loaded.catalogue.iter().map(|(id, name)| Row::known(id, name)));
    }
    for (word, text) in words.iter().zip(&args.words) {
        let of_word = found(&loaded, word);
        if of_word.is_empty() {
            crate::cmd::complain(&nothing(&loaded, word));
            missing.push(text.as_str());
        }
        rows.extend(of_word);
    }
    let text = if args.json { as_json(&rows, &missing, &loaded) } else { as_text(&rows) };
    write(&text).context("cannot write to standard output")?;
    Ok(i32::from(!missing.is_empty()))
}

/// A reader that has seen enough needs no word.
fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// What a word means; `kernel_id=` before an id is how trace lines have it.
fn word(text: &str) -> anyhow::Result<Word> {
    let bare = text.strip_prefix("kernel_id=").unwrap_or(text);
    let hex = bare.strip_prefix("0x").or_else(|| bare.strip_prefix("0X"));
    let digits = hex.unwrap_or(bare);
    let radix = if hex.is_some() { 16 } else { 10 };
    if hex.is_some() || bare.len() < text.len() || bare.starts_with(|c: char| c.is_ascii_digit()) {
        // A sign is no digit, though the standard's parser takes one.
        let id = u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'));
        return id
            .map(Word::Id)
            .ok_or_else(|| anyhow!("'{text}' is no kernel id: it takes 64 bits, decimal or 0x hexadecimal"));
    }
    match text.split_once(':') {
        Some(("", _) | (_, "")) => bail!("'{text}' is not FAMILY:NAME"),
        Some((family, name)) => Ok(Word::Full(family.to_owned(), name.to_owned())),
        None if text.is_empty() => bail!("'' is no kernel's id or name: leave it out to list all of them"),
        None => Ok(Word::Part(text.to_owned())),
    }
}

/// The kernels that a word stands for.
fn found(loaded: &Loaded, word: &Word) -> Vec<Row> {
    let catalogue = &loaded.catalogue;
    match word {
        Word::Id(UNCATALOGUED) => vec![Row { id: UNCATALOGUED, name: None, origin: "-" }],
        Word::Id(id) => catalogue.all(*id).iter().map(|name| Row::known(*id, name)).collect(),
        Word::Part(part) => {
            catalogue.lookup(part).into_iter().map(|(id, name)| Row::known(id, name)).collect()
        }
        Word::Full(family, name) => {
            // The origin of a name that is nowhere is said by the column.
            let bare = Name::bare(family, name, Origin::Given);
            let id = bare.id();
            let known = catalogue.all(id).iter().find(|n| n.family == *family && n.name == *name);
            if known.is_none() && family != HIP {
                let label = bare.label();
                crate::cmd::complain(&format!("{label} is in no manifest: its id is computed from the name"));
            }
            vec![known.map_or(Row { id, name: Some(bare), origin: COMPUTED }, |name| Row::known(id, name))]
        }
    }
}

/// The sentence for a word that stands for no kernel.
fn nothing(loaded: &Loaded, word: &Word) -> String {
    let all = count(loaded.catalogue.iter().count() as u64, "kernel");
    match word {
        Word::Id(id) => format!(
            "none of {all} has the id {id}: give --manifests DIR, the kernel-corpus/kernels of the build that printed it \
             (of a HIP kernel, hrx-wrap kernels {HIP}:SYMBOL computes the id)"
        ),
        Word::Full(_, name) | Word::Part(name) => format!(
            "none of {all} has '{name}' in its name: give --manifests DIR, the kernel-corpus/kernels of your build, or \
             FAMILY:NAME to compute an id"
        ),
    }
}

/// One line a kernel: id, name, bindings, source, origin.
fn as_text(rows: &[Row]) -> String {
    let cells: Vec<[String; 4]> = rows.iter().map(cells).collect();
    let wide = |n: usize| cells.iter().map(|c| c[n].chars().count()).max().unwrap_or(0).min(MAX_PAD);
    let (name, bindings, source) = (wide(1), wide(2), wide(3));
    let line = |(row, [id, n, b, s]): (&Row, &[String; 4])| {
        format!("{id:>20}  {n:<name$}  {b:>bindings$}  {s:<source$}  {}\n", row.origin)
    };
    rows.iter().zip(&cells).map(line).collect()
}

/// Id, name, bindings and source, fit to be shown.
fn cells(row: &Row) -> [String; 4] {
    let unknown = || "-".to_owned();
    let name = row.name.as_ref();
    [
        row.id.to_string(),
        name.map_or_else(|| "uncatalogued".to_owned(), Name::label),
        name.and_then(|n| n.bindings).map_or_else(unknown, |n| n.to_string()),
        name.and_then(|n| n.source.as_ref()).map_or_else(unknown, |s| printable(s.as_bytes())),
    ]
}

/// The same as JSON, with what could not be read: ids are strings, unknown is null, texts are fit to be shown.
fn as_json(rows: &[Row], missing: &[&str], loaded: &Loaded) -> String {
    let kernel = |row: &Row| -> Value {
        let name = row.name.as_ref();
        let shown = |text: &String| printable(text.as_bytes());
        let targets = name.map(|n| &n.targets).filter(|all| !all.is_empty());
        json!({
            "id": row.id.to_string(),
            "family": name.map(|n| shown(&n.family)),
            "name": name.map_or_else(|| "uncatalogued".to_owned(), |n| shown(&n.name)),
            "bindings": name.and_then(|n| n.bindings),
            "source": name.and_then(|n| n.source.as_ref()).map(shown),
            "targets": targets.map(|all| all.iter().map(shown).collect::<Vec<_>>()),
            "origin": name.map(|_| row.origin),
        })
    };
    let document = json!({
        "schema": SCHEMA,
        "kernels": rows.iter().map(kernel).collect::<Vec<_>>(),
        "missing": missing.iter().map(|text| printable(text.as_bytes())).collect::<Vec<_>>(),
        "sources": loaded.sources,
        "notes": loaded.notes,
    });
    // A tree of strings and numbers always is JSON.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}
