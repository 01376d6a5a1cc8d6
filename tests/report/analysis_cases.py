"""The parts of a report that show what analyses found (docs/analysis.md), held against their tables."""
import csv
import io
import os

from report_case import Report


class Analyses(Report):
    arguments = ("--analyses",)

    def table(self, run, name):
        with open(os.path.join(self.folder, "runs", run, "analysis", f"{name}.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def choose(self, choice):
        self.js(f"document.querySelector('[data-choice=\"{choice}\"]').click()")
        self.js("lengthwise.renderAll()")

    def probe_csv(self):
        _, text = self.browser.download("document.querySelector('#probe-charts [data-save=csv]').click()")
        return list(csv.DictReader(io.StringIO(text)))

    def wanted(self, encoding, **wanted):
        """R2 by layer, mean over seeds."""
        layers = {}
        for seed in (1, 2, 3):
            for row in self.table(f"copy-{encoding}-{seed}", "probe"):
                if all(row[key] == value for key, value in wanted.items()):
                    layers.setdefault(int(row["layer"]), []).append(float(row["r2"]))
        return {layer: sum(values) / len(values) for layer, values in layers.items()}

    def test_probe_curves_equal_the_tables_whatever_is_chosen(self):
        self.assertFalse(self.js("document.querySelector('#probes').hidden"))
        self.assertEqual(self.js("document.querySelectorAll('#probe-charts figure').length"), 3)
        for choices, wanted in (
                ((), dict(content="exchanged", target="position", probe="linear", fit="trained", length="20")),
                (("content task", "target distance"), dict(content="task", target="distance", probe="linear", fit="trained", length="20")),
                (("probe nonlinear", "where beyond"), dict(content="task", target="distance", probe="nonlinear", fit="trained", length="80")),
                (("where there",), dict(content="task", target="distance", probe="nonlinear", fit="all", length="80"))):
            for choice in choices:
                self.choose(choice)
            saved = self.probe_csv()
            self.assertEqual(len(saved), 5 * 2 * 3)
            for row in saved:
                want = self.wanted(row["encoding"], states=row["states"], labels="true", **wanted)[int(row["layer"])]
                self.assertAlmostEqual(float(row["r2"]), want, places=3)

    def test_probe_lines_are_where_the_numbers_are(self):
        place = self.js("""(() => {
          const chart = document.querySelector('#probe-charts .chart');
          const grid = [...chart.querySelectorAll('.grid')].map(line => +line.getAttribute('y1'));
          const path = chart.querySelector('[data-e="0"] .line:not(.thin)').getAttribute('d');
          const [, y] = path.slice(path.lastIndexOf('L') + 1).split(' ').map(Number);
          return (Math.max(...grid) - y) / (Math.max(...grid) - Math.min(...grid));
        })()""")
        want = self.wanted("nope", states="trained", labels="true", content="exchanged", target="position", probe="linear", fit="trained", length="20")
        self.assertAlmostEqual(place, want[2], places=2)

    def test_the_table_has_every_control(self):
        rows = self.js("[...document.querySelectorAll('#probe-numbers tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        self.assertEqual(len(rows), 45)
        row = next(row for row in rows if row[:3] == ["copy", "NoPE", "1"])
        self.assertEqual(row[3], "2")
        own = [r for r in self.table("copy-nope-1", "probe") if (r["content"], r["target"], r["probe"], r["fit"], r["length"]) ==
               ("exchanged", "position", "linear", "trained", "20")]
        value = lambda states, labels, layer: next(float(r["r2"]) for r in own if (r["states"], r["labels"], r["layer"]) == (states, labels, layer))
        self.assertTrue(row[4].startswith(f"{value('trained', 'true', '2'):.3f}"), row)
        for text, cell in zip(row[6:], (value("untrained", "true", "2"), value("constructed", "true", "2"), value("trained", "shuffled", "2"), value("token", "true", "0"))):
            self.assertAlmostEqual(float(text), cell, delta=6e-4)

    def test_similarity_equals_the_tables(self):
        self.assertEqual(self.js("document.querySelectorAll('#similarity-charts figure').length"), 3)
        for choice, key in ((None, None), ("layer 2", "2"), ("computation as-published", "2")):
            if choice:
                self.choose(choice)
            _, text = self.browser.download("document.querySelector('#similarity-charts [data-save=csv]').click()")
            saved = list(csv.DictReader(io.StringIO(text)))
            self.assertEqual(len(saved), 5 * 3)
            for row in saved:
                self.assertEqual(row["relation"], "baseline" if row["encoding"] == "nope" else "encoding")
                values = [float(r["divergence"]) for seed in (1, 2, 3) for r in self.table(f"copy-nope-{seed}", "similarity")
                          if (r["other_encoding"], r["content"], r["computation"], r["length"]) == (row["encoding"], row["content"], row["computation"], row["length"])
                          and key in (None, r["layer"])]
                self.assertAlmostEqual(float(row["divergence"]), sum(values) / len(values), places=3)
        self.js("document.querySelector('#similarity-charts .chart').focus()")
        self.browser.press("ArrowRight")
        self.assertIn("NoPE, another seed", self.js("document.querySelector('#tip').textContent"))

    def test_fits_a_narrow_screen(self):
        self.browser.size(380, 800)
        self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 380)


class DamagedAnalyses(Report):
    arguments = ("--analyses", "--troubles")

    def test_the_others_are_shown_and_these_are_named(self):
        self.assertEqual(self.js("document.querySelectorAll('#probe-charts figure').length"), 3)
        text = self.js("document.body.textContent")
        for part in ("The probe of addition-nope-1 cannot be shown", "probe.csv is damaged: its checksum is not the one in probe.json",
                     "addition-alibi-1/analysis/probe.json: not valid JSON"):
            self.assertIn(part, text)
