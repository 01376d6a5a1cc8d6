// What every head of a run does: layers x heads by class. A click shows one head (head_maps.js).

const atlas = analysed.heads || [];
Object.assign(chosen, {headRun: 0, headContent: "task", headLength: "", scale: "linear", head: 0});

// Class, letter and words, in the order of the legend; offset-k shows its k.
const HEAD_CLASSES = [["diagonal", "D", "the query's own place"], ["previous", "P", "the token before"], ["offset", "k", "the token k before (shown as k)"],
  ["uniform", "U", "all alike"], ["first", "F", "the first token"], ["local", "L", "the nearest eight"], ["induction", "I", "what followed the same token before"],
  ["content", "C", "what depends on content"], ["diffuse", "–", "none of these"], ["other", "?", "a class this page does not know"]];
const kindOf = (name) => (/^offset-\d+$/.test(name) ? "offset" : (HEAD_CLASSES.find(([kind]) => kind === name) || ["other"])[0]);
const letterOf = (name) => (kindOf(name) === "offset" ? name.slice(7) : HEAD_CLASSES.find(([kind]) => kind === kindOf(name))[1]);
const filtered = new Set();  // classes, and "positional", that the legend has switched on; none: all are shown

function headCell([name, positional, survives, entropy, distance, family, contested, slope, r2, distances, profile, fitted]) {
  return {name, positional, survives, entropy, distance, family, contested, slope, r2, distances, profile, fitted};
}

const groupOf = (entry, content, length) => entry.groups.find((group) => group.content === content && String(group.length) === String(length));
const lengthsOf = (entry) => [...new Set(entry.groups.map((group) => group.length))].sort((a, b) => a - b);
const contentsOf = (entry) => [...new Set(entry.groups.map((group) => group.content))];
const headName = (entry, index) => `layer ${Math.floor(index / entry.heads) + 1}, head ${index % entry.heads + 1}`;
const isShown = (cell) => {
  const kinds = [...filtered].filter((kind) => kind !== "positional");
  return (!kinds.length || kinds.includes(kindOf(cell.name))) && (!filtered.has("positional") || cell.positional);
};

function headLegend(cells) {
  const count = (test) => cells.filter(test).length;
  const button = (kind, mark, label, number) => {
    const element = node("button", {type: "button", "aria-pressed": String(filtered.has(kind)), "data-class": kind}, mark, ` ${label} `, node("span", {class: "interval"}, `${number}`));
    element.addEventListener("click", () => {
      filtered.has(kind) ? filtered.delete(kind) : filtered.add(kind);
      drawGrid();
      document.querySelector(`#head-legend [data-class="${kind}"]`).focus();
    });
    return element;
  };
  const mark = (kind, letter) => node("i", {class: `head-cell k-${kind}`, "aria-hidden": "true"}, letter);
  const kinds = HEAD_CLASSES.filter(([kind]) => kind !== "other" || cells.some((cell) => kindOf(cell.name) === "other"));
  const shown = count(isShown);
  return [...kinds.map(([kind, letter, words]) => {
    const element = button(kind, mark(kind, letter), kind === "offset" ? "offset-k" : kind, count((cell) => kindOf(cell.name) === kind));
    element.title = words;
    return element;
  }), button("positional", node("i", {class: "head-cell by-position", "aria-hidden": "true"}), "by position", count((cell) => cell.positional)),
    node("span", {class: "fine", "aria-live": "polite"}, `${shown === cells.length ? cells.length : `${shown} of ${cells.length}`} heads at length ${chosen.headLength}, ${chosen.headContent} content`)];
}

function headGrid(entry, cells) {
  const buttons = cells.map((cell, index) => {
    const known = `${headName(entry, index)}: ${cell.name}${cell.positional ? ", by position" : ""}`;
    const button = node("button", {type: "button", class: `head-cell k-${kindOf(cell.name)}${cell.positional ? " by-position" : ""}${isShown(cell) ? "" : " dim"}`,
      "aria-label": known, title: known, "aria-pressed": String(index === chosen.head), tabindex: index === chosen.head ? 0 : -1, "data-head": index}, letterOf(cell.name));
    button.addEventListener("click", () => chooseHead(buttons, index));
    button.addEventListener("keydown", (event) => {
      const across = index % entry.heads;
      const to = {ArrowLeft: across > 0 ? index - 1 : -1, ArrowRight: across < entry.heads - 1 ? index + 1 : -1,
                  ArrowUp: index - entry.heads, ArrowDown: index + entry.heads, Home: index - across, End: index - across + entry.heads - 1}[event.key];
      if (to === undefined) return;
      event.preventDefault();
      if (buttons[to]) buttons[to].focus();
    });
    return button;
  });
  const heads = Array.from({length: entry.heads}, (_, head) => node("th", {scope: "col"}, `${head + 1}`));
  const rows = Array.from({length: entry.layers}, (_, layer) => node("tr", {}, node("th", {scope: "row"}, `layer ${layer + 1}`),
    ...buttons.slice(layer * entry.heads, (layer + 1) * entry.heads).map((button) => node("td", {}, button))));
  return node("table", {class: "head-grid", "aria-label": "Heads by class"}, node("thead", {}, node("tr", {}, node("td", {}, "head"), ...heads)), node("tbody", {}, ...rows));
}

function chooseHead(buttons, index) {
  chosen.head = index;
  buttons.forEach((button, i) => { button.setAttribute("aria-pressed", String(i === index)); button.tabIndex = i === index ? 0 : -1; });
  drawHead();
}

const runLabel = (entry) => {
  const run = data.runs[entry.run];
  return [run.split_name, run.encoding === null ? run.encoding_name : labelOf(run.encoding), run.seed === "" ? "" : `seed ${run.seed}`].filter(Boolean).join(", ");
};

function drawGrid() {
  const entry = atlas[chosen.headRun];
  const cells = groupOf(entry, chosen.headContent, chosen.headLength).cells.map(headCell);
  document.getElementById("head-legend").replaceChildren(...headLegend(cells));
  document.getElementById("head-grid").replaceChildren(headGrid(entry, cells));
}

function drawHead() {
  hideTip();
  const entry = atlas[chosen.headRun], index = chosen.head, name = headName(entry, index);
  const columns = lengthsOf(entry).map((length) => ({length, cells: contentsOf(entry).map((content) => ({content, group: groupOf(entry, content, length)}))
    .filter(({group}) => group).map(({content, group}) => ({content, cell: headCell(group.cells[index])}))}));
  const shown = headColumns(entry, index, name, columns);
  const why = entry.thinned ? "This page keeps no map or profile of this run, so that the file stays small."
    : shown.most === null ? "No maps of this run were kept (--no-maps)." : "";
  document.getElementById("head-detail").replaceChildren(
    node("h3", {}, `${name[0].toUpperCase()}${name.slice(1)}`, node("span", {class: "fine"}, `${runLabel(entry)} · ${data.runs[entry.run].name} · ${entry.weights} weights · trained to length ${entry.trained}`)),
    ...(shown.most === null ? [] : [node("div", {class: "choices map-tools"}, choiceOf("scale", "Colours", [["linear", "Linear"], ["log", "Logarithmic"]], drawHead), scaleBar(shown.most))]),
    ...(why ? [node("p", {class: "fine"}, why)] : []), shown.columns);
}

// Lengths and contents are those of the run; what was chosen stays where the run has it.
function drawAtlas() {
  const entry = atlas[chosen.headRun], lengths = lengthsOf(entry).map(String), contents = contentsOf(entry);
  if (!contents.includes(chosen.headContent)) chosen.headContent = contents[0];
  const there = (length) => lengths.includes(length) && groupOf(entry, chosen.headContent, length);
  if (!there(chosen.headLength)) chosen.headLength = [String(entry.trained), ...lengths].find(there);
  const cells = groupOf(entry, chosen.headContent, chosen.headLength).cells;
  if (chosen.head >= cells.length) chosen.head = 0;
  document.getElementById("head-choices").replaceChildren(
    choiceOf("headLength", "Length", lengths.filter(there).map((length) => [length, Number(length) === entry.trained ? `Length ${length}, trained` : `Length ${length}`]), drawGrid),
    choiceOf("headContent", "Content", [["task", "The task's own content"], ["exchanged", "Exchanged content"]].filter(([value]) => contents.includes(value)), drawAtlas));
  drawGrid();
  drawHead();
}

const HEAD_FIELDS = ["class", "positional", "survives", "entropy", "distance", "family", "contested", "slope", "family_r2"];

function saveHeads() {
  const entry = atlas[chosen.headRun], run = data.runs[entry.run];
  const rows = entry.groups.flatMap((group) => group.cells.map((cell, index) => [run.name, group.content, group.length, Math.floor(index / entry.heads) + 1, index % entry.heads + 1, ...cell.slice(0, HEAD_FIELDS.length)]));
  save(`${slug(`heads ${run.name}`)}.csv`, csvText(["run", "content", "length", "layer", "head", ...HEAD_FIELDS], rows), "text/csv");
}

function headSection() {
  if (!atlas.length) return;
  const first = atlas[0].groups[0].cells.findIndex((cell) => cell[1]);
  chosen.head = Math.max(0, first);
  document.getElementById("heads").hidden = false;
  const select = node("select", {"aria-label": "Run whose heads are shown", id: "head-run"}, ...atlas.map((entry, index) =>
    node("option", {value: index}, `${runLabel(entry)} (${data.runs[entry.run].name})${entry.thinned ? ", without maps" : ""}`)));
  select.addEventListener("input", () => { chosen.headRun = Number(select.value); drawAtlas(); });
  const saveButton = node("button", {type: "button", "data-save": "csv", "aria-label": "Save the heads of this run as CSV"}, "CSV");
  saveButton.addEventListener("click", saveHeads);
  document.getElementById("head-run-choice").append(select, node("span", {class: "tools"}, saveButton));
  const thinned = atlas.filter((entry) => entry.thinned).length;
  if (thinned) document.getElementById("head-note").append(`So that this file stays small, it has maps and profiles of ${atlas.length - thinned} of ${atlas.length} runs, and of the others classes and numbers. The rest is in their analysis/heads.json; a report of a single run has it all.`);
  drawAtlas();
}
