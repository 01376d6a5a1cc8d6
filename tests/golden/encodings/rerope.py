"""ReRoPE: from a distance of 16 on, RoPE on a quarter of the head sees a distance of 16."""
import numpy as np
from rope import frequencies
from shapes import DIM


def compared(q, k, width, relative):
    """Scores when the key of each pair stands relative[query, key] behind the query: every pair turned by itself."""
    total = q[:, :, width:] @ np.swapaxes(k[:, :, width:], -1, -2)
    for c, w in enumerate(frequencies(width)):
        a, b = q[:, :, None, 2 * c], q[:, :, None, 2 * c + 1]
        x, y = k[:, None, :, 2 * c], k[:, None, :, 2 * c + 1]
        cos, sin = np.cos(relative * w), np.sin(relative * w)
        total = total + (a * cos - b * sin) * x + (b * cos + a * sin) * y
    return total


def places(time):
    return np.arange(time)[:, None], np.arange(time)[None, :]


def clipped(q, k, width):
    i, j = places(q.shape[1])
    return compared(q, k, width, np.minimum(i - j, 16))


def scores(p, layer, q, k):
    return clipped(q, k, DIM // 4)
