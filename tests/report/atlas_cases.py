"""The atlas of heads in a report, held against heads.csv and heads.json of the runs."""
import base64
import csv
import io
import json
import os

from make_study import HOSTILE
from report_case import Report

GRID = "[...document.querySelectorAll('#head-grid button')]"
TIP = "document.querySelector('#tip').textContent"


class Atlas(Report):
    arguments = ("--analyses",)

    def table(self, run):
        with open(os.path.join(self.folder, "runs", run, "analysis", "heads.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def maps(self, run):
        with open(os.path.join(self.folder, "runs", run, "analysis", "heads.json"), encoding="utf-8") as file:
            return json.load(file)["summary"]["maps"]

    def weight(self, map_of, head, row, column):
        """Of the file's own bytes, by rows of the whole square."""
        text = [text for layer in map_of["maps"] for text in layer][head]
        return (base64.b64decode(text)[row * map_of["side"] + column] / 255) ** 2

    def choose_run(self, name):
        self.js("(() => { const box = document.querySelector('#head-run'); box.value = [...box.options].findIndex(o => o.textContent.includes('(" + name +
                ")')); box.dispatchEvent(new Event('input')); })()")

    def click(self, selector):
        self.js(f"document.querySelector('{selector}').click()")

    def focus_map(self, length):
        self.js(f"document.querySelector('[data-length=\"{length}\"] .head-map').focus()")

    def test_every_square_is_the_class_of_the_table(self):
        self.assertFalse(self.js("document.querySelector('#heads').hidden"))
        for run in ("copy-nope-1", "addition-t5-2"):
            self.choose_run(run)
            rows = self.table(run)
            for length in sorted({int(row["length"]) for row in rows}):
                for content in ("task", "exchanged"):
                    self.click(f'[data-choice="headLength {length}"]')
                    self.click(f'[data-choice="headContent {content}"]')
                    want = [row for row in rows if row["length"] == str(length) and row["content"] == content]
                    self.assertEqual(self.js(GRID + ".map(b => b.getAttribute('aria-label'))"),
                                     [f"layer {row['layer']}, head {row['head']}: {row['class']}" + (", by position" if row["positional"] == "yes" else "") for row in want])
                    self.assertEqual(self.js(GRID + ".filter(b => b.classList.contains('by-position')).length"), sum(row["positional"] == "yes" for row in want))
                    letters = self.js(GRID + ".map(b => b.textContent)")
                    self.assertEqual(letters, [{"offset-3": "3", "diffuse": "–"}.get(row["class"], row["class"][0].upper()) for row in want])

    def test_letters_can_be_read_on_their_colours(self):
        ratio = """(() => {
          const light = (rgb) => rgb.match(/\\d+/g).slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
          return Math.min(...[...document.querySelectorAll('#head-grid button, #head-legend i')].map(e => {
            const s = getComputedStyle(e), [a, b] = [light(s.color), light(s.backgroundColor)].sort((x, y) => y - x);
            return (a + .05) / (b + .05);
          }));
        })()"""
        for dark in (False, True):
            self.browser.theme(dark)
            self.assertGreater(self.js(ratio), 4.5)
        colours = self.js("[...document.querySelectorAll('#head-legend i')].map(e => getComputedStyle(e).backgroundColor + e.textContent)")
        self.assertEqual(len(set(colours)), 10, "nine classes and the mark of position look different")

    def test_a_class_can_be_picked_out(self):
        bright = GRID + ".filter(b => !b.classList.contains('dim')).map(b => b.textContent).join('')"
        self.click('#head-legend [data-class="content"]')
        self.assertEqual(self.js(bright), "CC")
        self.assertEqual(self.js("document.activeElement.dataset.class"), "content", "the focus stays where it was")
        self.assertIn("2 of 10 heads at length 20, task content", self.js("document.querySelector('#head-legend').textContent"))
        self.click('#head-legend [data-class="uniform"]')
        self.assertEqual(self.js(bright), "UCC")
        self.click('#head-legend [data-class="positional"]')
        self.assertEqual(self.js(bright), "U")
        for kind in ("content", "uniform", "positional"):
            self.click(f'#head-legend [data-class="{kind}"]')
        self.assertEqual(self.js(GRID + ".filter(b => b.classList.contains('dim')).length"), 0)

    def test_squares_work_with_the_keyboard(self):
        self.assertEqual(self.js(GRID + ".filter(b => b.tabIndex === 0).length"), 1)
        self.js(GRID + "[0].focus()")
        for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowRight"):
            self.browser.press(key)
        self.assertEqual(self.js("document.activeElement.dataset.head"), "7")
        self.browser.press(" ")
        self.assertIn("Layer 2, head 3", self.js("document.querySelector('#head-detail h3').textContent"))
        self.assertEqual(self.js(GRID + ".map(b => b.getAttribute('aria-pressed')).indexOf('true')"), 7)

    def test_a_head_is_shown_at_the_trained_length_and_beyond(self):
        self.choose_run("copy-nope-1")
        self.click('#head-grid [data-head="5"]')
        self.assertIn("trained to length 20", self.js("document.querySelector('#head-detail h3').textContent"))
        self.assertEqual(self.js("[...document.querySelectorAll('.head-column h4')].map(h => h.textContent)"),
                         ["Length 20the trained length", "Length 40twice the trained length", "Length 80four times the trained length"])
        rows = [row for row in self.table("copy-nope-1") if (row["layer"], row["head"]) == ("2", "1")]
        for length in ("20", "40", "80"):
            task, exchanged = ([row for row in rows if row["length"] == length and row["content"] == content][0] for content in ("task", "exchanged"))
            shown = self.js(f"[...document.querySelectorAll('[data-length=\"{length}\"] .measures tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
            number = lambda key: [f"{float(row[key]):.3f}" for row in (task, exchanged)]
            self.assertEqual(shown[0], ["Class", "local", "local"])
            self.assertEqual(shown[2:5], [["Survives exchange", *number("survives")], ["Entropy", *number("entropy")], ["Attended distance", *number("distance")]])
            self.assertEqual(shown[5:7], [["Profile", *2 * ["like a window, contested"]], ["R² of it", "0.950", "0.950"]])
            for cell, row in zip(shown[7][1:], (task, exchanged)):
                self.assertAlmostEqual(float(cell), float(row["slope"]), delta=6e-4)

    def test_maps_tell_words_weight_and_distance(self):
        self.choose_run("copy-nope-1")
        self.click('#head-grid [data-head="2"]')
        small, _, large = self.maps("copy-nope-1")
        self.focus_map(20)
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
            self.browser.press(key)
        text = self.js(TIP)
        self.assertIn(f"weight {self.weight(small, 2, 3, 1):.3f}", text)
        self.assertIn("queryat 3word3", text)
        self.assertIn("keyat 1" + HOSTILE[:20], text)
        self.assertIn("distance2", text)
        self.assertEqual(self.js("document.querySelectorAll('#tip script, #tip b b').length"), 0)
        for _ in range(9):
            self.browser.press("ArrowRight")
        self.assertIn("distance0", self.js(TIP), "no key behind the query")
        # 166 tokens in 64 rows: the tenth has tokens 24 to 25.
        self.focus_map(80)
        for _ in range(10):
            self.browser.press("ArrowDown")
        text = self.js(TIP)
        self.assertIn(f"largest weight {self.weight(large, 2, 9, 0):.3f}", text)
        self.assertIn("queryat 24–25word24 word25", text)
        self.assertIn("distance22–25", text)

    def test_the_pointer_reads_a_map_and_a_click_holds_it(self):
        self.choose_run("copy-nope-1")
        small = self.maps("copy-nope-1")[0]
        self.js("document.querySelector('.head-map').scrollIntoView({block: 'center'})")
        box = self.js("(() => { const b = document.querySelector('.head-map').getBoundingClientRect(); return [b.left, b.top, b.width / 46]; })()")
        place = lambda row, column: (box[0] + (column + .5) * box[2], box[1] + (row + .5) * box[2])
        head = int(self.js(GRID + ".map(b => b.getAttribute('aria-pressed')).indexOf('true')"))
        self.browser.move(*place(30, 12))
        self.assertIn(f"weight {self.weight(small, head, 30, 12):.3f}", self.js(TIP))
        self.assertIn("queryat 30word30keyat 12word12distance18", self.js(TIP))
        self.browser.move(*place(12, 30))
        self.assertTrue(self.js("document.querySelector('#tip').hidden"), "nothing above the diagonal")
        x, y = place(30, 12)
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.browser.move(*place(40, 3))
        self.assertIn("queryat 30", self.js(TIP), "held")
        self.browser.press("Escape")
        self.assertTrue(self.js("document.querySelector('#tip').hidden"))

    def test_all_maps_share_their_colours(self):
        self.choose_run("copy-nope-1")
        self.click('#head-grid [data-head="4"]')
        maps = self.maps("copy-nope-1")
        pixels = lambda: [self.js(f"(() => {{ const c = document.querySelectorAll('.head-map canvas')[{i}]; return [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]; }})()") for i in range(3)]
        seen = {}
        for scale in ("linear", "log"):
            self.click(f'[data-choice="scale {scale}"]')
            colours = {}
            for map_of, data in zip(maps, pixels()):
                side, stored = map_of["side"], base64.b64decode(map_of["maps"][0][4])
                self.assertEqual(len(data), 4 * side * side)
                self.assertEqual(data[4 * (side - 1) + 3], 0, "nothing is drawn above the diagonal")
                for row in range(1, side):
                    for column in range(row + 1):
                        at = 4 * (row * side + column)
                        colours.setdefault(stored[row * side + column], set()).add(tuple(data[at:at + 4]))
            self.assertTrue(all(len(found) == 1 for found in colours.values()), "one weight, one colour")
            seen[scale] = {key: found.pop() for key, found in colours.items()}
        self.assertEqual(max(seen["linear"]), 199)
        self.assertEqual(seen["linear"][199], (255, 234, 70, 255))
        self.assertEqual(seen["log"][199], (255, 234, 70, 255))
        self.assertLess(seen["linear"][60][0], seen["log"][60][0], "small weights are brighter in the log scale")

    def test_profiles_are_where_the_numbers_are(self):
        self.choose_run("copy-nope-1")
        self.click('#head-grid [data-head="0"]')
        column = "document.querySelector('[data-length=\"20\"]')"
        self.assertEqual(self.js(column + ".querySelectorAll('.profile .line').length"), 3, "two contents and the family")
        slope = self.table("copy-nope-1")[0]["slope"]
        self.assertIn(f"exchanged content: like ALiBi with slope {float(slope):.3g} (R² 0.950)", self.js(column + ".textContent"))
        self.js(column + ".querySelector('.profile').focus()")
        for _ in range(4):
            self.browser.press("ArrowRight")
        text = self.js(TIP)
        self.assertIn("distance 3", text)
        self.assertIn(f"best family{-3 * float(slope):.3f}", text)

    def test_maps_of_many_runs_are_left_out_and_the_page_says_so(self):
        self.assertEqual(self.js("lengthwise.data.analyses.heads.filter(h => !h.thinned).length"), 12)
        self.assertIn("maps and profiles of 12 of 45 runs", self.js("document.querySelector('#head-note').textContent"))
        self.choose_run("copy-nope-2")
        self.assertEqual(self.js("document.querySelectorAll('.head-map, .profile').length"), 0)
        self.assertIn("keeps no map or profile of this run", self.js("document.querySelector('#head-detail').textContent"))
        self.assertEqual(self.js("document.querySelectorAll('.measures').length"), 3)

    def test_the_heads_of_a_run_can_be_saved(self):
        self.choose_run("copy-t5-3")
        name, text = self.browser.download("document.querySelector('#head-run-choice [data-save=csv]').click()")
        self.assertEqual(name, "heads-copy-t5-3.csv")
        saved, rows = list(csv.DictReader(io.StringIO(text))), self.table("copy-t5-3")
        self.assertEqual(len(saved), len(rows))
        for row in rows:
            match = [one for one in saved if all(one[key] == row[key] for key in ("content", "length", "layer", "head"))]
            self.assertEqual(len(match), 1)
            self.assertEqual((match[0]["class"], match[0]["family"], match[0]["positional"]), (row["class"], row["family"], {"yes": "true", "no": "false"}[row["positional"]]))

    def test_the_constructed_state_is_drawn(self):
        rows = self.js("[...document.querySelectorAll('#constructed table')].map(t => [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent)))")
        for state in rows:
            self.assertEqual(state[:2], [["one", *8 * "1"], ["first", "1", *7 * "0"]])
        self.assertEqual([state[2][1:] for state in rows], [list(8 * "0"), ["1", *(f"1/{t}" for t in range(2, 9))], list("12345678")])

    def test_everything_has_a_name(self):
        self.assertEqual(self.js("[...document.querySelectorAll('#heads button, #heads select, #heads [role=img], #heads [role=group]')]"
                                 ".filter(e => !e.getAttribute('aria-label') && !e.textContent.trim()).length"), 0)
        self.assertEqual(self.js("[...document.querySelectorAll('#heads [role=img]')].filter(e => !e.getAttribute('aria-label')).length"), 0)

    def test_fits_a_narrow_screen_and_prints(self):
        self.browser.size(380, 800)
        self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 380)
        self.browser.size(760, 1000)
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        over = self.js("Math.max(...[...document.querySelectorAll('.measures')].map(t => t.getBoundingClientRect().right - t.closest('.head-column').getBoundingClientRect().right))")
        self.browser.call("Emulation.setEmulatedMedia", media="")
        self.assertLess(over, 1, "tables stay in their columns on paper")
        self.assertTrue(self.browser.pdf().startswith(b"%PDF"))


class DamagedAtlas(Report):
    arguments = ("--analyses", "--troubles")

    def test_the_others_are_shown_and_these_are_named(self):
        text = self.js("document.body.textContent")
        for part in ("addition-nope-1/analysis/heads.json: not valid JSON", "The heads of addition-t5-1 cannot be shown: heads.json: 'maps' must be base64",
                     "The heads of addition-alibi-1 cannot be shown: heads.json does not have every head"):
            self.assertIn(part, text)
        self.assertFalse(self.js("document.querySelector('#heads').hidden"))
        self.assertEqual(self.js("[...document.querySelectorAll('#head-run option')].filter(o => /addition-(nope|t5|alibi)-1/.test(o.textContent)).length"), 0)

    def test_texts_stay_texts(self):
        self.assertEqual(self.js(GRID + "[0].textContent"), "?")
        self.assertEqual(self.js(GRID + "[0].getAttribute('aria-label')"), f"layer 1, head 1: {HOSTILE}, by position")
        self.js(GRID + "[0].click()")
        self.assertIn(HOSTILE, self.js("document.querySelector('.measures').textContent"))
        self.assertEqual(self.js("document.querySelectorAll('#heads script, #heads b').length"), 0)
