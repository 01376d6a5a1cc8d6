"""EVQ-cosh with the tau of 512 trained tokens."""
import math

from rope import turned_products
from shapes import DIM


def scores(p, layer, q, k):
    tau = DIM / math.sqrt(512)
    exponents = [1 - math.asinh((1 - (c + 0.5) / (DIM / 2)) * math.sinh(tau)) / tau for c in range(DIM // 2)]
    return turned_products(q, k, [10000.0**-e for e in exponents])
