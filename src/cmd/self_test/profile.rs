//! The checks of the profile: a trace whose answers are known.

use std::path::Path;

use anyhow::ensure;

use crate::core::book::Book;
use crate::core::kernel_id::kernel_id;
use crate::core::lines::{Assembler, Splitter};
use crate::core::names::Catalogue;
use crate::core::profile::{Profile, State};
use crate::report::kernels::rows;
use crate::report::profile_text;
use crate::report::view::{View, percent};

/// Pieces as a target writes them, each at its time.
#[derive(Default)]
struct Trace {
    pieces: Vec<(u64, String)>,
    now: u64,
}

impl Trace {
    /// One trace line in its three pieces; `between` lands behind its head.
    fn line(&mut self, after: u64, head: &str, detail: &str, between: &str) {
        self.now += after;
        let pieces =
            [format!("hrx debug serial: {head}"), between.to_owned(), format!(" {detail}"), "\n".to_owned()];
        self.pieces.extend(pieces.into_iter().map(|p| (self.now, p)));
    }

    fn dispatch(&mut self, index: u64, kernel: u64, device: u64, between: &str) {
        let d = detail(index, kernel);
        self.line(10, "sync-begin phase=command-pre-dispatch", &d, "");
        self.line(7, "sync-end phase=command-pre-dispatch", &d, "");
        self.line(1, "begin phase=command-dispatch", &d, between);
        self.line(20, "end phase=command-dispatch", &d, "");
        self.line(0, "sync-begin phase=command-post-dispatch", &d, between);
        self.line(device, "sync-end phase=command-post-dispatch", &d, "");
    }

    fn book(&self) -> Book {
        let (mut splitter, mut assembler, mut book) =
            (Splitter::default(), Assembler::default(), Book::default());
        for (ns, piece) in &self.pieces {
            splitter.feed(*ns, piece.as_bytes(), |f| {
                assembler.feed(&f, |line| book.take(&line, |_, _| {}));
            });
        }
        assembler.finish(|line| book.take(&line, |_, _| {}));
        book.finish();
        book
    }
}

fn detail(index: u64, kernel: u64) -> String {
    format!(
        "list=main index={index} list_commands=2 ordinal={index} kind=Kernel kernel_id={kernel} bindings=3"
    )
}

/// The published vectors of the kernels' ids, and that the built-in catalogue has them by name.
pub fn ids(_: &Path) -> anyhow::Result<()> {
    let vectors = [
        ("loom_libs", "ggml_mul_mat_f32_f32_wmma", 5_916_100_870_017_593_149),
        ("qwen3_moe", "qwen3_moe_routed_gate_up_swiglu_q4k_q8_1_x4_next_q8", 14_896_872_061_627_543_929),
        ("loom_libs", "ggml_flash_attention_decode_split_f32_f16_wmma_next_q8", 11_938_313_152_504_284_411),
    ];
    let names = Catalogue::built_in();
    for (family, name, id) in vectors {
        ensure!(kernel_id(family, name) == id, "{family}:{name} has the id {}", kernel_id(family, name));
        ensure!(
            names.get(id).is_some_and(|n| n.name == name),
            "the built-in catalogue does not know {family}:{name}"
        );
    }
    Ok(())
}

/// Sums, shares and the floor of a trace whose answers are known.
pub fn sums(_: &Path) -> anyhow::Result<()> {
    let mut trace = Trace::default();
    for _ in 0..3 {
        trace.dispatch(0, 11, 300, "");
        trace.dispatch(1, 12, 700, "");
    }
    let Book { profile, .. } = trace.book();
    let programs = profile.programs();
    ensure!(programs.len() == 1, "{} programs", programs.len());
    let program = programs[0];
    ensure!((program.begun, program.total()) == (3, 3_000), "{} runs, {} ns", program.begun, program.total());
    ensure!(profile.floor_ns() == Some(7), "a floor of {:?} ns", profile.floor_ns());
    let rows = rows(program, &profile, &Catalogue::default(), View::default());
    let shares: Vec<String> = rows.iter().map(|r| percent(r.total, program.total())).collect();
    ensure!(shares == ["70.0", "30.0"], "shares of {shares:?} %");
    Ok(())
}

/// A dispatch that is cut off is open, with its kernel and how far it came, and in no total.
pub fn open(_: &Path) -> anyhow::Result<()> {
    let mut trace = Trace::default();
    trace.dispatch(0, 11, 300, "");
    trace.line(5, "begin phase=command-dispatch", &detail(1, 12), "");
    trace.line(5, "end phase=command-dispatch", &detail(1, 12), "");
    let Book { profile, .. } = trace.book();
    let open = profile.open();
    ensure!(open.len() == 1, "{} dispatches are open", open.len());
    ensure!((open[0].kernel_id, open[0].state) == (Some(12), State::OnDevice), "open is {:?}", open[0]);
    ensure!(profile.programs()[0].total() == 300, "the open dispatch is in a total");
    Ok(())
}

/// Heads and details are joined across another writer's text.
pub fn rejoin(_: &Path) -> anyhow::Result<()> {
    let mut trace = Trace::default();
    trace.dispatch(0, 11, 300, "llama_context: text of a logger\n");
    trace.dispatch(1, 12, 700, "0.00.1 I ");
    let Book { profile, tally, .. } = trace.book();
    ensure!(tally.rejoined == 4, "{} lines were joined", tally.rejoined);
    ensure!(tally.broken == 0, "{} lines are broken", tally.broken);
    ensure!(profile.coverage.completed == 2, "{} dispatches were completed", profile.coverage.completed);
    Ok(())
}

/// Nothing gives no table, and each kind of nothing its own reason.
pub fn empty(_: &Path) -> anyhow::Result<()> {
    let says = |trace: &Trace| {
        let book = trace.book();
        profile_text::profile(&book.profile, &book.tally, &Catalogue::default(), View::default(), 0)
    };
    let (mut text, mut waits) = (Trace::default(), Trace::default());
    text.pieces.push((1, "llama\n".to_owned()));
    waits.pieces.push((1, "hrx debug serial: sync-begin phase=command-pre-dispatch\n".to_owned()));
    waits.pieces.push((2, "hrx debug serial: sync-end phase=command-pre-dispatch\n".to_owned()));
    for (trace, reason) in [
        (&Trace::default(), "printed no line"),
        (&text, "none of the serial trace"),
        (&waits, "not one dispatch"),
    ] {
        let said = says(trace);
        ensure!(said.starts_with("NO DISPATCH WAS TRACED") && said.contains(reason), "said {said:?}");
    }
    ensure!(Profile::default().floor_ns().is_none(), "a floor of nothing");
    Ok(())
}
