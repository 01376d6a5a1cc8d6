// One row per encoding, one column per length, shaded by accuracy. Many encodings stand in the order of the ranking.

const HEAT_TOP = 15;
const heatHeight = (rows) => HEAT_TOP + 13 * rows + 34;

function heatMap(split, given, lone) {
  const places = new Map(data.ranking.map((row, place) => [row.encoding, place]));
  const cells = data.many ? [...given].sort((a, b) => places.get(a.encoding) - places.get(b.encoding)) : given;
  const label = (cell) => cut(labelOf(cell.encoding), data.many ? 25 : 99);
  const lengths = [...new Set(cells.flatMap((cell) => cell.lengths.map((row) => row[0])))].sort((a, b) => a - b);
  const longest = Math.max(...cells.map((cell) => label(cell).length));
  const width = lone ? 640 : 360;
  const left = Math.min(130, data.many ? 14 + 4.6 * longest : 10 + 6 * longest), top = HEAT_TOP, row = data.many ? 13 : lone ? 24 : 19;
  const column = (width - left - 4) / lengths.length;
  const height = top + row * cells.length + 34;
  const title = `Heat map of ${split.name}`;
  const description = `Accuracy of ${cells.length} encodings at ${lengths.length} lengths.`;
  const svg = svgNode("svg", {class: data.many ? "chart heat many" : "chart heat", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0, "aria-label": `${title}. ${description}`});
  svg.append(svgNode("title", {}, title), svgNode("desc", {}, description));
  cells.forEach((cell, r) => {
    const y = top + r * row;
    const group = svgNode("g", {"data-e": cell.encoding});
    group.append(svgNode("text", {class: "row-name", x: left - (data.many ? 10 : 7), y: y + row / 2 + (data.many ? 2.5 : 3.5)}, label(cell)));
    if (data.many) group.append(svgNode("rect", {class: "family-bar", x: left - 6, y, width: 4, height: row - 1, fill: `var(--f${data.encodings[cell.encoding].family})`}));
    const byLength = new Map(cell.lengths.map((entry) => [entry[0], entry]));
    lengths.forEach((length, c) => {
      const entry = byLength.get(length), x = left + c * column;
      if (!entry) {
        group.append(svgNode("line", {class: "missing", x1: x + column * .3, x2: x + column * .7, y1: y + row / 2, y2: y + row / 2}));
        return;
      }
      group.append(svgNode("rect", {class: "cell", x: x.toFixed(2), y, width: column.toFixed(2), height: row - 1, fill: "var(--heat)", "fill-opacity": entry[3].toFixed(3)}));
      // A full cell needs no number.
      if (column >= 15 && Math.round(100 * entry[3]) < 100) {
        const text = svgNode("text", {class: entry[3] > .5 ? "cell-text on" : "cell-text", x: (x + column / 2).toFixed(1), y: y + row / 2 + (data.many ? 2 : 2.5)}, `${Math.round(100 * entry[3])}`);
        group.append(text);
      }
    });
    svg.append(group);
  });
  const bottom = top + row * cells.length;
  const every = Math.ceil(lengths.length / 10);
  lengths.forEach((length, c) => {
    if (c % every === 0) svg.append(svgNode("text", {x: left + (c + .5) * column, y: bottom + 13, "text-anchor": "middle"}, `${length}`));
  });
  svg.append(svgNode("text", {x: (left + width) / 2, y: bottom + 27, "text-anchor": "middle"}, lengthLabel(split)));
  const first = lengths.findIndex((length) => split.limit !== null && length > split.limit);
  if (first > 0) {
    const x = left + first * column;
    for (const part of ["halo", "edge"]) svg.append(svgNode("line", {class: part, x1: x, x2: x, y1: 4, y2: bottom + 3}));
    svg.append(svgNode("text", {x: x - 5, y: 10, "text-anchor": "end"}, `trained to ${split.limit}`));
  }
  addHeatTip(svg, split, cells, lengths, {left, top, row, column, width});
  return svg;
}

function addHeatTip(svg, split, cells, lengths, layout) {
  const show = (r, c, x, y) => {
    const cell = cells[r], entry = cell && cell.lengths.find((candidate) => candidate[0] === lengths[c]);
    if (!entry || hidden.has(cell.encoding)) return hideTip();
    showTip([node("b", {}, `${labelOf(cell.encoding)}, length ${entry[0]}`), `${fixed(entry[3])} (${range(entry.slice(3))})`,
             node("div", {class: "fine"}, entry[1] ? "not longer than in training" : "longer than any in training")], x, y);
  };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), scale = layout.width / box.width;
    const c = Math.floor(((event.clientX - box.left) * scale - layout.left) / layout.column);
    const r = Math.floor(((event.clientY - box.top) * scale - layout.top) / layout.row);
    c >= 0 && c < lengths.length && r >= 0 && r < cells.length ? show(r, c, event.clientX, event.clientY) : hideTip();
  });
  svg.addEventListener("pointerleave", hideTip);
  svg.addEventListener("blur", hideTip);
  let at = [0, -1];
  svg.addEventListener("keydown", (event) => {
    const move = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (event.key === "Escape") hideTip();
    if (!move) return;
    event.preventDefault();
    at = [Math.max(0, Math.min(cells.length - 1, at[0] + move[0])), Math.max(0, Math.min(lengths.length - 1, at[1] + move[1]))];
    const box = svg.getBoundingClientRect(), scale = box.width / layout.width;
    show(at[0], at[1], box.left + (layout.left + (at[1] + .5) * layout.column) * scale, box.top + (layout.top + (at[0] + .5) * layout.row) * scale);
  });
}
