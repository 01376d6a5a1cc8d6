#!/usr/bin/env python3
"""Runs the benchmark programs of a build and writes bench.json.

    python3 bench/run.py --build build/cpu --out bench.json

bench.json is a list of

    {"name": "...", "figure": 0.12, "unit": "s", "peer": null, "ratio": null, "better": "lower"}

`peer` is the figure of what we compare with and `ratio` is figure / peer; both are null where there is no peer.

A new program needs one line in PROGRAMS: its name and a function that runs it and gives its rows.
"""
import argparse
import json
import pathlib
import subprocess
import sys

REPETITIONS = 3
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def row(name, figure, unit, better, peer=None):
    ratio = figure / peer if peer else None
    return {"name": name, "figure": figure, "unit": unit, "peer": peer, "ratio": ratio, "better": better}


def cpu_seconds(benchmark):
    """Processor time of one iteration: on one thread the same as the clock's, less what other processes took."""
    return benchmark["cpu_time"] * SECONDS[benchmark["time_unit"]]


def google_benchmarks(program):
    """The medians over the repetitions of every benchmark in a program made with Google Benchmark."""
    command = [str(program), "--benchmark_format=json", f"--benchmark_repetitions={REPETITIONS}",
               "--benchmark_report_aggregates_only=true"]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return [b for b in json.loads(result.stdout)["benchmarks"] if b.get("aggregate_name") == "median"]


def data_rows(program):
    for benchmark in google_benchmarks(program):
        kind, task, scratchpad = benchmark["run_name"].split("/")[:3]
        label = task if scratchpad == "none" else f"{task} with {scratchpad} scratchpad"
        if kind == "make":
            seconds = cpu_seconds(benchmark) * 100_000 / benchmark["examples"]
            yield row(f"data: 100,000 examples of {label}, one thread", seconds, "s", "lower")
            yield row(f"data: tokens made of {label}, one thread", benchmark["tokens"], "tokens/s", "higher")
        else:
            yield row(f"data: encoding of {label}", 1e9 / benchmark["tokens"], "ns/token", "lower")


PROGRAMS = {
    "data_bench": data_rows,
}


def main():
    parser = argparse.ArgumentParser(description="Run the benchmark programs of a build and write bench.json.")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/cpu"), help="build folder")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("bench.json"), help="file to write")
    parser.add_argument("--only", action="append", help="run this program alone (may be given more than once)")
    arguments = parser.parse_args()
    rows = []
    for name, rows_of in PROGRAMS.items():
        if arguments.only and name not in arguments.only:
            continue
        program = arguments.build / "bench" / name
        if not program.exists():
            print(f"run.py: {program} was not built; it is left out", file=sys.stderr)
            continue
        print(f"run.py: {program}", file=sys.stderr)
        rows += rows_of(program)
    if not rows:
        sys.exit("run.py: no benchmark was run; is Google Benchmark installed?")
    arguments.out.write_text(json.dumps(rows, indent=1) + "\n")
    width = max(len(r["name"]) for r in rows)
    for r in rows:
        peer = "" if r["peer"] is None else f"   peer {r['peer']:.4g}, ratio {r['ratio']:.3g}"
        print(f"{r['name']:<{width}}  {r['figure']:>12.4g} {r['unit']}{peer}")


if __name__ == "__main__":
    main()
