// Elements, built without markup strings: reports are strangers' files.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false) element.append(child);
  }
  return element;
}

/**
 * An HTML element. `on...` attributes are listeners; absent children are skipped.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 */
export const html = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

/** An SVG element. Only attributes: the policy allows no style attribute. */
export const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** The element of the page with this id. @param {string} id */
export const byId = (id) => /** @type {import("../types/elements").PageElement} */ (document.getElementById(id));

/** Does something when a form is sent, which goes nowhere. @param {HTMLElement} form @param {() => void} f */
export const onSubmit = (form, f) => form.addEventListener("submit", (event) => {
  event.preventDefault();
  f();
});

// A cell of a column that is set right: a figure, or what stands for none.
const FIGURE = /^[≥≤<>~+−-]?\s?[\d.]|^[-−–]?$/u;

/** Head and body rows of a table; cells of the first column head their rows. */
export function tableRows(head, rows) {
  const out = [], right = (head ?? []).map((_, i) => i > 0 && rows.every((row) => FIGURE.test(row[i])) ? "number" : null);
  if (head) out.push(html("thead", {}, html("tr", {}, head.map((cell, i) => html("th", { scope: "col", class: right[i] }, cell)))));
  out.push(html("tbody", {}, rows.map((row) => html("tr", {}, row.map((cell, i) =>
    i ? html("td", { class: right[i] }, cell) : html("th", { scope: "row" }, cell))))));
  return out;
}

/** Names and values of a list; those without a value are left out. @param {[name: string, value: any][]} pairs */
export const terms = (pairs) => pairs.filter(([, value]) => value).map(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]);

/** A table that scrolls, with a name. @param {string} title @param {string} kind its classes */
export const scrolled = (title, kind, ...parts) => html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, html("table", { class: kind }, parts));

/** A file beside this script, wherever the site lies. */
export const beside = (name) => new URL(name, import.meta.url).href;

/** Such a file, fetched; also what the server says while it still builds it. Throws an Error in words for the user. */
export async function fetched(name) {
  const answer = await fetch(beside(name)).catch((error) => {
    throw new Error(`${name} could not be fetched (${error.message}). ${navigator.onLine ? "Is the server still there?" : "You are offline, and it is not stored here."}`);
  });
  if (!answer.ok && !answer.headers.has("dpscope-building")) throw new Error(`${name} could not be fetched: the server answered ${answer.status}. It belongs beside page.js.`);
  return answer;
}
