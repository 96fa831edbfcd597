use super::*;

#[test]
fn a_trace_that_is_logged_with_a_prefix_has_its_lines_times() {
    let line = format!("\x1b[34m0.01.234.567\x1b[0m \x1b[32mI \x1b[0m{HEAD}{DETAIL}\n");
    let out = take(&vec![line.into_bytes(); 20]);
    assert_eq!(out.events.iter().filter(|e| e.1).count(), 20 - PREFIXED as usize);
}

/// Lines that a logger writes, whole, as the trace's own stamps would have it.
fn logged(prefix: &str) -> Vec<u8> {
    format!("{prefix}{HEAD}{DETAIL}\n").into_bytes()
}

#[test]
fn words_of_a_loggers_prefix_are_a_clock_a_level_and_colours() {
    for (prefix, is) in [
        ("0.01.234.567 I ", true),
        ("[2026-01-02T03:04:05+00:00] srv  INFO ", true),
        ("\x1b[34m12:00\x1b[0m DEBUG ", true),
        ("\x1b[1;32mW\x1b[0m ", true),
        ("llama: ", false),
        ("12:00 ok ", false),
        ("12:00x ", false),
        ("\x1b34m ", false),
    ] {
        assert_eq!(is_prefix(prefix.as_bytes()), is, "{prefix:?}");
        let out = take(&vec![logged(prefix); 10]);
        assert_eq!(out.events.iter().filter(|e| e.1).count(), if is { 2 } else { 0 }, "{prefix:?}");
        let shown = if is { 8 } else { 10 };
        assert_eq!(String::from_utf8_lossy(&out.shown), prefix.repeat(shown), "{prefix:?}");
    }
}

#[test]
fn one_bare_head_or_one_behind_text_undoes_what_prefixes_were_taken_for() {
    let prefixed = || vec![logged("0.01 I "); 9];
    for (between, exact) in [(logged(""), 1 + 1), (logged("llama: "), 1 + 1), (logged("0.02 W "), 1 + 10)] {
        let out = take(&[prefixed(), vec![between.clone()], prefixed()].concat());
        assert_eq!(out.events.len(), 19);
        let count = out.events.iter().filter(|e| e.1).count();
        assert_eq!(count, exact, "{}", String::from_utf8_lossy(&between));
    }
}

#[test]
fn any_kind_of_bare_head_says_that_the_trace_is_not_logged() {
    // Whole, whole as the one before, and cut.
    for bare in [vec![logged("")], vec![logged(""); 2], pieces(&[HEAD, "\n", DETAIL, "\n"])] {
        let out = take(&[bare.clone(), vec![logged("0.01 I "); 20]].concat());
        assert_eq!(out.events.iter().skip(bare.len().min(2)).filter(|e| e.1).count(), 0);
    }
}
