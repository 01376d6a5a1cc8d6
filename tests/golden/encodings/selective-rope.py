"""Selective RoPE: angles that add up what the tokens say, convolved over four of them."""
import numpy as np
from shapes import DIM, HEADS, LAYERS, products


def columns(layer):
    return 16


def parameters(normal):
    made = {}
    for layer in range(LAYERS):
        made[f"encoding.{layer}.phases"] = normal(16, HEADS * DIM // 2)
        made[f"encoding.{layer}.convolution"] = normal(4, HEADS * DIM // 2)
    return made


def convolved(x, taps):
    """x [time, channel], taps [tap, channel]"""
    out = []
    for t in range(len(x)):
        out.append(sum(taps[s] * x[t - s] for s in range(len(taps)) if s <= t))
    return np.array(out)


def scores(p, layer, q, k, f):
    time = q.shape[1]
    phases = convolved(f @ p[f"encoding.{layer}.phases"], p[f"encoding.{layer}.convolution"])
    sums = np.cumsum(phases, 0).reshape(time, HEADS, DIM // 2).transpose(1, 0, 2)
    s = 0
    for c in range(DIM // 2):
        angle = sums[:, :, c] * 500000.0 ** (-2.0 * c / DIM)
        turn = angle[:, :, None] - angle[:, None, :]
        a, b = q[:, :, None, 2 * c], q[:, :, None, 2 * c + 1]
        x, y = k[:, None, :, 2 * c], k[:, None, :, 2 * c + 1]
        s = s + np.cos(turn) * (a * x + b * y) - np.sin(turn) * (b * x - a * y)
    return s
