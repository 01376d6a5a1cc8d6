"""CoPE: a key's position is the sum of gates from it up to the query; vectors of the two nearest positions are mixed."""
import numpy as np
from shapes import DIM, LAYERS, products


def parameters(normal):
    return {f"encoding.{layer}.positions": normal(64, DIM) for layer in range(LAYERS)}


def scores(p, layer, q, k):
    s = products(q, k)
    vectors = p[f"encoding.{layer}.positions"]
    gates = 1 / (1 + np.exp(-s))
    bias = 0 * s + 0 * vectors[0, 0]
    for i in range(q.shape[1]):
        place = np.cumsum(gates[:, i, i::-1], -1)[:, ::-1]  # [head, key]
        below = np.floor(place.real).astype(int)
        part = (place - below)[:, :, None]
        mixed = (1 - part) * vectors[below] + part * vectors[below + 1]
        bias[:, i, : i + 1] = (mixed @ q[:, i, :, None])[:, :, 0]
    return s + bias
