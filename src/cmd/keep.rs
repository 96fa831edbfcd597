//! The files that a run leaves: made before the target is started, written so that a kill leaves a whole old or a whole
//! new one, and taken away again when the target could not be started.

mod reports;

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::cmd::kept::{Way, read_trace};
use crate::cmd::manifests;
use crate::cmd::places::Places;
use crate::cmd::replaceable::{names_in, replaceable};
use crate::cmd::samples::{self, Samples};
use crate::core::book::Book;
use crate::core::memory::series::Series;
use crate::core::run::Run;
use crate::core::split::Split;
use crate::core::trace;
use crate::live::plan::{Finished, Keeper, Log, status};
use crate::report::{Source, Subject};
use crate::sys::fd;

pub use crate::cmd::files::{deliver, is_dash, replace};
pub use reports::json_text;

/// The files of a run folder; nothing else in it is ever removed.
pub const FILES: [&str; 7] =
    ["run.json", "trace.log", "gtt.tsv", "report.txt", "report.json", "report.html", "timeline.pftrace"];

/// The files of one run.
#[derive(Debug)]
pub struct Kept {
    places: Places,
    program: Option<PathBuf>,
    cwd: Option<PathBuf>,
    /// What was not there before, in the order it was made.
    made: Vec<PathBuf>,
    /// The run folder was found fit: its files are ours.
    owned: bool,
    /// Open ways to what is no regular file: a pipe of the shell's may not be there by name at the end.
    ways: Vec<(PathBuf, File)>,
    /// The table of samples, until the run takes it.
    table: Option<Log>,
}

impl Kept {
    /// Makes the folder and the files, so that a bad path fails before anything is started.
    ///
    /// # Errors
    /// A sentence that names the path and the remedy; what was made is gone again.
    pub fn create(
        places: Places,
        program: Option<PathBuf>,
        run: &Run,
    ) -> anyhow::Result<(Kept, Option<Log>)> {
        let cwd = std::env::current_dir().ok();
        let (made, ways) = (Vec::new(), Vec::new());
        let mut kept = Kept { places, program, cwd, made, owned: false, ways, table: None };
        match kept.open_all(run) {
            Ok(log) => Ok((kept, log)),
            Err(error) => {
                kept.discard();
                Err(error)
            }
        }
    }

    fn open_all(&mut self, run: &Run) -> anyhow::Result<Option<Log>> {
        self.places.check_timeline()?;
        if let Some(out) = self.places.out.clone() {
            self.make_folder(&out)?;
            self.owned = true;
            self.places.log = self.places.log_path();
            self.places.samples = self.places.samples.take().or_else(|| Some(out.join("gtt.tsv")));
        }
        let places = &self.places;
        places.check_apart()?;
        manifests::check(&places.manifests)?;
        let files =
            [&places.report, &places.json, &places.csv, &places.markdown, &places.html, &places.timeline];
        for path in files.into_iter().flatten().cloned().collect::<Vec<_>>() {
            if !is_dash(&path) {
                let file = self.open(&path)?;
                if !file.metadata().is_ok_and(|m| m.is_file()) {
                    self.ways.push((path, file));
                }
            }
        }
        let log = self.places.log.clone().map(|path| self.begin_log(path, run)).transpose()?;
        self.table = self.places.samples.clone().map(|path| self.begin_table(path)).transpose()?;
        self.write_record(run).or_else(unless_full).context("run.json")?;
        Ok(log)
    }

    fn begin_table(&mut self, path: PathBuf) -> anyhow::Result<Log> {
        if is_dash(&path) {
            bail!("--samples {}: it needs a file of its own", path.display());
        }
        samples::begin(self.open(&path)?, path)
    }

    /// The table of samples.
    pub fn take_table(&mut self) -> Option<Log> {
        self.table.take()
    }

    fn make_folder(&mut self, out: &Path) -> anyhow::Result<()> {
        let missing: Vec<PathBuf> = out
            .ancestors()
            .filter(|p| !p.as_os_str().is_empty() && !p.exists())
            .map(Path::to_owned)
            .collect();
        self.made.extend(missing.into_iter().rev());
        std::fs::create_dir_all(out).with_context(|| {
            format!("cannot make the run folder {}: choose another with --out", out.display())
        })?;
        let names = names_in(out).with_context(|| format!("cannot read the folder {}", out.display()))?;
        if names.is_empty() {
            return Ok(());
        }
        if !self.places.force {
            bail!(
                "{} is not empty: choose a new folder, or --force to replace a run of hrx-wrap",
                out.display()
            );
        }
        replaceable(out, &names)?;
        // Record and trace first: what is left of the old run after a kill is not taken for a run.
        let (first, rest): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|n| n == "run.json" || n == "trace.log");
        for name in first.into_iter().chain(rest) {
            std::fs::remove_file(out.join(&name))
                .with_context(|| format!("cannot replace {}", name.display()))?;
        }
        Ok(())
    }

    fn open(&mut self, path: &Path) -> anyhow::Result<File> {
        if path.metadata().is_ok_and(|m| !m.is_file()) {
            // For writing only: a pipe that we could read ourselves would never tell that its reader is gone.
            let file = File::options().write(true).open(path);
            return file.with_context(|| format!("cannot write {}: choose another file", path.display()));
        }
        let new = !path.exists();
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.with_context(|| format!("cannot write {}: choose another file", path.display()))?;
        if new {
            self.made.push(path.to_owned());
        }
        Ok(file)
    }

    fn begin_log(&mut self, path: PathBuf, run: &Run) -> anyhow::Result<Log> {
        let mut file = self.open(&path)?;
        if file.metadata().is_ok_and(|m| m.is_file()) {
            // Held as long as one of our processes lives: a reader sees that the run goes on.
            if !fd::try_lock(file.as_fd()) {
                bail!("{} is being written by another hrx-wrap: choose another file", path.display());
            }
            file.set_len(0).with_context(|| format!("cannot empty {}", path.display()))?;
        }
        let mut header = Vec::new();
        // What makes it ours stands first: a header that is cut is still known for what it is.
        let mut fields = run.fields();
        for key in ["schema", "tool"] {
            if let Some(value) = fields.remove(key) {
                trace::note(&mut header, key, &value);
            }
        }
        for (key, value) in fields {
            trace::note(&mut header, &key, &value);
        }
        let (mut offset, header) = (0, header.as_slice());
        while offset < header.len() {
            match file.write(&header[offset..]) {
                Ok(n) => offset += n,
                Err(error) => {
                    unless_full(error)
                        .with_context(|| format!("cannot write {}: choose another file", path.display()))?;
                    break;
                }
            }
        }
        Ok(Log { file, path, offset: offset as u64 })
    }

    fn write_record(&self, run: &Run) -> io::Result<()> {
        let Some(out) = &self.places.out else {
            return Ok(());
        };
        let mut text = serde_json::to_vec_pretty(run)?;
        text.push(b'\n');
        replace(&out.join("run.json"), &text)
    }

    /// The sums of a run whose own were lost, from the log that is on disk.
    fn reread(&self) -> Option<Book> {
        // Reading from a pipe would take its reader's lines, and a device may have no end.
        let path = self.places.log.as_ref().filter(|path| path.is_file())?;
        read_trace(&mut File::open(path).ok()?, Way::default()).ok().map(|read| read.book)
    }

    /// Our status, when the target exited with 0 and the report fails: of its memory, or of dispatches that were asked for and not
    /// traced.
    fn verdict(&self, run: &Run, book: Option<&Book>, memory: Option<&Series>) -> Option<i32> {
        let fine = run.end.as_ref().is_some_and(|end| end.status == 0);
        let book = book.filter(|_| self.places.strict && fine)?;
        let no_dispatch = run.profile && !book.profile.has_dispatch();
        (no_dispatch || Split::of(book, memory, run).fails()).then_some(status::REPORT_FAILED)
    }

    /// The samples of a run whose own were lost, from the table that is on disk.
    fn reread_samples(&self) -> Option<Samples> {
        let path = self.places.samples.as_ref().filter(|path| path.is_file())?;
        let read = crate::cmd::samples::read(&mut File::open(path).ok()?).ok()?;
        (!read.series.is_empty()).then_some(read)
    }

    fn look_at_program(&self, run: &mut Run) {
        let program = self.program.as_deref();
        run.binary = program.and_then(crate::cmd::provenance::binary);
        let ask_git = self.places.keep_anything();
        run.repositories = crate::cmd::provenance::repositories(program, self.cwd.as_deref(), ask_git);
    }
}

impl Keeper for Kept {
    fn started(&mut self, run: &Run) {
        // The record without pid is there already; a disk that is full by now is told about at the end.
        let _ = self.write_record(run);
    }

    fn finished(&mut self, run: &mut Run, book: Option<Book>, samples: Option<&Series>) -> Finished {
        let book = book.or_else(|| self.reread());
        let reread = if samples.is_none() { self.reread_samples() } else { None };
        let (notes, series) = reread.map(|read| (read.notes, read.series)).unzip();
        let memory = samples.or(series.as_ref());
        samples::settle(run, memory, book.as_ref());
        if run.binary.is_none() {
            self.look_at_program(run);
        }
        let samples = notes.unwrap_or_default();
        let source = Source { made: "live".to_owned(), samples, ..Source::default() };
        let (names, naming) = manifests::load(&self.places.manifests, self.program.as_deref());
        let view = self.places.view;
        let mut finished = Finished::default();
        let status = self.verdict(run, book.as_ref(), memory);
        if let (Some(status), Some(end)) = (status, &mut run.end) {
            end.status = status;
            finished.status = Some(status);
        }
        let subject = Subject {
            run,
            book: book.as_ref(),
            memory,
            source: &source,
            names: &names,
            naming: &naming,
            view,
        };
        let text = self.write_reports(&subject, &mut finished.troubles);
        if self.places.report.is_none() {
            finished.report = text;
        }
        finished
    }

    fn discard(&mut self) {
        if let Some(out) = self.places.out.as_ref().filter(|_| self.owned) {
            for name in FILES {
                let _ = std::fs::remove_file(out.join(name));
            }
        }
        for path in self.made.drain(..).rev() {
            // A folder goes only when it is empty, so nothing of anybody else can go with it.
            let _ = if path.is_dir() { std::fs::remove_dir(&path) } else { std::fs::remove_file(&path) };
        }
    }
}

/// A disk without room does not keep a run from its work: what is lost is counted and told at the end.
///
/// # Errors
/// All others.
pub fn unless_full(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => Ok(()),
        _ => Err(error),
    }
}
