// The plan of a canary audit, made of texts by the keys of the page's address.
import { DEFAULT_SEED, Unusable } from "../page/plan.js";

export const CLAIM = { epsilon: 2, delta: 1e-5 }; // unless the user says otherwise; the core's own default of delta
export const NO_NUMBER = "not a number"; // the text of a field of numbers that holds something else

/** Texts of an address in today's words: the relation was "form" once, and replace "replace-one". @param {Record<string, string>} texts */
export function inTodaysWords({ form, ...texts }) {
  return form && !texts.relation ? { ...texts, relation: form === "replace-one" ? "replace" : form } : texts;
}

/**
 * The plan of a canary audit. Throws Unusable.
 * @param {"run" | "one" | "scores"} how in runs, in a single one, or of scores
 * @param {import("../worker/protocol").CanaryOffer["sources"][number]} source
 * @param {(key: string) => string} text by key of the page's address; "" where there is none
 * @param {boolean} file is there one of the user's?
 * @param {import("../worker/protocol").CanaryOffer["sources"][number]["designs"][number]} design that is meant where none is named
 */
export function canaryPlan(how, source, text, file, design) {
  const one = how === "one";
  const number = (key) => {
    const words = text(key);
    if (words === "") return undefined;
    if (!Number.isFinite(Number(words))) throw new Unusable(key, words === NO_NUMBER ? words : `"${words}"`, "a number");
    return Number(words);
  };
  // In a plan zero means the default; who typed it meant it.
  const whole = (key, least) => {
    const value = number(key);
    if (value !== undefined && (!Number.isSafeInteger(value) || value < least)) throw new Unusable(key, text(key), `a whole number, at least ${least}`);
    return value;
  };
  const epsilon = number("epsilon") ?? CLAIM.epsilon, delta = number("delta"); // the core says of a claim without delta that it has the default
  if (!(epsilon > 0)) throw new Unusable("epsilon", text("epsilon"), "a finite number above 0");
  if (delta !== undefined && !(delta >= 0 && delta < 1)) throw new Unusable("delta", text("delta"), "in [0, 1)");
  const plan = { version: 1, claim: { epsilon, delta }, seed: whole("seed", 0) ?? Number(DEFAULT_SEED) };
  plan.beta = number("beta");
  if (plan.beta === 0) throw new Unusable("beta", "0", "in [1e-9, 0.5]");
  if (how === "scores") {
    const relation = text("scores-relation");
    if (!relation) throw new Unusable("scores-relation", "not chosen", "add-remove or replace: what the claim calls neighbours, which scores do not tell");
    return { ...plan, relation, method: text("method") || undefined };
  }
  plan.source = source.name;
  if (one) {
    plan.canaries = whole("one", 1);
    plan.design = design.name; // the one that is shown
  } else {
    plan.runs = whole("n", 1);
    plan.k = whole("k", 1);
    plan.m = whole("m", 1);
    plan.explore = whole("explore", 1);
    plan.quantile = number("quantile");
    for (const key of ["relation", "design", "interval"]) plan[key] = text(key) || undefined;
    if (text("single")) plan.single = text("single") === "true";
  }
  for (const spec of source.params) {
    const value = spec.choices?.length ? text(`p.${spec.name}`) : number(`p.${spec.name}`);
    if (value !== undefined && value !== "") (plan.parameters ??= {})[spec.name] = value;
  }
  if (design.vectors && !one) plan.pool = { tail: whole("tail", 1), scale: text("scale") || undefined, distinct: text("distinct") === "true" || undefined };
  if (source.examples && file) {
    const bounds = text("bounds"), parts = bounds.split(",").map(Number);
    if (bounds && (parts.length !== 2 || parts.some((x) => !Number.isFinite(x)))) throw new Unusable("bounds", `"${bounds}"`, "two numbers with a comma between, for example 0,255");
    const csv = { label: text("label") || undefined, scaling: text("scaling") || undefined, lower: bounds ? parts[0] : undefined, upper: bounds ? parts[1] : undefined };
    if (Object.values(csv).some((x) => x !== undefined)) plan.csv = csv;
  }
  return plan;
}
