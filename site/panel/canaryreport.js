// A canary report as the page shows it. Words come from the core; reports are
// strangers' files, so every text goes in as text.
import { byId, html, scrolled, tableRows } from "../page/element.js";
import { grouped, short } from "../page/number.js";
import { Picture } from "../page/picture.js";
import { background, factsOf, showHead, showNothing } from "../page/result.js";
import { tablesOf } from "../page/tables.js";
import { inTurns } from "../page/turns.js";

const titles = { canary: "Canary audit", "one-run": "One-run audit", scores: "Audit of recorded scores" }; // by kind, or by mode
export const phases = { explore: "Choosing the threshold on exploration runs", certify: "Certifying on fresh runs", bet: "Training, with a look after each", "one-run": "One run, with canaries in it by coins", scores: "Reading and auditing the scores" };
/** Intervals with their letters, as a picture wants them. */
export const lettered = (intervals) => intervals.map((i, place) => ({ ...i, letter: String.fromCharCode(65 + place) }));

// At these runs and canaries, by Wilson of order 2, of order 1 with one canary: what
// the paper quotes at epsilon = 2, and what reference simulations gave on average at
// epsilon = 1, 2, 4 and 8, with thresholds between the 10 % and 90 % quantiles.
const PUBLISHED = { "1024,32": 0.67, "4096,64": 0.85 };
const SIMULATED = {
  "256,1": [-0.05, 0.1, 0.6, 1.66], "256,16": [0.06, 0.34, 0.93, 1.88], "1024,1": [0.08, 0.48, 1.14, 2.34], "1024,16": [0.25, 0.63, 1.43, 2.62],
  "1024,64": [0.28, 0.69, 1.44, 2.52], "4096,1": [0.26, 0.67, 1.54, 3.08], "4096,16": [0.38, 0.82, 1.68, 3.26],
};

/** What stands below the verdict: makes a part each. @param {import("../worker/protocol").ReportedValue} answer */
const partsOf = ({ facts, tables: all, ...answer }, intervals) => {
  const report = /** @type {import("../worker/protocol").CanaryReport} */ (answer.report); // of the other kinds, less of it
  const letters = report.kind === "canary" && report.plan.mode !== "one-run" ? report.tables[0]?.rows.map((row) => lettered(intervals).find(({ name }) => name === row.method)?.letter) : [];
  const tables = all.filter(({ name }) => name !== "membership"), scored = all.filter(({ name }) => name === "membership");
  return [
    () => tables.length > 0 && section("Lower bounds on epsilon", ...tablesOf(tables, letters), published(report)),
    () => scored.length > 0 && membership(answer.text, scored),
    () => report.in && report.out && section("Rates, moments and correlations", scrolled("Rates, moments and correlations", "data", moments(report))),
    () => counts(report),
    () => facts.length > 0 && section("Facts", factsOf(facts)),
    () => html("div", { class: "background" }, background(report)),
  ];
};

/**
 * Shows a report: the verdict at once, the rest in turns, the course of the bounds first,
 * where there is one.
 * @param {import("../worker/protocol").ReportedValue} answer
 * @param {{name: string}[]} intervals all that there are
 * @param {import("../page/result.js").Standing} [standing]
 * @returns {Promise<void>} when all of it is there
 */
export function showPlanted(answer, intervals, standing) {
  showNothing();
  showHead(answer, standing);
  const box = html("div", { class: "contents" }, html("h3", {}, [titles[answer.report.plan.mode] ?? titles[answer.report.kind], "source" in answer.report.plan && answer.report.plan.source].filter(Boolean).join(" of ")));
  byId("planted").hidden = false;
  byId("planted").replaceChildren(box);
  const { report, course } = answer;
  const chart = html("div", {}), plan = /** @type {import("../worker/protocol").CanaryPlan} */ (report.plan);
  let drawn;
  return inTurns(
    () => {
      if (!course.length) return;
      box.append(html("section", {}, html("h3", {}, "The bounds as the runs came"),
        html("p", { class: "hint" }, ["sequential", "until-refuted"].includes(plan.mode ?? "") ? "Each holds, whoever looks and whenever the run ends." : "Provisional: each as if the audit had been planned to end there. The runs come in the order in which workers are done."), chart));
      drawn = new Picture(chart, { of: "canaries", name: "bounds" }).show(JSON.stringify({ points: course, planned: plan.runs, claimed: plan.claim.epsilon, chosen: plan.interval, intervals: lettered(intervals) }));
    },
    ...partsOf(answer, intervals).map((part) => () => { box.append(part() || ""); })).then(() => drawn);
}

const section = (title, ...parts) => html("section", {}, html("h3", {}, title), parts);

/** Scores of canaries in and out, as trainers of models look at them. */
function membership(text, tables) {
  const places = ["roc", "scores"].map((view) => {
    const place = html("section", {});
    new Picture(place, { of: "membership", view, name: view, square: view === "roc" }).show(text);
    return place;
  });
  return section("Membership inference", html("div", { class: "curves" }, places), tablesOf(tables, [], ""));
}

const plain = (x) => (x === undefined ? "–" : x.toFixed(3).replace("-", "−"));

function moments(report) {
  const orders = [0, 1, 2, 3].filter((l) => report.in.moments?.length > l || report.out.moments?.length > l);
  const figure = (x) => (x === undefined ? "–" : short(Number(x.toPrecision(4))));
  const row = (name, s) => [name, grouped(s.canaries), ...orders.map((l) => figure(s.moments?.[l])), figure(s.correlation2), figure(s.correlation4)];
  return tableRows(["in the event", "canaries", ...orders.map((l) => (l ? `μ${"₁₂₃₄"[l]}` : "rate μ₁")), "|μ₂ − μ₁²|", "|μ₄ − μ₂²|"], [row("Inside", report.in), row("Fresh", report.out)]);
}

/** The known figure where the settings are the paper's. */
function published({ kind, plan, confidence }) {
  if (kind !== "canary") return null;
  const { parameters: p = {}, claim, relation, design, runs, k } = plan;
  const cell = `${runs},${k}`, quoted = claim.epsilon === 2 && PUBLISHED[cell];
  const value = quoted || (plan.quantile === 0.1 && SIMULATED[cell]?.[Math.log2(claim.epsilon)]);
  const same = value && plan.source === "gaussian-sum" && p.d === 1000 && p.calibration === "renyi" && p.noise === 1 && claim.delta === 1e-5 &&
    p.epsilon === claim.epsilon && p.delta === 1e-5 && relation === "add-remove" && design === "sphere" && Math.abs(confidence - 0.95) < 1e-9;
  return same && html("p", { class: "hint" }, `${quoted ? "The paper quotes" : "Reference simulations gave"} ${plain(value)} at these settings, by ${k > 1 ? "second" : "first"}-order Wilson, on average.`);
}

/** @param {import("../worker/protocol").CanaryReport} report */
function counts({ kind, evidence }) {
  const t = kind === "canary" && evidence?.runs?.certified.table;
  if (!t?.cells?.length) return null;
  const title = `All ${grouped(t.cells.reduce((n, c) => n + c.runs, 0))} ${evidence.sequential ? "trainings that were bet on" : "certification runs"} by canaries in the event`;
  return html("details", {}, html("summary", {}, title),
    scrolled(title, "data counts tall", tableRows([`inside, of ${t.k}`, `fresh, of ${t.m}`, "runs"], t.cells.map((c) => [String(c.x), String(c.y), grouped(c.runs)]))));
}
