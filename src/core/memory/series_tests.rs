use super::*;
use crate::core::memory::sample::State;
use proptest::prelude::*;

fn known(ns: u64, gtt: u64) -> Sample {
    Sample { ns, gtt_bytes: Some(gtt), ..Sample::default() }
}

fn series(samples: impl IntoIterator<Item = Sample>) -> Series {
    let mut series = Series::default();
    samples.into_iter().for_each(|s| series.push(s));
    series
}

#[test]
fn unknown_is_neither_peak_nor_median() {
    let mut series = Series::default();
    for (ns, gtt_bytes) in [(1, Some(5)), (2, None), (3, Some(9)), (4, Some(9)), (5, Some(1))] {
        series.push(Sample { ns, gtt_bytes, ..Sample::default() });
    }
    assert_eq!(series.peak_between(0, u64::MAX).map(|s| s.ns), Some(3));
    assert_eq!(series.peak_between(4, u64::MAX).map(|s| s.ns), Some(4));
    assert_eq!(series.median_between(0, u64::MAX), Some(5));
    assert_eq!(series.median_between(2, 2), None);
    assert_eq!(series.known_at(2).map(|s| s.ns), Some(1));
    assert_eq!(series.known_at(0), None);
}

#[test]
fn a_gap_lowers_neither_peak_nor_median_nor_the_last_good_sample() {
    let partial = |ns, gtt| Sample { state: State::Partial, ..known(ns, gtt) };
    let gappy = series([known(1, 100), partial(2, 30), known(3, 100), partial(4, 30), partial(5, 120)]);
    assert_eq!(gappy.median_between(0, 4), Some(100));
    assert_eq!(
        gappy.peak_between(0, 9).map(|s| s.ns),
        Some(5),
        "a lower bound that is higher is still a peak"
    );
    assert_eq!(gappy.whole().last_whole.map(|s| s.ns), Some(3));
    let mostly = series([known(1, 100), partial(2, 30), partial(3, 30)]);
    assert_eq!(mostly.median_between(0, 9), Some(30), "few whole ones say nothing of the others");
    let denied = series([known(1, 100), Sample { state: State::Denied, ..known(2, 30) }]);
    assert_eq!(denied.whole().last_whole.map(|s| s.ns), Some(2));
}

#[test]
fn equal_neighbours_are_one_and_count_as_many() {
    let flat = series((0..1_000).map(|n| known(n * 50, 7)).chain((1_000..1_010).map(|n| known(n * 50, 9))));
    assert_eq!(flat.entries.len(), 4);
    assert_eq!(flat.whole().samples, 1_010);
    assert_eq!(flat.median_between(0, u64::MAX), Some(7));
    assert_eq!(flat.peak_between(10_000, 20_000).and_then(|s| s.gtt_bytes), Some(7), "inside the stretch");
    assert_eq!(flat.median_between(10_001, 10_002), Some(7), "between two samples of it");
    assert_eq!(flat.known_at(30_000).and_then(|s| s.gtt_bytes), Some(7));
    assert_eq!(flat.count(0, u64::MAX, Sample::is_whole), 1_010);
}

#[test]
fn days_of_samples_stay_within_bounds_and_keep_every_peak() {
    let value = |n: u64| 1_000 + n.wrapping_mul(2_654_435_761) % 1_000;
    let count = 6 * MOST as u64;
    let peak = count / 3;
    let long = series((0..count).map(|n| known(n, if n == peak { 9_999 } else { value(n) })));
    assert!(long.entries.len() <= MOST);
    assert_eq!(long.whole().samples, count);
    assert_eq!(long.peak_between(0, u64::MAX).map(|s| (s.ns, s.gtt_bytes)), Some((peak, Some(9_999))));
    assert_eq!(long.whole().most_gtt.map(|s| s.ns), Some(peak));
    assert_eq!(long.whole().last_whole.map(|s| s.ns), Some(count - 1));
    let whole = long.count(0, u64::MAX, Sample::is_whole);
    assert!(whole.abs_diff(count) <= 1, "{whole} of {count}");
}

proptest! {
    #[test]
    fn merging_changes_no_answer_on_the_whole(values in prop::collection::vec(prop::option::of(0u64..4), 1..80)) {
        let all: Vec<Sample> = values.iter().zip(0..).map(|(gtt, ns)| Sample { ns, gtt_bytes: *gtt, ..Sample::default() }).collect();
        let merged = series(all.iter().copied());
        let mut sorted: Vec<u64> = values.iter().flatten().copied().collect();
        sorted.sort_unstable();
        let median = sorted.get(sorted.len().saturating_sub(1) / 2).copied();
        prop_assert_eq!(merged.median_between(0, u64::MAX), median);
        prop_assert_eq!(merged.peak_between(0, u64::MAX).and_then(|s| s.gtt_bytes), sorted.last().copied());
        prop_assert_eq!(merged.count(0, u64::MAX, |s| s.gtt_bytes.is_some()), sorted.len() as u64);
        let last = all.iter().rfind(|s| s.gtt_bytes.is_some());
        prop_assert_eq!(merged.known_at(u64::MAX), last);
        prop_assert!(merged.samples().all(|s| all.contains(s)));
    }
}
