"""A learned vector for each position, added to the token embedding."""
from shapes import MAX_POSITIONS, WIDTH

SEED = 1006


def parameters(normal):
    return {"encoding.positions": normal(MAX_POSITIONS, WIDTH)}


def embed(p, h):
    return h + p["encoding.positions"][: len(h)]
