// Bounds of a canary audit over the number of runs, as they come: one line an
// interval, told apart by letters at their ends, by weight and by dashes.
import { across, linear, roomFor, upright } from "../page/axis.js";
import { html, svg } from "../page/element.js";
import { grouped, short } from "../page/number.js";
import { asTable, files, legend, responsive } from "../page/picture.js";

const HEIGHT = 300;
const APART = 13; // px between two letters
const ENDS = [0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100]; // of the axis, so that it seldom jumps

/** The letter of an interval, by its place in the list of all. */
export const letterOf = (place) => String.fromCharCode(65 + place);

/**
 * @typedef {object} Course
 * @property {import("../worker/protocol").CoursePoint[]} points
 * @property {number} planned certification runs
 * @property {number} claimed
 * @property {string} chosen the audit's own interval
 * @property {{name: string, valid?: boolean}[]} intervals all that there are
 */

/**
 * A chart that is drawn anew as points come.
 * @param {HTMLElement} host
 * @returns {(course: Course) => void}
 */
export function canaryChart(host) {
  const key = html("div", {}), picture = html("div", { class: "picture" }), nothing = html("p", { class: "hint" }), numbers = html("div", {});
  let course, redraw;
  const axis = "certification runs; upright: lower bound on epsilon if the audit had been planned to end there";
  const saved = files(picture, { name: "bounds", title: "Bounds on epsilon over the number of runs", axis, head: ["runs", "interval", "epsilon"],
    rows: () => course.points.flatMap((p) => p.bounds.map((b) => [p.runs, b.interval, b.epsilon])) });
  host.replaceChildren(key, picture, html("p", { class: "axis-label" }, axis), saved, nothing, numbers);
  return (now) => {
    course = now;
    const line = (kind, x = 2) => svg("path", { class: kind, d: `M${x} 8H26` });
    key.replaceChildren(legend([
      [line("course own"), `${letterOf(placeOf(course, course.chosen))}, ${course.chosen}: the audit's own`],
      [line("course valid"), "others that hold at every number of runs"],
      [line("course loose"), "asymptotic only (dotted)"],
      [svg("path", { class: "claim-line", d: "M0 8H28" }), "claimed (dashed)"]]));
    if (redraw) redraw();
    else redraw = responsive(picture, (width) => draw(course, width));
    const none = course.intervals.filter(({ name }) => !(valueOf(course.points.at(-1), name) > 0)).map(({ name }) => `${letterOf(placeOf(course, name))} ${name}`);
    nothing.textContent = none.length ? `Nothing above 0: ${none.join(", ")}.` : "";
    const shown = course.intervals.filter(({ name }) => course.points.some((p) => valueOf(p, name) !== undefined));
    const open = numbers.querySelector("details")?.open;
    numbers.replaceChildren(asTable("The chart's numbers", ["runs", ...shown.map((i) => `${letterOf(placeOf(course, i.name))} ${i.name}`)],
      course.points.map((p) => [grouped(p.runs), ...shown.map((i) => { const v = valueOf(p, i.name); return v === undefined ? "–" : v.toFixed(3); })])));
    if (open) numbers.querySelector("details").open = true;
  };
}

const placeOf = (course, name) => course.intervals.findIndex((i) => i.name === name);
const valueOf = (point, name) => point.bounds.find((b) => b.interval === name)?.epsilon;

function draw(course, width) {
  const { points, planned, claimed, chosen, intervals } = course;
  const most = Math.max(claimed, ...points.flatMap((p) => p.bounds.map((b) => b.epsilon))) * 1.08;
  const end = ENDS.find((e) => e >= most) ?? most;
  const top = 8, bottom = HEIGHT - 26;
  const y = linear(0, end, bottom, top);
  const marks = y.marks(6), left = roomFor(marks.map(y.words)), right = width - 30;
  const x = linear(0, Math.max(1, planned), left, right);
  // The audit's own comes last and lies on top.
  const lines = intervals.map(({ name, valid }, place) => ({
    name, letter: letterOf(place), kind: name === chosen ? "own" : valid ? "valid" : "loose",
    at: points.map((p) => [p.runs, valueOf(p, name)]).filter(([, v]) => v !== undefined),
  })).filter((l) => l.at.length).sort((a, b) => (a.kind === "own") - (b.kind === "own"));
  // Those at 0 are named below the picture.
  const labels = lines.filter((l) => l.at.at(-1)[1] > 0).map((l) => ({ ...l, end: l.at.at(-1), y: y.at(l.at.at(-1)[1]) })).sort((a, b) => a.y - b.y);
  for (let i = 1; i < labels.length; i++) labels[i].y = Math.max(labels[i].y, labels[i - 1].y + APART);
  for (let i = labels.length - 1, floor = bottom; i >= 0; i--, floor -= APART) labels[i].y = Math.min(labels[i].y, floor);
  const last = Math.max(0, ...lines.map((l) => l.at.at(-1)[0]));
  const place = (runs, v) => `${x.at(runs).toFixed(1)} ${y.at(v).toFixed(1)}`;
  return svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": "Lower bounds on epsilon by each interval over the number of certification runs. The table below holds the same numbers." },
    across(marks, y.at, { left, right }, y.words),
    upright(x.marks(Math.max(2, Math.floor((right - left) / 80))), x.at, { top, bottom, right: width }, (v) => grouped(v)),
    svg("path", { class: "claim-line", d: `M${left} ${y.at(claimed).toFixed(1)}H${right}` }),
    lines.map((l) => svg("g", {},
      svg("path", { class: `course ${l.kind}`, d: `M${l.at.map(([n, v]) => place(n, v)).join("L")}` }, svg("title", {}, `${l.letter} ${l.name}: ${short(l.at.at(-1)[1])} after ${grouped(l.at.at(-1)[0])} runs`)),
      l.at.length === 1 && svg("circle", { class: `course-dot ${l.kind}`, cx: x.at(l.at[0][0]).toFixed(1), cy: y.at(l.at[0][1]).toFixed(1), r: 3 }))),
    labels.map((l) => [
      svg("path", { class: "leader", d: `M${place(...l.end)}L${(x.at(last) + 12).toFixed(1)} ${l.y.toFixed(1)}` }),
      svg("text", { class: `letter ${l.kind}`, x: (x.at(last) + 15).toFixed(1), y: (l.y + 4).toFixed(1) }, l.letter)]));
}
