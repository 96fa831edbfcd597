use super::*;
use proptest::prelude::*;

const COMMAND: &[u8] =
    b" list=main index=3 list_commands=300 ordinal=4 kind=Kernel kernel_id=18238910775981276583 bindings=7";

#[test]
fn every_event_and_phase_has_its_place() {
    for (word, event) in [("begin", Event::Begin), ("end", Event::End), ("failed", Event::Failed)] {
        let text = format!("{word} phase=command-list list=main");
        assert_eq!(head(text.as_bytes()).unwrap().event, event);
    }
    for (word, phase) in [
        ("command-pre-dispatch", Phase::Pre),
        ("command-dispatch", Phase::Launch),
        ("command-post-dispatch", Phase::Post),
        ("command-program", Phase::Program),
        ("host-staging-upload-buffer-pre", Phase::Host(5, false)),
        ("host-staging-upload-post", Phase::Host(6, true)),
        ("transient-bind-post", Phase::Host(2, true)),
        ("command-retire", Phase::Other),
    ] {
        let text = format!("sync-begin phase={word}");
        let got = head(text.as_bytes()).unwrap();
        assert_eq!((got.event, got.phase, got.rest), (Event::SyncBegin, phase, &b""[..]), "{word}");
    }
    assert_eq!(head(b"retired phase=command-list").unwrap().event, Event::Other);
}

#[test]
fn cut_heads_are_none() {
    for text in [
        &b""[..],
        b"begin",
        b"begin ",
        b"begin phas",
        b"begin phase=",
        b"be gin phase=command-list",
        b"3 phase=command-list",
    ] {
        assert_eq!(head(text), None, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn foreign_text_behind_a_phase_is_not_of_it() {
    for foreign in ["llama_context: x", "0.01.2 I y", "-x y", "\x1b[0m"] {
        let text = format!("end phase=command-dispatch{foreign}");
        let got = head(text.as_bytes()).unwrap();
        assert_eq!((got.phase, got.rest), (Phase::Launch, foreign.as_bytes()), "{foreign}");
    }
}

#[test]
fn details_in_any_order_with_unknown_fields_between() {
    let (d, rest) = detail(COMMAND);
    assert_eq!((d.list, d.index, d.list_commands), (Some(List::Main), Some(3), Some(300)));
    assert_eq!(
        (d.kind, d.kernel_id, d.bindings),
        (CommandKind::Kernel, Some(18_238_910_775_981_276_583), Some(7))
    );
    assert_eq!(rest, b"");
    let mixed = b" bindings=7 kernel_id=18238910775981276583 colour=red kind=KERNEL ordinal=4 list_commands=300 index=3 list=main";
    assert_eq!(detail(mixed), (d, &b""[..]));
    assert!(is_detail(mixed) && is_detail(COMMAND) && !is_detail(b" llama=3") && !is_detail(b"list=main"));
}

#[test]
fn numbers_before_foreign_text_are_not_trusted() {
    for foreign in ["llama text", "0.00.1 I", "5 tokens", "\x1b[0m"] {
        let text = [COMMAND, foreign.as_bytes()].concat();
        let (d, rest) = detail(&text);
        assert_eq!((d.index, d.bindings), (Some(3), None), "{foreign}");
        assert!(rest.ends_with(foreign.as_bytes()) && rest.len() <= foreign.len() + 1, "{foreign}");
    }
}

#[test]
fn ids_are_64_bit_and_checked() {
    assert_eq!(detail(b" kernel_id=18446744073709551615").0.kernel_id, Some(u64::MAX));
    assert_eq!(detail(b" kernel_id=18446744073709551616").0.kernel_id, None);
    assert_eq!(detail(b" list=main kind=Invalid").0.kind, CommandKind::Other);
    assert_eq!(detail(b" list=main kind=Unknown(7)").0.kind, CommandKind::Other);
}

#[test]
fn a_failed_wait_is_told_by_the_logger() {
    let line =
        b"0.01 E HRX debug serial sync failed phase=command-post-dispatch list=main index=3: device lost\r";
    assert_eq!(sync_failed(line), Some(&b"command-post-dispatch list=main index=3: device lost"[..]));
    assert_eq!(sync_failed(b"hrx debug serial: sync-end phase=x"), None);
}

#[test]
fn a_known_phase_with_more_words_of_its_own_is_of_a_later_build() {
    for rest in ["", " list=main index=3"] {
        let text = format!("end phase=command-dispatch-fused{rest}");
        let got = head(text.as_bytes()).unwrap();
        assert_eq!((got.phase, got.phase_word), (Phase::Other, &b"command-dispatch-fused"[..]), "{rest}");
        assert_eq!(got.rest, rest.as_bytes());
    }
    let letters = head(b"end phase=command-dispatchx list=main").unwrap();
    assert_eq!((letters.phase, letters.rest), (Phase::Launch, &b"x list=main"[..]));
}

proptest! {
    #[test]
    fn the_usual_form_is_read_as_any_other(
        numbers in prop::collection::vec(prop_oneof![any::<u64>().prop_map(|n| n.to_string()), "[0-9]{0,22}", "[a-z0-9]{1,3}"], 5),
        behind in prop_oneof![Just(""), Just(" "), Just("x"), Just(" x=1"), Just(" list=main"), Just("\u{1b}[0m")],
    ) {
        let [index, commands, ordinal, id, bindings] = &numbers[..] else { unreachable!() };
        let begin = format!("index={index} list_commands={commands} ordinal={ordinal} kind=");
        let end = format!(" kernel_id={id} bindings={bindings}{behind}");
        // The kind's case means nothing, and takes the text off the short way.
        let (short, long) = (format!(" list=main {begin}Kernel{end}"), format!(" list=main {begin}kernel{end}"));
        let (a, b) = (detail(short.as_bytes()), detail(long.as_bytes()));
        prop_assert_eq!((a.0, a.1.to_ascii_lowercase()), (b.0, b.1.to_ascii_lowercase()));
    }
}

#[test]
fn a_field_is_a_key_and_a_value_behind_a_space() {
    assert!(is_field(b" value=7") && is_field(b" colour=red x"));
    for text in ["", "value=7", " value=", " =7", " llama: x", " llama:3", " Llama=3"] {
        assert!(!is_field(text.as_bytes()), "{text}");
    }
}

#[test]
fn the_fields_of_programs_and_uploads_have_their_places() {
    let (d, rest) = detail(b" main_commands=9 init_commands=2 transient_arena=4 value=17");
    assert_eq!((d.main_commands, d.value, rest), (Some(9), Some(17), &b""[..]));
    assert_eq!((d.list, d.index, d.kernel_id, d.kind), (None, None, None, CommandKind::Unsaid));
}

#[test]
fn a_list_has_its_word() {
    for (word, list) in [("main", List::Main), ("init", List::Init), ("later", List::Other)] {
        assert_eq!(detail(format!(" list={word}").as_bytes()).0.list, Some(list), "{word}");
    }
    assert_eq!([List::Main, List::Init, List::Other].map(List::name), ["main", "init", "other"]);
}

proptest! {
    #[test]
    fn a_guess_at_the_next_head_changes_nothing(
        heads in prop::collection::vec((0usize..4, 0usize..5, prop::option::of(0usize..40)), 0..30),
    ) {
        let mut guessing = Heads::default();
        for (event, phase, cut) in heads {
            let event = ["sync-begin", "sync-end", "begin", "end"][event];
            let phase = ["command-pre-dispatch", "command-dispatch", "command-post-dispatch", "command-list", "x"][phase];
            let text = format!("{event} phase={phase} list=main");
            let text = &text.as_bytes()[..cut.unwrap_or(text.len()).min(text.len())];
            prop_assert_eq!(guessing.read(text), head(text));
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let _ = head(&bytes);
        let _ = detail(&bytes);
        let _ = find_detail(&bytes);
        let text = [b"begin phase=command-dispatch list=", bytes.as_slice()].concat();
        let _ = head(&text).map(|h| detail(h.rest));
    }
}
