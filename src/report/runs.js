// One fold per run; what is inside is made when it is opened.

function optionList(options) {
  return node("dl", {class: "options"}, ...Object.entries(options).map(([key, value]) =>
    node("div", {}, node("dt", {}, key), node("dd", {}, value === "" ? "–" : value))));
}

// The answer with the first word that differs from the right one marked.
function answerText(example) {
  const words = example.answer.split(" "), right = example.target.split(" ");
  const wrong = example.correct ? -1 : words.findIndex((word, i) => word !== right[i]);
  if (example.correct) return [example.answer];
  if (wrong < 0) return [example.answer, " ", node("mark", {title: "the answer ends too early"}, "∎")];
  return [words.slice(0, wrong).join(" "), " ", node("mark", {}, words[wrong] || "∎"), " ", words.slice(wrong + 1).join(" ")];
}

function exampleTable(examples) {
  const head = ["Length", "", "Prompt", "Right answer", "Model's answer"].map((name) => node("th", {scope: "col"}, name));
  return node("div", {class: "scroll"}, node("table", {class: "examples"}, node("thead", {}, node("tr", {}, ...head)),
    node("tbody", {}, ...examples.map((example) => node("tr", {},
      node("td", {}, `${example.length}`),
      node("td", {class: example.correct ? "right" : "wrong"}, example.correct ? "right" : "wrong"),
      node("td", {}, example.prompt), node("td", {}, example.target), node("td", {}, ...answerText(example)))))));
}

function runLengthTable(run) {
  const row = (name, cells) => node("tr", {}, node("th", {scope: "row"}, name), ...cells);
  const cell = (text) => node("td", {class: "number"}, text);
  return node("div", {class: "scroll"}, node("table", {class: "data"}, node("tbody", {},
    row("Length", run.lengths.map((entry) => cell(`${entry[0]}`))),
    row("Set", run.lengths.map((entry) => cell(entry[1] === 1 ? "validation" : "test"))),
    row("Longer than training", run.lengths.map((entry) => cell(entry[1] === 0 ? "yes" : ""))),
    row("Examples", run.lengths.map((entry) => cell(`${entry[2]}`))),
    row("Accuracy", run.lengths.map((entry) => cell(fixed(share(entry[3], entry[2]))))))));
}

function runBody(run) {
  const body = node("div", {class: "run-body"});
  const facts = [];
  if (run.reason) facts.push(run.reason);
  if (run.tuned) facts.push(run.tuned);
  if (run.state !== "finished" && run.steps) facts.push(`step ${run.step} of ${run.steps}`);
  if (run.parameters) facts.push(`${run.parameters.toLocaleString("en")} parameters`);
  if (run.weights_step) facts.push(`weights of step ${run.weights_step} of ${run.steps}`);
  if (run.decoding) facts.push(`decoded by ${run.decoding}`);
  if (run.seconds) facts.push(`${Math.round(run.seconds)} s`);
  if (facts.length) body.append(node("p", {class: "fine"}, facts.join(" · ")));
  if (run.lengths.length) body.append(node("h3", {}, "Accuracy by length"), runLengthTable(run));
  if (run.examples) body.append(node("h3", {}, "Answers just past the training limit"), exampleTable(run.examples));
  body.append(node("h3", {}, "Configuration"), optionList({...run.options, ...data.common}));
  return body;
}

function longerTotal(run) {
  const rows = run.lengths.filter((entry) => entry[1] === 0);
  return share(rows.reduce((sum, entry) => sum + entry[3], 0), rows.reduce((sum, entry) => sum + entry[2], 0));
}

function runFold(run) {
  const longer = run.state === "finished" ? fixed(longerTotal(run)) : "";
  const encoding = run.encoding === null ? [run.encoding_name || "–"] : [swatch(run.encoding), labelOf(run.encoding)];
  const fold = node("details", {class: "run", "data-run": run.name},
    node("summary", {}, node("span", {}, run.name), node("span", {}, run.split_name || "–"), node("span", {}, ...encoding),
         node("span", {}, run.seed === "" ? "" : `seed ${run.seed}`), node("span", {class: `state-${run.state}`}, run.aside || run.state),
         node("span", {class: "number longer", title: "accuracy on test examples longer than any in training"}, longer)));
  fold.addEventListener("toggle", () => { if (fold.open && fold.children.length === 1) fold.append(runBody(run)); });
  return fold;
}

function runSection() {
  const list = document.getElementById("run-list");
  const folds = data.runs.map((run) => ({run, fold: runFold(run)}));
  list.append(node("div", {class: "run-head", "aria-hidden": "true"}, ...["Run", "Task", "Encoding", "Seed", "State", "Longer"].map((name) => node("span", {}, name))));
  list.append(...folds.map((entry) => entry.fold));
  const labels = new Map(data.encodings.map((encoding) => [encoding.name, encoding.label]));
  const choose = (label, values) => node("select", {"aria-label": label}, node("option", {value: ""}, label),
    ...[...new Set(values)].filter((value) => value).map((value) => node("option", {value}, labels.get(value) || value)));
  const text = node("input", {type: "search", placeholder: "Find a run", "aria-label": "Find a run by a part of its name"});
  const split = choose("All tasks", data.runs.map((run) => run.split_name));
  const encoding = choose("All encodings", data.runs.map((run) => run.encoding_name));
  const state = choose("All states", data.runs.map((run) => run.state));
  const count = node("span", {"aria-live": "polite"});
  const RUNS = 60;
  let open = data.runs.length <= 300;
  const more = node("button", {type: "button", class: "fold"});
  const filter = () => {
    let shown = 0;
    for (const {run, fold} of folds) {
      const match = run.name.toLowerCase().includes(text.value.toLowerCase()) && (!split.value || run.split_name === split.value) &&
                    (!encoding.value || run.encoding_name === encoding.value) && (!state.value || run.state === state.value);
      fold.hidden = !match;
      fold.classList.toggle("folded", match && !open && shown >= RUNS);
      shown += match;
    }
    more.hidden = open || shown <= RUNS;
    more.textContent = `Show all ${shown} runs`;
    count.textContent = shown === folds.length ? `${shown} runs` : `${shown} of ${folds.length} runs`;
  };
  for (const control of [text, split, encoding, state]) control.addEventListener("input", filter);
  more.addEventListener("click", () => { open = true; filter(); });
  document.getElementById("run-filter").append(text, split, encoding, state, count);
  list.append(more);
  filter();
}
