// Runs on text: perplexity by context and loss by position within the window, each number with its protocol. Of a run
// come sums; what is drawn is the sum over seeds, with the least and the most of them around it.

const measured = data.perplexity || {texts: [], runs: []};
Object.assign(chosen, {stride: "0", text: "0", unit: "perplexity", window: ""});

const UNITS = {
  perplexity: ["Perplexity", (sum) => Math.exp(sum.nats / sum.tokens), 3],
  bits: ["Bits per byte", (sum) => sum.nats / Math.LN2 / sum.bytes, 4],
  nats: ["Nats per token", (sum) => sum.nats / sum.tokens, 4],
};
const unitOf = () => UNITS[chosen.unit];
const strideText = (stride) => (stride === 0 ? "No overlap" : `Sliding, stride ${stride}`);
const countText = (value) => value.toLocaleString("en");

// Windows that do not overlap are windows that slide by their own length.
const isChosen = (row) => String(row.text) === chosen.text &&
  (String(row.stride) === chosen.stride || (row.stride === 0 && String(row.window) === chosen.stride));

// Sums over the runs of an encoding, one a seed; `null` nats, a loss that was no number, stay null.
function added(parts, key) {
  const sums = parts.map((part) => ({tokens: part.tokens, bytes: part.bytes, nats: part.nats}));
  if (sums.some((sum) => sum.nats === null)) return null;
  const sum = sums.reduce((a, b) => ({tokens: a.tokens + b.tokens, bytes: a.bytes + b.bytes, nats: a.nats + b.nats}));
  const value = UNITS[key][1], each = sums.map(value);
  return {y: value(sum), low: Math.min(...each), high: Math.max(...each), seeds: sums.length};
}

// [{encoding, with, window, rows, lines}] of a split under the chosen protocol, by encoding, then context.
function contextCells(index) {
  const cells = new Map();
  for (const {run, rows} of measured.runs) {
    const {split, encoding, aside} = data.runs[run];
    if (split !== index || encoding === null || aside || (data.many && hidden.has(encoding))) continue;
    for (const row of rows.filter(isChosen)) {
      const key = [encoding, row.with || "", row.window].join("\n");
      if (!cells.has(key)) cells.set(key, {split: index, encoding, with: row.with || "", window: row.window, rows: []});
      cells.get(key).rows.push(row);
    }
  }
  return [...cells.values()].sort((a, b) => a.encoding - b.encoding || a.with.localeCompare(b.with) || a.window - b.window);
}

// One line where the seeds agree but for the steps of their best weights, and otherwise one each.
const protocolOf = (cell) => {
  const steps = /\((\d+) steps of/;
  const lines = new Map();
  for (const {line} of cell.rows) {
    const key = line.replace(steps, "");
    lines.set(key, [...(lines.get(key) || []), line]);
  }
  const seeds = cell.rows.length === 1 ? "" : `${cell.rows.length} seeds: `;
  return seeds + [...lines.values()].map((alike) =>
    alike[0].replace(steps, `(${[...new Set(alike.map((line) => steps.exec(line)?.[1]))].join(", ")} steps of`)).join(" | ");
};

// What of the protocol is the same for all of a chart.
function commonProtocol() {
  const text = measured.texts[+chosen.text];
  return `${strideText(+chosen.stride)}; test text of ${text.name} (${text.checksum}), documents ${text.crossed ? "crossed" : "apart"}`;
}

// Lines of a chart; one that was measured with another encoding than in training is drawn beside that of training.
function linesOf(cells, points) {
  const lines = new Map();
  for (const cell of cells) {
    const key = `${cell.encoding}\n${cell.with}`;
    if (!lines.has(key)) {
      lines.set(key, {encoding: cell.encoding, with: cell.with, points: [],
        ...(cell.with ? {dash: "1 3", label: cell.with, name: `${labelOf(cell.encoding)} read with ${cell.with}`} : {})});
    }
    lines.get(key).points.push(...points(cell));
  }
  const drawn = [...lines.values()].filter((line) => line.points.length);
  for (const line of drawn) line.weight = -line.points[line.points.length - 1].y;
  return drawn;
}

// By the loss at the longest context that an encoding was measured at; longer ones first.
function bestReaders(cells) {
  const own = cells.filter((cell) => !cell.with && added(cell.rows, "nats"));
  const longest = Math.max(...own.map((cell) => cell.window));
  return own.filter((cell) => cell.window === longest).sort((a, b) => added(a.rows, "nats").y - added(b.rows, "nats").y).map((cell) => cell.encoding);
}

const around = (values) => { const low = Math.min(...values), high = Math.max(...values), room = (high / low) ** .06; return [low / room, high * room]; };
const seedText = (point) => (point.seeds > 1 ? `${fixed(point.low, unitOf()[2])}–${fixed(point.high, unitOf()[2])}` : "1 seed");
const withProtocol = (box, ...texts) => { box.append(...texts.map((text) => node("p", {class: "fine protocol"}, text))); return box; };

function contextChart(split, index, {lone}) {
  const cells = contextCells(index), [unit, , digits] = unitOf();
  const series = linesOf(cells, (cell) => { const sum = added(cell.rows, chosen.unit); return sum ? [{x: cell.window, ...sum, cell}] : []; });
  const points = series.flatMap((one) => one.points), windows = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
  const times = (x) => (split.limit ? ` (${+(x / split.limit).toPrecision(3)}×)` : "");
  const svg = lineChart({
    title: `${unit} by context: ${split.name}`,
    description: `${series.length} lines, ${strideText(+chosen.stride).toLowerCase()}${split.limit === null ? "" : `, trained at ${split.limit} tokens`}. Use the arrow keys to read values.`,
    xLabel: "context, tokens", xLog: true, xTicks: windows, x: [windows[0], windows[windows.length - 1]], y: around(points.flatMap((point) => [point.low, point.high])),
    log: true, limit: split.limit, labels: true, wide: lone, split: index, series, ranked: bestReaders(cells),
    tipTitle: (x) => `${split.name}, context ${countText(x)}${times(x)}`, tipNote: commonProtocol,
    tipTexts: (point) => [fixed(point.y, digits), seedText(point)],
  });
  const csv = () => [["split", "encoding", "read_with", "context", "seeds", chosen.unit, "least", "most", "protocol"],
    series.flatMap((one) => one.points.map((point) => [split.name, data.encodings[one.encoding].name, one.with, point.x, point.seeds, point.y, point.low, point.high, protocolOf(point.cell)]))];
  return withProtocol(figure(split.name, unit.toLowerCase(), svg, csv, lone), `${commonProtocol()}. The table below has the protocol of every number.`);
}

// --- loss by position ---

const windowsOf = () => [...new Set(measured.runs.flatMap(({rows}) => rows.filter(isChosen).map((row) => row.window)))].sort((a, b) => a - b);
const binText = (point) => (point.from === point.x ? countText(point.x) : `${countText(point.from)} to ${countText(point.x)}`);

function positionPoints(cell) {
  const bins = new Map();
  for (const row of cell.rows) {
    for (const [from, to, tokens, nats] of row.positions) bins.set(to, [...(bins.get(to) || []), {from, tokens, bytes: tokens, nats}]);
  }
  return [...bins].sort((a, b) => a[0] - b[0]).map(([to, parts]) => { const sum = added(parts, "nats"); return sum && {x: to, from: parts[0].from, ...sum, cell}; }).filter(Boolean);
}

const cellsAtWindow = (index) => contextCells(index).filter((cell) => String(cell.window) === chosen.window);

function positionChart(split, index, {lone}) {
  const cells = cellsAtWindow(index), series = linesOf(cells, positionPoints);
  const points = series.flatMap((one) => one.points), places = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
  const values = points.flatMap((point) => [point.low, point.high]);
  const svg = lineChart({
    title: `Loss by position: ${split.name}`,
    description: `Nats per token by how many tokens stand before it in windows of ${chosen.window}, ${series.length} lines. Use the arrow keys to read values.`,
    xLabel: `tokens before, in windows of ${countText(+chosen.window)}`, xLog: true, xTicks: places, x: [places[0], places[places.length - 1]],
    y: [Math.max(0, Math.min(...values) * .95), Math.max(...values) * 1.02], limit: split.limit, labels: true, wide: lone, split: index, series, ranked: bestReaders(cells),
    tipTitle: (x) => `${split.name}, ${binText(points.find((point) => point.x === x))} tokens before`, tipNote: () => `Windows of ${countText(+chosen.window)}. ${commonProtocol()}`,
    tipTexts: (point) => [fixed(point.y, 4), point.seeds > 1 ? `${fixed(point.low, 4)}–${fixed(point.high, 4)}` : "1 seed"],
  });
  const csv = () => [["split", "encoding", "read_with", "window", "from", "to", "seeds", "nats_per_token", "least", "most", "protocol"],
    series.flatMap((one) => one.points.map((point) => [split.name, data.encodings[one.encoding].name, one.with, point.cell.window, point.from, point.x, point.seeds, point.y, point.low, point.high, protocolOf(point.cell)]))];
  return withProtocol(figure(split.name, "nats per token", svg, csv, lone), `Windows of ${countText(+chosen.window)} tokens. ${commonProtocol()}.`);
}

// --- every number with its protocol ---

function perplexityTable() {
  const rows = data.splits.flatMap((_, index) => contextCells(index)).map((cell) => ({...cell,
    ...Object.fromEntries(Object.keys(UNITS).map((key) => [key, added(cell.rows, key)]))}));
  const limit = (row) => data.splits[row.split].limit;
  const spread = (key) => ({name: UNITS[key][0], key, number: true, fields: [key, `${key}_least`, `${key}_most`],
    value: (row) => row[key]?.y ?? null, save: (row) => (row[key] ? [row[key].y, row[key].low, row[key].high] : ["", "", ""]),
    show: (row) => (row[key] ? [fixed(row[key].y, UNITS[key][2]), ...(row[key].seeds > 1 ? [node("span", {class: "interval"}, `${fixed(row[key].low, UNITS[key][2])}–${fixed(row[key].high, UNITS[key][2])}`)] : [])] : "not finite")});
  return sortableTable("perplexity-numbers", "perplexity", [
    ...(data.splits.length > 1 ? [{name: "Text", key: "split", value: (row) => data.splits[row.split].name}] : []),
    encodingColumn("Encoding", "encoding", (row) => row.encoding),
    ...(rows.some((row) => row.with) ? [{name: "Read with", key: "read_with", value: (row) => row.with || null, show: (row) => row.with || "its own"}] : []),
    {name: "Context", key: "context", number: true, value: (row) => row.window, show: (row) => countText(row.window)},
    {name: "of training", key: "times", number: true, value: (row) => (limit(row) ? row.window / limit(row) : null), show: (row) => (limit(row) ? `${+(row.window / limit(row)).toPrecision(3)}×` : "–")},
    {name: "Seeds", key: "seeds", number: true, value: (row) => row.rows.length},
    spread("perplexity"), spread("nats"), spread("bits"),
    {name: "Protocol", key: "protocol", value: protocolOf, show: (row) => [node("span", {class: "protocol"}, protocolOf(row))]},
  ], rows, (row) => [row.encoding]);
}

function drawPositions() { multiples("position-charts", "360 / 265", positionChart, (index) => cellsAtWindow(index).length > 0); }

function windowChoices() {
  const windows = windowsOf().map(String);
  if (!windows.includes(chosen.window)) chosen.window = windows[windows.length - 1] ?? "";
  document.getElementById("position-choices").replaceChildren(choiceOf("window", "Window", windows.map((value) => [value, `Windows of ${countText(+value)}`]), drawPositions));
}

function drawPerplexity() {
  multiples("perplexity-charts", "360 / 265", contextChart, (index) => contextCells(index).length > 0);
  windowChoices();
  drawPositions();
  document.getElementById("perplexity-table").replaceChildren(...perplexityTable());
}

// What is said of problems elsewhere on the page is, of tokens, something else.
function speakOfTokens() {
  document.querySelector("#by-length h2").textContent = "Accuracy by context";
  document.querySelector("#by-length .about").firstChild.textContent = "Share of tokens that were the most likely ones, by context, in windows without overlap; mean over seeds with its 95 % interval. The shaded contexts are not longer than that of training.";
  document.getElementById("under-half").hidden = true;
}

function perplexitySection() {
  if (!measured.runs.length) return;
  document.getElementById("perplexity").hidden = false;
  const rows = measured.runs.flatMap((entry) => entry.rows);
  const strides = [...new Set(rows.map((row) => row.stride))].sort((a, b) => a - b);
  if (strides.length && !strides.includes(0)) chosen.stride = String(strides[0]);
  const choices = document.getElementById("perplexity-choices");
  choices.append(choiceOf("stride", "Protocol", strides.map((stride) => [String(stride), strideText(stride)]), drawPerplexity),
    choiceOf("unit", "Unit", Object.entries(UNITS).map(([key, [label]]) => [key, label]), drawPerplexity));
  if (measured.texts.length > 1) {
    choices.append(choiceOf("text", "Text", measured.texts.map((text, i) => [String(i), cut(`${text.name}${text.crossed ? ", crossed" : ""}`, 40)]), drawPerplexity));
  }
  if (data.splits.every((split) => split.category === "text")) speakOfTokens();
  drawPerplexity();
  redraws.set("perplexity", drawPerplexity);
}
