"""RoPE++: heads 0 and 1 are RoPE's; head 2 has the imaginary part of head 0's scores, and its values."""
import numpy as np
from rope import frequencies
from shapes import DIM, causal_softmax


def parts(q, k):
    """Real and imaginary part of sum q conj(k) e^(i (i - j) w), pairs as complex numbers: [time, time] each."""
    time = q.shape[0]
    distance = np.arange(time)[:, None] - np.arange(time)
    real, imaginary = 0, 0
    for c, w in enumerate(frequencies(DIM)):
        a, b = q[:, None, 2 * c], q[:, None, 2 * c + 1]
        x, y = k[None, :, 2 * c], k[None, :, 2 * c + 1]
        re, im = a * x + b * y, b * x - a * y  # of (a + bi) (x - yi)
        cos, sin = np.cos(distance * w), np.sin(distance * w)
        real = real + re * cos - im * sin
        imaginary = imaginary + re * sin + im * cos
    return real, imaginary


def attention(p, layer, q, k, v, f):
    first, second = parts(q[0], k[0]), parts(q[1], k[1])
    weights = causal_softmax(np.stack([first[0], second[0], first[1]]))
    return weights @ np.stack([v[0], v[1], v[0]])
