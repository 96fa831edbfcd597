use super::*;

#[test]
fn two_heads_before_a_detail_are_both_lost_and_counted() {
    let other = "hrx debug serial: end phase=command-dispatch";
    let out = take(&pieces(&[HEAD, other, DETAIL, DETAIL, "\n", "\n", HEAD, DETAIL, "\n"]));
    assert_eq!(out.broken, 2);
    assert_eq!(out.events.len(), 1, "the line behind them is whole: {out:?}");
    assert_eq!(out.events[0].0, 6);
}

#[test]
fn a_detail_that_never_comes_is_forgotten_after_a_while() {
    let mut rejoiner = Rejoiner::default();
    let mut events = 0;
    let mut line = |ns: u64, text: &str, events: &mut u64| {
        rejoiner.take(ns, text.as_bytes(), |part| *events += u64::from(matches!(part, Part::Serial(_))));
    };
    let whole = format!("{HEAD}{DETAIL}");
    line(0, &format!("{HEAD}hrx debug serial: end phase=command-dispatch"), &mut events);
    line(1, &whole, &mut events);
    assert_eq!(events, 0, "whose detail that is, is not certain");
    line(FORGET + 2, &whole, &mut events);
    assert_eq!(events, 1);
}

#[test]
fn a_confusion_is_forgotten_after_its_time_and_not_at_it() {
    for (ns, events) in [(FORGET + 5, 0), (FORGET + 6, 1)] {
        let mut rejoiner = Rejoiner::default();
        let mut seen = 0;
        let mut line = |ns: u64, text: &str| {
            rejoiner.take(ns, text.as_bytes(), |part| seen += u64::from(matches!(part, Part::Serial(_))));
        };
        line(5, &format!("{HEAD}hrx debug serial: end phase=command-dispatch"));
        line(ns, &format!("{HEAD}{DETAIL}"));
        assert_eq!(seen, events, "{ns}");
    }
}

#[test]
fn as_many_details_as_heads_end_a_confusion() {
    let other = "hrx debug serial: end phase=command-dispatch";
    for (order, broken, events) in [
        (&[HEAD, other, DETAIL, "\n", DETAIL, "\n", HEAD, DETAIL, "\n"][..], 2, 1),
        (&[HEAD, other, DETAIL, "\n", HEAD, DETAIL, DETAIL, "\n", "\n", HEAD, DETAIL, "\n"], 3, 1),
        (&[HEAD, other, HEAD, DETAIL, DETAIL, "\n", "\n", "\n", HEAD, DETAIL, "\n"], 4, 0),
    ] {
        let out = take(&pieces(order));
        assert_eq!((out.broken, out.events.len()), (broken, events), "{order:?}: {out:?}");
    }
}

#[test]
fn the_next_line_may_be_of_a_trace_line_until_all_that_it_lacks_has_come() {
    let mut rejoiner = Rejoiner::default();
    let mut after = |text: &str| {
        rejoiner.take(0, text.as_bytes(), |_| {});
        rejoiner.in_trace_line()
    };
    let both = format!("{HEAD}{DETAIL}llama: x");
    assert_eq!([&both, "", "text"].map(&mut after), [true, false, false]);
    assert_eq!([HEAD, DETAIL].map(&mut after), [true, false]);
    let two = format!("{HEAD}{HEAD}");
    assert_eq!([&two, DETAIL, DETAIL, ""].map(&mut after), [true, true, false, false]);
}
