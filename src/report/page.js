// Puts the page together: theme, and charts that are drawn when they come near the screen.

const lengthLabel = (split) => (split.unit ? `length in ${split.unit}` : "length");
const cellsOf = (index) => data.cells.filter((cell) => cell.split === index && cell.lengths && !(data.many && hidden.has(cell.encoding)));

// Draws what is in view at once, the rest when it comes near, and everything before printing.
const pending = new Map();
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) render(entry.target);
}, {rootMargin: "800px"});

function render(place) {
  const build = pending.get(place);
  if (!build) return;
  pending.delete(place);
  watcher.unobserve(place);
  place.replaceWith(build());
}

function renderAll() { for (const place of [...pending.keys()]) render(place); }

function later(ratio, build) {
  const place = node("div");
  place.style.aspectRatio = ratio;
  pending.set(place, build);
  return place;
}

// One chart per split, under the name of its category where there are enough of them to group.
function multiples(id, ratio, build, include = () => true) {
  const box = document.getElementById(id);
  for (const child of box.children) { pending.delete(child); watcher.unobserve(child); }
  box.replaceChildren();
  const shown = data.splits.map((split, index) => ({split, index})).filter(({index}) => include(index));
  const grouped = data.categories.length > 1 && shown.length > 6;
  for (const category of data.categories) {
    const members = shown.filter(({split}) => split.category === category);
    if (!members.length) continue;
    if (grouped) box.append(node("h3", {class: "group"}, category || "other"));
    for (const {split, index} of members) {
      const place = later(ratio, () => build(split, index, {lone: shown.length === 1, detail: grouped ? "" : split.category}));
      box.append(place);
      watcher.observe(place);
    }
  }
  if (!shown.length) box.append(node("p", {class: "fine"}, "There is nothing to draw yet."));
}

// Tasks of one category that were trained to the same limit share their axis.
function lengthDomain(split) {
  const alike = (other) => other.limit === split.limit && other.category === split.category;
  const lengths = data.cells.filter((cell) => cell.lengths && alike(data.splits[cell.split])).flatMap((cell) => cell.lengths.map((row) => row[0]));
  return [Math.min(...lengths), Math.max(...lengths)];
}

function lengthChart(split, index, {lone, detail}) {
  const cells = cellsOf(index);
  const svg = lineChart({
    title: `Accuracy by length: ${split.name}`,
    description: `${cells.length} encodings${split.limit === null ? "" : `, trained on lengths up to ${split.limit}`}. Use the arrow keys to read values.`,
    xLabel: lengthLabel(split), x: lengthDomain(split), y: [0, 1], limit: split.limit, labels: true, wide: lone, split: index,
    series: cells.map((cell) => ({encoding: cell.encoding, weight: cell.longer ? cell.longer[0] : 0,
      points: cell.lengths.map(([x, , count, y, low, high]) => ({x, y, low, high, count}))})),
    tipTitle: (x) => `${split.name}, length ${x}`,
    tipTexts: (point) => [fixed(point.y), `${fixed(point.low, 2)}–${fixed(point.high, 2)}`],
  });
  const csv = () => [["split", "encoding", "length", "longer", "count", "accuracy", "low", "high"],
    cells.flatMap((cell) => cell.lengths.map((row) => [split.name, data.encodings[cell.encoding].name, row[0], row[1] ? "false" : "true", ...row.slice(2)]))];
  return figure(split.name, detail, svg, csv, lone);
}

function heatChart(split, index, {lone, detail}) {
  const cells = cellsOf(index);
  const csv = () => [["split", "encoding", "length", "accuracy"],
    cells.flatMap((cell) => cell.lengths.map((row) => [split.name, data.encodings[cell.encoding].name, row[0], row[3]]))];
  return figure(split.name, detail, heatMap(split, cells, lone), csv, lone);
}

let curve = "loss";
const runsOf = (index) => data.runs.filter((run) => run.split === index && run.encoding !== null && !run.aside && run[curve] && !(data.many && hidden.has(run.encoding)));

function trainingChart(split, index, {lone, detail}) {
  const runs = runsOf(index), log = curve === "loss";
  const series = runs.map((run) => ({encoding: run.encoding, thin: true, name: `${labelOf(run.encoding)}, seed ${run.seed}`,
    points: run[curve][0].map((x, i) => ({x, y: log ? Math.max(1e-6, run[curve][1][i]) : run[curve][1][i]}))}));
  const values = series.flatMap((one) => one.points.map((point) => point.y)), steps = series.flatMap((one) => one.points.map((point) => point.x));
  const low = Math.min(...values), high = Math.max(...values);
  const svg = lineChart({
    title: `${log ? "Training loss" : "Validation exact match"}: ${split.name}`, description: `${runs.length} runs. Use the arrow keys to read values.`,
    xLabel: "step", x: [0, Math.max(...steps)], y: log ? [low / 1.3, high * 1.3] : [0, 1],
    log, series, wide: lone, nearest: true, split: index,
    tipTitle: (x) => `${split.name}, step ${x}`, tipTexts: (point) => [log ? point.y.toPrecision(3) : fixed(point.y)],
  });
  const csv = () => [["split", "encoding", "seed", "step", log ? "loss" : "validation_exact_match"],
    runs.flatMap((run) => run[curve][0].map((step, i) => [split.name, run.encoding_name, run.seed, step, run[curve][1][i]]))];
  return figure(split.name, detail, svg, csv, lone);
}

function drawTraining() { multiples("training-charts", "360 / 245", trainingChart, (index) => runsOf(index).length > 0); }

// --- theme ---

function makeThemeButton() {
  const root = document.documentElement, button = document.getElementById("theme");
  const stored = (value) => { try { return value === undefined ? localStorage.getItem("lengthwise-theme") : localStorage.setItem("lengthwise-theme", value); } catch { return null; } };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const current = () => root.dataset.theme || (system.matches ? "dark" : "light");
  const label = () => { button.textContent = current() === "dark" ? "Light page" : "Dark page"; };
  if (["light", "dark"].includes(stored())) root.dataset.theme = stored();
  button.addEventListener("click", () => { root.dataset.theme = current() === "dark" ? "light" : "dark"; stored(root.dataset.theme); label(); });
  system.addEventListener("change", label);
  button.hidden = false;
  label();
}

function drawLengths() {
  multiples("length-charts", "360 / 235", lengthChart, (index) => cellsOf(index).length > 0);
  multiples("heat-charts", `360 / ${data.many ? heatHeight(shownEncodings().length) + 20 : 160}`, heatChart, (index) => cellsOf(index).length > 0);
}

makeThemeButton();
data.many ? makeFilter() : makeLegend();
perplexitySection();
drawLengths();
if (data.many) rankingTable();
document.getElementById("heat-scale").append("0", node("i"), "1");
document.getElementById("half-table").append(...halfTable());
document.getElementById("pair-table").append(...pairTable());
drawTraining();
document.querySelectorAll("[data-curve]").forEach((button) => button.addEventListener("click", () => {
  curve = button.dataset.curve;
  document.querySelectorAll("[data-curve]").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
  drawTraining();
}));
document.getElementById("number-table").append(...numberTable());
document.getElementById("common-options").append(optionList(data.common));
probeSection();
similaritySection();
headSection();
constructedSection();
ladderSection();
costSection();
runSection();
// From here on, whatever is filtered is drawn anew.
redraws.set("lengths", drawLengths).set("training", drawTraining);
if (analysed.probe) redraws.set("probes", drawProbes);
if (analysed.similarity) redraws.set("similarity", drawSimilarity);
addEventListener("beforeprint", renderAll);
window.lengthwise = {data, renderAll, csvText, standaloneSvg};
