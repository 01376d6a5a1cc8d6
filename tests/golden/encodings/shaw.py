"""Shaw's relative keys: a vector for each distance up to 16 is added to the key, the same for all heads."""
import numpy as np
from shapes import DIM


def layer_parameters(normal, layer):
    return {f"encoding.{layer}.relative_keys": normal(17, DIM)}


def scores(p, layer, q, k):
    i, j = np.indices((q.shape[1], q.shape[1]))
    vectors = p[f"encoding.{layer}.relative_keys"][np.clip(i - j, 0, 16)]  # [query, key, dim]
    return ((k[:, None, :, :] + vectors) * q[:, :, None, :]).sum(-1)
