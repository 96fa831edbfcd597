//! `hrx-wrap parse`: the same report from what a run left.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use regex::bytes::Regex;
use serde_json::{Map, Value};

use crate::cli::ParseArgs;
use crate::cmd::files::is_dash;
use crate::cmd::keep::{deliver, json_text};
use crate::cmd::manifests;
use crate::cmd::run::view;
use crate::cmd::samples::{self, Samples};
use crate::cmd::timeline::{self, Matter};
use crate::core::book::Book;
use crate::core::lines::{Assembler, Line};
use crate::core::memory::series::Series;
use crate::core::names::Catalogue;
use crate::core::profile::Profile;
use crate::core::run::{Run, SCHEMA};
use crate::core::split::Split;
use crate::core::trace::{Item, NO_NEWLINE, Reader, WRITER};
use crate::report::view::View;
use crate::report::{Source, Subject, page, tables, text};
use crate::sys::fd;

/// The field of the record that says how lines of the host-weight trace are known.
const PATTERN: &str = "packed_pattern";

/// What a kept trace holds.
#[derive(Debug, Default)]
pub struct Kept {
    /// The sums of its lines.
    pub book: Book,
    /// Its notes: header and end.
    pub fields: Map<String, Value>,
    /// Its last line is cut.
    pub torn: bool,
    /// Lines that are neither stamped nor ours.
    pub unstamped: u64,
}

/// Reads a kept trace to its end, in bounded memory. `pattern` is the user's for the host-weight trace, in place of the
/// one that the run was made with.
///
/// # Errors
/// The file's.
pub fn read_trace(from: &mut dyn Read, pattern: Option<&Regex>) -> io::Result<Kept> {
    let mut out = Kept::default();
    if let Some(pattern) = pattern {
        out.book.weights.set_pattern(pattern.clone());
    }
    let (book, fields) = (&mut out.book, &mut out.fields);
    let reader = each_line(from, |found| {
        match found {
            Part::Line(line) => book.take(&line, |_, _| {}),
            Part::Note(key, value) if key == WRITER => book.writer(pid(&value)),
            Part::Note(key, _) if key == NO_NEWLINE => book.tally.mark_unterminated(),
            Part::Note(key, value) => {
                if key == PATTERN && pattern.is_none() {
                    let text = value.as_str().map(str::to_owned);
                    book.read_as(&Run { packed_pattern: text, ..Run::default() });
                }
                fields.insert(key, value);
            }
            Part::Pause => {}
        }
        Ok(())
    })?;
    out.book.finish();
    out.torn = reader.finish();
    out.unstamped = reader.unstamped;
    Ok(out)
}

/// What a kept trace consists of.
#[derive(Debug)]
pub enum Part<'a> {
    /// A line, or a part of a very long one.
    Line(Line<'a>),
    /// A line of ours.
    Note(String, Value),
    /// A piece of the file is through: time to write out what gathered.
    Pause,
}

/// The pid in a note about the writer; 0, for one that is not known, when there is none in it.
pub fn pid(value: &serde_json::Value) -> u32 {
    value.as_u64().and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0)
}

/// Hands on the lines of a kept trace, one after another.
///
/// # Errors
/// The file's, or what the taker says.
pub fn each_line(
    from: &mut dyn Read,
    mut each: impl FnMut(Part<'_>) -> io::Result<()>,
) -> io::Result<Reader> {
    let (mut reader, mut assembler) = (Reader::default(), Assembler::default());
    let mut piece = vec![0; 1 << 20];
    loop {
        let n = match from.read(&mut piece) {
            Ok(0) => return Ok(reader),
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        let mut result = Ok(());
        let mut hand = |part: Part<'_>| {
            if result.is_ok() {
                result = each(part);
            }
        };
        reader.feed(&piece[..n], |item| match item {
            Item::Fragment(fragment) => assembler.feed(&fragment, |line| hand(Part::Line(line))),
            Item::Note(key, value) => hand(Part::Note(key, value)),
        });
        hand(Part::Pause);
        result?;
    }
}

/// A run as it was left.
#[derive(Debug)]
pub struct Found {
    /// Its record.
    pub run: Run,
    /// What its trace holds.
    pub read: Kept,
    /// Its samples, when there are any.
    pub samples: Option<Samples>,
    /// It goes on at this moment.
    pub running: bool,
}

/// The command. Yields the exit status: 0 done, 1 nothing to report or `--strict` failed.
///
/// # Errors
/// Usage or I/O: status 2.
pub fn parse(args: &ParseArgs) -> anyhow::Result<i32> {
    let (mut found, made) = given(args)?;
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
    write(args, &subject)?;
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
    let asked = subject.run.profile || subject.expects_dispatches();
    let no_split = subject.run.split && subject.split().as_ref().is_none_or(Split::is_empty);
    asked && subject.no_dispatch() || no_split
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
fn given(args: &ParseArgs) -> anyhow::Result<(Found, String)> {
    let pattern = args.reading.packed_pattern.as_ref();
    let (mut found, mut made) = match &args.path {
        Some(path) if is_dash(path) => (find(path, pattern)?, "of standard input".to_owned()),
        Some(path) => (find(path, pattern)?, format!("of {}", path.display())),
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

fn open_samples(path: &Path) -> io::Result<Samples> {
    samples::read(&mut File::open(path)?)
}

fn write(args: &ParseArgs, subject: &Subject<'_>) -> anyhow::Result<()> {
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
    pictures(args, subject)?;
    let stdout = [&args.json, &args.tables.csv, &args.tables.markdown, &args.pictures.html];
    let taken = args.report.is_none() && stdout.into_iter().flatten().any(|p| is_dash(p));
    if !taken {
        let to = args.report.as_deref().unwrap_or(Path::new("-"));
        deliver(to, text::report(subject).as_bytes())
            .with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(())
}

/// Writes the page and the timeline, where they are asked for.
fn pictures(args: &ParseArgs, subject: &Subject<'_>) -> anyhow::Result<()> {
    if let Some(path) = &args.pictures.html {
        deliver(path, page::report(subject).as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let Some(path) = &args.pictures.timeline else { return Ok(()) };
    if args.path.as_deref().is_some_and(is_dash) || is_dash(path) {
        bail!("--timeline reads the trace twice and writes a file: give both by name, not -");
    }
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
    let trace = args.path.as_ref().map(|p| if p.is_dir() { p.join("trace.log") } else { p.clone() });
    timeline::write(&matter, trace.as_deref().filter(|t| t.exists()), path)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The run that a path leads to: a run folder, a kept trace, or `-`. `pattern`: what lines of the host-weight trace look
/// like, in place of what its record says.
///
/// # Errors
/// A sentence that names the path, and what is wrong with it.
pub fn find(path: &Path, pattern: Option<&Regex>) -> anyhow::Result<Found> {
    if is_dash(path) {
        let read = read_trace(&mut io::stdin().lock(), pattern).context("cannot read standard input")?;
        return from_trace(read, false).context("standard input");
    }
    let meta = path
        .metadata()
        .with_context(|| format!("cannot read {}: a run folder, a trace or -", path.display()))?;
    if meta.is_dir() { from_folder(path, pattern) } else { from_file(path, pattern) }
        .with_context(|| path.display().to_string())
}

fn from_file(path: &Path, pattern: Option<&Regex>) -> anyhow::Result<Found> {
    let mut file = File::open(path)?;
    let read = read_trace(&mut file, pattern)?;
    // Asked after reading: a run that ended meanwhile has its end in what comes next time.
    let running = fd::is_locked(file.as_fd());
    let mut found = from_trace(read, running)?;
    // The trace of a run folder has its samples beside it.
    if found.run.sampling.is_some() && path.file_name().is_some_and(|name| name == "trace.log") {
        found.samples = beside(path.parent().unwrap_or(Path::new("")))?;
    }
    Ok(found)
}

/// The samples in a run's folder, if there are any.
fn beside(folder: &Path) -> anyhow::Result<Option<Samples>> {
    match open_samples(&folder.join("gtt.tsv")) {
        Ok(read) => Ok(Some(read)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).context("gtt.tsv"),
    }
}

fn from_trace(read: Kept, running: bool) -> anyhow::Result<Found> {
    let run = if read.fields.contains_key("schema") {
        let mut run = Run::from_fields(read.fields.clone()).map_err(|e| anyhow!(e))?;
        if run.tool.name.is_empty() {
            // Cut behind the first line, which only a trace of ours has.
            "hrx-wrap".clone_into(&mut run.tool.name);
        }
        run
    } else {
        Run { schema: SCHEMA.to_owned(), ..Run::default() }
    };
    Ok(Found { run, read, samples: None, running })
}

fn from_folder(folder: &Path, pattern: Option<&Regex>) -> anyhow::Result<Found> {
    let record = match std::fs::read(folder.join("run.json")) {
        Ok(text) => Some(serde_json::from_slice(&text).context("run.json is not JSON")?),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e).context("run.json"),
    };
    let trace = folder.join("trace.log");
    if record.is_none() && !trace.exists() {
        return Err(anyhow!("no run.json and no trace.log in it: not the folder of a run"));
    }
    let mut found =
        if trace.exists() { from_file(&trace, pattern)? } else { from_trace(Kept::default(), false)? };
    if let Some(fields) = record {
        found.run = Run::from_fields(fields).map_err(|e| anyhow!("run.json: {e}"))?;
    }
    found.samples = beside(folder)?;
    Ok(found)
}
