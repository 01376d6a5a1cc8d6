"""A report of runs on text: perplexity by context and loss by position, each number with its protocol."""
import csv
import glob
import io
import json
import math
import os

import made_text
from report_case import Report


class TextReport(Report):
    """What tests of these pages share."""

    def stored(self, encoding, window, stride, read_with=None, corpus="own"):
        """The rows that a number is made of, one a seed."""
        found = []
        for path in sorted(glob.glob(os.path.join(self.folder, "runs", "*", "perplexity.json"))):
            with open(os.path.join(os.path.dirname(path), "config.json"), encoding="utf-8") as file:
                if json.load(file)["options"]["encoding"] != encoding:
                    continue
            with open(path, encoding="utf-8") as file:
                found += [row for row in json.load(file)["rows"] if row["selection"] == "best" and row["window"] == window
                          and row["stride"] == stride and row["encoding"] == (read_with or encoding) and row["corpus"].startswith(corpus)]
        return found

    def press(self, selector):
        self.js(f"document.querySelector({selector!r}).click()")
        self.js("lengthwise.renderAll()")

    def download(self, box):
        _, text = self.browser.download(f"document.querySelector('#{box} [data-save=csv]').click()")
        return list(csv.DictReader(io.StringIO(text)))


class Text(TextReport):
    arguments = ("--text",)

    def test_the_answer_speaks_of_perplexity(self):
        answer = self.js("document.querySelector('#answer').textContent")
        self.assertIn("reads contexts longer than the 128 tokens of training best", answer)
        self.assertIn("Windows without overlap", answer)
        self.assertTrue(self.js("document.querySelector('#under-half').hidden"))
        self.assertIn("tokens that were the most likely", self.js("document.querySelector('#by-length .about').textContent"))

    def test_numbers_are_those_of_the_files(self):
        rows = self.download("perplexity-charts")
        self.assertEqual(len(rows), 6 * 5, "five encodings, and RoPE read with YaRN, at five contexts")
        for row in rows:
            stored = self.stored(row["encoding"], int(row["context"]), int(row["context"]), "yarn(factor=4)" if row["read_with"] else None)
            self.assertEqual(int(row["seeds"]), 3)
            self.assertEqual(len(stored), 3)
            # Sums, never means of means.
            want = math.exp(sum(r["nats"] for r in stored) / sum(r["tokens"] for r in stored))
            self.assertAlmostEqual(float(row["perplexity"]) / want, 1, places=7)
            self.assertAlmostEqual(float(row["least"]) / min(r["perplexity"] for r in stored), 1, places=7)
            self.assertAlmostEqual(float(row["most"]) / max(r["perplexity"] for r in stored), 1, places=7)
            self.assertEqual(row["protocol"].count("tokens scored"), 1, "seeds share what they have in common")
            for part in ("(901, 902, 903 steps of 32 windows)", f"window {row['context']}, stride {row['context']} (no overlap)", "3 seeds", "trained at 128", "own.txt.xz (crc32c:"):
                self.assertIn(part, row["protocol"])

    def test_both_protocols_are_told_apart(self):
        labels = self.js("[...document.querySelectorAll('#perplexity-choices [data-choice^=stride]')].map(b => b.textContent)")
        self.assertEqual(labels, ["No overlap", "Sliding, stride 64"])
        before = self.download("perplexity-charts")
        self.assertIn("No overlap", self.js("document.querySelector('#perplexity-charts .protocol').textContent"))
        self.press("[data-choice='stride 64']")
        slid = self.download("perplexity-charts")
        self.assertEqual(len(slid), 5 * 5, "nobody measured YaRN so")
        for row in slid:
            stored = self.stored(row["encoding"], int(row["context"]), 64)
            want = math.exp(sum(r["nats"] for r in stored) / sum(r["tokens"] for r in stored))
            self.assertAlmostEqual(float(row["perplexity"]) / want, 1, places=7)
            self.assertIn("stride 64 (sliding)", row["protocol"])
        self.assertNotEqual(before[0]["perplexity"], slid[0]["perplexity"])
        self.assertIn("Sliding, stride 64", self.js("document.querySelector('#perplexity-charts .protocol').textContent"))
        self.assertTrue(all("(sliding)" in text for text in self.js("[...document.querySelectorAll('#perplexity-numbers td .protocol')].map(p => p.textContent)")))

    def test_every_number_of_the_table_has_its_protocol(self):
        rows = self.js("[...document.querySelectorAll('#perplexity-numbers tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        self.assertEqual(len(rows), 30)
        for row in rows:
            window = row[2].replace(",", "")
            self.assertIn(f"window {window}, stride {window}", row[-1])
            self.assertEqual(row[3], f"{int(window) // 128}×")
        self.assertEqual({row[1] for row in rows}, {"its own", "YaRN factor=4"})

    def test_the_axis_is_logarithmic_and_the_trained_length_marked(self):
        place = self.js("""(() => {
          const chart = document.querySelector('#perplexity-charts .chart');
          const points = chart.querySelector('[data-e="0"] .line').getAttribute('d').slice(1).split('L').map(p => +p.split(' ')[0]);
          return [points, +chart.querySelector('.limit').getAttribute('x1'), chart.textContent];
        })()""")
        steps = [b - a for a, b in zip(place[0], place[0][1:])]
        self.assertEqual(len(steps), 4)
        self.assertLess(max(steps) - min(steps), .3, "twice the context is one step")
        self.assertAlmostEqual(place[1], place[0][0], places=0)
        self.assertIn("trained to 128", place[2])
        self.assertIn("2048", place[2])

    def test_loss_by_position(self):
        rows = self.download("position-charts")
        self.assertEqual({row["window"] for row in rows}, {"2048"}, "the longest first")
        for row in rows:
            if row["read_with"]:
                continue
            bins = [b for r in self.stored(row["encoding"], 2048, 2048) for b in r["positions"] if b["to"] == int(row["to"])]
            self.assertEqual({b["from"] for b in bins}, {int(row["from"])})
            self.assertAlmostEqual(float(row["nats_per_token"]), sum(b["nats"] for b in bins) / sum(b["tokens"] for b in bins), places=6)
            self.assertLessEqual(float(row["least"]), float(row["nats_per_token"]))
        self.press("[data-choice='window 256']")
        self.assertEqual({row["window"] for row in self.download("position-charts")}, {"256"})
        title = self.js("document.querySelector('#position-charts desc').textContent")
        self.assertIn("windows of 256", title)
        self.press("[data-choice='stride 64']")
        least = min(int(row["from"]) for row in self.download("position-charts"))
        self.assertGreater(least, 64, "a sliding window scores late tokens")

    def test_units(self):
        self.press("[data-choice='unit bits']")
        for row in self.download("perplexity-charts"):
            stored = self.stored(row["encoding"], int(row["context"]), int(row["context"]), "yarn(factor=4)" if row["read_with"] else None)
            want = sum(r["nats"] for r in stored) / math.log(2) / sum(r["bytes"] for r in stored)
            self.assertAlmostEqual(float(row["bits"]), want, places=6)

    def test_another_text_is_another_chart(self):
        self.press("[data-choice='text 1']")
        rows = self.download("perplexity-charts")
        self.assertEqual({row["encoding"] for row in rows}, {"rope"})
        self.assertTrue(all("other.txt.xz" in row["protocol"] and "60000 tokens scored" in row["protocol"] for row in rows))

    def test_another_reading_is_dotted_and_named(self):
        rope = self.js("lengthwise.data.encodings.findIndex(e => e.name === 'rope')")
        lines = self.js(f"[...document.querySelectorAll('#perplexity-charts [data-e=\"{rope}\"] .line')].map(l => l.getAttribute('stroke-dasharray'))")
        self.assertEqual(len(lines), 2)
        self.assertIn("1 3", lines)
        self.assertIn("YaRN factor=4", self.js("[...document.querySelectorAll('#perplexity-charts .name')].map(n => n.textContent).join()"))

    def test_arrow_keys_read_values_with_their_protocol(self):
        self.js("document.querySelector('#perplexity-charts .chart').focus()")
        self.browser.press("ArrowRight")
        self.browser.press("ArrowRight")
        text = self.js("document.querySelector('#tip').textContent")
        self.assertIn("context 256 (2×)", text)
        self.assertIn("No overlap; test text of own.txt.xz", text)
        stored = self.stored("nope", 256, 256)
        want = math.exp(sum(r["nats"] for r in stored) / sum(r["tokens"] for r in stored))
        self.assertIn(f"NoPE{want:.3f}", text)

    def test_the_legend_hides_a_line_here_too(self):
        self.press("#legend [data-encoding=\"1\"]")
        shown = self.js("[...document.querySelectorAll('#perplexity .chart [data-e=\"1\"]')].filter(e => getComputedStyle(e).display !== 'none').length")
        self.assertEqual(shown, 0)

    def test_saves_as_svg_and_fits_a_narrow_screen(self):
        name, text = self.browser.download("document.querySelector('#position-charts [data-save=svg]').click()")
        self.assertTrue(name.endswith(".svg") and "var(" not in text)
        self.browser.size(380, 800)
        self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 380)

    def test_prints(self):
        self.assertTrue(self.browser.pdf().startswith(b"%PDF"))


class ManyText(TextReport):
    arguments = ("--text", "--many")

    def lines(self, selector):
        return self.js(f"document.querySelectorAll('#perplexity-charts .chart {selector}').length")

    def test_the_best_readers_stand_out(self):
        count = self.js("lengthwise.data.encodings.length")
        self.assertEqual(count, 46)
        self.assertEqual(self.lines(".line"), count + 1, "and RoPE read with YaRN")
        bold = self.js("[...document.querySelectorAll('#perplexity-charts .line:not(.faint)')].map(l => lengthwise.data.encodings[l.parentNode.dataset.e].name)")
        names = self.js("lengthwise.data.encodings.map(e => e.name)")
        at = {name: sum(r["nats"] for r in self.stored(name, 2048, 2048)) for name in names}
        self.assertEqual(sorted(bold), sorted(sorted(names, key=at.get)[:5]))

    def test_families_and_text_filter(self):
        self.js("(() => { const box = document.querySelector('#legend input'); box.value = 'alibi'; box.dispatchEvent(new Event('input')); })()")
        self.js("lengthwise.renderAll()")
        self.assertEqual(self.lines(".line"), 5)
        self.assertEqual(self.lines(".line.faint"), 0)
        self.assertEqual(self.js("document.querySelectorAll('#position-charts .chart .line').length"), 5)
        shown = self.js("[...document.querySelectorAll('#perplexity-numbers tbody tr')].map(r => r.cells[0].textContent)")
        self.assertEqual(len(shown), 5 * len(made_text.CONTEXTS))
        self.assertTrue(all("ALiBi" in name for name in shown))

    def test_any_can_be_highlighted(self):
        rope = self.js("lengthwise.data.encodings.findIndex(e => e.name === 'rope')")
        self.press(f"#legend .family-group [data-encoding=\"{rope}\"]")
        self.assertEqual(self.lines(".line:not(.faint)"), 7, "RoPE and its other reading")

    def test_fits_a_narrow_screen(self):
        self.browser.size(400, 800)
        self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 400)


class DamagedText(TextReport):
    arguments = ("--text", "--damaged")

    def test_what_cannot_be_read_is_said(self):
        notes = self.js("document.querySelector('.notes').textContent")
        self.assertIn("The perplexity of books-nope-1 cannot be shown", notes)
        self.assertIn("`lengthwise eval` measures it again", notes)

    def test_a_loss_that_is_no_number_is_said(self):
        cells = self.js("[...document.querySelectorAll('#perplexity-numbers tbody tr')].map(r => r.textContent).filter(t => t.includes('not finite'))")
        self.assertEqual(len(cells), 1)
        self.assertIn("T5", cells[0])
