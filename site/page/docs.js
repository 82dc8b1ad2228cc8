// The search over docs: passages of search.json that have every word, best first.
import { beside, fetched, html } from "./element.js";

const MOST = 12;
const AROUND = 70; // characters of a passage before and after the word that was found

/** @typedef {{page: string, heading: string, link: string, text: string}} Passage */

/** How well a passage fits: titles before headings before text. 0: a word is missing. @param {Passage} passage @param {string[]} words */
function fit({ page, heading, text }, words) {
  let sum = 0;
  for (const word of words) {
    const times = (/** @type {string} */ text) => ` ${text.toLowerCase()}`.split(` ${word}`).length - 1;
    const fits = 20 * times(page) + 10 * times(heading) + Math.min(5, times(text));
    if (!fits) return 0;
    sum += fits;
  }
  return sum;
}

/** @param {string} text @param {string} word */
function snippet(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word)), from = Math.max(0, at - AROUND);
  const found = text.slice(at, at + word.length), to = at + AROUND;
  let before = text.slice(from, at), after = text.slice(at + word.length, to);
  if (from) before = before.slice(before.indexOf(" ") + 1);
  if (to < text.length) after = after.slice(0, after.lastIndexOf(" "));
  return [from ? "… " : "", before, found.toLowerCase() === word ? html("mark", {}, found) : found, after, to < text.length ? " …" : ""];
}

const field = /** @type {HTMLInputElement} */ (document.getElementById("search"));
const found = /** @type {HTMLElement} */ (document.getElementById("found"));
/** @type {Promise<Passage[]> | undefined} */
let passages;

async function search() {
  const asked = field.value, words = asked.toLowerCase().split(" ").filter((word) => word.length > 1);
  let shown = /** @type {HTMLElement} */ (html("p", {}, "No page has all of these words."));
  try {
    passages ??= fetched("search.json").then((answer) => answer.json());
    const best = (await passages).map((p) => ({ p, fits: fit(p, words) })).filter(({ fits }) => fits).sort((a, b) => b.fits - a.fits).slice(0, MOST);
    if (best.length) shown = html("ol", {}, best.map(({ p }) => html("li", {},
      html("a", { href: beside(p.link) }, p.heading ? `${p.page}: ${p.heading}` : p.page), html("p", { class: "hint" }, snippet(p.text, words[0])))));
  } catch (error) {
    passages = undefined;
    shown = html("p", {}, `The search cannot be loaded (${error.message}). Type again once you are connected.`);
  }
  if (field.value === asked) found.replaceChildren(...words.length ? [shown] : []); // else a later search has the answer
}

field.addEventListener("input", search);
/** @type {HTMLElement} */ (field.parentElement).hidden = false;
