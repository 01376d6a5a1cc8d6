#!/usr/bin/env python3
"""The same decoder in Python PyTorch, as one would write it: padded batches, autograd, torch.optim.AdamW.

On the CPU, or with --device cuda on a GPU: there in fp32 or under bf16 autocast (--bf16), eager or compiled with CUDA
graphs (--compile: whole batches padded to one length, as graphs need it), with or without a T5 bias (--t5) or rotated
queries and keys (--rope SHARE of each head). Attention is PyTorch's scaled_dot_product_attention where that can be
faster, or written out (--plain-attention).

Starts from the weights and trains on the batches that `train_bench --export FILE` wrote, then evaluates the way the
study did: greedy generation in batches of 32, prompts padded on the left, with a key-value cache, up to the longest
right answer of the batch. With --text the examples are windows of a text, and what is evaluated is the loss of the test
windows (16,384 tokens at once). Prints one JSON object: real (not padded) tokens a second, the loss after the last step,
and generated examples or read tokens a second. Needs a Python that can import torch.

    python3 bench/peers/decoder_peer.py FILE --layers 2 --width 128 --heads 4 --ff 512 --compile
"""
import argparse
import json
import math
import struct
import time

import torch
import torch.nn.functional as F


def read_safetensors(path):
    with open(path, "rb") as f:
        (size,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size))
        body = f.read()
    types = {"I64": torch.int64, "F32": torch.float32}
    return {name: torch.frombuffer(bytearray(body[e["data_offsets"][0]:e["data_offsets"][1]]),
                                   dtype=types[e["dtype"]]).view(e["shape"])
            for name, e in header.items() if name != "__metadata__"}


def initial_weights(data):
    """Those of `train_bench --export`."""
    return {name.removeprefix("initial."): value for name, value in data.items() if name.startswith("initial.")}


class Norm(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.gain


def rotate(x, dims, first):
    """The first `dims` of each head of x [batch, head, token, dim] turned in neighbouring pairs, from place `first` on."""
    places = torch.arange(first, first + x.shape[2], device=x.device)
    angles = places[:, None] / 10000 ** (torch.arange(0, dims, 2, device=x.device) / dims)
    even, odd = x[..., 0:dims:2].float(), x[..., 1:dims:2].float()
    turned = torch.stack([even * angles.cos() - odd * angles.sin(), odd * angles.cos() + even * angles.sin()], -1)
    return torch.cat([turned.flatten(-2).to(x.dtype), x[..., dims:]], -1)


class Layer(torch.nn.Module):
    def __init__(self, a):
        super().__init__()
        inner, self.heads, self.p = a.width, a.heads, a.dropout
        self.rotated = int(a.rope * (a.width // a.heads))
        self.fused, self.causal = a.device == "cuda" and (a.bf16 or a.compile) and not a.plain_attention, not a.t5
        self.norm1, self.norm2 = Norm(a.width), Norm(a.width)
        self.qkv = torch.nn.Linear(a.width, 3 * inner, bias=False)
        self.out = torch.nn.Linear(inner, a.width, bias=False)
        self.w1 = torch.nn.Linear(a.width, a.ff, bias=False)
        self.w2 = torch.nn.Linear(a.ff, a.width, bias=False)

    def project(self, h, first):
        """Queries, keys and values [batch, head, token, dim] of tokens from place `first` on."""
        q, k, v = self.qkv(self.norm1(h)).view(*h.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        return (rotate(q, self.rotated, first), rotate(k, self.rotated, first), v) if self.rotated else (q, k, v)

    def forward(self, h, mask):
        batch, length, width = h.shape
        q, k, v = self.project(h, 0)
        if self.fused:
            p = self.p if self.training else 0.0
            mixed = F.scaled_dot_product_attention(q, k, v, None if self.causal else mask.to(q.dtype), p, self.causal, scale=1.0)
        else:
            mixed = F.dropout(torch.softmax(q @ k.transpose(-1, -2) + mask, -1), self.p, self.training) @ v
        mixed = mixed.transpose(1, 2).reshape(batch, length, width)
        h = h + F.dropout(self.out(mixed), self.p, self.training)
        hidden = F.dropout(F.relu(self.w1(self.norm2(h))), self.p, self.training)
        return h + F.dropout(self.w2(hidden), self.p, self.training)

    def extend(self, h, mask, past):
        """The same for new tokens [batch, new, width] after `past` (keys and values so far, or None)."""
        batch, new, width = h.shape
        q, k, v = self.project(h, 0 if past is None else past[0].shape[2])
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        mixed = torch.softmax(q @ k.transpose(-1, -2) + mask, -1) @ v
        h = h + self.out(mixed.transpose(1, 2).reshape(batch, new, width))
        return h + self.w2(F.relu(self.w1(self.norm2(h)))), (k, v)


class Decoder(torch.nn.Module):
    def __init__(self, a):
        super().__init__()
        self.embedding = torch.nn.Embedding(a.vocab, a.width)
        self.layers = torch.nn.ModuleList(Layer(a) for _ in range(a.layers))
        self.norm, self.p, self.width = Norm(a.width), a.dropout, a.width
        self.bias = torch.nn.Parameter(torch.zeros(32, a.heads)) if a.t5 else None

    @torch.no_grad()
    def start_from(self, given):
        """Our weights by name, whose products are [in, out]."""
        names = {"embedding": self.embedding.weight, "norm": self.norm.gain}
        for i, layer in enumerate(self.layers):
            of_layer = {"attention.norm": layer.norm1.gain, "attention.qkv": layer.qkv.weight.T, "ff.norm": layer.norm2.gain,
                        "attention.out": layer.out.weight.T, "ff.in": layer.w1.weight.T, "ff.out": layer.w2.weight.T}
            names.update({f"layers.{i}.{name}": weight for name, weight in of_layer.items()})
        if self.bias is not None:
            names["encoding.relative_bias"] = self.bias
        if given.keys() != names.keys():
            raise SystemExit(f"decoder_peer.py: the file is of another model: {sorted(given.keys() ^ names.keys())}")
        for name, weight in names.items():
            weight.copy_(given[name])

    def forward(self, tokens, places=None):
        """Logits at every token, or at `places` [batch, target] alone."""
        length = tokens.shape[1]
        mask = torch.full((length, length), -1e4, device=tokens.device).triu(1)
        if self.bias is not None:
            place = torch.arange(length, device=tokens.device)
            distance = (place[:, None] - place[None, :]).clamp_min(0)
            far = 16 + (torch.log(distance.clamp_min(1) / 16) / math.log(128 / 16) * 16).long()
            bucket = torch.where(distance < 16, distance, far.clamp_max(31))
            mask = mask + self.bias[bucket].permute(2, 0, 1)
        h = F.dropout(self.embedding(tokens), self.p, self.training)
        for layer in self.layers:
            h = layer(h, mask)
        if places is not None:
            h = h.gather(1, places[:, :, None].expand(-1, -1, self.width))
        h = F.dropout(self.norm(h), self.p, self.training) * self.width**-0.5
        return h @ self.embedding.weight.T

    @torch.no_grad()
    def generate(self, prompts, new_tokens):
        longest = max(len(p) for p in prompts)
        tokens = torch.zeros(len(prompts), longest, dtype=torch.int64)
        real = torch.zeros(len(prompts), longest, dtype=torch.bool)
        for b, prompt in enumerate(prompts):
            tokens[b, longest - len(prompt):], real[b, longest - len(prompt):] = prompt, True
        mask = torch.where(torch.ones(longest, longest).tril().bool() & real[:, None, None, :], 0.0, -1e4)
        past, made = [None] * len(self.layers), []
        for _ in range(new_tokens):
            h = self.embedding(tokens)
            for i, layer in enumerate(self.layers):
                h, past[i] = layer.extend(h, mask, past[i])
            tokens = (self.norm(h[:, -1:]) * self.width**-0.5 @ self.embedding.weight.T).argmax(-1)
            made.append(tokens)
            real = torch.cat([real, torch.ones(len(prompts), 1, dtype=torch.bool)], 1)
            mask = torch.where(real, 0.0, -1e4)[:, None, None, :]
        return torch.cat(made, 1)


def make_optimizer(model, a):
    """AdamW; a T5 table is exempt from decay."""
    decayed = [p for name, p in model.named_parameters() if name != "bias"]
    exempt = [p for name, p in model.named_parameters() if name == "bias"]
    groups = [{"params": decayed, "weight_decay": 0.05}] + ([{"params": exempt, "weight_decay": 0.0}] if exempt else [])
    return torch.optim.AdamW(groups, lr=a.lr, fused=a.device == "cuda" and (a.compile or a.bf16))


def make_loss(model, a):
    """The mean loss over targets (-100: none) as a function of them and of what the model is given; compiled if asked."""
    def loss_of(wanted, *given):
        with torch.autocast(a.device, torch.bfloat16, enabled=a.bf16):
            logits = model(*given)
        return F.cross_entropy(logits.reshape(-1, a.vocab).float(), wanted.reshape(-1), ignore_index=-100)

    if not a.compile:
        return loss_of
    return torch.compile(loss_of, mode="reduce-overhead") if a.device == "cuda" else torch.compile(loss_of, dynamic=True)


def descend(model, optimizer, loss):
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def generation_speed(model, data, batch):
    model.eval()
    tokens, offsets, prompts = (data["test_" + k] for k in ("tokens", "offsets", "prompts"))
    count = min(len(prompts), 10 * batch)
    start = time.perf_counter()
    for first in range(0, count, batch):
        rows = range(first, min(first + batch, count))
        given = [tokens[offsets[i]:offsets[i] + prompts[i]] for i in rows]
        model.generate(given, max(int(offsets[i + 1] - offsets[i] - prompts[i]) for i in rows))
    return count / (time.perf_counter() - start)


@torch.no_grad()
def reading_speed(model, data, a, at_once=16384):
    """Tokens a second of the test windows, which are as long as each other but for the last of a document."""
    model.eval()
    tokens, offsets = data["test_tokens"].to(a.device), data["test_offsets"].tolist()
    windows = [tokens[begin:end] for begin, end in zip(offsets, offsets[1:])]
    whole = [w for w in windows if len(w) == max(map(len, windows))]
    rows = max(1, at_once // len(whole[0]))
    groups = [torch.stack(whole[i:i + rows]) for i in range(0, len(whole), rows)]

    def read(group):
        with torch.autocast(a.device, torch.bfloat16, enabled=a.bf16):
            logits = model(group[:, :-1])
        return F.cross_entropy(logits.reshape(-1, a.vocab).float(), group[:, 1:].reshape(-1), reduction="sum").item()

    read(groups[0])
    start = time.perf_counter()
    sum(read(group) for group in groups)
    return sum(group[:, 1:].numel() for group in groups) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    for name, value in dict(layers=2, width=128, heads=4, ff=512, batch=64, threads=2, untimed=20).items():
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--rope", type=float, default=0.0, metavar="SHARE")
    parser.add_argument("--device", default="cpu")
    for name in ("compile", "bf16", "t5", "plain-attention", "text"):
        parser.add_argument("--" + name, action="store_true")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    data = read_safetensors(a.file)
    tokens, offsets, prompts, order = (data[k] for k in ("tokens", "offsets", "prompts", "order"))
    a.vocab = len(data["initial.embedding"])
    on_gpu = a.device == "cuda"
    model = Decoder(a)
    model.start_from(initial_weights(data))
    model.to(a.device)
    optimizer = make_optimizer(model, a)
    loss_of = make_loss(model, a)
    used = order.unique()
    whole = (int((offsets[used + 1] - offsets[used]).max()) - 1 + 7) // 8 * 8 + 1 if on_gpu and a.compile else 0

    def batch_of(step):
        examples = order[step * a.batch:(step + 1) * a.batch].tolist()
        rows = [tokens[offsets[i]:offsets[i + 1]] for i in examples]
        longest = whole or max(len(r) for r in rows)
        padded = torch.zeros(a.batch, longest, dtype=torch.int64)
        labels = torch.full((a.batch, longest), -100)
        for b, (row, i) in enumerate(zip(rows, examples)):
            padded[b, :len(row)] = row
            labels[b, prompts[i]:len(row)] = row[prompts[i]:]
        return padded[:, :-1].to(a.device), labels[:, 1:].to(a.device), sum(len(r) - 1 for r in rows)

    steps = len(order) // a.batch
    # On a GPU the batches lie ready, as a good loader would have them.
    ready = [batch_of(step) for step in range(steps)] if on_gpu else None
    real, start, loss = 0, time.perf_counter(), None
    for step in range(steps):
        if step == a.untimed:
            if on_gpu:
                torch.cuda.synchronize()
            real, start = 0, time.perf_counter()
        inputs, wanted, count = ready[step] if ready else batch_of(step)
        loss = loss_of(wanted, inputs)
        descend(model, optimizer, loss)
        real += count
    value = loss.item()
    speed = real / (time.perf_counter() - start)
    row = {"tokens_per_second": speed, "loss": value, "finite": math.isfinite(value),
           "milliseconds": 1e3 * real / speed / (steps - a.untimed)}
    if a.text:
        row["read_per_second"] = reading_speed(model, data, a)
    elif not on_gpu:
        row["generated_per_second"] = generation_speed(model, data, 32)
    print(json.dumps(row))


if __name__ == "__main__":
    main()
