//! The check of the split: a recorded run whose answers are known.

use std::path::Path;

use anyhow::ensure;

use crate::core::amount::{mib, signed_mib};
use crate::core::book::Book;
use crate::core::lines::Line;
use crate::core::memory::sample::Sample;
use crate::core::memory::series::Series;
use crate::core::run::Run;
use crate::core::split::{Split, What};

/// The log of a 4B model, shortened.
const LOG: [&str; 9] = [
    "llama_model_loader: loaded meta data with 20 key-value pairs",
    "load_tensors:   CPU_Mapped model buffer size =   304.28 MiB",
    "load_tensors:         HRX0 model buffer size =  2375.91 MiB",
    "llama_context: constructing llama_context",
    "llama_kv_cache:       HRX0 KV buffer size =    36.00 MiB",
    "sched_reserve:       HRX0 compute buffer size =    43.20 MiB",
    "sched_reserve: reserve took 24.31 ms, sched copies = 1",
    "HRX host weight cache: resident=795.8 MiB weights=38",
    "HRX host weight cache: evicted resident=512.0 MiB weights=16",
];
/// Its largest sample.
const PEAK: u64 = 4_019_200 * 1024;

/// Every figure of it comes out.
pub fn recorded(_: &Path) -> anyhow::Result<()> {
    let (mut book, mut series) = (Book::default(), Series::default());
    for (ns, text) in (1..).zip(LOG) {
        let line = Line { ns, bytes: text.as_bytes(), first: true, last: true, terminated: true };
        book.take(&line, |_, _| {});
    }
    book.finish();
    series.push(Sample { ns: 9, gtt_bytes: Some(PEAK), ..Sample::default() });
    let split = Split::of(&book, Some(&series), &Run::default());
    let model = mib(split.device(|row| row.what == What::Model));
    ensure!(model == "2375.9", "the model's buffer is {model} MiB");
    let packed = split.packed().and_then(|row| row.bytes.zip(row.count));
    ensure!(packed == Some((834_456_781, 38)), "packed copies are {packed:?}");
    let rest = split.peak.unattributed.map(signed_mib);
    ensure!(rest.as_deref() == Some("674.1"), "{rest:?} MiB are not attributed");
    Ok(())
}
