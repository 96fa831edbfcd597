use super::*;
use proptest::prelude::*;

fn read(pieces: &[&[u8]]) -> (Reader, bool) {
    let mut reader = Reader::default();
    for piece in pieces {
        reader.feed(piece);
    }
    let torn = reader.finish();
    (reader, torn)
}

fn all(reader: &Reader) -> Vec<Sample> {
    reader.series.samples().copied().collect()
}

#[test]
fn a_row_has_nothing_where_a_value_is_unknown() {
    let mut text = header();
    let sample =
        Sample { ns: 5, gtt_bytes: Some(7), clients: 1, fds: 2, state: State::Partial, ..Sample::default() };
    row(&mut text, &sample);
    let columns =
        "ns\tgtt_bytes\tgtt_total_bytes\tvram_bytes\trss_bytes\tdevice_gtt_used_bytes\tclients\tfds\tstate\n";
    assert_eq!(text, format!("{columns}5\t7\t\t\t\t\t1\t2\tpartial\n"));
}

#[test]
fn columns_are_known_by_name() {
    let (reader, torn) = read(&[
        b"ns\tstate\tnew\tgtt_bytes\n5\tok\tx\t7\n6\tok\tx\n7\tfine\tx\t1\n# remark\n\n8\tok\tx\t\n9\tok",
    ]);
    let of = |ns, gtt_bytes| Sample { ns, gtt_bytes, ..Sample::default() };
    assert_eq!(all(&reader), [of(5, Some(7)), of(8, None)]);
    assert_eq!((reader.unreadable, torn, reader.is_table()), (2, true, true));
}

#[test]
fn bare_pairs_in_seconds_or_nanoseconds() {
    let gtt = |text: &str| {
        let (reader, torn) = read(&[text.as_bytes()]);
        assert!(!torn && !reader.is_table());
        (all(&reader).iter().map(|s| (s.ns, s.gtt_bytes)).collect::<Vec<_>>(), reader.unreadable)
    };
    let kib = 4_019_200 << 10;
    assert_eq!(gtt("12.5 4019200\n12.55 0\n").0, [(12_500_000_000, Some(kib)), (12_550_000_000, Some(0))]);
    assert_eq!(gtt("12\t4019200\r\n13\t1").0, [(12_000_000_000, Some(kib)), (13_000_000_000, Some(1_024))]);
    assert_eq!(gtt("512345678901234 4019200\n").0, [(512_345_678_901_234, Some(kib))]);
    let (found, unreadable) = gtt("time KiB\n1 2\n1.2.3 4\n5\n6 7 8\n9. 1\nx 1\n2 -1\n");
    assert_eq!((found, unreadable), (vec![(1_000_000_000, Some(2_048))], 7));
}

#[test]
fn what_goes_back_in_time_is_counted_and_not_taken() {
    let (reader, _) = read(&[b"5 1\n4 2\n5 3\n"]);
    assert_eq!((all(&reader).len(), reader.disordered), (2, 1));
}

#[test]
fn a_line_without_end_is_not_held() {
    let mut reader = Reader::default();
    for _ in 0..100 {
        reader.feed(&[b'7'; LONGEST]);
    }
    assert!(reader.carry.len() <= LONGEST);
    reader.feed(b"\n1 2\n");
    assert_eq!((reader.unreadable, reader.series.whole().samples), (1, 1));
}

fn sample() -> impl Strategy<Value = Sample> {
    let bytes = || prop::option::of(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()]);
    (0u64..9, (bytes(), bytes(), bytes(), bytes(), bytes()), any::<u32>(), any::<u32>(), 0usize..6).prop_map(
        |(
            ns,
            (gtt_bytes, gtt_total_bytes, vram_bytes, rss_bytes, device_gtt_used_bytes),
            clients,
            fds,
            state,
        )| Sample {
            ns,
            gtt_bytes,
            gtt_total_bytes,
            vram_bytes,
            rss_bytes,
            device_gtt_used_bytes,
            clients,
            fds,
            state: crate::core::memory::sample::STATES[state].0,
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_however_it_is_cut(mut samples in prop::collection::vec(sample(), 0..9),
                                                 cut in 0usize..400, end in 0usize..400) {
        samples.sort_by_key(|s| s.ns);
        let mut text = header();
        let mut series = Series::default();
        for s in &samples {
            row(&mut text, s);
            series.push(*s);
        }
        let (a, b) = text.as_bytes().split_at(cut.min(text.len()));
        let (reader, torn) = read(&[a, b]);
        prop_assert_eq!(&reader.series, &series);
        prop_assert_eq!((torn, reader.unreadable, reader.disordered), (false, 0, 0));
        // Killed in the middle of a row: the rows before it are all there.
        let end = end.min(text.len());
        let (reader, torn) = read(&[&text.as_bytes()[..end]]);
        let rows = text[..end].matches('\n').count().saturating_sub(1) as u64;
        prop_assert_eq!(reader.series.whole().samples, rows);
        prop_assert_eq!((torn, reader.unreadable), (end > 0 && !text[..end].ends_with('\n'), 0));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), head in any::<bool>()) {
        let start = if head { header() } else { String::new() };
        read(&[start.as_bytes(), &bytes]);
    }
}
