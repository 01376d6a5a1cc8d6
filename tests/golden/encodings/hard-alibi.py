"""Hard ALiBi: of three heads two have windows, of one token and of two; the third sees all."""
import numpy as np
from shapes import products

WINDOWS = [1, 2, 1000]


def scores(p, layer, q, k):
    i, j = np.indices((q.shape[1], q.shape[1]))
    seen = i - j < np.array(WINDOWS)[:, None, None]
    return np.where(seen, products(q, k), -1e300)
