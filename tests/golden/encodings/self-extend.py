"""SelfExtend: from a distance of 16 on, RoPE on a quarter of the head counts positions in groups of 4."""
import numpy as np
from rerope import compared, places
from shapes import DIM


def grouped(q, k, width, window, group):
    i, j = places(q.shape[1])
    return compared(q, k, width, np.where(i - j < window, i - j, i // group - j // group + window - window // group))


def scores(p, layer, q, k):
    return grouped(q, k, DIM // 4, 16, 4)
