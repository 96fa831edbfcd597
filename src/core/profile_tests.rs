use proptest::prelude::*;

use super::*;
use crate::core::test_trace::{Trace, fields};

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
fn programs_of_one_size_with_other_kernels_are_two() {
    let mut trace = Trace::default();
    for kernels in [[7, 8], [7, 9], [7, 8]] {
        trace.dispatch(0, 2, kernels[0], 1, 10);
        trace.dispatch(1, 2, kernels[1], 1, 10);
    }
    let profile = trace.profile();
    let programs = profile.programs();
    assert_eq!(programs.iter().map(|p| p.begun).collect::<Vec<_>>(), [2, 1]);
    assert_ne!(programs[0].fingerprint(), programs[1].fingerprint());
    assert_eq!(programs[0].fingerprint().len(), 8);
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
fn waits_without_a_detail_make_no_nameless_row() {
    let mut trace = Trace::default();
    for _ in 0..4 {
        for event in ["sync-begin", "sync-end"] {
            trace.line(1, &format!("{event} phase=command-pre-dispatch"));
            trace.line(1, &format!("{event} phase=command-post-dispatch"));
        }
    }
    trace.dispatch(0, 1, 7, 1, 10);
    let profile = trace.profile();
    assert_eq!((profile.coverage.untraced_waits, profile.programs().len()), (16, 1));
    assert_eq!(profile.programs()[0].kernels.len(), 1);
}

#[test]
fn unknown_words_are_counted_by_name() {
    let mut trace = Trace::default();
    trace.line(1, "retired phase=command-list list=main list_commands=1 main_commands=1");
    trace.line(1, "begin phase=command-fusion list=main index=0");
    trace.line(1, "begin phase=command-dispatch list=main index=0 list_commands=1 ordinal=0 kind=Unknown(7)");
    let unknown = trace.profile().coverage.unknown;
    let names: Vec<&str> = unknown.keys().map(String::as_str).collect();
    assert_eq!(names, ["event retired", "kind not a kernel", "phase command-fusion"]);
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

#[test]
fn the_wall_of_a_program_is_accounted_for() {
    let mut trace = Trace::default();
    for _ in 0..2 {
        trace.line(100, "begin phase=command-program main_commands=2 init_commands=0");
        trace.line(1, "sync-begin phase=transient-bind-pre main_commands=2 init_commands=0");
        trace.line(1, "sync-end phase=transient-bind-pre main_commands=2 init_commands=0");
        trace.line(50, "sync-begin phase=transient-bind-post main_commands=2 init_commands=0");
        trace.line(1, "sync-end phase=transient-bind-post main_commands=2 init_commands=0");
        trace.line(1, "begin phase=command-list list=main list_commands=2 main_commands=2");
        trace.dispatch(0, 2, 7, 4, 100);
        trace.dispatch(1, 2, 8, 6, 200);
        trace.line(1, "end phase=command-list list=main list_commands=2 main_commands=2");
        trace.line(7, "end phase=command-program main_commands=2 init_commands=0");
    }
    let profile = trace.profile();
    let program = profile.programs()[0];
    let known = program.in_walls;
    assert_eq!((program.walls, known.device, known.launch, known.wait), (2, 600, 20, 20));
    // Three ns between wait and launch, twice; ten between the dispatches, once; in each of two runs.
    assert_eq!((known.between, known.host[2]), (32, 100));
    let unattributed = program.wall_ns - known.sum();
    // Five lines around the lists and phases, and ten ns before the first wait.
    assert_eq!(unattributed, 2 * (1 + 1 + 1 + 1 + 10 + 1 + 7));
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
fn the_sum_of_what_lies_in_walls_is_of_all_its_parts() {
    let host = [32, 64, 128, 256, 512, 1024, 2048, 4096];
    let known = program::InWalls { device: 1, launch: 2, wait: 4, between: 8, init: 16, host };
    assert_eq!(known.sum(), 8191);
}

#[test]
fn a_list_that_begins_or_ends_parts_two_runs() {
    for event in ["begin", "end"] {
        let mut trace = Trace::default();
        trace.dispatch(0, 2, 7, 1, 10);
        trace.line(1, &format!("{event} phase=command-list list=main list_commands=2"));
        trace.dispatch(1, 2, 8, 1, 20);
        let profile = trace.profile();
        let programs = profile.programs();
        assert_eq!((programs.len(), programs[0].begun), (1, 2), "{event}");
        assert_eq!((programs[0].first_run_ns, programs[0].device_ns), (10, 30), "{event}");
        assert!(programs[0].first_run_is_cut() && programs[0].steady.mean().is_none(), "neither is whole");
    }
}

#[test]
fn the_init_list_in_a_wall_stands_in_one_sum() {
    for init_first in [true, false] {
        let mut trace = Trace::default();
        trace.line(1, "begin phase=command-program main_commands=2 init_commands=1");
        let init = detail(0, 1, 5).replace("list=main", "list=init");
        let waits = [PRE[0], PRE[1], LAUNCH[0], LAUNCH[1], IDLE];
        if init_first {
            lines(&mut trace, &waits, &init);
        }
        trace.dispatch(0, 2, 7, 4, 100);
        trace.dispatch(1, 2, 8, 6, 200);
        if !init_first {
            lines(&mut trace, &waits, &init);
        }
        trace.line(1, "end phase=command-program main_commands=2 init_commands=1");
        let profile = trace.profile();
        let main = profile.programs().into_iter().find(|p| p.list == List::Main).unwrap();
        // A wait, its way to the launch, the launch and the device: ten ns each.
        assert_eq!((main.in_walls.init, main.in_walls.device, main.walls), (40, 300, 1), "{init_first}");
        let other = profile.programs().into_iter().find(|p| p.list == List::Init).unwrap();
        assert_eq!((other.walls, other.total()), (0, 10), "{init_first}");
    }
}

#[test]
fn a_wall_of_an_init_list_alone_is_its_own() {
    let mut trace = Trace::default();
    trace.line(1, "begin phase=command-program main_commands=0 init_commands=1");
    let init = detail(0, 1, 5).replace("list=main", "list=init");
    lines(&mut trace, &[PRE[0], PRE[1], LAUNCH[0], LAUNCH[1], IDLE], &init);
    trace.line(1, "end phase=command-program main_commands=0 init_commands=1");
    let profile = trace.profile();
    let program = profile.programs()[0];
    assert_eq!((program.walls, program.wall_ns, program.in_walls.init), (1, 51, 0));
    assert_eq!((program.in_walls.wait, program.in_walls.between), (10, 10));
}

#[test]
fn a_program_without_its_beginning_or_that_failed_has_no_wall() {
    for ends in [&["end"][..], &["failed", "end"]] {
        let mut trace = Trace::default();
        if ends.len() > 1 {
            trace.line(1, "begin phase=command-program main_commands=1 init_commands=0");
        }
        trace.dispatch(0, 1, 7, 4, 100);
        for end in ends {
            trace.line(1, &format!("{end} phase=command-program main_commands=1 init_commands=0"));
        }
        let profile = trace.profile();
        assert_eq!((profile.programs()[0].walls, profile.programs()[0].begun), (0, 1), "{ends:?}");
    }
}

#[test]
fn host_time_before_a_program_is_not_in_its_wall() {
    let mut trace = Trace::default();
    let fields = "main_commands=1 init_commands=0";
    let staging = |trace: &mut Trace| {
        trace.line(1, &format!("sync-end phase=transient-bind-pre {fields}"));
        trace.line(50, &format!("sync-begin phase=transient-bind-post {fields}"));
        // Its end, a second beginning behind it, or another phase's, add nothing.
        trace.line(5, &format!("sync-end phase=transient-bind-post {fields}"));
        trace.line(5, &format!("sync-begin phase=transient-bind-post {fields}"));
        trace.line(1, &format!("sync-end phase=transient-bind-pre {fields}"));
        trace.line(7, &format!("sync-begin phase=host-staging-rebind-post {fields}"));
    };
    staging(&mut trace);
    trace.line(1, &format!("begin phase=command-program {fields}"));
    staging(&mut trace);
    trace.dispatch(0, 1, 7, 4, 100);
    trace.line(1, &format!("end phase=command-program {fields}"));
    assert_eq!(trace.profile().programs()[0].in_walls.host, [0, 0, 50, 0, 0, 0, 0, 0]);
}

#[test]
fn a_fingerprint_is_the_same_in_every_build() {
    for (commands, kernels, print) in [
        (2, &[(0, 7), (1, 8)][..], "91776059"),
        (301, &[(0, 18_238_910_775_981_276_583), (1, 77), (300, 18_238_910_775_981_276_583)], "b13664d1"),
    ] {
        let mut trace = Trace::default();
        kernels.iter().for_each(|(index, kernel)| trace.dispatch(*index, commands, *kernel, 1, 10));
        assert_eq!(trace.profile().programs()[0].fingerprint(), print);
    }
}

#[test]
fn a_run_of_too_many_dispatches_is_settled_in_parts() {
    const MOST: u64 = 1 << 20;
    let mut programs = Programs::default();
    for index in 0..=MOST {
        let of = Key { commands: MOST + 1, ..Key::default() };
        programs.add(&of, program::Dispatch { index, ..Default::default() });
    }
    assert_eq!(programs.all().map(|p| (p.begun, p.dispatches)).collect::<Vec<_>>(), [(1, MOST)]);
    programs.settle(0, None, None);
    assert_eq!(programs.all().map(|p| (p.begun, p.dispatches)).collect::<Vec<_>>(), [(2, MOST + 1)]);
}

#[test]
fn unknown_words_are_kept_apart_up_to_a_number_and_a_length() {
    let mut trace = Trace::default();
    let letter = |n: usize| char::from(b'a' + (n % 26) as u8).to_string().repeat(n / 26 + 1);
    for _ in 0..2 {
        (0..MOST_WORDS + 3).for_each(|n| trace.line(1, &format!("begin phase=z{}", letter(n))));
    }
    let unknown = trace.profile().coverage.unknown;
    assert_eq!((unknown.len(), unknown["further words"], unknown["phase za"]), (MOST_WORDS + 1, 6, 2));

    let mut trace = Trace::default();
    trace.line(1, &format!("begin phase={}", "z".repeat(70)));
    assert_eq!(
        trace.profile().coverage.unknown.into_keys().collect::<Vec<_>>(),
        [format!("phase {}", "z".repeat(64))]
    );
}

#[test]
fn known_words_are_not_counted_as_unknown() {
    let mut trace = Trace::default();
    trace.dispatch(0, 1, 7, 1, 10);
    trace.line(1, "begin phase=command-list list=main list_commands=1");
    assert!(trace.profile().coverage.unknown.is_empty());
}

#[test]
fn the_first_eight_reasons_of_failed_waits_are_kept() {
    let mut trace = Trace::default();
    for n in 0..10 {
        trace.lines.push((n, format!("HRX debug serial sync failed phase=command-post-dispatch: {n}")));
    }
    let failures = trace.profile().failures;
    assert_eq!((failures.len(), failures[7].as_str()), (8, "command-post-dispatch: 7"));
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
fn programs_stand_by_their_time_and_open_dispatches_by_their_age() {
    let mut trace = Trace::default();
    for (commands, device) in [(2, 10), (3, 30), (4, 20)] {
        trace.dispatch(0, commands, 7, 1, device);
    }
    for (index, commands) in [(5, 9), (1, 9), (3, 9)] {
        lines(&mut trace, &[LAUNCH[0]], &detail(index, commands, 7));
    }
    // This one is left by its own kind, and was begun last.
    lines(&mut trace, &[LAUNCH[0], LAUNCH[0]], &detail(0, 9, 7));
    let profile = trace.profile();
    assert_eq!(profile.programs().iter().map(|p| p.commands).collect::<Vec<_>>(), [3, 4, 2]);
    assert_eq!(profile.open().iter().map(|o| o.key.index).collect::<Vec<_>>(), [5, 1, 3, 0, 0]);
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

#[test]
fn host_time_between_dispatches_is_neither_wait_nor_launch() {
    let mut trace = Trace::default();
    for _ in 0..3 {
        trace.dispatch(0, 2, 7, 40, 1_000);
        trace.dispatch(1, 2, 8, 20, 3_000);
    }
    // Three ns before each launch, and ten between two dispatches of a run.
    assert_eq!(trace.profile().programs()[0].between_ns, 3 * (3 + 10 + 3));
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

/// Two contexts of one process work at once, on lists of different sizes: every line of one stands between lines of the other.
#[test]
fn contexts_that_work_at_once_on_lists_of_their_own_have_their_own_runs_and_walls() {
    let program = |commands: usize, kernel: u64| {
        let mut trace = Trace::default();
        (0..4).for_each(|_| trace.program(kernel, 40, &vec![1_000; commands]));
        trace
    };
    let (short, long) = (program(3, 100), program(5, 200));
    let mut both = Trace { lines: [&short.lines[..], &long.lines].concat(), ..Trace::default() };
    both.lines.sort_by_key(|(ns, _)| *ns);
    let (alone, both) = ([long.profile(), short.profile()], both.profile());
    assert!(both.coverage.overlapping > 0 && both.coverage.repeated == 0);
    let sums = |p: &Program| (p.commands, p.begun, p.runs(), p.steady.mean(), p.walls, p.wall_ns, p.in_walls);
    let alone: Vec<_> = alone.iter().map(|p| sums(p.programs()[0])).collect();
    assert_eq!(both.programs().into_iter().map(sums).collect::<Vec<_>>(), alone);
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

#[test]
fn a_run_that_was_cut_off_does_not_look_fast() {
    let mut trace = Trace::default();
    for _ in 0..3 {
        trace.dispatch(0, 2, 7, 4, 30_000);
        trace.dispatch(1, 2, 8, 4, 50_000);
    }
    trace.dispatch(0, 2, 7, 4, 30_000);
    let profile = trace.profile();
    let program = profile.programs()[0];
    assert_eq!((program.begun, program.runs()), (4, 3.5));
    assert_eq!((program.steady.count(), program.steady.mean()), (2, Some(80_000.0)));
    let kernel = &program.kernels[0];
    assert_eq!((kernel.steady_count, kernel.steady.mean()), (2, Some(30_000.0)));
}

#[test]
fn a_number_beyond_64_bits_is_unknown_and_counted() {
    let mut trace = Trace::default();
    let d = detail(0, 1, 7).replace("kernel_id=7", "kernel_id=18446744073709551616");
    lines(&mut trace, &[PRE[0], PRE[1], LAUNCH[0], LAUNCH[1], IDLE], &d);
    let profile = trace.profile();
    assert_eq!(profile.coverage.unknown.get("number beyond 64 bits"), Some(&5));
    assert_eq!((profile.coverage.completed, profile.programs()[0].kernels.len()), (1, 1));
}
