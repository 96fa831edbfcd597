//! The split from logs and samples built by hand, the recorded runs among them.

use super::*;
use crate::core::lines::Line;
use crate::core::memory::sample::Sample;
use crate::core::run::{Changed, Tool};

const MIB: u64 = 1 << 20;
/// Times in the tests below are in ms.
const MS: u64 = 1_000_000;

fn book(lines: &[(u64, &str)]) -> Book {
    let mut book = Book::default();
    for (ms, text) in lines {
        for text in text.lines() {
            let line =
                Line { ns: ms * MS, bytes: text.as_bytes(), first: true, last: true, terminated: true };
            book.take(&line, |_, _| {});
        }
    }
    book.finish();
    book
}

fn series(samples: &[(u64, Option<u64>)]) -> Series {
    let mut series = Series::default();
    for (ms, kib) in samples {
        let gtt_bytes = kib.map(|kib| kib * 1024);
        let state = if kib.is_some() { State::Ok } else { State::NoClient };
        series.push(Sample { ns: ms * MS, gtt_bytes, state, ..Sample::default() });
    }
    series
}

/// The record of a run with `-s`.
fn asked() -> Run {
    Run {
        tool: Tool { name: "hrx-wrap".into(), ..Tool::default() },
        command: vec!["llama-bench".into(), "-m".into(), "m.gguf".into(), "-v".into()],
        split: true,
        changed: Changed { env: vec![format!("{}=1", packed::SWITCH)], args: Vec::new() },
        ..Run::default()
    }
}

const LOAD: &str = "llama_model_loader: loaded meta data with 20 key-value pairs\nprint_info: no_alloc = 0";
const CONTEXT: &str =
    "llama_context: constructing llama_context\nllama_context:  HRX0_HOST  output buffer size =     0.58 MiB";
const RESERVED: &str =
    "sched_reserve: graph nodes  = 1266\nsched_reserve: reserve took 24.31 ms, sched copies = 1";
const THREADS: &str = "set_n_threads: n_threads = 4, n_threads_batch = 4";
const PERF: &str = "llama_perf_context_print:        load time =     812.40 ms";

/// A run as the recorded ones were: load, context, warm-up with the trace lines, run, tear-down.
fn recorded(weights: &str, state: &str, work: &str, trace: &str) -> Vec<(u64, String)> {
    [(100, LOAD), (300, weights), (500, CONTEXT), (510, state), (520, work), (521, RESERVED)]
        .into_iter()
        .chain([(530, THREADS), (540, trace), (700, THREADS), (900, PERF)])
        .map(|(ms, text)| (ms, text.to_owned()))
        .collect()
}

fn split_of(log: &[(u64, String)], samples: &Series) -> Split {
    let lines: Vec<(u64, &str)> = log.iter().map(|(ms, text)| (*ms, text.as_str())).collect();
    Split::of(&book(&lines), Some(samples), &asked())
}

fn four_b() -> Split {
    let log = recorded(
        "load_tensors:   CPU_Mapped model buffer size =   304.28 MiB\nload_tensors:         HRX0 model buffer size =  2375.91 MiB",
        "llama_kv_cache:       HRX0 KV buffer size =    36.00 MiB",
        "sched_reserve:       HRX0 compute buffer size =    43.20 MiB",
        "HRX host weight cache: resident=304.3 MiB weights=1\nHRX host weight cache: resident=795.8 MiB weights=38\n\
         HRX host weight cache: evicted resident=512.0 MiB weights=16",
    );
    let samples = [
        (50, 2_048),
        (450, 2_600_000),
        (525, 2_700_000),
        (600, 4_019_200),
        (800, 3_900_000),
        (950, 1_000_000),
    ];
    split_of(&log, &series(&samples.map(|(ms, kib)| (ms, Some(kib)))))
}

fn twenty_seven_b() -> Split {
    let log = recorded(
        "load_tensors:         HRX0 model buffer size = 15718.50 MiB",
        "llama_kv_cache: HRX0 KV buffer size = 16.00 MiB\nllama_memory_recurrent: HRX0 RS buffer size =   149.60 MiB",
        "sched_reserve:       HRX0 compute buffer size =    72.10 MiB",
        "hrx: Host-Weights resident=2631.3 MiB entries=66",
    );
    let samples = [(50, 2_048), (525, 17_000_000), (600, 20_988_928), (800, 20_988_928)];
    split_of(&log, &series(&samples.map(|(ms, kib)| (ms, Some(kib)))))
}

/// Peak, model, packed, its weights, KV + RS, compute + output, rest in 0.1 MiB; duplicate in 0.1 %.
fn figures(split: &Split) -> [u64; 8] {
    let tenths = |bytes: u64| (bytes * 10 + MIB / 2) / MIB;
    let packed = split.packed().unwrap();
    [
        tenths(split.peak.process.unwrap()),
        tenths(split.device(|row| row.what == What::Model)),
        tenths(packed.bytes.unwrap()),
        packed.count.unwrap(),
        tenths(split.device(|row| matches!(row.what, What::Kv | What::Rs))),
        tenths(split.device(|row| matches!(row.what, What::Compute | What::Output))),
        tenths(split.peak.unattributed.unwrap().unsigned_abs()),
        (split.duplicate_share.unwrap() * 1000.0).round() as u64,
    ]
}

#[test]
fn the_recorded_4b_run_comes_out_exactly() {
    let split = four_b();
    assert_eq!(figures(&split), [39_250, 23_759, 7_958, 38, 360, 432, 6_741, 335]);
    assert!(split.findings.is_empty(), "{:?}", split.findings);
    let host: Vec<(&str, u64)> = split
        .rows
        .iter()
        .filter(|row| row.place == Place::Host)
        .map(|row| (row.buffer.as_deref().unwrap(), row.bytes.unwrap() * 100 / MIB))
        .collect();
    assert_eq!(host, [("CPU_Mapped", 30_427), ("HRX0_HOST", 57)], "shown apart, in no sum");
    assert_eq!(split.packed().unwrap().steady_bytes, Some(512 * MIB), "behind the eviction");
}

#[test]
fn the_recorded_27b_run_comes_out_exactly() {
    let split = twenty_seven_b();
    assert_eq!(figures(&split), [204_970, 157_185, 26_313, 66, 1_656, 721, 19_095, 167]);
    assert!(split.findings.is_empty(), "{:?}", split.findings);
}

#[test]
fn peak_steady_and_final_stand_beside_each_other() {
    let split = four_b();
    let kib = |bytes: Option<u64>| bytes.map(|b| b / 1024);
    assert_eq!(kib(split.peak.process), Some(4_019_200));
    assert_eq!(
        kib(split.steady.process),
        Some(3_900_000),
        "the lower of two middle samples from 530 to 900 ms"
    );
    assert_eq!(kib(split.last.process), Some(1_000_000));
    assert_eq!((split.peak.at_ns, split.last.at_ns), (Some(600 * MS), Some(950 * MS)));
    let model = &split.rows[0];
    assert_eq!(model.steady_bytes, model.bytes);
    assert_eq!((model.final_bytes, split.last.unattributed), (None, None), "the log does not tell what went");
    let mut log =
        recorded("load_tensors: HRX0 model buffer size = 70.00 MiB", "", "", "host weight resident=5 MiB");
    log.pop();
    let killed = split_of(&log, &series(&[(600, Some(80 * 1024)), (800, Some(79 * 1024))]));
    assert_eq!(killed.last.unattributed, Some(4 * MIB as i64), "killed before its tear-down");
}

#[test]
fn rows_are_those_held_at_the_peak() {
    let ctx = |kv: u32| {
        format!(
            "{CONTEXT}\nllama_kv_cache: HRX0 KV buffer size = {kv}.00 MiB\nsched_reserve: HRX0 compute buffer size = 1.00 MiB\n{RESERVED}"
        )
    };
    let end = "~llama_context: HRX0 compute buffer size is 1.0000 MiB, matches expectation of 1.0000 MiB\n\
               ~llama_context: HRX0_HOST compute buffer size is 1.0000 MiB, matches expectation of 1.0000 MiB";
    let log = [
        (100, LOAD.to_owned()),
        (200, "load_tensors: HRX0 model buffer size = 10.00 MiB".to_owned()),
        (300, ctx(50)),
        (400, end.to_owned()),
        (500, ctx(7)),
    ];
    let kv = |samples: &[(u64, Option<u64>)]| {
        split_of(&log, &series(samples)).device(|row| row.what == What::Kv) / MIB
    };
    assert_eq!(kv(&[(350, Some(100_000)), (600, Some(200_000))]), 7, "the second context's");
    assert_eq!(kv(&[(350, Some(300_000)), (600, Some(200_000))]), 50, "the first context's");
    assert_eq!(kv(&[(495, Some(300_000))]), 7, "the line comes a little later than its memory");
    let log: Vec<(u64, &str)> = log.iter().map(|(ms, text)| (*ms, text.as_str())).collect();
    let without = Split::of(&book(&log), None, &asked());
    assert_eq!(without.device(|row| row.what == What::Kv) / MIB, 50, "without samples the log's own peak");
    assert_eq!(without.peak.process, None);
}

#[test]
fn a_negative_rest_names_both_sources() {
    let log =
        recorded("load_tensors: HRX0 model buffer size = 900.00 MiB", "", "", "host weight resident=1 MiB");
    let split = split_of(&log, &series(&[(600, Some(500 * 1024))]));
    assert_eq!(split.peak.unattributed, Some(-401 * MIB as i64));
    let text = &split.findings[0].text;
    assert!(
        split.fails() && text.contains("llama.cpp's log") && text.contains("the kernel's fdinfo"),
        "{text}"
    );
    assert!(text.contains("901.0 MiB, 401.0 more than the peak of 500.0 MiB"), "{text}");
}

#[test]
fn too_much_that_is_not_attributed_is_a_warning() {
    let log =
        recorded("load_tensors: HRX0 model buffer size = 70.00 MiB", "", "", "host weight resident=9 MiB");
    let samples = series(&[(600, Some(100 * 1024))]);
    let split = split_of(&log, &samples);
    assert!(split.fails() && split.findings[0].text.contains("21.0 % of the peak"), "{:?}", split.findings);
    let lines: Vec<(u64, &str)> = log.iter().map(|(ms, text)| (*ms, text.as_str())).collect();
    let run = Run { max_unattributed_percent: Some(21.0), ..asked() };
    assert!(!Split::of(&book(&lines), Some(&samples), &run).fails());
}

#[test]
fn packed_copies_without_a_trace_line_are_unknown_and_never_0() {
    let log = recorded("load_tensors: HRX0 model buffer size = 70.00 MiB", "", "", "");
    let samples = series(&[(525, Some(75 * 1024)), (710, Some(95 * 1024)), (800, Some(90 * 1024))]);
    let split = split_of(&log, &samples);
    let packed = split.packed().unwrap();
    assert_eq!((packed.bytes, split.peak.unattributed, split.duplicate_share), (None, None, None));
    assert!(packed.why.as_ref().unwrap().contains("is set and no host-weight line came"), "{packed:?}");
    assert_eq!(split.bounds.first_decode, Some(20 * MIB as i64));
    assert_eq!(split.bounds.steady_rest, Some(20 * MIB as i64));
    assert_eq!(split.unattributed_why.as_deref(), Some("the packed copies are unknown"));
    assert!(split.fails(), "26 % may be unattributed");
    let split = split_of(&log, &series(&[(600, Some(80 * 1024))]));
    assert!(!split.fails(), "12.5 % at most");
}

#[test]
fn each_reason_for_unknown_packed_copies() {
    let why = |lines: &[(u64, &str)], run: &Run| {
        Split::of(&book(lines), None, run).packed().unwrap().why.clone().unwrap()
    };
    let hrx = (1, "load_tensors: HRX0 model buffer size = 70.00 MiB");
    let other = (1, "load_tensors: Vulkan0 model buffer size = 70.00 MiB");
    let env = |value: &str| Run { changed: Changed { env: vec![value.into()], args: Vec::new() }, ..asked() };
    assert!(why(&[(1, "text")], &asked()).contains("no model load"));
    assert!(why(&[other], &asked()).contains("HRX is not seen"));
    assert!(why(&[hrx], &env("X=1")).contains("was not set for the target"));
    assert!(why(&[hrx], &env("GGML_HRX_HOST_WEIGHT_TRACE=0")).contains("was not set for the target"));
    assert!(why(&[hrx], &asked()).contains("is set and no host-weight line"));
    assert!(why(&[hrx], &Run::default()).contains("may not have been set"));
    assert!(why(&[hrx, (2, "host weight resident=much")], &asked()).contains("no amount that can be read"));
}

#[test]
fn a_log_without_a_model_leaves_the_rest_unknown() {
    let split = Split::of(&book(&[(1, "hello")]), Some(&series(&[(5, Some(1_000))])), &asked());
    assert_eq!((split.peak.process, split.peak.unattributed), (Some(1_024_000), None));
    assert!(!split.is_empty() && !split.loaded);
    assert!(split.findings.iter().any(|f| f.text.contains("the log tells of no model's buffers")));
}

#[test]
fn no_client_is_a_reason_and_no_negative_row() {
    let lines = [(1, LOAD), (2, "load_tensors: CPU_Mapped model buffer size = 70.00 MiB")];
    let split = Split::of(&book(&lines), Some(&series(&[(1, None), (2, None)])), &asked());
    assert_eq!(split.process_why.as_deref(), Some("no amdgpu client was seen"));
    assert_eq!((split.peak.unattributed, split.unattributed_share), (None, None));
    let none = Split::of(&book(&lines), None, &asked());
    assert_eq!(none.process_why.as_deref(), Some("no samples of GPU memory are at hand"));
}

#[test]
fn each_phase_has_its_peak_and_median() {
    let split = four_b();
    let rows: Vec<(&str, u64, Option<u64>, Option<u64>)> = split
        .phases
        .iter()
        .map(|r| (r.phase.name(), r.samples, r.peak.map(|b| b / 1024), r.median.map(|b| b / 1024)))
        .collect();
    assert_eq!(
        rows,
        [
            ("load", 1, Some(2_600_000), Some(2_600_000)),
            ("context", 1, Some(2_700_000), Some(2_700_000)),
            ("warm-up", 1, Some(4_019_200), Some(4_019_200)),
            ("run", 1, Some(3_900_000), Some(3_900_000)),
            ("tear-down", 1, Some(1_000_000), Some(1_000_000)),
        ]
    );
}

#[test]
fn a_disagreement_with_the_second_source_names_both() {
    let lines = [
        (1, LOAD),
        (2, "load_tensors: HRX0 model buffer size = 70.00 MiB"),
        (3, CONTEXT),
        (4, RESERVED),
        (5, "common_memory_breakdown_print: | memory breakdown [MiB] | total"),
        (6, "common_memory_breakdown_print: |   - HRX0 (x) | 100 = 10 + ( 90 = 80 + 0 + 0) + 0 |"),
    ];
    let split = Split::of(&book(&lines), None, &asked());
    let text = split.findings.iter().find(|f| f.text.contains("own table")).map(|f| &f.text).unwrap();
    assert!(
        text.contains("80 MiB of model on HRX0") && text.contains("buffer lines have 70.0 MiB"),
        "{text}"
    );
}

#[test]
fn a_tear_down_in_one_read_has_the_steady_state_before_it() {
    let mut log = recorded(
        "load_tensors: HRX0 model buffer size = 70.00 MiB",
        "llama_kv_cache: HRX0 KV buffer size = 8.00 MiB",
        "sched_reserve: HRX0 compute buffer size = 1.00 MiB",
        "host weight resident=5 MiB",
    );
    let end = "~llama_context: HRX0 compute buffer size is 1.0000 MiB, matches expectation of 1.0000 MiB";
    log.push((900, end.to_owned()));
    let split = split_of(&log, &series(&[(600, Some(90 * 1024)), (800, Some(90 * 1024))]));
    let kv = split.rows.iter().find(|row| row.what == What::Kv).unwrap();
    assert_eq!(kv.steady_bytes, Some(8 * MIB));
}

#[test]
fn without_samples_the_record_has_what_they_add_up_to() {
    use crate::core::memory::seen::Seen;
    let log =
        recorded("load_tensors: HRX0 model buffer size = 70.00 MiB", "", "", "host weight resident=5 MiB");
    let lines: Vec<(u64, &str)> = log.iter().map(|(ms, text)| (*ms, text.as_str())).collect();
    let (book, samples) = (book(&lines), series(&[(600, Some(90 * 1024)), (800, Some(85 * 1024))]));
    let sums = Sums::by_phases(&samples, Some(&book.phases));
    let seen = Seen { sums, ..Seen::default() };
    let end = crate::core::run::End { memory: Some(seen), ..Default::default() };
    let noted = Split::of(&book, None, &Run { end: Some(end), ..asked() });
    let whole = Split::of(&book, Some(&samples), &asked());
    assert_eq!((noted.peak, noted.steady, noted.last), (whole.peak, whole.steady, whole.last));
    assert_eq!(noted.peak.unattributed, Some(15 * MIB as i64));
}

#[test]
fn the_steady_rows_are_of_the_moment_of_the_steady_amount() {
    let mut log = recorded(
        "load_tensors: HRX0 model buffer size = 70.00 MiB",
        "llama_kv_cache: HRX0 KV buffer size = 8.00 MiB",
        "sched_reserve: HRX0 compute buffer size = 1.00 MiB",
        "HRX host weight cache: resident=20.0 MiB weights=2",
    );
    // All of it is evicted when the steady state is all but over.
    log.insert(log.len() - 1, (899, "HRX host weight cache: evicted resident=0 MiB weights=0".to_owned()));
    let amounts = [(535, 85), (600, 105), (700, 105), (800, 105), (899, 85)];
    let split = split_of(&log, &series(&amounts.map(|(ms, mib)| (ms, Some(mib * 1024)))));
    let packed = |split: &Split| split.packed().unwrap().steady_bytes;
    assert_eq!(packed(&split), Some(20 * MIB), "at the median's sample, not at the end");
    assert_eq!(
        (split.steady.process, split.steady.rows, split.steady.unattributed),
        (Some(105 * MIB), 99 * MIB, Some(6 * MIB as i64))
    );
    let blind = split_of(&log, &series(&[]));
    assert_eq!(packed(&blind), Some(20 * MIB), "without samples what it was for longest");
    // Without a tear-down the steady state ends with the last line, and not the last amount lasts for ever.
    log.pop();
    log.push((905, "some text".to_owned()));
    assert_eq!(packed(&split_of(&log, &series(&[]))), Some(20 * MIB));
    assert_eq!(blind.rows[0].steady_bytes, Some(70 * MIB));
}
