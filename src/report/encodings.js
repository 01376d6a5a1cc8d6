// Which encodings are drawn, and which of them stand out. Of a few, the legend switches each off and on. Of many, a bar
// filters them by family and name, the best ones and those that are picked stand out, and the others are drawn pale.

const OUTSTANDING = 5;        // so many of the best stand out
const ALL_STAND_OUT = 8;      // where no more than these are left, all do
const picked = new Set();     // encodings that the reader wants to stand out
const wanted = {text: "", families: new Set(), best: "overall"};
const redraws = new Map();    // what to do when other encodings are shown, by the name of what is drawn
const shownEncodings = () => data.encodings.map((_, index) => index).filter((index) => !hidden.has(index));
const familyOf = (encoding) => data.families[data.encodings[encoding].family].label;

// The best of a split by accuracy on longer lengths, or of all by rank; a chart may have an order of its own.
function bestOf(split, order) {
  const ranked = order ? order.map((encoding) => ({encoding})) : wanted.best === "task" && split !== undefined
    ? data.cells.filter((cell) => cell.split === split && cell.longer).sort((a, b) => b.longer[0] - a.longer[0])
    : data.ranking;
  return ranked.map((row) => row.encoding).filter((encoding) => !hidden.has(encoding)).slice(0, OUTSTANDING);
}

function standingOut(split, order) {
  const shown = shownEncodings();
  return new Set(shown.length <= ALL_STAND_OUT ? shown : [...bestOf(split, order), ...picked]);
}

// --- a few: one button each ---

// A sheet made by the script: the page's policy allows no other style elements.
const visibility = new CSSStyleSheet();

function applyLegend() {
  visibility.replaceSync([...hidden].map((encoding) => `.chart [data-e="${encoding}"]{display:none}`).join(""));
  document.querySelectorAll("#legend [data-encoding]").forEach((button) => button.setAttribute("aria-pressed", String(!hidden.has(+button.dataset.encoding))));
}

function makeLegend() {
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, visibility];
  const legend = document.getElementById("legend");
  data.encodings.forEach((encoding, index) => {
    const button = node("button", {type: "button", "aria-pressed": "true", "data-encoding": index, title: "click: hide or show; double click: show only this one"}, swatch(index), encoding.label);
    button.addEventListener("click", () => { hidden.has(index) ? hidden.delete(index) : hidden.add(index); applyLegend(); });
    button.addEventListener("dblclick", () => { hidden.clear(); data.encodings.forEach((_, other) => { if (other !== index) hidden.add(other); }); applyLegend(); });
    legend.append(button);
  });
  const all = node("button", {type: "button", class: "all"}, "Show all");
  all.addEventListener("click", () => { hidden.clear(); applyLegend(); });
  legend.append(all);
}

// --- many: a bar that filters, and a fold with all of them ---

function isWanted(encoding) {
  const text = `${encoding.label} ${encoding.name}`.toLowerCase();
  return (!wanted.families.size || wanted.families.has(encoding.family)) &&
         wanted.text.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function applyFilter() {
  hidden.clear();
  data.encodings.forEach((encoding, index) => { if (!isWanted(encoding)) hidden.add(index); });
  const legend = document.getElementById("legend"), shown = shownEncodings().length;
  legend.querySelector(".total").textContent = shown === data.encodings.length ? `${shown} encodings` : `${shown} of ${data.encodings.length} encodings`;
  legend.querySelectorAll("[data-family]").forEach((button) => button.setAttribute("aria-pressed", String(wanted.families.has(+button.dataset.family))));
  legend.querySelectorAll("[data-best]").forEach((button) => button.setAttribute("aria-pressed", String(wanted.best === button.dataset.best)));
  legend.querySelectorAll("[data-encoding]").forEach((button) => {
    button.setAttribute("aria-pressed", String(picked.has(+button.dataset.encoding)));
    button.hidden = hidden.has(+button.dataset.encoding);
  });
  for (const redraw of [...redraws.values()]) redraw();
}

function pressed(set, value) { set.has(value) ? set.delete(value) : set.add(value); applyFilter(); }

const familyMark = (family) => svgNode("svg", {class: "family-mark", viewBox: "0 0 10 10", width: 10, height: 10, "aria-hidden": "true"},
  svgNode("rect", {width: 10, height: 10, rx: 2, fill: `var(--f${family})`}));

function familyButtons() {
  return data.families.map((family, index) => {
    const count = data.encodings.filter((encoding) => encoding.family === index).length;
    const button = node("button", {type: "button", "aria-pressed": "false", "data-family": index, title: "show only this family; press several to see them together"},
      familyMark(index), family.label, node("span", {class: "interval"}, `${count}`));
    button.addEventListener("click", () => pressed(wanted.families, index));
    return button;
  });
}

function bestButtons() {
  return [["overall", "best overall"], ["task", "best of each task"]].map(([value, label]) => {
    const button = node("button", {type: "button", "aria-pressed": String(wanted.best === value), "data-best": value}, label);
    button.addEventListener("click", () => { wanted.best = value; applyFilter(); });
    return button;
  });
}

function encodingButton(index) {
  const button = node("button", {type: "button", "aria-pressed": "false", "data-encoding": index, title: data.encodings[index].name}, swatch(index), labelOf(index));
  button.addEventListener("click", () => pressed(picked, index));
  return button;
}

function makeFilter() {
  const legend = document.getElementById("legend");
  legend.classList.add("many");
  legend.setAttribute("aria-label", "Encodings: which to show, and which to highlight");
  const text = node("input", {type: "search", placeholder: "Find encodings", "aria-label": "Show only encodings whose name has these words"});
  text.addEventListener("input", () => { wanted.text = text.value.trim(); applyFilter(); });
  const all = node("button", {type: "button", class: "all"}, "Show all");
  all.addEventListener("click", () => { text.value = wanted.text = ""; wanted.families.clear(); picked.clear(); applyFilter(); });
  const places = new Map(data.ranking.map((row, place) => [row.encoding, place]));
  const groups = data.families.map((family, index) => node("div", {class: "family-group"}, node("h3", {}, familyMark(index), family.label),
    ...data.encodings.map((_, e) => e).filter((e) => data.encodings[e].family === index).sort((a, b) => places.get(a) - places.get(b)).map(encodingButton)));
  legend.append(text, node("span", {class: "families", role: "group", "aria-label": "Families"}, ...familyButtons()),
    node("span", {class: "count", "aria-hidden": "true"}, "Highlight"),
    node("span", {class: "choice", role: "group", "aria-label": "Which encodings stand out"}, ...bestButtons()),
    node("details", {class: "all-encodings"}, node("summary", {}, "and others"), node("div", {class: "family-groups"}, ...groups)),
    node("span", {class: "count total", role: "status"}), all);
  document.querySelector("#by-length .about").append(` The ${OUTSTANDING} best stand out, those that are highlighted above too, and all where no more than ${ALL_STAND_OUT} are left; every other line is pale, and the pointer or the arrow keys up and down name it.`);
  applyFilter();
}
