"use strict";
// The timeline: which op ran when on which worker. It can be zoomed, moved and asked.

// The kinds of ops, in the order of their numbers in the data (src/page/columns.cpp).
const KINDS = [
  {name: "forward", colour: "#56b4e9", waits: "activations, or weights from the servers"},
  {name: "backward", colour: "#2aa882", waits: "gradients of a later stage"},
  {name: "backward: input gradient", colour: "#9acd4e", waits: "gradients of a later stage"},
  {name: "backward: weight gradient", colour: "#6b8e23", waits: "other work"},
  {name: "recomputation", colour: "#f0e442", waits: "gradients of a later stage"},
  {name: "update", colour: "#7d7d7d", waits: "gradient norms of other stages"},
  {name: "wait for an averaging", colour: "#cc79a7", waits: "other replicas"},
];
const UPDATE = KINDS.findIndex(({name}) => name === "update");
const LEAST_SPAN = 1e-7;  // seconds: nothing is shorter
const ROW = 22;           // pixels of a worker
const AXIS = 20;          // pixels of the axis
const LABELS = 74;        // pixels of the workers' names

// The events of one timeline, in arrays by worker, with sums for views of many events.
class Events {
  constructor(data) {
    const columns = {};
    for (const name of ["worker", "kind", "stage", "minibatch", "microbatch", "weights", "start",
                        "length", "transfer", "wait"])
      columns[name] = numbersOf(data[name]);
    this.columns = columns;
    this.length = data.seconds;
    this.count = columns.start.length;
    this.cut = columns.microbatch.some((number) => number > 0);
    this.start = Float64Array.from(columns.start, (nanos) => nanos * 1e-9);
    this.end = Float64Array.from(columns.length, (nanos, i) => this.start[i] + nanos * 1e-9);
    this.rows = [];  // {worker, first, end}: indices of a worker's events, which follow each other
    for (let i = 0; i < this.count; ++i) {
      const row = this.rows[this.rows.length - 1];
      if (row && row.worker === columns.worker[i]) row.end = i + 1;
      else this.rows.push({worker: columns.worker[i], first: i, end: i + 1});
    }
    for (const row of this.rows) this.sum(row);
  }

  // The time of each kind in equal parts of the timeline, and in parts of twice that length, and so
  // on: `row.sums[level][part * KINDS.length + kind]`.
  sum(row) {
    const parts = 1 << 13;
    const width = this.length / parts;
    const finest = new Float32Array(parts * KINDS.length);
    for (let i = row.first; i < row.end; ++i) {
      const kind = this.columns.kind[i];
      let part = Math.min(parts - 1, Math.floor(this.start[i] / width));
      for (let at = this.start[i]; at < this.end[i] && part < parts; ++part) {
        const stop = Math.min(this.end[i], (part + 1) * width);
        finest[part * KINDS.length + kind] += Math.max(0, stop - at);
        at = stop;
      }
    }
    row.sums = [finest];
    for (let count = parts / 2; count >= 64; count /= 2) {
      const below = row.sums[row.sums.length - 1];
      const sums = new Float32Array(count * KINDS.length);
      for (let i = 0; i < sums.length; ++i) {
        const part = Math.floor(i / KINDS.length);
        const kind = i % KINDS.length;
        sums[i] = below[2 * part * KINDS.length + kind] + below[(2 * part + 1) * KINDS.length + kind];
      }
      row.sums.push(sums);
    }
  }

  // The event of the row at `time`; −1 if it is idle then.
  at(row, time) {
    const i = firstAbove(this.start, time, row.first, row.end) - 1;
    return i >= row.first && time < this.end[i] ? i : -1;
  }

  // The event that the row begins next after `time`; −1 if there is none.
  after(row, time) {
    const i = firstAbove(this.start, time, row.first, row.end);
    return i < row.end ? i : -1;
  }

  name(i) {
    const c = this.columns;
    const kind = KINDS[c.kind[i]].name;
    if (c.minibatch[i] < 0) return `${kind}, stage ${c.stage[i]}`;
    const item = `minibatch ${c.minibatch[i]}` + (this.cut ? `, microbatch ${c.microbatch[i]}` : "");
    return `${kind} of ${item}, stage ${c.stage[i]}`;
  }

  // What is to be known about an event, line by line.
  lines(i, worker) {
    const c = this.columns;
    const lines = [this.name(i), `worker ${worker}`];
    if (c.weights[i] >= 0)
      lines.push(c.kind[i] === UPDATE ? `makes weight version ${c.weights[i]}` : `weight version ${c.weights[i]}`);
    const length = this.end[i] - this.start[i];
    lines.push(`${timeText(length)}, from ${momentText(this.start[i], length / 10)} on`);
    const wait = KINDS[c.kind[i]].waits;
    if (c.transfer[i] > 0)
      lines.push(`before it ${timeText(c.transfer[i] * 1e-9)} for ${wait}, while they were in transit`);
    if (c.wait[i] > 0)
      lines.push(`before it ${timeText(c.wait[i] * 1e-9)} for the data set, or for other replicas`);
    return lines;
  }
}

class Timeline {
  constructor(data, title) {
    this.events = new Events(data);
    this.from = 0;
    this.to = this.events.length;
    const rows = this.events.rows.length;
    this.sheet = new Sheet(AXIS + rows * ROW, `${title}: ${counted(this.events.count, "op", "ops")} on ` +
        `${counted(rows, "worker", "workers")}. Arrow keys move, + and - zoom, Home shows all.`,
        (context, width) => this.draw(context, width));
    this.place = make("output", {class: "place"});
    this.element = make("figure", {class: "timeline"}, [this.tools(), this.sheet.canvas, this.legend()]);
    this.listen();
  }

  tools() {
    const button = (text, label, action) => {
      const made = make("button", {type: "button", "aria-label": label, title: label}, text);
      made.addEventListener("click", action);
      return made;
    };
    return make("div", {class: "tools"}, [
      button("+", "zoom in", () => this.zoom(0.5)), button("−", "zoom out", () => this.zoom(2)),
      button("←", "earlier", () => this.move(-0.25)), button("→", "later", () => this.move(0.25)),
      button("all", "show all", () => this.show(0, this.events.length)), this.place,
    ]);
  }

  legend() {
    const used = new Set(this.events.columns.kind);
    const entries = KINDS.map((kind, i) => [kind, i]).filter(([, i]) => used.has(i));
    return make("figcaption", {class: "legend"}, entries.map(([kind]) => {
      const patch = make("span", {class: "patch"});
      patch.style.background = kind.colour;
      return make("span", {}, [patch, kind.name]);
    }));
  }

  show(from, to) {
    const span = Math.min(Math.max(to - from, LEAST_SPAN), this.events.length || LEAST_SPAN);
    this.from = Math.min(Math.max(0, from), Math.max(0, this.events.length - span));
    this.to = this.from + span;
    this.sheet.again();
  }

  zoom(factor, around = (this.from + this.to) / 2) {
    this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  move(share) {
    const step = (this.to - this.from) * share;
    this.show(this.from + step, this.to + step);
  }

  // The time below a place of the canvas.
  timeAt(x) {
    const width = this.sheet.canvas.clientWidth - LABELS;
    return this.from + (x - LABELS) / width * (this.to - this.from);
  }

  listen() {
    const canvas = this.sheet.canvas;
    const at = (event) => event.clientX - canvas.getBoundingClientRect().left;
    let dragged = null;
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.move(event.deltaX / 1000);
      else this.zoom(Math.exp(event.deltaY / 400), this.timeAt(at(event)));
    }, {passive: false});
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      dragged = {x: at(event), from: this.from, to: this.to};
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!dragged) return this.ask(event, at(event));
      const step = (dragged.x - at(event)) / (canvas.clientWidth - LABELS) * (dragged.to - dragged.from);
      this.show(dragged.from + step, dragged.to + step);
    });
    canvas.addEventListener("pointerup", () => { dragged = null; });
    canvas.addEventListener("pointerleave", () => tip.hide());
    canvas.addEventListener("dblclick", (event) => this.zoom(0.25, this.timeAt(at(event))));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const actions = {
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      ArrowLeft: () => this.move(-0.25), ArrowRight: () => this.move(0.25),
      Home: () => this.show(0, this.events.length),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  }

  // Shows what ran at the pointer.
  ask(event, x) {
    const y = event.clientY - this.sheet.canvas.getBoundingClientRect().top;
    const row = this.events.rows[Math.floor((y - AXIS) / ROW)];
    if (!row || x < LABELS) return tip.hide();
    const time = this.timeAt(x);
    const i = this.events.at(row, time);
    if (i >= 0) return tip.show(event.clientX, event.clientY, this.events.lines(i, row.worker));
    const next = this.events.after(row, time);
    const until = next < 0 ? ["nothing more to do"] : ["next:", ...this.events.lines(next, row.worker)];
    tip.show(event.clientX, event.clientY, [`worker ${row.worker} is idle`, ...until]);
  }

  draw(context, width) {
    const scale = (width - LABELS) / (this.to - this.from);
    this.place.value = this.from === 0 && this.to === this.events.length
      ? timeText(this.events.length)
      : `${momentText(this.from, (this.to - this.from) / 10)} to ${momentText(this.to, (this.to - this.from) / 10)}`;
    this.drawAxis(context, width, scale);
    this.events.rows.forEach((row, i) => {
      const y = AXIS + i * ROW;
      context.fillStyle = themed("--text");
      context.textBaseline = "middle";
      context.textAlign = "left";
      context.fillText(`worker ${row.worker}`, 0, y + ROW / 2);
      context.fillStyle = themed("--idle");
      context.fillRect(LABELS, y + 2, width - LABELS, ROW - 4);
      this.drawRow(context, row, y + 2, scale, width);
    });
  }

  drawAxis(context, width, scale) {
    context.textBaseline = "middle";
    context.textAlign = "center";
    const places = ticks(this.from, this.to, (width - LABELS) / 110);
    const step = places.length > 1 ? places[1] - places[0] : this.to - this.from;
    for (const tick of places) {
      const x = LABELS + (tick - this.from) * scale;
      context.fillStyle = themed("--grid");
      context.fillRect(x, AXIS - 4, 1, this.sheet.height);
      context.fillStyle = themed("--quiet");
      if (x > LABELS + 20 && x < width - 20) context.fillText(momentText(tick, step), x, AXIS / 2 - 1);
    }
  }

  drawRow(context, row, y, scale, width) {
    const {start, end} = this.events;
    const first = Math.max(row.first, firstAbove(start, this.from, row.first, row.end) - 1);
    const last = firstAbove(start, this.to, first, row.end);
    if (last - first > width - LABELS) return this.drawSums(context, row, y, scale, width);
    const height = ROW - 4;
    const {kind, minibatch} = this.events.columns;
    for (let i = first; i < last; ++i) {
      const x = LABELS + Math.max(0, (start[i] - this.from) * scale);
      const right = Math.min(width, LABELS + (end[i] - this.from) * scale);
      if (right <= LABELS) continue;
      const wide = Math.max(right - x, 0.5);
      context.fillStyle = KINDS[kind[i]].colour;
      context.fillRect(x, y, wide > 3 ? wide - 0.5 : wide, height);
      if (wide < 18 || minibatch[i] < 0) continue;
      context.fillStyle = "#111111";
      context.textAlign = "center";
      context.fillText(String(minibatch[i]), x + wide / 2, y + height / 2 + 1, wide - 4);
    }
  }

  // Many events are drawn as the share of each kind in every column of pixels.
  drawSums(context, row, y, scale, width) {
    const height = ROW - 4;
    const {sums} = row;
    const pixel = 1 / scale;
    let level = 0;
    let part = this.events.length / (1 << 13);
    while (level + 1 < sums.length && part * 2 <= pixel) {
      part *= 2;
      ++level;
    }
    const parts = sums[level].length / KINDS.length;
    const step = Math.max(1, part * scale);
    for (let x = LABELS; x < width; x += step) {
      const begin = this.from + (x - LABELS) * pixel;
      const place = Math.floor(begin / part);
      if (place >= parts) break;
      let top = y + height;
      for (let kind = 0; kind < KINDS.length; ++kind) {
        const share = Math.min(1, sums[level][place * KINDS.length + kind] / part);
        if (share <= 0) continue;
        context.fillStyle = KINDS[kind].colour;
        context.fillRect(x, top - share * height, step + 0.5, share * height);
        top -= share * height;
      }
    }
  }
}
