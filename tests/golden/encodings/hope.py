"""High-frequency HoPE: only wavelengths of at most 512 tokens."""
import math

from rope import frequencies, turned_products
from shapes import DIM


def scores(p, layer, q, k):
    return turned_products(q, k, [w for w in frequencies(DIM) if 2 * math.pi / w <= 512])
