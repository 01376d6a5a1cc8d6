"""Rotary encoding: complex multiplication of neighbouring pairs, of a quarter of the dimensions."""
import numpy as np
from shapes import DIM, products

SEED = 1003


def frequencies(width, base=10000.0):
    return [base ** (-2.0 * c / width) for c in range(width // 2)]


def turned(x, angular):
    """x [head, time, dim], pair c by angular[c] at each step"""
    out = x.copy()
    positions = np.arange(x.shape[1])
    for c, w in enumerate(angular):
        angle = positions * w
        a, b = x[:, :, 2 * c], x[:, :, 2 * c + 1]
        out[:, :, 2 * c] = a * np.cos(angle) - b * np.sin(angle)
        out[:, :, 2 * c + 1] = b * np.cos(angle) + a * np.sin(angle)
    return out


def rotated(x, fraction):
    return turned(x, frequencies(int(fraction * DIM) // 2 * 2))


def turned_products(q, k, angular):
    return products(turned(q, angular), turned(k, angular))


def scores(p, layer, q, k):
    return products(rotated(q, 0.25), rotated(k, 0.25))
