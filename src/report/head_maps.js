// One head, side by side at several lengths: its map of a sequence, its profile over distance, and its numbers.

// Cividis: from dark blue to yellow, the same for eyes that see fewer colours, and its own background on any page.
const MAP_COLOURS = [[0, 32, 77], [0, 51, 111], [57, 72, 107], [87, 92, 109], [112, 113, 115], [138, 135, 121], [166, 157, 117],
                     [196, 181, 108], [228, 207, 91], [255, 234, 70]];
const LEAST_LOG = 1e-4;

function mapColour(share) {
  const at = Math.min(1, Math.max(0, share)) * (MAP_COLOURS.length - 1), low = Math.min(MAP_COLOURS.length - 2, Math.floor(at));
  return MAP_COLOURS[low].map((value, part) => Math.round(value + (at - low) * (MAP_COLOURS[low + 1][part] - value)));
}

// Of a weight, on the scale that all maps of a head share.
const shadeOf = (weight, most) => (chosen.scale === "log" ? Math.log(Math.max(weight, LEAST_LOG) / LEAST_LOG) / Math.log(Math.max(most, 2 * LEAST_LOG) / LEAST_LOG)
                                                           : weight / most);

// weight(row, column) of a map; bytes are 255 sqrt(weight), rows up to the diagonal.
function mapWeights(map, index) {
  const bytes = atob(map.cells[index]);
  const weights = Float64Array.from(bytes, (letter) => (letter.charCodeAt(0) / 255) ** 2);
  // The first query sees one key: its weight is 1 in every map, and no measure for the others.
  return {side: map.side, most: weights.reduce((most, weight, place) => (place ? Math.max(most, weight) : most), 0), at: (row, column) => weights[row * (row + 1) / 2 + column]};
}

const canvasOf = (width, height, colourAt) => {
  const canvas = node("canvas", {width, height});
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      const rgb = colourAt(x, y);
      if (rgb) image.data.set([...rgb, 255], 4 * (y * width + x));
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
};

// Which tokens fall into a row or column: [first, last].
const tokensOf = (map, place) => [Math.ceil(place * map.tokens / map.side), Math.ceil((place + 1) * map.tokens / map.side) - 1];

function wordsOf(map, [first, last]) {
  const text = map.words.slice(first, last + 1).map((word) => (word === "" ? "‹special›" : word)).join(" ");
  return text.length > 48 ? `${text.slice(0, 47)}…` : text;
}

const span = (low, high) => (low === high ? `${low}` : `${low}–${high}`);

function mapTip(map, weights, row, column) {
  const query = tokensOf(map, row), key = tokensOf(map, column), weight = weights.at(row, column);
  const line = (name, place, text) => node("tr", {}, node("td", {}, name), node("td", {}, place), node("td", {class: "word"}, text));
  return [node("b", {}, `${map.tokens > map.side ? "largest weight" : "weight"} ${weight < .001 ? "under 0.001" : fixed(weight)}`),
          node("table", {}, line("query", `at ${span(...query)}`, wordsOf(map, query)), line("key", `at ${span(...key)}`, wordsOf(map, key)),
               line("distance", span(Math.max(0, query[0] - key[1]), query[1] - key[0]), ""))];
}

// The map with a cross that follows the pointer or the arrow keys; a click holds it in place.
function mapView(map, weights, most, title, trainedTokens) {
  const side = map.side;
  const canvas = canvasOf(side, side, (x, y) => (x > y ? null : mapColour(shadeOf(weights.at(y, x), most))));
  const lines = {row: svgNode("rect", {class: "cross", x: 0, height: 1}), column: svgNode("rect", {class: "cross", y: 0, width: 1}),
                 cell: svgNode("rect", {class: "cross-cell", width: 1, height: 1})};
  const over = svgNode("svg", {viewBox: `0 0 ${side} ${side}`, preserveAspectRatio: "none", "aria-hidden": "true"});
  const edge = trainedTokens * side / map.tokens;
  if (edge < side - .5) over.append(svgNode("path", {class: "map-edge", d: `M0 ${edge}H${edge}V${side}`}));
  const cross = svgNode("g", {visibility: "hidden"}, lines.row, lines.column, lines.cell);
  over.append(cross);
  const view = node("div", {class: "head-map", role: "img", tabindex: 0, "aria-label": `${title}: ${map.tokens} tokens, queries downwards, keys to the right. Use the arrow keys to read weights.`}, canvas, over);
  let at = null, held = false;
  const clear = () => { at = null; held = false; cross.setAttribute("visibility", "hidden"); hideTip(); };
  const show = (row, column, x, y) => {
    at = [row, column];
    cross.setAttribute("visibility", "visible");
    lines.row.setAttribute("y", row);
    lines.row.setAttribute("width", row + 1);
    lines.column.setAttribute("x", column);
    lines.column.setAttribute("y", column);
    lines.column.setAttribute("height", side - column);
    lines.cell.setAttribute("x", column);
    lines.cell.setAttribute("y", row);
    showTip(mapTip(map, weights, row, column), x, y);
  };
  const under = (event) => {
    const box = view.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / box.width * side), row = Math.floor((event.clientY - box.top) / box.height * side);
    return column >= 0 && column <= row && row < side ? [row, column] : null;
  };
  view.addEventListener("pointermove", (event) => {
    if (held) return;
    const place = under(event);
    place ? show(...place, event.clientX, event.clientY) : clear();
  });
  view.addEventListener("pointerleave", () => { if (!held) clear(); });
  view.addEventListener("click", (event) => {
    const place = under(event), same = held && place && at[0] === place[0] && at[1] === place[1];
    clear();
    if (!place || same) return;
    show(...place, event.clientX, event.clientY);
    held = true;
  });
  view.addEventListener("blur", clear);
  view.addEventListener("keydown", (event) => {
    const move = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (event.key === "Escape") clear();
    if (!move) return;
    event.preventDefault();
    const row = at ? Math.max(0, Math.min(side - 1, at[0] + move[0])) : 0;
    const column = at ? Math.max(0, Math.min(row, at[1] + move[1])) : 0;
    const box = view.getBoundingClientRect();
    show(row, column, box.left + (column + .5) / side * box.width, box.top + (row + .5) / side * box.height);
  });
  return node("div", {class: "map-frame"}, view, node("span", {class: "fine map-axes", "aria-hidden": "true"}, "keys →, queries ↓"));
}

function scaleBar(most) {
  const canvas = canvasOf(128, 1, (x) => mapColour(x / 127));
  return node("span", {class: "map-scale"}, chosen.scale === "log" ? `≤ ${LEAST_LOG}` : "0", canvas, `${+most.toPrecision(2)} weight, the same in all maps`);
}

// --- profile over distance ---

const LIKENESS = {constant: "flat, as NoPE", linear: "like ALiBi", log: "like KERPLE (log)", power: "like KERPLE (power)", buckets: "like T5",
                  cosines: "like sinusoids", geometric: "like RoPE", square: "like a window", exponentials: "like RetNet", damped: "a damped wave"};

function familyText(cell) {
  if (cell.family === null) return "too short to tell";
  const name = Object.hasOwn(LIKENESS, cell.family) ? LIKENESS[cell.family] : cell.family;
  return `${name}${cell.family === "linear" && cell.slope !== null ? ` with slope ${+cell.slope.toPrecision(3)}` : ""}${cell.contested ? ", contested" : ""}`;
}

// [{x, y}] of a thinned curve: each number is the mean of the distances that fall together.
function curvePoints(values, distances) {
  return (values || []).map((y, k) => {
    const begin = Math.floor(distances * k / values.length), end = Math.floor(distances * (k + 1) / values.length);
    return {x: (begin + end - 1) / 2, y};
  }).filter((point) => point.y !== null);
}

function profileSeries(cells) {
  return cells.flatMap(({content, cell}) => [
    {name: content === "exchanged" ? "exchanged content" : "task's own content", kind: content === "exchanged" || cells.length === 1 ? "line" : "line thin other",
     points: curvePoints(cell.profile, cell.distances)},
    ...(content === "exchanged" || cells.length === 1 ? [{name: "best family", kind: "line fitted", points: curvePoints(cell.fitted, cell.distances)}] : []),
  ]).filter((series) => series.points.length).map((series) => ({...series, encoding: null}));
}

function profileChart(series, ends, title, family) {
  const width = 360, height = 190;
  const plot = {x0: 38, x1: width - 8, y0: height - 32, y1: 12};
  const x = [0, Math.max(1, ...series.flatMap((one) => one.points.map((point) => point.x)))];
  const xOf = (value) => plot.x0 + value / x[1] * (plot.x1 - plot.x0);
  const yOf = (value) => plot.y0 - (value - ends[0]) / (ends[1] - ends[0]) * (plot.y0 - plot.y1);
  const spec = {x, y: ends, xLabel: "distance", series, tipTitle: (at) => `distance ${at}`, tipTexts: (point) => [fixed(point.y)]};
  const svg = svgNode("svg", {class: "chart profile", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0, "aria-label": `${title}: ${family}. Use the arrow keys to read values.`},
    svgNode("title", {}, title), svgNode("desc", {}, `Mean score by distance, ${family}.`));
  drawFrame(svg, spec, plot, xOf, yOf);
  for (const one of series) svg.append(svgNode("path", {class: one.kind, d: `M${one.points.map((point) => `${xOf(point.x).toFixed(1)} ${yOf(point.y).toFixed(1)}`).join("L")}`}));
  addCursor(svg, spec, plot, {xOf, yOf, width, height});
  return svg;
}

// --- all of it ---

function timesTrained(length, trained) {
  if (!(trained > 0)) return "";
  const times = length / trained;
  return times === 1 ? "the trained length" : times === 2 ? "twice the trained length" : times === 4 ? "four times the trained length" : `${+times.toPrecision(3)} × the trained length`;
}

function measureTable(cells) {
  const row = (name, value) => node("tr", {}, node("th", {scope: "row"}, name), ...cells.map(({cell}) => node("td", {}, value(cell))));
  const heads = cells.map(({content}) => node("th", {scope: "col"}, content === "exchanged" ? "exchanged content" : "task's own"));
  return node("div", {class: "scroll"}, node("table", {class: "data measures"}, node("thead", {}, node("tr", {}, node("td"), ...heads)), node("tbody", {},
    row("Class", (cell) => cell.name), row("By position", (cell) => (cell.positional ? "yes" : "no")), row("Survives exchange", (cell) => fixed(cell.survives)),
    row("Entropy", (cell) => fixed(cell.entropy)), row("Attended distance", (cell) => fixed(cell.distance)),
    row("Profile", familyText), row("R² of it", (cell) => fixed(cell.r2)), row("ALiBi's slope", (cell) => (cell.slope === null ? "–" : `${+cell.slope.toPrecision(3)}`)))));
}

// `columns`: [{length, cells: [{content, cell}]}] of one head.
function headColumns(entry, index, title, columns) {
  const maps = new Map(entry.maps.map((map) => [map.length, {map, weights: mapWeights(map, index)}]));
  const most = Math.max(1e-3, ...[...maps.values()].map(({weights}) => weights.most));
  const trainedMap = maps.get(entry.trained);
  const all = columns.map(({cells}) => profileSeries(cells));
  const values = all.flat().flatMap((series) => series.points.map((point) => point.y));
  const low = Math.min(...values), room = Math.max(.05, .06 * (Math.max(...values) - low));
  const parts = columns.map(({length, cells}, i) => {
    const name = `${title}, length ${length}`, shown = maps.get(length), told = cells.find(({content}) => content === "exchanged") || cells[0];
    return node("div", {class: "head-column", role: "group", "aria-label": name, "data-length": length},
      node("h4", {}, `Length ${length}`, node("span", {class: "fine"}, timesTrained(length, entry.trained))),
      ...(shown ? [mapView(shown.map, shown.weights, most, name, trainedMap ? trainedMap.map.tokens : Infinity)] : []),
      ...(all[i].length ? [profileChart(all[i], [low - room, Math.max(...values) + room], `Profile of ${name}`, familyText(told.cell)),
                           node("p", {class: "fine"}, `Score by distance, ${told.content} content: ${familyText(told.cell)}${told.cell.family === null ? "" : ` (R² ${fixed(told.cell.r2)})`}`)] : []),
      measureTable(cells));
  });
  return {most: maps.size ? most : null, columns: node("div", {class: "head-columns"}, ...parts)};
}
