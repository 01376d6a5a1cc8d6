"""RetNet's decay within a softmax: weights times gamma^distance, which is a bias of its logarithm."""
import numpy as np
from shapes import HEADS, products


def scores(p, layer, q, k):
    i, j = np.indices((q.shape[1], q.shape[1]))
    gamma = np.array([1 - 2.0 ** (-5 - h) for h in range(HEADS)])[:, None, None]
    return products(q, k) + np.log(gamma ** np.maximum(i - j, 0))
