//! `hrx-wrap compare`: runs side by side.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::cli::CompareArgs;
use crate::cmd::files::{apart, is_dash, read_of};
use crate::cmd::found::find;
use crate::cmd::keep::deliver;
use crate::cmd::kept::Way;
use crate::cmd::manifests;
use crate::cmd::run::unit;
use crate::core::compare::facts::Facts;
use crate::core::compare::{Comparison, compare};
use crate::report::compare_rows::Sides;
use crate::report::view::View;
use crate::report::{Source, Subject, compare_json, compare_text, page};

/// No regression, a regression, not comparable.
const SAME: i32 = 0;
const REGRESSION: i32 = 1;
const NOT_COMPARABLE: i32 = 3;

/// What is compared with what.
struct Pair {
    sides: Sides,
    base: Vec<Facts>,
    new: Vec<Facts>,
}

/// The command. Yields the exit status: 0 no regression, 1 a regression, 3 not comparable.
///
/// # Errors
/// Usage or I/O: status 2.
pub fn run(args: &CompareArgs) -> anyhow::Result<i32> {
    let read: Vec<PathBuf> = args.runs.iter().chain(&args.vs).flat_map(|path| read_of(path)).collect();
    let written = [("--json", &args.json), ("--markdown", &args.markdown), ("--html", &args.html)];
    apart(&read, &written.map(|(option, path)| (option, path.as_deref())))?;
    manifests::check(&args.manifests)?;
    let pairs = pairs(args)?;
    let view = View { top: args.top.max(1), unit: unit(args.unit), ..View::default() };
    let mut compared: Vec<(Comparison, Sides)> =
        pairs.into_iter().map(|p| (compare(&p.base, &p.new, args.threshold), p.sides)).collect();
    if !args.force {
        compared.iter_mut().for_each(|(comparison, _)| comparison.withhold());
    }
    write(args, &compared, view)?;
    let refused = compared.iter().flat_map(|(c, _)| c.refusals()).next();
    if let (Some(why), false) = (refused, args.force) {
        crate::cmd::complain(&format!("not comparable: {why}; --force compares all the same"));
        return Ok(NOT_COMPARABLE);
    }
    let regressed = compared.iter().any(|(c, _)| !c.regressions().is_empty());
    Ok(if regressed { REGRESSION } else { SAME })
}

fn write(args: &CompareArgs, compared: &[(Comparison, Sides)], view: View) -> anyhow::Result<()> {
    let joined = |of: fn(&Comparison, &Sides, View) -> String| {
        let parts: Vec<String> = compared.iter().map(|(c, s)| of(c, s, view)).collect();
        parts.join("\n")
    };
    let to = |path: &Path, text: &str| {
        deliver(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    };
    if let Some(path) = &args.json {
        let all: Vec<_> = compared.iter().map(|(c, s)| compare_json::report(c, s)).collect();
        let value = serde_json::json!({"schema": crate::core::run::SCHEMA, "comparisons": all});
        to(path, &format!("{}\n", serde_json::to_string_pretty(&value).unwrap_or_default()))?;
    }
    if let Some(path) = &args.markdown {
        to(path, &joined(compare_text::markdown))?;
    }
    if let Some(path) = &args.html {
        to(path, &page::comparison(compared, view))?;
    }
    let taken = [&args.json, &args.markdown, &args.html].into_iter().flatten().any(|p| is_dash(p));
    if taken { Ok(()) } else { to(Path::new("-"), &joined(compare_text::text)) }
}

/// The runs, put on their sides as the user said.
fn pairs(args: &CompareArgs) -> anyhow::Result<Vec<Pair>> {
    let load = |paths: &[PathBuf]| -> anyhow::Result<Vec<Facts>> {
        paths.iter().map(|p| facts(p, &args.manifests)).collect()
    };
    match (args.label.as_slice(), args.vs.as_slice(), args.runs.as_slice()) {
        ([base, new], [], runs) => {
            if base == new {
                bail!("--label {base} is given twice: compare needs two sides, with a label each");
            }
            let all = load(runs)?;
            if let Some((_, path)) =
                all.iter().zip(runs).find(|(f, _)| ![Some(base), Some(new)].contains(&f.run.label.as_ref()))
            {
                bail!(
                    "{} has neither label, '{base}' nor '{new}': the labels are {}",
                    path.display(),
                    labels(&all)
                );
            }
            let with = |label: &String| -> anyhow::Result<Vec<Facts>> {
                let own: Vec<Facts> =
                    all.iter().filter(|f| f.run.label.as_ref() == Some(label)).cloned().collect();
                if own.is_empty() {
                    bail!("no run has the label '{label}': they have {}", labels(&all));
                }
                Ok(own)
            };
            let sides = Sides { base: base.clone(), new: new.clone() };
            Ok(vec![Pair { sides, base: with(base)?, new: with(new)? }])
        }
        ([], [], [_]) => bail!("compare needs two runs at least: compare BASE NEW"),
        ([], [], [base, new @ ..]) => {
            let base_facts = load(std::slice::from_ref(base))?;
            new.iter()
                .map(|path| {
                    let sides = Sides { base: base.display().to_string(), new: path.display().to_string() };
                    Ok(Pair { sides, base: base_facts.clone(), new: vec![facts(path, &args.manifests)?] })
                })
                .collect()
        }
        ([], vs, runs) => {
            let sides = Sides { base: named(runs), new: named(vs) };
            Ok(vec![Pair { sides, base: load(runs)?, new: load(vs)? }])
        }
        _ => bail!("--label is given twice, base first: compare --label OLD --label NEW RUN…"),
    }
}

fn named(paths: &[PathBuf]) -> String {
    let first = paths.first().map(|p| p.display().to_string()).unwrap_or_default();
    if paths.len() > 1 { format!("{first} …") } else { first }
}

fn labels(all: &[Facts]) -> String {
    let mut known: Vec<String> =
        all.iter().map(|f| f.run.label.clone().unwrap_or_else(|| "none".to_owned())).collect();
    known.dedup();
    known.join(", ")
}

/// One run: its trace is read, its sums are kept, the rest is let go.
fn facts(path: &Path, given: &[PathBuf]) -> anyhow::Result<Facts> {
    let found = find(path, Way::default())?;
    let program = found.run.binary.as_ref().map(|b| Path::new(&b.path));
    let (names, naming) = manifests::load(given, program);
    let memory = found.samples.as_ref().map(|s| &s.series);
    let source = Source { running: found.running, torn: found.read.torn, ..Source::default() };
    let book = &found.read.book;
    let subject = Subject {
        run: &found.run,
        book: Some(book),
        memory,
        source: &source,
        names: &names,
        naming: &naming,
        view: View::default(),
    };
    if found.run.tool.name.is_empty() && book.tally.lines == 0 {
        bail!(
            "{}: nothing to compare: no header and no stamped line; is it a run or a kept trace?",
            path.display()
        );
    }
    Ok(Facts::of(&found.run, book, subject.partial(), subject.split().as_ref(), &names))
}
