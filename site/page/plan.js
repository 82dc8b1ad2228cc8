// Settings and plans. Settings are the texts of the form and of the address
// under the same keys: mechanism, epsilon, ..., and p.<name> for a parameter.
// An empty or absent text means the default, which the core knows. Which settings
// there are, and what their texts may be, keys.js says, which Go writes.
import { AUDIT } from "./keys.js";

/** @typedef {Record<string, string>} Settings */
/** @typedef {import("./keys.js").Key} Key */

export const DEFAULT_SEED = AUDIT.find((key) => key.name === "seed").preset;
export const DEFAULT_ALPHA = "2"; // of a Rényi claim

/** Does a guarantee use a setting? The texts of others are left out of the plan. Without a name it is pure or approximate, as delta says. @param {Key} key */
export const usedBy = (guarantee, key) => !key.claims || key.claims.includes(guarantee);

/** A refusal of what the user gave that the core never saw. @returns {import("../worker/protocol").Refusal} */
export const refusalOf = (field, found, want, remedy = "", message = "", path = "") => ({ message, field, path, line: 0, fault: message, found, want, remedy });

/** A setting that cannot even be put into a plan; worded like the core's own refusals. */
export class Unusable extends Error {
  constructor(key, found, want, field = key.startsWith("p.") ? `parameter ${key.slice(2)}` : key) {
    super(found === "absent" ? `${field} is missing: give ${want}` : `${field} is ${found}, must be ${want}`);
    this.refusal = refusalOf(field, found, want, "", this.message, key);
    this.key = key;
  }
}

/** A number, or undefined for no text. */
export function numberOf(key, text) {
  if (text === "") return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Unusable(key, `"${text}"`, "a number");
  return value;
}

/** @param {number} x @param {import("../worker/files").DescribedRange} range */
const inRange = (x, { min = -Infinity, max = Infinity, above, below }) => x >= min && x <= max && !(above && x === min) && !(below && x === max);
const either = (text) => ({ true: true, false: false })[text];
const parts = (text) => text.split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));

/** Reads the text of a setting, by its type; undefined where it cannot be read. @type {Record<string, (text: string) => any>} */
const readers = {
  number: (text) => (Number.isFinite(Number(text)) ? Number(text) : undefined),
  whole: (text) => (Number.isInteger(Number(text)) ? Number(text) : undefined),
  word: (text) => text,
  text: (text) => text,
  switch: either,
  either,
  wholes: (text) => (parts(text).every((n) => Number.isInteger(n) && n > 0) ? parts(text) : undefined),
  list: (text) => (parts(text).every(Number.isFinite) ? parts(text) : undefined),
  limits: (text) => (parts(text).length === 2 && parts(text).every(Number.isFinite) ? parts(text) : undefined),
};
const wanted = { switch: "true or false", either: "true or false", wholes: "whole numbers above 0 with commas between", list: "numbers with commas between, such as 2,4,8", limits: "two numbers with a comma between, for example 0,255" };

/** @param {Key} key */
function valueOf(key, text) {
  if (key.type === "json") {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new Unusable(key.name, "not JSON", `JSON (${error.message})`);
    }
  }
  const value = readers[key.type](text);
  if (value === undefined) throw new Unusable(key.name, `"${text}"`, key.want ?? wanted[key.type]);
  if (key.range && !inRange(value, key.range)) throw new Unusable(key.name, text, key.want);
  return value;
}

/**
 * Puts the texts of settings where they stand in a plan. In a plan zero means the
 * default, but a user who typed it meant it, so zeros out of range are refused.
 * Throws Unusable.
 * @param {object} plan
 * @param {Key[]} keys
 * @param {(name: string) => string} text "" where there is none
 */
export function put(plan, keys, text) {
  for (const key of keys) {
    const given = key.type === "params" ? "" : text(key.name) || key.preset || "";
    if (given === "") continue;
    let value = valueOf(key, given);
    if (key.word) { // a switch for a word: off, it says nothing
      if (!value) continue;
      value = key.word;
      const now = key.fields[0].slice(1).split("/").reduce((at, name) => at?.[name], plan);
      if (now && now !== value) throw new Unusable(key.name, "true", `absent beside ${now}`);
    }
    key.fields.forEach((field, i) => {
      const path = field.slice(1).split("/"), last = path.pop();
      path.reduce((at, name) => (at[name] ??= {}), plan)[last] = key.fields.length > 1 ? value[i] : value;
    });
  }
  return plan;
}

/**
 * The plan that settings ask for. Throws Unusable.
 * @param {Settings} settings
 * @param {import("../worker/protocol").MechanismListing & { samples?: number, own?: true }} [mechanism] absent where the name is unknown
 * @returns {import("../worker/protocol").Plan}
 */
export function planOf(settings, mechanism) {
  const kind = /** @type {import("../worker/protocol").ClaimKind} */ ((settings.guarantee ?? "").trim());
  const known = AUDIT.some((key) => key.claims?.includes(kind)); // else the core says what is wrong with it
  const text = (name) => (settings[name] ?? "").trim();
  const plan = put({ version: 1, mechanism: "" }, AUDIT.filter((key) => !known || usedBy(kind, key)), text);
  const parameters = parametersOf(settings, mechanism);
  if (parameters) plan.parameters = parameters;
  const { claim } = plan;
  if (kind === "renyi") claim.alpha ??= Number(DEFAULT_ALPHA);
  if (kind && claim.delta === 0) throw new Unusable("delta", "0", "a finite number above 0");
  if (claim?.delta === 0 && mechanism?.claim.delta) plan.claim = { kind: "pure", epsilon: claim.epsilon };
  if (mechanism?.own && !claim?.epsilon && !claim?.rho && !claim?.mu) {
    throw new Unusable({ zcdp: "rho", "gaussian-dp": "mu" }[kind] ?? "epsilon", "absent", "what the mechanism of these samples claims");
  }
  plan.samples ??= mechanism?.samples;
  return plan;
}

function parametersOf(settings, mechanism) {
  const parameters = {};
  for (const [key, value] of Object.entries(settings)) {
    if (!key.startsWith("p.") || value.trim() === "") continue;
    const name = key.slice(2);
    const spec = mechanism?.params.find((p) => p.name === name);
    const word = spec ? Boolean(spec.choices?.length) : !Number.isFinite(Number(value));
    parameters[name] = word ? value.trim() : numberOf(key, value.trim());
  }
  return Object.keys(parameters).length ? parameters : undefined;
}

/**
 * The name of the setting that a refusal is about, or undefined.
 * @param {import("../worker/protocol").Refusal} refusal
 * @param {Key[]} keys
 */
export function keyOf({ path }, keys = AUDIT) {
  if (!path) return undefined; // not about what the user gave
  if (path.startsWith("p.")) return path;
  if (path.startsWith("/parameters/")) return `p.${path.split("/")[2]}`;
  const at = path.startsWith("/") ? path : `/${path}`;
  const within = (field) => at === field || at.startsWith(`${field}/`) || field.startsWith(`${at}/`);
  return keys.find((key) => key.name === path || key.fields.some(within))?.name;
}
