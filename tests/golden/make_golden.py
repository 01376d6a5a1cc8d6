#!/usr/bin/env python3
"""Writes the reference numbers that tests/model/golden_test.cc holds the decoder against, for one encoding:

    tools/golden NAME            # makes an environment with NumPy and runs this there
    tools/golden NAME --check    # compares the file that is there, and writes nothing

An independent implementation in NumPy and double precision: one sequence at a time, one explicit formula per encoding
(encodings/NAME.py), gradients by the complex step. It shares no code with the C++ side.

encodings/NAME.py may define, and leaves out what its encoding does not do:

    layer_parameters(normal, layer)   what is learned in each layer, and
    parameters(normal)                what is learned once: a dictionary from the name that the C++ side gives it to
                                      normal(*shape), or to any array
    embed(p, h)                       the token embeddings h [time, width] with something added
    places(tokens)                    positions by a rule of its own [time], which embed then takes too, behind h
    scores(p, layer, q, k)            [head, query, key], not yet masked; q, k are [head, time, dim]
    attention(p, layer, q, k, v, f)   in place of scores: what attention puts out, [head, time, dim]; causal by itself
    columns(layer)                    how many columns it adds to the query-key-value product of the layer: what they
                                      say is f [time, column], which scores then takes too, behind k
    first_state(time)                 what it carries from layer to layer; scores then takes it too, behind k, and
    behind_attention(p, layer, e, w)  give what the layer makes of it, of attention's weights [head, query, key] and
    behind_network(p, layer, e, y)    of what the feed-forward network adds [time, width]

`p` is the dictionary of all parameters. Every parameter is moved by a tiny imaginary number in turn, and the imaginary
part of the loss is the derivative: df/dx = Im f(x + ih) / h with h = 1e-30, exact but for rounding. So formulas must
work on complex arrays: arithmetic, @, exp, log, sqrt, sin and cos do; a comparison or a maximum must look at `.real`.

NAME.safetensors: `parameter.*` (weights stored [in, out]), `tokens`, `offsets`, `loss_rows`, `targets`, `places` [token]
where the encoding has them, and the results `logits` [target, vocab], `loss` [1] and `gradient.*`.
"""
import argparse
import importlib.util
import pathlib
import sys
import zlib

import numpy as np
from safetensors.numpy import load_file, save_file

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "encodings")]
from shapes import DIM, FF, HEADS, LAYERS, LENGTHS, VOCAB, WIDTH, causal_softmax, products

STEP = 1e-30


def load_encoding(name):
    path = HERE / "encodings" / f"{name}.py"
    if not path.exists():
        sys.exit(f"{path} is missing: write the formula of {name} there, as the top of {__file__} says")
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def columns_of(encoding, layer):
    return encoding.columns(layer) if hasattr(encoding, "columns") else 0


def make_parameters(encoding, rng):
    def normal(*shape, std=0.4):
        return rng.normal(0, std, shape)

    inner = HEADS * DIM
    p = {"embedding": normal(VOCAB, WIDTH, std=1.0), "norm": normal(WIDTH)}
    for l in range(LAYERS):
        p[f"layers.{l}.attention.norm"] = normal(WIDTH)
        p[f"layers.{l}.attention.qkv"] = normal(WIDTH, 3 * inner + columns_of(encoding, l))
        p[f"layers.{l}.attention.out"] = normal(inner, WIDTH)
        p[f"layers.{l}.ff.norm"] = normal(WIDTH)
        p[f"layers.{l}.ff.in"] = normal(WIDTH, FF)
        p[f"layers.{l}.ff.out"] = normal(FF, WIDTH)
        if hasattr(encoding, "layer_parameters"):
            p.update(encoding.layer_parameters(normal, l))
    if hasattr(encoding, "parameters"):
        p.update(encoding.parameters(normal))
    return p


def rms(x, gain):
    return gain * x / np.sqrt((x * x).sum(-1, keepdims=True) / x.shape[-1] + 1e-6)


def attend_with_state(encoding, p, l, q, k, v, e):
    weights = causal_softmax(encoding.scores(p, l, q, k, e))
    return weights @ v, encoding.behind_attention(p, l, e, weights)


def attend(encoding, p, l, q, k, v, f):
    if hasattr(encoding, "attention"):
        return encoding.attention(p, l, q, k, v, f)
    if not hasattr(encoding, "scores"):
        return causal_softmax(products(q, k)) @ v
    return causal_softmax(encoding.scores(p, l, q, k, *([f] if f.shape[1] else []))) @ v


def forward(encoding, p, tokens):
    """Logits [time, vocab] of one sequence."""
    time = len(tokens)
    h = p["embedding"][tokens]
    if hasattr(encoding, "embed"):
        h = encoding.embed(p, h, *([encoding.places(tokens)] if hasattr(encoding, "places") else []))
    e = encoding.first_state(time) if hasattr(encoding, "first_state") else None
    for l in range(LAYERS):
        n = rms(h, p[f"layers.{l}.attention.norm"])
        qkv, f = np.split(n @ p[f"layers.{l}.attention.qkv"], [3 * HEADS * DIM], axis=1)
        heads = qkv.reshape(time, 3, HEADS, DIM).transpose(1, 2, 0, 3)
        if e is None:
            a = attend(encoding, p, l, *heads, f)
        else:
            a, e = attend_with_state(encoding, p, l, *heads, e)
        h = h + a.swapaxes(0, 1).reshape(time, HEADS * DIM) @ p[f"layers.{l}.attention.out"]
        n = rms(h, p[f"layers.{l}.ff.norm"]) @ p[f"layers.{l}.ff.in"]
        y = np.where(n.real > 0, n, 0) @ p[f"layers.{l}.ff.out"]
        h = h + y
        if e is not None:
            e = encoding.behind_network(p, l, e, y)
    return rms(h, p["norm"]) * WIDTH**-0.5 @ p["embedding"].T


def loss_of(logits, targets):
    largest = logits.real.max(-1)
    sums = np.log(np.exp(logits - largest[:, None]).sum(-1)) + largest
    return (sums - logits[np.arange(len(targets)), targets]).mean()


def make(name):
    encoding = load_encoding(name)
    rng = np.random.default_rng(getattr(encoding, "SEED", zlib.crc32(name.encode())))
    p = make_parameters(encoding, rng)
    sequences = [rng.integers(0, VOCAB, n) for n in LENGTHS]
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    loss_rows = np.concatenate([np.arange(b + n // 2, b + n) for b, n in zip(offsets, LENGTHS)])
    targets = rng.integers(0, VOCAB, len(loss_rows))

    def logits_of():
        return np.concatenate([forward(encoding, p, s) for s in sequences])[loss_rows]

    logits = logits_of()
    out = {"tokens": np.concatenate(sequences), "offsets": offsets, "loss_rows": loss_rows, "targets": targets,
           "logits": logits, "loss": loss_of(logits, targets).reshape(1)}
    if hasattr(encoding, "places"):
        out["places"] = np.concatenate([encoding.places(s) for s in sequences])
    for parameter in list(p):
        value = p[parameter]
        gradient = np.zeros(value.shape)
        for at in np.ndindex(*value.shape):
            p[parameter] = value.astype(np.complex128)
            p[parameter][at] += 1j * STEP
            gradient[at] = loss_of(logits_of(), targets).imag / STEP
        p[parameter] = value
        out["parameter." + parameter] = value
        out["gradient." + parameter] = gradient
    return {key: np.ascontiguousarray(value) for key, value in out.items()}


def check(name, made, path):
    """What was drawn must be the same to the bit; what was computed, but for rounding."""
    stored = load_file(path)
    worst = 0.0
    if stored.keys() != made.keys():
        sys.exit(f"{path} has other tensors: {sorted(stored.keys() ^ made.keys())}")
    for key, value in stored.items():
        if key in ("logits", "loss") or key.startswith("gradient."):
            worst = max(worst, float(np.abs(value - made[key]).max() / np.abs(value).max()))
        elif not np.array_equal(value, made[key]):
            sys.exit(f"{path}: {key} differs")
    if not worst < 1e-12:
        sys.exit(f"{path}: a number differs by {worst:.1e} of the largest in its tensor")
    print(f"{name}: the same, to {worst:.1e} of the largest number of each tensor")


def main():
    parser = argparse.ArgumentParser(prog="tools/golden")
    parser.add_argument("name", nargs="?", help="of an encoding")
    parser.add_argument("--perplexity", action="store_true", help="make perplexity.json alone, for all encodings")
    parser.add_argument("--check", action="store_true", help="compare with the file that is there")
    arguments = parser.parse_args()
    import make_perplexity
    if arguments.perplexity:
        make_perplexity.update(make_perplexity.all_names(), arguments.check)
        return
    if arguments.name is None:
        parser.error("name an encoding")
    path = HERE / f"{arguments.name}.safetensors"
    made = make(arguments.name)
    if arguments.check:
        check(arguments.name, made, path)
        return
    save_file(made, path)
    print(f"{path}: loss {made['loss'][0]:.6f}")
    make_perplexity.update([arguments.name])


if __name__ == "__main__":
    main()
