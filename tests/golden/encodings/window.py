"""Nothing but a window: keys at a distance of 16 or more are not seen."""
import numpy as np
from shapes import products


def scores(p, layer, q, k):
    distance = np.arange(q.shape[1])[:, None] - np.arange(q.shape[1])
    return np.where(distance >= 16, -1e9, products(q, k))
