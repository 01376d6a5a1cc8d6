"use strict";
// Drawing, saving and formatting: what every chart and table shares.

const data = JSON.parse(document.getElementById("data").textContent);

function node(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function svgNode(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const colour = (encoding) => (encoding === null ? "var(--soft)" : `var(--e${encoding})`);
const dashOf = (encoding) => (encoding === null ? "" : data.encodings[encoding].dash);
const markerFill = (encoding) => (data.encodings[encoding].marker.startsWith("open-") ? "var(--page)" : colour(encoding));
const labelOf = (encoding) => data.encodings[encoding].label;
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);
const fixed = (value, digits = 3) => (value === null || value === undefined ? "–" : value.toFixed(digits));
const share = (correct, count) => (count > 0 ? correct / count : null);
const range = (estimate, digits = 2) => `${fixed(estimate[1], digits)}–${fixed(estimate[2], digits)}`;

function markerPath(marker, x, y, r) {
  const path = (points, close) => points.map(([dx, dy], i) =>
    `${i ? "L" : "M"}${(x + dx * r).toFixed(1)} ${(y + dy * r).toFixed(1)}`).join("") + (close ? "Z" : "");
  switch (marker.replace("open-", "")) {
    case "circle": return `M${(x - r).toFixed(1)} ${y.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
    case "square": return path([[-.9, -.9], [.9, -.9], [.9, .9], [-.9, .9]], true);
    case "triangle": return path([[0, -1.15], [1.1, .85], [-1.1, .85]], true);
    case "down": return path([[0, 1.15], [1.1, -.85], [-1.1, -.85]], true);
    case "diamond": return path([[0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]], true);
    case "cross": return path([[-1, -1], [1, 1]]) + path([[-1, 1], [1, -1]]);
    case "plus": return path([[-1.2, 0], [1.2, 0]]) + path([[0, -1.2], [0, 1.2]]);
    default: return path([[-1.2, 0], [1.2, 0]]) + path([[-.6, -1], [.6, 1]]) + path([[-.6, 1], [.6, -1]]);
  }
}

function swatch(encoding) {
  return svgNode("svg", {class: "swatch", viewBox: "0 0 30 12", width: 30, height: 12, "aria-hidden": "true"},
    svgNode("line", {x1: 1, x2: 29, y1: 6, y2: 6, stroke: colour(encoding), "stroke-dasharray": dashOf(encoding)}),
    svgNode("path", {d: markerPath(data.encodings[encoding].marker, 15, 6, 3.2), fill: markerFill(encoding), stroke: colour(encoding)}));
}

// Round numbers between low and high, about `count` of them, whole ones if asked for.
function roundTicks(low, high, count, whole) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  let step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) || 1;
  if (whole) step = Math.max(1, Math.round(step));
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-6; tick += step) ticks.push(+tick.toPrecision(10));
  return ticks;
}

const compact = (value) => (Math.abs(value) >= 10000 ? `${+(value / 1000).toPrecision(3)}k` : `${value}`);

// --- saving ---

function csvText(header, rows) {
  // What a spreadsheet would take for a formula gets an apostrophe in front.
  const cell = (value) => (typeof value === "string" && /^'*[=+\-@\t\r\n]/.test(value) && (value.trim() === "" || isNaN(value)) ? `'${value}` : String(value));
  const field = (value) => {
    const text = value === null || value === undefined ? "" : cell(value);
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [header, ...rows].map((row) => row.map(field).join(",")).join("\n") + "\n";
}

const slug = (text) => text.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "").toLowerCase() || "chart";

function save(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  const link = node("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const SHAPE_STYLES = {fill: "", stroke: "none", "stroke-width": "1px", "stroke-dasharray": "none", "stroke-linejoin": "miter",
                      opacity: "1", "fill-opacity": "1"};
const TEXT_STYLES = {fill: "", "font-family": "", "font-size": "", "font-weight": "400", "text-anchor": "start"};

// A copy that looks the same anywhere: colours of the light page, and every style an attribute unless it is the default.
function standaloneSvg(svg) {
  const root = document.documentElement;
  const theme = root.getAttribute("data-theme");
  root.setAttribute("data-theme", "light");
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  const gone = [];
  originals.forEach((original, i) => {
    const style = getComputedStyle(original);
    const silent = ["title", "desc"].includes(original.tagName);
    if (original.matches(".screen-only") || (style.display === "none" && !silent)) gone.push(copies[i]);
    for (const name of ["class", "style", "tabindex", "data-e", "role"]) copies[i].removeAttribute(name);
    if (silent || original === svg || original.tagName === "g") return;
    for (const [property, usual] of Object.entries(original.tagName === "text" ? TEXT_STYLES : SHAPE_STYLES)) {
      const value = style.getPropertyValue(property).replace(/"/g, "'");
      value === usual ? copies[i].removeAttribute(property) : copies[i].setAttribute(property, value);
    }
  });
  theme === null ? root.removeAttribute("data-theme") : root.setAttribute("data-theme", theme);
  gone.forEach((element) => element.remove());
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.prepend(svgNode("rect", {width, height, fill: "#ffffff"}));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

// A chart with its caption and the two ways to take it away.
function figure(title, detail, svg, csv, lone) {
  const button = (label, what, action) => {
    const element = node("button", {type: "button", "aria-label": `Save ${what} of ${title}`, "data-save": label.toLowerCase()}, label);
    element.addEventListener("click", action);
    return element;
  };
  const tools = node("span", {class: "tools"},
    button("SVG", "the chart", () => save(`${slug(title)}.svg`, standaloneSvg(svg), "image/svg+xml")),
    button("CSV", "the data", () => save(`${slug(title)}.csv`, csvText(...csv()), "text/csv")));
  const caption = node("figcaption", {}, node("b", {}, title), node("span", {class: "fine"}, detail), tools);
  return node("figure", lone ? {class: "lone"} : {}, caption, svg);
}

// --- the note beside the pointer ---

const tip = document.getElementById("tip");

function showTip(content, x, y) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth ? x - 16 - box.width : x + 16;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(innerHeight - box.height - 4, y - box.height / 2))}px`;
}

function hideTip() { tip.hidden = true; }

function tipRow(encoding, ...texts) {
  return node("tr", {}, node("td", {}, encoding === null ? "" : swatch(encoding)), ...texts.map((text) => node("td", {}, text)));
}

const hidden = new Set();  // encodings that the legend has switched off
