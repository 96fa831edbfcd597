#[path = "profile_programs_tests.rs"]
mod programs;
#[path = "profile_words_tests.rs"]
mod words;

use super::*;
use crate::core::test_trace::{Trace, fields};
use proptest::prelude::*;

fn detail(index: u64, commands: u64, kernel: u64) -> String {
    fields(index, commands, kernel, 2)
}

#[test]
fn a_kernels_time_is_the_devices_and_the_launch_stands_beside_it() {
    let mut trace = Trace::default();
    for _ in 0..3 {
        trace.dispatch(0, 2, 7, 40, 1_000);
        trace.dispatch(1, 2, 8, 20, 3_000);
    }
    let profile = trace.profile();
    let programs = profile.programs();
    assert_eq!((programs.len(), programs[0].begun, programs[0].dispatches), (1, 3, 6));
    assert_eq!((programs[0].total(), programs[0].launch_ns, programs[0].wait_ns), (12_000, 180, 30));
    let kernel = &programs[0].kernels[1];
    assert_eq!(
        (kernel.id, kernel.device.count(), kernel.device.total(), kernel.launch_ns),
        (Some(8), 3, 9_000, 60)
    );
    assert_eq!(profile.floor_ns(), Some(5));
    assert_eq!((programs[0].first_run_ns, programs[0].steady.mean()), (4_000, Some(4_000.0)));
    let c = &profile.coverage;
    assert_eq!((c.begun, c.ended, c.completed, c.orphans), (6, 6, 6, 0));
    assert!(profile.open().is_empty());
}

#[test]
fn a_dispatch_that_never_ends_is_open_and_in_no_total() {
    let mut trace = Trace::default();
    trace.dispatch(0, 3, 7, 1, 10);
    let d = detail(1, 3, 8);
    trace.line(5, &format!("begin phase=command-dispatch {d}"));
    trace.line(2, &format!("end phase=command-dispatch {d}"));
    let open = trace.profile().open();
    assert_eq!((open.len(), open[0].kernel_id, open[0].state), (1, Some(8), State::OnDevice));
    assert_eq!((open[0].neighbour, open[0].key.index), (Some(7), 1));
    assert_eq!(trace.profile().programs()[0].total(), 10);
    trace.lines.pop();
    assert_eq!(trace.profile().open()[0].state, State::Launching);
}

#[test]
fn the_same_dispatch_begun_again_leaves_the_earlier_one_open() {
    let mut trace = Trace::default();
    let d = detail(0, 1, 7);
    trace.line(5, &format!("begin phase=command-dispatch {d}"));
    trace.dispatch(0, 1, 7, 1, 10);
    let profile = trace.profile();
    assert_eq!((profile.open().len(), profile.coverage.completed), (1, 1));
    assert_eq!(profile.open()[0].until, Some(15));
}

#[test]
fn ends_without_a_beginning_are_counted_and_make_no_time() {
    let mut trace = Trace::default();
    let d = detail(4, 9, 7);
    trace.line(5, &format!("end phase=command-dispatch {d}"));
    trace.line(5, &format!("sync-end phase=command-post-dispatch {d}"));
    trace.dispatch(5, 9, 8, 1, 10);
    let profile = trace.profile();
    assert_eq!((profile.coverage.orphans, profile.coverage.completed), (2, 1));
    assert_eq!(profile.programs()[0].total(), 10);
}

#[test]
fn a_failed_program_and_its_reason_are_told() {
    let mut trace = Trace::default();
    trace.dispatch(0, 2, 7, 1, 10);
    let d = detail(1, 2, 8);
    trace.line(1, &format!("begin phase=command-dispatch {d}"));
    trace.lines.push((
        trace.now,
        format!("HRX debug serial sync failed phase=command-post-dispatch {d}: device lost"),
    ));
    trace.line(1, "failed phase=command-program main_commands=2 init_commands=0");
    let profile = trace.profile();
    assert_eq!(profile.coverage.failed_programs, 1);
    assert!(profile.failures[0].ends_with(": device lost"), "{:?}", profile.failures);
    assert_eq!((profile.open().len(), profile.programs()[0].begun), (1, 1));
}

#[test]
fn two_contexts_at_once_are_noticed() {
    let mut trace = Trace::default();
    trace.line(1, &format!("begin phase=command-dispatch {}", detail(0, 2, 7)));
    trace.line(1, &format!("begin phase=command-dispatch {}", detail(0, 9, 8)));
    assert_eq!(trace.profile().coverage.overlapping, 1);
}

/// A line of a dispatch, without its detail.
const PRE: [&str; 2] = ["sync-begin phase=command-pre-dispatch", "sync-end phase=command-pre-dispatch"];

const LAUNCH: [&str; 2] = ["begin phase=command-dispatch", "end phase=command-dispatch"];

const IDLE: &str = "sync-end phase=command-post-dispatch";

/// A head that was cut.
const CUT: &str = "begin phas";

/// Lines of one dispatch, ten ns apart.
fn lines(trace: &mut Trace, heads: &[&str], detail: &str) {
    heads.iter().for_each(|head| {
        trace.line(10, if *head == CUT { CUT.into() } else { format!("{head} {detail}") }.as_str())
    });
}

#[test]
fn a_state_and_a_list_have_their_words() {
    assert_eq!([State::Launching, State::OnDevice].map(State::name), ["launching", "on the device"]);
    assert_eq!([List::Main, List::Init, List::Other].map(list_name), ["main", "init", "other"]);
}

#[test]
fn a_dispatch_that_lost_a_line_is_broken_and_in_no_total() {
    for (heads, broken, orphans) in [
        (&[LAUNCH[0], CUT, IDLE][..], 1, 0),
        (&[PRE[0], CUT, IDLE], 1, 0),
        (&[LAUNCH[0], IDLE], 1, 0),
        (&[PRE[0], IDLE], 0, 1),
        (&[LAUNCH[0], CUT, LAUNCH[0], LAUNCH[1]], 1, 0),
        (&[LAUNCH[0], CUT, PRE[0]], 1, 0),
        (&[PRE[0], CUT, PRE[0]], 0, 0),
    ] {
        let mut trace = Trace::default();
        lines(&mut trace, heads, &detail(0, 2, 7));
        let profile = trace.profile();
        let c = &profile.coverage;
        assert_eq!((c.broken, c.orphans, c.completed), (broken, orphans, 0), "{heads:?}");
        assert!(profile.abandoned.is_empty() && profile.programs().is_empty(), "{heads:?}");
    }
}

#[test]
fn a_launch_that_fails_is_open_until_it_failed() {
    let mut trace = Trace::default();
    lines(&mut trace, &[LAUNCH[0], "failed phase=command-dispatch", IDLE], &detail(0, 2, 7));
    let profile = trace.profile();
    let open = profile.open();
    assert_eq!(
        (open.len(), open[0].since, open[0].until, open[0].state),
        (1, 10, Some(20), State::Launching)
    );
    assert_eq!((profile.coverage.completed, profile.coverage.orphans), (0, 1));
}

#[test]
fn an_end_without_its_own_beginning_is_an_orphan() {
    for (heads, ended, orphans) in [
        (&[LAUNCH[0], LAUNCH[1], LAUNCH[1]][..], 1, 1),
        (&[PRE[0], PRE[1], LAUNCH[1]], 0, 1),
        (&[LAUNCH[0], LAUNCH[1], IDLE, IDLE], 1, 1),
    ] {
        let mut trace = Trace::default();
        lines(&mut trace, heads, &detail(0, 2, 7));
        let c = trace.profile().coverage;
        assert_eq!((c.ended, c.orphans), (ended, orphans), "{heads:?}");
    }
}

#[test]
fn a_dispatch_overlaps_with_another_that_is_launched_and_whole_alone() {
    let (mine, other) = (detail(0, 2, 7), detail(1, 2, 8));
    for (before, overlapping) in [
        (&[][..], 0),
        (&[PRE[0], PRE[1]], 0),
        (&[LAUNCH[0]], 1),
        (&[LAUNCH[0], LAUNCH[1]], 1),
        (&[LAUNCH[0], LAUNCH[1], IDLE], 0),
        (&[LAUNCH[0], CUT], 0),
    ] {
        let mut trace = Trace::default();
        lines(&mut trace, before, &other);
        lines(&mut trace, &[PRE[0], PRE[1], LAUNCH[0]], &mine);
        assert_eq!(trace.profile().coverage.overlapping, overlapping, "{before:?}");
    }
}

#[test]
fn launches_without_end_are_all_counted_and_the_first_ones_kept() {
    let mut trace = Trace::default();
    for n in 0..1500 {
        trace.line(5, &format!("begin phase=command-dispatch {}", detail(n % 3, 3, 7)));
    }
    let profile = trace.profile();
    assert_eq!((profile.open_count(), profile.coverage.repeated), (1500, 1497));
    assert_eq!(profile.open().len(), 1003);
}

#[test]
fn a_dispatch_that_begins_again_takes_no_wait_of_the_one_before() {
    let mut trace = Trace::default();
    lines(&mut trace, &[PRE[0], PRE[1], LAUNCH[0], LAUNCH[0], LAUNCH[1], IDLE], &detail(0, 1, 7));
    let profile = trace.profile();
    let program = profile.programs()[0];
    assert_eq!((program.wait_ns, program.launch_ns, program.between_ns), (0, 10, 0));
    assert_eq!((profile.open().len(), profile.open()[0].since), (1, 30));
}

#[test]
fn the_neighbour_of_an_open_dispatch_is_the_last_one_completed() {
    let mut trace = Trace::default();
    trace.dispatch(0, 3, 7, 1, 10);
    trace.dispatch(1, 3, 8, 1, 10);
    trace.line(1, &format!("begin phase=command-dispatch {}", detail(2, 3, 9)));
    assert_eq!(trace.profile().open()[0].neighbour, Some(8));
}

#[test]
fn a_kernel_has_the_bindings_of_its_lines() {
    let mut trace = Trace::default();
    lines(&mut trace, &[LAUNCH[0], LAUNCH[1], IDLE], "list=main index=0 list_commands=2 kernel_id=7");
    lines(&mut trace, &[LAUNCH[0], LAUNCH[1], IDLE], &detail(1, 2, 7));
    let profile = trace.profile();
    let kernel = &profile.programs()[0].kernels[0];
    assert_eq!((kernel.bindings, kernel.first_run_ns), (Some(2), 20));
}

#[test]
fn a_dispatch_whose_ends_have_one_stamp_is_unresolved() {
    let mut trace = Trace::default();
    trace.dispatch(0, 2, 7, 1, 0);
    trace.dispatch(1, 2, 8, 1, 10);
    let profile = trace.profile();
    assert_eq!((profile.coverage.unresolved, profile.coverage.completed), (1, 2));
    assert_eq!(profile.last_ns(), trace.now);
}

#[test]
fn an_event_without_a_time_of_its_own_is_untimed_and_damages_what_is_open() {
    let mut trace = Trace::default();
    let d = detail(0, 2, 7);
    lines(&mut trace, &[LAUNCH[0], LAUNCH[1]], &d);
    trace.lines.push((trace.now, format!("llama: hrx debug serial: {IDLE} {d}")));
    lines(&mut trace, &[LAUNCH[0]], &d);
    let c = trace.profile().coverage;
    assert_eq!((c.untimed, c.completed, c.broken, c.begun), (1, 0, 1, 2));
}

#[test]
fn a_command_whose_place_is_not_told_damages_what_is_open() {
    for fields in ["index=0 list_commands=2", "list=main list_commands=2", "list=main index=0"] {
        let mut trace = Trace::default();
        lines(&mut trace, &[LAUNCH[0]], &detail(0, 2, 7));
        trace.line(1, &format!("end phase=command-dispatch {fields}"));
        lines(&mut trace, &[LAUNCH[0]], &detail(0, 2, 7));
        let c = trace.profile().coverage;
        assert_eq!((c.begun, c.ended, c.broken, c.orphans), (2, 0, 1, 0), "{fields}");
    }
}

#[test]
fn the_floor_is_the_median_of_waits_before_a_dispatch() {
    let mut trace = Trace::default();
    for wait in [9, 1, 4] {
        trace.line(1, &format!("{} {}", PRE[0], detail(0, 1, 7)));
        trace.line(wait, &format!("{} {}", PRE[1], detail(0, 1, 7)));
    }
    // An end without a beginning is no wait.
    trace.line(50, &format!("{} {}", PRE[1], detail(1, 2, 7)));
    let profile = trace.profile();
    assert_eq!((profile.floor_ns(), profile.floor.count(), profile.floor.total()), (Some(4), 3, 14));
}

proptest! {
    #[test]
    fn kernels_programs_and_raw_spans_are_the_same_sum(
        runs in prop::collection::vec((1u64..4, prop::collection::vec((1u64..5, 0u64..900, 0u64..90_000), 1..6)), 1..20)
    ) {
        let (mut trace, mut raw, mut launches) = (Trace::default(), 0, 0);
        for (_, dispatches) in &runs {
            let commands = dispatches.len() as u64;
            for (index, (kernel, launch, device)) in dispatches.iter().enumerate() {
                trace.dispatch(index as u64, commands, *kernel, *launch, *device);
                raw += device;
                launches += launch;
            }
        }
        let profile = trace.profile();
        let programs = profile.programs();
        let by_kernel: u64 = programs.iter().flat_map(|p| &p.kernels).map(|k| k.device.total()).sum();
        let by_program: u64 = programs.iter().map(|p| p.total()).sum();
        let by_run: u64 = programs.iter().map(|p| p.device_ns).sum();
        prop_assert_eq!((by_kernel, by_program, by_run), (raw, raw, raw));
        prop_assert_eq!(programs.iter().map(|p| p.launch_ns).sum::<u64>(), launches);
        prop_assert_eq!(programs.iter().map(|p| p.begun).sum::<u64>(), runs.len() as u64);
    }
}

#[test]
fn a_floor_of_waits_that_came_in_one_read_is_unknown() {
    let mut trace = Trace::default();
    let d = detail(0, 1, 7);
    for _ in 0..3 {
        trace.line(10, &format!("sync-begin phase=command-pre-dispatch {d}"));
        trace.line(0, &format!("sync-end phase=command-pre-dispatch {d}"));
    }
    assert_eq!((trace.profile().floor.count(), trace.profile().floor_ns()), (3, None));
}

#[test]
fn a_dispatch_whose_end_has_no_time_is_broken_and_not_open() {
    for (end, behind) in [
        ("0.01.2 I hrx debug serial: sync-end phase=command-post-dispatch", true),
        ("hrx debug serial: sync-e", true),
        ("0.01.2 I hrx debug serial: sync-end phase=command-post-dispatch", false),
    ] {
        let mut trace = Trace::default();
        let d = detail(0, 2, 7);
        for (after, head) in [
            (10, "sync-begin phase=command-pre-dispatch"),
            (5, "sync-end phase=command-pre-dispatch"),
            (3, "begin phase=command-dispatch"),
            (1, "end phase=command-dispatch"),
        ] {
            trace.line(after, &format!("{head} {d}"));
        }
        trace.now += 10;
        trace.lines.push((trace.now, format!("{end} {d}")));
        if behind {
            trace.dispatch(1, 2, 8, 1, 10);
        }
        let profile = trace.profile();
        assert_eq!((profile.open().len(), profile.coverage.broken), (0, 1), "{end} {behind}");
    }
}
