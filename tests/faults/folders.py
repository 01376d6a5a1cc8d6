"""Small runs, studies and data, made once, from which every case starts, and what decides whether two are the same."""
import hashlib
import os
import shutil
import signal
import time

# The files of a run that must come out the same in every bit. state.safetensors and the events hold times.
RESULTS = ("config.json", "vocabulary.json", "metrics.jsonl", "best.safetensors", "last.safetensors", "eval.jsonl",
           "examples.jsonl", "summary.json")

SIZES = ["--train-lengths", "1:3", "--test-lengths", "4:5", "--train-count", "200", "--validation-count", "30",
         "--test-count", "40"]
MODEL = ["--model", "tiny", "--layers", "1", "--width", "16", "--heads", "2", "--batch-size", "16", "--lr", "0.02",
         "--threads", "1", "--device", "cpu", "--precision", "fp32"]
PACE = ["--steps", "80", "--validate-every", "10", "--checkpoint-every", "10"]
TRAIN = ["train", "--task", "parity", *SIZES, *MODEL, *PACE, "--quiet", "--out"]
TRAIN_OWN = ["train", "--data", "data", *MODEL, *PACE, "--quiet", "--out"]
EXPORT = ["data", "export", "--task", "parity", *SIZES, "--out"]
STUDY = ["study", "study.toml", "--jobs", "2", "--threads", "2", "--quiet", "--out"]

STUDY_FILE = """\
name = "faults"
task = "parity"
encoding = ["nope", "rope"]
seed = [1, 2]
train-lengths = "1:3"
test-lengths = "4:5"
train-count = 200
validation-count = 30
test-count = 40
model = "tiny"
layers = 1
width = 16
heads = 2
batch-size = 16
lr = 0.02
steps = 80
validate-every = 10
checkpoint-every = 10
device = "cpu"
precision = "fp32"
"""

CONFIG_FILE = """\
# options of a run
task = "parity"
encoding = "rope"
seed = 3
[model]
rotary-fraction = 0.5
dropout = 0.1
"""


def csv_file():
    rows = ["split,category,encoding,seed,accuracy"]
    for split in ("copy", "sort", "a \"quoted, one\""):
        for number, encoding in enumerate(("NoPE", "Rotary", "ALiBi")):
            for seed in (1, 2, 3):
                text = '"' + split.replace('"', '""') + '"'
                rows.append(f"{text},primitive,{encoding},{seed},{0.1 * seed + 0.2 * number:.3f}")
    return "\n".join(rows) + "\n"


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def results_of(folder):
    """File -> digest of what a run, a study of runs or a data folder came to. Missing files are missing here."""
    found = {}
    for name in RESULTS:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            found[name] = digest(path)
    for path in study_runs(folder):
        for name, value in results_of(path).items():
            found[os.path.join(os.path.basename(path), name)] = value
    for name in ("results.csv", "train.jsonl", "validation.jsonl", "test.jsonl"):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            found[name] = digest(path)
    return found


def study_runs(folder):
    runs = os.path.join(folder, "runs")
    return sorted(os.path.join(runs, name) for name in os.listdir(runs)) if os.path.isdir(runs) else []


def leftovers(folder):
    """What a writer left half done."""
    return [os.path.join(place, name) for place, folders, files in os.walk(folder) for name in folders + files
            if name.endswith(".part")]


class Fixture:
    """Folder `made` with: run (finished), half (killed on its way), own-half (the same on own data), data, study,
    study.toml, config.toml, results.csv."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        for name, text in (("study.toml", STUDY_FILE), ("config.toml", CONFIG_FILE), ("results.csv", csv_file())):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.run_seconds = self.need([*TRAIN, "run"]).seconds
        self.export_seconds = self.need([*EXPORT, "data"]).seconds
        self.need([*TRAIN_OWN, "own"])
        self.study_seconds = self.need([*STUDY, "study"]).seconds
        self.run_results = results_of(os.path.join(folder, "run"))
        self.own_results = results_of(os.path.join(folder, "own"))
        self.study_results = results_of(os.path.join(folder, "study"))
        self.data_results = results_of(os.path.join(folder, "data"))
        assert set(self.run_results) == set(RESULTS), self.run_results
        self.half(TRAIN, "half")
        self.half(TRAIN_OWN, "own-half")

    def need(self, arguments):
        outcome = self.program.run(arguments, self.folder)
        assert outcome.status == 0, (arguments, outcome)
        return outcome

    def half(self, train, name):
        """A run that was killed after its first checkpoint and before its end."""
        folder = os.path.join(self.folder, name)
        state = os.path.join(folder, "state.safetensors")
        for _ in range(50):
            shutil.rmtree(folder, ignore_errors=True)
            process = self.program.start([*train, name], self.folder)
            while not os.path.exists(state) and process.poll() is None:
                time.sleep(0.0005)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()
            best = os.path.exists(os.path.join(folder, "best.safetensors"))
            if best and not os.path.exists(os.path.join(folder, "last.safetensors")) and not leftovers(folder):
                return
        raise AssertionError("no run could be killed on its way")

    def copy(self, to, names):
        """A place to work in, with copies of these."""
        shutil.rmtree(to, ignore_errors=True)
        os.makedirs(to)
        for name in names:
            source = os.path.join(self.folder, name)
            target = os.path.join(to, name)
            if os.path.isdir(source):
                shutil.copytree(source, target)
            else:
                shutil.copy2(source, target)
        return to
