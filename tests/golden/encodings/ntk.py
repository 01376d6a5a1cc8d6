"""NTK-aware RoPE for four times the length. A quarter of the head is one pair, which keeps its frequency."""
from rope import frequencies, turned_products
from shapes import DIM


def scaled(q, k, width):
    base = 10000.0 * 4 ** (width / (width - 2)) if width > 2 else 10000.0
    return turned_products(q, k, frequencies(width, base))


def scores(p, layer, q, k):
    return scaled(q, k, DIM // 4)
