"""Transformer-XL: keys of the distance, and biases of content and position, in each layer.

As in the released codes: vectors of the distances time-1 .. 0, then a shift of every row.
"""
import numpy as np
from shapes import DIM, HEADS, WIDTH, products, sinusoid_row

SEED = 1008


def layer_parameters(normal, layer):
    return {f"encoding.{layer}.relative": normal(WIDTH, HEADS * DIM),
            f"encoding.{layer}.content_bias": normal(HEADS, DIM),
            f"encoding.{layer}.position_bias": normal(HEADS, DIM)}


def scores(p, layer, q, k):
    time = q.shape[1]
    u, v = p[f"encoding.{layer}.content_bias"], p[f"encoding.{layer}.position_bias"]
    r = np.array([sinusoid_row(min(d, 1000)) for d in range(time - 1, -1, -1)])
    r = (r @ p[f"encoding.{layer}.relative"]).reshape(time, HEADS, DIM).transpose(1, 0, 2)
    position = products(q + v[:, None, :], r)
    padded = np.concatenate([np.zeros((HEADS, time, 1)), position], -1)
    shifted = padded.reshape(HEADS, time + 1, time)[:, 1:].reshape(HEADS, time, time)
    return products(q + u[:, None, :], k) + shifted
