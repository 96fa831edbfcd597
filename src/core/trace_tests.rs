use super::*;
use crate::core::lines::{Assembler, Splitter};
use proptest::prelude::*;
use serde_json::json;

#[derive(Debug, PartialEq, Default)]
struct Read {
    lines: Vec<(u64, Vec<u8>)>,
    notes: Vec<(String, Value)>,
    unstamped: u64,
    torn: bool,
}

fn read(pieces: &[&[u8]]) -> Read {
    let (mut reader, mut assembler, mut out) = (Reader::default(), Assembler::default(), Read::default());
    for piece in pieces {
        reader.feed(piece, |item| match item {
            Item::Fragment(f) => assembler.feed(&f, |l| out.lines.push((l.ns, l.bytes.to_vec()))),
            Item::Note(key, value) => out.notes.push((key, value)),
        });
    }
    out.unstamped = reader.unstamped;
    out.torn = reader.finish();
    out
}

#[test]
fn lines_notes_and_neither() {
    let got = read(&[b"# hrx-wrap/1 pid 42\n# of another tool\n12 a b\n13 \nno stamp\n14\n# hrx-wrap/1 end {\"x\":1}\n99 tor"]);
    assert_eq!(got.lines, [(12, b"a b".to_vec()), (13, Vec::new())]);
    assert_eq!(got.notes, [("pid".to_owned(), json!(42)), ("end".to_owned(), json!({"x": 1}))]);
    assert_eq!((got.unstamped, got.torn), (2, true));
}

#[test]
fn a_stamp_has_at_most_20_digits() {
    let got = read(&[b"18446744073709551615 max\n18446744073709551616 over\n000000000000000000000 long\n"]);
    assert_eq!(got.lines, [(u64::MAX, b"max".to_vec())]);
    assert_eq!((got.unstamped, got.torn), (2, false));
}

#[test]
fn target_text_that_looks_like_ours_stays_text() {
    let mut text = Vec::new();
    let mut splitter = Splitter::default();
    let mut writer = Writer::default();
    splitter.feed(5, b"# hrx-wrap/1 end {}\n7 x\n", |f| writer.fragment(&mut text, &f));
    assert_eq!(text, b"5 # hrx-wrap/1 end {}\n5 7 x\n");
    let got = read(&[&text]);
    assert_eq!(got.lines, [(5, b"# hrx-wrap/1 end {}".to_vec()), (5, b"7 x".to_vec())]);
    assert!(got.notes.is_empty());
}

proptest! {
    #[test]
    fn what_is_written_is_read_however_it_is_cut(
        pieces in prop::collection::vec((0u64..3, prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'#'), any::<u8>()], 0..20)), 0..12),
        cuts in prop::collection::vec(0usize..400, 0..6),
    ) {
        let (mut splitter, mut assembler) = (Splitter::default(), Assembler::default());
        let (mut writer, mut text, mut wrote) = (Writer::default(), Vec::new(), Vec::new());
        for (ns, bytes) in &pieces {
            splitter.feed(*ns, bytes, |f| {
                writer.fragment(&mut text, &f);
                assembler.feed(&f, |l| wrote.push((l.ns, l.bytes.to_vec())));
            });
        }
        let torn = splitter.in_line();
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|c| *c <= text.len()).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let parts: Vec<&[u8]> = cuts.windows(2).map(|w| &text[w[0]..w[1]]).collect();
        let got = read(&parts);
        prop_assert_eq!(got, Read { lines: wrote, torn, ..Read::default() });
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read(&[&bytes]);
    }
}
