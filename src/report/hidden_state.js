// The constructed hidden state: three rows of a decoder without positional encoding whose first layer writes positions
// (docs/theory.md), computed here as that layer computes it.

const CONSTRUCTED_POSITIONS = 8;

// The feed-forward that turns 1/t into t, for t up to n: 1 + sum over j < n of 2j relu(1/j - x), less x itself.
function constructedPosition(x, n) {
  const relu = (value) => Math.max(0, value);
  let sum = x - relu(x) + 1;
  for (let j = 1; j < n; ++j) sum += 2 * j * relu(1 / j - x);
  return Math.round(sum * 1e9) / 1e9;
}

function stateTable(title, why, third) {
  const positions = Array.from({length: CONSTRUCTED_POSITIONS}, (_, i) => i + 1);
  const row = (name, text) => node("tr", {}, node("th", {scope: "row"}, name), ...positions.map((t) => node("td", {class: text(t) === "0" ? "number zero" : "number"}, text(t))));
  return node("figure", {}, node("figcaption", {}, node("b", {}, title), node("span", {class: "fine"}, why)),
    node("div", {class: "scroll"}, node("table", {class: "data state", "aria-label": title}, node("thead", {}, node("tr", {}, node("th", {scope: "col"}, "t"), ...positions.map((t) => node("th", {scope: "col", class: "number"}, `${t}`)))),
      node("tbody", {}, row("one", () => "1"), row("first", (t) => (t === 1 ? "1" : "0")), row("position", third)))));
}

function constructedSection() {
  if (!analysed.probe && !analysed.heads) return;
  document.getElementById("constructed").hidden = false;
  document.getElementById("constructed-states").append(
    stateTable("Embedding", "before the first layer", () => "0"),
    stateTable("After attention", "1/t of the first token's mark", (t) => (t === 1 ? "1" : `1/${t}`)),
    stateTable("After the feed-forward", "the position itself", (t) => `${constructedPosition(1 / t, CONSTRUCTED_POSITIONS)}`));
}
