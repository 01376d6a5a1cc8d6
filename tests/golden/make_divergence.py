#!/usr/bin/env python3
"""Writes divergence.json, which tests/analysis/divergence_test.cc holds analysis/divergence.h against:

    tests/golden/make_divergence.py            # writes the file
    tests/golden/make_divergence.py --check    # compares the file that is there, and writes nothing

An independent computation from the definitions, in decimals of 50 digits: KL divergences written out term by term, one
query after the other. Weights are fractions of small whole numbers, so that both sides begin with the same numbers.

Each case: `a`, `b` [head][query][key] whole numbers whose share of their row is the weight; `jensen_shannon` and
`as_published` [head of a][head of b], means over queries, null where infinite; `nearest` for each of the two:
[divergence, head, other head].
"""
import argparse
import decimal
import json
import pathlib
import random

decimal.getcontext().prec = 50
Decimal = decimal.Decimal
FILE = pathlib.Path(__file__).parent / "divergence.json"
INFINITE = Decimal("Infinity")


def shares(row):
    total = sum(row)
    return [Decimal(count) / total for count in row]


def kl(p, q):
    """sum p ln(p / q), 0 ln 0 = 0"""
    total = Decimal(0)
    for x, y in zip(p, q):
        if x == 0:
            continue
        if y == 0:
            return INFINITE
        total += x * (x / y).ln()
    return total


def jensen_shannon(p, q):
    m = [(x + y) / 2 for x, y in zip(p, q)]
    return (kl(p, m) + kl(q, m)) / 2


def as_published(p, q):
    m = [(x + y) / 2 for x, y in zip(p, q)]
    return (kl(m, p) + kl(m, q)) / 2


def mean_over_queries(divergence, p_head, q_head):
    return sum((divergence(shares(p), shares(q)) for p, q in zip(p_head, q_head)), Decimal(0)) / len(p_head)


def nearest(table, pairs):
    best = min(pairs, key=lambda pair: table[pair[0]][pair[1]])
    return [number(table[best[0]][best[1]]), best[0], best[1]]


def number(value):
    return None if value == INFINITE else float(value)


def case(name, a, b):
    result = {"name": name, "a": a, "b": b}
    every = [(j, i) for j in range(len(a)) for i in range(len(b))]
    # Head i of b against head j of a, i < j.
    published = [(j, i) for j, i in every if i < j]
    for title, divergence, pairs in [("jensen_shannon", jensen_shannon, every),
                                     ("as_published", as_published, published)]:
        table = [[mean_over_queries(divergence, p, q) for q in b] for p in a]
        result[title] = [[number(value) for value in row] for row in table]
        if pairs:
            result["nearest_" + title] = nearest(table, pairs)
    return result


def random_head(rng, queries, least):
    """Causal: query t sees the keys 0 .. t."""
    return [[rng.randint(least, 9) + (key == query and least == 0) for key in range(query + 1)] + [0] * (queries - query - 1)
            for query in range(queries)]


def all_cases():
    rng = random.Random(7)
    first = [[1, 0, 0], [1, 0, 0], [1, 0, 0]]
    diagonal = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    uniform = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    return [
        case("one query, two keys", [[[3, 1]]], [[[1, 3]]]),
        case("first token, diagonal and uniform", [first, diagonal], [diagonal, uniform]),
        case("the same heads in another order", [first, uniform, diagonal], [diagonal, first, uniform]),
        case("random, every key seen", [random_head(rng, 6, 1) for _ in range(3)],
             [random_head(rng, 6, 1) for _ in range(3)]),
        case("random, some keys without weight", [random_head(rng, 5, 0) for _ in range(2)],
             [random_head(rng, 5, 0) for _ in range(4)]),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    text = json.dumps(all_cases(), indent=1) + "\n"
    if not parser.parse_args().check:
        FILE.write_text(text)
    elif FILE.read_text() != text:
        raise SystemExit(f"{FILE} is not what this script makes")


if __name__ == "__main__":
    main()
