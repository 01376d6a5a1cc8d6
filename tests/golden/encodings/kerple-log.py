"""KERPLE's logarithmic kernel: -c ln(1 + a distance), both positive by a softplus."""
import numpy as np
from shapes import HEADS, products


def parameters(normal):
    return {"encoding.rate": normal(HEADS), "encoding.factor": normal(HEADS)}


def softplus(x):
    return np.log(1 + np.exp(x))


def scores(p, layer, q, k):
    i, j = np.indices((q.shape[1], q.shape[1]))
    a, c = softplus(p["encoding.rate"])[:, None, None], softplus(p["encoding.factor"])[:, None, None]
    return products(q, k) - c * np.log(1 + a * np.maximum(i - j, 0))
