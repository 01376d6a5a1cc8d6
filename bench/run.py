#!/usr/bin/env python3
"""Runs the benchmark programs of a build and writes bench.json.

    python3 bench/run.py --build build/cpu --out bench.json

bench.json is a list of

    {"name": "...", "figure": 0.12, "unit": "s", "peer": null, "ratio": null, "better": "lower"}

`peer` is the figure of what we compare with and `ratio` is figure / peer; both are null where there is no peer.

The peers of training are written in Python (bench/peers) and need a Python that can import torch: the one named in
PEER_PYTHON, or TORCH_PYTHON, or python3, whichever can; without one their columns stay empty. Ours and theirs run one
after the other on the same cores with the same number of threads, and on the same batches.

The quick start study is run with one job and with two on the same two cores, shortened to a tenth of its steps and
examples; --whole runs all of it (some twenty minutes).

A new program needs one line in PROGRAMS: its name, its place in the build folder and a function that runs it and gives
its rows.
"""
import argparse
import json
import pathlib
import sys

import cpu_rows
import gpu_rows
from gpu_rows import with_gpu

PROGRAMS = {
    "data_bench": ("bench/data_bench", cpu_rows.data_rows),
    "attention_bench": ("bench/attention_bench", cpu_rows.plain_rows),
    "train_bench": ("bench/train_bench", cpu_rows.train_rows),
    "encodings": ("bench/train_bench", gpu_rows.encoding_rows(False)),
    "text": ("bench/train_bench", cpu_rows.text_rows),
    "gpu-training": ("bench/train_bench", with_gpu(gpu_rows.gpu_training_rows)),
    "gpu-encodings": ("bench/train_bench", with_gpu(gpu_rows.encoding_rows(True))),
    "gpu-text": ("bench/train_bench", with_gpu(gpu_rows.gpu_text_rows)),
    "gpu-attention": ("bench/gpu_attention_bench", with_gpu(gpu_rows.gpu_attention_rows)),
    "gpu-together": ("bench/train_bench", with_gpu(gpu_rows.gpu_together_rows)),
    "gpu-lengths": ("bench/train_bench", with_gpu(gpu_rows.gpu_length_rows)),
    "gpu-evaluation": ("bench/train_bench", with_gpu(gpu_rows.gpu_evaluation_rows)),
    "study": ("lengthwise", cpu_rows.study_rows),
}


def main():
    parser = argparse.ArgumentParser(description="Run the benchmark programs of a build and write bench.json.")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/cpu"), help="build folder")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("bench.json"), help="file to write")
    parser.add_argument("--only", action="append",
                        help="run this program alone (may be given more than once); gpu stands for all that begin so")
    parser.add_argument("--whole", action="store_true", help="run the quick start study at its full length")
    arguments = parser.parse_args()
    only = set(arguments.only or ())
    called = {name: {name, name.split("-")[0]} for name in PROGRAMS}
    for name in only.difference(*called.values()):
        sys.exit(f"run.py: no benchmark is called '{name}'; there are {', '.join(PROGRAMS)}")
    cpu_rows.whole = arguments.whole
    rows = []
    for name, (path, rows_of) in PROGRAMS.items():
        if only and not only & called[name]:
            continue
        program = arguments.build / path
        if not program.exists():
            print(f"run.py: {program} was not built; it is left out", file=sys.stderr)
            continue
        print(f"run.py: {name}", file=sys.stderr)
        for r in rows_of(program):
            rows.append(r)
            peer = "" if r["peer"] is None else f", peer {r['peer']:.4g}, ratio {r['ratio']:.3g}"
            print(f"{r['name']}: {r['figure']:.4g} {r['unit']}{peer}", flush=True)
            # After every row: some take minutes, and what was measured is kept.
            arguments.out.write_text(json.dumps(rows, indent=1) + "\n")
    if not rows:
        sys.exit("run.py: no benchmark was run")


if __name__ == "__main__":
    main()