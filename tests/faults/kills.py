"""Kills at random moments: runs, studies of several processes, exports and reports. What goes on afterwards must end in
the same bits, and nothing half-written may stay."""
import os
import shutil
import signal
import time

from folders import EXPORT, STUDY, TRAIN, leftovers, results_of

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def ends(number):
    """How a process may end that was sent this signal: of it, with the shell's code for it, with a refusal where another
    one was quicker, or as usual."""
    return (0, 1, 2, -number, 128 + number)


class Kills:
    def __init__(self, program, fixture, record, rng, folder):
        self.program, self.fixture, self.record, self.rng, self.folder = program, fixture, record, rng, folder

    def run(self, wanted):
        """Kills so many processes, in four kinds of trials."""
        kinds = (("run", self.trial_run, 0.55), ("study", self.trial_study, 0.3), ("export", self.trial_export, 0.1),
                 ("report", self.trial_report, 0.05))
        total = 0
        for name, trial, share in kinds:
            done, number = 0, 0
            while done < wanted * share:
                place = os.path.join(self.folder, f"kill-{name}-{number}")
                self.fixture.copy(place, ["study.toml"])
                done += trial(place)
                shutil.rmtree(place, ignore_errors=True)
                number += 1
            self.record.count(f"kill {name}", "kills", done)
            self.record.count(f"kill {name}", "trials", number)
            total += done
        return total

    def kill_some(self, arguments, place, processes, seconds):
        """Starts processes, kills each at a moment of its own; says how many were still alive then."""
        started = [(self.program.start(arguments, place), self.rng.uniform(0.0, seconds), self.rng.choice(SIGNALS))
                   for _ in range(processes)]
        begin = time.monotonic()
        kills = 0
        for process, moment, number in sorted(started, key=lambda entry: entry[1]):
            time.sleep(max(0.0, begin + moment - time.monotonic()))
            if process.poll() is None:
                process.send_signal(number)
                kills += 1
        for process, _, number in started:
            outcome = self.program.end(process, begin)
            if outcome.hung or outcome.status not in ends(number):
                self.record.fault("kill", "hang" if outcome.hung else f"exit {outcome.status}",
                                  f"{arguments} and signal {number}", outcome)
        return kills

    def until_done(self, kind, arguments, place, seconds, most_processes):
        kills = 0
        for _ in range(self.rng.randint(1, 5)):
            kills += self.kill_some(arguments, place, self.rng.randint(1, most_processes), seconds)
        outcome = self.program.run(arguments, place)
        if outcome.status != 0:
            self.record.fault(f"kill {kind}", "did not go on", str(arguments), outcome)
        return kills

    def compare(self, kind, folder, right, case):
        found = results_of(folder)
        different = sorted(name for name in {*right, *found} if right.get(name) != found.get(name))
        if different:
            self.record.fault(f"kill {kind}", "other bits", f"{case}: {different}")
        if leftovers(folder):
            self.record.fault(f"kill {kind}", "leftovers", f"{case}: {leftovers(folder)}")

    def trial_run(self, place):
        kills = self.until_done("run", [*TRAIN, "run"], place, self.fixture.run_seconds, 2)
        self.compare("run", os.path.join(place, "run"), self.fixture.run_results, place)
        return kills

    def trial_study(self, place):
        kills = self.until_done("study", [*STUDY, "study"], place, self.fixture.study_seconds, 3)
        self.compare("study", os.path.join(place, "study"), self.fixture.study_results, place)
        return kills

    def trial_export(self, place):
        kills = 0
        for _ in range(3):
            kills += self.kill_some([*EXPORT, "data"], place, 1, self.fixture.export_seconds)
            data = os.path.join(place, "data")
            if os.path.exists(data) and results_of(data) != self.fixture.data_results:
                self.record.fault("kill export", "half a folder", place)
            shutil.rmtree(data, ignore_errors=True)
        outcome = self.program.run([*EXPORT, "data"], place)
        if outcome.status != 0:
            self.record.fault("kill export", "did not go on", place, outcome)
        self.compare("export", os.path.join(place, "data"), self.fixture.data_results, place)
        if leftovers(place):
            self.record.fault("kill export", "leftovers", f"{leftovers(place)}")
        return kills

    def trial_report(self, place):
        self.fixture.copy(place, ["study"])
        report = ["report", "study"]
        kills = 0
        for _ in range(3):
            os.remove(os.path.join(place, "study", "report.html"))
            kills += self.kill_some(report, place, 1, 1.0)
            path = os.path.join(place, "study", "report.html")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    if not file.read().rstrip().endswith("</html>"):
                        self.record.fault("kill report", "half a page", place)
            outcome = self.program.run(report, place)
            if outcome.status != 0:
                self.record.fault("kill report", "did not go on", place, outcome)
        self.compare("report", os.path.join(place, "study"), self.fixture.study_results, place)
        return kills
