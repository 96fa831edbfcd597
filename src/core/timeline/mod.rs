//! A run as spans on tracks, for a picture of it: made while its kept trace is read a second time, holding only what is
//! on its way.

mod canvas;
mod choice;
mod contexts;
mod marks;
mod plan;
mod programs;

use crate::core::event::{Event, Sink};
use crate::core::lines::Line;
use crate::core::parse::rejoin::{Part, Rejoiner, Serial};
use crate::core::parse::serial::{self, Phase};
use crate::core::profile::flight::{Flights, Key, Open, State, Step};
use crate::core::profile::program::Dispatch;
use crate::core::profile::writers::Writers;
use contexts::Contexts;
use programs::Courses;

pub use canvas::{Canvas, Facts, Name, Spans, Stretch, Track};
pub use marks::{Beside, marks};
pub use plan::{DEFAULT_SPANS, Plan};

/// What was drawn, to be said in the picture itself and compared with the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Dispatches that came to their end.
    pub completed: u64,
    /// Those of them that are drawn.
    pub dispatches: u64,
    /// Their device time, ns.
    pub device_ns: u64,
    /// Spans in all.
    pub spans: u64,
    /// Programs that are drawn with all that belongs to them, from the start on.
    pub programs: u64,
    /// Of the dispatches, those that are drawn because they are slow.
    pub slow: u64,
    /// Of these, those that are some of many alike.
    pub some: u64,
    /// Of the dispatches, the last ones.
    pub last: u64,
    /// Spans for which there was no room, those of dispatches not counted.
    pub left_out: u64,
}

/// Draws the spans of a trace, line by line.
#[derive(Debug)]
pub struct Weaver<'c, C> {
    canvas: &'c mut C,
    plan: Plan,
    rejoiner: Rejoiner,
    flights: Flights,
    /// Whose the lines are now; 0 where that is not known.
    process: u32,
    /// The programs that each process is at.
    writers: Writers<Courses>,
    /// The dispatches on their way, each in a context of its process: as many as are on their way at once.
    contexts: Contexts,
    /// The first window is over.
    past_first: bool,
    /// The last window has begun.
    in_last: bool,
    /// All lines are through.
    at_end: bool,
    /// Nothing on a track may begin before this, ns: by the tracks' numbers.
    free: Vec<u64>,
    drawn: Drawn,
}

impl<'c, C: Spans> Weaver<'c, C> {
    /// One that has drawn nothing.
    pub fn new(canvas: &'c mut C, plan: Plan) -> Self {
        Weaver {
            canvas,
            plan,
            rejoiner: Rejoiner::default(),
            flights: Flights::default(),
            process: 0,
            writers: Writers::default(),
            contexts: Contexts::default(),
            past_first: false,
            in_last: false,
            at_end: false,
            free: Vec::new(),
            drawn: Drawn::default(),
        }
    }

    /// Where it draws.
    pub fn canvas(&mut self) -> &mut C {
        self.canvas
    }

    /// Takes one line.
    pub fn take(&mut self, line: &Line<'_>) {
        if !line.first {
            return;
        }
        let mut rejoiner = std::mem::take(&mut self.rejoiner);
        rejoiner.take(line.ns, line.bytes, |part| self.part(&part));
        self.rejoiner = rejoiner;
    }

    /// The end of all lines: what is still open has no end.
    pub fn finish(mut self) -> Drawn {
        let mut rejoiner = std::mem::take(&mut self.rejoiner);
        rejoiner.finish(|part| self.part(&part));
        self.at_end = true;
        let pids: Vec<u32> = self.writers.all().map(|(pid, _)| pid).collect();
        for pid in pids {
            self.process = pid;
            self.turn(pid);
            let courses = self.writers.now().map(std::mem::take).unwrap_or_default();
            courses.iter().for_each(|course| self.program_span(course, None, false));
        }
        for open in self.flights.open() {
            let context = self.context(open.key);
            self.open(context, &open);
        }
        self.drawn
    }

    fn part(&mut self, part: &Part<'_>) {
        match part {
            Part::Serial(serial) => self.event(&Event::Serial(serial)),
            Part::Broken => self.event(&Event::Broken),
            Part::Foreign(..) => {}
        }
    }

    fn serial(&mut self, serial: &Serial<'_>) {
        self.turn(self.process);
        if !serial.exact {
            // As in the profile: a time that is not its own would make a wrong span.
            return self.untimed(serial);
        }
        match serial.phase {
            Phase::Pre | Phase::Launch | Phase::Post => self.command(serial),
            Phase::Program => self.program(serial),
            Phase::Host(place, post) => self.host(serial, place, post),
            Phase::List | Phase::Other => {}
        }
    }

    fn untimed(&mut self, serial: &Serial<'_>) {
        self.flights.broken(self.process);
        if let (Phase::Post, serial::Event::SyncEnd, Some(key)) =
            (serial.phase, serial.event, self.key(serial))
        {
            self.flights.lose(key);
        }
    }

    fn command(&mut self, serial: &Serial<'_>) {
        let Some(detail) = &serial.detail else { return };
        let Some(key) = self.key(serial) else { return self.flights.broken(self.process) };
        // Of a launch's end and of the floor's nothing is drawn, so where does not matter.
        let context = match (serial.phase, serial.event) {
            (Phase::Launch, serial::Event::End) | (Phase::Pre, serial::Event::SyncEnd) => 0,
            (Phase::Post, serial::Event::SyncBegin) => return,
            _ => self.context(key),
        };
        let mut flights = std::mem::take(&mut self.flights);
        flights.take(key, serial, detail, |step| match step {
            Step::Completed(_, dispatch) => self.dispatch(context, key, dispatch),
            // Its context is the one of the dispatch that takes its place.
            Step::Abandoned(open) | Step::Failed(open) => self.open(context, open),
            _ => {}
        });
        self.flights = flights;
    }

    /// The next line is of this process. One that is given up for it is drawn as far as it came.
    fn turn(&mut self, process: u32) {
        let Some((gone, courses)) = self.writers.turn(process) else { return };
        for open in self.flights.leave_all(gone) {
            let context = self.context(open.key);
            self.open(context, &open);
        }
        courses.iter().for_each(|course| self.program_span(course, None, false));
    }

    /// Where a dispatch is drawn.
    fn context(&mut self, key: Key) -> u16 {
        let program = self.course(key).map(|course| course.context);
        self.contexts.of(key, program, &self.flights)
    }

    fn dispatch(&mut self, context: u16, key: Key, dispatch: &Dispatch) {
        self.passed(key);
        if !self.wanted(dispatch) {
            return;
        }
        let facts = Facts {
            kernel_id: dispatch.kernel_id,
            bindings: dispatch.bindings,
            place: Some((key.list, key.commands, key.index)),
            ..Facts::default()
        };
        let name = Name::Kernel(dispatch.kernel_id);
        let free = self.contexts.free(context);
        // Stamps that go back in time make durations of 0, and no sums.
        let launched = dispatch.until.saturating_sub(dispatch.device);
        let begun = launched.saturating_sub(dispatch.launch);
        if dispatch.from.saturating_add(dispatch.wait) <= begun && dispatch.wait > 0 && dispatch.from >= free
        {
            let until = Some(dispatch.from.saturating_add(dispatch.wait));
            let words = Name::Words("wait for an idle device");
            self.span(Track::Waits(context), words, dispatch.from, until, &Facts::default());
        }
        self.span(Track::Launches(context), name, begun.max(free), Some(launched), &facts);
        self.span(Track::Device(context), name, launched, Some(dispatch.until), &facts);
        self.contexts.end(context, dispatch.until);
        self.drawn.dispatches += 1;
        self.drawn.device_ns += dispatch.device;
    }

    /// A dispatch that did not come to its end. It is drawn in any case.
    fn open(&mut self, context: u16, open: &Open) {
        let on_device = open.state == State::OnDevice;
        let place = Some((open.key.list, open.key.commands, open.key.index));
        // What has an end is left: like what has none, it is in no total.
        let facts = |last: bool| Facts {
            kernel_id: open.kernel_id,
            place,
            open: last && open.until.is_none(),
            left: !last || open.until.is_some(),
            ..Facts::default()
        };
        let name = Name::Kernel(open.kernel_id);
        let launched = open.launched.unwrap_or(open.since);
        let launch_end = if on_device { Some(launched) } else { open.until };
        self.span(Track::Launches(context), name, open.since, launch_end, &facts(!on_device));
        if on_device {
            self.span(Track::Device(context), name, launched, open.until, &facts(true));
        }
        self.contexts.end(context, open.until.unwrap_or(launched));
    }

    /// What names the dispatch of a command's line.
    fn key(&self, serial: &Serial<'_>) -> Option<Key> {
        let detail = serial.detail.as_ref()?;
        let (list, commands) = (detail.list?, detail.list_commands?);
        Some(Key { process: self.process, list, commands, index: detail.index? })
    }

    fn span(&mut self, track: Track, name: Name, from: u64, until: Option<u64>, facts: &Facts) {
        let room = if self.at_end { self.plan.most } else { self.room() };
        if self.drawn.spans >= room {
            self.drawn.left_out += 1;
            return;
        }
        self.drawn.spans += 1;
        let place = track.number() as usize;
        if self.free.len() <= place {
            self.free.resize(place + 1, 0);
        }
        // On a track time never goes back, whatever the stamps do.
        let from = from.max(self.free[place]);
        let until = until.map(|until| until.max(from));
        self.free[place] = until.unwrap_or(from);
        self.canvas.span(&Stretch { track, name, from, until, facts: *facts });
    }
}

impl<C: Spans> Sink for Weaver<'_, C> {
    fn line(&mut self, line: &Line<'_>) {
        self.take(line);
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Serial(serial) => self.serial(serial),
            Event::Process(pid) => self.process = *pid,
            Event::Broken => self.flights.broken(self.process),
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "../timeline_tests.rs"]
mod tests;
#[cfg(test)]
#[path = "../timeline_trim_tests.rs"]
mod trim_tests;
