use std::collections::BTreeMap;

use super::*;
use crate::core::book::Book;
use crate::core::memory::sample::Sample;
use crate::core::memory::series::Series;
use crate::core::phases::{Phase, Span};
use crate::core::run::{End, Exit, Forwarded, Run, Stop};
use crate::core::shorthand;
use crate::core::test_trace::{Trace, fields, line};

/// What was drawn, as one can compare it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Picture {
    pub(super) spans: Vec<(Track, String, u64, Option<u64>, Facts)>,
    marks: Vec<(String, u64)>,
    bytes: Vec<(Track, u64, u64)>,
}

impl Spans for Picture {
    fn span(&mut self, stretch: &Stretch) {
        let Stretch { track, name, from, until, facts } = *stretch;
        let name = match name {
            Name::Kernel(id) => format!("{id:?}"),
            other => other.words().unwrap().into_owned(),
        };
        self.spans.push((track, name, from, until, facts));
    }
}

impl Canvas for Picture {
    fn mark(&mut self, _: Track, words: &str, at: u64) {
        self.marks.push((words.to_owned(), at));
    }

    fn bytes(&mut self, track: Track, at: u64, bytes: u64) {
        self.bytes.push((track, at, bytes));
    }
}

impl Picture {
    pub(super) fn on(&self, track: Track) -> Vec<(u64, Option<u64>)> {
        self.spans.iter().filter(|s| s.0 == track).map(|s| (s.2, s.3)).collect()
    }

    /// On no track does time go back, and no two spans overlap.
    pub(super) fn check(&self) {
        let mut last: BTreeMap<Track, u64> = BTreeMap::new();
        for (track, name, from, until, _) in &self.spans {
            let before = last.entry(*track).or_default();
            assert!(from >= before, "{track:?} {name}: {from} is before {before}");
            assert!(until.is_none_or(|until| until >= *from));
            *before = until.unwrap_or(*from);
        }
    }
}

/// A trace whose dispatches follow each other faster than others do.
pub(super) fn brisk() -> Trace {
    Trace { pace: [5, 2, 1], bindings: 3, ..Trace::default() }
}

fn detail(index: u64, commands: u64, kernel: u64) -> String {
    fields(index, commands, kernel, 3)
}

/// Drawn with a number of spans at the most: the picture, what was drawn, the plan, and the profile's device time.
pub(super) fn drawn(trace: &Trace, most: u64) -> (Picture, Drawn, Plan, u64) {
    let mut book = Book::default();
    book.shorthand = Some(shorthand::Writer::default());
    trace.each(|line| book.take(line, |_, _| {}));
    book.finish();
    let plan = Plan::new(&book.profile, 0, most);
    let mut picture = Picture::default();
    let mut weaver = Weaver::new(&mut picture, plan);
    trace.each(|line| weaver.take(line));
    let drawn = weaver.finish();
    picture.check();
    assert_eq!(drawn.spans, picture.spans.len() as u64);
    // Lines that are read again and events that were kept in short draw the same.
    let mut again = Picture::default();
    let mut weaver = Weaver::new(&mut again, plan);
    let short = book.shorthand.as_mut().unwrap().out();
    shorthand::Reader::default().read(short, |event| weaver.event(event)).unwrap();
    assert_eq!((weaver.finish(), &again), (drawn, &picture));
    (picture, drawn, plan, book.profile.programs().iter().map(|p| p.total()).sum())
}

#[test]
fn each_process_has_its_own_tracks() {
    let mut trace = brisk();
    trace.program(40, 4, &[30, 50]);
    let mut picture = Picture::default();
    let plan = Plan::everything();
    let mut weaver = Weaver::new(&mut picture, plan);
    // Two processes run the same, every line of one right behind the other's.
    for (ns, text) in &trace.lines {
        for (pid, after) in [(11, 0), (12, 1)] {
            weaver.event(&Event::Process(pid));
            weaver.take(&line(ns + after, text));
        }
    }
    let drawn = weaver.finish();
    picture.check();
    assert_eq!((drawn.completed, drawn.device_ns), (4, 160));
    for n in 0..2 {
        let later = u64::from(n);
        assert_eq!(picture.on(Track::Programs(n)), [(10 + later, Some(trace.now + later))]);
        assert_eq!(picture.on(Track::Host(n)), [(12 + later, Some(19 + later))]);
        assert_eq!(
            picture.on(Track::Device(n)),
            [(32 + later, Some(62 + later)), (74 + later, Some(124 + later))]
        );
    }
}

#[test]
fn a_program_and_its_dispatches_stand_on_their_tracks() {
    let mut trace = brisk();
    trace.program(40, 4, &[30, 50]);
    let (picture, drawn, plan, device) = drawn(&trace, 1_000);
    assert!(plan.whole);
    assert_eq!((drawn.dispatches, drawn.device_ns), (2, device));
    assert_eq!(picture.on(Track::Programs(0)), [(10, Some(trace.now))]);
    assert_eq!(picture.on(Track::Host(0)), [(12, Some(19))]);
    assert_eq!(picture.on(Track::Waits(0)), [(25, Some(27)), (67, Some(69))]);
    assert_eq!(picture.on(Track::Launches(0)), [(28, Some(32)), (70, Some(74))]);
    assert_eq!(picture.on(Track::Device(0)), [(32, Some(62)), (74, Some(124))]);
    let device = picture.spans.iter().find(|s| s.0 == Track::Device(0)).unwrap();
    let facts = Facts {
        kernel_id: Some(40),
        bindings: Some(3),
        place: Some((crate::core::parse::serial::List::Main, 2, 0)),
        ..Facts::default()
    };
    assert_eq!((device.1.as_str(), device.4), ("Some(40)", facts));
}

#[test]
fn what_is_open_at_the_end_has_no_end_and_says_so() {
    let mut trace = brisk();
    trace.dispatch(0, 2, 7, 4, 30);
    let detail = detail(1, 2, 8);
    trace.begin(&detail);
    trace.line(4, &format!("end phase=command-dispatch {detail}"));
    let (picture, ..) = drawn(&trace, 1_000);
    let last = picture.spans.last().unwrap();
    assert_eq!((last.0, last.3, last.4.open), (Track::Device(0), None, true));
    assert_eq!(picture.on(Track::Launches(0)).len(), 2);
    // Killed while it was launched: the launch is what is open.
    trace.lines.pop();
    let (picture, ..) = drawn(&trace, 1_000);
    let last = picture.spans.last().unwrap();
    assert_eq!((last.0, last.3, last.4.open), (Track::Launches(0), None, true));
}

#[test]
fn a_dispatch_that_begins_again_was_left_at_that_moment() {
    let mut trace = brisk();
    trace.begin(&detail(0, 2, 7));
    trace.dispatch(0, 2, 7, 4, 30);
    let (picture, ..) = drawn(&trace, 1_000);
    let left: Vec<_> = picture.spans.iter().filter(|s| s.4.left).collect();
    assert_eq!(left.len(), 1);
    assert!(left[0].3.is_some() && !left[0].4.open);
}

#[test]
fn contexts_that_overlap_have_tracks_of_their_own() {
    let mut trace = brisk();
    let (a, b) = (detail(0, 2, 7), detail(0, 3, 8));
    for _ in 0..3 {
        trace.begin(&a);
        trace.begin(&b);
        for detail in [&a, &b] {
            trace.end(detail, 4, 9);
        }
    }
    let (picture, drawn, _, device) = drawn(&trace, 1_000);
    assert_eq!((picture.on(Track::Device(0)).len(), picture.on(Track::Device(1)).len()), (3, 3));
    assert_eq!(drawn.device_ns, device);
}

#[test]
fn the_run_itself_is_marked_and_memory_is_counted() {
    let end = End {
        at_ns: 900,
        exit: Exit { cause: "timeout".into(), ..Exit::default() },
        signals: vec![Forwarded {
            at_ns: 700,
            signal: 15,
            action: "forwarded".into(),
            ..Forwarded::default()
        }],
        stops: vec![Stop { at_ns: 300, signal: 20, until_ns: Some(400) }],
        ..End::default()
    };
    let mut run = Run { end: Some(end), ..Run::default() };
    run.clock.start_ns = 100;
    run.limits.timeout_ns = Some(500);
    let mut series = Series::default();
    series.push(Sample { ns: 150, gtt_bytes: Some(5), rss_bytes: Some(7), ..Sample::default() });
    series.push(Sample { ns: 250, gtt_bytes: None, ..Sample::default() });
    let mut picture = Picture::default();
    let plan = Plan { most: 30, all: 10, slow_ns: 500, some_ns: 400, ..Plan::default() };
    let drawn = Drawn {
        completed: 10,
        dispatches: 8,
        programs: 1,
        last: 2,
        slow: 3,
        some: 1,
        spans: 24,
        ..Drawn::default()
    };
    let phases = [
        Span { phase: Phase::Load, from: 110, until: Some(200) },
        Span { phase: Phase::Run, from: 200, until: None },
    ];
    marks(&mut picture, &Beside { run: &run, memory: Some(&series), phases: &phases }, &plan, &drawn);
    assert_eq!(picture.on(Track::Phases), [(110, Some(200)), (200, Some(900))], "the last one up to the end");
    let words: Vec<&str> = picture.marks.iter().map(|m| m.0.as_str()).collect();
    let expected = [
        "start",
        "TRIMMED by --timeline-max 30: 8 of 10 dispatches are drawn: the first 3 (in 1 whole program), the last 2, elsewhere the 2 \
         of at least 500 ns, 1 of those of at least 400 ns",
        "stopped by SIGTSTP",
        "continued",
        "timeout of 500 ns",
        "SIGTERM forwarded",
        "the target's end: timeout",
    ];
    assert_eq!(words, expected);
    assert!(picture.marks.windows(2).all(|w| w[0].1 <= w[1].1));
    assert_eq!(picture.bytes, [(Track::Gtt, 150, 5), (Track::Rss, 150, 7)], "what is unknown is no amount");
}

/// The lines of a program of its own context.
fn program_lines(kernel: u64, devices: &[u64]) -> Vec<String> {
    let mut trace = brisk();
    trace.program(kernel, 4, devices);
    trace.lines.into_iter().map(|(_, text)| text.replace("hrx debug serial: ", "")).collect()
}

#[test]
fn programs_of_contexts_that_work_at_once_are_each_whole_on_its_own_tracks() {
    let (a, b) = (program_lines(40, &[30, 50, 70]), program_lines(60, &[20, 20]));
    let mut trace = brisk();
    // Now the one comes first, now the other.
    for (one, other) in [(&a, &b), (&b, &a)] {
        let turns = (0..a.len().max(b.len())).flat_map(|n| [one.get(n), other.get(n)]);
        turns.flatten().for_each(|text| trace.line(5, text));
    }
    let (picture, drawn, plan, device) = drawn(&trace, 1_000);
    assert!(plan.whole);
    assert_eq!((drawn.dispatches, drawn.device_ns), (10, device));
    let own =
        |n: u16, track: fn(u16) -> Track| picture.spans.iter().filter(move |s| s.0 == track(n)).map(|s| s.4);
    for (n, commands) in [(0, 3), (1, 2)] {
        let programs: Vec<Facts> = own(n, Track::Programs).collect();
        let whole = Facts { main_commands: Some(commands), ..Facts::default() };
        assert_eq!(programs, [whole, whole], "neither open nor left");
        assert_eq!(picture.on(Track::Host(n)).len(), 2);
        assert!(own(n, Track::Device).all(|f| f.place.is_some_and(|p| p.1 == commands)));
        assert_eq!(own(n, Track::Device).count() as u64, 2 * commands);
    }
}

#[test]
fn a_program_whose_end_line_is_lost_ends_where_the_next_one_begins() {
    let (mut a, b) = (program_lines(40, &[30, 50, 70]), program_lines(60, &[20, 20]));
    a.pop();
    let mut trace = brisk();
    a.iter().chain(&b).for_each(|text| trace.line(5, text));
    let begins = trace.lines[a.len()].0;
    let (picture, ..) = drawn(&trace, 1_000);
    let programs: Vec<_> = picture
        .spans
        .iter()
        .filter(|s| matches!(s.0, Track::Programs(_)))
        .map(|s| (s.0, s.2, s.3, s.4.left))
        .collect();
    assert_eq!(
        programs,
        [(Track::Programs(0), 5, Some(begins), true), (Track::Programs(0), begins, Some(trace.now), false)]
    );
}

#[test]
fn a_log_that_lacks_lines_is_marked() {
    let mut run = Run { end: Some(End::default()), ..Run::default() };
    let mut words = |lost: u64| {
        run.end.as_mut().unwrap().counters.log_lost_lines = lost;
        let mut picture = Picture::default();
        let beside = Beside { run: &run, memory: None, phases: &[] };
        marks(&mut picture, &beside, &Plan::everything(), &Drawn::default());
        picture
            .marks
            .into_iter()
            .map(|m| m.0)
            .filter(|words| words.starts_with("NOT WHOLE"))
            .collect::<Vec<_>>()
    };
    assert_eq!(words(0), [""; 0]);
    assert_eq!(words(7), ["NOT WHOLE: the log lacks 7 lines that the disk did not take"]);
}
