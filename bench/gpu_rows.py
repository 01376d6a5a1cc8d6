"""What is measured on a GPU, or there as well; run.py has the list."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from measure import json_rows, peer_python, peers_by_kind, prepared_text, row, rows_beside

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
                peers = peers_by_kind(python, file, kinds if has_peers else {}, "--layers", "12", "--width", "768",
                                      "--heads", "12", "--ff", "3072", "--dropout", "0.1", "--lr", "0.0003", "--untimed",
                                      str(untimed), "--device", "cuda", *(["--t5"] if encoding == "t5" else []))
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


# Windows of a step, tokens of a window, rows of the vocabulary (0: those of bytes), encoding, dropout, and whether the
# peer, which takes a minute to compile, is measured too.
ON_TEXT = [(64, 512, 0, "nope", 0.1, True), (64, 512, 0, "t5", 0.1, True), (64, 512, 0, "nope", 0, True),
           (64, 512, 0, "t5", 0, False), (64, 512, 0, "rope", 0, False), (64, 512, 0, "alibi", 0, False),
           (64, 512, 0, "kerple-log", 0, False), (64, 512, 0, "fox", 0, False), (64, 512, 0, "fire", 0, False),
           (64, 512, 32768, "nope", 0.1, True), (8, 4096, 0, "nope", 0.1, True), (8, 4096, 0, "t5", 0, False)]


def gpu_text_rows(program):
    """Language models on the GPU, `base`, every token a target; evaluation at 16,384 tokens."""
    python = peer_python()
    with tempfile.TemporaryDirectory() as folder:
        text, batches = prepared_text(program, folder, 8_000_000), os.path.join(folder, "batches.safetensors")
        for windows, tokens, rows, encoding, dropout, has_peer in ON_TEXT:
            common = ["--text", text, "--context", str(tokens), "--contexts", "512,16384", "--model", "base", "--batch-size",
                      str(windows), "--dropout", str(dropout), "--lr", "0.0003", "--score-scale", "none", "--device",
                      "cuda", "--encoding", encoding, "--untimed-steps", "20", "--bench-steps", "30"]
            ours = json_rows(program, *common, *(["--vocab-rows", str(rows)] if rows else []),
                             *(["--export", batches] if has_peer else []))
            kinds = {"compiled with CUDA graphs, bf16": ["--compile", "--bf16"]} if has_peer else {}
            options = {"t5": ["--t5", "--plain-attention"], "rope": ["--rope", "0.25"]}.get(encoding, [])
            peers = peers_by_kind(python, batches, kinds, "--layers", "12", "--width", "768", "--heads", "12", "--ff",
                                  "3072", "--dropout", str(dropout), "--lr", "0.0003", "--batch", str(windows),
                                  "--untimed", "20", "--device", "cuda", "--text", *options)
            label = f", dropout {dropout}" + (f", {rows} rows of vocabulary" if rows else "")
            yield from rows_beside(ours, peers, label)
            for r in ours:
                if "memory" in r["name"]:
                    yield row(r["name"] + label, r["figure"], r["unit"], r["better"])


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
