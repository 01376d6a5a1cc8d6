#!/usr/bin/env python3
"""Writes perplexity.json: the losses by context that tests/eval/golden_perplexity_test.cc holds the evaluation against,
for every encoding that has golden numbers (NAME.safetensors):

    tools/golden --perplexity            # all of them
    tools/golden --perplexity --check    # compares the file that is there, and writes nothing

`tools/golden NAME` brings the entry of its encoding up to date as well. The text is cut, and every window is scored, by
the few lines below, in NumPy and double precision; they share no code with the C++ side.
"""
import json
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file

from make_golden import HERE, forward, load_encoding

PATH = HERE / "perplexity.json"
BOS, EOS, SPECIALS = 1, 0, 3
PROTOCOLS = [(8, 8), (23, 23), (23, 7), (23, 1)]  # window, stride; no formula here need know more than 23 places


def documents():
    """Letters a to p, which are the tokens 3 to 18."""
    state, texts = 7, []
    for length in (61, 9, 33):
        letters = []
        for _ in range(length):
            state = (1103515245 * state + 12345) % 2**31
            letters.append(chr(ord("a") + (state >> 16) % 16))
        texts.append("".join(letters))
    return texts


def measure(encoding, p, texts, window, stride):
    """Sums over all tokens but `<bos>`; how many stand before each within its window decides its bin."""
    bins = {}
    for text in texts:
        tokens = [BOS] + [SPECIALS + ord(letter) - ord("a") for letter in text] + [EOS]
        done = 1  # tokens that were predicted, or need not be
        for begin in range(0, len(tokens), stride):
            seen = np.array(tokens[begin : begin + window + 1])
            logits = forward(encoding, p, seen[:-1]) if begin + len(seen) > done else []
            for at in range(len(logits)):
                if begin + at + 1 < done:
                    continue
                row = logits[at] - logits[at].max()
                nats = np.log(np.exp(row).sum()) - row[seen[at + 1]]
                entry = bins.setdefault(int(np.ceil(np.log2(at + 1))), [0, 0.0])  # 1, 2, 3 to 4, 5 to 8, ...
                entry[0] += 1
                entry[1] += float(nats)
                done = begin + at + 2
    assert sum(count for count, _ in bins.values()) == sum(len(text) + 1 for text in texts)
    return [[2**bin // 2 + 1, *bins[bin]] for bin in sorted(bins)]


def entry_of(name, texts):
    stored = load_file(HERE / f"{name}.safetensors")
    p = {key.removeprefix("parameter."): value for key, value in stored.items() if key.startswith("parameter.")}
    encoding = load_encoding(name)
    return [{"window": window, "stride": stride, "positions": measure(encoding, p, texts, window, stride)}
            for window, stride in PROTOCOLS]


def update(names, check=False):
    texts = documents()
    stored = json.loads(PATH.read_text()) if PATH.exists() else {"encodings": {}}
    made = {"documents": texts, "encodings": dict(stored["encodings"])}
    for name in names:
        made["encodings"][name] = entry_of(name, texts)
    if not check:
        made["encodings"] = dict(sorted(made["encodings"].items()))
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in made["encodings"].items())
        PATH.write_text(f'{{"documents": {json.dumps(texts)},\n"encodings": {{\n{lines}\n}}}}\n')
        print(f"{PATH}: {len(names)} of {len(made['encodings'])} encodings")
        return
    for name in names:
        for old, new in zip(stored["encodings"][name], made["encodings"][name], strict=True):
            if not np.allclose(np.array(old["positions"]), np.array(new["positions"]), rtol=1e-12, atol=0):
                sys.exit(f"{PATH}: {name} at window {new['window']} differs")
    print(f"{PATH}: the same for {len(names)} encodings")


def all_names():
    return sorted(path.stem for path in pathlib.Path(HERE).glob("*.safetensors"))
