// Settings and plans. Settings are the texts of the form and of the address
// under the same keys: mechanism, epsilon, ..., and p.<name> for a parameter.
// An empty or absent text means the default, which the core knows.

/** @typedef {Record<string, string>} Settings */

export const PLAN_KEYS = ["mechanism", "guarantee", "epsilon", "delta", "alpha", "rho", "mu", "relation", "pair", "finder", "learner", "samples", "explore", "trials", "beta", "seed", "anytime", "through-renyi"];
/**
 * The guarantees, and the settings that each uses; those of the others are
 * left out of the plan. Without a name it is pure or approximate, as delta says.
 */
export const GUARANTEES = {
  "": ["epsilon", "delta", "through-renyi"], pure: ["epsilon", "through-renyi"], approximate: ["epsilon", "delta"],
  renyi: ["alpha", "epsilon"], zcdp: ["rho"], "gaussian-dp": ["mu"],
};
/** Settings that only some guarantees use. */
export const OF_GUARANTEES = [...new Set(Object.values(GUARANTEES).flat())];
export const DEFAULT_SEED = "42";
export const DEFAULT_ALPHA = "2"; // of a Rényi claim
/** Of a pair as text. No example: what a mechanism takes differs. */
export const PAIR_SHAPE = '{"first": {"columns": …, "values": […]}, "second": {…}}';
const MAX_SAMPLES = 1e9; // until the core has said

/** A setting that cannot even be put into a plan; worded like the core's own refusals. */
export class Unusable extends Error {
  constructor(key, found, want) {
    const field = key.startsWith("p.") ? `parameter ${key.slice(2)}` : key;
    super(`${field} is ${found}, must be ${want}`);
    this.refusal = { message: this.message, field, found, want, remedy: "" };
    this.key = key;
  }
}

/**
 * The plan that settings ask for. In a plan zero means the default, but a user
 * who typed it meant it, so zeros out of range are refused here.
 * @param {Settings} settings
 * @param {import("../worker/protocol").MechanismListing & { samples?: number } | undefined} mechanism absent where the name is unknown
 * @param {import("../worker/protocol").FullCatalogue["limits"] | undefined} limits
 * @returns {import("../worker/protocol").Plan}
 */
export function planOf(settings, mechanism, limits) {
  const kind = (settings.guarantee ?? "").trim();
  const used = GUARANTEES[kind] ?? OF_GUARANTEES;
  const text = (key) => (OF_GUARANTEES.includes(key) && !used.includes(key) ? "" : settings[key] ?? "").trim();
  const number = (key) => {
    if (text(key) === "") return undefined;
    const value = Number(text(key));
    if (!Number.isFinite(value)) throw new Unusable(key, `"${text(key)}"`, "a number");
    return value;
  };
  const whole = (key, least, most) => {
    const value = number(key);
    if (value === undefined) return undefined;
    if (!Number.isInteger(value)) throw new Unusable(key, text(key), `a whole number in [${least}, ${most}]`);
    if (value < least || value > most) throw new Unusable(key, text(key), `in [${least}, ${most}]`);
    return value;
  };

  const plan = { version: 1, mechanism: text("mechanism"), seed: whole("seed", 0, limits?.maxSeed ?? Number.MAX_SAFE_INTEGER) ?? Number(DEFAULT_SEED) };
  const parameters = parametersOf(settings, mechanism, number);
  if (parameters) plan.parameters = parameters;
  const claim = claimOf(kind, number, mechanism);
  if (claim) plan.claim = claim;
  if (mechanism?.own && !claim?.epsilon && !claim?.rho && !claim?.mu) {
    throw new Unusable(used.find((key) => ["epsilon", "rho", "mu"].includes(key)), "absent", "what the mechanism of these samples claims: nobody but you knows");
  }
  plan.throughRenyi = number("through-renyi");
  if (plan.throughRenyi === 0) throw new Unusable("through-renyi", "0", "a finite number above 1");
  if (text("anytime") && text("anytime") !== "true") throw new Unusable("anytime", `"${text("anytime")}"`, "true or absent");
  if (text("anytime")) plan.anytime = true;
  for (const key of ["relation", "finder", "learner"]) {
    if (text(key)) plan[key] = text(key);
  }
  if (text("pair")) {
    try {
      plan.pair = JSON.parse(text("pair"));
    } catch (error) {
      throw new Unusable("pair", "not JSON", `like ${PAIR_SHAPE} (${error.message})`);
    }
  }
  plan.samples = whole("samples", limits?.minSamples ?? 100, limits?.maxSamples ?? MAX_SAMPLES) ?? mechanism?.samples;
  plan.explore = whole("explore", 0, limits?.maxSamples ?? MAX_SAMPLES);
  plan.trials = whole("trials", 1, limits?.maxTrials ?? 1e5);
  plan.beta = number("beta");
  if (plan.beta === 0) throw new Unusable("beta", "0", "in [1e-9, 0.5]");
  return plan;
}

function parametersOf(settings, mechanism, number) {
  const parameters = {};
  for (const [key, value] of Object.entries(settings)) {
    if (!key.startsWith("p.") || value.trim() === "") continue;
    const name = key.slice(2);
    const spec = mechanism?.params.find((p) => p.name === name);
    const word = spec ? Boolean(spec.choices?.length) : !Number.isFinite(Number(value));
    parameters[name] = word ? value.trim() : number(key);
  }
  return Object.keys(parameters).length ? parameters : undefined;
}

function claimOf(kind, number, mechanism) {
  const claim = kind ? { kind } : {};
  for (const key of ["alpha", "epsilon", "delta", "rho", "mu"]) {
    claim[key] = number(key);
    if (claim[key] === 0 && (key !== "delta" || kind)) throw new Unusable(key, "0", `a finite number above ${key === "alpha" ? 1 : 0}`);
  }
  if (kind === "renyi") claim.alpha ??= Number(DEFAULT_ALPHA);
  if (claim.delta === 0 && mechanism?.claim.delta) return { kind: "pure", epsilon: claim.epsilon };
  return Object.values(claim).some((value) => value !== undefined) ? claim : undefined;
}

/**
 * The key of the setting that a refusal is about, or undefined.
 * @param {import("../worker/protocol").Refusal} refusal
 */
export function keyOf(refusal) {
  let field = refusal.field.replace(/^plan: field /, "").replace(/^"(.*)"$/, "$1");
  if (field === "parameter") return `p.${refusal.found.replace(/^"|"$/g, "")}`;
  if (field.startsWith("parameter ")) return `p.${field.slice(10)}`;
  if (field.startsWith("parameters.")) return `p.${field.slice(11)}`;
  // Without "parameter" before them these are the claim's.
  field = field.replace(/^claim\.(epsilon|delta|alpha|rho|mu).*/, "$1").replace(/^claim.*/, "guarantee").replace("throughRenyi", "through-renyi");
  return PLAN_KEYS.find((key) => field === key || (field.startsWith(key) && /[^a-z]/.test(field[key.length])));
}
