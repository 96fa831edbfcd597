//! What llama-bench `-v` prints while it loads: a 4B model on device HRX0, each line one print.
//!
//! The lines are those of llama.cpp b10605 with the device's names; the amounts those of a recorded run.

use std::thread;
use std::time::Duration;

use super::stderr::Stderr;
use super::table::BUILD;

/// Layers that repeat; the output layer is one more.
const LAYERS: u32 = 36;
/// Tensors of a repeating layer, in the order in which they are asked for.
const TENSORS: [&str; 11] = [
    "attn_norm",
    "attn_q",
    "attn_k",
    "attn_v",
    "attn_output",
    "attn_q_norm",
    "attn_k_norm",
    "ffn_norm",
    "ffn_gate",
    "ffn_down",
    "ffn_up",
];
/// Dots of the loader's progress bar.
const DOTS: u32 = 88;

/// The lines before the model's data is read.
const MODEL: &str = "\
llama_model_loader: loaded meta data with 20 key-value pairs and 398 tensors from models/Qwen3-4B-Q4_K_M.gguf (version GGUF V3 (latest))
llama_model_loader: Dumping metadata keys/values. Note: KV overrides do not apply in this output.
llama_model_loader: - kv   0:                       general.architecture str              = qwen3
llama_model_loader: - kv   1:                               general.type str              = model
llama_model_loader: - kv   2:                               general.name str              = Qwen3 4B
llama_model_loader: - kv   3:                          qwen3.block_count u32              = 36
llama_model_loader: - kv   4:                       qwen3.context_length u32              = 40960
llama_model_loader: - kv   5:                     qwen3.embedding_length u32              = 2560
llama_model_loader: - kv   6:                  qwen3.feed_forward_length u32              = 9728
llama_model_loader: - kv   7:                 qwen3.attention.head_count u32              = 32
llama_model_loader: - kv   8:              qwen3.attention.head_count_kv u32              = 8
llama_model_loader: - kv   9:                       qwen3.rope.freq_base f32              = 1000000.000000
llama_model_loader: - kv  10:     qwen3.attention.layer_norm_rms_epsilon f32              = 0.000001
llama_model_loader: - kv  11:                 qwen3.attention.key_length u32              = 128
llama_model_loader: - kv  12:               qwen3.attention.value_length u32              = 128
llama_model_loader: - kv  13:                       tokenizer.ggml.model str              = gpt2
llama_model_loader: - kv  14:                         tokenizer.ggml.pre str              = qwen2
llama_model_loader: - kv  15:                      tokenizer.ggml.tokens arr[str,151936]  = [\"!\", \"\\\"\", \"#\", \"$\", \"%\", \"&\", \"'\", ...
llama_model_loader: - kv  16:                tokenizer.ggml.eos_token_id u32              = 151645
llama_model_loader: - kv  17:            tokenizer.ggml.padding_token_id u32              = 151643
llama_model_loader: - kv  18:               general.quantization_version u32              = 2
llama_model_loader: - kv  19:                          general.file_type u32              = 15
llama_model_loader: - type  f32:  145 tensors
llama_model_loader: - type q4_K:  216 tensors
llama_model_loader: - type q6_K:   37 tensors
print_info: file format = GGUF V3 (latest)
print_info: file type   = Q4_K - Medium
print_info: file size   = 2.32 GiB (4.95 BPW) 
llama_prepare_model_devices: using device HRX0 (AMD Radeon Graphics) (0000:c5:00.0) - 31872 MiB free
load: printing all EOG tokens:
load:   - 151643 ('<|endoftext|>')
load:   - 151645 ('<|im_end|>')
load: special tokens cache size = 26
load: token to piece cache size = 0.9311 MB
print_info: arch                  = qwen3
print_info: vocab_only            = 0
print_info: no_alloc              = 0
print_info: n_ctx_train           = 40960
print_info: n_embd                = 2560
print_info: n_layer               = 36
print_info: n_head                = 32
print_info: n_head_kv             = 8
print_info: n_rot                 = 128
print_info: n_embd_head_k         = 128
print_info: n_embd_head_v         = 128
print_info: n_gqa                 = 4
print_info: n_ff                  = 9728
print_info: n_expert              = 0
print_info: rope type             = 2
print_info: freq_base_train       = 1000000.0
print_info: model type            = 4B
print_info: model params          = 4.02 B
print_info: general.name          = Qwen3 4B
print_info: vocab type            = BPE
print_info: n_vocab               = 151936
print_info: max token length      = 256
load_tensors: loading model tensors, this can take a while... (load_mode = mmap)
";

/// The lines once the model's buffers are made.
const BUFFERS: &str = "\
done_getting_tensors: tensor 'token_embd.weight' (q6_K) (and 0 others) cannot be used with preferred buffer type CPU_REPACK, using CPU instead
load_tensors: offloading output layer to GPU
load_tensors: offloading 35 repeating layers to GPU
load_tensors: offloaded 37/37 layers to GPU
load_tensors:   CPU_Mapped model buffer size =   304.28 MiB
load_tensors:         HRX0 model buffer size =  2375.91 MiB
";

/// The lines of a context up to its KV cache; `BATCH` is the most tokens that one call decodes.
const CONTEXT: &str = "\
llama_context: constructing llama_context
llama_context: n_seq_max             = 1
llama_context: n_ctx                 = 256
llama_context: n_ctx_seq             = 256
llama_context: n_batch               = BATCH
llama_context: n_ubatch              = BATCH
llama_context: causal_attn           = 1
llama_context: flash_attn            = auto
llama_context: kv_unified            = false
llama_context: freq_base             = 1000000.0
llama_context: freq_scale            = 1
llama_context: n_ctx_seq (256) < n_ctx_train (40960) -- the full capacity of the model will not be utilized
set_abort_callback: call
llama_context:  HRX0_HOST  output buffer size =     0.58 MiB
";

/// The lines of a context from its KV cache on.
const RESERVE: &str = "\
llama_kv_cache:       HRX0 KV buffer size =    36.00 MiB
llama_kv_cache: size =   36.00 MiB (   256 cells,  36 layers,  1/1 seqs), K (f16):   18.00 MiB, V (f16):   18.00 MiB
llama_context: enumerating backends
llama_context: backend_ptrs.size() = 2
sched_reserve: reserving ...
sched_reserve: max_nodes = 3184
sched_reserve: reserving full memory module
sched_reserve: worst-case: n_tokens = BATCH, n_seqs = 1, n_outputs = 1
resolve_fused_ops: Flash Attention enabled
sched_reserve:       HRX0 compute buffer size =    43.20 MiB
sched_reserve:  HRX0_HOST compute buffer size =     1.01 MiB
sched_reserve: graph nodes  = 1266
sched_reserve: graph splits = 2
sched_reserve: reserve took 24.31 ms, sched copies = 1
attach_threadpool: call
";

/// The line before a warm-up, and before each run that is measured.
const DECODE: &str = "set_n_threads: n_threads = 4, n_threads_batch = 4\n";

/// The lines of a context's end.
const CONTEXT_END: &str = "\
llama_perf_context_print:        load time =     812.40 ms
llama_perf_context_print: prompt eval time =       0.00 ms /     1 tokens (    0.00 ms per token,      inf tokens per second)
llama_perf_context_print:        eval time =       0.00 ms /     1 runs   (    0.00 ms per token,      inf tokens per second)
llama_perf_context_print:       total time =    1190.77 ms /     2 tokens
llama_perf_context_print:    graphs reused =          0
~llama_context:       HRX0 compute buffer size is  43.1999 MiB, matches expectation of  43.1999 MiB
~llama_context:  HRX0_HOST compute buffer size is   1.0059 MiB, matches expectation of   1.0059 MiB
";

/// Loads the model, which takes so many ms, spread over the dots. `loaded` is told how much of it is there, of 1.
pub fn model(out: &mut impl Stderr, load_ms: u64, mut loaded: impl FnMut(f64)) {
    line(out, &format!("build: {BUILD}, a pretended target of hrx-wrap\n"));
    lines(out, MODEL);
    for layer in 0..=LAYERS {
        line(out, &format!("load_tensors: layer {layer:3} assigned to device HRX0, is_swa = 0\n"));
    }
    for tensor in ["token_embd", "output_norm", "output"] {
        line(out, &format!("create_tensor: loading tensor {tensor}.weight\n"));
    }
    for layer in 0..LAYERS {
        for tensor in TENSORS {
            line(out, &format!("create_tensor: loading tensor blk.{layer}.{tensor}.weight\n"));
        }
    }
    lines(out, BUFFERS);
    for dot in 1..=DOTS {
        line(out, ".");
        thread::sleep(Duration::from_millis(load_ms) / DOTS);
        loaded(f64::from(dot) / f64::from(DOTS));
    }
    line(out, "\n");
}

/// Makes a context for batches of up to so many tokens.
pub fn context(out: &mut impl Stderr, batch: u32) {
    let batch = batch.to_string();
    lines(out, &CONTEXT.replace("BATCH", &batch));
    for layer in 0..LAYERS {
        line(out, &format!("llama_kv_cache: layer {layer:3}: dev = HRX0\n"));
    }
    lines(out, &RESERVE.replace("BATCH", &batch));
}

/// A warm-up or a measured run begins.
pub fn decode(out: &mut impl Stderr) {
    line(out, DECODE);
}

/// Ends a context.
pub fn context_end(out: &mut impl Stderr) {
    lines(out, CONTEXT_END);
}

/// What llama-bench prints when the backend fails.
pub fn decode_failed(out: &mut impl Stderr) {
    lines(
        out,
        "graph_compute: ggml_backend_sched_graph_compute_async failed with error -1\n\
         process_ubatch: failed to compute graph, compute status: -1\n\
         main: error: failed to run the test\n",
    );
}

fn lines(out: &mut impl Stderr, text: &str) {
    for text in text.split_inclusive('\n') {
        line(out, text);
    }
}

/// One print and one flush, as llama.cpp's default logger makes them.
fn line(out: &mut impl Stderr, text: &str) {
    out.print(text.as_bytes());
    out.flush();
}

#[cfg(test)]
mod tests {
    use super::super::stderr::Prints;
    use super::*;

    fn prints(body: impl Fn(&mut Prints)) -> Vec<String> {
        let mut out = Prints::default();
        body(&mut out);
        out.0.into_iter().filter(|print| !print.is_empty()).collect()
    }

    #[test]
    fn each_line_and_each_dot_is_a_print() {
        let prints = prints(|out| model(out, 0, |_| {}));
        assert_eq!(prints.iter().filter(|p| *p == ".").count(), 88);
        assert!(prints.iter().all(|p| *p == "." || (p.ends_with('\n') && p.lines().count() == 1)));
        assert!(prints.concat().contains("load_tensors:         HRX0 model buffer size =  2375.91 MiB\n"));
        assert!(prints[0].starts_with("build: "));
    }

    #[test]
    fn a_context_names_its_batch_and_its_buffers() {
        let text = prints(|out| context(out, 256)).concat();
        assert!(text.contains("n_ubatch              = 256\n") && text.contains("n_tokens = 256, "));
        assert!(!text.contains("BATCH"));
        assert_eq!(text.matches("buffer size =").count(), 4);
        assert!(text.ends_with("attach_threadpool: call\n"));
    }
}
