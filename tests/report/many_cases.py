"""A report of forty-six encodings: families, the filter, lines that stand out, tables that fold."""
from report_case import Report


class ManyEncodings(Report):
    arguments = ("--many", "--tasks", "4")
    lines = "[...document.querySelectorAll('#length-charts .chart')][0].querySelectorAll"

    def find(self, text):
        self.js(f"(() => {{ const box = document.querySelector('#legend input'); box.value = {text!r}; box.dispatchEvent(new Event('input')); }})()")
        self.js("lengthwise.renderAll()")

    def press(self, selector):
        self.js(f"document.querySelector({selector!r}).click()")
        self.js("lengthwise.renderAll()")

    def visible(self, table):
        return self.js(f"[...document.querySelectorAll('#{table} tbody tr')].filter(r => r.offsetParent).map(r => [...r.cells].map(c => c.textContent))")

    def test_a_users_own_encoding_has_its_label_and_colour(self):
        mine = self.js("lengthwise.data.encodings.findIndex(e => e.name === 'mine(reach=4)')")
        self.assertEqual(self.js(f"lengthwise.data.encodings[{mine}].label"), "Mine <b>&</b> reach=4")
        self.assertIn("my family", self.js("[...document.querySelectorAll('#legend [data-family]')].map(b => b.textContent).join()"))
        looks = self.js("lengthwise.data.encodings.map((e, i) => getComputedStyle(document.documentElement).getPropertyValue('--e' + i) + e.marker + e.dash)")
        self.assertEqual(len(set(looks)), 46)

    def test_the_best_stand_out_and_the_rest_are_pale(self):
        self.assertEqual(self.js(self.lines + "('.line').length"), 46)
        self.assertEqual(self.js(self.lines + "('.line.faint').length"), 41)
        best = self.js("lengthwise.data.ranking.slice(0, 5).map(r => r.encoding)")
        bold = self.js("[..." + self.lines + "('.line:not(.faint)')].map(l => +l.parentNode.dataset.e)")
        self.assertEqual(sorted(bold), sorted(best))
        self.assertEqual(self.js(self.lines + "('.name').length"), 5, "they are named at their ends")
        self.press("[data-best=task]")
        of_task = self.js("[..." + self.lines + "('.line:not(.faint)')].map(l => +l.parentNode.dataset.e)")
        want = self.js("lengthwise.data.cells.filter(c => c.split === 0).sort((a, b) => b.longer[0] - a.longer[0]).slice(0, 5).map(c => c.encoding)")
        self.assertEqual(sorted(of_task), sorted(want))

    def test_any_encoding_can_be_highlighted(self):
        mine = self.js("lengthwise.data.encodings.findIndex(e => e.name === 'rope')")
        self.js("document.querySelector('.all-encodings').open = true")
        self.js(f"document.querySelector('#legend [data-encoding=\"{mine}\"]').focus()")
        self.browser.press(" ")
        self.js("lengthwise.renderAll()")
        self.assertEqual(self.js(self.lines + "('.line:not(.faint)').length"), 6)
        self.assertEqual(self.js(f"document.querySelector('#legend [data-encoding=\"{mine}\"]').getAttribute('aria-pressed')"), "true")

    def test_filters_by_text(self):
        self.find("alibi nope")
        self.assertEqual(self.js("document.querySelector('#legend .total').textContent"), "1 of 46 encodings")
        self.find("alibi")
        self.assertEqual(self.js("document.querySelector('#legend .total').textContent"), "5 of 46 encodings")
        self.assertEqual(self.js(self.lines + "('.line').length"), 5)
        self.assertEqual(self.js(self.lines + "('.line.faint').length"), 0, "a few all stand out")
        self.assertEqual(self.js("document.querySelectorAll('#heat-charts .chart')[0].querySelectorAll('.row-name').length"), 5)
        self.assertEqual(len(self.visible("ranking")), 5)
        self.assertTrue(all("ALiBi" in row[1] for row in self.visible("ranking")))
        self.assertEqual(len(self.visible("under-half-lengths")), 5)
        self.assertTrue(all("ALiBi" in row[0] and "ALiBi" in row[1] for row in self.visible("pair-tests")))
        self.find("no such thing")
        self.assertEqual(self.visible("ranking"), [])
        self.press("#legend .all")
        self.assertEqual(self.js(self.lines + "('.line').length"), 46)

    def test_filters_by_family(self):
        rotations = self.js("[...document.querySelectorAll('#legend [data-family]')].find(b => b.textContent.startsWith('Rotations')).dataset.family")
        self.press(f"#legend [data-family=\"{rotations}\"]")
        self.assertEqual(self.js(self.lines + "('.line').length"), 10)
        self.assertEqual({row[2] for row in self.visible("ranking")}, {"Rotations"})

    def test_long_tables_fold_and_sort(self):
        self.assertEqual(len(self.visible("ranking")), 12)
        self.assertLess(self.js("document.querySelector('#ranking').getBoundingClientRect().bottom"), 900)
        self.press(".scroll + button.fold")
        self.assertEqual(len(self.visible("ranking")), 46)
        self.press("#ranking th:nth-child(5) button")
        values = [float(row[5].split()[0]) for row in self.visible("ranking")]
        self.assertEqual(values, sorted(values, reverse=True), "by the ranks in one category")
        self.assertEqual(len(self.visible("final-numbers")), 12)
        self.assertEqual(self.js("document.querySelectorAll('#final-numbers tbody tr').length"), 4 * 46)
        self.assertEqual(self.js("document.querySelectorAll('details.run').length"), 4 * 46 * 3)
        self.assertEqual(self.js("[...document.querySelectorAll('details.run')].filter(r => r.offsetParent).length"), 60)

    def test_the_pointer_names_the_line(self):
        self.js("document.querySelector('#length-charts .chart').scrollIntoView({block: 'center'})")
        place = self.js("""(() => {
          const line = document.querySelector('#length-charts .chart .line.faint');
          const [x, y] = line.getAttribute('d').slice(1).split('L')[24].split(' ').map(Number);
          const box = line.ownerSVGElement.getBoundingClientRect(), scale = box.width / 360;
          return [box.left + x * scale, box.top + y * scale, +line.parentNode.dataset.e];
        })()""")
        self.browser.move(place[0], place[1])
        near = self.js("[...document.querySelectorAll('.near .line')].map(l => +l.parentNode.dataset.e)")
        self.assertEqual(len(near), 1)
        label = self.js(f"lengthwise.data.encodings[{near[0]}].label")
        self.assertIn(label, self.js("document.querySelector('#tip table.near').textContent"))
        self.browser.move(2, 2)
        self.assertEqual(self.js("document.querySelectorAll('.chart .near').length"), 0)

    def test_arrow_keys_go_from_line_to_line(self):
        self.js("document.querySelector('#length-charts .chart').focus()")
        for _ in range(24):
            self.browser.press("ArrowRight")
        first = self.js("document.querySelector('#tip table.near').textContent")
        self.assertIn("1 of 46", self.js("document.querySelector('#tip').textContent"))
        self.browser.press("ArrowDown")
        self.assertIn("2 of 46", self.js("document.querySelector('#tip').textContent"))
        self.assertNotEqual(self.js("document.querySelector('#tip table.near').textContent"), first)

    def test_says_what_each_costs(self):
        self.press("#cost-table button.fold")
        rows = {row[0]: row[1:4] for row in self.visible("cost-numbers")}
        self.assertEqual(len(rows), 46)
        # Thirty, sixty and ninety seconds of 3,000 steps for a name without letters, a tenth more for each letter.
        self.assertEqual(rows["NoPE"], ["1.00×", "28.00", "0"])
        self.assertEqual(rows["FoX"], [f"{1.3 / 1.4:.2f}×", "26.00", "0"])

    def test_fits_a_narrow_screen(self):
        self.browser.size(400, 800)
        self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 400)
        self.assertLess(self.js("document.querySelector('#legend').offsetHeight"), 140, "it stays on the screen when the page is scrolled")
        self.js("document.querySelector('.all-encodings').open = true")
        self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 400)

    def test_prints(self):
        self.assertTrue(self.browser.pdf().startswith(b"%PDF"))
