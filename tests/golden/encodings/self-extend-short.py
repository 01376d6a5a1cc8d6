"""self-extend(window=5,group=3,fraction=1): the group does not divide the window."""
import importlib

from shapes import DIM

grouped = importlib.import_module("self-extend").grouped


def scores(p, layer, q, k):
    return grouped(q, k, DIM, 5, 3)
