use super::*;
use crate::core::memory::sample::{Sample, State};
use crate::core::memory::seen::Sampling;
use crate::core::memory::series::Series;
use crate::core::names::Catalogue;
use crate::core::run::{End, Run};
use crate::report::Source;
use crate::report::view::View;

const MIB: u64 = 1 << 20;
const MS: u64 = 1_000_000;

/// The section for samples (ms, MiB of GTT, state) and what was seen besides.
fn section(rows: &[(u64, Option<u64>, State)], seen: Option<Seen>, driver: &str) -> String {
    let mut series = Series::default();
    for (ms, gtt, state) in rows {
        let gtt_bytes = gtt.map(|mib| mib * MIB);
        series.push(Sample {
            ns: ms * MS,
            gtt_bytes,
            rss_bytes: Some(9 * MIB),
            state: *state,
            ..Sample::default()
        });
    }
    let sampling = Sampling { interval_ns: 50 * MS, driver: driver.to_owned(), ..Sampling::default() };
    let end = End { memory: seen, ..End::default() };
    let run = Run { sampling: Some(sampling), end: Some(end), ..Run::default() };
    let (source, names) = (Source::default(), Catalogue::default());
    let samples = Some(&series);
    memory(&Subject {
        run: &run,
        book: None,
        memory: samples,
        source: &source,
        names: &names,
        naming: &[],
        view: View::default(),
    })
}

fn client(id: u64, mib: u64) -> Client {
    Client {
        driver: "amdgpu".into(),
        pdev: Some("0000:c5:00.0".into()),
        client_id: Some(id.to_string()),
        pids: vec![12, 13],
        gtt_peak_bytes: Some(mib * MIB),
        gtt_peak_at_ns: Some(100 * MS),
        gtt_shared_bytes: Some(MIB),
        ..Client::default()
    }
}

#[test]
fn the_three_columns_stand_side_by_side() {
    let rows = [
        (50, Some(10), State::Ok),
        (100, Some(700), State::Ok),
        (150, Some(300), State::Ok),
        (200, Some(300), State::Ok),
    ];
    let seen = Seen { key: Some("resident".into()), clients: vec![client(31, 700)], ..Seen::default() };
    assert_eq!(
        section(&rows, Some(seen), "amdgpu"),
        "\nMEMORY: 4 samples, one every 50.000 ms, longest gap 50.000 ms\n  \
           MiB                  peak      steady       final\n  \
           GTT                 700.0       300.0       300.0  resident (drm-resident-*)\n  \
           RSS                   9.0         9.0         9.0  resident memory of the processes\n  \
           at             100.000 ms  150.000 ms  200.000 ms\n  \
           amdgpu 0000:c5:00.0 client 31: GTT peak 700.0 MiB at 100.000 ms, held by pid 12, 13\n  \
           steady is the median over all samples: when load ended and tear-down began is not known\n  \
           the peak is the highest sample: what lasts less than 50.000 ms can be missed\n  \
           at most 1.0 MiB of GTT are counted more than once: buffers that clients share\n"
    );
}

#[test]
fn nothing_is_told_apart_from_silence_and_from_what_may_not_be_read() {
    let head = |state, driver: &str| {
        let text = section(&[(50, None, state)], Some(Seen::default()), driver);
        text.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(
        head(State::NoClient, "amdgpu"),
        "MEMORY: no amdgpu client was seen (1 sample, one every 50.000 ms)"
    );
    assert_eq!(
        head(State::NoClient, "any"),
        "MEMORY: no DRM client was seen (1 sample, one every 50.000 ms)"
    );
    assert!(
        head(State::Denied, "amdgpu").starts_with("MEMORY: no amdgpu client was seen in what may be read (")
    );
    let silent = "MEMORY: amdgpu clients were seen, and the kernel prints no memory of theirs (";
    assert!(head(State::Unsupported, "amdgpu").starts_with(silent));
    assert!(
        !section(&[(50, None, State::NoClient)], None, "amdgpu").contains("GTT  "),
        "unknown is no figure"
    );
}

#[test]
fn a_figure_that_misses_a_part_says_at_least() {
    let rows = [(50, Some(10), State::Denied), (100, Some(20), State::Denied)];
    let seen = Seen { denied: vec![77, 78], key: Some("total".into()), ..Seen::default() };
    let text = section(&rows, Some(seen), "amdgpu");
    let row = text.lines().find(|l| l.starts_with("  GTT")).unwrap();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>()[..7],
        ["GTT", "≥", "20.0", "≥", "10.0", "≥", "20.0"]
    );
    assert!(text.contains("  2 of 2 samples: a process may not be read; what it has is missing\n"), "{text}");
    assert!(
        text.contains("  WARNING: not permitted to read pid 77, 78: the figures are incomplete"),
        "{text}"
    );
    assert!(text.contains("allocated (drm-total-*): what is resident is not printed"), "{text}");
}

#[test]
fn everything_that_was_not_taken_is_counted() {
    let seen = Seen {
        underflows: 1,
        unknown_units: 2,
        failed_reads: 3,
        lost_rows: 1,
        processes_left_out: 4,
        other_drivers: vec!["xe".into(), "i915".into()],
        clients: (0..20).map(|n| client(n, 100 - n)).collect(),
        clients_left_out: 5,
        pss_peak_bytes: Some(3 * MIB),
        pss_final_bytes: Some(2 * MIB),
        ..Seen::default()
    };
    let text = section(&[(50, Some(10), State::Partial)], Some(seen), "amdgpu");
    for line in [
        "1 value was below 0 or above what the device has, and not taken",
        "2 values had an unknown unit, and were not taken",
        "3 reads failed",
        "1 sample is missing in the table: the disk did not take it",
        "4 processes were not looked into: too many at once",
        "clients of xe, i915 are not counted: --driver any counts them",
        "17 more clients with less",
        "1 of 1 sample: a client did not say what it has for the moment; they lower no figure",
        "PSS, once a second at most: peak 3.0 MiB, final 2.0 MiB",
    ] {
        assert!(text.contains(&format!("  {line}\n")), "no {line:?} in:\n{text}");
    }
    let first = text.lines().find(|l| l.contains("GTT peak")).unwrap();
    assert!(first.contains("client 0: GTT peak 100.0 MiB"), "the largest first: {first}");
}

#[test]
fn nothing_from_a_record_reaches_a_terminal_raw() {
    let evil = || "\u{1b}[31m".to_owned();
    let seen = Seen {
        key: Some(evil()),
        other_drivers: vec![evil()],
        clients: vec![Client {
            driver: evil(),
            pdev: Some(evil()),
            client_id: Some(evil()),
            ..Client::default()
        }],
        ..Seen::default()
    };
    for rows in [vec![(50, Some(10), State::Ok)], vec![(50, None, State::NoClient)]] {
        let text = section(&rows, Some(seen.clone()), &evil());
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
