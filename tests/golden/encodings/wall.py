"""Wall attention: a gate per dimension; what is compared fades by the gates between key and query."""
import numpy as np
from shapes import DIM, HEADS, LAYERS


def columns(layer):
    return HEADS * DIM


def parameters(normal):
    return {f"encoding.{layer}.bias": normal(HEADS * DIM) for layer in range(LAYERS)}


def scores(p, layer, q, k, f):
    time = q.shape[1]
    log_gates = -np.log(1 + np.exp(-(f + p[f"encoding.{layer}.bias"])))
    sums = np.cumsum(log_gates, 0).reshape(time, HEADS, DIM).transpose(1, 0, 2)
    s = np.zeros((HEADS, time, time), dtype=sums.dtype if np.iscomplexobj(sums) else q.dtype)
    for i in range(time):
        s[:, i, : i + 1] = (q[:, i, None] * k[:, : i + 1] * np.exp(sums[:, i, None] - sums[:, : i + 1])).sum(-1)
    return s
