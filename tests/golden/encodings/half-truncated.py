"""Half-truncated RoPE: half of the pairs, frequencies from 1 to 1/1024."""
from rope import turned_products
from shapes import DIM


def scores(p, layer, q, k):
    pairs = DIM // 4
    return turned_products(q, k, [1024.0 ** -(c / (pairs - 1)) for c in range(pairs)])
