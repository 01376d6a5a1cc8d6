"""YaRN for four times 512 tokens, on a quarter of the head."""
import math

from rope import frequencies, turned_products
from shapes import DIM


def scaled(q, k, width):
    def pair(turns):
        return width * math.log(512 / (turns * 2 * math.pi)) / (2 * math.log(10000.0))

    low, high = max(math.floor(pair(32)), 0), min(math.ceil(pair(1)), width - 1)
    angular = []
    for c, w in enumerate(frequencies(width)):
        divided = min(max((c - low) / (high - low), 0), 1)
        angular.append(w * (1 - divided) + w / 4 * divided)
    return turned_products(q, k, angular) * (0.1 * math.log(4) + 1) ** 2


def scores(p, layer, q, k):
    return scaled(q, k, DIM // 4)
