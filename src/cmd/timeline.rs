//! `timeline.pftrace`: drawn while the kept trace is read a second time, so that memory does not grow with the run.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::cmd::kept::{Part, each_line, pid};
use crate::core::event::{Event, Sink as _};
use crate::core::memory::series::Series;
use crate::core::names::Catalogue;
use crate::core::phases::Span;
use crate::core::profile::Profile;
use crate::core::run::Run;
use crate::core::timeline::{Beside, Plan, Weaver, marks};
use crate::core::trace::WRITER;
use crate::report::timeline::{Chrome, Drawing, Perfetto};

/// What a timeline is of.
#[derive(Clone, Copy, Debug)]
pub struct Matter<'a> {
    /// The record.
    pub run: &'a Run,
    /// The sums of the first reading.
    pub profile: &'a Profile,
    /// The kernels' names.
    pub names: &'a Catalogue,
    /// The samples of memory, when there are any.
    pub memory: Option<&'a Series>,
    /// The phases of the run.
    pub phases: &'a [Span],
    /// The most spans.
    pub most: u64,
}

/// What is written is handed on in pieces of this size.
const PIECE: usize = 1 << 20;

/// Draws the timeline of a kept trace into a file: JSON when its name ends so, else Perfetto's protobuf. A regular file
/// is replaced as a whole.
///
/// # Errors
/// That of either file.
pub fn write(matter: &Matter<'_>, trace: Option<&Path>, to: &Path) -> io::Result<()> {
    if to.metadata().is_ok_and(|m| !m.is_file()) {
        return draw(matter, trace, to, &mut File::options().write(true).open(to)?);
    }
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = to.with_file_name(name);
    let drawn = File::create(&new)
        .and_then(|mut file| draw(matter, trace, to, &mut file))
        .and_then(|()| std::fs::rename(&new, to));
    if drawn.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    drawn
}

fn draw(matter: &Matter<'_>, trace: Option<&Path>, to: &Path, file: &mut dyn Write) -> io::Result<()> {
    // Without a dispatch the lines draw nothing, however many there are.
    let trace = trace.filter(|_| matter.profile.coverage.begun + matter.profile.coverage.completed > 0);
    if to.extension().is_some_and(|e| e == "json") {
        let mut canvas = Chrome::new(matter.run, matter.names);
        fill(&mut canvas, matter, trace, file)
    } else {
        let mut canvas = Perfetto::new(matter.run, matter.names, realtime_ns(matter.run));
        fill(&mut canvas, matter, trace, file)
    }
}

fn fill<C: Drawing>(
    canvas: &mut C,
    matter: &Matter<'_>,
    trace: Option<&Path>,
    file: &mut dyn Write,
) -> io::Result<()> {
    let plan = Plan::new(matter.profile, matter.most);
    let mut weaver = Weaver::new(canvas, plan);
    if let Some(trace) = trace {
        each_line(&mut File::open(trace)?, |part| {
            match part {
                Part::Line(line) => weaver.take(&line),
                Part::Pause if weaver.canvas().take().len() >= PIECE => empty(weaver.canvas(), file)?,
                Part::Note(key, value) if key == WRITER => weaver.event(&Event::Process(pid(&value))),
                Part::Pause | Part::Note(..) => {}
            }
            Ok(())
        })?;
    }
    let drawn = weaver.finish();
    marks(canvas, &Beside { run: matter.run, memory: matter.memory, phases: matter.phases }, &plan, &drawn);
    canvas.close();
    empty(canvas, file)
}

fn empty(canvas: &mut impl Drawing, file: &mut dyn Write) -> io::Result<()> {
    let out = canvas.take();
    file.write_all(out)?;
    out.clear();
    Ok(())
}

/// UTC at the run's start, ns since 1970.
fn realtime_ns(run: &Run) -> Option<u64> {
    let start = humantime::parse_rfc3339(&run.clock.start_utc).ok()?;
    u64::try_from(start.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}
