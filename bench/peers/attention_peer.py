#!/usr/bin/env python3
"""Attention with what encodings put into its scores, in PyTorch on a GPU: FlexAttention and scaled_dot_product_attention,
both under torch.compile, in bf16, forward and backward over 32,768 tokens of 12 heads of 64 dims, without dropout.

Prints one JSON object a line: name, tokens of a sequence, peer, ms. The cases are those of gpu_attention_bench: none,
ALiBi's slopes, T5's buckets with the gradient of their table, a window of 128 tokens, and forgetting attention's biases
of keys with their gradient. SDPA takes all but the first as a dense mask of biases, which is what it offers.
"""
import argparse
import json
import math

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

TOKENS, HEADS, DIM, WINDOW = 32768, 12, 64, 128


def t5_bucket(distance):
    far = 16 + (torch.log(distance.clamp(min=1) / 16.0) / math.log(128 / 16) * 16).to(torch.int64)
    return torch.where(distance < 16, distance, far.clamp(max=31))


def cases(length):
    """name -> (score_mod, mask_mod, the bias that SDPA is given as a function of nothing, what learns besides)"""
    device = "cuda"
    slopes = torch.exp2(-8.0 * torch.arange(1, HEADS + 1, device=device) / HEADS)
    table = torch.randn(32, HEADS, device=device, requires_grad=True)
    by_key = torch.randn(TOKENS // length, HEADS, length, device=device, requires_grad=True)
    place = torch.arange(length, device=device)
    distance = place[:, None] - place[None, :]
    bucket = t5_bucket(distance.clamp(min=0))
    causal = torch.zeros(length, length, device=device).masked_fill(distance < 0, -math.inf)
    half = torch.bfloat16
    return {
        "nope": (None, lambda b, h, i, j: i >= j, None, []),
        "alibi": (lambda s, b, h, i, j: s - slopes[h] * (i - j), lambda b, h, i, j: i >= j,
                  lambda: (causal - slopes[:, None, None] * distance).to(half)[None], []),
        "t5": (lambda s, b, h, i, j: s + table[bucket[i, j], h], lambda b, h, i, j: i >= j,
               lambda: (causal + table[bucket].permute(2, 0, 1)).to(half)[None], [table]),
        "window": (None, lambda b, h, i, j: (i >= j) & (i - j < WINDOW),
                   lambda: causal.masked_fill(distance >= WINDOW, -math.inf).to(half)[None, None], []),
        "fox": (lambda s, b, h, i, j: s + by_key[b, h, j], lambda b, h, i, j: i >= j,
                lambda: (causal + by_key[:, :, None, :]).to(half), [by_key]),
    }


def milliseconds(step, repeats=12):
    for _ in range(4):
        step()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        step()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)[repeats // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 2048])
    parser.add_argument("--only", choices=["flex", "sdpa"])
    a = parser.parse_args()
    for length in a.lengths:
        shape = (TOKENS // length, HEADS, length, DIM)
        q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
        d_out = torch.randn(shape, device="cuda", dtype=torch.bfloat16)
        for name, (score, mask, bias, learned) in cases(length).items():
            blocks = create_block_mask(mask, None, None, length, length, device="cuda")
            peers = {
                "flex": lambda: flex_attention(q, k, v, score_mod=score, block_mask=blocks, scale=0.125),
                "sdpa": lambda: scaled_dot_product_attention(q, k, v, attn_mask=bias() if bias else None,
                                                             is_causal=bias is None, scale=0.125),
            }
            for peer, attend in peers.items():
                if a.only and peer != a.only:
                    continue
                torch.compiler.reset()
                compiled = torch.compile(attend)

                def step():
                    torch.autograd.grad(compiled(), [q, k, v, *learned], d_out)
                row = {"name": name, "tokens": length, "peer": peer}
                try:
                    row["ms"] = round(milliseconds(step), 4)
                except Exception as error:  # what a peer does not do is a finding too
                    row["error"] = str(error).splitlines()[0][:120]
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
