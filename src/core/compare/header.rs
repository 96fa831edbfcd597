//! What differs between the headers of runs, and what of it makes them not comparable.

use crate::core::compare::facts::{Facts, Of};
use crate::core::compare::matching::Slot;
use crate::core::run::Run;
use crate::core::text::shell_line;

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub field: &'static str,
    /// What the base's runs have, each value once.
    pub base: Vec<String>,
    /// What the new runs have, each value once.
    pub new: Vec<String>,
    /// Why runs that differ in it are not compared without being told to.
    pub refused: Option<&'static str>,
}

const UNKNOWN: &str = "unknown";

/// A field of the header: name, value, and why a difference in it is refused.
type Field = (&'static str, fn(&Facts) -> String, Option<&'static str>);

/// Every field that is compared, in the order it is shown.
const FIELDS: [Field; 16] = [
    ("build", |f| f.build.clone().unwrap_or_else(|| UNKNOWN.to_owned()), None),
    ("command", |f| shell_line(&f.run.command), None),
    ("changed", changed, None),
    ("inherited", inherited, None),
    ("binary", binary, None),
    ("repository", repository, None),
    ("host", |f| f.run.host.name.clone(), None),
    ("kernel", |f| f.run.host.kernel.clone(), None),
    ("tool", |f| format!("{} {}", f.run.tool.name, f.run.tool.version), None),
    ("stdio", |f| f.run.stdio.clone(), None),
    ("stamps", |f| f.run.stamped.clone(), Some("times are stamped in different places")),
    ("clock", |f| f.run.clock.name.clone(), Some("times are of different clocks")),
    ("resolution", |f| format!("{} ns", f.run.clock.resolution_ns), Some("the clocks' resolutions differ")),
    (
        "serial",
        |f| if f.traced { "traced" } else { "not traced" }.to_owned(),
        Some("the serial mode slows what it traces, so a traced run is never compared with one that is not"),
    ),
    ("narrowed", narrowed, Some("different parts of the programs are traced")),
    ("partial", |f| f.partial.clone().unwrap_or_else(|| "no".to_owned()), None),
];

/// The variables that narrow the trace.
const NARROWING: [&str; 3] = [
    "GGML_HRX_DEBUG_SERIAL_PROGRAM_COMMANDS=",
    "GGML_HRX_DEBUG_SERIAL_START_COMMAND=",
    "GGML_HRX_DEBUG_SERIAL_END_COMMAND=",
];

fn narrowing(variable: &str) -> bool {
    NARROWING.iter().any(|name| variable.starts_with(name))
}

/// How lines get to us from a target that stamps them itself: where that is differs from run to run, and means nothing.
const OWN_WAY: &str = "hrx-wrap-stamp-";
const OWN_RING: &str = "HRX_WRAP_STAMP=";

fn changed(facts: &Facts) -> String {
    let others = facts.run.changed.env.iter().filter(|v| !narrowing(v) && !v.starts_with(OWN_RING));
    let others = others.map(|v| match v.strip_prefix("LD_PRELOAD=") {
        Some(paths) => {
            let kept: Vec<&str> = paths.split([':', ' ']).filter(|path| !path.contains(OWN_WAY)).collect();
            if kept.is_empty() { String::new() } else { format!("LD_PRELOAD={}", kept.join(":")) }
        }
        None => v.clone(),
    });
    let args = facts.run.changed.args.iter().cloned();
    let all: Vec<String> = others.filter(|v| !v.is_empty()).chain(args).collect();
    if all.is_empty() { "nothing".to_owned() } else { shell_line(&all) }
}

fn inherited(facts: &Facts) -> String {
    let all: Vec<&String> = facts.run.inherited.iter().filter(|v| !narrowing(v)).collect();
    if all.is_empty() { "nothing".to_owned() } else { shell_line(&all) }
}

/// Whoever narrowed it.
fn narrowed(facts: &Facts) -> String {
    let Run { changed, inherited, .. } = &facts.run;
    let mut all: Vec<&String> = changed.env.iter().chain(inherited).filter(|v| narrowing(v)).collect();
    all.sort_unstable();
    if all.is_empty() { "no".to_owned() } else { shell_line(&all) }
}

fn binary(facts: &Facts) -> String {
    let binary = facts.run.binary.as_ref();
    binary.map_or(UNKNOWN.to_owned(), |b| {
        let short = |hex: &Option<String>| hex.as_ref().map(|h| h.chars().take(12).collect::<String>());
        let sum = short(&b.sha256).unwrap_or_else(|| UNKNOWN.to_owned());
        format!("{}, {} bytes, SHA-256 {sum}", b.path, b.size_bytes)
    })
}

fn repository(facts: &Facts) -> String {
    let of_binary = facts.run.repositories.iter().find(|r| r.of == "binary");
    of_binary.map_or("none".to_owned(), |r| {
        let state = match r.dirty {
            Some(true) => "with changes",
            Some(false) => "clean",
            None => "not asked whether clean",
        };
        format!("{} {state}", r.commit)
    })
}

fn values(side: &[Facts], of: fn(&Facts) -> String) -> Vec<String> {
    let mut all = Vec::new();
    for value in side.iter().map(of) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// Which commands of a program were traced, where the trace shows that they are not the same on both sides. Whoever narrowed the
/// trace, it is not in the record when the switches were the caller's.
fn traced(slot: &Slot<'_>) -> Option<Difference> {
    let side = |new: bool| {
        let mut all: Vec<String> = Vec::new();
        for program in slot.side(new).filter(|p| p.of != Of::Cut) {
            let part = match program.traced {
                Some((first, last)) => format!("commands {first} to {last}"),
                None => "all".to_owned(),
            };
            let words =
                format!("{part} of the {} list of {} commands", program.list.name(), program.commands);
            if !all.contains(&words) {
                all.push(words);
            }
        }
        all
    };
    let (base, new) = (side(false), side(true));
    let part = |side: bool| slot.side(side).find(|p| p.of != Of::Cut).map(|p| (p.commands, p.traced));
    let differ = match (part(false), part(true)) {
        (Some((n, base)), Some((m, new))) => n == m && base != new,
        _ => false,
    };
    let refused = Some("different parts of the programs are traced");
    differ.then_some(Difference { field: "traced", base, new, refused })
}

/// The fields in which not all runs are the same, and the first program of which not the same is traced.
pub fn differences(base: &[Facts], new: &[Facts], slots: &[Slot<'_>]) -> Vec<Difference> {
    let mut all = Vec::new();
    for (field, of, refused) in FIELDS {
        let (base, new) = (values(base, of), values(new, of));
        if base != new || base.len() > 1 {
            all.push(Difference { field, base, new, refused });
        }
    }
    let narrowed = all.iter().any(|d| d.field == "narrowed");
    all.extend(slots.iter().find_map(traced).filter(|_| !narrowed));
    all
}
