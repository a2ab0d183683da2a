"use strict";
// What all parts of the page use: elements, numbers as text, and columns of numbers.

// Makes an HTML element. `content` is a text, an element, or a list of both.
function make(tag, attributes = {}, content = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const part of [content].flat()) element.append(part);
  return element;
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

// 1234567 → "1,234,567".
function grouped(number) {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

// Three significant digits: 0.0123, 1.23, 123, 12,300. Only below 0.000001 there is an exponent.
function brief(number) {
  if (!isNumber(number)) return "–";
  if (number === 0) return "0";
  if (Math.abs(number) >= 1000) return grouped(number);
  return String(parseFloat(number.toPrecision(3)));
}

function percent(share, digits = 1) {
  return isNumber(share) ? `${(share * 100).toFixed(digits)} %` : "–";
}

// Bytes in units of 1024, as the program's tables have them.
function bytesText(bytes) {
  if (!isNumber(bytes)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (Math.abs(bytes) >= 1024 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return `${brief(bytes)} ${units[unit]}`;
}

// Seconds in the unit that suits them.
function timeText(seconds) {
  if (!isNumber(seconds)) return "–";
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  if (size < 1e-6) return `${brief(seconds * 1e9)} ns`;
  if (size < 1e-3) return `${brief(seconds * 1e6)} µs`;
  if (size < 1) return `${brief(seconds * 1e3)} ms`;
  if (size < 120) return `${brief(seconds)} s`;
  const [whole, minutes] = [Math.round(seconds), Math.round(seconds / 60)];
  if (size < 7200) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// A place on an axis of time whose neighbours are `step` seconds away: with as many decimals as tell
// them apart.
function momentText(seconds, step) {
  const [unit, size] = [["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]]
    .find(([, each]) => Math.abs(seconds) >= each || (seconds === 0 && step >= each)) ?? ["ns", 1e-9];
  const decimals = Math.min(9, Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9)));
  return `${(seconds / size).toFixed(decimals)} ${unit}`;
}

function counted(number, one, many) {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

// The numbers of a column: the text is base64 of differences between neighbours, each as a
// variable-length integer of 7 bits per byte, the lowest first, with the sign in the lowest bit.
function numbersOf(text) {
  const bytes = atob(text);
  const numbers = [];
  let last = 0;
  for (let place = 0; place < bytes.length;) {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes.charCodeAt(place++);
      value += (byte & 127) * scale;
      if (byte < 128) break;
      scale *= 128;
    }
    last += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    numbers.push(last);
  }
  return numbers;
}

// The index of the first of the ascending numbers that is above `limit`.
function firstAbove(numbers, limit, from = 0, to = numbers.length) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (numbers[middle] > limit) to = middle;
    else from = middle + 1;
  }
  return from;
}

// Round numbers for an axis from `low` to `high`, about `count` of them.
function ticks(low, high, count) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => span / each <= count);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step)
    found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

// The value of a variable of the style sheet, which differs between light and dark.
function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A canvas that is as sharp as the screen. `draw(context, width, height)` is called whenever it
// must be drawn again, at most once per picture of the screen.
class Sheet {
  constructor(height, label, draw) {
    this.draw = draw;
    this.height = height;
    this.waiting = false;
    this.canvas = make("canvas", {role: "img", "aria-label": label, tabindex: "0"});
    this.canvas.style.height = `${height}px`;
    new ResizeObserver(() => this.again()).observe(this.canvas);
    Sheet.all.push(this);
  }

  again() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.paint());
  }

  resize(height) {
    this.height = height;
    this.canvas.style.height = `${height}px`;
    this.again();
  }

  paint() {
    this.waiting = false;
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    const scale = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * scale), Math.round(this.height * scale)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, this.height);
    context.font = "12px system-ui, sans-serif";
    this.draw(context, width, this.height);
  }
}
Sheet.all = [];

// The one box of text that follows the pointer.
const tip = {
  element: null,
  show(x, y, lines) {
    if (!this.element) {
      this.element = make("div", {class: "tip", role: "status"});
      document.body.append(this.element);
    }
    this.element.replaceChildren(...lines.map((line) => make("div", {}, line)));
    this.element.hidden = false;
    const box = this.element.getBoundingClientRect();
    const left = x + 14 + box.width > window.innerWidth ? x - 14 - box.width : x + 14;
    const top = y + 18 + box.height > window.innerHeight ? y - 10 - box.height : y + 18;
    this.element.style.left = `${Math.max(0, left)}px`;
    this.element.style.top = `${Math.max(0, top)}px`;
  },
  hide() {
    if (this.element) this.element.hidden = true;
  },
};

// A table with a heading for each column. Columns whose headings begin with ">" are numbers.
function tableOf(headings, rows) {
  const cell = (tag, text, i) =>
    make(tag, headings[i].startsWith(">") ? {class: "number"} : {}, text);
  return make("div", {class: "scroll"}, make("table", {}, [
    make("thead", {}, make("tr", {}, headings.map((text, i) => cell("th", text.replace(/^>/, ""), i)))),
    make("tbody", {}, rows.map((row) => make("tr", {}, row.map((text, i) => cell("td", text, i))))),
  ]));
}

function section(title, about, content) {
  const parts = [make("h2", {}, title)];
  if (about) parts.push(make("p", {class: "about"}, about));
  return make("section", {}, parts.concat(content));
}
