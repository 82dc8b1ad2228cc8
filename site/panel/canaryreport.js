// A canary report as the page shows it. Words come from the core; reports are
// strangers' files, so every text goes in as text.
import { table } from "../page/certified.js";
import { html, tableRows } from "../page/element.js";
import { grouped, short } from "../page/number.js";
import { Picture } from "../page/picture.js";
import { background, remarks, verdict } from "../page/result.js";
import { inTurns } from "../page/turns.js";

export const titles = { "one-run": "One-run audit", scores: "Audit of recorded scores" };
export const phases = { explore: "Choosing the threshold on exploration runs", certify: "Certifying on fresh runs", "one-run": "One run, with canaries in it by coins", scores: "Reading and auditing the scores" };
/** The letter of an interval, by its place in the list of all. */
export const letterOf = (place) => String.fromCharCode(65 + place);
/** Intervals with their letters, as a picture wants them. */
export const lettered = (intervals) => intervals.map((i, place) => ({ ...i, letter: letterOf(place) }));
/** What a replay starts from; absent in a report of a run that was stopped too early. */
export const countsOf = ({ kind, evidence }) => (titles[kind] ? evidence : evidence?.certified?.table);

const heads = { interval: "interval", bound: "lower bound", largest: "at most possible", valid: "valid at every n", assumption: "assumes" };
const methodHeads = { method: "method", bound: "lower bound", largest: "at most possible", valid: "valid", assumption: "assumes" };
// At these runs and canaries, by Wilson of order 2, of order 1 with one canary: what
// the paper quotes at epsilon = 2, and what reference simulations gave on average at
// epsilon = 1, 2, 4 and 8, with thresholds between the 10 % and 90 % quantiles.
const PUBLISHED = { "1024,32": 0.67, "4096,64": 0.85 };
const SIMULATED = {
  "256,1": [-0.05, 0.1, 0.6, 1.66], "256,16": [0.06, 0.34, 0.93, 1.88], "1024,1": [0.08, 0.48, 1.14, 2.34], "1024,16": [0.25, 0.63, 1.43, 2.62],
  "1024,64": [0.28, 0.69, 1.44, 2.52], "4096,1": [0.26, 0.67, 1.54, 3.08], "4096,16": [0.38, 0.82, 1.68, 3.26],
};

/**
 * What stands above the chart: verdict and remarks.
 * @param {import("../worker/protocol").CanaryReported} answer
 * @param {import("../page/result.js").Standing} [standing]
 */
export const headOf = ({ report }, standing = "") => [verdict(html("div", { class: "verdict" }), report, standing), html("div", {}, remarks({ warnings: [...("notes" in report ? report.notes ?? [] : []), ...report.warnings] }))];

/**
 * What stands below it: makes a part each.
 * @param {import("../worker/protocol").CanaryReported} answer about several runs
 * @param {{name: string}[]} intervals all that there are, for their letters
 * @returns {(() => HTMLElement | false | undefined)[]}
 */
export function bodyOf({ facts, intervals: rows, ...answer }, intervals) {
  const report = /** @type {import("../worker/protocol").CanaryReport} */ (answer.report);
  const place = (i) => intervals.findIndex((x) => x.name === report.intervals[i]?.interval);
  return [
    () => rows.length > 0 && section("Lower bounds on epsilon",
      html("p", { class: "hint" }, "Each that is valid holds with the report's confidence, the others asymptotically; the largest of them does not, unless it was named before. What no outcome of so many runs can exceed stands beside it."),
      table("Lower bounds by interval", heads, rows.map((r, i) => ({ ...r, letter: letterOf(Math.max(0, place(i))), own: r.chosen })), (row, key) => {
        if (key === "interval") return [`${row.letter} `, row.chosen ? html("strong", {}, `${row.interval} (the audit's own)`) : row.interval];
        if (key === "valid") return row.valid === "yes" ? "yes" : "no, asymptotic";
        if (key === "bound" && row.exceeds) return html("span", {}, minus(row.bound), " ", html("span", { class: "exceeds" }, html("span", { "aria-hidden": "true" }, "▲ "), "exceeds the claim"));
        return key === "assumption" ? row[key] : minus(row[key]);
      }), published(report)),
    () => report.in && report.out && section("Rates, moments and correlations", scroll("Rates, moments and correlations", moments(report))),
    () => report.equation10 && section("What more canaries cost and bring (equation 10)", equation10(report)),
    () => html("section", {}, html("h3", {}, "What so many runs can show"),
      html("p", {}, `No outcome of ${grouped(report.plan.runs)} runs certifies more than epsilon ≥ ${down(report.power.largest)} by this interval, whatever the number of canaries: about log(n / 3). `,
        report.power.runsForClaim > 0 ? `From ${grouped(report.power.runsForClaim)} runs on some outcome refutes the claim. ` : "No number of runs that dpscope makes refutes the claim. ",
        "A one-run audit (the button One run: one training with many canaries, each of them in or out by an independent coin) is limited by its guesses instead; where many runs can be had it mostly certifies less.")),
    () => counts(report),
    ...endOf({ report, facts }),
  ];
}

/** What stands below the head of a report of one run or of scores: makes a part each. @param {import("../worker/protocol").CanaryReported} answer */
export const findingsBodyOf = ({ report, facts, methods }) => [
  () => methods.length > 0 && section("Lower bounds on epsilon",
    html("p", { class: "hint" }, "Each holds with the report's confidence, if what it assumes is so; the largest of them does not, unless it was named before."),
    table("Lower bounds by method", methodHeads, methods, (row, key) => {
      if (key === "method") return row.chosen ? html("strong", {}, `${row.method} (the audit's own)`) : row.method;
      if (key === "bound" && row.exceeds) return html("span", {}, minus(row.bound), " ", html("span", { class: "exceeds" }, html("span", { "aria-hidden": "true" }, "▲ "), "above the claim"));
      return key === "bound" || key === "largest" ? minus(row[key]) : row[key];
    })),
  ...endOf({ report, facts }),
];

const endOf = ({ report, facts }) => [
  () => facts.length > 0 && section("Facts", html("table", { class: "facts" }, tableRows(null, facts.map((f) => [f.name, f.value])))),
  () => html("div", { class: "background" }, background(report)),
];

/**
 * Fills a box in turns: with the course of the bounds, where there is one, and parts.
 * @param {HTMLElement} box
 * @param {import("../worker/protocol").CanaryReported} answer
 * @param {{name: string}[]} intervals all that there are
 * @param {(() => HTMLElement | false | undefined)[]} parts
 * @returns {Promise<void>} when all of it is there
 */
export function fillBody(box, { report, course }, intervals, parts) {
  const chart = html("div", {}), plan = /** @type {import("../worker/protocol").CanaryPlan} */ (report.plan);
  let drawn;
  return inTurns(
    () => {
      if (!course.length) return;
      box.append(html("section", {}, html("h3", {}, "The bounds as the runs came"),
        html("p", { class: "hint" }, "Provisional: each as if the audit had been planned to end there. The runs come in the order in which workers are done."), chart));
      drawn = new Picture(chart, { of: "canaries", name: "bounds" }).show(JSON.stringify({ points: course, planned: plan.runs, claimed: plan.claim.epsilon, chosen: plan.interval, intervals: lettered(intervals) }));
    },
    ...parts.map((part) => () => { box.append(part() || ""); })).then(() => drawn);
}

/** What the names of a report's files begin with. @param {import("../worker/protocol").CanaryReported["report"]} report */
export function canaryStem({ kind, plan }) {
  const { source, claim, runs, canaries, seed } = /** @type {Partial<import("../worker/protocol").CanaryPlan & import("../worker/protocol").OneRunPlan>} */ (plan);
  const name = titles[kind] ? kind : "canaries", count = runs ? `n${runs}` : canaries && `m${canaries}`;
  return ["dpscope", name, source, `eps${claim.epsilon}`, count, `seed${seed}`].filter(Boolean).join("-").replace(/[^\w.+-]+/g, "_");
}

const minus = (text) => (text === "-" ? "–" : text.replace(/^-/, "−"));
const section = (title, ...parts) => html("section", {}, html("h3", {}, title), parts);
const scroll = (title, ...parts) => html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, html("table", { class: "data" }, ...parts));
const down = (x) => (Math.floor(x * 1000 + 1e-6) / 1000).toFixed(3);
const signed = (x) => (x === undefined ? "–" : `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(3)}`);
const plain = (x) => (x === undefined ? "–" : x.toFixed(3).replace("-", "−"));

function moments(report) {
  const orders = [0, 1, 2, 3].filter((l) => report.in.moments?.length > l || report.out.moments?.length > l);
  const figure = (x) => (x === undefined ? "–" : short(Number(x.toPrecision(4))));
  const row = (name, s) => [name, grouped(s.canaries), ...orders.map((l) => figure(s.moments?.[l])), figure(s.correlation2), figure(s.correlation4)];
  return tableRows(["in the event", "canaries", ...orders.map((l) => (l ? `μ${"₁₂₃₄"[l]}` : "rate μ₁")), "|μ₂ − μ₁²|", "|μ₄ − μ₂²|"], [row("Inside", report.in), row("Fresh", report.out)]);
}

/** @param {import("../worker/protocol").CanaryReport} report */
function equation10({ equation10: e, plan }) {
  return [
    html("p", { class: "hint" }, "Differences of bounds by Wilson intervals; none is a bound. The single canary's is at a threshold of its own."),
    scroll("Equation 10", tableRows(["part", "epsilon"], [
      ["a single canary, ε(1, 1)", plain(e.single)],
      [`${grouped(plan.k)} canaries, first order, ε(K, 1)`, plain(e.first)],
      ["bias: ε(K, 1) − ε(1, 1)", signed(e.bias)],
      ["variance, second order: ε(K, 2) − ε(K, 1)", signed(e.variance2)],
      ["variance, fourth order: ε(K, 4) − ε(K, 1)", signed(e.variance4)],
    ]))];
}

/** The known figure where the settings are the paper's. */
function published({ plan, confidence }) {
  const { parameters: p = {}, claim, relation, design, runs, k } = plan;
  const cell = `${runs},${k}`, quoted = claim.epsilon === 2 && PUBLISHED[cell];
  const value = quoted || (plan.quantile === 0.1 && SIMULATED[cell]?.[Math.log2(claim.epsilon)]);
  const same = value && plan.source === "gaussian-sum" && p.d === 1000 && p.calibration === "renyi" && p.noise === 1 && claim.delta === 1e-5 &&
    p.epsilon === claim.epsilon && p.delta === 1e-5 && relation === "add-remove" && design === "sphere" && Math.abs(confidence - 0.95) < 1e-9;
  return same && html("p", { class: "hint" }, `${quoted ? "The paper quotes" : "Reference simulations gave"} ${plain(value)} at these settings, by ${k > 1 ? "second" : "first"}-order Wilson, on average.`);
}

/** @param {import("../worker/protocol").CanaryReport} report */
function counts({ evidence }) {
  const t = evidence?.certified?.table;
  if (!t?.cells?.length) return null;
  const title = `All ${grouped(t.cells.reduce((n, c) => n + c.runs, 0))} certification runs by canaries in the event`;
  return html("details", {}, html("summary", {}, title),
    html("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": title },
      html("table", { class: "data counts" }, tableRows([`inside, of ${t.k}`, `fresh, of ${t.m}`, "runs"], t.cells.map((c) => [String(c.x), String(c.y), grouped(c.runs)])))));
}
