"""Damaged files: every file of a run, a study, a data folder, a configuration and a CSV, in every way below.

The rule for files that the program wrote: the outcome is that of the undamaged file in every bit, or a refusal. For
files that people write (data, configurations, CSV): any ordinary end, but a run that goes on with them must notice.
"""
import json
import os
import re
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor

from folders import TRAIN, TRAIN_OWN, STUDY, leftovers, results_of
from program import Limits

# How a command says that it went on without a run.
SAID = re.compile(rb"damaged|unfinished|failed|waiting|[0-3] of [0-9]+ runs")


# How bytes are damaged: rng, bytes, bytes of another file -> bytes.

def flip_bit(rng, data, _):
    if not data:
        return b"\x01"
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1:]


def flip_bits(rng, data, other):
    for _ in range(rng.randint(2, 40)):
        data = flip_bit(rng, data, other)
    return data


def truncate(rng, data, _):
    return data[:rng.randrange(len(data) + 1)]


def truncate_little(rng, data, _):
    return data[:max(0, len(data) - rng.randint(1, 9))]


def drop_line(rng, data, _):
    lines = data.splitlines(keepends=True)
    if lines:
        del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def double_line(rng, data, _):
    lines = data.splitlines(keepends=True)
    if lines:
        lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    return b"".join(lines)


def change_digit(rng, data, _):
    places = [at for at, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        return data + b"7"
    at = rng.choice(places)
    return data[:at] + bytes([48 + (data[at] - 48 + rng.randint(1, 9)) % 10]) + data[at + 1:]


def zero_block(rng, data, _):
    at, size = rng.randrange(len(data) + 1), rng.randint(1, 600)
    return data[:at] + bytes(len(data[at:at + size])) + data[at + size:]


def cut_out(rng, data, _):
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.randint(1, 64):]


def deep(rng, data, _):
    start = rng.choice((b"[", b'{"a":', b'{"options":', b'{"runs":[', b'a=['))
    return rng.choice((b"", data)) + start * rng.choice((150, 100_000))


def many_parts(rng, data, _):
    return data + b"\n" + b"a." * 30_000 + b"a = 1\n"


def huge_number(rng, data, _):
    places = [at for at, byte in enumerate(data) if 48 <= byte <= 57]
    number = rng.choice((b"-1", b"99999999999999999999", b"1e400", b"-9223372036854775808", b"nan", b"null", b'"x"'))
    if not places:
        return number
    at = rng.choice(places)
    end = at
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    return data[:at] + number + data[end:]


BYTES = {
    "bit": flip_bit,
    "bits": flip_bits,
    "truncated": truncate,
    "truncated a little": truncate_little,
    "empty": lambda rng, data, other: b"",
    "doubled": lambda rng, data, other: data + data,
    "appended": lambda rng, data, other: data + rng.randbytes(rng.randint(1, 64)),
    "garbage": lambda rng, data, other: rng.randbytes(rng.randint(1, 5000)),
    "zeros": lambda rng, data, other: bytes(len(data)),
    "zero block": zero_block,
    "cut out": cut_out,
    "line dropped": drop_line,
    "line doubled": double_line,
    "digit": change_digit,
    "number": huge_number,
    "deep": deep,
    "many parts": many_parts,
    "swapped": lambda rng, data, other: other,
}


# What stands there instead of a file.

def make_pipe(path):
    os.mkfifo(path)


def make_socket(path):
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:  # by a short name, since those of sockets are limited
        with socket.socket(socket.AF_UNIX) as held:
            held.bind(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)


KINDS = {
    "missing": lambda path: None,
    "folder": os.mkdir,
    "pipe": make_pipe,
    "socket": make_socket,
    "device": lambda path: os.symlink("/dev/zero", path),
    "loop": lambda path: os.symlink(os.path.basename(path), path),
    "dangling": lambda path: os.symlink("nothing-there", path),
}


class Target:
    """A file, the commands that read it, and the folders that a case needs. `kept`: people write it, so that reading it
    may end in anything ordinary."""

    def __init__(self, file, commands, needs, own=False):
        self.file, self.commands, self.needs, self.own = file, commands, needs, own


def targets():
    evaluate = ["eval", "run", "--threads", "1", "--count", "20", "--quiet"]
    answer = ["generate", "run", "Is the number of 1's even in [ 1 0 1 ] ?", "--threads", "1"]
    compare, again = ["compare", "run", "--by-length"], [*TRAIN, "run"]
    found = [
        Target("run/config.json", [evaluate, compare, again, answer], ["run"]),
        Target("run/vocabulary.json", [evaluate, answer, again], ["run"]),
        Target("run/best.safetensors", [evaluate, answer, again], ["run"]),
        Target("run/last.safetensors", [[*evaluate, "--weights", "last"], again], ["run"]),
        Target("run/state.safetensors", [again, evaluate], ["run"]),
    ]
    for name in ("eval.jsonl", "metrics.jsonl", "examples.jsonl", "summary.json", "events.out.tfevents.lengthwise"):
        found.append(Target(f"run/{name}", [compare, ["compare", "run", "--json"], ["report", "run"], again], ["run"]))
    for name in ("config.json", "vocabulary.json", "state.safetensors", "state.safetensors", "best.safetensors",
                 "metrics.jsonl", "events.out.tfevents.lengthwise"):
        found.append(Target(f"half/{name}", [[*TRAIN, "half"]], ["half"]))
    for name in ("study.json", "study.toml"):
        found.append(Target(f"study/{name}", [["compare", "study", "--csv"], ["report", "study"], [*STUDY, "study"]],
                            ["study", "study.toml"]))
    for name in ("config.json", "eval.jsonl", "summary.json", "metrics.jsonl", "best.safetensors", "vocabulary.json"):
        found.append(Target(f"study/runs/*/{name}", [["compare", "study"], ["compare", "study", "--csv"],
                                                    ["report", "study"], [*STUDY, "study"]], ["study", "study.toml"]))
    for name in ("train.jsonl", "validation.jsonl", "test.jsonl"):
        found.append(Target(f"data/{name}", [[*TRAIN_OWN, "own-half"], [*TRAIN_OWN, "own"]],
                            ["data", "own-half", "own"]))
        found.append(Target(f"data/{name}", [["data", "stats", "--data", "data"], [*TRAIN_OWN, "new"]], ["data"],
                            own=True))
    quick = [word for word in TRAIN if word not in ("--task", "parity")]
    found.append(Target("config.toml", [[*quick, "new", "--config", "config.toml"]], ["config.toml"], own=True))
    found.append(Target("study.toml", [["study", "study.toml", "--dry-run"]], ["study.toml"], own=True))
    found.append(Target("results.csv", [["compare", "results.csv"]], ["results.csv"], own=True))
    return found


class Damages:
    def __init__(self, program, fixture, record, rng, folder, jobs):
        self.program, self.fixture, self.record = program, fixture, record
        self.rng, self.folder, self.jobs = rng, folder, jobs
        self.references = {}

    def run(self, wanted):
        """Every target in every way as often as it takes, in an order drawn by the seed."""
        ways = [("bytes", name) for name in BYTES] + [("kind", name) for name in KINDS] + [("kind", "unreadable")]
        pairs = [(target, way) for target in targets() for way in ways]
        cases = []
        while len(cases) < wanted:
            self.rng.shuffle(pairs)
            # One bit more often than the rest: it is the least that can go wrong.
            cases += pairs
            cases += [(target, ("bytes", "bit")) for target in targets()]
        cases = [(number, target, way, self.rng.choice(target.commands), self.rng.randrange(1 << 62))
                 for number, (target, way) in enumerate(cases[:wanted])]
        for target, command in {(target.file, tuple(command)): (target, command)
                                for _, target, _, command, _ in cases}.values():
            self.reference(target, command)
        with ThreadPoolExecutor(self.jobs) as pool:
            for result in pool.map(lambda case: self.case(*case), cases):
                kind, verdict, text, outcome = result
                if verdict in ("same", "said", "refused", "ordinary"):
                    self.record.count(kind, verdict)
                else:
                    self.record.fault(kind, verdict, text, outcome)
        return len(cases)

    def reference(self, target, command):
        """How the command ends when nothing is damaged: what it prints, and what the folder then holds."""
        key = (tuple(target.needs), tuple(command))
        if key not in self.references:
            place = self.fixture.copy(os.path.join(self.folder, "reference"), target.needs)
            outcome = self.program.run(command, place)
            assert outcome.status == 0, (command, outcome)
            self.references[key] = (outcome.out, self.results(place, target))
            shutil.rmtree(place)
        return self.references[key]

    @staticmethod
    def results(place, target):
        return {need: results_of(os.path.join(place, need)) for need in target.needs
                if os.path.isdir(os.path.join(place, need))}

    def case(self, number, target, way, command, seed):
        rng = type(self.rng)(seed)
        place = self.fixture.copy(os.path.join(self.folder, f"damage-{number}"), target.needs)
        file = target.file
        if "*" in file:
            runs = sorted(os.listdir(os.path.join(place, "study", "runs")))
            file = file.replace("*", rng.choice(runs))
        path = os.path.join(place, file)
        limits = self.damage(rng, path, way, place)
        text = f"{file}, {way[1]}, seed {seed}: {' '.join(command)}"
        kind = f"damage {target.file.split('/')[0]}"
        before = self.results(place, target)
        outcome = self.program.run(command, place, limits)
        verdict = self.judge(target, command, outcome, place, before, file)
        shutil.rmtree(place, ignore_errors=True)
        return kind, verdict, text, outcome

    def damage(self, rng, path, way, place):
        if way[0] == "bytes":
            with open(path, "rb") as file:
                data = file.read()
            folder = os.path.dirname(path)
            others = sorted(name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name)))
            others = [name for name in others if name != os.path.basename(path)] or [os.path.basename(path)]
            with open(os.path.join(folder, rng.choice(others)), "rb") as file:
                other = file.read()
            with open(path, "wb") as file:
                file.write(BYTES[way[1]](rng, data, other))
            return None
        if way[1] == "unreadable":
            os.chmod(path, 0)
            return Limits(permission=True)
        os.remove(path)
        KINDS[way[1]](path)
        return None

    def says_the_same(self, place, file):
        """White space at the end of a configuration, say, is no damage."""
        paths = [os.path.join(folder, file) for folder in (place, self.fixture.folder)]
        # A device would be read without end, a pipe waited for.
        if not file.endswith(".json") or not all(os.path.isfile(path) for path in paths):
            return False
        texts = []
        for path in paths:
            with open(path, "rb") as opened:
                texts.append(opened.read())
        try:
            return json.loads(texts[0]) == json.loads(texts[1])
        except ValueError:
            return False

    def judge(self, target, command, outcome, place, before, file):
        fault = outcome.fault()
        if fault:
            return fault
        if leftovers(place):
            return "leftovers"
        out, right = self.reference(target, command)
        after = self.results(place, target)
        if outcome.refused:
            # What was there stays as it was, but for a run on its way, which may have got further.
            for folder, files in before.items():
                if "half" in folder:
                    continue
                changed = [name for name, value in files.items() if after.get(folder, {}).get(name, value) != value]
                if command[0] == "report":
                    changed = [name for name in changed if name != "results.csv"]  # written anew, of the runs that count
                if changed and command[0] != "study":
                    return f"refused, but changed {changed}"
            return "refused"
        if target.own:
            return "ordinary"
        # A damaged file of a finished run that was not needed stays as it is; one that a run goes on with does not.
        folder, _, name = file.partition("/")
        name = name.removeprefix("runs/")
        wrong = [(place, key) for place, files in right.items() for key, value in files.items()
                 if after.get(place, {}).get(key) != value]
        untouched = after.get(folder, {}).get(name) == before.get(folder, {}).get(name)
        if untouched and (folder != "half" or self.says_the_same(place, file)):
            wrong = [entry for entry in wrong if entry != (folder, name)]
        if outcome.out == out and not wrong:
            return "same"
        # compare and report may go on without a run, if they say so.
        if command[0] in ("compare", "report", "study") and SAID.search(outcome.out + outcome.err):
            return "said"
        return "silently another result"
