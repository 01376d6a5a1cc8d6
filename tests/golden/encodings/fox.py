"""Forgetting attention: the log of a gate of every token, summed from behind the key up to the query."""
import numpy as np
from shapes import HEADS, LAYERS, products


def columns(layer):
    return HEADS


def parameters(normal):
    return {f"encoding.{layer}.bias": normal(HEADS) for layer in range(LAYERS)}


def forgotten(q, k, log_gates):
    """log_gates [time, head]"""
    sums = np.cumsum(log_gates, 0).T
    return products(q, k) + sums[:, :, None] - sums[:, None, :]


def scores(p, layer, q, k, f):
    return forgotten(q, k, -np.log(1 + np.exp(-(f + p[f"encoding.{layer}.bias"]))))
