// Two histograms over one another: steps, the event's bins hatched, and boxes
// at both ends for what lies beyond the bins.
import { across, linear, roomFor, strokes, widthOf } from "./axis.js";
import { svg } from "./element.js";
import { binTitle } from "./chart.js";
import { grouped, short, ticks } from "./number.js";
import { hatch } from "./picture.js";

const BEYOND = 22; // width of the box for what lies beyond the edges
const GAP = 8;

/** The bin in words. */
export function binWords(edges, i) {
  if (!edges.length) return "all";
  if (i === 0) return `below ${short(edges[0])}`;
  if (i === edges.length) return `${short(edges[i - 1])} and above`;
  return `${short(edges[i - 1])} to ${short(edges[i])}`;
}

/** @param {{axis: string, edges: number[], bins: any[]}} data @param {number} width in px */
export function histogram({ axis, edges, bins }, width) {
  const height = width < 480 ? 250 : 320;
  const most = Math.max(1, ...bins.map((b) => Math.max(b.first, b.second)));
  const marks = ticks(0, most, 5).filter(Number.isInteger);
  const top = 24, bottom = height - 22;
  const left = roomFor([grouped(marks.at(-1))]), right = width - 8;
  const y = linear(0, most, bottom, top).at;
  const last = bins.length - 1;
  const below = bins[0].first + bins[0].second > 0, above = last > 0 && bins[last].first + bins[last].second > 0;
  const x0 = left + (below ? BEYOND + GAP : 2), x1 = right - (above ? BEYOND + GAP : 2);
  const lo = edges[0] ?? 0, hi = edges.at(-1) ?? 1;
  const x = (v) => (hi > lo ? x0 + ((x1 - x0) * (v - lo)) / (hi - lo) : x0);
  const boxes = bins.map((b, i) => {
    if (i === 0) return { ...b, from: left + 2, to: left + 2 + BEYOND, beyond: true };
    if (i === last) return { ...b, from: right - BEYOND, to: right, beyond: true };
    return { ...b, from: x(edges[i - 1]), to: x(edges[i]) };
  }).filter((b) => (b.beyond ? b.first + b.second > 0 : b.to > b.from));

  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Histogram of ${axis} on the first and on the second dataset. The table below holds the same numbers.` },
    hatch("event-hatch", "hatch"),
    across(marks, y, { left, right }, grouped),
    svg("text", { class: "tick", x: 0, y: 12 }, "outputs a bin"),
    boxes.map((b) => region(b, top, bottom)),
    boxes.map((b) => ["first", "second"].map((side) => b[`${side}In`] > 0 && svg("rect", { class: `part ${side}`, x: b.from, width: b.to - b.from, y: y(b[`${side}In`]), height: bottom - y(b[`${side}In`]) }))),
    ["first", "second"].map((side) => svg("path", { class: `step ${side}`, d: outline(boxes, side, y, bottom) })),
    eventLabel(boxes, top, left, right),
    valueAxis({ x, x0, x1, lo, hi, below, above, left, right, bottom }),
    boxes.map((b) => svg("rect", { class: "target", x: b.from, width: b.to - b.from, y: top, height: bottom - top }, svg("title", {}, binTitle(b)))));
}

/** How much of a bin lies in the event, over both sides. */
const share = (b) => (b.firstIn + b.secondIn) / Math.max(1, b.first + b.second);

function region(b, top, bottom) {
  const s = share(b);
  if (!(s > 0)) return null;
  const place = { x: b.from, width: b.to - b.from, y: top, height: bottom - top, opacity: Math.max(0.25, Math.min(1, s)) };
  return [svg("rect", { class: "region", ...place }), svg("rect", { ...place, fill: "url(#event-hatch)" })];
}

/** The steps of one side: one line for the bins, one for either box beyond. */
function outline(boxes, side, y, bottom) {
  let d = "", end = NaN;
  for (const b of boxes) {
    if (b.beyond || b.from !== end) d += `${Number.isNaN(end) ? "" : `V${bottom}`}M${b.from} ${bottom}`;
    d += `V${y(b[side])}H${b.to}`;
    end = b.beyond ? -1 : b.to;
  }
  return `${d}V${bottom}`;
}

/** The word "event" over the widest run of bins that mostly lie in it. */
function eventLabel(boxes, top, left, right) {
  let best = null, run = null;
  for (const b of boxes) {
    if (share(b) <= 0.5) run = null;
    else if (run) run.to = b.to;
    else run = { from: b.from, to: b.to };
    if (run && (!best || run.to - run.from > best.to - best.from)) best = { ...run };
  }
  if (!best) return null;
  const at = Math.min(right - 20, Math.max(left + 70, (best.from + best.to) / 2));
  return [svg("line", { class: "bracket", x1: best.from, x2: best.to, y1: top - 3, y2: top - 3 }),
    svg("text", { class: "event-label", x: at, y: top - 9, "text-anchor": "middle" }, "event")];
}

function valueAxis({ x, x0, x1, lo, hi, below, above, left, right, bottom }) {
  const under = below ? `< ${short(lo)}` : "", beyond = above ? `≥ ${short(hi)}` : "";
  // No tick's words may run into those at the ends.
  const least = left + widthOf(`${under} `), most = right - widthOf(`${beyond} `);
  const scale = linear(lo, hi, x0, x1);
  return [
    strokes(scale.marks(Math.max(2, Math.floor((x1 - x0) / 90))), x, { bottom, right }, scale.words, (from, to) => (!below || from > least) && (!above || to < most)),
    below && svg("text", { class: "tick", x: left + 2, y: bottom + 17 }, under),
    above && svg("text", { class: "tick", x: right, y: bottom + 17, "text-anchor": "end" }, beyond)];
}
