use super::*;
use proptest::prelude::*;

type Line = (u64, u64, Vec<u8>, bool);

/// What came out, line by line: writer, stamp, text, ended.
#[derive(Default)]
struct Lines(Vec<Line>);

impl Lines {
    fn take(&mut self, out: Out<'_>) {
        let Fragment { ns, bytes, starts, ends } = out.fragment;
        if starts {
            assert!(self.0.last().is_none_or(|l| l.3), "a line begins inside another");
            self.0.push((out.writer, ns, Vec::new(), false));
        }
        let line = self.0.last_mut().expect("a beginning");
        assert_eq!((line.0, line.1, line.3), (out.writer, ns, false), "of another line");
        line.2.extend_from_slice(bytes);
        line.3 = ends;
    }
}

fn run(hold: usize, pieces: &[(u64, u64, &[u8])]) -> (Vec<Line>, u64) {
    let (mut strands, mut lines) = (Strands::new(hold), Lines::default());
    for (writer, ns, bytes) in pieces {
        strands.feed(*writer, *ns, bytes, |o| lines.take(o));
    }
    strands.finish(|o| lines.take(o));
    (lines.0, strands.cut)
}

fn line(writer: u64, ns: u64, text: &[u8]) -> Line {
    (writer, ns, text.to_vec(), true)
}

#[test]
fn each_writer_has_its_own_line_with_the_stamp_of_its_first_piece() {
    let (lines, cut) = run(
        100,
        &[
            (1, 10, b"head"),
            (2, 11, b"log"),
            (1, 12, b" detail"),
            (2, 13, b"ger\n"),
            (1, 14, b"\n"),
            (2, 15, b"x\n"),
        ],
    );
    assert_eq!(lines, [line(2, 11, b"logger"), line(1, 10, b"head detail"), line(2, 15, b"x")]);
    assert_eq!(cut, 0);
}

#[test]
fn with_nothing_held_a_line_comes_out_as_it_grows() {
    let (mut strands, mut out) = (Strands::new(0), Vec::new());
    strands.feed(0, 5, b"ab", |o| out.push((o.fragment.bytes.to_vec(), o.fragment.ends)));
    assert_eq!(strands.floor(), Some((0, 5)));
    strands.feed(0, 6, b"c\nd", |o| out.push((o.fragment.bytes.to_vec(), o.fragment.ends)));
    assert_eq!(out, [(b"ab".to_vec(), false), (b"c".to_vec(), true), (b"d".to_vec(), false)]);
    assert_eq!((strands.floor(), strands.cut), (Some((0, 6)), 0));
}

#[test]
fn a_long_line_is_whole_as_long_as_no_other_comes() {
    let long = vec![b'y'; 500];
    let (lines, cut) = run(100, &[(1, 1, &long), (2, 2, b"held"), (1, 3, b"z\n"), (2, 4, b"\n")]);
    assert_eq!(lines, [line(1, 1, &[&long[..], b"z"].concat()), line(2, 2, b"held")]);
    assert_eq!(cut, 0);
    let (lines, cut) = run(100, &[(1, 1, &long), (2, 2, b"other\n"), (1, 3, b"rest\n")]);
    assert_eq!(lines, [line(1, 1, &long), line(2, 2, b"other"), line(1, 3, b"rest")]);
    assert_eq!(cut, 1);
}

#[test]
fn what_is_never_ended_comes_out_at_the_end_and_the_last_stays_open() {
    let (lines, cut) = run(100, &[(1, 1, b"a"), (2, 2, b"b"), (1, 3, b"c")]);
    assert_eq!(lines, [line(1, 1, b"ac"), (2, 2, b"b".to_vec(), false)]);
    assert_eq!(cut, 1);
}

#[test]
fn no_more_is_held_than_can_be_saved() {
    let mut strands = Strands::new(64 << 10);
    let mut lines = Lines::default();
    for writer in 0..5_000_u64 {
        strands.feed(writer, writer, &vec![b'x'; (writer % 7_000) as usize + 1], |o| lines.take(o));
        assert!(strands.save().len() <= MOST_SAVED);
    }
    assert!(strands.cut > 1_000);
}

proptest! {
    #[test]
    fn every_byte_of_every_writer_comes_out_in_its_order_also_after_a_change_of_hands(
        pieces in prop::collection::vec((0u64..4, prop::collection::vec(prop_oneof![Just(b'\n'), 0u8..4], 0..6)), 0..40),
        hold in 0usize..12,
        change in 0usize..40,
    ) {
        let (mut strands, mut lines) = (Strands::new(hold), Lines::default());
        for (i, (writer, bytes)) in pieces.iter().enumerate() {
            if i == change {
                let mut next = Strands::new(hold);
                next.resume(strands.floor(), &strands.save(), strands.cut);
                strands = next;
            }
            strands.feed(*writer, i as u64, bytes, |o| lines.take(o));
        }
        strands.finish(|o| lines.take(o));
        let mut ours = 0;
        for writer in 0..4 {
            let wrote: Vec<u8> = pieces.iter().filter(|p| p.0 == writer).flat_map(|p| p.1.clone()).collect();
            let ends = wrote.iter().filter(|b| **b == b'\n').count() as u64;
            let got: Vec<&Line> = lines.0.iter().filter(|l| l.0 == writer).collect();
            let text: Vec<u8> = got.iter().flat_map(|l| l.2.clone()).collect();
            let without: Vec<u8> = wrote.iter().copied().filter(|b| *b != b'\n').collect();
            prop_assert_eq!(text, without);
            ours += got.iter().filter(|l| l.3).count() as u64 - ends;
        }
        prop_assert_eq!(ours, strands.cut);
        prop_assert!(lines.0.iter().rev().skip(1).all(|l| l.3));
    }

    #[test]
    fn arbitrary_saved_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        Strands::new(9).resume(None, &bytes, 0);
    }
}
