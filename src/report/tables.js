// Tables that sort. A column is {name, number, value(row), show(row)}; `value` is what is sorted by and saved.
//
// Where there are many encodings, rows of those that are filtered away are hidden, and of long tables the first rows are
// shown until a button is pressed. `encodings(row)` says whose a row is.

const FOLDED_ROWS = 12;

// lines(): [{line, encodings}] in the order shown.
function foldRows(id, lines, noun, most = FOLDED_ROWS) {
  const button = node("button", {type: "button", class: "fold", "aria-expanded": "false"});
  let open = false;
  const refresh = () => {
    const few = shownEncodings().length < 2;
    const is = (encodings) => !encodings.length || (few ? encodings.some((e) => !hidden.has(e)) : encodings.every((e) => !hidden.has(e)));
    let count = 0;
    for (const {line, encodings} of lines()) {
      line.hidden = !is(encodings);
      line.classList.toggle("folded", !line.hidden && !open && count >= most);
      count += !line.hidden;
    }
    button.hidden = count <= most;
    button.textContent = open ? `Show the first ${most} ${noun}` : `Show all ${count} ${noun}`;
    button.setAttribute("aria-expanded", String(open));
  };
  button.addEventListener("click", () => { open = !open; refresh(); });
  redraws.set(id, refresh);
  refresh();
  return {button, refresh};
}

function sortableTable(id, title, columns, rows, encodings = () => []) {
  const body = node("tbody");
  const heads = columns.map((column, index) => {
    const button = node("button", {type: "button"}, column.name);
    const head = node("th", {scope: "col", ...(column.number ? {class: "number"} : {})}, button);
    button.addEventListener("click", () => sortBy(index, head.getAttribute("aria-sort") === (column.number ? "descending" : "ascending")));
    return head;
  });
  const lines = rows.map((row) => ({row, encodings: encodings(row), line: node("tr", {}, ...columns.map((column) => {
    const shown = column.show ? column.show(row) : column.value(row) ?? "–";
    const cell = node("td", column.number ? {class: "number"} : {}, ...(Array.isArray(shown) ? shown : [shown]));
    if (column.mark && column.mark(row)) cell.classList.add("unfit");
    return cell;
  }))}));
  // `reversed`: numbers start from the largest, words from A.
  function sortBy(index, reversed) {
    const column = columns[index];
    const descending = Boolean(column.number) !== reversed;
    heads.forEach((head, i) => i === index ? head.setAttribute("aria-sort", descending ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true}));
    const empty = (value) => value === null || value === undefined;
    lines.sort((left, right) => {
      const a = column.value(left.row), b = column.value(right.row);
      if (empty(a) || empty(b)) return empty(a) - empty(b);  // what is not there comes last either way
      return descending ? compare(b, a) : compare(a, b);
    });
    body.append(...lines.map((entry) => entry.line));
    fold?.refresh();
  }
  body.append(...lines.map((entry) => entry.line));
  const fold = data.many ? foldRows(id, () => lines, "rows") : null;
  const saveButton = node("button", {type: "button", "data-save": "csv", "aria-label": `Save ${title} as CSV`}, "CSV");
  saveButton.addEventListener("click", () => save(`${slug(title)}.csv`,
    csvText(columns.flatMap((column) => column.fields || [column.key]), rows.map((row) => columns.flatMap((column) => column.save ? column.save(row) : [column.value(row)]))), "text/csv"));
  return [node("div", {class: "table-box"}, node("div", {class: "table-tools tools"}, saveButton),
          node("div", {class: "scroll"}, node("table", {class: "data", id}, node("thead", {}, node("tr", {}, ...heads)), body)), ...(fold ? [fold.button] : []))];
}

function estimateColumn(name, key, estimate, mark) {
  return {name, key, number: true, mark,
          fields: [key, `${key}_low`, `${key}_high`],
          value: (row) => (estimate(row) ? estimate(row)[0] : null),
          save: (row) => estimate(row) || ["", "", ""],
          show: (row) => (estimate(row) ? [fixed(estimate(row)[0]), node("span", {class: "interval"}, range(estimate(row)))] : "–")};
}

const encodingColumn = (name, key, index) => ({name, key, value: (row) => data.encodings[index(row)].name,
                                               show: (row) => [swatch(index(row)), labelOf(index(row))]});

function halfText(half) {
  if (!half) return "–";
  const one = (value) => (value === null ? "never" : `${value}`);
  return [one(half[0]), node("span", {class: "interval"}, `${one(half[1])}–${one(half[2])}`)];
}

function numberTable() {
  const several = data.categories.length > 1;
  return sortableTable("final-numbers", "final numbers", [
    {name: "Task", key: "split", value: (cell) => data.splits[cell.split].name},
    ...(several ? [{name: "Category", key: "category", value: (cell) => data.splits[cell.split].category}] : []),
    encodingColumn("Encoding", "encoding", (cell) => cell.encoding),
    {name: "Seeds", key: "seeds", number: true, value: (cell) => cell.seeds},
    estimateColumn("Training lengths", "trained", (cell) => cell.trained, (cell) => cell.unfit > 0),
    estimateColumn("Longer lengths", "longer", (cell) => cell.longer),
    {name: "Under half at", key: "under_half", number: true, fields: ["under_half", "under_half_low", "under_half_high"],
     value: (cell) => (cell.half ? cell.half[0] ?? Infinity : null), save: (cell) => cell.half || ["", "", ""], show: (cell) => halfText(cell.half)},
  ], data.cells, (cell) => [cell.encoding]);
}

function pairTable() {
  if (!data.pairs.length) return [node("p", {class: "fine"}, "There are no two encodings on the same split and seed.")];
  const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
  const p = (value) => (value < .001 ? "< 0.001" : value.toPrecision(2));
  return sortableTable("pair-tests", "paired tests", [
    encodingColumn("Encoding", "encoding", (pair) => pair.better),
    encodingColumn("against", "against", (pair) => pair.worse),
    {...estimateColumn("Difference", "difference", (pair) => pair.difference),
     show: ({difference}) => [signed(difference[0]), node("span", {class: "interval"}, `${signed(difference[1])} to ${signed(difference[2])}`)]},
    {name: "Pairs of runs", key: "queries", number: true, value: (pair) => pair.queries},
    {name: "p", key: "p", number: true, value: (pair) => pair.p, show: (pair) => p(pair.p)},
    {name: "p, corrected", key: "p_holm", number: true, value: (pair) => pair.holm, show: (pair) => p(pair.holm)},
  ], data.pairs, (pair) => [pair.better, pair.worse]);
}

// Splits down, encodings across; many encodings down, splits across.
function halfTable() {
  const known = data.cells.filter((cell) => cell.half);
  if (!known.length) return [node("p", {class: "fine"}, "There are no accuracies by length.")];
  const cellOf = (split, encoding) => known.find((cell) => cell.split === split && cell.encoding === encoding);
  const column = (name, key, cell) => ({name, key, number: true, value: (row) => { const found = cell(row); return found ? found.half[0] ?? Infinity : null; },
                                        show: (row) => halfText(cell(row)?.half)});
  if (data.many) {
    return sortableTable("under-half-lengths", "length under one half", [
      encodingColumn("Encoding", "encoding", (encoding) => encoding),
      ...data.splits.map((split, s) => column(split.limit === null ? split.name : `${split.name}, to ${split.limit}`, split.name, (encoding) => cellOf(s, encoding))),
    ], data.ranking.map((row) => row.encoding), (encoding) => [encoding]);
  }
  return sortableTable("under-half-lengths", "length under one half", [
    {name: "Task", key: "split", value: (split) => data.splits[split].name},
    {name: "Trained to", key: "train_limit", number: true, value: (split) => data.splits[split].limit},
    ...data.encodings.map((encoding, e) => column(encoding.label, encoding.name, (split) => cellOf(split, e))),
  ], data.splits.map((_, split) => split));
}

// The ranking stands in the page; of many encodings its columns sort, and the first rows are shown.
function rankingTable() {
  const table = document.getElementById("ranking");
  if (!table) return;
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const lines = [...body.rows].map((line) => ({line, encodings: [+line.dataset.rowE]}));
  const fold = foldRows("ranking", () => lines, "encodings");
  table.parentNode.after(fold.button);
  let last = -1;
  for (const head of heads) {
    last += head.colSpan;
    const column = last;
    if (!lines.some(({line}) => line.cells[column].dataset.value)) continue;
    const button = node("button", {type: "button"}, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const value = ({line}) => +(line.cells[column].dataset.value ?? -1);
      lines.sort((a, b) => (descending ? value(b) - value(a) : value(a) - value(b)));
      body.append(...lines.map(({line}) => line));
      fold.refresh();
    });
  }
}
