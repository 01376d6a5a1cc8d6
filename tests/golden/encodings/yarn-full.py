"""The same as yarn on the whole head (yarn with --rotary-fraction 1)."""
from yarn import scaled
from shapes import DIM


def scores(p, layer, q, k):
    return scaled(q, k, DIM)
