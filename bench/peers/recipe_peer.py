#!/usr/bin/env python3
"""The founding study's whole recipe in Python PyTorch: a second opinion on results, not on speed.

Where a run of ours disagrees with a published number, this says whether the disagreement is ours. It shares nothing with
the C++ code but the examples and the initial weights that `train_bench --export FILE` wrote: the decoder is that of
decoder_peer.py, dropout and the order of examples are torch's. The recipe is AdamW with decay 0.05 (a T5 table is
exempt), a linear rise over 6 % of the steps and a linear fall to 1e-7, norms clipped to 1. On a GPU under bf16 autocast,
compiled with CUDA graphs; on the CPU, for small models, eager in fp32.

    train_bench --task sort --wording released --train-lengths 2:8 --test-lengths 9:16 --data-seed 9842497 --model base \\
        --vocab-rows 32100 --score-scale none --encoding rope --seed 256788 --device cuda --training-only \\
        --untimed-steps 1 --bench-steps 1 --export FILE
    python3 bench/peers/recipe_peer.py FILE --heads 12 --rope 0.25

Prints one JSON object a line, every --every steps: the step, its loss, the seconds so far, and the share of examples whose
every target token is the likeliest one, of those held out of the training set and of up to 1,000 longer ones.

With --weights RUN/best.safetensors it trains nothing and prints one such line of a run's weights, with all longer examples:
whether a second program finds in them what ours did. (The export should be made with the run's own options.)
"""
import argparse
import json
import time

import torch

from decoder_peer import Decoder, descend, initial_weights, make_loss, make_optimizer, read_safetensors

END_RATE, RISE, HELD_OUT, LONGER, AT_ONCE = 1e-7, 0.06, 2000, 1000, 250


def padded(tokens, offsets, prompts, chosen, device):
    """Inputs [example, token], places of the targets [example, target] and the targets there, -100 where there is none."""
    rows = [tokens[offsets[i]:offsets[i + 1]] for i in chosen]
    width = (max(len(row) for row in rows) - 1 + 7) // 8 * 8
    targets = max(len(row) - int(prompts[i]) for row, i in zip(rows, chosen))
    inputs = torch.zeros(len(rows), width, dtype=torch.int64)
    places = torch.zeros(len(rows), targets, dtype=torch.int64)
    wanted = torch.full((len(rows), targets), -100)
    for at, (row, i) in enumerate(zip(rows, chosen)):
        prompt, count = int(prompts[i]), len(row) - int(prompts[i])
        inputs[at, :len(row) - 1] = row[:-1]
        places[at, :count] = torch.arange(prompt - 1, len(row) - 1)
        wanted[at, :count] = row[prompt:]
    return [t.to(device) for t in (inputs, places, wanted)]


def rate_at(step, a):
    rise = int(RISE * a.steps)
    if step < rise:
        return a.lr * step / rise
    return END_RATE + (a.lr - END_RATE) * (1 - (step - rise) / (a.steps - rise))


@torch.no_grad()
def exact_match(model, examples, a):
    model.eval()
    right = 0
    for first in range(0, len(examples[0]), AT_ONCE):
        inputs, places, wanted = (t[first:first + AT_ONCE] for t in examples)
        with torch.autocast(a.device, torch.bfloat16, enabled=a.bf16):
            likeliest = model(inputs, places).argmax(-1)
        right += int(((likeliest == wanted) | (wanted == -100)).all(1).sum())
    model.train()
    return right / len(examples[0])


def main():
    parser = argparse.ArgumentParser(description="Train by the study's recipe on what train_bench exported.")
    parser.add_argument("file")
    for name, value in dict(heads=12, steps=40000, batch=64, every=2000, seed=1).items():
        parser.add_argument("--" + name, type=int, default=value)
    for name, value in dict(lr=3e-5, dropout=0.1, rope=0.0, seconds=1e9).items():
        parser.add_argument("--" + name, type=float, default=value)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--weights", help="score these weights of ours and train nothing")
    a = parser.parse_args()
    start = time.monotonic()
    torch.manual_seed(a.seed)
    data = read_safetensors(a.file)
    on_gpu = a.device == "cuda"
    a.vocab, a.width = data["initial.embedding"].shape
    a.layers = sum(name.endswith("attention.qkv") for name in data)
    a.ff = data["initial.layers.0.ff.in"].shape[1]
    a.t5 = "initial.encoding.relative_bias" in data
    a.bf16 = a.compile = on_gpu
    a.plain_attention = a.t5
    count = len(data["prompts"])
    held_out = min(HELD_OUT, count // 20)
    of_training = [data[k] for k in ("tokens", "offsets", "prompts")]
    validation = padded(*of_training, range(count - held_out, count), a.device)
    of_test = [data["test_" + k] for k in ("tokens", "offsets", "prompts")]
    at_random = torch.randperm(len(data["test_prompts"])).tolist()
    longer = padded(*of_test, at_random if a.weights else at_random[:LONGER], a.device)
    model = Decoder(a)
    model.start_from(read_safetensors(a.weights) if a.weights else initial_weights(data))
    model.to(a.device)

    def tell(**of_step):
        print(json.dumps({**of_step, "seconds": round(time.monotonic() - start),
                          "held_out": round(exact_match(model, validation, a), 4),
                          "longer": round(exact_match(model, longer, a), 4)}), flush=True)

    if a.weights:
        tell()
        return
    train = padded(*of_training, range(count - held_out), a.device)
    optimizer = make_optimizer(model, a)
    loss_of = make_loss(model, a)
    epoch = len(train[0]) // a.batch * a.batch
    for step in range(a.steps):
        first = step * a.batch % epoch
        if first == 0:
            order = torch.randperm(len(train[0]), device=a.device)
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, a)
        inputs, places, wanted = (t[order[first:first + a.batch]] for t in train)
        loss = loss_of(wanted, inputs, places)
        descend(model, optimizer, loss)
        if (step + 1) % a.every == 0:
            tell(step=step + 1, loss=round(loss.item(), 6))
        if time.monotonic() - start > a.seconds:
            break


if __name__ == "__main__":
    main()
