"""TAPE: RoPE whose complex factors, of every token, head and pair, go from layer to layer and are changed there."""
import numpy as np
from rope import frequencies
from shapes import DIM, HEADS, LAYERS, WIDTH

HIDDEN = WIDTH // 2


def parameters(normal):
    made = {}
    for layer in range(LAYERS - 1):
        made[f"encoding.{layer}.gain"] = normal(HEADS)
        made[f"encoding.{layer}.up"] = normal(HEADS, HIDDEN)
        made[f"encoding.{layer}.gate"] = normal(WIDTH, HIDDEN)
        made[f"encoding.{layer}.down"] = normal(HIDDEN, HEADS)
    return made


def first_state(time):
    """[head, time, pair, 2]"""
    angle = np.arange(time)[:, None] * np.array(frequencies(DIM))
    return np.broadcast_to(np.stack([np.cos(angle), np.sin(angle)], -1), (HEADS, time, DIM // 2, 2))


def multiplied(x, e):
    pairs = x.reshape(*x.shape[:2], DIM // 2, 2)
    a, b, cos, sin = pairs[..., 0], pairs[..., 1], e[..., 0], e[..., 1]
    return np.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


def scores(p, layer, q, k, e):
    return multiplied(q, e) @ np.swapaxes(multiplied(k, e), -1, -2)


def behind_attention(p, layer, e, weights):
    if layer == LAYERS - 1:
        return e
    return e + p[f"encoding.{layer}.gain"][:, None, None, None] * np.einsum("hij,hjcx->hicx", weights, e)


def behind_network(p, layer, e, y):
    if layer == LAYERS - 1:
        return e
    z = y @ p[f"encoding.{layer}.gate"]
    gate = z / (1 + np.exp(-z))
    up = np.einsum("hicx,hp->picx", e, p[f"encoding.{layer}.up"])
    return e + np.einsum("ip,picx,ph->hicx", gate, up, p[f"encoding.{layer}.down"])
