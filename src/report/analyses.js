// What was found inside the models: probes by layer, similarity of attention by length. Drawn only where runs have it.

const analysed = data.analyses || {};
const chosen = {content: "exchanged", target: "position", probe: "linear", where: "inside",
                similarContent: "task", computation: "jensen-shannon", layer: "0"};

// A row of buttons; `values` are [value, label].
function choiceOf(key, label, values, draw) {
  const group = node("div", {class: "choice", role: "group", "aria-label": label});
  for (const [value, text] of values) {
    const button = node("button", {type: "button", "data-choice": `${key} ${value}`, "aria-pressed": String(chosen[key] === value)}, text);
    button.addEventListener("click", () => {
      chosen[key] = value;
      for (const other of group.children) other.setAttribute("aria-pressed", String(other === button));
      draw();
    });
    group.append(button);
  }
  return group;
}

// --- probes ---

// Where `beyond` is asked for, the longest length; `there` is fitted on all lengths.
const probeKey = (states) => [chosen.content, chosen.target, chosen.probe, chosen.where === "there" ? "all" : "trained",
                              chosen.where === "inside" ? "inside" : "longest", states].join(" ");
const probesOf = (index) => (analysed.probe || []).filter(({run}) => data.runs[run].split === index && data.runs[run].encoding !== null && !data.runs[run].aside);

// Mean over seeds; around it the interval of a single run, or the range of several.
function probeLine(entries, states) {
  const lines = entries.map((entry) => entry.series[probeKey(states)]).filter(Boolean);
  if (!lines.length) return [];
  return lines[0].map((_, layer) => {
    const here = lines.map((line) => line[layer]).filter((cell) => cell && cell[0] !== null);
    if (!here.length) return null;
    const mean = (part) => here.reduce((sum, cell) => sum + cell[part], 0) / here.length;
    const [low, high] = here.length === 1 ? [here[0][1], here[0][2]] : [Math.min(...here.map((cell) => cell[0])), Math.max(...here.map((cell) => cell[0]))];
    const inside = (value) => Math.min(1, Math.max(0, value));
    return {x: layer, y: inside(mean(0)), low: inside(low), high: inside(high), r2: mean(0), error: mean(3)};
  }).filter(Boolean);
}

function probeSeries(index) {
  const entries = probesOf(index);
  const encodings = [...new Set(entries.map(({run}) => data.runs[run].encoding))].sort((a, b) => a - b);
  return encodings.flatMap((encoding) => {
    const own = entries.filter(({run}) => data.runs[run].encoding === encoding);
    const trained = probeLine(own, "trained"), untrained = probeLine(own, "untrained");
    return [{encoding, points: trained, weight: trained.length ? trained[trained.length - 1].y : 0},
            {encoding, thin: true, name: `${labelOf(encoding)}, untrained`, points: untrained}];
  }).filter((series) => series.points.length);
}

function probeChart(split, index, {lone}) {
  const series = probeSeries(index), entries = probesOf(index);
  const length = chosen.where === "inside" ? entries[0].length : entries[0].longest;
  const svg = lineChart({
    title: `R² of ${chosen.target} by layer: ${split.name}`,
    description: `${chosen.probe} probes at length ${length}, ${chosen.content} content. Use the arrow keys to read values.`,
    xLabel: "layer (0: embedding)", x: [0, Math.max(1, ...entries.map((entry) => entry.layers - 1))], y: [0, 1], wide: lone, series, split: index,
    tipTitle: (x) => `${split.name}, layer ${x}, length ${length}`, tipTexts: (point) => [fixed(point.r2), `± ${fixed(point.error, 1)} tokens`],
  });
  const csv = () => [["split", "encoding", "states", "content", "target", "probe", "fit", "length", "layer", "r2", "error"],
    series.flatMap((one) => one.points.map((point) => [split.name, data.encodings[one.encoding].name, one.thin ? "untrained" : "trained",
      chosen.content, chosen.target, chosen.probe, chosen.where === "there" ? "all" : "trained", length, point.x, point.r2, point.error]))];
  return figure(split.name, `length ${length}`, svg, csv, lone);
}

// Of every run the layer that is read best, and what the controls give there.
function probeTable() {
  const rows = (analysed.probe || []).filter(({run}) => data.runs[run].encoding !== null).map((entry) => {
    const line = entry.series[probeKey("trained")] || [];
    const best = line.reduce((at, cell, layer) => (cell && cell[0] !== null && (at < 0 || cell[0] > line[at][0]) ? layer : at), -1);
    const at = (states, layer) => { const cell = (entry.series[probeKey(states)] || [])[layer]; return cell ? cell[0] : null; };
    return {run: data.runs[entry.run], best, r2: best < 0 ? null : line[best].slice(0, 3), error: best < 0 ? null : line[best][3],
            untrained: at("untrained", best), constructed: at("constructed", best), shuffled: at("shuffled", best), token: at("token", 0)};
  }).filter((row) => row.best >= 0);
  const control = (name, key) => ({name, key, number: true, value: (row) => row[key], show: (row) => fixed(row[key])});
  return sortableTable("probe-numbers", "probes", [
    {name: "Task", key: "split", value: (row) => row.run.split_name},
    encodingColumn("Encoding", "encoding", (row) => row.run.encoding),
    {name: "Seed", key: "seed", value: (row) => row.run.seed},
    {name: "Best layer", key: "layer", number: true, value: (row) => row.best},
    estimateColumn("R²", "r2", (row) => row.r2),
    {name: "Error, tokens", key: "error", number: true, value: (row) => row.error, show: (row) => fixed(row.error, 1)},
    control("Untrained", "untrained"), control("Constructed", "constructed"), control("Shuffled", "shuffled"), control("Token alone", "token"),
  ], rows, (row) => [row.run.encoding]);
}

function drawProbes() {
  multiples("probe-charts", "360 / 245", probeChart, (index) => probeSeries(index).length > 0);
  document.getElementById("probe-table").replaceChildren(...probeTable());
}

function probeSection() {
  if (!analysed.probe) return;
  const has = (part) => analysed.probe.some((entry) => Object.keys(entry.series).some((key) => key.startsWith(part)));
  if (!has("exchanged")) chosen.content = "task";
  document.getElementById("probes").hidden = false;
  document.getElementById("probe-choices").append(
    choiceOf("content", "Content", [["exchanged", "Exchanged content"], ["task", "The task's own"]].filter(([value]) => has(value)), drawProbes),
    choiceOf("target", "Target", [["position", "Position"], ["distance", "Distance of pairs"]], drawProbes),
    choiceOf("probe", "Probe", [["linear", "Linear"], ["nonlinear", "Nonlinear"]], drawProbes),
    choiceOf("where", "Where", [["inside", "At the trained length"], ["beyond", "Beyond it"], ["there", "Beyond, fitted there"]], drawProbes));
  drawProbes();
}

// --- similarity ---

const similarOf = (index) => (analysed.similarity || []).filter(({run}) => data.runs[run].split === index && !data.runs[run].aside);

// How the encoding of the reference is written.
const known = (name) => (data.encodings.find((encoding) => encoding.name === name) || {label: name}).label;

// Mean over pairs of runs, by encoding of the other run; the same model with another seed is the baseline.
function similarSeries(index) {
  const lines = new Map();
  for (const {run, rows} of similarOf(index)) {
    for (const [encoding, relation, content, computation, length, layer, value, low, high] of rows) {
      const drawn = encoding !== null && value !== null && ["encoding", "baseline"].includes(relation);
      if (!drawn || content !== chosen.similarContent || computation !== chosen.computation || String(layer) !== chosen.layer) continue;
      const key = `${relation} ${encoding}`;
      if (!lines.has(key)) lines.set(key, {encoding, relation, reference: data.runs[run].encoding_name, at: new Map()});
      const at = lines.get(key).at;
      at.set(length, [...(at.get(length) || []), [value, low, high]]);
    }
  }
  return [...lines.values()].map(({encoding, relation, reference, at}) => ({
    encoding, name: relation === "baseline" ? `${labelOf(encoding)}, another seed` : labelOf(encoding), relation, reference,
    points: [...at].sort((a, b) => a[0] - b[0]).map(([x, cells]) => {
      const mean = (part) => cells.reduce((sum, cell) => sum + cell[part], 0) / cells.length;
      const ends = cells.length === 1 ? [cells[0][1], cells[0][2]] : [Math.min(...cells.map((cell) => cell[0])), Math.max(...cells.map((cell) => cell[0]))];
      return {x, y: mean(0), low: ends[0], high: ends[1]};
    })})).sort((a, b) => a.encoding - b.encoding);
}

function similarChart(split, index, {lone}) {
  const series = similarSeries(index);
  const points = series.flatMap((one) => one.points);
  const svg = lineChart({
    title: `Divergence of attention by length: ${split.name}`,
    description: `${series.length} encodings against ${known(series[0].reference)}, ${chosen.similarContent} content. Use the arrow keys to read values.`,
    xLabel: lengthLabel(split), x: [0, Math.max(...points.map((point) => point.x))],
    y: [0, Math.max(.01, ...points.map((point) => point.high)) * 1.05], limit: split.limit, wide: lone, series, split: index,
    tipTitle: (x) => `${split.name}, length ${x}`, tipTexts: (point) => [fixed(point.y), `${fixed(point.low)}–${fixed(point.high)}`],
  });
  const csv = () => [["split", "reference", "encoding", "relation", "content", "computation", "layer", "length", "divergence", "low", "high"],
    series.flatMap((one) => one.points.map((point) => [split.name, one.reference, data.encodings[one.encoding].name, one.relation,
      chosen.similarContent, chosen.computation, chosen.layer === "0" ? "mean" : chosen.layer, point.x, point.y, point.low, point.high]))];
  return figure(split.name, `against ${known(series[0].reference)}`, svg, csv, lone);
}

function drawSimilarity() { multiples("similarity-charts", "360 / 245", similarChart, (index) => similarSeries(index).length > 0); }

function similaritySection() {
  if (!analysed.similarity) return;
  const rows = analysed.similarity.flatMap((entry) => entry.rows);
  const present = (part, values) => values.filter(([value]) => rows.some((row) => String(row[part]) === value));
  const contents = present(2, [["task", "The task's own content"], ["exchanged", "Exchanged content"]]);
  const computations = present(3, [["jensen-shannon", "Jensen–Shannon"], ["as-published", "As published"]]);
  const layers = Math.max(...rows.map((row) => row[5]));
  if (contents.length) chosen.similarContent = contents[0][0];
  document.getElementById("similarity").hidden = false;
  document.getElementById("similarity-choices").append(
    choiceOf("similarContent", "Content", contents, drawSimilarity),
    ...(computations.length > 1 ? [choiceOf("computation", "Computation", computations, drawSimilarity)] : []),
    choiceOf("layer", "Layer", [["0", "Mean over layers"], ...Array.from({length: layers}, (_, i) => [`${i + 1}`, `Layer ${i + 1}`])], drawSimilarity));
  drawSimilarity();
}
