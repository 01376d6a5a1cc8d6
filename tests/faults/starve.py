"""Too little of everything: disk, permission, memory, open files; and names that nobody expects."""
import os
import shutil
import subprocess

from folders import EXPORT, SIZES, STUDY, TRAIN, leftovers, results_of
from program import Limits

ODD_NAMES = ["a b", "-dash", "quo'te\"s", "new\nline", "esc\x1b[31mape", "tab\t", "ünïcödé 漢字 🐍", "=1+1", "$(x)",
             "<script>", "a" * 255, "a" * 256, "b/" * 2100 + "b", b"latin\xe9".decode("utf-8", "surrogateescape"),
             b"\xff\xfe".decode("utf-8", "surrogateescape"), "\u202eright-to-left", ".", "..", "", "%s%n", "nul"]


class Starvation:
    def __init__(self, program, fixture, record, rng, folder):
        self.program, self.fixture, self.record, self.rng, self.folder = program, fixture, record, rng, folder
        self.cases = 0
        self.short = False

    def run(self, short):
        self.short = short
        self.full_disk()
        self.denied()
        self.little_memory()
        self.few_files()
        self.odd_names()
        self.loops()
        return self.cases

    def some(self, cases, most):
        """All of them, or a few in the short form."""
        cases = list(cases)
        return self.rng.sample(cases, min(most, len(cases))) if self.short else cases

    def check(self, kind, arguments, place, limits=None, may_succeed=True, memory=False):
        self.cases += 1
        outcome = self.program.run(arguments, place, limits)
        fault = outcome.fault()
        if memory and (outcome.status < 0 or outcome.status == 127) and not outcome.hung:
            # Where the loader or a library finds too little, it ends the process; counted apart, and no refusal of ours.
            self.record.count(kind, "ended by a library")
            return outcome
        if fault == "control characters" and "--csv" in arguments:
            fault = ""  # a file like any other, only not on the disk
        if fault:
            self.record.fault(kind, fault, repr(arguments)[:300], outcome)
        elif outcome.status == 0 and not may_succeed:
            self.record.fault(kind, "succeeded", repr(arguments)[:300], outcome)
        else:
            self.record.count(kind, "went well" if outcome.status == 0 else "refused")
        return outcome

    def place(self, name, needs=()):
        return self.fixture.copy(os.path.join(self.folder, f"starve-{name}"), needs)

    def after(self, kind, place, arguments, folder, right):
        """With the limit gone, the same command must end well, in the same bits."""
        if leftovers(place) and kind != "memory":
            self.record.fault(kind, "leftovers", f"{leftovers(place)}")
        if arguments[0] == "data" and results_of(os.path.join(place, folder)) == right:
            return  # it would refuse to write it again
        outcome = self.program.run(arguments, place)
        found = results_of(os.path.join(place, folder))
        if outcome.status != 0 or found != right:
            self.record.fault(kind, "did not go on in the same bits", str(arguments), outcome)
        if leftovers(place):
            self.record.fault(kind, "leftovers", f"{leftovers(place)}")

    def works(self):
        return (([*TRAIN, "run"], "run", self.fixture.run_results), ([*STUDY, "study"], "study",
                self.fixture.study_results), ([*EXPORT, "data"], "data", self.fixture.data_results))

    def full_disk(self):
        cases = [(work, size) for work in self.works() for size in (16, 200, 1500, 3000, 8000, 20_000, 30_000, 60_000)]
        for (arguments, folder, right), size in self.some(cases, 2):
            place = self.place("full", ["study.toml"])
            self.check("full disk", arguments, place, Limits(file_bytes=size))
            self.after("full disk", place, arguments, folder, right)
        if not self.short:
            self.small_drive()

    def small_drive(self):
        """A drive of its own, where we may mount one."""
        for pages in (3, 8, 20, 40, 80):
            place = self.place("drive")
            if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={pages * 4096}", "tmpfs", place],
                              stderr=subprocess.DEVNULL).returncode != 0:
                return
            try:
                for arguments, _, _ in self.works():
                    arguments = [os.path.join(self.fixture.folder, word) if word == "study.toml" else word
                                 for word in arguments]
                    self.check("full drive", arguments, place)
                    if leftovers(place):
                        self.record.fault("full drive", "leftovers", f"{arguments}: {leftovers(place)}")
            finally:
                subprocess.run(["umount", place], check=True)

    def denied(self):
        """Folders and files without permission, which then holds for root too."""
        limits = Limits(permission=True)
        for mode in (0o555, 0o000):
            place = self.place("denied", ["run", "study", "data", "study.toml", "config.toml", "results.csv"])
            os.chmod(self.folder, 0o755)
            for at, _, files in os.walk(place, topdown=False):
                for name in files:
                    os.chmod(os.path.join(at, name), 0o444 & mode | (0o444 if mode else 0))
                os.chmod(at, mode)
            os.chmod(place, 0o555)
            writing = [[*TRAIN, "run"], [*TRAIN, "new"], [*TRAIN, "study/new"], [*STUDY, "study"], [*STUDY, "new"],
                       [*EXPORT, "new"], [*EXPORT, "data/new"], ["report", "study"],
                       ["report", "run", "--out", "new.html"], ["compare", "study", "--csv", "study/new.csv"],
                       ["compare", "study", "--json", "new.json"]]
            reading = [["eval", "run", "--quiet", "--threads", "1"], ["generate", "run", "x"], ["compare", "run"],
                       ["compare", "study"], ["compare", "."], ["compare", "results.csv"],
                       ["data", "stats", "--data", "data"], ["data", "stats", "--config", "config.toml"],
                       ["study", "study.toml", "--dry-run"], ["compare", "study/runs"]]
            for arguments in self.some(writing, 2):
                self.check("no permission", arguments, place, limits, may_succeed="run" == arguments[-1])
            for arguments in self.some(reading, 2):
                self.check("no permission", arguments, place, limits)
            for at, folders, _ in os.walk(place):
                os.chmod(at, 0o755)
                for name in folders:
                    os.chmod(os.path.join(at, name), 0o755)
            shutil.rmtree(place)

    def little_memory(self):
        for megabytes in self.some((150, 200, 220, 240, 260, 280, 300, 400, 800), 1):
            place = self.place("memory", ["study.toml"])
            arguments = [*TRAIN, "run"]
            self.check("little memory", arguments, place, Limits(memory_bytes=megabytes << 20), memory=True)
            self.after("memory", place, arguments, "run", self.fixture.run_results)
        place = self.place("memory")
        large = ["train", "--task", "parity", *SIZES, "--model", "base", "--steps", "2", "--threads", "1", "--device", "cpu",
                 "--quiet", "--out", "run"]
        for megabytes in self.some((500, 700, 900), 1):
            self.check("little memory", large, place, Limits(memory_bytes=megabytes << 20), may_succeed=False)

    def few_files(self):
        cases = [(work, count) for work in self.works() for count in (4, 6, 8, 10, 12, 14, 16, 20, 24)]
        for (arguments, folder, right), count in self.some(cases, 1):
            place = self.place("files", ["study.toml"])
            self.check("few open files", arguments, place, Limits(open_files=count), memory=count < 12)
            self.after("few open files", place, arguments, folder, right)

    def odd_names(self):
        for name in self.some(ODD_NAMES, 2):
            place = self.place("names", ["run", "study.toml"])
            for arguments in self.some(([*EXPORT, name], ["data", "stats", "--data", name], [*TRAIN, name], ["eval", name],
                              ["generate", name, name], ["compare", name], ["report", name], ["study", name],
                              [*STUDY, name], ["train", "--config", name], ["train", "--task", name],
                              ["train", "--encoding", name], ["tasks", "show", name], [name],
                              ["report", "run", "--out", name], ["compare", "run", "--csv", name],
                              ["compare", "run", "--encodings", name]), 3):
                self.check("odd names", arguments, place)
            # A run of that name below the folder that is compared.
            if len(name) > 200:
                continue
            try:
                shutil.copytree(os.path.join(place, "run"), os.path.join(place, "all", "x" + name))
            except (OSError, ValueError):
                continue
            for arguments in self.some((["compare", "all"], ["compare", "all", "--csv"], ["compare", "all", "--json"],
                                        ["report", "all"]), 1):
                self.check("odd names", arguments, place)

    def loops(self):
        """Links in a circle, foreign files and folders that lead into themselves below the folder that is read."""
        place = self.place("loops", ["run"])
        os.symlink(".", os.path.join(place, "run", "itself"))
        os.symlink("loop", os.path.join(place, "loop"))
        foreign = os.path.join(place, "all", "foreign")
        os.makedirs(foreign)
        shutil.copytree(os.path.join(place, "run"), os.path.join(place, "all", "run"), symlinks=True)
        for text in self.some(("{}", "[]", "not json", '{"options":3}', '{"format":"lengthwise-run"}',
                     '{"format":"lengthwise-run","version":1,"options":{"task":3}}', '{"name":"a package"}'), 2):
            with open(os.path.join(foreign, "config.json"), "w", encoding="utf-8") as file:
                file.write(text)
            for arguments in self.some((["compare", "all"], ["report", "all"], ["compare", "all/foreign"],
                                        ["eval", "all/foreign"], [*TRAIN, "all/foreign"]), 1):
                self.check("foreign files", arguments, place)
        for arguments in self.some((["compare", "loop"], ["eval", "loop"], [*TRAIN, "loop"], [*TRAIN, "loop/x"], [*EXPORT, "loop"],
                          ["report", "loop"], ["data", "stats", "--data", "loop"], ["train", "--config", "loop"],
                          ["study", "loop", "--out", "x"], ["compare", "run"], ["compare", "/dev/null"],
                          ["train", "--config", "/dev/zero"], ["study", "/dev/zero"], ["compare", "run", "--csv", "/dev/full"],
                          ["report", "run", "--out", "/dev/full"], ["study", "run"], ["train", "--config", "run"]), 3):
            self.check("loops and devices", arguments, place)
