"""bam+ssmax(of=all): scores and BAM's prior, both times s ln n."""
import importlib

import numpy as np
from shapes import HEADS, LAYERS

# Numbers for which the gradients of the encoding's own parameters, sums over all pairs, are not nearly cancelled.
SEED = 10

bam = importlib.import_module("bam")


def parameters(normal):
    of_bam = {key.replace("encoding.", "encoding.bam."): value for key, value in bam.parameters(normal).items()}
    return {**of_bam, "encoding.ssmax.scales": normal(LAYERS, HEADS)}


def scores(p, layer, q, k):
    of_bam = {key.replace("encoding.bam.", "encoding."): value for key, value in p.items()}
    counts = np.arange(1, q.shape[1] + 1)
    return bam.scores(of_bam, layer, q, k) * p["encoding.ssmax.scales"][layer][:, None, None] * np.log(counts)[:, None]
