"""Rotary encoding of all dimensions (rope with --rotary-fraction 1)."""
from rope import rotated
from shapes import products

SEED = 1004


def scores(p, layer, q, k):
    return products(rotated(q, 1.0), rotated(k, 1.0))
