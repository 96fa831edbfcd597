use proptest::prelude::*;

use super::tests::{Picture, brisk, drawn};
use super::*;
use crate::core::book::Book;
use crate::core::test_trace::fields;

#[test]
fn a_long_run_is_trimmed_to_its_start_its_slowest_and_its_end() {
    let mut trace = brisk();
    for n in 0..200 {
        trace.program(40, 4, &[10, 20, if n == 100 { 90_000 } else { 30 }, 40]);
    }
    for most in [300, 600, 1_200, 2_000] {
        let (picture, drawn, plan, _) = drawn(&trace, most);
        assert!(!plan.whole);
        assert_eq!(drawn.completed, 800);
        assert!(drawn.spans <= most && drawn.spans > most / 2, "{most}: {drawn:?}");
        let device = picture.on(Track::Device(0));
        assert!(device.iter().any(|(from, until)| until.unwrap() - from == 90_000), "the slowest is there");
        let (first, last) = (device.first().unwrap(), device.last().unwrap());
        assert!(first.0 < 100 && last.1 == Some(trace.now - 1), "the first and the last are there");
        let launches = picture.on(Track::Launches(0)).len() as u64;
        assert_eq!((launches, device.len() as u64), (drawn.dispatches, drawn.dispatches));
    }
    let (_, drawn, plan, device) = drawn(&trace, 5_000);
    assert!(plan.whole);
    assert_eq!((drawn.dispatches, drawn.device_ns), (800, device));
}

#[test]
fn whole_programs_are_drawn_from_the_start() {
    let mut trace = brisk();
    for _ in 0..100 {
        trace.program(40, 4, &[10, 20, 30, 40]);
    }
    let (picture, drawn, ..) = drawn(&trace, 400);
    let device = picture.spans.iter().filter(|s| s.0 == Track::Device(0));
    // Indices go 0, 1, 2, 3 over and over: no program is cut.
    let first = drawn.dispatches - drawn.last - drawn.slow;
    let indices: Vec<u64> = device.map(|s| s.4.place.unwrap().2).take(first as usize).collect();
    assert!(first > 20 && indices.chunks(4).all(|c| c == [0, 1, 2, 3]), "{indices:?}");
    assert_eq!(drawn.programs * 4, first);
    // The slowest are many alike: as many of them are drawn as there is room for.
    assert!(drawn.slow > 20 && drawn.slow == drawn.some, "{drawn:?}");
}

#[test]
fn a_trace_without_program_lines_is_trimmed_as_well() {
    let mut trace = brisk();
    for _ in 0..500 {
        trace.dispatch(0, 1, 7, 4, 30);
    }
    let (picture, drawn, ..) = drawn(&trace, 100);
    assert!(drawn.spans <= 100 && drawn.dispatches > 20, "{drawn:?}");
    assert_eq!(picture.on(Track::Device(0)).last().unwrap().1, Some(trace.now));
}

#[test]
fn the_most_is_the_most_whatever_a_trace_consists_of() {
    let mut host = brisk();
    let own = "main_commands=1 init_commands=0";
    host.line(1, &format!("begin phase=command-program {own}"));
    for _ in 0..500 {
        host.line(1, &format!("sync-end phase=transient-bind-pre {own}"));
        host.line(1, &format!("sync-begin phase=transient-bind-post {own}"));
    }
    host.dispatch(0, 1, 7, 4, 30);
    host.line(1, &format!("end phase=command-program {own}"));
    let mut again = brisk();
    (0..500).for_each(|_| again.begin(&fields(0, 1, 7, 3)));
    let mut usual = brisk();
    (0..50).for_each(|_| usual.program(40, 4, &[10, 20, 30, 40]));
    for (trace, name) in [(&host, "host phases"), (&again, "begun again"), (&usual, "usual")] {
        for most in [0, 1, 2, 5, 10, 17, 50, 100, 400] {
            let (picture, drawn, plan, _) = drawn(trace, most);
            assert!(picture.spans.len() as u64 <= most, "{name}, {most}: {}", picture.spans.len());
            assert!(
                !plan.whole || drawn.left_out > 0 || drawn.dispatches < drawn.completed,
                "{name}, {most}"
            );
        }
    }
    let (picture, drawn, ..) = drawn(&again, 100);
    assert!(drawn.left_out > 0);
    assert_eq!(
        picture.spans.last().map(|s| s.4.open),
        Some(true),
        "what is open at the end has room kept back"
    );
}

#[test]
fn a_run_that_fits_to_the_span_is_drawn_whole() {
    let mut trace = brisk();
    (0..9).for_each(|_| trace.program(40, 4, &[10, 20, 30]));
    // A program, its host phase, and three spans a dispatch.
    let spans = 9 * (1 + 1 + 9);
    let (picture, drawn_whole, plan, _) = drawn(&trace, spans);
    assert!(plan.whole && drawn_whole.dispatches == 27, "{drawn_whole:?}");
    assert_eq!(picture.spans.len() as u64, spans);
    let (.., plan, _) = drawn(&trace, spans - 1);
    assert!(!plan.whole);
}

#[test]
fn on_no_track_time_goes_back_whatever_the_stamps_do() {
    let mut trace = brisk();
    (0..20).for_each(|_| trace.program(40, 4, &[10, 20, 30, 40]));
    for (n, (ns, _)) in trace.lines.iter_mut().enumerate() {
        *ns = if n % 7 == 3 { ns.saturating_sub(60) } else { *ns };
    }
    // The picture is checked where it is drawn.
    let (_, drawn, ..) = drawn(&trace, 10_000);
    assert_eq!(drawn.completed, 80);
}

#[test]
fn what_is_in_no_total_is_flagged() {
    let mut trace = brisk();
    trace.program(40, 4, &[10, 20]);
    // One that begins again, and one that is on the device at the end.
    for index in [0, 0, 1] {
        trace.begin(&fields(index, 2, 40 + index, 3));
    }
    trace.line(4, &format!("end phase=command-dispatch {}", fields(1, 2, 41, 3)));
    let mut book = Book::default();
    trace.each(|line| book.take(line, |_, _| {}));
    book.finish();
    let (picture, ..) = drawn(&trace, 1_000);
    let sum = |picture: &Picture, is: fn(&Track) -> bool| -> u64 {
        let whole = picture.spans.iter().filter(|s| is(&s.0) && !s.4.open && !s.4.left);
        whole.map(|s| s.3.unwrap() - s.2).sum()
    };
    let programs = book.profile.programs();
    assert_eq!(
        sum(&picture, |t| matches!(t, Track::Launches(_))),
        programs.iter().map(|p| p.launch_ns).sum::<u64>()
    );
    assert_eq!(
        sum(&picture, |t| matches!(t, Track::Device(_))),
        programs.iter().map(|p| p.total()).sum::<u64>()
    );
    assert_eq!(picture.spans.iter().filter(|s| s.4.open || s.4.left).count(), 4);
}

/// Heads of every kind.
const HEADS: [&str; 12] = [
    "sync-begin phase=command-pre-dispatch",
    "sync-end phase=command-pre-dispatch",
    "begin phase=command-dispatch",
    "end phase=command-dispatch",
    "failed phase=command-dispatch",
    "sync-begin phase=command-post-dispatch",
    "sync-end phase=command-post-dispatch",
    "begin phase=command-program",
    "end phase=command-program",
    "failed phase=command-program",
    "sync-end phase=transient-bind-pre",
    "sync-begin phase=transient-bind-post",
];

proptest! {
    #[test]
    fn any_order_of_any_lines_is_drawn_within_the_most_and_in_the_order_of_time(
        lines in prop::collection::vec(
            (0..HEADS.len(), 0u64..3, 1u64..4, prop_oneof![8 => 0u64..5_000, 1 => 0u64..1 << 50]),
            0..150,
        ),
        most in prop_oneof![0u64..60, Just(1_000_000)],
    ) {
        let mut trace = brisk();
        for (head, index, commands, ns) in lines {
            let of_program = HEADS[head].contains("program") || HEADS[head].contains("transient");
            let detail = match of_program {
                true => format!("main_commands={commands} init_commands=0"),
                false => fields(index, commands, 40 + index, 3),
            };
            trace.line(0, &format!("{} {detail}", HEADS[head]));
            trace.lines.last_mut().unwrap().0 = ns;
        }
        let (picture, drawn, ..) = drawn(&trace, most);
        prop_assert!(picture.spans.len() as u64 <= most);
        prop_assert!(most < 1_000_000 || drawn.dispatches == drawn.completed);
    }
}
