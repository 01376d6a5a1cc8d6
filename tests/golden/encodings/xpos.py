"""xPos: RoPE whose pairs decay with the distance, pair by pair."""
import numpy as np
from rope import frequencies, turned
from shapes import DIM


def scores(p, layer, q, k):
    angular = frequencies(DIM)
    q, k = turned(q, angular), turned(k, angular)
    time = q.shape[1]
    distance = np.arange(time)[:, None] - np.arange(time)
    total = 0
    for c in range(DIM // 2):
        pair = slice(2 * c, 2 * c + 2)
        zeta = (2 * c + 0.4 * DIM) / (1.4 * DIM)
        total = total + q[:, :, pair] @ np.swapaxes(k[:, :, pair], -1, -2) * zeta ** (distance / 512)
    return total
