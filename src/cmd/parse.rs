//! `hrx-wrap parse`: the same report from what a run left.

use std::io;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::cli::ParseArgs;
use crate::cmd::files::{apart, is_dash, read_of};
use crate::cmd::found::{Found, find, from_trace, open_samples};
use crate::cmd::keep::{deliver, json_text};
use crate::cmd::kept::{Kept, Way};
use crate::cmd::manifests;
use crate::cmd::run::view;
use crate::cmd::samples;
use crate::cmd::spool::Spool;
use crate::cmd::timeline::{self, Events, Matter};
use crate::core::memory::series::Series;
use crate::core::names::Catalogue;
use crate::core::profile::Profile;
use crate::core::split::Split;
use crate::report::view::View;
use crate::report::{Source, Subject, page, tables, text};

/// The command. Yields the exit status: 0 done, 1 nothing to report or `--strict` failed.
///
/// # Errors
/// Usage or I/O: status 2.
pub fn parse(args: &ParseArgs) -> anyhow::Result<i32> {
    check_apart(args)?;
    manifests::check(&args.tables.manifests)?;
    if args.pictures.timeline.as_deref().is_some_and(is_dash) {
        bail!("--timeline goes to a file, not to stdout: name one");
    }
    let mut spool = args.pictures.timeline.as_deref().map(Spool::beside);
    let (mut found, made) = given(args, spool.as_mut())?;
    if let Some(percent) = args.reading.max_unattributed {
        found.run.max_unattributed_percent = Some(percent);
    }
    let (notes, memory) = found.samples.as_ref().map(|s| (s.notes.clone(), &s.series)).unzip();
    let source = Source {
        made,
        torn: found.read.torn,
        unstamped: found.read.unstamped,
        running: found.running,
        samples: notes.unwrap_or_default(),
    };
    let program = found.run.binary.as_ref().map(|b| Path::new(&b.path));
    let (names, naming) = manifests::load(&args.tables.manifests, program);
    let (view, book) = (view(&args.tables), args.path.as_ref().map(|_| &found.read.book));
    let subject =
        Subject { run: &found.run, book, memory, source: &source, names: &names, naming: &naming, view };
    write(args, &subject, spool)?;
    let no_samples = memory.is_none_or(Series::is_empty);
    let nothing = found.run.tool.name.is_empty() && found.read.book.tally.lines == 0 && no_samples;
    if nothing {
        crate::cmd::complain(match &args.path {
            Some(_) => {
                "nothing to report: no header and no stamped line ('<ns> <text>'); is it a kept trace?"
            }
            None => "nothing to report: no row of samples and no pair of a time and KiB; is it a gtt.tsv?",
        });
    }
    Ok(i32::from(nothing || lacks(&subject) | fails(args, &subject)))
}

/// Asked for a profile or a split, or given a bare trace, and there is none: the report says why.
fn lacks(subject: &Subject<'_>) -> bool {
    let no_dispatch = (subject.run.profile || subject.expects_dispatches()) && subject.no_dispatch();
    if no_dispatch {
        crate::cmd::complain("no dispatch was traced: the report says what to check");
    }
    let no_split = subject.run.split && subject.split().as_ref().is_none_or(Split::is_empty);
    if no_split {
        crate::cmd::complain("no split: -s was asked for, and no line or sample at hand tells of memory");
    }
    no_dispatch || no_split
}

/// `--strict`, and the report fails or cannot be judged.
fn fails(args: &ParseArgs, subject: &Subject<'_>) -> bool {
    let split = subject.split();
    let failed = args.reading.strict && split.as_ref().is_none_or(|s| s.fails() || s.unjudged.is_some());
    if failed {
        let finding = split.iter().flat_map(|s| &s.findings).find(|f| f.fails).map(|f| f.text.clone());
        let unjudged = split.as_ref().and_then(|s| s.unjudged.clone());
        let why = finding.or(unjudged).unwrap_or_else(|| "nothing in it tells of memory".to_owned());
        crate::cmd::complain(&format!("--strict: {why}"));
    }
    failed
}

/// What the command line names, and its name in the report.
fn given(args: &ParseArgs, spool: Option<&mut Spool>) -> anyhow::Result<(Found, String)> {
    let way = Way { pattern: args.reading.packed_pattern.as_ref(), spool };
    let (mut found, mut made) = match &args.path {
        Some(path) if is_dash(path) => (find(path, way)?, "of standard input".to_owned()),
        Some(path) => (find(path, way)?, format!("of {}", path.display())),
        None => (from_trace(Kept::default(), false)?, String::new()),
    };
    if let Some(path) = &args.samples.samples {
        let read = if is_dash(path) { samples::read(&mut io::stdin().lock()) } else { open_samples(path) };
        found.samples = Some(read.with_context(|| format!("cannot read {}", path.display()))?);
        if made.is_empty() {
            made = format!("of {}", path.display());
        }
    }
    Ok((found, made))
}

/// A report never takes the place of what it is made from.
fn check_apart(args: &ParseArgs) -> anyhow::Result<()> {
    let read: Vec<_> =
        args.path.iter().flat_map(|path| read_of(path)).chain(args.samples.samples.clone()).collect();
    let written = [
        ("--report", &args.report),
        ("--json", &args.json),
        ("--csv", &args.tables.csv),
        ("--markdown", &args.tables.markdown),
        ("--html", &args.pictures.html),
        ("--timeline", &args.pictures.timeline),
    ];
    apart(&read, &written.map(|(option, path)| (option, path.as_deref())))
}

fn write(args: &ParseArgs, subject: &Subject<'_>, spool: Option<Spool>) -> anyhow::Result<()> {
    let files = [
        (&args.tables.csv, tables::csv as fn(&Profile, &Catalogue, View) -> String),
        (&args.tables.markdown, tables::markdown),
    ];
    let none = Profile::default();
    let profile = subject.book.map_or(&none, |book| &book.profile);
    for (path, table) in files {
        if let Some(path) = path {
            let text = table(profile, subject.names, subject.view);
            deliver(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    if let Some(path) = &args.json {
        deliver(path, json_text(subject).as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let stdout = [&args.json, &args.tables.csv, &args.tables.markdown, &args.pictures.html];
    let taken = args.report.is_none() && stdout.into_iter().flatten().any(|p| is_dash(p));
    if !taken {
        let to = args.report.as_deref().unwrap_or(Path::new("-"));
        deliver(to, text::report(subject).as_bytes())
            .with_context(|| format!("cannot write {}", to.display()))?;
    }
    // They come last: what can go wrong with them costs no other report.
    pictures(args, subject, spool)
}

/// Writes the page and the timeline, where they are asked for.
fn pictures(args: &ParseArgs, subject: &Subject<'_>, spool: Option<Spool>) -> anyhow::Result<()> {
    if let Some(path) = &args.pictures.html {
        deliver(path, page::report(subject).as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let Some(path) = &args.pictures.timeline else { return Ok(()) };
    // Of samples alone there is no trace, and the timeline shows them all the same.
    let none = Profile::default();
    let profile = subject.book.map_or(&none, |book| &book.profile);
    let matter = Matter {
        run: subject.run,
        profile,
        names: subject.names,
        memory: subject.memory,
        phases: subject.book.map_or(&[][..], |book| book.phases.spans()),
        most: args.pictures.timeline_max,
    };
    timeline::write(&matter, spool.map(Events::Spool), path)
        .with_context(|| format!("cannot write {}", path.display()))
}
