#!/usr/bin/env python3
"""Opens reports in a real browser and holds what they show against results.csv: test_report.py LENGTHWISE [PICTURES].

With a folder PICTURES, pictures of the pages are left there.
"""
import csv
import io
import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as chromium
import report_case
from analysis_cases import Analyses, DamagedAnalyses
from atlas_cases import Atlas, DamagedAtlas
from many_cases import ManyEncodings
from report_case import Report, make_report, mean_accuracy
from text_cases import DamagedText, ManyText, Text

PICTURES = None


class WholeStudy(Report):
    def test_first_screen_has_question_answer_and_ranking(self):
        self.assertIn("Which positional encoding", self.js("document.querySelector('h1').textContent"))
        self.assertIn("works best on longer sequences", self.js("document.querySelector('#answer').textContent"))
        bottom = self.js("document.querySelector('#ranking').getBoundingClientRect().bottom")
        self.assertLess(bottom, 900, "the ranking is on the first screen")
        best = self.js("document.querySelector('#ranking tbody tr').dataset.encoding")
        self.assertEqual(best, "nope")

    def test_ranking_numbers_equal_the_csv(self):
        for encoding in {row["encoding"] for row in self.rows}:
            splits = {row["split"] for row in self.rows}
            for column, part in (("longer", "test"), ("trained", "validation")):
                want = sum(mean_accuracy(self.rows, encoding=encoding, split=s, set=part) for s in splits) / len(splits)
                cell = f"document.querySelector('#ranking tr[data-encoding=\"{encoding}\"] .{column}')"
                self.assertAlmostEqual(float(self.js(cell + ".dataset.value")), want, places=9)
                self.assertTrue(self.js(cell + ".textContent").startswith(f"{want:.3f}"))

    def test_table_numbers_equal_the_csv(self):
        shown = self.js("[...document.querySelectorAll('#final-numbers tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        self.assertEqual(len(shown), 15)
        labels = self.js("Object.fromEntries(lengthwise.data.encodings.map(e => [e.label, e.name]))")
        for split, _, label, seeds, trained, longer, _ in shown:
            self.assertEqual(seeds, "3")
            for text, part in ((trained, "validation"), (longer, "test")):
                want = mean_accuracy(self.rows, split=split, encoding=labels[label], set=part)
                self.assertTrue(text.startswith(f"{want:.3f}"), f"{split} {label}: {text} is not {want}")

    def test_chart_data_equal_the_csv(self):
        name, text = self.browser.download("document.querySelector('#length-charts [data-save=csv]').click()")
        self.assertEqual(name, "copy.csv")
        saved = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(len(saved), 5 * 40)
        for row in saved:
            want = mean_accuracy(self.rows, split=row["split"], encoding=row["encoding"], length=row["length"])
            self.assertAlmostEqual(float(row["accuracy"]), want, places=9)
            self.assertLessEqual(float(row["low"]), want + 1e-6)
            self.assertGreaterEqual(float(row["high"]), want - 1e-6)
            self.assertEqual(row["longer"], "false" if int(row["length"]) <= 20 else "true")

    def test_lines_are_where_the_numbers_are(self):
        # The last point of a line: its height between the axis lines of 0 and 1.
        place = self.js("""(() => {
          const chart = document.querySelector('#length-charts .chart');
          const grid = [...chart.querySelectorAll('.grid')].map(line => +line.getAttribute('y1'));
          const path = chart.querySelector('[data-e="0"] .line').getAttribute('d');
          const [, y] = path.slice(path.lastIndexOf('L') + 1).split(' ').map(Number);
          return (Math.max(...grid) - y) / (Math.max(...grid) - Math.min(...grid));
        })()""")
        self.assertAlmostEqual(place, mean_accuracy(self.rows, split="copy", encoding="nope", length=40), places=2)

    def test_every_chart_saves_as_svg(self):
        self.assertEqual(self.js("document.querySelectorAll('figure').length"), 9)
        self.assertTrue(self.js("document.querySelector('#probes').hidden && document.querySelector('#similarity').hidden"))
        self.assertEqual(self.js("document.querySelectorAll('figure [data-save=svg]').length"), 9)
        self.assertEqual(self.js("document.querySelectorAll('figure [data-save=csv]').length"), 9)
        self.js("document.querySelector('#theme').click()")
        for section in ("length-charts", "heat-charts", "training-charts"):
            name, text = self.browser.download(f"document.querySelector('#{section} [data-save=svg]').click()")
            self.assertTrue(name.endswith(".svg"))
            root = xml.etree.ElementTree.fromstring(text.encode())
            self.assertTrue(root.tag.endswith("svg"))
            for part in ("var(", "class=", "style="):
                self.assertFalse(part in text, f"{part}: a saved chart needs no style sheet")
        self.assertEqual(self.js("document.documentElement.dataset.theme"), "dark", "saving leaves the page as it was")
        self.js("document.querySelector('#theme').click()")

    def test_legend_hides_a_line_everywhere(self):
        count = "[...document.querySelectorAll('.chart [data-e=\"1\"]')].filter(e => getComputedStyle(e).display !== 'none').length"
        others = count.replace('"1"', '"0"')
        before, others_before = self.js(count), self.js(others)
        self.assertGreater(before, 9)
        button = "document.querySelector('#legend [data-encoding=\"1\"]')"
        self.js(button + ".click()")
        self.assertEqual(self.js(count), 0)
        self.assertEqual(self.js(others), others_before)
        self.assertEqual(self.js(button + ".getAttribute('aria-pressed')"), "false")
        _, text = self.browser.download("document.querySelector('#length-charts [data-save=svg]').click()")
        self.assertFalse(">T5<" in text, "what is hidden is not saved")
        self.js(button + ".focus()")
        self.browser.press(" ")
        self.assertEqual(self.js(count), before)

    def test_hovering_shows_values(self):
        self.js("document.querySelector('#length-charts .chart').scrollIntoView({block: 'center'})")
        box = self.js("(() => { const b = document.querySelector('#length-charts .chart').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
        self.browser.move(box[0] + box[2] * .5, box[1] + box[3] * .5)
        title = self.js("document.querySelector('#tip b').textContent")
        self.assertRegex(title, r"^copy, length \d+$")
        length = int(title.rsplit(" ", 1)[1])
        text = self.js("document.querySelector('#tip').textContent")
        want = mean_accuracy(self.rows, split="copy", encoding="nope", length=length)
        self.assertIn(f"NoPE{want:.3f}", text)
        self.assertFalse(self.js("document.querySelector('#tip').hidden"))
        self.browser.move(2, 2)
        self.assertTrue(self.js("document.querySelector('#tip').hidden"))

    def test_arrow_keys_read_values(self):
        self.js("document.querySelector('#length-charts .chart').focus()")
        self.browser.press("ArrowRight")
        self.browser.press("ArrowRight")
        self.assertEqual(self.js("document.querySelector('#tip b').textContent"), "copy, length 2")

    def test_table_sorts(self):
        column = "[...document.querySelectorAll('#final-numbers tbody tr')].map(r => parseFloat(r.cells[5].textContent))"
        press = "document.querySelectorAll('#final-numbers th button')[5].click()"
        self.js(press)
        values = self.js(column)
        self.assertEqual(values, sorted(values, reverse=True))
        self.assertEqual(self.js("document.querySelectorAll('#final-numbers th')[5].getAttribute('aria-sort')"), "descending")
        self.js(press)
        values = self.js(column)
        self.assertEqual(values, sorted(values))
        self.assertEqual(self.js("document.querySelectorAll('#final-numbers th[aria-sort]').length"), 1)

    def test_runs_unfold(self):
        self.assertEqual(self.js("document.querySelectorAll('details.run').length"), 45)
        self.js("document.querySelector('[data-run=copy-nope-1]').open = true")
        self.js("new Promise(requestAnimationFrame)")
        body = self.js("document.querySelector('[data-run=copy-nope-1] .run-body').textContent")
        for part in ("parameters", "Answers just past the training limit", "right", "wrong", "train-lengths", "1:20"):
            self.assertIn(part, body)
        self.js("(() => { const box = document.querySelector('#run-filter input'); box.value = 'addition-t5'; box.dispatchEvent(new Event('input')); })()")
        self.assertEqual(self.js("[...document.querySelectorAll('details.run')].filter(f => !f.hidden).length"), 3)

    def test_training_curves_switch(self):
        self.js("document.querySelector('[data-curve=validation]').click()")
        self.js("lengthwise.renderAll()")
        self.assertIn("Validation exact match", self.js("document.querySelector('#training-charts title').textContent"))

    def test_charts_are_described(self):
        for kind in ("title", "desc"):
            self.assertEqual(self.js(f"[...document.querySelectorAll('figure svg')].filter(s => !s.querySelector('{kind}').textContent).length"), 0)
        self.assertEqual(self.js("[...document.querySelectorAll('button')].filter(b => !b.textContent && !b.getAttribute('aria-label')).length"), 0)

    def test_theme_follows_the_system_and_the_button(self):
        colour = "getComputedStyle(document.body).backgroundColor"
        self.assertEqual(self.js(colour), "rgb(255, 255, 255)")
        self.browser.theme(True)
        self.assertEqual(self.js(colour), "rgb(20, 23, 28)")
        self.js("document.querySelector('#theme').click()")
        self.assertEqual(self.js(colour), "rgb(255, 255, 255)")
        self.js("localStorage.clear()")

    def test_fits_a_narrow_screen(self):
        self.browser.size(380, 800)
        self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 380)

    def test_prints(self):
        self.assertTrue(self.browser.pdf().startswith(b"%PDF"))


class Troubles(Report):
    arguments = ("--troubles",)

    def test_hostile_texts_stay_texts(self):
        self.assertIn("</script>", self.js("document.querySelector('h1').textContent"))
        self.assertEqual(self.js("document.querySelectorAll('script').length"), 2)
        self.js("document.querySelectorAll('details.run').forEach(fold => { fold.open = true; })")
        self.js("new Promise(done => setTimeout(done, 200))")
        self.assertEqual(self.js("document.querySelectorAll('main b b, .run-body b').length"), 0)
        self.assertIn("</script>", self.js("document.querySelector('.examples').textContent"))

    def test_unfinished_runs_are_listed(self):
        text = self.js("document.querySelector('.warnings').textContent")
        for part in ("failed at step 812 of 3000", "is waiting", "my-encoding did not fit the training lengths of copy",
                     "Run addition-rope-1 cannot be read and does not count", "--fit 0.9 leaves such runs out",
                     "test examples of addition are not longer than any in training (up to 8)"):
            self.assertIn(part, text)
        self.assertIn("1 cannot be read", self.js("document.querySelector('#facts').textContent"))
        self.assertEqual(self.js("document.querySelectorAll('.state-failed, .state-waiting').length"), 2)

    def test_what_is_not_longer_is_labelled(self):
        self.js("document.querySelector('[data-run=addition-nope-1]').open = true")
        self.js("new Promise(requestAnimationFrame)")
        rows = self.js("[...document.querySelectorAll('[data-run=addition-nope-1] .run-body tr')].slice(0, 3).map(r => [...r.cells].map(c => c.textContent))")
        inside = [i for i, length in enumerate(rows[0]) if length == "8"]
        self.assertEqual([(rows[1][i], rows[2][i]) for i in inside], [("validation", ""), ("test", "")])
        self.assertEqual((rows[1][-1], rows[2][-1]), ("test", "yes"))
        shown = self.js("document.querySelector('[data-run=addition-nope-1] .longer').textContent")
        of_run = [row for row in self.rows if row["run"] == "addition-nope-1" and row["longer"] == "true"]
        want = sum(int(row["correct"]) for row in of_run) / sum(int(row["count"]) for row in of_run)
        self.assertEqual(shown, f"{want:.3f}")

    def test_an_unknown_encoding_has_its_own_look(self):
        looks = self.js("lengthwise.data.encodings.map((e, i) => getComputedStyle(document.documentElement).getPropertyValue('--e' + i))")
        self.assertEqual(len(set(looks)), 6)


class Tuned(Report):
    arguments = ("--tuned",)

    def test_what_was_chosen_is_shown(self):
        rows = self.js("[...document.querySelectorAll('#choices tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        self.assertEqual(rows[0], ["NoPE"] + 3 * ["lr=0.001 of 2"])
        self.assertEqual(rows[1], ["T5"] + 3 * ["lr=0.01 of 2"])
        self.assertEqual(self.js("lengthwise.data.splits.map(s => s.name)"), ["copy", "addition", "scan"])
        self.assertEqual(self.js("lengthwise.data.runs.filter(r => r.aside === 'not chosen').length"), 45)


class Policy(Report):
    def test_foreign_scripts_and_styles_do_not_run(self):
        self.js("""(() => {
          const script = document.createElement('script');
          script.textContent = 'window.foreign = 1';
          document.body.append(script);
          document.body.setAttribute('style', 'opacity: 0.5');
          document.body.insertAdjacentHTML('beforeend', '<style>main { display: none }</style>');
        })()""")
        self.assertIsNone(self.js("window.foreign === undefined ? null : window.foreign"))
        self.assertEqual(self.js("getComputedStyle(document.body).opacity"), "1")
        self.assertNotEqual(self.js("getComputedStyle(document.querySelector('main')).display"), "none")

    def tearDown(self):
        # The browser complains of exactly what it refused.
        self.assertTrue(all("Content Security Policy" in line for line in map(str, self.browser.complaints())))


class ManyRuns(Report):
    arguments = ("--tasks", "17")

    def test_255_runs_are_all_there(self):
        self.assertEqual(self.js("document.querySelectorAll('details.run').length"), 255)
        self.assertEqual(self.js("document.querySelectorAll('figure').length"), 51)
        self.assertEqual(self.js("document.querySelectorAll('#final-numbers tbody tr').length"), 85)


class SingleRun(Report):
    arguments = ("--tasks", "1", "--encodings", "1", "--seeds", "1")

    def test_it_is_a_report_too(self):
        self.assertIn("With one encoding there is nothing to rank", self.js("document.querySelector('#answer').textContent"))
        self.assertEqual(self.js("document.querySelectorAll('figure').length"), 3)


def take_pictures():
    """Wide and narrow, light and dark."""
    with tempfile.TemporaryDirectory() as folder, chromium.Browser() as browser:
        for name, arguments in (("small", ()), ("troubles", ("--troubles",)), ("tuned", ("--tuned",)), ("analyses", ("--analyses",)), ("large", ("--tasks", "17")),
                                ("many", ("--many", "--tasks", "6")), ("text", ("--text",)), ("many-text", ("--text", "--many"))):
            page = make_report(os.path.join(folder, name), *arguments)
            for dark in (False, True):
                for width in (1280, 400):
                    browser.size(width, 900)
                    browser.theme(dark)
                    browser.open(page)
                    browser.run("lengthwise.renderAll()")
                    browser.run("document.querySelector('details.run').open = true")
                    browser.run("new Promise(done => setTimeout(done, 200))")
                    browser.screenshot(os.path.join(PICTURES, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
            browser.size(1280, 900)
            with open(os.path.join(PICTURES, f"{name}.pdf"), "wb") as file:
                file.write(browser.pdf())


if __name__ == "__main__":
    report_case.PROGRAM = os.path.abspath(sys.argv[1])
    PICTURES = sys.argv[2] if len(sys.argv) > 2 else None
    if PICTURES:
        os.makedirs(PICTURES, exist_ok=True)
        take_pictures()
    unittest.main(argv=sys.argv[:1], verbosity=1)
