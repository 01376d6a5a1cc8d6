"""perplexity.json of a made-up run on text, and its rows of eval.jsonl. Losses are a function of the run alone."""
import math

CONTEXT, CONTEXTS, STRIDE = 128, (128, 256, 512, 1024, 2048), 64
TOKENS = {"own": 100_000, "other": 60_000}


def loss_at(before, reach, noise):
    """Nats of a token with so many before it: falls with them, and rises past what the encoding reaches."""
    beyond = max(0.0, math.log2(before / (CONTEXT * (1 + 8 * reach))))
    return 1.5 + 2.5 / (1 + before) ** 0.5 + 0.4 * beyond + 0.01 * noise


def measure(window, stride, tokens, reach, noise):
    """Sums by position, as docs/formats.md has them: every token once, those of a sliding window late in it."""
    bins, done = {}, 0
    places = list(range(1, window + 1)) if stride == window else list(range(window - stride + 1, window + 1))
    per_place = tokens // len(places)
    for i, before in enumerate(places):
        count = per_place if i + 1 < len(places) else tokens - done
        done += count
        entry = bins.setdefault((before - 1).bit_length(), [0, 0.0])
        entry[0] += count
        entry[1] += count * loss_at(before, reach, noise)
    return [{"from": 2**b // 2 + 1, "to": min(2**b, window), "tokens": bins[b][0], "nats": bins[b][1]} for b in sorted(bins)]


def row(encoding, window, stride, corpus, reach, noise, selection="best", step=900):
    positions = measure(window, stride, TOKENS[corpus], reach, noise)
    nats = sum(p["nats"] for p in positions)
    return {"selection": selection, "step": step, "encoding": encoding, "protocol": "no-overlap" if stride == window else "sliding",
            "window": window, "stride": stride, "documents": "apart", "split": "test", "corpus": f"{corpus}.txt.xz",
            "corpus_checksum": f"crc32c:0000000{len(corpus)}", "tokenizer": "bytes", "parameters": 801024, "trained_context": CONTEXT,
            "batch_size": 32, "precision": "bf16", "tokens": TOKENS[corpus], "bytes": TOKENS[corpus] - 3, "correct": 0, "nats": nats,
            "nats_per_token": nats / TOKENS[corpus], "perplexity": math.exp(nats / TOKENS[corpus]), "bits_per_byte": 0, "positions": positions}


def perplexity(encoding, reach, noise, step):
    rows = [row(encoding, window, window, "own", reach, noise, step=step) for window in CONTEXTS]
    rows += [dict(one, selection="last", nats=one["nats"]) for one in rows]
    rows += [row(encoding, window, STRIDE, "own", reach, noise, step=step) for window in CONTEXTS]
    if encoding == "rope":
        yarn = [row("yarn(factor=4)", window, window, "own", reach + 2, noise, step=step) for window in CONTEXTS]
        rows += [dict(one, encoding_label="YaRN factor=4") for one in yarn]
        rows += [row(encoding, window, window, "other", reach, noise, step=step) for window in CONTEXTS]
    return {"format": "lengthwise-perplexity", "version": 1, "rows": rows}


def evaluation(found):
    """The rows of eval.jsonl that go with it."""
    rows = []
    for selection in ("best", "last"):
        own = [r for r in found["rows"] if r["selection"] == selection and r["protocol"] == "no-overlap"
               and r["corpus"].startswith("own") and r["encoding"] != "yarn(factor=4)"]
        for split, used in (("validation", own[:1]), ("test", own)):
            for r in used:
                correct = round(r["tokens"] / r["perplexity"] ** 0.5)
                share = correct / r["tokens"]
                rows.append({"selection": selection, "split": split, "length": r["window"], "count": r["tokens"], "correct": correct,
                             "accuracy": share, "low": share, "high": share, "loss": r["nats_per_token"]})
    return rows
