//! `timeline.pftrace`: drawn from the kept trace's events, once the sums of the whole run are known. Memory does not grow with
//! the run: `parse` has kept the events in short, and a run that has just ended reads its log.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::cmd::kept::{Part, each_line, pid};
use crate::cmd::spool::Spool;
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

/// Where the events of the trace are.
#[derive(Debug)]
pub enum Events<'a> {
    /// In the kept trace.
    Log(&'a Path),
    /// In short, as its first reading left them.
    Spool(Spool),
}

/// What is written is handed on in pieces of this size.
const PIECE: usize = 1 << 20;

/// Draws the timeline of a kept trace into a file: JSON when its name ends so, else Perfetto's protobuf. A regular file
/// is replaced as a whole.
///
/// # Errors
/// That of either file.
pub fn write(matter: &Matter<'_>, events: Option<Events<'_>>, to: &Path) -> io::Result<()> {
    if to.metadata().is_ok_and(|m| !m.is_file()) {
        return draw(matter, events, to, &mut File::options().write(true).open(to)?);
    }
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = to.with_file_name(name);
    let drawn = File::create(&new)
        .and_then(|mut file| draw(matter, events, to, &mut file))
        .and_then(|()| std::fs::rename(&new, to));
    if drawn.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    drawn
}

fn draw(matter: &Matter<'_>, events: Option<Events<'_>>, to: &Path, file: &mut dyn Write) -> io::Result<()> {
    // Without a dispatch the lines draw nothing, however many there are.
    let events = events.filter(|_| matter.profile.has_dispatch());
    if to.extension().is_some_and(|e| e == "json") {
        let mut canvas = Chrome::new(matter.run, matter.names);
        fill(&mut canvas, matter, events, file)
    } else {
        let mut canvas = Perfetto::new(matter.run, matter.names, realtime_ns(matter.run));
        fill(&mut canvas, matter, events, file)
    }
}

fn fill<C: Drawing>(
    canvas: &mut C,
    matter: &Matter<'_>,
    events: Option<Events<'_>>,
    file: &mut dyn Write,
) -> io::Result<()> {
    let plan = Plan::new(matter.profile, matter.phases.len(), matter.most);
    let mut weaver = Weaver::new(canvas, plan);
    match events {
        Some(Events::Log(path)) => {
            each_line(&mut File::open(path)?, |part| {
                match part {
                    Part::Line(line) => weaver.take(&line),
                    Part::Note(key, value) if key == WRITER => weaver.event(&Event::Process(pid(&value))),
                    Part::Note(..) => {}
                    Part::Pause => relieve(weaver.canvas(), file)?,
                }
                Ok(())
            })?;
        }
        Some(Events::Spool(spool)) => {
            spool.replay(&mut weaver, Weaver::event, |weaver| relieve(weaver.canvas(), file))?;
        }
        None => {}
    }
    let drawn = weaver.finish();
    marks(canvas, &Beside { run: matter.run, memory: matter.memory, phases: matter.phases }, &plan, &drawn);
    canvas.close();
    empty(canvas, file)
}

/// Writes out what gathered, once it is worth it.
fn relieve(canvas: &mut impl Drawing, file: &mut dyn Write) -> io::Result<()> {
    if canvas.take().len() < PIECE { Ok(()) } else { empty(canvas, file) }
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
