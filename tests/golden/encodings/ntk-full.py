"""The same as ntk on the whole head (ntk with --rotary-fraction 1)."""
from ntk import scaled
from shapes import DIM


def scores(p, layer, q, k):
    return scaled(q, k, DIM)
