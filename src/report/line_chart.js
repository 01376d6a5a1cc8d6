// Lines over a common x: accuracy by length, training curves.
//
// spec: title, description, xLabel, yLabel, x [low, high], y [low, high], log (of y), xLog, xTicks, limit, split, series:
// [{encoding, thin, name, label, dash, points: [{x, y, low, high}]}], ranked (the encodings of this chart, the best
// first), tipTitle(x), tipNote(x), tipTexts(point).
//
// Of many encodings a few stand out (encodings.js); the lines of the others are pale, and the pointer names them.

const CHART_LABEL = 18;  // characters at the end of a line

function emphasised(series, split, ranked) {
  if (!data.many) return series;
  const out = standingOut(split, ranked);
  const shown = series.filter((one) => !hidden.has(one.encoding)).map((one) => ({...one, faint: !out.has(one.encoding)}));
  return [...shown.filter((one) => one.faint), ...shown.filter((one) => !one.faint)];
}

const endLabel = (series) => cut(series.label || labelOf(series.encoding), CHART_LABEL);

function lineChart(given) {
  const spec = {...given, many: data.many, series: emphasised(given.series, given.split, given.ranked)};
  const named = spec.series.filter((series) => !series.faint);
  const labelled = spec.labels && named.length <= (data.many ? ALL_STAND_OUT : 6);
  const longest = Math.max(0, ...named.map((series) => endLabel(series).length));
  const width = spec.wide ? 640 : 360, height = spec.wide ? 300 : 215;
  const margin = {left: 38, right: labelled ? Math.min(data.many ? 122 : 112, 12 + 6.7 * longest) : 10, top: 14, bottom: 32};
  const plot = {x0: margin.left, x1: width - margin.right, y0: height - margin.bottom, y1: margin.top};
  const warp = spec.log ? Math.log10 : (value) => value;
  const [yLow, yHigh] = spec.y.map(warp);
  const along = spec.xLog ? Math.log2 : (value) => value;
  const [xLow, xHigh] = spec.x.map(along);
  const xOf = (x) => plot.x0 + (along(x) - xLow) / Math.max(1e-9, xHigh - xLow) * (plot.x1 - plot.x0);
  const yOf = (y) => plot.y0 - (warp(y) - yLow) / Math.max(1e-9, yHigh - yLow) * (plot.y0 - plot.y1);

  const svg = svgNode("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
                              "aria-label": `${spec.title}. ${spec.description}`});
  svg.append(svgNode("title", {}, spec.title), svgNode("desc", {}, spec.description));
  drawFrame(svg, spec, plot, xOf, yOf);
  for (const series of spec.series) drawSeries(svg, series, xOf, yOf);
  if (labelled) drawLabels(svg, named, plot, yOf);
  addCursor(svg, spec, plot, {xOf, yOf, width, height});
  return svg;
}

function drawFrame(svg, spec, plot, xOf, yOf) {
  if (spec.limit !== null && spec.limit !== undefined) {
    // Whole lengths end half-way to the next; on a logarithmic axis the length itself is marked.
    const edge = Math.max(plot.x0, Math.min(plot.x1, xOf(spec.xLog ? spec.limit : spec.limit + .5)));
    svg.append(svgNode("rect", {class: "seen", x: plot.x0, y: plot.y1, width: Math.max(0, edge - plot.x0), height: plot.y0 - plot.y1}),
               svgNode("line", {class: "limit", x1: edge, x2: edge, y1: plot.y1 - 4, y2: plot.y0}),
               svgNode("text", edge - plot.x0 < 80 && spec.xLog ? {x: edge + 4, y: plot.y1 - 4} : {x: edge - 4, y: plot.y1 - 4, "text-anchor": "end"}, `trained to ${spec.limit}`));
  }
  const yTicks = spec.log ? logTicks(spec.y) : roundTicks(spec.y[0], spec.y[1], 4);
  for (const tick of yTicks) {
    svg.append(svgNode("line", {class: "grid", x1: plot.x0, x2: plot.x1, y1: yOf(tick), y2: yOf(tick)}),
               svgNode("text", {x: plot.x0 - 6, y: yOf(tick) + 3.5, "text-anchor": "end"}, `${tick}`));
  }
  for (const tick of spec.xTicks ? apart(spec.xTicks, xOf) : roundTicks(spec.x[0], spec.x[1], 6, true)) {
    svg.append(svgNode("text", {x: xOf(tick), y: plot.y0 + 13, "text-anchor": "middle"}, spec.xTicks ? `${tick}` : compact(tick)));
  }
  svg.append(svgNode("line", {class: "axis", x1: plot.x0, x2: plot.x1, y1: plot.y0, y2: plot.y0}),
             svgNode("text", {x: (plot.x0 + plot.x1) / 2, y: plot.y0 + 27, "text-anchor": "middle"}, spec.xLabel));
}

// Of given ticks those that have room, the last one always.
function apart(ticks, xOf) {
  const kept = [];
  for (const tick of [...ticks].reverse()) {
    const room = 10 + 6 * `${tick}`.length;
    if (!kept.length || xOf(kept[0]) - xOf(tick) >= room) kept.unshift(tick);
  }
  return kept;
}

// Powers of ten, with steps between them where there would be too few.
function logTicks([low, high]) {
  for (const factors of [[1], [1, 3], [1, 2, 5]]) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
      for (const factor of factors) ticks.push(+(factor * 10 ** power).toPrecision(3));
    }
    const inside = ticks.filter((tick) => tick >= low && tick <= high);
    if (inside.length >= 3) return inside;
  }
  return roundTicks(low, high, 4);
}

function drawSeries(svg, series, xOf, yOf) {
  const points = series.points;
  if (!points.length) return;
  const at = (point, key) => `${xOf(point.x).toFixed(1)} ${yOf(point[key]).toFixed(1)}`;
  const group = series.group = svgNode("g", {"data-e": series.encoding});
  const bare = series.thin || series.faint;
  if (!bare && points[0].low !== undefined) {
    const there = points.map((point) => at(point, "high")), back = points.map((point) => at(point, "low")).reverse();
    group.append(svgNode("path", {class: "band", d: `M${[...there, ...back].join("L")}Z`, fill: colour(series.encoding)}));
  }
  group.append(svgNode("path", {class: series.faint ? "line faint" : series.thin ? "line thin" : "line", d: `M${points.map((point) => at(point, "y")).join("L")}`,
                                stroke: colour(series.encoding), "stroke-dasharray": series.faint ? "" : series.dash ?? dashOf(series.encoding)}));
  if (!bare) {
    const every = Math.max(1, Math.round(points.length / 12));
    const marks = points.filter((_, i) => i % every === 0 || i === points.length - 1);
    const marker = data.encodings[series.encoding].marker;
    group.append(svgNode("path", {class: "markers", d: marks.map((point) => markerPath(marker, xOf(point.x), yOf(point.y), 2.4)).join(""),
                                  fill: markerFill(series.encoding), stroke: colour(series.encoding)}));
  }
  svg.append(group);
}

// Names at the right ends of the lines, moved apart where they would overlap; lines that end together are named in the
// order of their accuracy.
function drawLabels(svg, allSeries, plot, yOf) {
  const gap = 11.5;
  const labels = allSeries.filter((series) => series.points.length).map((series) => {
    const end = series.points[series.points.length - 1];
    return {encoding: series.encoding, text: endLabel(series), y: yOf(end.y), weight: series.weight};
  }).sort((a, b) => Math.round(a.y / 8) - Math.round(b.y / 8) || b.weight - a.weight);
  labels.forEach((label, i) => { if (i) label.y = Math.max(label.y, labels[i - 1].y + gap); });
  for (let i = labels.length - 1; i >= 0; --i) {
    const label = labels[i];
    label.y = Math.min(label.y, i === labels.length - 1 ? plot.y0 - 2 : labels[i + 1].y - gap);
  }
  for (const {encoding, text, y} of labels) {
    svg.append(svgNode("text", {class: "name", "data-e": encoding, x: plot.x1 + 7, y: y + 3.5}, text));
    svg.lastChild.style.fill = colour(encoding);
  }
}

// A vertical line at the nearest x, by pointer or arrow keys, with the values of all lines there; of many lines, with
// those of the one that is nearest and of those that stand out.
function addCursor(svg, spec, plot, {xOf, yOf, width, height}) {
  const xs = [...new Set(spec.series.flatMap((series) => series.points.map((point) => point.x)))].sort((a, b) => a - b);
  if (!xs.length) return;
  const cursor = svgNode("line", {class: "cursor screen-only", y1: plot.y1, y2: plot.y0, visibility: "hidden"});
  svg.append(svgNode("rect", {class: "screen-only", x: plot.x0, y: plot.y1, width: plot.x1 - plot.x0, height: plot.y0 - plot.y1, fill: "transparent", stroke: "none"}), cursor);
  let current = null, near = null;
  const rowsAt = (x) => spec.series.filter((series) => !hidden.has(series.encoding)).map((series) => {
    const point = series.points.reduce((best, candidate) =>
      (best === null || Math.abs(candidate.x - x) < Math.abs(best.x - x) ? candidate : best), null);
    return point && (spec.nearest || point.x === x) ? {series, point} : null;
  }).filter(Boolean).sort((a, b) => b.point.y - a.point.y);
  const mark = (series) => {
    near?.group?.classList.remove("near");
    series?.group?.classList.add("near");
    near = series;
  };
  const tipLine = ({series, point}) => tipRow(series.encoding, series.name || labelOf(series.encoding), ...spec.tipTexts(point));
  const show = (x, chosen, clientX, clientY) => {
    current = x;
    cursor.setAttribute("x1", xOf(x));
    cursor.setAttribute("x2", xOf(x));
    cursor.setAttribute("visibility", "visible");
    const rows = rowsAt(x), note = spec.tipNote ? [node("div", {class: "fine"}, spec.tipNote(x))] : [];
    if (!spec.many) return showTip([node("b", {}, spec.tipTitle(x)), node("table", {}, ...rows.slice(0, 18).map(tipLine)), ...note], clientX, clientY);
    const one = rows.find(({series}) => series === chosen) || rows[0];
    mark(one.series);
    const others = rows.filter((row) => row !== one && !row.series.faint).slice(0, 12), left = rows.length - others.length - 1;
    showTip([node("b", {}, spec.tipTitle(x)), node("table", {class: "near"}, tipLine(one)),
             node("div", {class: "fine"}, `${familyOf(one.series.encoding)}, ${rows.indexOf(one) + 1} of ${rows.length} lines here`),
             node("table", {}, ...others.map(tipLine)), ...(left > 0 ? [node("div", {class: "fine"}, `and ${left} more`)] : []), ...note], clientX, clientY);
  };
  const clear = () => { cursor.setAttribute("visibility", "hidden"); mark(null); hideTip(); };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const at = (event.clientX - box.left) * width / box.width, level = (event.clientY - box.top) * height / box.height;
    if (at < plot.x0 - 8 || at > plot.x1 + 8) return clear();
    const x = xs.reduce((best, candidate) => (Math.abs(xOf(candidate) - at) < Math.abs(xOf(best) - at) ? candidate : best));
    const away = (row) => Math.abs(yOf(row.point.y) - level);
    const closest = spec.many ? rowsAt(x).reduce((best, row) => (best === null || away(row) < away(best) ? row : best), null) : null;
    show(x, closest?.series, event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", clear);
  svg.addEventListener("blur", clear);
  svg.addEventListener("keydown", (event) => {
    const move = {ArrowLeft: -1, ArrowRight: 1}[event.key], step = {ArrowUp: -1, ArrowDown: 1}[event.key];
    if (event.key === "Escape") clear();
    if (!move && !(step && spec.many)) return;
    event.preventDefault();
    const index = current === null ? (move > 0 ? 0 : xs.length - 1) : Math.max(0, Math.min(xs.length - 1, xs.indexOf(current) + (move || 0)));
    const rows = rowsAt(xs[index]), at = rows.findIndex(({series}) => series === near);
    const chosen = step ? rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.series : near;
    const box = svg.getBoundingClientRect();
    show(xs[index], chosen, box.left + xOf(xs[index]) * box.width / width, box.top + box.height / 2);
  });
}
