"""T5's relative bias: one number per bucket of distances and head."""
import math

import numpy as np
from shapes import HEADS, products

SEED = 1001


def bucket(distance):
    if distance < 16:
        return distance
    return min(16 + int(math.log(distance / 16) / math.log(128 / 16) * 16), 31)


def parameters(normal):
    return {"encoding.relative_bias": normal(32, HEADS)}


def scores(p, layer, q, k):
    time = q.shape[1]
    buckets = np.array([[bucket(max(i - j, 0)) for j in range(time)] for i in range(time)])
    return products(q, k) + p["encoding.relative_bias"][buckets].transpose(2, 0, 1)
