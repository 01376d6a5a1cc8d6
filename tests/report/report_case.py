"""A report of a made-up study in a browser: what the tests of the page have in common."""
import csv
import os
import subprocess
import sys
import tempfile
import unittest

import browser as chromium
import make_study

PROGRAM = None  # set by test_report.py


def make_report(folder, *arguments):
    sys.argv = ["make_study.py", folder, *arguments]
    make_study.main()
    done = subprocess.run([PROGRAM, "report", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert done.returncode == (1 if "--troubles" in arguments else 0), done.returncode
    return os.path.join(folder, "report.html")


def read_results(folder):
    with open(os.path.join(folder, "results.csv"), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def mean_accuracy(rows, **wanted):
    """Mean over seeds of correct / count."""
    seeds = {}
    for row in rows:
        if all(row[key] == str(value) for key, value in wanted.items()):
            correct, count = seeds.get(row["seed"], (0, 0))
            seeds[row["seed"]] = correct + int(row["correct"]), count + int(row["count"])
    return sum(correct / count for correct, count in seeds.values()) / len(seeds)


class Report(unittest.TestCase):
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = os.path.join(cls.temporary.name, "study")
        cls.page = make_report(cls.folder, *cls.arguments)
        cls.rows = read_results(cls.folder)
        cls.browser = chromium.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.temporary.cleanup()

    def setUp(self):
        self.browser.size(1280, 900)
        self.browser.theme(False)
        self.browser.open(self.page)
        self.browser.run("localStorage.clear()")
        self.browser.open(self.page)
        self.browser.run("lengthwise.renderAll()")

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def js(self, expression):
        return self.browser.run(expression)
