"""rerope(window=5,leak=0.25,fraction=1)"""
import numpy as np
from rerope import compared, places
from shapes import DIM


def scores(p, layer, q, k):
    i, j = places(q.shape[1])
    m = i - j
    return compared(q, k, DIM, np.where(m < 5, m, 5 + (m - 5) / 4))
