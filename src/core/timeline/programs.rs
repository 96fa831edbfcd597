//! What a process is at beside its dispatches, as spans: its programs and its host phases.

use super::{Facts, Name, Spans, Track, Weaver};
use crate::core::parse::rejoin::Serial;
use crate::core::parse::serial::{self, HOST_PHASES};
use crate::core::profile::flight::Key;
use crate::core::profile::under::UnderWay;

/// A program that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// Commands of its main list.
    main: Option<u64>,
    /// Since when, ns.
    since: u64,
    /// The host phase that is going on: which, and since when.
    host: Option<(u8, u64)>,
    /// The last of its commands has come to its end.
    through: bool,
    /// Where it is drawn.
    pub(super) context: u16,
}

/// The programs that a process is at.
pub(super) type Courses = UnderWay<Course>;

impl<C: Spans> Weaver<'_, C> {
    /// A program begins or ends.
    pub(super) fn program(&mut self, serial: &Serial<'_>) {
        let main = serial.detail.and_then(|d| d.main_commands);
        match serial.event {
            serial::Event::Begin => {
                self.program_begins(main, serial.ns);
                let ahead = self.drawn.completed + main.unwrap_or(0);
                self.past_first |= ahead > self.plan.first && self.drawn.completed > 0;
                self.in_last |= self.drawn.completed >= self.plan.last_from;
            }
            serial::Event::End | serial::Event::Failed => {
                if let Some(course) = self.writers.now().and_then(|courses| courses.end(main)) {
                    self.drawn.programs += u64::from(!self.past_first);
                    let left = serial.event == serial::Event::Failed;
                    self.program_span(&course, Some(serial.ns), left);
                }
            }
            _ => {}
        }
    }

    fn program_begins(&mut self, main: Option<u64>, ns: u64) {
        let Some(courses) = self.writers.now() else { return };
        // One whose last command is through, or of the same commands, has no end of its own: this beginning is the latest that
        // it can be. Any other goes on beside this one.
        let mut before = courses.take_if(|course| course.through);
        before.extend(courses.end(main));
        let taken: Vec<u16> = courses.iter().map(|course| course.context).collect();
        let context = self.contexts.beside(self.process, main, &taken);
        let course = Course { main, since: ns, host: None, through: false, context };
        before.extend(self.writers.now().and_then(|courses| courses.begin(main, course)));
        for course in before {
            self.program_span(&course, Some(ns), true);
        }
    }

    /// A program is drawn, where programs are.
    pub(super) fn program_span(&mut self, course: &Course, until: Option<u64>, left: bool) {
        let Course { main, context, .. } = *course;
        if !self.in_window() && !self.plan.programs && until.is_some() {
            return;
        }
        let since = course.since;
        let facts = Facts { main_commands: main, open: until.is_none(), left, ..Facts::default() };
        self.span(Track::Programs(context), Name::Program(main), since, until, &facts);
    }

    /// A host phase lies between the end of the wait before it and the beginning of the wait behind it.
    pub(super) fn host(&mut self, serial: &Serial<'_>, place: u8, post: bool) {
        let main = serial.detail.and_then(|d| d.main_commands);
        let Some(course) = self.writers.now().and_then(|courses| courses.of(main)) else { return };
        match (serial.event, post) {
            (serial::Event::SyncEnd, false) => course.host = Some((place, serial.ns)),
            (serial::Event::SyncBegin, true) => {
                let begun = course.host.take().filter(|(p, _)| *p == place);
                let context = course.context;
                if let (Some((_, since)), true) = (begun, self.in_window()) {
                    let name = Name::Words(HOST_PHASES[usize::from(place)]);
                    self.span(Track::Host(context), name, since, Some(serial.ns), &Facts::default());
                }
            }
            _ => {}
        }
    }

    /// The program of a dispatch, where one of as many commands is under way.
    pub(super) fn course(&mut self, key: Key) -> Option<&mut Course> {
        let here = key.process == self.process && key.list == serial::List::Main;
        self.writers.now().filter(|_| here)?.of(Some(key.commands))
    }

    /// A command has come to its end.
    pub(super) fn passed(&mut self, key: Key) {
        if let Some(course) = self.course(key) {
            course.through |= key.index.checked_add(1) == Some(key.commands);
        }
    }

    fn in_window(&self) -> bool {
        self.plan.whole || !self.past_first || self.in_last
    }
}
