"""dynamic-ntk(factor=2,trained=8,fraction=1): each query's row with the base of as many tokens as it sees."""
import numpy as np
from rope import frequencies, turned
from shapes import DIM


def scores(p, layer, q, k):
    time = q.shape[1]
    rows = []
    for i in range(time):
        stretch = max(1.0, 2 * (i + 1) / 8 - 1)
        angular = frequencies(DIM, 10000.0 * stretch ** (DIM / (DIM - 2)))
        turned_q, turned_k = turned(q, angular), turned(k, angular)
        rows.append((turned_q[:, i, None] * turned_k).sum(-1))
    return np.stack(rows, 1)
