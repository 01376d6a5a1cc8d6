"""Scores times a number that is learned per layer and head."""
from shapes import HEADS, LAYERS, products


def parameters(normal):
    return {"encoding.scales": normal(LAYERS, HEADS)}


def scores(p, layer, q, k):
    return products(q, k) * p["encoding.scales"][layer][:, None, None]
