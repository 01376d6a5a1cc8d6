"""What `lengthwise heads` would leave in a made-up run: two layers of five heads that are of every class."""
import base64
import functools
import json
import math
import os

COLUMNS = ["run", "task", "encoding", "seed", "content", "length", "tokens", "layer", "head", "class", "positional", "survives", "entropy", "distance",
           "family", "contested", "family_r2", "slope"]
CLASSES = ["diagonal", "previous", "offset-3", "uniform", "first", "local", "induction", "content", "diffuse", "content"]
FAMILIES = ["linear", "log", "power", "constant", "buckets", "square", "exponentials", "geometric", "cosines", "damped"]
HEADS = 5
SIDE = 64


@functools.lru_cache(maxsize=None)
def map_bytes(head, side):
    """Rows of bytes; no weight behind a query."""
    return b"".join(bytes((37 * row + 11 * column + 5 * head) % 200 if column <= row else 0 for column in range(side)) for row in range(side))


def heads(names, limit, strength, hostile):
    """Columns, rows and summary."""
    rows, listed, maps = [], [], []
    for length in (limit, 2 * limit, 4 * limit):
        tokens = 2 * length + 6
        for content in ("task", "exchanged"):
            for index, name in enumerate(CLASSES):
                beyond = length > limit and index == 1  # a head that loses its class beyond training
                name = "diffuse" if beyond else name
                positional, contested, slope = index in (0, 1, 3) and not beyond, index % 2 == 1, round(strength / (index + 1), 4)
                survives, entropy, distance = round(.9 - index / 20, 4), round(.1 + index / 20, 4), round(index / 10 * (1 if content == "task" else .5), 4)
                distances = tokens // 2
                profile = [round(-slope * d + .1 * math.sin(d + index), 4) for d in range(min(SIDE, distances))]
                listed.append({"content": content, "length": length, "layer": index // HEADS + 1, "head": index % HEADS + 1, "class": name,
                               "positional": positional, "survives": survives, "entropy": entropy, "distance": distance, "family": FAMILIES[index],
                               "contested": contested, "slope": slope, "r2": .95, "distances": distances, "profile": profile,
                               "fitted": [None] + [round(-slope * d, 4) for d in range(1, len(profile))]})
                rows.append([*names, content, length, tokens, index // HEADS + 1, index % HEADS + 1, name, "yes" if positional else "no", survives,
                             entropy, distance, FAMILIES[index], "yes" if contested else "no", .95, slope])
        side = min(SIDE, tokens)
        encoded = [base64.b64encode(map_bytes(index, side)).decode() for index in range(len(CLASSES))]
        maps.append({"side": side, "tokens": tokens, "maps": [encoded[:HEADS], encoded[HEADS:]], "length": length,
                     "words": ["", hostile, *(f"word{i}" for i in range(2, tokens))]})
    return COLUMNS, rows, {"heads": listed, "maps": maps}


def change(folder, edit):
    path = os.path.join(folder, "heads.json")
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    edit(content["summary"])
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)
