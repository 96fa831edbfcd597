//! Every wording of llama.cpp's lines about memory, 2024 to 2026.

use proptest::prelude::*;

use super::*;

const MIB: u64 = 1 << 20;

fn word(line: &str) -> Option<Word<'_>> {
    said(line.as_bytes()).map(|said| said.word)
}

#[test]
fn buffers_in_every_wording_since_2024() {
    for (line, kind, name, mib) in [
        ("llm_load_tensors:        CPU buffer size =     3.00 MiB", Kind::Model, "CPU", 3),
        ("llm_load_tensors:     CUDA14 buffer size =     3.00 MiB", Kind::Model, "CUDA14", 3),
        ("llm_load_tensors:   CPU_Mapped model buffer size =     3.00 MiB", Kind::Model, "CPU_Mapped", 3),
        (
            "load_tensors: RPC0[127.0.0.1:50061] model buffer size =     3.00 MiB",
            Kind::Model,
            "RPC0[127.0.0.1:50061]",
            3,
        ),
        ("load_tensors:       Meta() model buffer size =     3.00 MiB", Kind::Model, "Meta()", 3),
        ("llama_kv_cache_init:      ROCm0 KV buffer size =     3.00 MiB", Kind::Kv, "ROCm0", 3),
        ("init:        CPU KV buffer size =     9.00 MiB", Kind::Kv, "CPU", 9),
        ("llama_kv_cache_unified:       HRX0 KV buffer size =     3.00 MiB", Kind::Kv, "HRX0", 3),
        ("llama_kv_cache_recurrent:    Vulkan0 KV buffer size =     3.00 MiB", Kind::Kv, "Vulkan0", 3),
        ("llama_kv_cache:       HRX0 KV buffer size =     3.00 MiB", Kind::Kv, "HRX0", 3),
        ("llama_memory_recurrent:       HRX0 RS buffer size =     3.00 MiB", Kind::Rs, "HRX0", 3),
        ("llama_dsv4_comp_state:       HRX0 DSV4 csa state buffer size =     3.00 MiB", Kind::Rs, "HRX0", 3),
        (
            "llama_lora_adapter_init_internal:        HRX0 LoRA buffer size =     3.00 MiB",
            Kind::Lora,
            "HRX0",
            3,
        ),
        (
            "llama_adapter_lora_init_impl: CPU_Mapped LoRA buffer size =     3.00 MiB",
            Kind::Lora,
            "CPU_Mapped",
            3,
        ),
        (
            "llama_new_context_with_model:  CUDA_Host  output buffer size =     3.00 MiB",
            Kind::Output,
            "CUDA_Host",
            3,
        ),
        ("llama_context:  HRX0_HOST  output buffer size =     3.00 MiB", Kind::Output, "HRX0_HOST", 3),
        (
            "llama_new_context_with_model:        CPU compute buffer size =    41.00 MiB",
            Kind::Compute,
            "CPU",
            41,
        ),
        ("llama_init_from_model:        CPU compute buffer size =    41.00 MiB", Kind::Compute, "CPU", 41),
        ("llama_context:        CPU compute buffer size =    41.00 MiB", Kind::Compute, "CPU", 41),
        ("sched_reserve:       HRX0 compute buffer size =    41.00 MiB", Kind::Compute, "HRX0", 41),
        (
            "reserve_compute_meta:      CUDA0 compute buffer size =    41.00 MiB",
            Kind::ClipCompute,
            "CUDA0",
            41,
        ),
        ("alloc_compute_meta:      CUDA0 compute buffer size =    41.00 MiB", Kind::ClipCompute, "CUDA0", 41),
        ("load_hparams: model size:         41.00 MiB", Kind::Clip, "", 41),
    ] {
        let expected = Word::Buffer { kind, name: name.as_bytes(), bytes: mib * MIB };
        assert_eq!(word(line), Some(expected), "{line}");
        let behind = format!("....\x1b[34m0.00.035.060\x1b[0m \x1b[32mI \x1b[0m{line}\x1b[0m\r");
        assert_eq!(said(behind.as_bytes()).map(|s| s.word), Some(expected), "{behind}");
    }
}

#[test]
fn lines_that_print_mib_and_are_no_buffer() {
    for line in [
        "llama_kv_cache: size =    4.00 MiB (  4096 cells,   4 layers,  1/1 seqs), K (f16):    2.00 MiB",
        "llama_new_context_with_model: KV self size  =    4.00 MiB, K (f16):    2.00 MiB, V (f16):    2.00 MiB",
        "llm_load_tensors: ggml ctx size =    0.02 MiB",
        "srv    load_model: prompt cache is enabled, size limit: 8192 MiB",
        "load: token to piece cache size = 0.0011 MB",
        "other: file size   = 2.32 GiB (4.95 BPW) ",
        "print_info: model size: 12.00 MiB",
        "llama_model_quantize_impl: model size  =   260.10 MiB",
        "buffer size = 3.00 MiB",
        "load_tensors: model buffer size = 3.00 MiB",
        "load_tensors: HRX0 model buffer size = lots",
        "llama_context: HRX0 compute buffer size is 3.0000 MiB, matches expectation of 3.0000 MiB",
        "slot print_timing: id  3 | task 0 | prompt eval time =     518.89 ms /    10 tokens",
        "llama_context: n_ctx                 = 256",
        "common_params_fit_impl:   - RPC0 (127.0.0.1:50061):  6 layers,    153 MiB used,  23952 MiB free",
    ] {
        assert_eq!(word(line), None, "{line}");
    }
}

#[test]
fn the_words_of_a_contexts_end() {
    let line = "0.1 D ~llama_context:        CPU compute buffer size is  13.2637 MiB, matches expectation of  13.2637 MiB";
    assert_eq!(word(line), Some(Word::Destroyed { name: b"CPU", bytes: 13_907_997, expected: 13_907_997 }));
    let line = "~llama_context: HRX0 compute buffer size of   2.0000 MiB, does not match expectation of   1.0000 MiB";
    assert_eq!(word(line), Some(Word::Destroyed { name: b"HRX0", bytes: 2 * MIB, expected: MIB }));
}

#[test]
fn marks_of_every_phase() {
    for (line, expected) in [
        ("llama_model_loader: loaded meta data with 24 key-value pairs and 39 tensors", Word::Loading),
        ("print_info: file size   = 3.50 MiB (32.00 BPW) ", Word::FileSize(7 * MIB / 2)),
        ("llm_load_print_meta: model size       = 1.50 GiB (4.95 BPW) ", Word::FileSize(1536 * MIB)),
        ("print_info: no_alloc              = 1", Word::NoAlloc(true)),
        ("print_info: no_alloc         = 0", Word::NoAlloc(false)),
        ("cmn  common_init_: fitting params to device memory ...", Word::FitBegins),
        ("operator(): getting device memory data for initial parameters:", Word::FitBegins),
        ("llama_params_fit: fitting params to free memory took 0.02 seconds", Word::FitEnds),
        ("llama_new_context_with_model: n_ctx      = 64", Word::Context),
        ("llama_init_from_model: n_ctx         = 4096", Word::Context),
        ("llama_context: constructing llama_context", Word::Context),
        ("sched_reserve: graph nodes  = 130 (with bs=512), 131 (with bs=1)", Word::Nodes(130)),
        ("sched_reserve: graph: nodes = 133, splits = 1, input objects = 4", Word::Nodes(133)),
        ("common_init_from_params: warming up the model with an empty run - please wait", Word::WarmUp),
        ("llama-bench: benchmark 1/2: warmup generation run", Word::WarmUp),
        ("llama-bench: benchmark 2/2: depth run 1/1", Word::Running),
        ("main: generate: n_ctx = 4096, n_batch = 2048", Word::Running),
        ("slot launch_slot_: id  3 | task 0 | processing task, is_child = 0", Word::Running),
        ("perplexity: calculating perplexity over 4 chunks", Word::Running),
        ("srv  llama_server: model loaded", Word::Running),
        ("llama_print_timings:        load time =     312.87 ms", Word::TearDown),
        ("common_perf_print:        load time =     312.87 ms", Word::TearDown),
        ("srv    operator(): operator(): cleaning up before exit...", Word::Closing),
        ("srv  handle_sleep: server is entering sleeping state", Word::Asleep),
        ("srv  handle_sleep: server is exiting sleeping state", Word::Awake),
        ("clip_ctx: CLIP using HRX0 backend", Word::Projector(b"HRX0")),
        (
            "llama_prepare_model_devices: using device HRX0 (AMD Radeon) (0000:c5:00.0) - 31872 MiB free",
            Word::Device(b"HRX0"),
        ),
        (
            "llama_io_write_device: allocated 'HRX0' buffer 2.000 MiB",
            Word::StateCopy { name: b"HRX0", bytes: 2 * MIB },
        ),
    ] {
        assert_eq!(word(line), Some(expected), "{line}");
    }
}

#[test]
fn rows_of_the_table() {
    let cells = |model, context, compute| Cells { model, context, compute };
    for (line, name, expected) in [
        (
            "llama_memory_breakdown_print: |   - RPC0 (127.0.0.1:50061) | 24105 = 24105 + ( 153 =   108 +      20 +      24) +        -153 |",
            "RPC0",
            cells(108, 20, 24),
        ),
        (
            "common_memory_breakdown_print: |   - HRX0 (Radeon (TM) Graphics) | 31872 = 100 + (2455 = 2375 + 36 + 43) + 29317 |",
            "HRX0",
            cells(2375, 36, 43),
        ),
        (
            "common_memory_breakdown_print: |   - CPU_REPACK         |                   72 =    72 +       0 +       0                |",
            "CPU_REPACK",
            cells(72, 0, 0),
        ),
    ] {
        assert_eq!(word(line), Some(Word::Row { name: name.as_bytes(), cells: expected }), "{line}");
    }
    assert_eq!(word("other: |   - HRX0 | 1 = 1 + 1 + 1 |"), None);
}

#[test]
fn a_routers_child_is_known_by_its_port() {
    let line = b"[49813] 0.00.029.961 I load_tensors: HRX0 model buffer size = 1.00 MiB";
    assert_eq!(said(line).and_then(|s| s.port), Some(49_813));
    for line in [
        &b"[x] load_tensors: HRX0 model buffer size = 1.00 MiB"[..],
        b"[99999] llama_context: constructing llama_context",
    ] {
        assert_eq!(said(line).map(|s| s.port), Some(None));
    }
}

#[test]
fn the_search_for_all_marks_is_there() {
    assert!(SEARCH.is_some());
}

proptest! {
    #[test]
    fn any_cut_of_any_line_is_read(
        line in prop::sample::select(vec![
            "load_tensors: HRX0 model buffer size = 1.00 MiB",
            "~llama_context: HRX0 compute buffer size is 1.0000 MiB, matches expectation of 1.0000 MiB",
            "common_memory_breakdown_print: |   - HRX0 (x) | 1 = 1 + (1 = 1 + 1 + 1) + 1 |",
            "print_info: no_alloc = 1", "sched_reserve: graph nodes  = 130", "clip_ctx: CLIP using X backend",
            "llama_io_write_device: allocated 'HRX0' buffer 2.000 MiB", "using device HRX0 (x)",
        ]),
        from in 0_usize..80, until in 0_usize..90, noise in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let until = until.min(line.len());
        let cut = &line.as_bytes()[from.min(until)..until];
        said(&[cut, &noise].concat());
        said(&[&noise[..], cut].concat());
    }
}
