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
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

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


def json_rows(program, *arguments):
    result = subprocess.run([str(program), *arguments], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def peer_python():
    for candidate in (os.environ.get("PEER_PYTHON"), os.environ.get("TORCH_PYTHON"), "python3"):
        if candidate and subprocess.run([candidate, "-c", "import torch"], capture_output=True).returncode == 0:
            return candidate
    print("run.py: no Python here can import torch (name one in PEER_PYTHON): training has no peers", file=sys.stderr)
    return None


def peer_results(python, batches, *options):
    """What the decoder in Python measured on these batches, or None where it failed or there is no Python for it."""
    if not python:
        return None
    command = [python, str(pathlib.Path(__file__).parent / "peers" / "decoder_peer.py"), batches, *options]
    result = subprocess.run(command, stdout=subprocess.PIPE)
    return json.loads(result.stdout.splitlines()[-1]) if result.returncode == 0 else None


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
            ours = {}
            for precision in ("fp32", "bf16"):
                try:
                    ours[precision] = json_rows(program, *common, "--precision", precision, "--export", batches)
                except subprocess.CalledProcessError:
                    print(f"run.py: {precision} does not run on this CPU", file=sys.stderr)
            peers = {}
            for kind, options in {"eager": [], "compiled": ["--compile"]}.items():
                peer = peer_results(python, batches, "--layers", str(layers), "--width", str(width), "--heads", heads,
                                    "--ff", str(4 * width), "--dropout", "0.1", "--threads", threads, *options)
                if peer:
                    peers[kind] = peer
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


def write_text(path, size):
    """Words of up to ten letters, the frequent ones short, in lines of a dozen: as much text as a language model's speed
    needs, the same on every machine."""
    draw = random.Random(1)
    words = ["".join(draw.choices("etaoinshrdlu", k=1 + rank.bit_length())) for rank in range(1, 1000)]
    with open(path, "w") as file:
        while file.tell() < size:
            file.write(" ".join(draw.choices(words, [1 / rank for rank in range(1, 1000)], k=12)) + "\n")


def prepared_text(program, folder, size):
    """Bytes of that text, made ready: validation and test are a twentieth each."""
    text, prepared = os.path.join(folder, "text.txt"), os.path.join(folder, "text")
    write_text(text, size)
    command = [str(program.parent.parent / "lengthwise"), "text", "prepare", text, "--out", prepared, "--quiet"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return prepared


def text_rows(program):
    """A language model on the CPU: 4 layers of 128, every byte a target, windows of 256."""
    python = peer_python()
    threads = str(len(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as folder:
        batches = os.path.join(folder, "batches.safetensors")
        common = ["--text", prepared_text(program, folder, 2_000_000), "--context", "256", "--contexts", "256,2048",
                  "--layers", "4", "--width", "128", "--heads", "4", "--batch-size", "16", "--dropout", "0.1", "--lr",
                  "0.001", "--score-scale", "none", "--threads", threads, "--untimed-steps", "5", "--bench-steps", "30",
                  "--export", batches]
        ours = {}
        for precision in ("fp32", "bf16"):
            try:
                ours[precision] = json_rows(program, *common, "--precision", precision)
            except subprocess.CalledProcessError:
                print(f"run.py: {precision} does not run on this CPU", file=sys.stderr)
        peers = {}
        for kind, options in {"eager": [], "compiled": ["--compile"]}.items():
            peer = peer_results(python, batches, "--layers", "4", "--width", "128", "--heads", "4", "--ff", "512",
                                "--dropout", "0.1", "--threads", threads, "--batch", "16", "--untimed", "5", "--text",
                                *options)
            if peer:
                peers[kind] = peer
        for measured in ours.values():
            reading = [r for r in measured if r["name"].startswith("reading")]
            of_peer = {measured[0]["name"]: "tokens_per_second", measured[1]["name"]: "loss",
                       reading[-1]["name"]: "read_per_second"}
            for r in (*measured[:2], *reading):
                known = peers if r["name"] in of_peer else {}
                for kind, peer in known.items():
                    yield row(f"{r['name']}, peer: PyTorch {kind}, fp32", r["figure"], r["unit"], r["better"],
                              peer[of_peer[r["name"]]])
                if not known:
                    yield row(r["name"], r["figure"], r["unit"], r["better"])


# Tokens a sequence -> numbers to sort, in the printed wording: a problem of n numbers has 2 n + 12 tokens; steps that
# are not timed, and that are; whether the peers, which take a minute each to compile, are measured too.
ON_GPU = ["--task", "sort", "--lr", "0.0003", "--score-scale", "none", "--device", "cuda"]
MEAN_TOKENS = {30: ("1:17", 150, 400, True), 128: ("48:68", 40, 60, False), 512: ("240:260", 30, 30, True)}


def gpu_training(program, *arguments, model="base"):
    """Rows of one training on the GPU, by what their names begin with."""
    rows = json_rows(program, *ON_GPU, "--training-only", "--model", model, *arguments)
    return {key: next(r for r in rows if r["name"].startswith(key))
            for key in ("training", "loss", "GPU memory", "a step")}


def with_gpu(rows_of):
    """The rows of a benchmark where there is a GPU, and none elsewhere."""
    def rows(program):
        command = [str(program.parent.parent / "lengthwise"), "doctor", "--json"]
        doctor = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        if json.loads(doctor.stdout)["gpus"]:
            yield from rows_of(program)
        else:
            print("run.py: no GPU here, or none that this build can use", file=sys.stderr)
    return rows


def gpu_training_rows(program):
    python = peer_python()
    with tempfile.TemporaryDirectory() as folder:
        for tokens, (lengths, untimed, steps, has_peers) in MEAN_TOKENS.items():
            for encoding in ("nope", "t5"):
                file = os.path.join(folder, f"{tokens}-{encoding}.safetensors")
                ours = gpu_training(program, "--train-lengths", lengths, "--train-count", "20000", "--encoding", encoding,
                                    "--untimed-steps", str(untimed), "--bench-steps", str(steps), "--export", file)
                label = f"base, 64 x {tokens} tokens on average, {encoding}"
                kinds = {"compiled with CUDA graphs, bf16": ["--compile", "--bf16"]}
                if encoding == "t5":  # no back end of PyTorch's attention is made for a bias that learns
                    kinds["compiled with CUDA graphs, bf16, attention written out"] = [
                        "--compile", "--bf16", "--plain-attention"]
                if (tokens, encoding) == (30, "nope"):
                    kinds["eager, fp32"] = []
                peers = {}
                for kind, options in kinds.items() if has_peers else ():
                    peer = peer_results(python, file, "--layers", "12", "--width", "768", "--heads", "12", "--ff", "3072",
                                        "--dropout", "0.1", "--lr", "0.0003", "--untimed", str(untimed), "--device",
                                        "cuda", *options, *(["--t5"] if encoding == "t5" else []))
                    if peer:
                        peers[kind] = peer
                yield row(f"{label}: a step", ours["a step"]["figure"], "ms", "lower")
                yield row(f"{label}: memory", ours["GPU memory"]["figure"], "GiB", "lower")
                for kind, peer in peers.items():
                    yield row(f"{label}, peer: PyTorch {kind}", ours["training"]["figure"], "real tokens/s", "higher",
                              peer["tokens_per_second"])
                    yield row(f"{label}: loss after the same steps, peer: PyTorch {kind}", ours["loss"]["figure"], "nats",
                              "lower", peer["loss"])


# What encodings cost beside NoPE: one of each kind of value that the fused kernels apply, and some that they do not.
COMPARED = ["t5", "alibi", "rope", "xpos", "kerple-log", "ssmax", "window(size=16)", "fire", "randomized(t5)", "fox", "cope",
            "path"]


def encoding_rows(on_gpu):
    """Steps of every encoding over those of NoPE, which is measured before and after it: machines drift."""
    def rows(program):
        common = ["--model", "base", *ON_GPU] if on_gpu else [
            "--task", "sort", "--layers", "4", "--width", "128", "--heads", "4", "--precision", "fp32", "--threads",
            str(len(os.sched_getaffinity(0)))]
        # Sequences of a step, and timed steps.
        steps = {30: (64, 200), 128: (64, 40), 512: (64, 20)} if on_gpu else {30: (64, 20), 128: (16, 20), 512: (4, 20)}
        for tokens, (batch, timed) in steps.items():
            def step(encoding):
                found = json_rows(program, *common, "--training-only", "--train-lengths", MEAN_TOKENS[tokens][0],
                                  "--train-count", "8000", "--batch-size", str(batch), "--encoding", encoding,
                                  "--untimed-steps", "5", "--bench-steps", str(timed))
                return next(r["figure"] for r in found if r["name"].startswith("a step"))
            before = step("nope")
            for encoding in COMPARED:
                own, after = step(encoding), step("nope")
                yield row(f"a step with {encoding} at {tokens} tokens, peer: nope", own, "ms", "lower", (before + after) / 2)
                before = after
    return rows


def gpu_together_rows(program):
    for runs in (2, 3, 5):
        ours = gpu_training(program, "--train-lengths", "1:17", "--untimed-steps", "120", "--bench-steps", "200", "--runs",
                            str(runs))
        yield row(f"base, 64 x 30 tokens, {runs} runs at once: a step of any", ours["a step"]["figure"], "ms", "lower")
    alone = None
    for runs in (1, 8, 16):
        ours = gpu_training(program, "--train-lengths", "1:8", "--untimed-steps", "300", "--bench-steps", "1500", "--runs",
                            str(runs), model="tiny")
        alone = alone or ours["training"]["figure"]
        yield row(f"tiny, {runs} runs at once, peer: one alone", ours["training"]["figure"], "real tokens/s", "higher",
                  alone)


def gpu_length_rows(program):
    """The cost of length: as many tokens in fewer and longer sequences."""
    for tokens in (32, 128, 512, 2048, 8192):
        number = (tokens - 12) // 2
        ours = gpu_training(program, "--train-lengths", f"{number}:{number}", "--train-count", "2048", "--test-count", "1",
                            "--batch-size", str(32768 // tokens), "--untimed-steps", "4", "--bench-steps", "12")
        yield row(f"base, 32,768 tokens in sequences of {tokens}: a step", ours["a step"]["figure"], "ms", "lower")
        yield row(f"base, 32,768 tokens in sequences of {tokens}: memory", ours["GPU memory"]["figure"], "GiB", "lower")


def gpu_evaluation_rows(program):
    for r in json_rows(program, *ON_GPU, "--model", "base", "--train-lengths", "1:17", "--test-lengths", "18:34",
                       "--untimed-steps", "1", "--bench-steps", "1"):
        if "forcing" in r["name"] or "generation" in r["name"]:
            yield row(r["name"], r["figure"], r["unit"], r["better"])


def gpu_attention_rows(program):
    """Attention alone, with what encodings put into its scores, beside FlexAttention and SDPA."""
    ours = {(r["name"], r["tokens"]): r["ms"] for r in json_rows(program)}
    peers = {}
    peer = pathlib.Path(__file__).resolve().parent / "peers" / "attention_peer.py"
    python = peer_python()
    printed = subprocess.run([python, str(peer)], stdout=subprocess.PIPE, text=True).stdout if python else ""
    for r in map(json.loads, printed.splitlines()):
        peers.setdefault((r["name"], r["tokens"]), {})[r["peer"]] = r.get("ms")
    for (name, tokens), ms in ours.items():
        label = f"attention of 32,768 tokens in sequences of {tokens}, {name}, forward and backward"
        for kind, figure in peers.get((name, tokens), {}).items():
            if figure is not None:
                yield row(f"{label}, peer: {kind}", ms, "ms", "lower", figure)
        if not peers.get((name, tokens)):
            yield row(label, ms, "ms", "lower")


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


PROGRAMS = {
    "data_bench": ("bench/data_bench", data_rows),
    "attention_bench": ("bench/attention_bench", plain_rows),
    "train_bench": ("bench/train_bench", train_rows),
    "encodings": ("bench/train_bench", encoding_rows(False)),
    "text": ("bench/train_bench", text_rows),
    "gpu-training": ("bench/train_bench", with_gpu(gpu_training_rows)),
    "gpu-encodings": ("bench/train_bench", with_gpu(encoding_rows(True))),
    "gpu-attention": ("bench/gpu_attention_bench", with_gpu(gpu_attention_rows)),
    "gpu-together": ("bench/train_bench", with_gpu(gpu_together_rows)),
    "gpu-lengths": ("bench/train_bench", with_gpu(gpu_length_rows)),
    "gpu-evaluation": ("bench/train_bench", with_gpu(gpu_evaluation_rows)),
    "study": ("lengthwise", study_rows),
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
    global whole
    whole = arguments.whole
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
