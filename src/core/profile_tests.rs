use proptest::prelude::*;

use super::*;
use crate::core::book::Book;

/// A trace under construction: lines with times of our choice.
#[derive(Default)]
struct Trace {
    lines: Vec<(u64, String)>,
    now: u64,
}

impl Trace {
    fn line(&mut self, after: u64, text: &str) {
        self.now += after;
        self.lines.push((self.now, format!("hrx debug serial: {text}")));
    }

    /// One dispatch: a wait of 5 ns, 3 ns of host, a launch, the device.
    fn dispatch(&mut self, index: u64, commands: u64, kernel: u64, launch: u64, device: u64) {
        let d = detail(index, commands, kernel);
        self.line(10, &format!("sync-begin phase=command-pre-dispatch {d}"));
        self.line(5, &format!("sync-end phase=command-pre-dispatch {d}"));
        self.line(3, &format!("begin phase=command-dispatch {d}"));
        self.line(launch, &format!("end phase=command-dispatch {d}"));
        self.line(0, &format!("sync-begin phase=command-post-dispatch {d}"));
        self.line(device, &format!("sync-end phase=command-post-dispatch {d}"));
    }

    fn profile(&self) -> Profile {
        let mut book = Book::default();
        for (ns, text) in &self.lines {
            let line = Line { ns: *ns, bytes: text.as_bytes(), first: true, last: true, terminated: true };
            book.take(&line, |_, _| {});
        }
        book.finish();
        book.profile
    }
}

fn detail(index: u64, commands: u64, kernel: u64) -> String {
    format!(
        "list=main index={index} list_commands={commands} ordinal={index} kind=Kernel kernel_id={kernel} bindings=2"
    )
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
    assert_eq!((programs.len(), programs[0].runs, programs[0].dispatches), (1, 3, 6));
    assert_eq!((programs[0].total(), programs[0].launch_ns, programs[0].wait_ns), (12_000, 180, 30));
    let kernel = &programs[0].kernels[1];
    assert_eq!(
        (kernel.id, kernel.device.count(), kernel.device.total(), kernel.launch_ns),
        (Some(8), 3, 9_000, 60)
    );
    assert_eq!(profile.floor_ns(), Some(5));
    assert_eq!((programs[0].first_run_ns, programs[0].steady.total()), (4_000, 8_000));
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
    assert_eq!(programs.iter().map(|p| p.runs).collect::<Vec<_>>(), [2, 1]);
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
    assert_eq!((profile.open().len(), profile.programs()[0].runs), (1, 1));
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
        let by_run: u64 = programs.iter().map(|p| p.first_run_ns + p.steady.total()).sum();
        prop_assert_eq!((by_kernel, by_program, by_run), (raw, raw, raw));
        prop_assert_eq!(programs.iter().map(|p| p.launch_ns).sum::<u64>(), launches);
        prop_assert_eq!(programs.iter().map(|p| p.runs).sum::<u64>(), runs.len() as u64);
    }
}
