"""Resonance RoPE: whole wavelengths."""
import math

from rope import frequencies, turned_products
from shapes import DIM


def scores(p, layer, q, k):
    return turned_products(q, k, [2 * math.pi / round(2 * math.pi / w) for w in frequencies(DIM)])
