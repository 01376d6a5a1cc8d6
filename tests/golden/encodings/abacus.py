"""A learned vector for the place of a digit in its number, row 0 for what is no digit; tokens 5 to 14 are the digits."""
import numpy as np
from shapes import WIDTH


def parameters(normal):
    return {"encoding.places": normal(128, WIDTH)}


def places(tokens):
    numbers = np.zeros(len(tokens), dtype=np.int64)
    for t, token in enumerate(tokens):
        begin = t
        while begin >= 0 and 5 <= tokens[begin] < 15:
            begin -= 1
        numbers[t] = t - begin
    return numbers


def embed(p, h, numbers):
    return h + p["encoding.places"][numbers]
