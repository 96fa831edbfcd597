use super::*;

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
fn a_number_beyond_64_bits_is_unknown_and_counted() {
    let mut trace = Trace::default();
    let d = detail(0, 1, 7).replace("kernel_id=7", "kernel_id=18446744073709551616");
    lines(&mut trace, &[PRE[0], PRE[1], LAUNCH[0], LAUNCH[1], IDLE], &d);
    let profile = trace.profile();
    assert_eq!(profile.coverage.unknown.get("number beyond 64 bits"), Some(&5));
    assert_eq!((profile.coverage.completed, profile.programs()[0].kernels.len()), (1, 1));
}
