"use strict";
// Puts the page together from the data in it (src/page/data.h says what the data has).

const CAUSES = [
  {key: "busy", name: "computing", colour: "#2aa882"},
  {key: "recompute", name: "recomputing", colour: "#f0e442"},
  {key: "fill_drain", name: "pipeline fills or drains", colour: "#56b4e9"},
  {key: "imbalance", name: "less to do than the busiest worker", colour: "#b8b8b8"},
  {key: "transfer", name: "data in transit", colour: "#e69f00"},
  {key: "wait", name: "data set or another worker", colour: "#cc79a7"},
];

function isMeasured(run) {
  return run.kind === "measured";
}

// Whether the run came to an end and has results.
function hasResults(run) {
  return !isMeasured(run) || isNumber(run.result.seconds);
}

// What happened, in sentences.
function words(run) {
  const result = run.result;
  const found = [];
  const plan = `${result.system} ${result.config}`;
  const rate = result.samples_per_second;
  const on = `with ${plan} on ${counted(run.workers, "worker", "workers")}`;
  if (!hasResults(run)) {
    found.push(run.live ? `${result.model} is being trained ${on}.`
                        : `${result.model} was to be trained ${on}. There are no results: the training still runs, or it did not come to its end.`);
  } else if (isMeasured(run)) {
    found.push(`${result.model} was trained ${on}: ` +
               `${counted(result.samples, "sample", "samples")} in ${timeText(result.seconds)}` +
               (isNumber(rate) ? `, at ${brief(rate)} samples/s.` : "."));
  } else {
    found.push(`${result.model} was simulated ${on}` + (isNumber(rate) ? `: ${brief(rate)} samples/s.` : "."));
  }
  if (isMeasured(run)) {
    const shares = [[result.predicted_samples_per_second, "predicted"], [result.simulated_samples_per_second, "simulated"]]
      .filter(([other]) => isNumber(other) && other > 0 && isNumber(rate))
      .map(([other, name]) => `${percent(rate / other)} of the ${name} ${brief(other)}`);
    if (shares.length > 0) found.push(`The speed is ${shares.join(" and ")} samples/s.`);
  }
  if (run.accounts) found.push(idleWords(run.accounts));
  const goal = result.target;
  if (goal) {
    const name = goal.figure === "accuracy" ? percent : (value) => `${goal.figure} ${brief(value)}`;
    if (isNumber(goal.wanted))
      found.push(goal.reached
        ? `The target of ${name(goal.wanted)} was reached after ${counted(goal.samples, "sample", "samples")}, ${timeText(goal.training_seconds)} of training.`
        : `The target of ${name(goal.wanted)} was not reached; the best was ${name(goal.best)}.`);
  } else if (hasResults(run) && isNumber(result.accuracy)) {
    found.push(`In the end ${percent(result.accuracy)} of the held-out labels were predicted right.`);
  } else if (hasResults(run) && isNumber(result.perplexity)) {
    found.push(`In the end the perplexity on held-out data was ${brief(result.perplexity)}.`);
  }
  return found;
}

function idleWords(accounts) {
  const sums = Object.fromEntries(CAUSES.map(({key}) => [key, accounts.reduce((sum, each) => sum + each[key], 0)]));
  const all = Object.values(sums).reduce((a, b) => a + b, 0);
  const computing = (sums.busy + sums.recompute) / all;
  const idle = CAUSES.slice(2).map((cause) => [sums[cause.key], cause.name]).sort((a, b) => b[0] - a[0])[0];
  const most = idle[0] > 0.005 * all ? ` Most of the rest went to: ${idle[1]} (${percent(idle[0] / all)}).` : "";
  return `Workers computed ${percent(computing)} of the time.${most}`;
}

function cards(run) {
  const result = run.result;
  const card = (name, value) => make("div", {class: "card"}, [make("span", {}, name), make("b", {}, value)]);
  const found = [card("samples per second", brief(result.samples_per_second))];
  if (isMeasured(run)) {
    for (const [name, value] of [["predicted", result.predicted_samples_per_second],
                                 ["simulated", result.simulated_samples_per_second],
                                 ["loss of the last minibatch", result.loss]])
      if (hasResults(run) || isNumber(value)) found.push(card(name, brief(value)));
    if (isNumber(result.held_out_loss)) found.push(card("held-out loss", brief(result.held_out_loss)));
    if (isNumber(result.accuracy)) found.push(card("held-out accuracy", percent(result.accuracy)));
    if (isNumber(result.perplexity)) found.push(card("perplexity", brief(result.perplexity)));
    if (isNumber(result.learning_rate) && !hasResults(run)) found.push(card("learning rate", brief(result.learning_rate)));
    if (hasResults(run)) found.push(card("took", timeText(result.seconds)));
  }
  if (hasResults(run))
    found.push(card("busy", percent(result.utilisation)),
               card("most memory of a worker", bytesText(Math.max(...(result.peak_memory_bytes ?? [NaN])))));
  return make("div", {class: "cards"}, found);
}

function timelineSection(run) {
  const shown = (run.timelines ?? []).map((data) => {
    const timeline = new Timeline(data, data.name);
    return [make("h3", {}, data.name), timeline.element];
  });
  if (shown.length === 0) return null;
  return section("Timeline",
                 "Each row is a worker. Point at an op to see what it is and what it waited for. Drag to move; zoom with " +
                 "Ctrl and the wheel, the buttons, or + and − when the picture has the focus. Numbers are minibatches.",
                 shown.flat());
}

function idleSection(run) {
  if (!run.accounts) return null;
  const rows = run.accounts.map((account) => {
    const all = CAUSES.reduce((sum, {key}) => sum + account[key], 0);
    return {name: `worker ${account.worker}`, text: `${percent((account.busy + account.recompute) / all)} busy`,
            parts: CAUSES.map(({key, name, colour}) => ({name, value: account[key], colour}))};
  });
  return section("Where the workers' time went", isMeasured(run) ? "" : "As simulated.",
                 [bars(rows, timeText), legendOf(CAUSES)]);
}

function memorySection(run) {
  const measured = isMeasured(run);
  const peaks = run.result.peak_memory_bytes;
  if (!peaks) return null;
  const predicted = run.result.predicted_memory_bytes ?? [];
  const limits = run.cluster ? run.cluster.memory : [];
  const small = (worker) => isNumber(limits[worker]) && limits[worker] < 4 * Math.max(...peaks);
  const rows = peaks.map((peak, worker) => ({
    name: `worker ${worker}`, limit: small(worker) ? limits[worker] : undefined,
    text: bytesText(peak) + (isNumber(predicted[worker]) ? ` (predicted ${bytesText(predicted[worker])})` : "") +
          (isNumber(limits[worker]) ? ` of ${bytesText(limits[worker])}` : ""),
    parts: [{name: "peak", value: peak, colour: "#0072b2"}],
  }));
  const parts = [bars(rows, bytesText)];
  const lines = (run.memory ?? []).map((each) => ({
    name: `worker ${each.worker}`, x: numbersOf(each.time).map((nanos) => nanos * 1e-9), y: numbersOf(each.bytes)}));
  if (lines.length > 0)
    parts.push(new Chart({title: "Memory over time", xName: "seconds of the timeline", yName: "bytes", lines,
                          yText: bytesText, yFrom: 0,
                          limits: small(0) ? [{y: limits[0], name: "limit"}] : []}).element);
  return section("Memory", measured ? "The largest amount that libtorch held at once on each worker." : "As simulated.", parts);
}

// The curves of several runs in one chart each.
class Curves {
  constructor() {
    this.charts = [];
    this.holder = make("div", {class: "charts"});
    this.element = section("Learning", "", this.holder);
    this.add("Training loss", "loss", "steps", "loss", false);
    this.add("Held-out loss", "loss", "evaluations", "held_out_loss", true);
    this.add("Held-out accuracy", "accuracy", "evaluations", "accuracy", true, percent);
    this.add("Perplexity", "perplexity", "evaluations", "perplexity", true);
  }

  // Charts of the points `of` that have `pick`: one over samples, and one over seconds.
  add(title, yName, of, pick, dots, text = brief) {
    for (const [key, xName] of [["samples", "samples"], ["seconds", "seconds of training"]]) {
      const chart = new Chart({title: `${title} over ${xName}`, xName, yName, lines: [], yText: text});
      this.charts.push({chart, of, pick, key, dots});
      this.holder.append(chart.element);
    }
  }

  show(runs) {
    const trained = runs.filter((run) => run.curves);
    for (const {chart, of, pick, key, dots} of this.charts)
      chart.set(trained.map((run) => {
        const points = run.curves[of].filter((point) => isNumber(point[pick]) && isNumber(point[key]));
        return {name: run.name, x: points.map((point) => point[key]), y: points.map((point) => point[pick]), dots};
      }));
    this.element.hidden = this.charts.every(({chart}) => chart.lines.length === 0);
  }
}

// The same network on the same cluster with other systems, as simulated.
function othersSection(run) {
  if (!run.others) return null;
  const fastest = Math.max(...run.others.map((other) => other.samples_per_second ?? 0));
  const own = run.result.system;
  const rows = run.others.map((other) => isNumber(other.samples_per_second)
    ? {name: other.system + (other.system === own ? " ◀" : ""),
       text: `${brief(other.samples_per_second)} samples/s, ${other.config}`,
       parts: [{name: other.system, value: other.samples_per_second, colour: other.system === own ? "#d55e00" : "#0072b2"}]}
    : {name: other.system, text: other.refused, parts: []});
  return section("With other systems",
                 "What the simulator says of the same network on the same cluster, each system with its own plan.",
                 fastest > 0 ? bars(rows, (value) => `${brief(value)} samples/s`) : []);
}

// The columns of the table of all runs. Those that say nothing of any run are left out.
const COLUMNS = [
  ["run", (run) => run.name], ["system", ({result}) => result.system], ["plan", ({result}) => result.config],
  [">samples/s", ({result}) => brief(result.samples_per_second)],
  [">simulated", ({result}) => brief(result.simulated_samples_per_second)],
  [">busy", ({result}) => percent(result.utilisation)], [">loss", ({result}) => brief(result.loss)],
  [">held-out loss", ({result}) => brief(result.held_out_loss)],
  [">accuracy", ({result}) => percent(result.accuracy)], [">perplexity", ({result}) => brief(result.perplexity)],
  [">target after", ({result: {target}}) => (!target ? "–" : target.reached ? timeText(target.training_seconds) : "not reached")],
  [">bytes/sample", ({result}) => bytesText(result.bytes_per_sample)],
];

function comparisonSection(runs) {
  if (runs.length < 2) return null;
  const shown = COLUMNS.filter(([, text]) => runs.some((run) => text(run) !== "–"));
  return section("Side by side", "", tableOf(shown.map(([heading]) => heading),
                                             runs.map((run) => shown.map(([, text]) => text(run)))));
}

// What happened, in words and figures.
function about(run) {
  return [make("div", {class: "words"}, words(run).map((text) => make("p", {}, text))), cards(run)];
}

function runElement(run) {
  return make("article", {}, [
    make("div", {class: "result"}, about(run)),
    ...[planSection(run), timelineSection(run), idleSection(run), memorySection(run), othersSection(run)].filter(Boolean),
  ]);
}

// Tabs. On the screen one run is visible at a time; in print all are.
function tabsOf(runs) {
  const articles = runs.map(() => null);
  const holder = make("div", {});
  const list = make("div", {class: "tabs", role: "tablist", "aria-label": "runs"});
  let current = 0;
  const choose = (i) => {
    current = i;
    articles[i] ??= holder.appendChild(runElement(runs[i]));
    articles.forEach((article, j) => { if (article) article.hidden = i !== j; });
    [...list.children].forEach((tab, j) => {
      tab.setAttribute("aria-selected", String(i === j));
      tab.tabIndex = i === j ? 0 : -1;
    });
  };
  runs.forEach((run, i) => {
    const tab = make("button", {type: "button", role: "tab"}, run.name);
    tab.addEventListener("click", () => choose(i));
    tab.addEventListener("keydown", (event) => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (!step) return;
      const next = (i + step + runs.length) % runs.length;
      choose(next);
      list.children[next].focus();
    });
    list.append(tab);
  });
  window.addEventListener("beforeprint", () => {
    const visible = current;
    runs.forEach((_, i) => choose(i));
    current = visible;
    articles.forEach((article) => { article.hidden = false; });
    Sheet.all.forEach((sheet) => sheet.paint());  // at once: the next frame comes after printing
  });
  window.addEventListener("afterprint", () => choose(current));
  choose(0);
  return [list, holder];
}

function themeButton() {
  const button = make("button", {type: "button", class: "theme"}, "light / dark");
  button.addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    Sheet.all.forEach((sheet) => sheet.again());
  });
  return button;
}

// Shows what is new of a run while it trains (src/page/page.h: News). `training` is its name: the
// same address may show another training later.
function follow(training, run, body, curves) {
  const bar = make("progress", {max: "1", "aria-label": "share of the training that is done"});
  const words = make("div", {}, "waiting for news");
  body.querySelector("header").after(make("div", {class: "live", role: "status"}, [words, bar]));
  body.querySelector(".result").after(curves.element);  // what changes comes first
  run.live = true;
  const source = new EventSource("news");
  source.onmessage = (event) => {
    const news = JSON.parse(event.data);
    if (news.training !== training) {
      source.close();
      words.textContent = "Another training, or one with a new plan, is shown at this address now: reload the page.";
      return;
    }
    Object.assign(run.result, news.result);
    run.curves = news.curves;
    run.live = !news.last;
    bar.value = news.share;
    words.textContent = news.words;
    body.querySelector(".result").replaceChildren(...about(run));
    curves.show([run]);
    if (news.last) source.close();
  };
  source.onerror = () => {
    words.textContent = "There is no connection: the training has ended, the network is down, or eight browsers " +
                        "follow the training already.";
  };
}

function start(page) {
  const body = document.body;
  const curves = new Curves();
  body.replaceChildren(make("header", {}, [make("h1", {}, page.title), themeButton()]));
  const together = [comparisonSection(page.runs), curves.element].filter(Boolean);
  if (page.training) page.runs[0].live = true;
  if (page.runs.length === 1) body.append(runElement(page.runs[0]), ...together);
  else body.append(...together, ...tabsOf(page.runs));
  curves.show(page.runs);
  body.append(make("footer", {}, `made by pipedream ${page.version}`));
  if (page.training) follow(page.training, page.runs[0], body, curves);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => Sheet.all.forEach((sheet) => sheet.again()));
}

start(JSON.parse(document.getElementById("data").textContent));
