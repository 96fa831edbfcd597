use super::*;
use crate::core::book::Book;
use crate::core::test_trace::line;

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
fn host_time_between_dispatches_is_neither_wait_nor_launch() {
    let mut trace = Trace::default();
    for _ in 0..3 {
        trace.dispatch(0, 2, 7, 40, 1_000);
        trace.dispatch(1, 2, 8, 20, 3_000);
    }
    // Three ns before each launch, and ten between two dispatches of a run.
    assert_eq!(trace.profile().programs()[0].between_ns, 3 * (3 + 10 + 3));
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
fn the_first_run_of_each_process_is_none_behind_the_first() {
    let mut book = Book::default();
    let mut trace = Trace::default();
    // Kernels are made on first use, in each process.
    for (process, device) in [(1, 9_000), (2, 9_000), (1, 1_000), (2, 1_000), (1, 1_000), (2, 1_000)] {
        let from = trace.lines.len();
        trace.program(7, 40, &[device, device]);
        book.writer(process);
        trace.lines[from..].iter().for_each(|(ns, text)| book.take(&line(*ns, text), |_, _| {}));
    }
    book.finish();
    let steady = book.profile.programs()[0].steady;
    assert_eq!((steady.count(), steady.mean()), (4, Some(2_000.0)));
}

#[test]
fn a_run_that_failed_is_none_of_the_whole_ones_however_alike_they_are() {
    let mut trace = Trace::default();
    for _ in 0..4 {
        trace.line(1, "begin phase=command-program main_commands=5 init_commands=0");
        trace.dispatch(0, 5, 7, 4, 30_000);
        trace.dispatch(1, 5, 8, 4, 50_000);
        trace.line(1, "failed phase=command-program main_commands=5 init_commands=0");
    }
    let profile = trace.profile();
    let program = profile.programs()[0];
    assert_eq!((program.begun, program.steady.count(), program.first_run_is_cut()), (4, 0, true));
}
