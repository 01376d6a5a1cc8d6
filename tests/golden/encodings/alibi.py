"""ALiBi: a slope per head times the position of the key, which is the distance but for a constant of each row."""
import numpy as np
from shapes import products

SEED = 1002

# Three heads: the two slopes of two heads, then the first of four.
SLOPES = np.array([2.0**-4, 2.0**-8, 2.0**-2])


def biased(slopes, q, k):
    return products(q, k) + slopes[:, None, None] * np.arange(q.shape[1])


def scores(p, layer, q, k):
    return biased(SLOPES, q, k)
