// Two ladders of time scales that nobody learns: the clocks of clockwork networks beside RoPE's wavelengths, both drawn
// over positions.

const LADDER_POSITIONS = 64;

// The rungs of a run's ladder, in tokens, and what stands at a position: from 0 to 1. Null where it has none.
function ladderOf(run) {
  const options = {...data.common, ...run.options};
  if (options.architecture === "cwrnn") {
    return {rungs: options.periods.split(",").map(Number), word: "period", wave: (t, period) => (t % period === 0 ? 1 : 0),
      about: "a module is computed where its square is dark, and rests elsewhere"};
  }
  const rope = /^rope(?:\(([^()]*)\))?$/.exec(options.encoding || "");
  if (!rope || !Number(options["head-dim"])) return null;
  const given = Object.fromEntries((rope[1] || "").split(",").filter(Boolean).map((part) => part.split("=")));
  const base = Number(given.base || 10000), turned = ropeDims(Number(given.fraction || 0.25), Number(options["head-dim"]));
  const rungs = Array.from({length: turned / 2}, (_, pair) => 2 * Math.PI * base ** (2 * pair / turned));
  return rungs.length === 0 ? null : {rungs, word: "wavelength", wave: (t, length) => (1 + Math.cos(2 * Math.PI * t / length)) / 2,
    about: "the cosine of the angle by which a pair of dims is turned, from -1 (light) to 1 (dark)"};
}

// As many dims of a head as RoPE turns: an even number.
const ropeDims = (fraction, dims) => 2 * Math.floor(fraction * dims / 2);

function ladderChart(name, ladder) {
  const row = 18, left = 92, top = 6, column = 8, bottom = top + row * ladder.rungs.length;
  const width = left + column * LADDER_POSITIONS + 6;
  const title = `Time scales of ${name}`;
  const svg = svgNode("svg", {class: "chart heat", viewBox: `0 0 ${width} ${bottom + 32}`, role: "img", "aria-label": `${title}: ${ladder.word}s ${ladder.rungs.map((rung) => rung.toPrecision(3)).join(", ")}`});
  svg.append(svgNode("title", {}, title));
  ladder.rungs.forEach((rung, r) => {
    svg.append(svgNode("text", {class: "row-name", x: left - 7, y: top + row * (r + .5) + 3.5}, `${Number(rung.toPrecision(3))}`));
    for (let t = 0; t < LADDER_POSITIONS; ++t) {
      svg.append(svgNode("rect", {class: "cell", x: left + column * t, y: top + row * r, width: column, height: row - 1, fill: "var(--heat)", "fill-opacity": ladder.wave(t, rung).toFixed(3)}));
    }
  });
  for (let t = 0; t < LADDER_POSITIONS; t += 8) svg.append(svgNode("text", {x: left + column * (t + .5), y: bottom + 13, "text-anchor": "middle"}, `${t}`));
  svg.append(svgNode("text", {x: left + column * LADDER_POSITIONS / 2, y: bottom + 27, "text-anchor": "middle"}, `position; rows: ${ladder.word} in tokens`));
  const csv = () => [["name", ladder.word, "position", "value"],
    ladder.rungs.flatMap((rung) => Array.from({length: LADDER_POSITIONS}, (_, t) => [name, rung, t, ladder.wave(t, rung)]))];
  return figure(name, ladder.about, svg, csv, true);
}

function ladderSection() {
  const ladders = new Map();
  for (const run of data.runs) {
    if (run.encoding === null) continue;
    const ladder = ladderOf(run), name = labelOf(run.encoding);
    if (ladder && !ladders.has(name)) ladders.set(name, ladder);
  }
  if (![...ladders.values()].some((ladder) => ladder.word === "period")) return;
  document.getElementById("ladders").hidden = false;
  document.getElementById("ladder-charts").append(...[...ladders].map(([name, ladder]) => ladderChart(name, ladder)));
}
