// Tables that sort. A column is {name, number, value(row), show(row)}; `value` is what is sorted by and saved.

function sortableTable(id, title, columns, rows, start) {
  const body = node("tbody");
  const heads = columns.map((column, index) => {
    const button = node("button", {type: "button"}, column.name);
    const head = node("th", {scope: "col", ...(column.number ? {class: "number"} : {})}, button);
    button.addEventListener("click", () => sortBy(index, head.getAttribute("aria-sort") === (column.number ? "descending" : "ascending")));
    return head;
  });
  const lines = rows.map((row) => ({row, line: node("tr", {}, ...columns.map((column) => {
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
  }
  body.append(...lines.map((entry) => entry.line));
  if (start !== undefined) sortBy(start, false);
  const saveButton = node("button", {type: "button", "data-save": "csv", "aria-label": `Save ${title} as CSV`}, "CSV");
  saveButton.addEventListener("click", () => save(`${slug(title)}.csv`,
    csvText(columns.flatMap((column) => column.fields || [column.key]), rows.map((row) => columns.flatMap((column) => column.save ? column.save(row) : [column.value(row)]))), "text/csv"));
  return [node("div", {class: "table-box"}, node("div", {class: "table-tools tools"}, saveButton),
          node("div", {class: "scroll"}, node("table", {class: "data", id}, node("thead", {}, node("tr", {}, ...heads)), body)))];
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
  ], data.cells);
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
  ], data.pairs);
}

// Splits down, encodings across.
function halfTable() {
  const known = data.cells.filter((cell) => cell.half);
  if (!known.length) return [node("p", {class: "fine"}, "There are no accuracies by length.")];
  const cellOf = (split, encoding) => known.find((cell) => cell.split === split && cell.encoding === encoding);
  return sortableTable("under-half-lengths", "length under one half", [
    {name: "Task", key: "split", value: (split) => data.splits[split].name},
    {name: "Trained to", key: "train_limit", number: true, value: (split) => data.splits[split].limit},
    ...data.encodings.map((encoding, e) => ({name: encoding.label, key: encoding.name, number: true,
      value: (split) => { const cell = cellOf(split, e); return cell ? cell.half[0] ?? Infinity : null; },
      show: (split) => halfText(cellOf(split, e)?.half)})),
  ], data.splits.map((_, split) => split));
}
