use super::*;

#[test]
fn an_unfinished_line_passes_after_a_pause_unless_it_may_be_a_trace_line() {
    for (text, passes) in
        [("....", true), ("> ", true), ("hrx deb", false), ("x hrx debug serial: en", false)]
    {
        let (mut filter, mut out) = (Filter::new(Mode::Rest), Vec::new());
        filter.pause(text.as_bytes(), false, &mut out);
        assert_eq!(!out.is_empty(), passes, "{text}");
        filter.pause(text.as_bytes(), false, &mut out);
        assert!(out.len() <= text.len(), "once");
        assert!(passes || out.is_empty());
    }
    let mut out = Vec::new();
    Filter::new(Mode::Rest).pause(b" list=main", true, &mut out);
    assert_eq!(out, b"", "it may be the rest of a trace line");
}

#[test]
fn what_was_shown_in_a_pause_is_not_shown_again() {
    let (mut filter, mut out) = (Filter::new(Mode::Rest), Vec::new());
    filter.pause(b"load ..", false, &mut out);
    filter.text(0, b"load ....", true, &mut out);
    filter.next_line();
    filter.text(0, b"next", true, &mut out);
    assert_eq!(out, b"load ....\nnext\n");
}

#[test]
fn the_two_ways_do_not_tear_each_others_lines() {
    let (mut filter, mut out) = (Filter::new(Mode::All), Vec::new());
    filter.bytes(1, 5, b"re", &mut out);
    filter.bytes(2, 6, b"print\n", &mut out);
    assert_eq!((&out[..], filter.waiting_since()), (&b"re"[..], Some(6)));
    filter.bytes(1, 7, b"ad\n", &mut out);
    assert_eq!(out, b"read\nprint\n");
    // The pieces of one way are shown as they come, whoever's they are.
    filter.bytes(2, 8, b"one", &mut out);
    filter.bytes(2, 9, b"two\n", &mut out);
    assert_eq!(out, b"read\nprint\nonetwo\n");
    filter.bytes(2, 10, b"prompt> ", &mut out);
    filter.bytes(1, 11, b"late\n", &mut out);
    filter.end_waiting(&mut out);
    assert_eq!(out, b"read\nprint\nonetwo\nprompt> late\n");
}

#[test]
fn each_mode_passes_its_own() {
    for (mode, passed) in [(Mode::Rest, "text\n"), (Mode::All, "bytes"), (Mode::None, "")] {
        let (mut filter, mut out) = (Filter::new(mode), Vec::new());
        filter.bytes(1, 0, b"bytes", &mut out);
        filter.text(0, b"text", true, &mut out);
        assert_eq!(out, passed.as_bytes(), "{mode:?}");
    }
}

#[test]
fn lines_of_ours_begin_a_line() {
    let (from, to) = fd::pipe().unwrap();
    let echo = Echo::start(to, true);
    echo.give(b"words");
    echo.give_lines("");
    echo.say("ours");
    echo.give(b"more\n");
    echo.give_lines("ours again\n");
    echo.drain(Duration::from_secs(5));
    let mut text = vec![0; 100];
    let n = fd::read(from.as_fd(), &mut text).unwrap();
    assert_eq!(String::from_utf8_lossy(&text[..n]), "words\nhrx-wrap: ours\nmore\nours again\n");
}

#[test]
fn a_reader_that_never_reads_costs_only_what_it_misses() {
    let (_keep, to) = fd::pipe().unwrap();
    let echo = Echo::start(to, true);
    echo.give(&vec![b'x'; QUEUE]);
    echo.give(b"more");
    echo.drain(Duration::from_millis(50));
    // The pipe took some; the rest and what found no room is counted.
    assert!(echo.lost() > (QUEUE - (1 << 20)) as u64 && echo.lost() <= (QUEUE + 4) as u64, "{}", echo.lost());
}

#[test]
fn a_reader_that_is_gone_loses_the_rest() {
    let (from, to) = fd::pipe().unwrap();
    drop(from);
    let echo = Echo::start(to, false);
    echo.give(b"nobody reads this");
    echo.drain(Duration::from_secs(5));
    assert_eq!(echo.lost(), 17);
}
