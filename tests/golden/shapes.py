"""The model and the batch of the golden numbers; tests/model/golden_test.cc has the same."""
import numpy as np

LAYERS, WIDTH, HEADS, DIM, FF, VOCAB = 2, 24, 3, 8, 40, 19
LENGTHS = [1, 6, 23, 13]
MAX_POSITIONS = 32


def products(q, k):
    """q, k [head, time, dim] -> [head, query, key]: what attention's scores are without an encoding."""
    return q @ np.swapaxes(k, -1, -2)


def causal_softmax(scores):
    """scores [head, query, key] -> weights"""
    scores = scores + np.where(np.tri(scores.shape[-1], dtype=bool), 0.0, -1e300)
    powers = np.exp(scores - scores.real.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def sinusoid_row(position):
    row = np.zeros(WIDTH)
    for c in range(WIDTH // 2):
        w = 10000.0 ** (-2.0 * c / WIDTH)
        row[c] = np.sin(position * w)
        row[WIDTH // 2 + c] = np.cos(position * w)
    return row
