"""p-RoPE: the three highest of the four frequencies of a head."""
from rope import frequencies, turned_products
from shapes import DIM


def scores(p, layer, q, k):
    return turned_products(q, k, frequencies(DIM)[:3])
