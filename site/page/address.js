// The state in the page's address: #v=1&mechanism=svt4&epsilon=1&seed=42, and
// &account=gaussian&a.sigma=2 of the account that is shown; with &view=canaries
// the settings are those of a canary audit. What is written of an audit comes from
// the core; here it is read.
import { Ended } from "./engine.js";
import { arrived, isDoor, keep, moving } from "./doors.js";
import { AUDIT, AUDIT_NAMES } from "./keys.js";
import { keyOf } from "./plan.js";

const VERSION = 1;
/** The key of a packed result. */
export const RESULT = "r";
/** The key of packed code. */
export const CODE = "code";
/** The key of a report that the server of this page keeps, by its id. */
const REPORT = "report";

/**
 * Settings of a fragment, with or without its #; keys that nobody knows are ignored.
 * result, code: what was packed of the sender's, or nothing; report: an id; settings: null where there are none; canaries: texts of that panel, where the fragment is about it; odd: what is wrong with the version, in words
 */
export function readFragment(fragment) {
  /** @type {Record<string, string>} */
  const settings = {}, texts = /** @type {Record<string, string>} */ ({});
  const pairs = new URLSearchParams(fragment.replace(/^#/, "")), all = Object.fromEntries(pairs);
  const canaries = ["canaries", "one-run"].includes(pairs.get("view")) ? all : null;
  const { account: kind = "", [RESULT]: result = "", [CODE]: code = "", [REPORT]: report = "" } = canaries ? {} : all;
  const odd = "v" in all ? oddVersion(all.v) : "";
  for (const [key, value] of canaries ? [] : pairs) {
    if (key.startsWith("a.")) texts[key.slice(2)] = value;
    else if (AUDIT_NAMES.includes(key) || key === "workers" || (key.startsWith("p.") && key.length > 2)) settings[key] = value;
  }
  // As on the command line, these say which guarantee is meant.
  const meant = AUDIT.find((key) => key.claims?.length === 1 && settings[key.name]);
  if (meant && !settings.guarantee) settings.guarantee = meant.claims[0];
  const named = pairs.get("door"), other = code ? "code" : canaries ? "training" : kind ? "accounting" : "explore";
  const none = Object.keys(settings).length === 0 && (isDoor(named) || canaries !== null || kind !== "" || code !== "" || report !== "");
  return { door: isDoor(named) ? named : other, settings: none ? null : settings, account: kind ? { kind, texts } : null, canaries, result, code, report, odd };
}

/** What is wrong with a version. There has been one: what changes the meaning of a key raises it, and brings older addresses to it here. */
function oddVersion(value) {
  if (!/^[1-9]\d*$/.test(value)) return `The version in the address is "${value}", must be a whole number from 1; it is read as version ${VERSION}.`;
  return Number(value) > VERSION ? `The address has version ${value}, newer than version ${VERSION} of this page; only settings known here are used.` : "";
}

/** The key of the setting that an error is about, or undefined. */
export const faultOf = (error) => error.key ?? (error.refusal && keyOf(error.refusal));

/**
 * Leaves out of settings, which it changes, what an attempt with them refuses, until it does not.
 * It comes to what came of them, and what was bad, in words.
 */
export async function usable(settings, attempt) {
  const bad = [];
  for (let tries = Object.keys(settings).length + 1; tries >= 0; tries--) {
    try {
      return { value: await attempt(), bad };
    } catch (error) {
      if (error instanceof Ended) throw error;
      const key = faultOf(error);
      const known = key !== undefined && settings[key] !== undefined;
      bad.push(`${error.message}. ${known ? "The default is used." : "All settings have their defaults."}`);
      for (const k of known ? [key] : Object.keys(settings)) delete settings[k];
    }
  }
  return { bad };
}

/** Puts the state into the address without a step in the history, and without a hashchange. */
export function writeFragment(fragment) {
  if (moving()) return; // another entry of the history is on its way here
  if (location.hash !== fragment) history.replaceState(null, "", fragment);
  arrived();
  keep(fragment);
}

/** The address of this page at a state. */
export const linkTo = (fragment) => location.href.replace(/#.*$/, "") + fragment;
