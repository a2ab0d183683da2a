"use strict";
// Curves over samples or seconds, and bars.

// Okabe and Ito's colours, which the colour-blind can tell apart, and dashes as a second sign.
const LINES = [
  {colour: "#0072b2", dash: []}, {colour: "#d55e00", dash: [6, 3]}, {colour: "#009e73", dash: [2, 2]},
  {colour: "#cc79a7", dash: [8, 3, 2, 3]}, {colour: "#e69f00", dash: [4, 2]}, {colour: "#56b4e9", dash: []},
];
const MARGIN = {left: 62, right: 12, top: 8, bottom: 34};

// One chart. `lines` are {name, x: numbers, y: numbers, dots}; x ascends.
class Chart {
  constructor({title, xName, yName, lines, yText = brief, xText = brief, yFrom = null, limits = []}) {
    Object.assign(this, {xName, yName, yText, xText, yFrom, limits});
    this.title = title;
    this.sheet = new Sheet(240, title, (context, width, height) => this.draw(context, width, height));
    this.names = make("figcaption", {class: "legend"});
    this.element = make("figure", {class: "chart"}, [make("h3", {}, title), this.sheet.canvas, this.names]);
    this.sheet.canvas.addEventListener("pointermove", (event) => this.ask(event));
    this.sheet.canvas.addEventListener("pointerleave", () => { this.asked = null; tip.hide(); this.sheet.again(); });
    this.set(lines);
  }

  set(lines) {
    this.lines = lines.filter((line) => line.x.length > 0);
    this.names.replaceChildren(...this.lines.map((line, i) => {
      const patch = make("span", {class: "stroke"});
      patch.style.borderTopColor = LINES[i % LINES.length].colour;
      patch.style.borderTopStyle = LINES[i % LINES.length].dash.length > 0 ? "dashed" : "solid";
      return make("span", {}, [patch, line.name]);
    }));
    const all = (pick) => this.lines.flatMap((line) => extremes(line[pick]));
    const y = all("y").concat(this.limits.map((limit) => limit.y));
    const x = all("x");
    this.x = [Math.min(...x), Math.max(...x)];
    this.y = [this.yFrom ?? Math.min(...y), Math.max(...y)];
    if (this.x[0] === this.x[1]) this.x = [this.x[0] - 1, this.x[0] + 1];
    if (this.y[0] === this.y[1]) this.y = [this.y[0] - 0.5, this.y[0] + 0.5];
    this.element.hidden = this.lines.length === 0;
    this.sheet.again();
  }

  scales(width, height) {
    const wide = width - MARGIN.left - MARGIN.right;
    const high = height - MARGIN.top - MARGIN.bottom;
    return {
      x: (value) => MARGIN.left + (value - this.x[0]) / (this.x[1] - this.x[0]) * wide,
      y: (value) => MARGIN.top + (1 - (value - this.y[0]) / (this.y[1] - this.y[0])) * high,
    };
  }

  draw(context, width, height) {
    if (this.lines.length === 0) return;
    const to = this.scales(width, height);
    this.drawAxes(context, width, height, to);
    this.lines.forEach((line, i) => {
      const style = LINES[i % LINES.length];
      context.strokeStyle = context.fillStyle = style.colour;
      context.lineWidth = 1.8;
      context.setLineDash(style.dash);
      context.beginPath();
      for (const [x, y] of thinned(line, this.x, width)) context.lineTo(to.x(x), to.y(y));
      context.stroke();
      context.setLineDash([]);
      if (line.dots)
        line.x.forEach((x, at) => context.fillRect(to.x(x) - 2.5, to.y(line.y[at]) - 2.5, 5, 5));
    });
    for (const limit of this.limits) this.drawLimit(context, width, to, limit);
    if (this.asked) {
      context.fillStyle = themed("--quiet");
      context.fillRect(this.asked, MARGIN.top, 1, height - MARGIN.top - MARGIN.bottom);
    }
  }

  drawAxes(context, width, height, to) {
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const tick of ticks(this.y[0], this.y[1], 5)) {
      context.fillStyle = themed("--grid");
      context.fillRect(MARGIN.left, to.y(tick), width - MARGIN.left - MARGIN.right, 1);
      context.fillStyle = themed("--quiet");
      context.fillText(this.yText(tick), MARGIN.left - 6, to.y(tick));
    }
    context.textAlign = "center";
    for (const tick of ticks(this.x[0], this.x[1], width / 120)) {
      context.fillStyle = themed("--quiet");
      context.fillText(this.xText(tick), to.x(tick), height - MARGIN.bottom + 11);
    }
    context.fillText(this.xName, (MARGIN.left + width - MARGIN.right) / 2, height - 7);
  }

  drawLimit(context, width, to, limit) {
    context.strokeStyle = themed("--text");
    context.setLineDash([3, 3]);
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(MARGIN.left, to.y(limit.y));
    context.lineTo(width - MARGIN.right, to.y(limit.y));
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = themed("--text");
    context.textAlign = "right";
    context.fillText(limit.name, width - MARGIN.right - 2, to.y(limit.y) + (to.y(limit.y) < 20 ? 9 : -8));
  }

  // Shows the values of all lines at the pointer.
  ask(event) {
    const box = this.sheet.canvas.getBoundingClientRect();
    const wide = box.width - MARGIN.left - MARGIN.right;
    const x = this.x[0] + (event.clientX - box.left - MARGIN.left) / wide * (this.x[1] - this.x[0]);
    const lines = this.lines.map((line) => {
      const above = firstAbove(line.x, x);
      const near = above > 0 && (above === line.x.length || x - line.x[above - 1] < line.x[above] - x)
        ? above - 1 : above;
      return `${line.name}: ${this.yText(line.y[near])} at ${this.xText(line.x[near])} ${this.xName}`;
    });
    this.asked = Math.min(Math.max(event.clientX - box.left, MARGIN.left), box.width - MARGIN.right);
    this.sheet.again();
    tip.show(event.clientX, event.clientY, lines);
  }
}

function extremes(numbers) {
  let [low, high] = [Infinity, -Infinity];
  for (const number of numbers) {
    if (!isNumber(number)) continue;
    low = Math.min(low, number);
    high = Math.max(high, number);
  }
  return low <= high ? [low, high] : [];
}

// The points of a line, but of the many that share a column of pixels only the lowest and the
// highest.
function thinned(line, [low, high], width) {
  if (line.x.length <= 2 * width) return line.x.map((x, i) => [x, line.y[i]]);
  const points = [];
  let column = null;
  for (let i = 0; i < line.x.length; ++i) {
    const place = Math.floor((line.x[i] - low) / (high - low) * width);
    if (!column || column.place !== place) {
      if (column) points.push(...column.ends());
      column = {place, least: i, most: i, ends() {
        return [Math.min(this.least, this.most), Math.max(this.least, this.most)]
          .map((at) => [line.x[at], line.y[at]]);
      }};
    }
    if (line.y[i] < line.y[column.least]) column.least = i;
    if (line.y[i] > line.y[column.most]) column.most = i;
  }
  return points.concat(column.ends());
}

// Horizontal bars, each of several parts {name, value, colour}. All have the scale of the longest.
function bars(rows, text) {
  const most = Math.max(...rows.map((row) => Math.max(row.limit ?? 0, total(row))));
  return make("div", {class: "bars"}, rows.map((row) => {
    const parts = row.parts.filter((part) => part.value > 0).map((part) => {
      const bar = make("span", {class: "part", title: `${part.name}: ${text(part.value)}`});
      bar.style.width = `${part.value / most * 100}%`;
      bar.style.background = part.colour;
      return bar;
    });
    if (row.limit) {
      const mark = make("span", {class: "limit", title: `limit: ${text(row.limit)}`});
      mark.style.left = `${row.limit / most * 100}%`;
      parts.push(mark);
    }
    return make("div", {class: "bar"}, [
      make("span", {class: "name"}, row.name), make("span", {class: "track"}, parts),
      make("span", {class: "value"}, row.text ?? text(total(row))),
    ]);
  }));
}

function total(row) {
  return row.parts.reduce((sum, part) => sum + part.value, 0);
}

function legendOf(parts) {
  return make("div", {class: "legend"}, parts.map((part) => {
    const patch = make("span", {class: "patch"});
    patch.style.background = part.colour;
    return make("span", {}, [patch, part.name]);
  }));
}
