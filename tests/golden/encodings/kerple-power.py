"""KERPLE's power kernel: -a distance^p, a positive by a softplus, p between 0 and 2 by twice a sigmoid."""
import numpy as np
from shapes import HEADS, products


def parameters(normal):
    return {"encoding.factor": normal(HEADS), "encoding.exponent": normal(HEADS)}


def powers(a, p, q, k):
    """Distances to a power that is written as exp(p ln distance); 0 stays 0."""
    i, j = np.indices((q.shape[1], q.shape[1]))
    logarithms = np.log(np.maximum(i - j, 1))
    raised = np.where(i > j, np.exp(p[:, None, None] * logarithms), 0)
    return products(q, k) - a[:, None, None] * raised


def scores(p, layer, q, k):
    a = np.log(1 + np.exp(p["encoding.factor"]))
    return powers(a, 2 / (1 + np.exp(-p["encoding.exponent"])), q, k)
