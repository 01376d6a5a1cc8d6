"""PaTH: whenever a token comes, the keys of all earlier ones are reflected by it."""
import importlib

import numpy as np
from shapes import DIM, HEADS, LAYERS

convolved = importlib.import_module("selective-rope").convolved


def columns(layer):
    return 32 + HEADS


def parameters(normal):
    made = {}
    for layer in range(LAYERS):
        made[f"encoding.{layer}.directions"] = normal(32, HEADS * DIM)
        made[f"encoding.{layer}.convolution"] = normal(3, HEADS * DIM)
        made[f"encoding.{layer}.bias"] = normal(HEADS)
    return made


def scores(p, layer, q, k, f):
    time = q.shape[1]
    w = convolved(f[:, :32] @ p[f"encoding.{layer}.directions"], p[f"encoding.{layer}.convolution"])
    w = w / (1 + np.exp(-w))
    w = w.reshape(time, HEADS, DIM)
    w = w / np.sqrt((w * w).sum(-1, keepdims=True) + 1e-6)
    beta = 2 / (1 + np.exp(-(f[:, 32:] + p[f"encoding.{layer}.bias"])))
    kept = k + 0 * w[0, 0, 0] + 0 * beta[0, 0]
    s = np.zeros((HEADS, time, time), dtype=kept.dtype)
    for t in range(time):
        old = kept[:, :t]
        kept[:, :t] = old - (beta[t][:, None] * (old @ w[t][:, :, None])[:, :, 0])[:, :, None] * w[t][:, None, :]
        s[:, t, : t + 1] = (kept[:, : t + 1] @ q[:, t, :, None])[:, :, 0]
    return s
