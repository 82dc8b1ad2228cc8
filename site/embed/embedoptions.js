// What an embed is told beside the settings of its audit: how much of it is
// shown, and what it does by itself. The keys are those of its address and of
// the element's attributes.
import { AUDIT_NAMES, CANARY_NAMES } from "../page/keys.js";

/** Options of a few values; the first is the default. */
export const CHOICES = {
  controls: ["basic", "none", "full"],
  view: ["chart", "verdict", "all", "canaries"],
  theme: ["auto", "light", "dark"],
};
/** Options that are on or off. */
export const FLAGS = ["autorun", "readonly"];

/** Colours of the page around, each with the properties of the styles that take it. */
export const COLOURS = { accent: ["--accent", "--link"], "accent-text": ["--accent-text"], background: ["--page", "--panel"], text: ["--text"], muted: ["--muted"], line: ["--line"] };

/** Names of all settings but parameters. */
export const SETTINGS = [...new Set([...AUDIT_NAMES, ...CANARY_NAMES, "workers"])];

const isParameter = (key) => key.startsWith("p.") && key.length > 2;

/** Is a key one of a canary audit's settings? */
export const isCanarySetting = (key) => CANARY_NAMES.includes(key) || key === "workers" || isParameter(key);

/** Is a key one of an audit's settings? */
export const isSetting = (key) => SETTINGS.includes(key) || isParameter(key);

/** Options of texts by key, and what is bad of them, in words; others are left alone. @param {Record<string, string | undefined>} texts */
export function optionsOf(texts) {
  const options = /** @type {any} */ ({}), bad = [];
  for (const [key, [first, ...others]] of Object.entries(CHOICES)) {
    const text = texts[key] || first;
    const known = text === first || others.includes(text);
    options[key] = known ? text : first;
    if (!known) bad.push(`${key} is "${text}", must be ${first}, ${others.join(" or ")}. ${first} is used.`);
  }
  for (const key of FLAGS) options[key] = key in texts && !["false", "0"].includes(texts[key]);
  return { options, bad };
}

/** The fragment of an address, of texts by key; empty ones are left out. */
export const fragmentOf = (texts) => `#v=1${Object.entries(texts).filter(([, text]) => text !== "").map(([key, text]) => `&${encodeURIComponent(key)}=${encodeURIComponent(text)}`).join("")}`;

/** Does something once an element is seen. @param {Element} element @param {() => void} f */
export function onceSeen(element, f) {
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    f();
  });
  seen.observe(element);
  return seen;
}
