// The state in the page's address: #v=1&mechanism=svt4&epsilon=1&seed=42. What
// is written comes from the core; here it is read.
import { PLAN_KEYS } from "./plan.js";

const VERSION = 1;

/**
 * Settings of a fragment; keys that nobody knows are ignored.
 * @param {string} fragment with or without its #
 * @returns {{settings: import("./plan.js").Settings, newer: string}} newer: the version, where it is one to come
 */
export function readFragment(fragment) {
  const settings = {};
  let newer = "";
  for (const [key, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
    if (key === "v") newer = Number(value) > VERSION ? value : "";
    else if (PLAN_KEYS.includes(key) || key === "workers" || (key.startsWith("p.") && key.length > 2)) settings[key] = value;
  }
  return { settings, newer };
}

/** Puts the state into the address without a step in the history, and without a hashchange. */
export function writeFragment(fragment) {
  if (location.hash !== fragment) history.replaceState(null, "", fragment);
}

/** The address of this page at a state. */
export const linkTo = (fragment) => location.href.replace(/#.*$/, "") + fragment;
