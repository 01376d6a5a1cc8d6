"""Llama 3's RoPE for eight times 512 tokens, on a quarter of the head."""
import math

from rope import frequencies, turned_products
from shapes import DIM


def scaled(q, k, width):
    angular = []
    for w in frequencies(width):
        wavelength = 2 * math.pi / w
        if wavelength < 512 / 4:
            angular.append(w)
        elif wavelength > 512 / 1:
            angular.append(w / 8)
        else:
            smooth = (512 / wavelength - 1) / (4 - 1)
            angular.append((1 - smooth) * w / 8 + smooth * w)
    return turned_products(q, k, angular)


def scores(p, layer, q, k):
    return scaled(q, k, DIM // 4)
