"use strict";
// The plan: its stages from left to right, and where they lie on the cluster.

const STAGES = ["#56b4e9", "#e69f00", "#2aa882", "#cc79a7", "#f0e442", "#0072b2", "#d55e00", "#9acd4e"];

function stageColour(stage) {
  return STAGES[stage % STAGES.length];
}

// "conv1 … fc8 (12 layers)".
function layersText(layers) {
  if (layers.length === 0) return "no layers";
  if (layers.length === 1) return layers[0];
  return `${layers[0]} … ${layers[layers.length - 1]} (${layers.length} layers)`;
}

function workersText(workers) {
  const runs = [];
  for (const worker of workers) {
    const last = runs[runs.length - 1];
    if (last && last[1] + 1 === worker) last[1] = worker;
    else runs.push([worker, worker]);
  }
  const text = runs.map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`)).join(", ");
  return `worker${workers.length === 1 ? "" : "s"} ${text}`;
}

// The stages as boxes, with the bytes that pass between neighbours. What passes over a stage follows
// in a list.
function stagePicture(plan) {
  const between = (from, to) => plan.transfers.find((each) => each.from === from && each.to === to);
  const parts = plan.stages.flatMap((stage, s) => {
    const box = make("div", {class: "stage"}, [
      make("b", {}, `stage ${s}` + (stage.workers.length > 1 ? ` × ${stage.workers.length}` : "")),
      make("span", {}, layersText(stage.layers)), make("span", {}, workersText(stage.workers)),
      make("span", {}, `${timeText(stage.seconds)} of compute`),
      make("span", {}, `${bytesText(stage.weight_bytes)} of weights`),
      ...(stage.recompute ? [make("span", {}, "computes its forward twice")] : []),
    ]);
    box.style.borderTopColor = stageColour(s);
    const hop = between(s, s + 1);
    return hop ? [box, make("div", {class: "hop"}, ["⇄", make("span", {}, bytesText(hop.bytes))])] : [box];
  });
  const far = plan.transfers.filter((each) => each.to !== each.from + 1)
    .map((each) => make("li", {}, `stage ${each.from} ⇄ stage ${each.to}: ${bytesText(each.bytes)}`));
  return [make("div", {class: "stages"}, parts), ...(far.length > 0 ? [make("ul", {}, far)] : [])];
}

// The hosts with their workers, each in the colours of its stages, and what their links carry.
function clusterPicture(run) {
  const {cluster, plan} = run;
  const stagesOf = (worker) => plan.stages.flatMap((stage, s) => (stage.workers.includes(worker) ? [s] : []));
  const hosts = [];
  cluster.hosts.forEach((host, worker) => (hosts[host] ??= []).push(worker));
  return make("div", {class: "hosts"}, hosts.map((workers, host) => {
    const boxes = workers.map((worker) => {
      const stages = stagesOf(worker);
      const box = make("div", {class: "worker"}, [
        make("b", {}, `worker ${worker}`),
        make("span", {}, stages.length === 0 ? "unused" : `stage ${stages.join(", ")}`),
        make("span", {}, bytesText(cluster.memory[worker])),
        ...(cluster.speed[worker] !== 1 ? [make("span", {}, `speed ${brief(cluster.speed[worker])}`)] : []),
      ]);
      box.style.borderTopColor = stages.length === 0 ? "transparent" : stageColour(stages[0]);
      return box;
    });
    return make("div", {class: "host"}, [
      ...(hosts.length > 1 ? [make("h4", {}, `host ${host}`)] : []), make("div", {class: "row"}, boxes),
    ]);
  }));
}

function linkTable(run) {
  const links = run.links ?? [];
  if (links.length === 0) return [];
  const busy = (link) => Math.max(link.out, link.in) / link.bandwidth / link.seconds;
  const busiest = [...links].sort((a, b) => busy(b) - busy(a)).slice(0, 12);
  return [
    make("h3", {}, "Links, as simulated"),
    tableOf(["link", ">bandwidth", ">sent per minibatch", ">received per minibatch", ">busy"],
            busiest.map((link) => [link.name, link.speed,
                                   bytesText(link.out / link.minibatches), bytesText(link.in / link.minibatches),
                                   percent(busy(link))])),
  ];
}

function planSection(run) {
  if (!run.plan) return null;
  const where = run.cluster ? [make("h3", {}, `The cluster: ${run.cluster.name}`), clusterPicture(run)] : [];
  const micro = run.plan.microbatches > 1
    ? ` Each minibatch is cut into ${run.plan.microbatches} microbatches.` : "";
  return section(`The plan: ${run.plan.system} ${run.plan.config}`,
                 `Each minibatch passes the stages from left to right and its gradients come back.${micro} ` +
                 "Times are of one minibatch on one worker, and the figures between stages are its bytes, each way.",
                 [...stagePicture(run.plan), ...where, ...linkTable(run)]);
}
