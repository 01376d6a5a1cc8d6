"""CABLE: softplus of a number of every token counts against all keys before it."""
import numpy as np
from fox import columns, forgotten, parameters


def scores(p, layer, q, k, f):
    return forgotten(q, k, -np.log(1 + np.exp(f + p[f"encoding.{layer}.bias"])))
