// Which of the cores some settings need.
import { FIRST, GOOGLE, LARGER } from "./engine.js";

/** @typedef {import("./protocol").FullCatalogue | null} Catalogue what all cores know; null: not known */

/**
 * What of some settings needs a core that one has not, or undefined.
 * @param {(name: string) => boolean} has
 * @param {Catalogue} list
 */
export function lacking(has, list, { mechanism, finder, learner }) {
  const lacks = (all, name) => {
    const x = name && all?.find((x) => x.name === name);
    return x && !has(x.library ? GOOGLE : x.larger ? LARGER : FIRST);
  };
  return lacks(list?.mechanisms, mechanism) ? mechanism : lacks(list?.finders, finder) ? finder : lacks(list?.learners, learner) ? learner : undefined;
}

/** The larger core that something needs. @param {Catalogue} list */
export const coreOf = (reason, list) => (list?.mechanisms.find((m) => m.name === reason)?.library ? GOOGLE : LARGER);
