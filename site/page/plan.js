// Settings: the texts of the form and of the address under the same keys, mechanism,
// epsilon, ..., and p.<name> for a parameter. An empty or absent text means the default.
// The core reads them; which there are, keys.js says, which Go writes.
import { Refused } from "./engine.js";
import { AUDIT } from "./keys.js";

/** @typedef {Record<string, string>} Settings */
/** @typedef {import("./keys.js").Key} Key */

export const DEFAULT_SEED = AUDIT.find((key) => key.name === "seed").preset;
export const DEFAULT_ALPHA = "2"; // of a Rényi claim

/** Does a guarantee use a setting? Without a name it is pure or approximate, as delta says. @param {Key} key */
export const usedBy = (guarantee, key) => !key.claims || key.claims.includes(guarantee);

/** A refusal of what the user gave that the core never saw. @returns {import("../worker/protocol").Refusal} */
export const refusalOf = (field, found, want, remedy = "", message = "", path = "") => ({ message, field, path, line: 0, fault: message, found, want, remedy });

/** A setting that the core need not see to refuse it; worded like the core's own refusals. */
export class Unusable extends Refused {
  constructor(key, found, want) {
    super(refusalOf(key, found, want, "", found === "absent" ? `${key} is missing: give ${want}` : `${key} is ${found}, must be ${want}`, key));
    this.key = key;
  }
}

/**
 * The settings that the core gets: without those that the guarantee does not use. Throws Unusable.
 * @param {Settings} settings
 * @param {{own?: true, samples?: number}} [mechanism] absent where the name is unknown; samples: of an audit that does not say
 */
export function asked({ workers, ...settings }, mechanism) {
  const { guarantee = "", epsilon, rho, mu } = settings, known = AUDIT.some((key) => key.claims?.includes(/** @type {any} */ (guarantee))); // else the core says what is wrong with it
  if (mechanism?.own && !epsilon && !rho && !mu) throw new Unusable({ zcdp: "rho", "gaussian-dp": "mu" }[guarantee] ?? "epsilon", "absent", "what the mechanism of these samples claims");
  if (mechanism?.samples) settings.samples ||= String(mechanism.samples);
  if (guarantee === "renyi") settings.alpha ||= DEFAULT_ALPHA;
  for (const key of AUDIT) if (known && !usedBy(guarantee, key)) delete settings[key.name];
  return settings;
}

/** The name of the setting that a refusal is about, or undefined. @param {import("../worker/protocol").Refusal} refusal */
export function keyOf({ path }, keys = AUDIT) {
  if (!path) return undefined; // not about what the user gave
  if (path.startsWith("p.")) return path;
  if (path.startsWith("/parameters/")) return `p.${path.split("/")[2]}`;
  const at = path.startsWith("/") ? path : `/${path}`;
  const within = (field) => at === field || at.startsWith(`${field}/`) || field.startsWith(`${at}/`);
  return keys.find((key) => key.name === path || key.fields.some(within))?.name;
}
