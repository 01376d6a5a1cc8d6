"""Rotary encoding: complex multiplication of neighbouring pairs, of a quarter of the dimensions."""
import numpy as np
from shapes import DIM, products

SEED = 1003


def rotated(x, fraction):
    """x [head, time, dim]"""
    width = int(fraction * DIM) // 2 * 2
    out = x.copy()
    positions = np.arange(x.shape[1])
    for c in range(width // 2):
        angle = positions * 10000.0 ** (-2.0 * c / width)
        a, b = x[:, :, 2 * c], x[:, :, 2 * c + 1]
        out[:, :, 2 * c] = a * np.cos(angle) - b * np.sin(angle)
        out[:, :, 2 * c + 1] = b * np.cos(angle) + a * np.sin(angle)
    return out


def scores(p, layer, q, k):
    return products(rotated(q, 0.25), rotated(k, 0.25))
