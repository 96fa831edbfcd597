use proptest::prelude::*;

use super::*;
use crate::core::test_trace::{Trace, fields};

/// An event, as one can keep and compare it; words are not in the shorthand.
#[derive(Clone, Debug, PartialEq)]
enum Told {
    Process(u32),
    Broken,
    Serial(Serial<'static>),
}

impl Told {
    fn event(&self) -> Event<'_> {
        match self {
            Told::Process(pid) => Event::Process(*pid),
            Told::Broken => Event::Broken,
            Told::Serial(serial) => Event::Serial(serial),
        }
    }
}

fn read(reader: &mut Reader, bytes: &[u8], into: &mut Vec<Told>) -> Option<()> {
    reader.read(bytes, |event| {
        into.push(match event {
            Event::Process(pid) => Told::Process(*pid),
            Event::Broken => Told::Broken,
            Event::Serial(serial) => Told::Serial(Serial { words: (b"", b""), ..**serial }),
            other => panic!("{other:?} is not in the shorthand"),
        });
    })
}

fn phases() -> Vec<Phase> {
    let own = [Phase::Pre, Phase::Launch, Phase::Post, Phase::List, Phase::Program, Phase::Other];
    let host =
        (0..serial::HOST_PHASES.len() as u8).flat_map(|n| [Phase::Host(n, false), Phase::Host(n, true)]);
    own.into_iter().chain(host).collect()
}

/// Numbers of any size, small ones more often.
fn number() -> impl Strategy<Value = Option<u64>> {
    prop::option::of(prop_oneof![0u64..300, any::<u64>(), Just(u64::MAX)])
}

prop_compose! {
    fn a_detail()(
        list in prop::option::of(prop::sample::select(LISTS.to_vec())),
        kind in prop::sample::select(KINDS.to_vec()),
        too_large in any::<bool>(),
        (index, list_commands, kernel_id) in (number(), number(), number()),
        (bindings, main_commands, value) in (number(), number(), number()),
    ) -> Detail {
        Detail { list, index, list_commands, kind, kernel_id, bindings, main_commands, value, too_large }
    }
}

/// An event of the trace; its fields are often those of the one before.
fn a_serial(details: Vec<Detail>) -> impl Strategy<Value = Told> {
    let detail = prop::option::of(prop::sample::select(details));
    let event = prop::sample::select(EVENTS.to_vec());
    let ns = prop_oneof![any::<u64>(), 1000u64..1100];
    (ns, any::<bool>(), event, prop::sample::select(phases()), detail).prop_map(
        |(ns, exact, event, phase, detail)| {
            Told::Serial(Serial { ns, exact, event, phase, words: (b"", b""), detail })
        },
    )
}

fn a_story() -> impl Strategy<Value = Vec<Told>> {
    prop::collection::vec(a_detail(), 1..4).prop_flat_map(|details| {
        let told = prop_oneof![
            8 => a_serial(details),
            1 => any::<u32>().prop_map(Told::Process),
            1 => Just(Told::Broken),
        ];
        prop::collection::vec(told, 0..60)
    })
}

proptest! {
    #[test]
    fn what_was_written_is_read_in_whatever_blocks(story in a_story(), block in 1usize..20) {
        let (mut writer, mut reader, mut again) = (Writer::default(), Reader::default(), Vec::new());
        for told in story.chunks(block) {
            told.iter().for_each(|t| writer.event(&t.event()));
            prop_assert_eq!(read(&mut reader, writer.out(), &mut again), Some(()));
            writer.out().clear();
        }
        prop_assert_eq!(again, story);
    }

    #[test]
    fn anything_else_is_refused_or_read_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Reader::default().read(&bytes, |_| {});
    }
}

#[test]
fn every_word_of_the_trace_has_its_own_number() {
    for (n, event) in EVENTS.into_iter().enumerate() {
        assert_eq!(event as usize, n);
    }
    for (n, list) in LISTS.into_iter().enumerate() {
        assert_eq!(list as usize, n);
    }
    for (n, kind) in KINDS.into_iter().enumerate() {
        assert_eq!(kind as usize, n);
    }
    let all = phases();
    let numbers: std::collections::BTreeSet<u8> = all.iter().map(|p| phase_number(*p)).collect();
    assert_eq!(numbers.len(), all.len());
    assert!(numbers.iter().all(|n| *n < PROCESS));
    assert!(all.iter().all(|p| phase(phase_number(*p)) == Some(*p)));
}

#[test]
fn a_cut_record_is_none() {
    let mut writer = Writer::default();
    let detail = Some(Detail { list: Some(List::Main), kernel_id: Some(u64::MAX), ..Detail::default() });
    let (event, phase) = (serial::Event::End, Phase::Launch);
    writer.event(&Event::Serial(&Serial { ns: 70, exact: true, event, phase, words: (b"", b""), detail }));
    let bytes = writer.out().clone();
    assert_eq!(Reader::default().read(&bytes, |_| {}), Some(()));
    for cut in 1..bytes.len() {
        assert_eq!(Reader::default().read(&bytes[..cut], |_| panic!("{cut}")), None, "cut at {cut}");
    }
}

#[test]
fn a_dispatch_takes_a_twentieth_of_its_text() {
    let mut trace = Trace::default();
    for index in 0..100 {
        let fields = fields(index, 100, 0xfedc_ba98_7654_3210 - index, 5);
        // Stamps as they are in a long-running machine.
        trace.now += 3_000_000_000_000 * u64::from(index == 0);
        trace.begin(&fields);
        trace.end(&fields, 9_000, 60_000);
    }
    let mut book = crate::core::book::Book::default();
    book.shorthand = Some(Writer::default());
    let mut text = 0;
    trace.each(|line| {
        text += line.ns.to_string().len() + 1 + line.bytes.len() + 1;
        book.take(line, |_, _| {});
    });
    let short = book.shorthand.map_or(0, |mut writer| writer.out().len());
    assert!(short > 0 && short * 20 < text, "{short} bytes for {text}");
}
