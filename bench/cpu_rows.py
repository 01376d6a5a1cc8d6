"""What is measured on the CPU; run.py has the list."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

from measure import json_rows, peer_python, peers_by_kind, prepared_text, row, rows_beside, rows_by_precision

REPETITIONS = 3
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


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


def plain_rows(program):
    for r in json_rows(program):
        yield row(r["name"], r["figure"], r["unit"], r["better"])


# Layers and width of the models that training is measured with; heads of 32, feed-forward four times the width.
MODELS = [(2, 128), (4, 128), (4, 256)]


def train_rows(program):
    python = peer_python()
    threads = str(len(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as folder:
        for layers, width in MODELS:
            heads, batches = str(width // 32), os.path.join(folder, "batches.safetensors")
            common = ["--task", "sort", "--train-lengths", "1:8", "--layers", str(layers), "--width", str(width), "--heads",
                      heads, "--dropout", "0.1", "--lr", "0.001", "--score-scale", "none", "--threads", threads,
                      "--bench-steps", "100"]
            ours = rows_by_precision(program, *common, "--export", batches)
            peers = peers_by_kind(python, batches, {"eager": [], "compiled": ["--compile"]}, "--layers", str(layers),
                                  "--width", str(width), "--heads", heads, "--ff", str(4 * width), "--dropout", "0.1",
                                  "--threads", threads)
            for precision, measured in ours.items():
                speed, loss, _, step, *rest = measured
                for kind, peer in peers.items():
                    yield row(f"{speed['name']}, peer: PyTorch {kind}, fp32", speed["figure"], speed["unit"], "higher",
                              peer["tokens_per_second"])
                    yield row(f"{loss['name']}, peer: PyTorch {kind}, fp32", loss["figure"], loss["unit"], "lower",
                              peer["loss"])
                if not peers:
                    yield row(speed["name"], speed["figure"], speed["unit"], "higher")
                for r in rest:
                    yield row(r["name"], r["figure"], r["unit"], r["better"])
                yield row(step["name"], step["figure"], step["unit"], step["better"])
                forced = rest[0]
                if "eager" in peers:
                    yield row(f"{forced['name']}, peer: PyTorch's greedy generation as in the study", forced["figure"],
                              forced["unit"], "higher", peers["eager"]["generated_per_second"])


def text_rows(program):
    """A language model on the CPU: `tiny`, every byte a target, windows of 256; with dropout, which is slow in PyTorch, and
    without, as the preset has it."""
    python = peer_python()
    threads = str(len(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as folder:
        batches, text = os.path.join(folder, "batches.safetensors"), prepared_text(program, folder, 2_000_000)
        for dropout in ("0.1", "0"):
            common = ["--text", text, "--context", "256", "--contexts", "256,2048", "--model", "tiny", "--batch-size", "16",
                      "--dropout", dropout, "--lr", "0.001", "--score-scale", "none", "--threads", threads,
                      "--untimed-steps", "5", "--bench-steps", "40", "--export", batches]
            ours = rows_by_precision(program, *common)
            peers = peers_by_kind(python, batches, {"eager, fp32": [], "compiled, fp32": ["--compile"]}, "--layers", "2",
                                  "--width", "128", "--heads", "4", "--ff", "512", "--dropout", dropout, "--threads",
                                  threads, "--batch", "16", "--untimed", "5", "--text")
            for measured in ours.values():
                yield from rows_beside(measured, peers, f", dropout {dropout}")


QUICKSTART = pathlib.Path(__file__).resolve().parent.parent / "studies" / "quickstart.toml"
SHORTENED = 10
whole = False


def study_rows(program):
    text = QUICKSTART.read_text()
    if not whole:
        text = re.sub(r"((?:steps|-count) *= *)([0-9_]+)",
                      lambda m: m[1] + str(int(m[2].replace("_", "")) // SHORTENED), text)
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "quickstart.toml"
        file.write_text(text)
        for jobs, threads in ((1, 2), (2, 2), (1, 1)):
            start = time.monotonic()
            subprocess.run([str(program), "study", str(file), "--out", f"{folder}/{jobs}-{threads}", "--threads",
                            str(threads), "--jobs", str(jobs), "--quiet"], stdout=subprocess.DEVNULL, check=True)
            seconds[jobs, threads] = time.monotonic() - start
    for threads in (1, 2):
        yield row(f"quick start study: two jobs of one thread over one job of {threads}",
                  seconds[1, threads] / seconds[2, 2], "times as fast", "higher")
