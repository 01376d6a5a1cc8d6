#!/usr/bin/env python3
"""Writes the reference numbers that tests/model/golden_test.cc holds the decoder against.

An independent implementation in Python and PyTorch: padded batches, one explicit formula per encoding, autograd for the
gradients, double precision. It shares no code with the C++ side. Run it with a Python that can import torch, numpy and
safetensors:

    python3 tests/golden/make_golden.py tests/golden

One file per encoding, NAME.safetensors: `parameter.*` (weights stored [in, out]), `tokens`, `offsets`, `loss_rows`,
`targets`, and the results `logits` [target, vocab], `loss` [1] and `gradient.*`.
"""
import math
import sys

import numpy as np
import torch
from safetensors.numpy import save_file

LAYERS, WIDTH, HEADS, DIM, FF, VOCAB = 2, 24, 3, 8, 40, 19
LENGTHS = [1, 6, 23, 13]
MAX_POSITIONS = 32


def make_parameters(encoding, rng):
    def normal(*shape, std=0.4):
        return torch.tensor(rng.normal(0, std, shape), dtype=torch.float64, requires_grad=True)

    inner = HEADS * DIM
    p = {"embedding": normal(VOCAB, WIDTH, std=1.0), "norm": normal(WIDTH)}
    for l in range(LAYERS):
        p[f"layers.{l}.attention.norm"] = normal(WIDTH)
        p[f"layers.{l}.attention.qkv"] = normal(WIDTH, 3 * inner)
        p[f"layers.{l}.attention.out"] = normal(inner, WIDTH)
        p[f"layers.{l}.ff.norm"] = normal(WIDTH)
        p[f"layers.{l}.ff.in"] = normal(WIDTH, FF)
        p[f"layers.{l}.ff.out"] = normal(FF, WIDTH)
        if encoding == "transformer-xl":
            p[f"encoding.{l}.relative"] = normal(WIDTH, inner)
            p[f"encoding.{l}.content_bias"] = normal(HEADS, DIM)
            p[f"encoding.{l}.position_bias"] = normal(HEADS, DIM)
    if encoding == "t5":
        p["encoding.relative_bias"] = normal(32, HEADS)
    if encoding == "learned":
        p["encoding.positions"] = normal(MAX_POSITIONS, WIDTH)
    if encoding == "alibi-learned":
        p["encoding.log_slopes"] = normal(HEADS)
    return p


def rms(x, g):
    return g * x / torch.sqrt((x * x).sum(-1, keepdim=True) / x.shape[-1] + 1e-6)


def sinusoid_row(position):
    row = [0.0] * WIDTH
    for c in range(WIDTH // 2):
        w = 10000.0 ** (-2.0 * c / WIDTH)
        row[c] = math.sin(position * w)
        row[WIDTH // 2 + c] = math.cos(position * w)
    return row


def slopes():
    # H = 3: the two slopes of H = 2, then the first of H = 4.
    return [2.0**-4, 2.0**-8, 2.0**-2]


def t5_bucket(distance):
    if distance < 16:
        return distance
    large = 16 + int(math.log(distance / 16) / math.log(128 / 16) * 16)
    return min(large, 31)


def rotate(x, fraction):
    """x [head, time, dim]; complex multiplication of neighbouring pairs."""
    width = int(fraction * DIM) // 2 * 2
    out = x.clone()
    for t in range(x.shape[1]):
        for c in range(width // 2):
            angle = t * 10000.0 ** (-2.0 * c / width)
            a, b = x[:, t, 2 * c], x[:, t, 2 * c + 1]
            out[:, t, 2 * c] = a * math.cos(angle) - b * math.sin(angle)
            out[:, t, 2 * c + 1] = b * math.cos(angle) + a * math.sin(angle)
    return out


def scores_of(encoding, p, layer, q, k):
    """[head, query, key] for one sequence, not yet masked. q, k [head, time, dim]."""
    time = q.shape[1]
    if encoding == "rope":
        q, k = rotate(q, 0.25), rotate(k, 0.25)
    if encoding == "rope-full":
        q, k = rotate(q, 1.0), rotate(k, 1.0)
    if encoding == "transformer-xl":
        u, v = p[f"encoding.{layer}.content_bias"], p[f"encoding.{layer}.position_bias"]
        # As in the released codes: vectors of distance time-1 .. 0, then a shift of every row.
        r = torch.tensor([sinusoid_row(min(d, 1000)) for d in range(time - 1, -1, -1)], dtype=torch.float64)
        r = (r @ p[f"encoding.{layer}.relative"]).view(time, HEADS, DIM).permute(1, 0, 2)
        content = (q + u[:, None, :]) @ k.transpose(1, 2)
        position = (q + v[:, None, :]) @ r.transpose(1, 2)
        padded = torch.cat([torch.zeros(HEADS, time, 1, dtype=torch.float64), position], -1)
        shifted = padded.reshape(HEADS, time + 1, time)[:, 1:].reshape(HEADS, time, time)
        return content + shifted
    s = q @ k.transpose(1, 2)
    if encoding in ("alibi", "alibi-learned"):
        slope = torch.exp(p["encoding.log_slopes"]) if encoding == "alibi-learned" else torch.tensor(slopes(), dtype=torch.float64)
        s = s + slope[:, None, None] * torch.arange(time, dtype=torch.float64)[None, None, :]
    if encoding == "t5":
        bias = torch.zeros(HEADS, time, time, dtype=torch.float64)
        rows = []
        for i in range(time):
            rows.append(torch.stack([p["encoding.relative_bias"][t5_bucket(max(i - j, 0))] for j in range(time)]))
        bias = torch.stack(rows).permute(2, 0, 1)
        s = s + bias
    return s


def forward(encoding, p, tokens):
    """Logits [time, vocab] of one sequence."""
    time = len(tokens)
    h = p["embedding"][tokens]
    if encoding == "sinusoidal":
        h = h + torch.tensor([sinusoid_row(t) for t in range(time)], dtype=torch.float64)
    if encoding == "learned":
        h = h + p["encoding.positions"][:time]
    mask = torch.full((time, time), float("-inf"), dtype=torch.float64).triu(1)
    for l in range(LAYERS):
        n = rms(h, p[f"layers.{l}.attention.norm"])
        q, k, v = (n @ p[f"layers.{l}.attention.qkv"]).view(time, 3, HEADS, DIM).permute(1, 2, 0, 3)
        a = torch.softmax(scores_of(encoding, p, l, q, k) + mask, -1) @ v
        h = h + a.transpose(0, 1).reshape(time, HEADS * DIM) @ p[f"layers.{l}.attention.out"]
        n = rms(h, p[f"layers.{l}.ff.norm"])
        h = h + torch.relu(n @ p[f"layers.{l}.ff.in"]) @ p[f"layers.{l}.ff.out"]
    return rms(h, p["norm"]) * WIDTH**-0.5 @ p["embedding"].T


def main(folder):
    encodings = ["nope", "t5", "alibi", "rope", "rope-full", "sinusoidal", "learned", "alibi-learned", "transformer-xl"]
    for index, encoding in enumerate(encodings):
        rng = np.random.default_rng(1000 + index)
        p = make_parameters(encoding, rng)
        sequences = [rng.integers(0, VOCAB, n) for n in LENGTHS]
        offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
        loss_rows = np.concatenate([np.arange(b + n // 2, b + n) for b, n in zip(offsets, LENGTHS)])
        targets = rng.integers(0, VOCAB, len(loss_rows))
        logits = torch.cat([forward(encoding, p, torch.tensor(s)) for s in sequences])[loss_rows]
        chosen = logits[range(len(targets)), targets]
        loss = (torch.logsumexp(logits, -1) - chosen).mean()
        loss.backward()
        out = {"tokens": np.concatenate(sequences), "offsets": offsets, "loss_rows": loss_rows, "targets": targets,
               "logits": logits.detach().numpy(), "loss": loss.detach().numpy().reshape(1)}
        for name, value in p.items():
            out["parameter." + name] = value.detach().numpy()
            out["gradient." + name] = value.grad.numpy()
        save_file({k: np.ascontiguousarray(v) for k, v in out.items()}, f"{folder}/{encoding}.safetensors")
        print(f"{encoding:16} loss {loss.item():.6f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
