use super::facts::{Facts, KernelFacts, Of, ProgramFacts};
use super::noise::{Value, Verdict};
use super::*;
use crate::core::run::{Changed, Clock, Run};

/// A field, and what makes it another.
type Other = (&'static str, fn(&mut Facts));

fn kernel(id: u64, calls: f64, ns: f64) -> KernelFacts {
    let time = Value { is: ns, error: Some(ns / 1_000.0), freedom: 20 };
    KernelFacts { id: Some(id), calls, time, ..KernelFacts::default() }
}

fn program(commands: u64, fingerprint: &str, kernels: &[KernelFacts]) -> ProgramFacts {
    let ns = kernels.iter().map(|k| k.time.is).sum();
    ProgramFacts {
        commands,
        fingerprint: fingerprint.to_owned(),
        runs: 10,
        of: Of::Behind,
        time: Value { is: ns, error: Some(ns / 1_000.0), freedom: 20 },
        kernels: kernels.to_vec(),
        ..ProgramFacts::default()
    }
}

fn run(programs: &[ProgramFacts]) -> Facts {
    Facts {
        traced: true,
        completed: 100,
        floor_ns: Some(9_000),
        wall_ns: Some(1_000_000),
        programs: programs.to_vec(),
        run: Run {
            stamped: "read".into(),
            clock: Clock { name: "M".into(), ..Clock::default() },
            ..Run::default()
        },
        ..Facts::default()
    }
}

fn one(base: &[KernelFacts], new: &[KernelFacts]) -> Comparison {
    compare(&[run(&[program(3, "a", base)])], &[run(&[program(3, "a", new)])], 0.05)
}

#[test]
fn a_change_is_split_into_called_more_and_each_slower() {
    let c = one(&[kernel(1, 10.0, 1_000.0)], &[kernel(1, 12.0, 1_500.0)]);
    let row = &c.programs[0].kernels[0];
    assert_eq!((row.change_ns(), row.called_more_ns, row.each_slower_ns), (500.0, 200.0, 300.0));
    let c = one(&[kernel(1, 10.0, 1_000.0)], &[kernel(1, 10.0, 900.0)]);
    let row = &c.programs[0].kernels[0];
    assert_eq!((row.called_more_ns, row.each_slower_ns), (0.0, -100.0));
}

#[test]
fn rows_stand_by_what_they_changed_and_new_and_vanished_ones_are_called_so() {
    let c = one(
        &[kernel(1, 1.0, 100.0), kernel(2, 1.0, 5_000.0), kernel(3, 1.0, 70.0)],
        &[kernel(1, 1.0, 101.0), kernel(2, 1.0, 4_000.0), kernel(4, 1.0, 300.0)],
    );
    let rows: Vec<_> = c.programs[0].kernels.iter().map(|k| (k.id, k.kind.clone(), k.change_ns())).collect();
    let expected = [
        (Some(2), Kind::Both, -1_000.0),
        (Some(4), Kind::New, 300.0),
        (Some(3), Kind::Vanished, -70.0),
        (Some(1), Kind::Both, 1.0),
    ];
    assert_eq!(rows, expected);
    assert!(c.programs[0].kernels[1].judged.is_none(), "there is nothing to judge a new kernel by");
    assert_eq!(c.programs[0].kernels[1].called_more_ns, 300.0);
}

#[test]
fn a_kernel_of_the_same_source_with_another_name_is_renamed() {
    let named = |id, name: &str, source: &str, ns| KernelFacts {
        name: Some(name.to_owned()),
        source: Some(source.to_owned()),
        ..kernel(id, 1.0, ns)
    };
    let c = one(&[named(1, "f:old", "ops/x.loom", 100.0)], &[named(2, "f:new", "ops/x.loom", 150.0)]);
    let rows = &c.programs[0].kernels;
    assert_eq!((rows.len(), rows[0].label.as_str()), (1, "f:new"));
    assert_eq!((&rows[0].kind, rows[0].each_slower_ns), (&Kind::Renamed("f:old".into()), 50.0));
    // Two that came from that source: which one it is now is not known.
    let c = one(
        &[named(1, "f:old", "ops/x.loom", 100.0)],
        &[named(2, "f:new", "ops/x.loom", 150.0), named(3, "f:newer", "ops/x.loom", 1.0)],
    );
    assert_eq!(c.programs[0].kernels.len(), 3);
}

#[test]
fn programs_are_found_again_by_sequence_then_size_then_likeness() {
    let ks = |ids: &[u64]| ids.iter().map(|id| kernel(*id, 1.0, 10.0)).collect::<Vec<_>>();
    let base = run(&[
        program(3, "a", &ks(&[1, 2])),
        program(3, "b", &ks(&[3, 4])),
        program(9, "c", &ks(&[5, 6, 7])),
    ]);
    let new =
        run(&[program(8, "x", &ks(&[5, 6])), program(3, "z", &ks(&[3, 5])), program(3, "a", &ks(&[1, 2]))]);
    let c = compare(&[base], &[new], 0.05);
    let mut pairs: Vec<_> = c.programs.iter().map(|p| p.fingerprints.clone()).collect();
    pairs.sort();
    let pair = |a: &str, b: &str| (Some(a.to_owned()), Some(b.to_owned()));
    assert_eq!(pairs, [pair("a", "a"), pair("b", "z"), pair("c", "x")]);
    let c =
        compare(&[run(&[program(9, "c", &ks(&[5, 6]))])], &[run(&[program(8, "d", &ks(&[6, 7, 8]))])], 0.05);
    assert_eq!(c.programs.len(), 2, "a fourth of the kernels is not likeness enough");
}

#[test]
fn what_is_not_comparable_is_refused_and_what_only_differs_is_shown() {
    let base = run(&[program(1, "a", &[kernel(1, 1.0, 9.0)])]);
    let with = |change: fn(&mut Facts)| {
        let mut new = base.clone();
        change(&mut new);
        compare(std::slice::from_ref(&base), &[new], 0.05)
    };
    let same = with(|_| {});
    assert!(same.differences.is_empty() && same.refusals().is_empty());
    let refused: [Other; 5] = [
        ("stamps", |f| f.run.stamped = "source".into()),
        ("clock", |f| f.run.clock.name = "TSC".into()),
        ("resolution", |f| f.run.clock.resolution_ns = 7),
        ("serial", |f| f.traced = false),
        ("narrowed", |f| {
            let env = vec!["GGML_HRX_DEBUG_SERIAL_END_COMMAND=9".to_owned()];
            f.run.changed = Changed { env, ..Changed::default() };
        }),
    ];
    for (field, change) in refused {
        let c = with(change);
        assert_eq!(c.refusals().len(), 1, "{field}: {:?}", c.refusals());
        assert_eq!(c.differences.iter().map(|d| d.field).collect::<Vec<_>>(), [field]);
    }
    let shown: [Other; 3] = [
        ("build", |f| f.build = Some("build: 8".into())),
        ("command", |f| f.run.command = vec!["x".into()]),
        ("kernel", |f| f.run.host.kernel = "Linux 7".into()),
    ];
    for (field, change) in shown {
        let c = with(change);
        assert!(c.refusals().is_empty());
        assert_eq!(c.differences.iter().map(|d| d.field).collect::<Vec<_>>(), [field]);
    }
    let own = with(|f| {
        let paths = "LD_PRELOAD=/tmp/hrx-wrap-stamp-7-9/hrx-wrap-stamp.so HRX_WRAP_STAMP=/proc/7/fd/3";
        f.run.changed.env = paths.split(' ').map(str::to_owned).collect();
    });
    assert!(own.differences.is_empty(), "the way of the stamps is ours: {:?}", own.differences);
    let theirs =
        with(|f| f.run.changed.env = vec!["LD_PRELOAD=/a.so:/tmp/hrx-wrap-stamp-7-9/x.so".to_owned()]);
    assert_eq!(theirs.differences[0].new, ["LD_PRELOAD=/a.so"]);
    let strange = compare(&[base], &[run(&[program(1, "a", &[kernel(2, 1.0, 9.0)])])], 0.05);
    assert!(strange.refusals()[0].starts_with("no kernel is in both"));
}

#[test]
fn of_programs_with_the_same_kernels_the_nearest_in_size_is_the_one() {
    let kernels = [kernel(1, 4.0, 1_000.0), kernel(2, 4.0, 500.0)];
    let base = run(&[program(20, "a", &kernels), program(24, "b", &kernels)]);
    let c = compare(&[base], &[run(&[program(21, "c", &kernels)])], 0.05);
    let pairs: Vec<_> = c.programs.iter().map(|p| (p.commands, &p.kind)).collect();
    assert_eq!(pairs.len(), 2);
    assert!(pairs.contains(&((Some(20), Some(21)), &Kind::Both)), "{pairs:?}");
    assert!(pairs.contains(&((Some(24), None), &Kind::Vanished)), "{pairs:?}");
}

#[test]
fn a_kernel_that_got_slower_is_a_regression_and_an_unchanged_run_is_none() {
    let base = [kernel(1, 9.0, 9_000.0), kernel(2, 9.0, 1_000.0)];
    let slow = one(&base, &[kernel(1, 9.0, 9_000.0), kernel(2, 9.0, 1_100.0)]);
    let found = slow.regressions();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0.starts_with("unmapped id 2 in main list of 3 commands"));
    let same = one(&base, &base);
    assert!(same.regressions().is_empty());
    // Wall time of one run a side has no spread at all.
    assert_eq!(same.verdicts(), [0, 0, 3, 1]);
    assert_eq!(same.wall.map(|j| j.verdict), Some(Verdict::CannotTell(Some(2))));
}

#[test]
fn repeated_runs_give_medians_and_a_side_may_lack_a_program() {
    let of = |ns| run(&[program(3, "a", &[kernel(1, 1.0, ns)])]);
    let base = [of(100.0), of(101.0), of(99.0), run(&[])];
    let c = compare(&base, &[of(120.0), of(121.0), of(119.0)], 0.05);
    let judged = c.programs[0].judged.unwrap().whole;
    assert_eq!((judged.base, judged.new, judged.verdict), (100.0, 120.0, Verdict::Worse));
    assert_eq!(judged.base_range, Some((99.0, 101.0)));
    let c = compare(&base[..3], &[run(&[])], 0.05);
    assert_eq!((&c.programs[0].kind, c.programs[0].change_ns), (&Kind::Vanished, -100.0));
}

#[test]
fn where_the_sum_is_lost_in_noise_the_median_call_tells() {
    let of = |sum: f64, call: f64| {
        let call = Some(Value { is: call, error: Some(call / 1_000.0), freedom: 300 });
        run(&[program(3, "a", &[KernelFacts { call, ..kernel(1, 10.0, sum) }])])
    };
    let base = [of(1_000.0, 100.0), of(2_000.0, 100.2), of(900.0, 99.8)];
    let slow = compare(&base, &[of(1_200.0, 110.0), of(1_000.0, 110.2), of(3_000.0, 109.8)], 0.05);
    let row = slow.programs[0].kernels[0].judged.unwrap();
    assert!(matches!(row.whole.verdict, Verdict::CannotTell(_)));
    assert_eq!((row.deciding().0.verdict, row.deciding().1), (Verdict::Worse, true));
    assert_eq!(slow.regressions().len(), 1);
    let same = compare(&base, &[of(1_200.0, 100.1), of(1_000.0, 100.0), of(3_000.0, 99.9)], 0.05);
    assert_eq!(same.programs[0].kernels[0].judged.unwrap().deciding().0.verdict, Verdict::Same);
    // A sum that tells goes before: more calls are slower, whatever a call takes.
    let more = compare(&[of(1_000.0, 100.0)], &[of(2_000.0, 100.0)], 0.05);
    assert_eq!(more.programs[0].kernels[0].judged.unwrap().deciding().0.verdict, Verdict::Worse);
}
