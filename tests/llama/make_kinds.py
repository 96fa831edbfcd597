#!/usr/bin/env python3
"""Writes one tiny model of each kind whose memory looks different: sliding window, hybrid, a draft, an adapter.

Run by setup.py in its venv, beside make_gguf.py, whose vocabulary and weights these models have.
"""

import sys
from pathlib import Path

import gguf
import numpy as np

from make_gguf import Shape, Weights, add_head, add_weights, vocabulary

LAYERS, WIDTH, HEADS, KV_HEADS, HIDDEN, CONTEXT = 6, 128, 4, 2, 352, 4096
WINDOW = 64
# A quarter of jamba's layers are attention, the others keep a recurrent state.
ATTENTION_EVERY, CONV, INNER, STATE, RANK = 4, 4, 256, 16, 8
ADAPTER_RANK = 8


def head(writer, arch, tokens):
    shape = Shape(f"tiny-{arch}", np.float32, LAYERS, WIDTH, HEADS, KV_HEADS, HIDDEN, CONTEXT)
    add_head(writer, shape, tokens)


def ones(writer, name, size):
    writer.add_tensor(name, np.ones(size, np.float32))


def feed_forward(writer, weights, block):
    ones(writer, f"{block}.ffn_norm.weight", WIDTH)
    writer.add_tensor(f"{block}.ffn_gate.weight", weights.matrix(HIDDEN, WIDTH))
    writer.add_tensor(f"{block}.ffn_up.weight", weights.matrix(HIDDEN, WIDTH))
    writer.add_tensor(f"{block}.ffn_down.weight", weights.matrix(WIDTH, HIDDEN))


def attention(writer, weights, block):
    narrow = WIDTH // HEADS * KV_HEADS
    writer.add_tensor(f"{block}.attn_q.weight", weights.matrix(WIDTH, WIDTH))
    writer.add_tensor(f"{block}.attn_k.weight", weights.matrix(narrow, WIDTH))
    writer.add_tensor(f"{block}.attn_v.weight", weights.matrix(narrow, WIDTH))
    writer.add_tensor(f"{block}.attn_output.weight", weights.matrix(WIDTH, WIDTH))


def recurrent(writer, weights, block):
    writer.add_tensor(f"{block}.ssm_in.weight", weights.matrix(2 * INNER, WIDTH))
    writer.add_tensor(f"{block}.ssm_conv1d.weight", weights.matrix(INNER, CONV))
    ones(writer, f"{block}.ssm_conv1d.bias", INNER)
    writer.add_tensor(f"{block}.ssm_x.weight", weights.matrix(RANK + 2 * STATE, INNER))
    ones(writer, f"{block}.ssm_dt_norm.weight", RANK)
    ones(writer, f"{block}.ssm_b_norm.weight", STATE)
    ones(writer, f"{block}.ssm_c_norm.weight", STATE)
    writer.add_tensor(f"{block}.ssm_dt.weight", weights.matrix(INNER, RANK))
    ones(writer, f"{block}.ssm_dt.bias", INNER)
    # Of the state nothing may grow without bound.
    writer.add_tensor(f"{block}.ssm_a", -np.ones((INNER, STATE), np.float32))
    ones(writer, f"{block}.ssm_d", INNER)
    writer.add_tensor(f"{block}.ssm_out.weight", weights.matrix(WIDTH, INNER))


def gemma3(writer, tokens):
    head(writer, "gemma3", tokens)
    writer.add_key_length(WIDTH // HEADS)
    writer.add_value_length(WIDTH // HEADS)
    writer.add_sliding_window(WINDOW)
    writer.add_rope_freq_base(1e6)
    weights = Weights(np.float32)
    writer.add_tensor("token_embd.weight", weights.matrix(len(tokens), WIDTH))
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        ones(writer, f"{block}.attn_norm.weight", WIDTH)
        attention(writer, weights, block)
        ones(writer, f"{block}.attn_q_norm.weight", WIDTH // HEADS)
        ones(writer, f"{block}.attn_k_norm.weight", WIDTH // HEADS)
        ones(writer, f"{block}.post_attention_norm.weight", WIDTH)
        feed_forward(writer, weights, block)
        ones(writer, f"{block}.post_ffw_norm.weight", WIDTH)
    ones(writer, "output_norm.weight", WIDTH)


def jamba(writer, tokens):
    head(writer, "jamba", tokens)
    writer.add_ssm_conv_kernel(CONV)
    writer.add_ssm_inner_size(INNER)
    writer.add_ssm_state_size(STATE)
    writer.add_ssm_time_step_rank(RANK)
    weights = Weights(np.float32)
    writer.add_tensor("token_embd.weight", weights.matrix(len(tokens), WIDTH))
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        ones(writer, f"{block}.attn_norm.weight", WIDTH)
        (attention if is_attention(layer) else recurrent)(writer, weights, block)
        feed_forward(writer, weights, block)
    ones(writer, "output_norm.weight", WIDTH)
    writer.add_tensor("output.weight", weights.matrix(len(tokens), WIDTH))


def is_attention(layer):
    return layer % ATTENTION_EVERY == 1


def draft(writer, tokens):
    shape = Shape("tiny-draft", np.float32, 1, 64, 2, 1, 128, CONTEXT)
    add_head(writer, shape, tokens)
    add_weights(writer, shape, tokens)


def lora(writer, _):
    """For make_gguf.py's tiny."""
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 16.0)
    weights = Weights(np.float32)
    for layer in range(4):
        name = f"blk.{layer}.attn_q.weight"
        writer.add_tensor(f"{name}.lora_a", weights.matrix(ADAPTER_RANK, WIDTH))
        writer.add_tensor(f"{name}.lora_b", weights.matrix(WIDTH, ADAPTER_RANK))


KINDS = {"gemma3": (gemma3, "gemma3"), "jamba": (jamba, "jamba"), "draft": (draft, "llama"), "lora": (lora, "llama")}


class Writer(gguf.GGUFWriter):
    """Jamba's layers without attention have no heads for keys and values."""

    def add_head_count_kv(self, count):
        if self.arch == "jamba":
            count = [count if is_attention(layer) else 0 for layer in range(LAYERS)]
        super().add_head_count_kv(count)


def main():
    if len(sys.argv) != 2:
        sys.exit("make_kinds.py: name the folder for the models, as in make_kinds.py target/llama/models")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tokens = vocabulary()
    for name, (fill, arch) in KINDS.items():
        done, new = folder / f"tiny-{name}.gguf", folder / f"tiny-{name}.new"
        writer = Writer(new, arch)
        fill(writer, tokens)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        # Under its name only when whole: a test never sees half a model.
        new.replace(done)
        print(f"make_kinds: {done.name}: {done.stat().st_size / 2**20:.1f} MiB", flush=True)


if __name__ == "__main__":
    main()
