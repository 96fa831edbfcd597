#!/usr/bin/env python3
"""Writes tiny.gguf and big.gguf: llama models with random weights and a small valid vocabulary.

Run by setup.py in its venv. The bytes are the same on every run and machine.
"""

import sys
from collections import namedtuple
from pathlib import Path

import gguf
import numpy as np

Shape = namedtuple("Shape", "name dtype layers width heads kv_heads hidden context")

SHAPES = [
    Shape("tiny", np.float32, layers=4, width=128, heads=4, kv_heads=2, hidden=352, context=4096),
    # Big enough that a token takes some 10 ms: a test can stop it in the middle.
    Shape("big", np.float16, layers=10, width=768, heads=12, kv_heads=4, hidden=2048, context=4096),
]
VOCAB_SIZE = 512
SEED = 20260101


def vocabulary():
    """(text, kind) for each token: three control tokens, 256 bytes, single signs, syllables."""
    kind = gguf.TokenType
    tokens = [("<unk>", kind.UNKNOWN), ("<s>", kind.CONTROL), ("</s>", kind.CONTROL)]
    tokens += [(f"<0x{byte:02X}>", kind.BYTE) for byte in range(256)]
    plain = [chr(code) for code in range(0x21, 0x7F)]
    small = "abcdefghijklmnopqrstuvwxyz"
    # A syllable is a merge of two tokens that exist, as the SPM tokenizer wants it.
    pieces = ["\u2581"] + plain + ["\u2581" + letter for letter in small]
    pieces += [first + second for first in "bcdfghjklmnprstvwz" for second in "aeiounrl"]
    tokens += [(piece, kind.NORMAL) for piece in pieces]
    assert len(tokens) >= VOCAB_SIZE
    return tokens[:VOCAB_SIZE]


class Weights:
    """Uniform numbers from the generator's raw bits.

    numpy promises that raw bits never change, which it does not for its distributions;
    and a uniform number takes no libm call that could differ between machines.
    """

    def __init__(self, dtype):
        self.bits, self.dtype = np.random.PCG64(SEED), dtype

    def matrix(self, rows, columns):
        whole = (self.bits.random_raw(rows * columns) >> np.uint64(40)).astype(np.float32)
        # In -1..1 (both steps are exact), then scaled so that a layer keeps its input's variance.
        unit = whole * np.float32(2.0**-23) - np.float32(1)
        return (unit * np.float32((3 / columns) ** 0.5)).astype(self.dtype).reshape(rows, columns)


def add_head(writer, shape, tokens):
    writer.add_name(f"hrx-wrap-{shape.name}")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32 if shape.dtype is np.float32 else gguf.LlamaFileType.MOSTLY_F16)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.hidden)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_rope_dimension_count(shape.width // shape.heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_scores([-float(number) for number in range(len(tokens))])
    writer.add_token_types([kind for _, kind in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)


def add_weights(writer, shape, tokens):
    weights = Weights(shape.dtype)
    narrow = shape.width // shape.heads * shape.kv_heads
    ones = np.ones(shape.width, np.float32)
    writer.add_tensor("token_embd.weight", weights.matrix(len(tokens), shape.width))
    for layer in range(shape.layers):
        writer.add_tensor(f"blk.{layer}.attn_norm.weight", ones)
        writer.add_tensor(f"blk.{layer}.attn_q.weight", weights.matrix(shape.width, shape.width))
        writer.add_tensor(f"blk.{layer}.attn_k.weight", weights.matrix(narrow, shape.width))
        writer.add_tensor(f"blk.{layer}.attn_v.weight", weights.matrix(narrow, shape.width))
        writer.add_tensor(f"blk.{layer}.attn_output.weight", weights.matrix(shape.width, shape.width))
        writer.add_tensor(f"blk.{layer}.ffn_norm.weight", ones)
        writer.add_tensor(f"blk.{layer}.ffn_gate.weight", weights.matrix(shape.hidden, shape.width))
        writer.add_tensor(f"blk.{layer}.ffn_up.weight", weights.matrix(shape.hidden, shape.width))
        writer.add_tensor(f"blk.{layer}.ffn_down.weight", weights.matrix(shape.width, shape.hidden))
    writer.add_tensor("output_norm.weight", ones)
    output = weights.matrix(len(tokens), shape.width)
    # Zero logits for all but plain text, so that greedy decoding meets neither an end nor half a character.
    output[[kind != gguf.TokenType.NORMAL for _, kind in tokens]] = 0
    writer.add_tensor("output.weight", output)


def write_model(folder, shape, tokens):
    done = folder / f"{shape.name}.gguf"
    new = folder / f"{shape.name}.new"
    writer = gguf.GGUFWriter(new, "llama")
    add_head(writer, shape, tokens)
    add_weights(writer, shape, tokens)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    # Under its name only when whole: a test never sees half a model.
    new.replace(done)
    print(f"make_gguf: {done.name}: {done.stat().st_size / 2**20:.1f} MiB", flush=True)


def main():
    if len(sys.argv) != 2:
        sys.exit("make_gguf.py: name the folder for the models, as in make_gguf.py target/llama/models")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tokens = vocabulary()
    for shape in SHAPES:
        write_model(folder, shape, tokens)


if __name__ == "__main__":
    main()
