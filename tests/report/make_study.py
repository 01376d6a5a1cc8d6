#!/usr/bin/env python3
"""Writes a study folder with made-up results: make_study.py OUT [--tasks N] [--encodings N] [--seeds N] [--troubles] [--tuned] [--analyses] [--many] [--text].

The files are those of docs/formats.md. Accuracies follow a falling curve per encoding and are the same on every call.
--troubles adds what a report must survive: a run that failed, one that is waiting, an encoding that did not fit, a
user's own encoding, a run with a damaged file, a test set that begins among the lengths of training, and texts that
would break a careless page. --tuned tries two learning rates everywhere and says that they are tuned. --analyses adds
what `lengthwise probe`, `heads` and `similarity` leave in runs, and with --troubles some of it damaged. --many has the encodings of
many_encodings.py, with the labels and families that runs write. --text makes all of them runs on one text (made_text.py), with
--damaged some of whose numbers cannot be read.
"""
import argparse
import hashlib
import itertools
import json
import math
import os
import shutil

import made_heads
import made_text
import many_encodings

TASKS = [  # name, unit of length, training limit, longest length
    ("copy", 20, 40), ("addition", 8, 16), ("scan", 25, 48), ("reverse", 20, 40), ("sort", 8, 16), ("copy-rsc", 20, 40),
    ("copy-rsc2x", 20, 40), ("copy-rdc", 20, 40), ("copy-cmc2x", 20, 40), ("reverse-mc2x", 20, 40),
    ("reverse-mcrv", 20, 40), ("polynomial", 8, 16), ("sort-multi", 8, 16), ("summation", 8, 16), ("parity", 8, 16),
    ("lego", 8, 16), ("pcfg", 8, 35)]
ENCODINGS = [("nope", 0.62), ("t5", 0.55), ("alibi", 0.42), ("rope", 0.22), ("sinusoidal", 0.12), ("learned", 0.10),
             ("alibi-learned", 0.45), ("transformer-xl", 0.35)]
PROBE_COLUMNS = ["run", "task", "encoding", "seed", "content", "states", "labels", "target", "probe", "fit", "layer", "length", "where",
                 "r2", "r2_low", "r2_high", "error", "error_low", "error_high", "sequences", "rows", "penalty"]
SIMILARITY_COLUMNS = ["run", "task", "encoding", "seed", "other", "other_encoding", "other_seed", "relation", "content", "computation",
                      "length", "tokens", "layer", "divergence", "low", "high", "sequences", "head", "other_head"]
HOSTILE = "</script><script>alert('x')</script> & <b>\"quoted\"</b>"


def noise(*key):
    """Between -1 and 1, a function of the key alone."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    return int.from_bytes(digest[:4], "little") / 2**31 - 1


def wilson(correct, count, z=1.959963984540054):
    p = correct / count
    half = z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count))
    center, denominator = p + z * z / (2 * count), 1 + z * z / count
    return max(0, (center - half) / denominator), min(1, (center + half) / denominator)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def write_json(folder, name, value):
    write(folder, name, json.dumps(value, indent=2) + "\n")


def rows_of(task, limit, longest, encoding, strength, seed, fits, overlap):
    difficulty = 0.12 * noise("task", task, encoding) + 0.05 * noise("seed", task, encoding, seed)
    reach = limit * (1 + max(0.02, strength + difficulty))
    rows = []
    for split, lengths in (("validation", range(1, limit + 1)), ("test", range(limit + 1 - overlap, longest + 1))):
        for length in lengths:
            accuracy = 1 / (1 + math.exp((length - reach) / (0.06 * limit + 0.4)))
            if length <= limit:
                accuracy = 1 - 0.004 * length / limit if fits else 0.35
            count = 200
            correct = max(0, min(count, round(count * accuracy + 2 * noise(task, encoding, seed, length))))
            low, high = wilson(correct, count)
            rows.append({"selection": "best", "split": split, "length": length, "count": count, "correct": correct,
                         "accuracy": correct / count, "low": low, "high": high, "loss": 0.3 * (1 - correct / count)})
    return rows


def write_run(folder, task, limit, longest, encoding, strength, seed, steps, fits, overlap=0, rate=0.001, many=False):
    os.makedirs(folder)
    options = {"task": task, "data": "", "corpus": "", "wording": "printed", "scratchpad": "none",
               "train-lengths": f"1:{limit}", "test-lengths": f"{limit + 1 - overlap}:{longest}", "train-count": 100000,
               "validation-count": None, "test-count": 200 * (longest - limit), "data-seed": 9842497, "dedup": False,
               "model": "tiny", "layers": 4, "width": 128, "heads": 4, "dropout": 0.0, "encoding": encoding,
               "seed": seed, "steps": steps, "batch-size": 64, "lr": rate, "threads": 2}
    label, family = many_encodings.LABELS.get(encoding, (None, None))
    written = {"encoding_label": label, "encoding_family": family} if many else {}
    write_json(folder, "config.json", {"format": "lengthwise-run", "version": 1, "lengthwise": "0.1.0",
                                       "torch": "2.11.0", **written, "options": options})
    if many:
        write_json(folder, "origin.json", {"format": "lengthwise-origin", "version": 1, "commit": "0123abc", "machine": "Some CPU",
                                           "seconds": 30 * seed * (1 + len(encoding) / 10)})
    rows = rows_of(task, limit, longest, encoding, strength, seed, fits, overlap)
    rows += [dict(row, selection="last") for row in rows]
    write(folder, "eval.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    metrics, every = [], max(1, steps // 400)
    for step in range(every, steps + 1, every):
        loss = 2.5 * math.exp(-6 * step / steps) + 0.004 + 0.002 * abs(noise(task, encoding, seed, step))
        metrics.append({"step": step, "loss": loss, "lr": 1e-3, "gradient_norm": 0.5})
        if step % (steps // 20) == 0 and step < steps:
            metrics.append({"step": step, "validation_loss": loss,
                            "validation_exact_match": (1 - math.exp(-7 * step / steps)) * (1 if fits else 0.4)})
    metrics.append({"step": steps, "validation_loss": 0.01, "validation_exact_match": 1.0 if fits else 0.4})
    write(folder, "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in metrics))
    examples = []
    for length in range(limit + 1, limit + 4):
        for i in range(4):
            target = " ".join(str((length * 7 + i * 3 + k) % 10) for k in range(length))
            answer = target if i % 2 == 0 else target[:-3] + "9 9"
            examples.append({"selection": "best", "split": "test", "length": length,
                             "prompt": f"Answer: {target} ? " + (HOSTILE if i == 3 else ""), "target": target,
                             "answer": answer, "correct": answer == target})
    write(folder, "examples.jsonl", "".join(json.dumps(row) + "\n" for row in examples))
    share = {split: sum(r["correct"] for r in rows if r["split"] == split and r["selection"] == "best") /
             sum(r["count"] for r in rows if r["split"] == split and r["selection"] == "best")
             for split in ("validation", "test")}
    section = {"step": steps, "in_distribution": share["validation"], "out_of_distribution": share["test"]}
    write_json(folder, "summary.json", {"format": "lengthwise-summary", "version": 1, **section, "selection": "best",
                                        "decoding": "teacher-forcing", "parameters": 801024, "best": section,
                                        "last": section})


def read_json(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def make_text_run(folder, encoding, strength, seed):
    """Turns a run on a task into one on text."""
    found = made_text.perplexity(encoding, strength, noise("text", encoding, seed), 900 + seed)
    write_json(folder, "perplexity.json", found)
    rows = made_text.evaluation(found)
    write(folder, "eval.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    write(folder, "examples.jsonl", "")
    config, summary = read_json(folder, "config.json"), read_json(folder, "summary.json")
    config["options"].update({"task": "", "text": "runs/books", "context": made_text.CONTEXT, "train-lengths": None, "test-lengths": None})
    for selection in ("best", "last"):
        own = [row for row in rows if row["selection"] == selection]
        tally = {}
        for part, used in (("in_distribution", [r for r in own if r["split"] == "validation"]),
                           ("out_of_distribution", [r for r in own if r["split"] == "test"])):
            tally[part] = sum(r["correct"] for r in used) / sum(r["count"] for r in used)
        summary[selection].update(tally)
        summary.update(tally if selection == "best" else {})
    write_json(folder, "config.json", config)
    write_json(folder, "summary.json", summary)


def damage_text(out):
    write(os.path.join(out, "runs", "books-nope-1"), "perplexity.json", HOSTILE)
    folder = os.path.join(out, "runs", "books-t5-1")
    found = read_json(folder, "perplexity.json")
    found["rows"][4]["nats"] = None
    write_json(folder, "perplexity.json", found)


def csv_of(header, rows):
    return "".join(",".join(str(cell) for cell in row) + "\n" for row in [header, *rows])


def write_analysis(folder, name, limit, summary, text):
    inner = os.path.join(folder, "analysis")
    os.makedirs(inner, exist_ok=True)
    write(inner, f"{name}.csv", text)
    write_json(inner, f"{name}.json", {"format": "lengthwise-analysis", "version": 1, "analysis": name, "weights": "best",
                                       "trained_length": limit, "summary": summary})


def write_probe(folder, task, limit, encoding, strength, seed):
    rows = []
    for content, target, probe, fit, length in itertools.product(
            ("task", "exchanged"), ("position", "distance"), ("linear", "nonlinear"), ("trained", "all"), (limit, 4 * limit)):
        for states, labels in (("trained", "true"), ("trained", "shuffled"), ("untrained", "true"),
                               ("constructed", "true"), ("token", "true")):
            for layer in range(1 if states == "token" else 3):
                r2 = {"trained": strength * layer / 2, "untrained": 0.1 * layer, "constructed": min(1, layer), "token": 0.0}[states]
                r2 = -0.01 if labels == "shuffled" else r2 + 0.02 * noise(task, encoding, seed, content, target, probe, fit, layer)
                r2 -= 1.5 if length > limit and fit == "trained" else 0
                r2 = round(r2, 4)
                rows.append([os.path.basename(folder), task, encoding, seed, content, states, labels, target, probe, fit, layer, length,
                             "inside" if length == limit else "beyond", r2, round(r2 - 0.05, 4), round(r2 + 0.05, 4), 3.5, 3, 4, 20, 900, ""])
    write_analysis(folder, "probe", limit, {"trained_tokens": 2 * limit}, csv_of(PROBE_COLUMNS, rows))


def write_similarity(folder, task, limit, seed, others):
    rows, means = [], []
    for (other, strength), content, computation, length in itertools.product(
            others, ("task", "exchanged"), ("jensen-shannon", "as-published"), (limit, 2 * limit, 4 * limit)):
        relation = "baseline" if other == "nope" else "encoding"
        values = [round((0.6 - strength / 2) * (1 + 0.2 * layer) * (1 + 0.05 * noise(task, other, seed, length)), 4) for layer in (0, 1)]
        for layer, value in enumerate(values):
            rows.append([os.path.basename(folder), task, "nope", seed, f"{task}-{other}-9", other, 9, relation, content, computation,
                         length, 2 * length + 6, layer + 1, value, value - 0.01, value + 0.01, 10, 0, 1])
        mean = sum(values) / 2
        means.append({"other": f"{task}-{other}-9", "other_encoding": other, "other_seed": 9, "relation": relation, "content": content,
                      "computation": computation, "length": length, "divergence": mean, "low": mean - 0.01, "high": mean + 0.01})
    write_analysis(folder, "similarity", limit, {"mean_over_layers": means}, csv_of(SIMILARITY_COLUMNS, rows))


def write_analyses(folder, task, limit, encoding, strength, seed, encodings):
    write_probe(folder, task, limit, encoding, strength, seed)
    columns, rows, summary = made_heads.heads([os.path.basename(folder), task, encoding, seed], limit, strength, HOSTILE)
    write_analysis(folder, "heads", limit, summary, csv_of(columns, rows))
    if encoding == "nope":
        write_similarity(folder, task, limit, seed, encodings)


def damage_analyses(out):
    """Of each kind some that cannot be shown: numbers that are none, a checksum of something else, no JSON at all."""
    inner = [os.path.join(out, "runs", f"addition-{name}-1", "analysis") for name in ("nope", "t5", "alibi")]
    write(inner[0], "probe.csv", csv_of(PROBE_COLUMNS, [["x"] * len(PROBE_COLUMNS)]))
    write_json(inner[1], "probe.json", {"format": "lengthwise-analysis", "version": 1, "weights": "best", "trained_length": 1,
                                        "summary": {}, "csv": "crc32c:00000000"})
    write(inner[2], "probe.json", HOSTILE)
    write(inner[0], "heads.json", HOSTILE)
    made_heads.change(inner[1], lambda summary: summary["maps"][0]["maps"][1].__setitem__(0, HOSTILE))
    made_heads.change(inner[2], lambda summary: summary["heads"].pop())
    made_heads.change(os.path.join(out, "runs", "copy-nope-1", "analysis"), lambda summary: summary["heads"][0].update({"class": HOSTILE, "family": HOSTILE}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--tasks", type=int, default=3)
    parser.add_argument("--encodings", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--troubles", action="store_true")
    parser.add_argument("--tuned", action="store_true")
    parser.add_argument("--analyses", action="store_true")
    parser.add_argument("--many", action="store_true")
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--damaged", action="store_true")
    args = parser.parse_args()
    shutil.rmtree(args.out, ignore_errors=True)
    encodings = ENCODINGS[:args.encodings] + ([("my-encoding", 0.3)] if args.troubles else [])
    if args.many:
        encodings = [(name, reach) for name, _, _, reach in many_encodings.ENCODINGS]
    listed = []
    tasks = [("books", 20, 40)] if args.text else TASKS[:args.tasks]
    for task, limit, longest in tasks:
        for encoding, strength in encodings:
            for seed, rate in itertools.product(range(1, args.seeds + 1), (0.001, 0.01) if args.tuned else (0.001,)):
                name = f"{task}-{encoding.replace('(', '-').replace(')', '')}-{seed}" + (f"-{rate}" if args.tuned else "")
                fits = not (args.troubles and encoding == "my-encoding" and task == TASKS[0][0])
                fits = fits and not (args.tuned and (rate == 0.01) == (encoding == "nope"))
                overlap = 2 if args.troubles and task == TASKS[1][0] else 0
                entry = {"name": name, "folder": f"runs/{name}", "state": "finished", "step": 3000, "steps": 3000,
                         "seconds": 61.5}
                folder = os.path.join(args.out, "runs", name)
                last = (task, encoding, seed) == (TASKS[args.tasks - 1][0], encodings[-1][0], args.seeds)
                if args.troubles and last:
                    entry.update(state="failed", step=812, reason=f"the loss is no longer finite {HOSTILE}")
                elif args.troubles and (task, encoding, seed) == (TASKS[0][0], "nope", args.seeds):
                    entry.update(state="waiting", step=0, seconds=None)
                else:
                    write_run(folder, task, limit, longest, encoding, strength, seed, 3000, fits, overlap, rate, args.many)
                    if args.text:
                        make_text_run(folder, encoding, strength, seed)
                    if args.analyses:
                        write_analyses(folder, task, limit, encoding, strength, seed, encodings)
                if args.troubles and (task, encoding, seed) == (TASKS[1][0], "rope", 1):
                    write(folder, "eval.jsonl", HOSTILE + "\n")
                listed.append(entry)
    if args.analyses and args.troubles:
        damage_analyses(args.out)
    if args.damaged:
        damage_text(args.out)
    study = {"format": "lengthwise-study", "version": 1, "name": "made-up", "varies": ["task", "encoding", "seed"],
             "runs": listed}
    if args.tuned:
        study["tune"] = ["lr"]
    if args.troubles:
        study["title"] = f"Does it survive {HOSTILE}?"
    write_json(args.out, "study.json", study)


if __name__ == "__main__":
    main()
