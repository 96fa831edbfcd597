//! llama.cpp's lines about buffers, in the wording of every version since 2024.

use memchr::memmem;

use super::Word;
use crate::core::amount::mebibytes;

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Weights of a model.
    Model,
    /// Keys and values.
    Kv,
    /// Recurrent state, and what else a context keeps from token to token.
    Rs,
    /// Work space of a context.
    Compute,
    /// Logits and embeddings.
    Output,
    /// An adapter's weights.
    Lora,
    /// A projector's weights.
    Clip,
    /// A projector's work space.
    ClipCompute,
}

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Memory of a device.
    Device,
    /// Memory of the host: the CPU's own, and a device's pinned host memory.
    Host,
}

impl Place {
    /// The place of a buffer type, by its name: `CPU`, `CPU_Mapped`, `AMX`, `Host`, `HRX0_HOST`, `CUDA_Host` are the host's.
    pub fn of(name: &[u8]) -> Place {
        let host = name.len() >= 4 && name[name.len() - 4..].eq_ignore_ascii_case(b"host");
        let pinned = host && (name.len() == 4 || name[name.len() - 5] == b'_');
        if pinned || name.starts_with(b"CPU") || name == b"AMX" { Place::Host } else { Place::Device }
    }
}

/// A line about a buffer, from its `buffer size` at `at` on.
pub fn size(text: &[u8], at: usize) -> Option<Word<'_>> {
    let (before, after) = (text[..at].trim_ascii_end(), text[at + b"buffer size".len()..].trim_ascii_start());
    let colon = memmem::rfind(before, b": ")?;
    let function = function(&before[..colon]);
    let what = before[colon + 1..].trim_ascii();
    if let Some(amounts) = after.strip_prefix(b"is").or_else(|| after.strip_prefix(b"of")) {
        let destroyed = function == b"llama_context" && before[..colon].ends_with(b"~llama_context");
        return if destroyed { last_word(what, amounts) } else { None };
    }
    let (bytes, _) = mebibytes(after.strip_prefix(b"=")?)?;
    let (kind, name) = named(function, what)?;
    Some(Word::Buffer { kind, name, bytes })
}

/// The identifier that a text ends in.
fn function(text: &[u8]) -> &[u8] {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let begin = text.iter().rposition(|b| !is_word(b)).map_or(0, |at| at + 1);
    &text[begin..]
}

/// Kind and buffer type of `HRX0 KV`, `CPU  output`, `HRX0 DSV4 csa state`, and of a bare `CUDA14` (2024).
fn named<'a>(function: &[u8], what: &'a [u8]) -> Option<(Kind, &'a [u8])> {
    let projector =
        [&b"compute_meta"[..], b"warmup", b"clip"].iter().any(|f| memmem::find(function, f).is_some());
    for (word, kind) in [
        (&b" model"[..], Kind::Model),
        (b" KV", Kind::Kv),
        (b" RS", Kind::Rs),
        (b" compute", if projector { Kind::ClipCompute } else { Kind::Compute }),
        (b" output", Kind::Output),
        (b" LoRA", Kind::Lora),
    ] {
        if what == word.trim_ascii() {
            return None;
        }
        if let Some(name) = what.strip_suffix(word).filter(|_| !function.is_empty()) {
            return some_name(name).map(|name| (kind, name));
        }
    }
    if let Some(at) = memmem::find(what, b" DSV4 ").filter(|_| what.ends_with(b" state")) {
        return some_name(&what[..at]).map(|name| (Kind::Rs, name));
    }
    // August 2024 has no word for a model's buffer.
    let bare = function.ends_with(b"load_tensors");
    some_name(what).filter(|_| bare).map(|name| (Kind::Model, name))
}

fn some_name(name: &[u8]) -> Option<&[u8]> {
    let name = name.trim_ascii();
    (!name.is_empty()).then_some(name)
}

/// `CPU compute`, `13.2637 MiB, matches expectation of 13.2637 MiB`: a context's end.
fn last_word<'a>(what: &'a [u8], amounts: &[u8]) -> Option<Word<'a>> {
    let name = some_name(what.strip_suffix(b"compute")?)?;
    let (bytes, rest) = mebibytes(amounts)?;
    let at = memmem::find(rest, b"expectation of")?;
    let (expected, _) = mebibytes(&rest[at + b"expectation of".len()..])?;
    Some(Word::Destroyed { name, bytes, expected })
}

/// `load_hparams: model size: 595.49 MiB`, a projector's weights; other tools' `model size` is of a file.
pub fn projector(text: &[u8], at: usize) -> Option<Word<'_>> {
    let before = text[..at].trim_ascii_end().strip_suffix(b":")?;
    // A colour's code may stand right before the name.
    if ![&b"load_hparams"[..], b"clip_model_load"].iter().any(|name| function(before).ends_with(name)) {
        return None;
    }
    let (bytes, _) = mebibytes(&text[at + b"model size:".len()..])?;
    Some(Word::Buffer { kind: Kind::Clip, name: b"", bytes })
}

/// `allocated 'HRX0' buffer 12.000 MiB`: a copy of a context's state that stays on the device.
pub fn state_copy(text: &[u8], at: usize) -> Option<Word<'_>> {
    let name = &text[at + b"allocated '".len()..];
    let end = memmem::find(name, b"' buffer ")?;
    let (bytes, _) = mebibytes(&name[end + b"' buffer ".len()..])?;
    Some(Word::StateCopy { name: &name[..end], bytes })
}
