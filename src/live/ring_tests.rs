use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;

use super::*;
use crate::live::read_port::ReadPort;

const WHO: Producer = Producer { pid: 7, thread: 8, source: Source::Print };

fn ring(capacity: usize) -> Ring {
    Ring::create(capacity, 0x9E37_79B9_7F4A_7C15).unwrap()
}

fn take(ring: &Ring, cursor: &mut u64) -> Option<(u64, Vec<u8>)> {
    let mut out = Vec::new();
    match ring.next(*cursor, &mut out) {
        Next::Record(record) => {
            *cursor = record.next;
            ring.release(*cursor);
            Some((record.ns, out))
        }
        Next::Open | Next::End => None,
    }
}

#[test]
fn records_wrap_around_at_every_offset() {
    for len in 0..=80_usize {
        let ring = ring(256);
        let mut cursor = 0;
        for turn in 0..64_u64 {
            let bytes: Vec<u8> = (0..len).map(|i| (turn as usize * 31 + i) as u8).collect();
            assert!(ring.push(WHO, turn, &bytes), "len {len} turn {turn}");
            assert_eq!(take(&ring, &mut cursor), Some((turn, bytes)), "len {len} turn {turn}");
            assert_eq!(ring.used(), 0);
        }
    }
}

#[test]
fn a_record_says_who_wrote_it() {
    let ring = ring(256);
    assert!(ring.push(WHO, 5, b"x"));
    let got = ring.next(0, &mut Vec::new());
    assert_eq!(got, Next::Record(Record { ns: 5, pid: 7, thread: 8, source: 2, next: 48 }));
}

#[test]
fn one_byte_and_the_largest_record() {
    let capacity = span(MAX_PAYLOAD as u64) as usize;
    let ring = ring(capacity);
    let mut cursor = 0;
    let large = vec![b'z'; MAX_PAYLOAD];
    for turn in 0..4 {
        assert!(ring.push(WHO, turn, b"1"));
        assert!(!ring.push(WHO, turn, &large), "no room beside the small one");
        assert_eq!(take(&ring, &mut cursor).map(|r| r.1), Some(b"1".to_vec()));
        assert!(ring.push(WHO, turn, &large));
        assert!(!ring.push(WHO, turn, b""), "full to the last byte");
        assert_eq!(take(&ring, &mut cursor).map(|r| r.1.len()), Some(MAX_PAYLOAD));
    }
}

#[test]
fn full_is_full_until_room_is_released() {
    let ring = ring(128);
    assert!(ring.push(WHO, 1, &[1; 32]) && ring.push(WHO, 2, &[2; 32]));
    assert!(!ring.push(WHO, 3, b""));
    let mut out = Vec::new();
    let Next::Record(first) = ring.next(0, &mut out) else { panic!("a record") };
    assert!(!ring.push(WHO, 3, b""), "taken is not released");
    ring.release(first.next);
    assert!(ring.push(WHO, 3, &[3; 32]));
    assert_eq!(ring.used(), 128);
}

#[test]
fn a_capacity_that_cannot_be_is_refused() {
    for bad in [0, 8, 24, 4097] {
        assert!(Ring::create(bad, 1).is_err(), "{bad}");
    }
}

#[test]
fn records_come_in_the_order_of_reservation() {
    let ring = ring(1024);
    let first = ring.reserve(3, WHO).unwrap();
    assert!(ring.push(WHO, 2, b"second"));
    assert_eq!(ring.next(0, &mut Vec::new()), Next::Open);
    assert_eq!(ring.holder(0), Some((7, 8)));
    ring.memory.copy_in(ring.window, HEADER, b"one");
    ring.commit(&first, 1, 3);
    let mut cursor = 0;
    assert_eq!(take(&ring, &mut cursor), Some((1, b"one".to_vec())));
    assert_eq!(take(&ring, &mut cursor), Some((2, b"second".to_vec())));
    assert_eq!(take(&ring, &mut cursor), None);
}

#[test]
fn what_was_reserved_too_much_is_given_back() {
    let ring = ring(1024);
    let slot = ring.reserve(500, WHO).unwrap();
    ring.commit(&slot, 1, 0);
    assert_eq!(ring.used(), HEADER);
    let slot = ring.reserve(300, WHO).unwrap();
    assert!(ring.push(WHO, 2, b"behind"));
    ring.commit(&slot, 1, 5);
    let mut cursor = 0;
    let lens: Vec<usize> = std::iter::from_fn(|| take(&ring, &mut cursor)).map(|r| r.1.len()).collect();
    assert_eq!(lens, [0, 5, 6], "the room behind a record that could not shrink is skipped");
}

#[test]
fn two_producers_lose_nothing_and_keep_their_order() {
    const EACH: u64 = 20_000;
    let ring = ring(4096);
    let produce = |pid: i32| {
        for n in 0..EACH {
            let bytes = n.to_le_bytes().repeat(1 + (n % 9) as usize);
            while !ring.push(Producer { pid, ..WHO }, n, &bytes) {
                std::thread::yield_now();
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| produce(1));
        scope.spawn(|| produce(2));
        let (mut cursor, mut seen, mut out) = (0, [0_u64; 3], Vec::new());
        while seen[1] < EACH || seen[2] < EACH {
            out.clear();
            let Next::Record(record) = ring.next(cursor, &mut out) else {
                std::thread::yield_now();
                continue;
            };
            cursor = record.next;
            ring.release(cursor);
            let expected = &mut seen[record.pid as usize];
            assert_eq!(record.ns, *expected);
            assert_eq!(out, expected.to_le_bytes().repeat(1 + (*expected % 9) as usize));
            *expected += 1;
        }
    });
    assert_eq!(ring.used(), 0);
}

#[test]
fn a_producer_that_died_between_reserve_and_commit_is_passed_over() {
    let ring = ring(1024);
    assert!(ring.push(WHO, 1, b"before"));
    let _dead = ring.reserve(100, Producer { pid: 99, ..WHO });
    assert!(ring.push(WHO, 3, b"behind"));
    let mut cursor = 0;
    assert_eq!(take(&ring, &mut cursor).map(|r| r.0), Some(1));
    assert_eq!((ring.next(cursor, &mut Vec::new()), ring.holder(cursor)), (Next::Open, Some((99, 8))));
    let mut out = Vec::new();
    cursor = ring.recover(cursor, 0, &mut out).next;
    assert_eq!(out, b"", "what a printing process had not committed is nobody's line");
    assert_eq!(take(&ring, &mut cursor), Some((3, b"behind".to_vec())));
}

#[test]
fn a_producer_that_died_before_it_said_who_it_is_is_passed_over() {
    let ring = ring(1024);
    assert!(ring.claim(40).is_some());
    assert!(ring.push(WHO, 3, b"behind"));
    assert_eq!((ring.next(0, &mut Vec::new()), ring.holder(0)), (Next::Open, None));
    let mut cursor = ring.recover(0, 0, &mut Vec::new()).next;
    assert_eq!(take(&ring, &mut cursor), Some((3, b"behind".to_vec())));
}

#[test]
fn a_read_that_was_not_committed_is_recovered() {
    let ring = ring(512);
    let (from, to) = crate::sys::fd::pipe().unwrap();
    let mut to = std::fs::File::from(to);
    let mut port = ReadPort::new(&ring, 5);
    let mut cursor = 0;
    // Several laps, so that the memory is full of old bytes.
    for turn in 0..40_u64 {
        let text = format!("numbered {turn}\n");
        to.write_all(text.as_bytes()).unwrap();
        let slot = port.reserve(200).unwrap();
        let n = port.read(&slot, from.as_fd()).unwrap();
        assert_eq!(n, text.len());
        if turn % 3 == 0 {
            let mut out = Vec::new();
            let got = ring.recover(cursor, 77, &mut out);
            assert_eq!((got.ns, got.pid, got.next), (77, 5, cursor + span(200)));
            assert_eq!(out, text.as_bytes(), "turn {turn}");
        }
        ring.commit(&slot, turn, n);
        assert_eq!(take(&ring, &mut cursor), Some((turn, text.into_bytes())));
    }
}

#[test]
fn a_read_that_never_began_leaves_nothing() {
    let ring = ring(512);
    assert!(ring.push(WHO, 1, &[b'o'; 200]));
    let mut cursor = 0;
    take(&ring, &mut cursor);
    let mut port = ReadPort::new(&ring, 5);
    let _dead = port.reserve(300).unwrap();
    let mut out = Vec::new();
    assert_eq!(ring.recover(cursor, 2, &mut out).next, cursor + span(300));
    assert_eq!(out, b"");
}

#[test]
fn another_consumer_goes_on_from_the_committed_position() {
    let ring = ring(4096);
    for n in 0..5 {
        assert!(ring.push(WHO, n, &[n as u8; 10]));
    }
    let mut cursor = 0;
    take(&ring, &mut cursor);
    take(&ring, &mut cursor);
    // A third record is taken, but what was made of it is lost with its process: it was not released.
    assert!(matches!(ring.next(cursor, &mut Vec::new()), Next::Record(_)));
    let other = Ring::attach(ring.file().try_clone_to_owned().unwrap()).unwrap();
    let mut cursor = other.tail();
    let got: Vec<u64> = std::iter::from_fn(|| take(&other, &mut cursor)).map(|r| r.0).collect();
    assert_eq!(got, [2, 3, 4]);
    assert!(ring.push(WHO, 9, b"and on"));
    assert_eq!(take(&other, &mut cursor), Some((9, b"and on".to_vec())));
}

#[test]
fn saved_numbers_are_never_torn() {
    let ring = ring(256);
    assert_eq!(ring.saved(), [0; SAVED_WORDS]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..=100_000_u64 {
                ring.save(&[n; SAVED_WORDS]);
            }
            stop.store(true, Ordering::Release);
        });
        // A successor reads when the other is dead; the last word is then whole.
        while !stop.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
    });
    assert_eq!(ring.saved(), [100_000; SAVED_WORDS]);
}

#[test]
fn stalls_are_counted_timed_and_the_longest_kept() {
    let ring = ring(256);
    ring.count_stall(5);
    ring.count_stall(9);
    ring.count_stall(2);
    assert_eq!(ring.stalls(), Stalls { count: 3, total_ns: 16, longest_ns: 9 });
}

proptest! {
    #[test]
    fn any_mix_of_pushes_and_takes_is_a_queue(steps in prop::collection::vec((any::<bool>(), 0usize..120), 0..200)) {
        let ring = ring(512);
        let (mut cursor, mut expected) = (0, std::collections::VecDeque::new());
        for (i, (push, len)) in steps.into_iter().enumerate() {
            if push {
                let bytes = vec![i as u8; len];
                if ring.push(WHO, i as u64, &bytes) {
                    expected.push_back((i as u64, bytes));
                }
            } else {
                prop_assert_eq!(take(&ring, &mut cursor), expected.pop_front());
            }
        }
    }
}
