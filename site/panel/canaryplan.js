// The plan of a canary audit, made of texts by the keys of the page's address.
import { CANARIES, CANARY_VERSIONS, ONE_RUN, SCORES } from "../page/keys.js";
import { NO_NUMBER } from "../page/field.js";
import { numberOf, put, Unusable } from "../page/plan.js";

export const CLAIM = { epsilon: "2", delta: "0.00001" }; // unless the user says otherwise; the core's own default of delta

/** The settings of each kind. @type {Record<"run" | "one" | "scores", import("../page/keys.js").Key[]>} */
export const KEYS = { run: CANARIES, one: ONE_RUN, scores: SCORES };

/** Settings that have other names in the page, which has one form for all kinds. */
const renamed = { one: { m: "one" }, scores: { relation: "scores-relation" } };

/** The name in the page of a setting of a kind. */
export const nameIn = (how, name) => renamed[how]?.[name] ?? name;

/**
 * The plan of a canary audit. Throws Unusable.
 * @param {"run" | "one" | "scores"} how in runs, in a single one, or of scores
 * @param {import("../worker/files").CanaryOffer["sources"][number]} source
 * @param {(key: string) => string} text by key of the page's address; "" where there is none
 * @param {boolean} file is there one of the user's?
 * @param {import("../worker/files").CanaryOffer["sources"][number]["designs"][number]} design that is meant where none is named
 */
export function canaryPlan(how, source, text, file, design) {
  // Of the settings of a file those count that say how it is read, or what is made of its vectors.
  /** @param {import("../page/keys.js").Key} key */
  const idle = ({ form, fields }) => form?.place === "file" && !(fields[0].startsWith("/csv/") ? source.examples && file : design.vectors);
  // Relation and guesses of one run are the defaults here, and its design is the one that is shown.
  const own = how !== "one" ? {} : { relation: "", sides: "", guesses: "", "gdp-guesses": "", design: design.name };
  const plan = /** @type {any} */ ({ version: CANARY_VERSIONS[how] });
  try {
    put(plan, KEYS[how].filter((key) => !idle(key)), (name) => {
      const words = own[name] ?? text(nameIn(how, name));
      if (words === NO_NUMBER) throw new Unusable(name, words, "a number");
      return words || (name === "epsilon" && how !== "scores" ? CLAIM.epsilon : name === "source" ? source.name : "");
    });
  } catch (error) {
    error.key = nameIn(how, error.key); // where the page shows it
    throw error;
  }
  // Of scores nobody knows what was claimed, nor what they mean.
  if (how === "scores" && !plan.claim?.epsilon) throw new Unusable("epsilon", "absent", "the epsilon that the model's training claims");
  if (how === "scores" && !plan.relation) throw new Unusable("scores-relation", "absent", "add-remove or replace, as the claim has it: scores do not tell", "what the claim calls neighbours");
  if (how === "scores") return plan;
  for (const spec of source.params) {
    const key = `p.${spec.name}`, value = spec.choices?.length ? text(key) : numberOf(key, text(key));
    if (value !== undefined && value !== "") (plan.parameters ??= {})[spec.name] = value;
  }
  return plan;
}
