"""What the benchmarks have in common: rows of results, our programs, their peers, and texts to read."""
import json
import os
import pathlib
import random
import subprocess
import sys


def row(name, figure, unit, better, peer=None):
    ratio = figure / peer if peer else None
    return {"name": name, "figure": figure, "unit": unit, "peer": peer, "ratio": ratio, "better": better}


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


def rows_by_precision(program, *arguments):
    """What a program measures in each precision that this CPU has."""
    rows = {}
    for precision in ("fp32", "bf16"):
        try:
            rows[precision] = json_rows(program, *arguments, "--precision", precision)
        except subprocess.CalledProcessError:
            print(f"run.py: {precision} does not run on this CPU", file=sys.stderr)
    return rows


def peers_by_kind(python, batches, kinds, *options):
    """What the decoder in Python measured, for kinds {name: options of its own}; without those that failed."""
    peers = {kind: peer_results(python, batches, *options, *own) for kind, own in kinds.items()}
    return {kind: peer for kind, peer in peers.items() if peer}


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


def rows_beside(measured, peers, label):
    """What train_bench measured on a text, beside the peers that measured the same."""
    reading = [r for r in measured if r["name"].startswith("reading")]
    of_peer = {measured[0]["name"]: "tokens_per_second", measured[1]["name"]: "loss", reading[-1]["name"]: "read_per_second"}
    for r in (*measured[:2], *reading):
        known = peers if r["name"] in of_peer else {}
        for kind, peer in known.items():
            yield row(f"{r['name']}{label}, peer: PyTorch {kind}", r["figure"], r["unit"], r["better"],
                      peer[of_peer[r["name"]]])
        if not known:
            yield row(r["name"] + label, r["figure"], r["unit"], r["better"])
