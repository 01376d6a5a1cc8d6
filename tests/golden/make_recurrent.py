#!/usr/bin/env python3
"""Writes recurrent/NAME.safetensors, which tests/model/golden_recurrent_test.cc holds recurrent networks against:

    tools/golden --recurrent            # all of them
    tools/golden --recurrent --check    # compares the files that are there, and writes nothing

An independent implementation in NumPy and double precision: one sequence at a time, one token after the other, the
clockwork network by its formula with a dense matrix and a mask, gradients by the complex step as in make_golden.py. It
shares no code with the C++ side. The files have the tensors that those of make_golden.py have.
"""
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file, save_file

FOLDER = pathlib.Path(__file__).parent / "recurrent"
VOCAB, WIDTH, UNITS = 11, 5, 8
LENGTHS = [9, 1, 6, 9]  # tokens of each sequence
STEP = 1e-30
NETWORKS = {  # kind, periods, layers
    "clockwork-2": ("cwrnn", [1, 3], 1),
    "clockwork-4": ("cwrnn", [1, 2, 4, 8], 2),
    "plain": ("rnn", [1], 1),
    "lstm": ("lstm", None, 2),
}


def draw(name, kind, periods, layers):
    """Parameters under the names of the C++ side, and a batch."""
    rng = np.random.default_rng(sum(map(ord, name)))
    p = {"embedding": rng.normal(size=(VOCAB, WIDTH)), "head": rng.normal(size=(VOCAB, UNITS))}
    for layer in range(layers):
        inputs, columns = WIDTH if layer == 0 else UNITS, 4 * UNITS if kind == "lstm" else UNITS
        p[f"layers.{layer}.input"] = rng.normal(size=(inputs, columns)) / 2
        p[f"layers.{layer}.bias"] = rng.normal(size=columns) / 2
        if kind == "lstm":
            p[f"layers.{layer}.recurrent"] = rng.normal(size=(UNITS, columns)) / 2
            continue
        size = UNITS // len(periods)
        for module in range(len(periods)):
            p[f"layers.{layer}.recurrent.{module}"] = rng.normal(size=(UNITS - module * size, size)) / 2
    tokens = rng.integers(0, VOCAB, size=sum(LENGTHS))
    offsets = np.cumsum([0] + LENGTHS)
    rows = np.concatenate([np.arange(b + (e - b) // 2, e) for b, e in zip(offsets, offsets[1:])])
    return p, tokens, offsets, rows, rng.integers(0, VOCAB, size=len(rows))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def clockwork(p, layer, xs, periods):
    size = UNITS // len(periods)
    dense = np.zeros((UNITS, UNITS), complex)  # from row to column
    for i in range(len(periods)):
        for j in range(len(periods)):
            if periods[j] >= periods[i]:
                block = p[f"layers.{layer}.recurrent.{i}"]
                dense[j * size : (j + 1) * size, i * size : (i + 1) * size] = block[(j - i) * size : (j - i + 1) * size]
    period = np.repeat(periods, size)
    h, states = np.zeros(UNITS, complex), []
    for t, x in enumerate(xs):
        active = (t % period == 0).astype(float)
        new = np.tanh(h @ dense + x @ p[f"layers.{layer}.input"] + p[f"layers.{layer}.bias"])
        h = active * new + (1 - active) * h
        states.append(h)
    return states


def lstm(p, layer, xs):
    h, c, states = np.zeros(UNITS, complex), np.zeros(UNITS, complex), []
    for x in xs:
        i, f, g, o = np.split(
            x @ p[f"layers.{layer}.input"] + h @ p[f"layers.{layer}.recurrent"] + p[f"layers.{layer}.bias"], 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        states.append(h)
    return states


def logits_of(p, kind, periods, layers, tokens, offsets, rows):
    states = []
    for begin, end in zip(offsets, offsets[1:]):
        xs = list(p["embedding"][tokens[begin:end]])
        for layer in range(layers):
            xs = lstm(p, layer, xs) if kind == "lstm" else clockwork(p, layer, xs, periods)
        states += xs
    return np.array(states)[rows] @ p["head"].T


def loss_of(logits, targets):
    shifted = logits - logits.real.max(1, keepdims=True)
    return np.mean(np.log(np.exp(shifted).sum(1)) - shifted[np.arange(len(targets)), targets])


def numbers(name):
    kind, periods, layers = NETWORKS[name]
    p, tokens, offsets, rows, targets = draw(name, kind, periods, layers)
    logits = logits_of(p, kind, periods, layers, tokens, offsets, rows)
    result = {f"parameter.{key}": value for key, value in p.items()}
    result |= {"tokens": tokens, "offsets": offsets, "loss_rows": rows, "targets": targets}
    result |= {"logits": logits.real.copy(), "loss": np.array([loss_of(logits, targets).real])}
    for key in p:
        gradient = np.zeros(p[key].size)
        for at in range(p[key].size):
            moved = {**p, key: p[key].astype(complex)}
            moved[key].flat[at] += 1j * STEP
            gradient[at] = loss_of(logits_of(moved, kind, periods, layers, tokens, offsets, rows), targets).imag / STEP
        result[f"gradient.{key}"] = gradient.reshape(p[key].shape)
    return {key: np.ascontiguousarray(value, np.int64 if value.dtype.kind == "i" else np.float64)
            for key, value in result.items()}


def main():
    check = "--check" in sys.argv[1:]
    for name in NETWORKS:
        path, made = FOLDER / f"{name}.safetensors", numbers(name)
        if not check:
            save_file(made, path)
            continue
        stored = load_file(path)
        assert stored.keys() == made.keys(), name
        for key, value in made.items():
            assert np.allclose(stored[key], value, rtol=1e-12, atol=1e-14), f"{name}: {key}"


if __name__ == "__main__":
    main()
