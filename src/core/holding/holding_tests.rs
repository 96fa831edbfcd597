//! The rules of what is held, each by the lines that need it.

use proptest::prelude::*;

use super::*;
use crate::core::book::Book;

fn book(lines: &[&str]) -> Book {
    let mut book = Book::default();
    for (n, text) in lines.iter().flat_map(|text| text.lines()).enumerate() {
        let line = Line {
            ns: 10 * (n as u64 + 1),
            bytes: text.as_bytes(),
            first: true,
            last: true,
            terminated: true,
        };
        book.take(&line, |_, _| {});
    }
    book.finish();
    book
}

/// MiB on devices: at the peak and at the end.
fn mib(lines: &[&str]) -> (u64, u64) {
    let book = book(lines);
    let shown = |held: &Held| (held.device() + (1 << 19)) >> 20;
    let holding = &book.holding;
    (holding.peak().map_or(0, |(_, held)| shown(held)), holding.at(u64::MAX).map_or(0, shown))
}

fn model(name: &str, mib: u32) -> String {
    format!(
        "llama_model_loader: loaded meta data with 24\nprint_info: no_alloc              = 0\n\
         load_tensors: {name} model buffer size = {mib}.00 MiB\n"
    )
}

fn context(kv: u32, compute: u32, nodes: u32) -> String {
    format!(
        "llama_context: constructing llama_context\nllama_kv_cache: HRX0 KV buffer size = {kv}.00 MiB\n{}",
        reserve(compute, nodes)
    )
}

fn reserve(compute: u32, nodes: u32) -> String {
    format!(
        "sched_reserve: HRX0 compute buffer size = {compute}.00 MiB\nsched_reserve: graph nodes  = {nodes}\n\
         sched_reserve: reserve took 2.03 ms, sched copies = 1\n"
    )
}

fn end(compute: u32) -> String {
    format!(
        "~llama_context: HRX0 compute buffer size is {compute}.0000 MiB, matches expectation of {compute}.0000 MiB\n"
    )
}

const PERF: &str = "llama_perf_context_print:        load time =     492.32 ms";

#[test]
fn contexts_after_one_another_do_not_add() {
    let all = [model("HRX0", 100), context(8, 4, 1), end(4), context(8, 16, 1), end(16), context(8, 2, 1)];
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(mib(&all), (124, 110));
    let old = [model("HRX0", 100), context(8, 4, 1), PERF.into(), context(8, 2, 1), PERF.into()];
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    assert_eq!(mib(&old), (112, 110), "without a word of their end");
}

#[test]
fn models_after_one_another_do_not_add_and_a_drafts_do() {
    let (first, second, ctx) = (model("HRX0", 100), model("HRX0", 30), context(8, 4, 1));
    assert_eq!(mib(&[&first, &ctx, &end(4), &second, &ctx]), (112, 42), "llama-bench frees the first");
    assert_eq!(mib(&[&first, &ctx, &second, &context(1, 2, 9)]), (145, 145), "a draft model lives beside it");
}

#[test]
fn the_draft_that_nobody_wants_is_gone() {
    let dropped = "spec common_specu: no implementations specified for speculative decoding";
    let (first, second, ctx) = (model("HRX0", 100), model("HRX0", 30), context(8, 4, 1));
    assert_eq!(mib(&[&first, &ctx, &second, &context(1, 2, 9), dropped]), (145, 112));
    assert_eq!(mib(&[&first, &ctx, dropped]), (112, 112), "without a draft it says so too");
    assert_eq!(
        mib(&[&first, &ctx, &second, &context(1, 2, 9), &end(2), dropped]),
        (145, 112),
        "with its end"
    );
}

#[test]
fn a_trial_holds_nothing() {
    let trial = model("HRX0", 0).replace("= 0\n", "= 1\n");
    let (all, ctx) = (model("HRX0", 100), context(8, 4, 1));
    let fit_end = "common_fit_params: fitting params to free memory took 0.02 seconds";
    assert_eq!(
        mib(&[&trial, &context(0, 500, 1), &trial, &context(0, 600, 1), fit_end, &all, &ctx]),
        (112, 112)
    );
    assert_eq!(mib(&[&trial, &context(0, 500, 1), &all, &ctx]), (112, 112), "without a word of its end");
    let book = book(&[&trial, &context(9, 500, 1), &all]);
    assert_eq!((book.holding.trials, book.holding.buffers, book.holding.loads), (3, 1, 1));
}

#[test]
fn a_work_space_that_is_reserved_again_replaces_the_one_before() {
    let all = model("HRX0", 100);
    assert_eq!(mib(&[&all, &context(8, 40, 1), &reserve(10, 2), &reserve(20, 3)]), (148, 128));
}

#[test]
fn of_two_contexts_the_one_with_the_nodes_or_the_names_reserves_again() {
    let two = [model("HRX0", 100), context(8, 40, 111), model("HRX0", 10), context(1, 5, 22)].concat();
    assert_eq!(mib(&[&two, &reserve(50, 111)]), (174, 174), "the target's");
    assert_eq!(mib(&[&two, &reserve(6, 22)]), (165, 165), "the draft's");
    assert_eq!(mib(&[&two, &reserve(3, 99)]), (164, 164), "nobody's: the larger stays");
    let named = "sched_reserve: HRX1 compute buffer size = 7.00 MiB\nsched_reserve: graph nodes  = 5\n";
    let other = context(1, 5, 22).replace("HRX0 compute", "HRX1 compute");
    let two = [model("HRX0", 100), context(8, 40, 111), model("HRX0", 10), other].concat();
    assert_eq!(mib(&[&two, named]), (166, 166), "by its names");
}

#[test]
fn an_end_is_an_echo_and_puts_the_size_right() {
    let ctx = context(8, 4, 1);
    let is = "~llama_context: HRX0 compute buffer size is   4.0020 MiB, matches expectation of   4.0020 MiB";
    let book = book(&[&model("HRX0", 100), &ctx, is]);
    let exact = (112 << 20) + 2_097;
    assert_eq!(book.holding.peak().map(|(_, held)| held.device()), Some(exact));
    assert_eq!(book.holding.at(u64::MAX).map(Held::device), Some(100 << 20));
    let late = book.holding.at_sample(85, 0).map(Held::device);
    assert_eq!(late, Some(exact), "what was held then is put right too");
}

#[test]
fn work_space_that_grew_unseen_is_in_the_peak() {
    let grew = "~llama_context: HRX0 compute buffer size of  30.0000 MiB, does not match expectation of   4.0000 MiB";
    let book = book(&[&model("HRX0", 100), &context(8, 4, 1), grew]);
    assert_eq!(book.holding.peak().map(|(_, held)| held.device() >> 20), Some(138));
    assert_eq!(book.holding.grown, [("HRX0".to_owned(), 4 << 20, 30 << 20)]);
}

#[test]
fn the_end_of_a_context_that_is_not_known_changes_nothing() {
    assert_eq!(mib(&[&model("HRX0", 100), &context(8, 4, 1), &end(77)]), (112, 112));
}

#[test]
fn buffers_of_one_name_add_in_one_load_and_in_one_context() {
    let split = "load_tensors: HRX0 model buffer size = 5.00 MiB\nload_tensors: HRX0_Split model buffer size = 7.00 MiB";
    let caches = "llama_kv_cache: HRX0 KV buffer size = 3.00 MiB\nllama_kv_cache: HRX0 KV buffer size = 2.00 MiB\n\
                  llama_memory_recurrent: HRX0 RS buffer size = 1.00 MiB\n\
                  llama_dsv4_comp_state: HRX0 DSV4 csa state buffer size = 4.00 MiB";
    let (model, ctx) = (model("HRX0", 100), context(8, 4, 1));
    assert_eq!(mib(&[&model, split, &ctx, caches]).0, 134);
}

#[test]
fn a_sleeping_server_holds_nothing_and_a_second_load_does_not_add() {
    let sleep = "srv  handle_sleep: server is entering sleeping state";
    let wake = "srv  handle_sleep: server is exiting sleeping state";
    let (model, ctx) = (model("HRX0", 100), context(8, 4, 1));
    assert_eq!(mib(&[&model, &ctx, sleep]), (112, 0));
    assert_eq!(mib(&[&model, &ctx, sleep, wake, &model, &ctx]), (112, 112));
}

#[test]
fn one_program_after_another_does_not_add() {
    let (first, second, ctx) = (model("HRX0", 100), model("HRX0", 30), context(8, 4, 1));
    let closing = "srv    operator(): operator(): cleaning up before exit...";
    assert_eq!(mib(&[&first, &ctx, closing, &second, &ctx]), (112, 42), "two servers");
    assert_eq!(mib(&[&first, &ctx, PERF, &second, &ctx]), (112, 42), "two other tools");
}

#[test]
fn a_routers_children_are_kept_apart() {
    let child = |port: u32, text: &str| -> String {
        text.lines().map(|line| format!("\x1b[34m[{port}] 0.00.029.961 I {line}\n")).collect()
    };
    let one = [model("HRX0", 100), context(8, 4, 1)].concat();
    let (a, b) = (child(49_813, &one), child(49_814, &one));
    let second = child(49_813, &[end(4), model("HRX0", 20), context(8, 4, 1)].concat());
    assert_eq!(mib(&[&a, &b]), (224, 224));
    assert_eq!(mib(&[&a, &b, &second]), (224, 144), "the first child loads another model");
    let gone = child(49_814, "srv    operator(): operator(): cleaning up before exit...");
    assert_eq!(mib(&[&a, &b, &gone]), (224, 112));
}

#[test]
fn a_projector_and_an_adapter_add_to_the_model() {
    let clip = "clip_ctx: CLIP using HRX0 backend\nload_hparams: model size:         12.00 MiB\n\
                reserve_compute_meta: HRX0 compute buffer size = 3.00 MiB\n\
                reserve_compute_meta: HRX0 compute buffer size = 5.00 MiB";
    let lora = "llama_adapter_lora_init_impl: HRX0 LoRA buffer size = 2.00 MiB";
    assert_eq!(mib(&[&model("HRX0", 100), lora, clip]), (119, 119));
}

#[test]
fn the_files_that_are_held_are_known_by_their_size() {
    let sized = |name: &str, mib: u32| {
        let size =
            format!("print_info: no_alloc              = 0\nprint_info: file size   = {mib}.00 MiB (8 BPW)");
        model(name, mib).replace("print_info: no_alloc              = 0", &size)
    };
    let (first, second, ctx) = (sized("HRX0", 100), sized("HRX0", 30), context(8, 4, 1));
    let files = |lines: &[&str]| book(lines).holding.files.map(|bytes| bytes >> 20);
    assert_eq!(files(&[&first, &ctx]), Some(100));
    assert_eq!(files(&[&first, &ctx, &second, &ctx]), Some(130));
    assert_eq!(files(&[&first, &ctx, &end(4), &second, &ctx]), Some(100), "of the two the one at the peak");
    assert_eq!(files(&[&first, &ctx, &model("HRX0", 5), &ctx]), None, "one of two is not known");
}

#[test]
fn devices_and_hosts_are_told_apart_by_the_buffer_types_name() {
    use crate::core::parse::llama::Place;
    for name in
        ["HRX0", "HRX0_Split", "RPC0[127.0.0.1:50061]", "Vulkan0", "ROCm1", "Meta()", "CUDA14", "Ghost"]
    {
        assert_eq!(Place::of(name.as_bytes()), Place::Device, "{name}");
    }
    for name in ["CPU", "CPU_Mapped", "CPU_REPACK", "HRX0_HOST", "CUDA_Host", "Vulkan_Host", "Host", "AMX"] {
        assert_eq!(Place::of(name.as_bytes()), Place::Host, "{name}");
    }
}

#[test]
fn a_table_counts_behind_a_real_context_alone() {
    let table = "common_memory_breakdown_print: | memory breakdown [MiB] | total free self\n\
                 common_memory_breakdown_print: |   - HRX0 (AMD (x) | y) | 24105 = 24105 + (  14 =     3 +       4 +       7) +         -14 |\n\
                 common_memory_breakdown_print: |   - Host                   |                     4 =     0 +       0 +       4                |";
    assert!(book(&[table]).holding.table.is_none(), "a projection");
    let (model, ctx) = (model("HRX0", 100), context(8, 4, 1));
    let found = book(&[table, &model, &ctx, table]).holding.table.unwrap();
    let names: Vec<&str> = found.rows.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["HRX0", "Host"]);
    assert_eq!(found.rows[0].1, Cells { model: 3, context: 4, compute: 7 });
    let record = r#"{"type":"fit_memory_breakdown","data":{"unit":"MiB","rows":[{"kind":"host","name":"Host","self":15,"model":3,"context":4,"compute":7}]}}"#;
    assert_eq!(book(&[&model, &ctx, record]).holding.table.unwrap().rows.len(), 1);
}

#[test]
fn a_log_that_begins_in_the_middle_is_read() {
    let kv = "llama_kv_cache: HRX0 KV buffer size = 3.00 MiB";
    assert_eq!(mib(&["load_tensors: HRX0 model buffer size = 5.00 MiB", kv, &reserve(2, 1)]), (10, 10));
}

#[test]
fn memory_is_bounded() {
    let mut holding = Holding::default();
    for n in 0..3_000_u32 {
        let name = format!("HRX{n}");
        let word = Word::Buffer { kind: Kind::Kv, name: name.as_bytes(), bytes: 1 };
        holding.event(&Event::Llama(Said { port: u16::try_from(n % 1_000).ok(), word }));
        holding.event(&Event::Llama(Said { port: None, word: Word::Context }));
        holding.event(&Event::Llama(Said { port: None, word: Word::Loading }));
    }
    assert!(holding.overflow && holding.processes.len() <= MOST_PROCESSES);
    assert!(holding.processes.iter().all(|(_, p)| p.contexts.len() <= 64 && p.models.len() <= 64));
    assert!(holding.at(u64::MAX).is_some_and(|held| held.shares.len() <= 64));
}

proptest! {
    #[test]
    fn words_in_any_order_never_panic(words in prop::collection::vec((0_u8..20, 0_u64..4, 0_u8..3), 0..60)) {
        let mut holding = Holding::default();
        for (word, bytes, name) in words {
            let name: &[u8] = [&b"HRX0"[..], b"CPU", b"HRX1"][usize::from(name)];
            let word = match word {
                0 | 1 => Word::Loading,
                2 | 3 => Word::Context,
                4 => Word::Buffer { kind: Kind::Model, name, bytes },
                5 => Word::Buffer { kind: Kind::Kv, name, bytes },
                6 | 7 => Word::Buffer { kind: Kind::Compute, name, bytes },
                8 => Word::Nodes(bytes),
                9 => Word::Reserved,
                10 => Word::Destroyed { name, bytes, expected: bytes },
                11 => Word::Destroyed { name, bytes: u64::MAX, expected: bytes },
                12 => Word::NoAlloc(bytes % 2 == 0),
                13 => Word::FitEnds,
                14 => Word::TearDown,
                15 => Word::Asleep,
                16 => Word::DraftDropped,
                17 => Word::Table,
                18 => Word::Row { name, cells: Cells { model: bytes, context: u64::MAX, compute: 0 } },
                _ => Word::Buffer { kind: Kind::Clip, name, bytes: u64::MAX },
            };
            holding.event(&Event::Llama(Said { port: None, word }));
        }
        holding.finish();
        if let Some(table) = &holding.table {
            crate::core::split::second::rows(table);
        }
    }
}
