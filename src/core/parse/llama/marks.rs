//! llama.cpp's lines that tell where it is: load, context, warm-up, run, tear-down.

use memchr::memmem;

use super::Word;
use crate::core::amount::bytes;

/// `print_info: file size   = 2.32 GiB (4.95 BPW)`, `llm_load_print_meta: model size       = 3.50 MiB` (2024).
pub fn file_size(text: &[u8], at: usize) -> Option<Word<'_>> {
    let before = text[..at].trim_ascii_end();
    let own = before.ends_with(b"print_info:") || before.ends_with(b"print_meta:");
    let value = &text[at..];
    let value = value[memmem::find(value, b"=")? + 1..].trim_ascii_start();
    bytes(value).filter(|_| own).map(Word::FileSize)
}

/// `no_alloc              = 1`: what follows is a trial without memory behind it.
pub fn no_alloc(text: &[u8], at: usize) -> Option<Word<'_>> {
    let value = text[at + b"no_alloc".len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    match value.first()? {
        b'0' => Some(Word::NoAlloc(false)),
        b'1' => Some(Word::NoAlloc(true)),
        _ => None,
    }
}

/// `llama_new_context_with_model: n_ctx      = 64`, the first line of a context until March 2025.
pub fn old_context(text: &[u8], at: usize) -> Option<Word<'_>> {
    let value = text[at + b"n_ctx".len()..].trim_ascii_start();
    let before = text[..at].trim_ascii_end();
    let function = [&b"llama_new_context_with_model:"[..], b"llama_init_from_model:"];
    (value.starts_with(b"=") && function.iter().any(|f| before.ends_with(f))).then_some(Word::Context)
}

/// `graph nodes  = 130` and `graph: nodes = 133, …`.
pub fn nodes(text: &[u8], at: usize) -> Option<Word<'_>> {
    let value = &text[at..];
    let value = value[memmem::find(value, b"=")? + 1..].trim_ascii_start();
    let digits = value.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&value[..digits]).ok()?.parse().ok().map(Word::Nodes)
}

/// `llama-bench: benchmark 1/2: warmup prompt run`, `… prompt run 1/5`.
pub fn bench(text: &[u8], at: usize) -> Option<Word<'_>> {
    let text = &text[at..];
    if memmem::find(text, b": warmup ").is_some() {
        return Some(Word::WarmUp);
    }
    memmem::find(text, b" run ").map(|_| Word::Running)
}

/// `common_perf_print: load time =`, `llama_print_timings: load time =`; a server's slots print no load time.
pub fn perf(text: &[u8], at: usize) -> Option<Word<'_>> {
    let before = text[..at].trim_ascii_end();
    let printer = [&b"perf_print:"[..], b"perf_context_print:", b"print_timings:"];
    printer.iter().any(|p| before.ends_with(p)).then_some(Word::TearDown)
}

/// `server is entering sleeping state`, `… exiting sleeping state`.
pub fn sleep(text: &[u8], at: usize) -> Option<Word<'_>> {
    let before = text[..at].trim_ascii_end();
    if before.ends_with(b"entering") {
        return Some(Word::Asleep);
    }
    before.ends_with(b"exiting").then_some(Word::Awake)
}

/// `CLIP using HRX0 backend`.
pub fn projector(text: &[u8], at: usize) -> Option<Word<'_>> {
    let name = &text[at + b"CLIP using ".len()..];
    let end = memmem::find(name, b" backend")?;
    (end > 0).then(|| Word::Projector(name[..end].trim_ascii()))
}

/// `using device HRX0 (AMD Radeon Graphics) (0000:c5:00.0) - 31872 MiB free`.
pub fn device(text: &[u8], at: usize) -> Option<Word<'_>> {
    let name = &text[at + b"using device ".len()..];
    let end = memmem::find(name, b" (")?;
    (end > 0).then(|| Word::Device(name[..end].trim_ascii()))
}
