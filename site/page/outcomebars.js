// Paired bars, two for each outcome; those in the event hatched and marked.
import { linear, upright } from "./axis.js";
import { svg } from "./element.js";
import { binTitle } from "./chart.js";
import { grouped, ticks } from "./number.js";
import { hatch } from "./picture.js";

const BAR = 11;
const FONT = 7.9; // px of a letter, at most

/** The outcome in words; the last bin holds all that are not listed. */
export function outcomeWords(chart, i) {
  if (i >= (chart.outcomes?.length ?? 0)) return "others";
  return String(chart.labels?.[i] ?? `(${[].concat(chart.outcomes[i]).join(", ")})`);
}

/** Shortens in the middle: outcomes often differ at their ends. */
function shorten(text, letters) {
  const all = [...text];
  if (all.length <= letters) return text;
  const head = Math.ceil((letters - 1) / 2);
  return `${all.slice(0, head).join("")}…${all.slice(all.length - (letters - 1 - head)).join("")}`;
}

/** @param {{bins: any[]}} data @param {number} width in px */
export function outcomeBars({ bins }, width) {
  const rows = bins.filter((b) => b.first || b.second);
  const most = Math.max(1, ...rows.map((b) => Math.max(b.first, b.second)));
  const longest = Math.max(...rows.map((b) => [...b.label].length));
  // Labels stand beside the bars, or over them where there is little room.
  const over = width < 520;
  const letters = Math.max(4, Math.floor((over ? width - 24 : width * 0.34) / FONT));
  const left = over ? 18 : 24 + FONT * Math.min(longest, letters);
  const numbers = 12 + 7 * grouped(most).length;
  const right = width - numbers;
  const pitch = 2 * BAR + 2 + (over ? 28 : 12);
  const top = 8, bottom = top + pitch * rows.length, height = bottom + 20;
  const x = linear(0, most, left, right).at;
  const marks = ticks(0, most, Math.max(2, Math.floor((right - left) / 110))).filter(Number.isInteger);

  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Bars: how often each outcome occurred on the first and on the second dataset. The table below holds the same numbers." },
    hatch("bar-hatch", "bar-hatch"),
    upright(marks, x, { top: top - 4, bottom }, grouped),
    rows.map((b, i) => row(b, { y: top + pitch * i, over, left, letters, x, width, pitch })));
}

function row(b, { y, over, left, letters, x, width, pitch }) {
  const inEvent = b.firstIn + b.secondIn > 0;
  const bars = y + (over ? 20 : 4);
  const bar = (side, at) => [
    svg("rect", { class: `bar ${side}`, x: left, y: at, width: Math.max(b[side] > 0 ? 1 : 0, x(b[side]) - left), height: BAR }),
    b[`${side}In`] > 0 && svg("rect", { x: left, y: at, width: Math.max(1, x(b[`${side}In`]) - left), height: BAR, fill: "url(#bar-hatch)" }),
    svg("text", { class: "value", x: x(b[side]) + 5, y: at + BAR - 1.5 }, grouped(b[side]))];
  const label = shorten(b.label, letters);
  return svg("g", { class: inEvent ? "row in-event" : "row" },
    inEvent && svg("rect", { class: "region", x: 0, y: y - 1, width, height: pitch - 2, rx: 3 }),
    inEvent && svg("text", { class: "marker", x: 4, y: over ? y + 13 : y + 19 }, "●"),
    svg("text", over ? { class: "outcome", x: 18, y: y + 13 } : { class: "outcome", x: left - 6, y: y + 19, "text-anchor": "end" }, label),
    bar("first", bars), bar("second", bars + BAR + 2),
    svg("rect", { class: "target", x: 0, y, width, height: pitch }, svg("title", {}, binTitle(b))));
}
