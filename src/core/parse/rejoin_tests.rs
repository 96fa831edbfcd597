#[path = "rejoin_certain_tests.rs"]
mod certain;
#[path = "rejoin_prefix_tests.rs"]
mod prefix;

use super::*;
use crate::core::lines::{Assembler, Splitter};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A piece of text that one writer writes at once.
type Piece = Vec<u8>;

/// What came out: events with a detail or without, in their order, foreign text, broken heads.
#[derive(Debug, Default, PartialEq)]
struct Out {
    events: Vec<(u64, bool, Event, Phase, Option<Detail>)>,
    foreign: Vec<u8>,
    /// Foreign text as a terminal would show it.
    shown: Vec<u8>,
    broken: u64,
    rejoined: u64,
}

/// Writes pieces one after another, a nanosecond apart, and takes the lines apart.
fn take(pieces: &[Piece]) -> Out {
    let (mut splitter, mut assembler, mut rejoiner) =
        (Splitter::default(), Assembler::default(), Rejoiner::default());
    let mut out = Out::default();
    for (i, piece) in pieces.iter().enumerate() {
        splitter.feed(i as u64, piece, |f| {
            assembler.feed(&f, |line| rejoiner.take(line.ns, line.bytes, |part| add(&mut out, part)));
        });
    }
    assembler.finish(|line| rejoiner.take(line.ns, line.bytes, |part| add(&mut out, part)));
    rejoiner.finish(|part| add(&mut out, part));
    out.rejoined = rejoiner.rejoined;
    out
}

fn add(out: &mut Out, part: Part<'_>) {
    match part {
        Part::Serial(s) => out.events.push((s.ns, s.exact, s.event, s.phase, s.detail)),
        Part::Foreign(text, ends) => {
            out.foreign.extend_from_slice(text);
            out.shown.extend_from_slice(text);
            if ends {
                out.shown.push(b'\n');
            }
        }
        Part::Broken => out.broken += 1,
    }
}

fn pieces(texts: &[&str]) -> Vec<Piece> {
    texts.iter().map(|t| t.as_bytes().to_vec()).collect()
}

const HEAD: &str = "hrx debug serial: begin phase=command-dispatch";

const DETAIL: &str = " list=main index=3 list_commands=9 ordinal=3 kind=Kernel kernel_id=77 bindings=5";

#[test]
fn a_whole_line_is_one_event() {
    let out = take(&pieces(&[HEAD, DETAIL, "\n"]));
    let detail = out.events[0].4.unwrap();
    assert_eq!((detail.index, detail.kernel_id, detail.bindings), (Some(3), Some(77), Some(5)));
    assert_eq!((out.events.len(), out.broken, out.rejoined, out.events[0].1), (1, 0, 0, true));
}

#[test]
fn foreign_text_between_any_two_pieces_comes_out_and_the_line_is_joined() {
    for (order, shown) in [
        (&[HEAD, "llama: x\n", DETAIL, "\n"][..], "llama: x\n"),
        (&[HEAD, DETAIL, "llama: x\n", "\n"], "llama: x\n"),
        (&[HEAD, "0.01.2 I ", DETAIL, "\n", "text\n"], "0.01.2 I text\n"),
        (&[HEAD, "one\n", "two\n", "three\n", DETAIL, "\n"], "one\ntwo\nthree\n"),
        (&[HEAD, "\n", DETAIL, "\n"], ""),
        (&[HEAD, "....", DETAIL, "dots\n", "\n"], "....dots\n"),
        // What may have lent its digits to the number before it is shown with them.
        (&[HEAD, DETAIL, "0.01.2 I x\n", "\n"], "50.01.2 I x\n"),
    ] {
        let out = take(&pieces(order));
        assert_eq!((out.events.len(), out.broken), (1, 0), "{order:?}: {out:?}");
        let (ns, exact, _, phase, detail) = out.events[0];
        assert_eq!(
            (ns, exact, phase, detail.and_then(|d| d.index)),
            (0, true, Phase::Launch, Some(3)),
            "{order:?}"
        );
        assert_eq!(String::from_utf8_lossy(&out.shown), shown, "{order:?}");
    }
}

#[test]
fn a_head_behind_foreign_text_has_no_time_of_its_own() {
    let out = take(&pieces(&["0.01.2 I ", HEAD, DETAIL, "\n", "text\n"]));
    assert!(!out.events[0].1, "the line's stamp is the logger's");
    assert_eq!(out.shown, b"0.01.2 I text\n");
}

#[test]
fn waits_of_commands_outside_the_traced_range_have_no_detail() {
    let wait = [
        "hrx debug serial: sync-begin phase=command-pre-dispatch",
        "\n",
        "hrx debug serial: sync-end phase=command-pre-dispatch",
        "\n",
    ];
    let out = take(&pieces(&[wait, wait].concat()));
    assert_eq!((out.events.len(), out.broken), (4, 0), "{out:?}");
    assert!(out.events.iter().all(|e| e.4.is_none() && e.1));
}

#[test]
fn llama_text_with_a_details_words_stays_text() {
    let text = "llama: a list=of things index=3\n value=7 length=9\n";
    let out = take(&pieces(&[text]));
    assert_eq!((out.shown.as_slice(), out.events.len(), out.broken), (text.as_bytes(), 0, 0));
}

#[test]
fn where_a_detail_ends_is_known_when_the_same_stood_before() {
    let out = take(&pieces(&[HEAD, DETAIL, "\n", HEAD, "x\n", DETAIL, "0.01.2 I y\n", "\n"]));
    assert_eq!(out.events.len(), 2);
    assert_eq!(out.events[0].4, out.events[1].4);
    assert_eq!(out.shown, b"x\n0.01.2 I y\n");
}

#[test]
fn a_detail_that_has_more_fields_than_the_one_before_is_read_to_its_end() {
    let (short, more) = (" list=main index=3 list_commands=9", " bindings=6");
    let out = take(&pieces(&[HEAD, short, "\n", "I ", HEAD, short, more, "\n", "text\n"]));
    assert_eq!(out.events[1].4.unwrap().bindings, Some(6));
    assert_eq!(out.shown, b"I text\n");
}

#[test]
fn every_phase_is_joined_with_its_own_fields_alone() {
    let command = " list=main index=3";
    let list = " list=main list_commands=9";
    let value = " value=17";
    let program = " main_commands=9 init_commands=1";
    for (phase, own) in [
        ("command-pre-dispatch", command),
        ("command-dispatch", command),
        ("command-post-dispatch", command),
        ("command-list", list),
        ("command-program", program),
        ("host-staging-upload-buffer-pre", value),
        ("host-staging-upload-pre", program),
        ("transient-bind-post", program),
    ] {
        for detail in [command, list, value, program] {
            let head = format!("hrx debug serial: begin phase={phase}");
            let out = take(&pieces(&[&head, "text\n", detail, "\n"]));
            let joined = detail == own;
            assert_eq!((out.events.len(), out.rejoined), (joined.into(), joined.into()), "{phase}{detail}");
            let shown = if joined { "text\n".to_owned() } else { format!("text\n{detail}\n") };
            assert_eq!(String::from_utf8_lossy(&out.shown), shown, "{phase}{detail}");
            assert_eq!(out.broken, u64::from(!joined), "{phase}{detail}");
        }
    }
}

#[test]
fn an_empty_line_of_another_writer_is_shown() {
    let out = take(&pieces(&["one\n", "\n", HEAD, DETAIL, "\n", "\n", "two\n"]));
    assert_eq!(out.shown, b"one\n\n\ntwo\n");
}

#[test]
fn a_head_of_a_later_build_waits_for_no_detail() {
    for head in ["hrx debug serial: retired phase=command-list", "hrx debug serial: end phase=command-fusion"]
    {
        let out = take(&pieces(&[head, "\n", HEAD, "x\n", DETAIL, "\n"]));
        assert_eq!((out.events.len(), out.broken, out.rejoined), (2, 0, 1), "{head}");
        assert_eq!((out.events[0].4, out.shown.as_slice()), (None, &b"x\n"[..]), "{head}");
    }
}

#[test]
fn a_wait_without_a_detail_is_whole_when_its_line_end_is_its_own() {
    let wait = "hrx debug serial: sync-begin phase=command-pre-dispatch";
    let whole = |order: &[&str]| {
        let out = take(&pieces(order));
        (out.events.iter().filter(|e| e.3 == Phase::Pre).count(), out.broken)
    };
    assert_eq!(whole(&[wait, "\n"]), (1, 0));
    assert_eq!(whole(&[wait, "\n", "text\n", HEAD, DETAIL, "\n"]), (1, 0));
    // The end is the text's.
    assert_eq!(whole(&[wait, "text\n", HEAD, DETAIL, "\n"]).0, 0);
    assert_eq!(whole(&[wait, "text\n"]), (0, 1));
    // The end may be another trace line's, which is still open.
    assert_eq!(whole(&[HEAD, DETAIL, "x\n", wait, "\n", HEAD, "\n"]).0, 0);
}

/// A dispatch's lines as three pieces each.
fn dispatch(index: u64) -> Vec<Piece> {
    let detail = format!(
        " list=main index={index} list_commands=9 ordinal={index} kind=Kernel kernel_id={} bindings=5",
        index + 100
    );
    let heads = [
        "sync-begin phase=command-pre-dispatch",
        "sync-end phase=command-pre-dispatch",
        "begin phase=command-dispatch",
        "end phase=command-dispatch",
        "sync-begin phase=command-post-dispatch",
        "sync-end phase=command-post-dispatch",
    ];
    heads
        .iter()
        .flat_map(|h| {
            [format!("hrx debug serial: {h}").into_bytes(), detail.clone().into_bytes(), b"\n".to_vec()]
        })
        .collect()
}

/// Two writers' pieces in one order; `true` = the first writer's turn.
fn merged(first: &[Piece], second: &[Piece], turns: &[bool]) -> Vec<(bool, Piece)> {
    let (mut a, mut b, mut all) = (first.iter(), second.iter(), Vec::new());
    for turn in turns {
        let next = if *turn { a.next() } else { b.next() };
        all.extend(next.map(|p| (*turn, p.clone())));
    }
    all.extend(a.map(|p| (true, p.clone())));
    all.extend(b.map(|p| (false, p.clone())));
    all
}

/// What each head really was, by the time of its piece.
fn truth(pieces: &[(bool, Piece)]) -> BTreeMap<u64, (Event, Phase, Option<u64>)> {
    let mut open: [Option<(u64, Event, Phase)>; 2] = [None, None];
    let mut all = BTreeMap::new();
    for (i, (who, piece)) in pieces.iter().enumerate() {
        let mine = &mut open[usize::from(*who)];
        if let Some(text) = piece.strip_prefix(MARK) {
            let head = serial::head(text).unwrap();
            *mine = Some((i as u64, head.event, head.phase));
        } else if let (Some((ns, event, phase)), true) = (*mine, serial::is_detail(piece)) {
            all.insert(ns, (event, phase, serial::detail(piece).0.index));
            *mine = None;
        }
    }
    all
}

/// As many cases as `PROPTEST_CASES` says, else enough for every change.
fn cases() -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    if asked { ProptestConfig::default() } else { ProptestConfig::with_cases(500) }
}

fn foreign() -> impl Strategy<Value = Vec<Piece>> {
    let piece = prop_oneof![
        Just("llama_context: n_ctx = 512\n"),
        Just("0.00.035.060 "),
        Just("I "),
        Just("5 tokens\n"),
        Just("."),
        Just("\n"),
        Just("text without an end "),
    ];
    prop::collection::vec(piece.prop_map(|t| t.as_bytes().to_vec()), 0..30)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn beside_a_foreign_writer_every_event_is_exact_or_counted(
        indices in prop::collection::vec(0u64..9, 1..4),
        text in foreign(),
        turns in prop::collection::vec(any::<bool>(), 0..80),
    ) {
        let trace: Vec<Piece> = indices.iter().flat_map(|i| dispatch(*i)).collect();
        let all = merged(&trace, &text, &turns);
        let out = take(&all.iter().map(|p| p.1.clone()).collect::<Vec<_>>());
        check(&all, &out)?;
        // Nothing of the other writer is lost; a number of ours right before its digits may be shown with them.
        let letters = |text: &[u8]| text.iter().filter(|b| **b != b'\n' && !b.is_ascii_digit()).map(|b| char::from(*b)).collect::<String>();
        prop_assert_eq!(letters(&out.foreign), letters(&text.concat()));
        prop_assert!(out.foreign.len() >= text.concat().iter().filter(|b| **b != b'\n').count());
    }

    #[test]
    fn two_writers_of_the_trace_never_give_a_wrong_pair(
        first in prop::collection::vec(0u64..9, 1..4),
        second in prop::collection::vec(0u64..9, 1..4),
        turns in prop::collection::vec(any::<bool>(), 0..160),
    ) {
        let [a, b] = [first, second].map(|w| w.iter().flat_map(|i| dispatch(*i)).collect::<Vec<_>>());
        let all = merged(&a, &b, &turns);
        let out = take(&all.iter().map(|p| p.1.clone()).collect::<Vec<_>>());
        check(&all, &out)?;
    }

    #[test]
    fn arbitrary_lines_never_panic(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..20)) {
        let mut rejoiner = Rejoiner::default();
        for (i, line) in lines.iter().enumerate() {
            let text = if i % 2 == 0 { [MARK, line.as_slice()].concat() } else { line.clone() };
            rejoiner.take(i as u64, &text, |_| {});
        }
    }
}

/// Every event that has a time is one that was written, with its own detail; what is missing was counted.
fn check(all: &[(bool, Piece)], out: &Out) -> Result<(), TestCaseError> {
    let truth = truth(all);
    let mut seen = std::collections::BTreeSet::new();
    for (ns, exact, event, phase, detail) in &out.events {
        let Some(detail) = detail else { continue };
        if *exact {
            let real = truth.get(ns);
            prop_assert_eq!(real, Some(&(*event, *phase, detail.index)), "at {}: {:?}", ns, out);
            prop_assert!(seen.insert(*ns), "twice: {}", ns);
        }
    }
    let lost = truth.len() as u64 - out.events.iter().filter(|e| e.4.is_some()).count() as u64;
    prop_assert!(
        out.broken + out.events.iter().filter(|e| e.4.is_none()).count() as u64 >= lost,
        "{} lost: {:?}",
        lost,
        out
    );
    Ok(())
}
