// The doors of the page: one is open at a time, the address says which, and going
// from one to another is a step back and forward. Each keeps the address it had.
import { byId } from "./element.js";

/** @typedef {"explore" | "code" | "data" | "training" | "accounting" | "errors"} Door */

/** The links of the navigation, which are the doors; some others stand among them. */
const links = () => [.../** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("#doors a"))];
/** @returns {any} a door, or null */
const doorOf = (a) => new URLSearchParams(a.hash.slice(1)).get("door");

/** @type {Partial<Record<Door, string>>} */
const fragments = {};
const entering = /** @type {((door: Door, before: Door) => void)[]} */ ([]);
/** @type {Door} */
let now = "explore";
let at = ""; // the address that the page shows, none before it has read one

/** The page shows what the address says. */
export function arrived() { at = location.hash; }

/** Has the address changed, by a step back say, and the page not followed yet? */
export const moving = () => location.hash !== at;

/** Is there a door of this name? @param {string | null} name @returns {name is Door} */
export const isDoor = (name) => name !== null && links().some((a) => doorOf(a) === name);

/** The door that is open. */
export const door = () => now;

/** Calls f whenever another door opens. @param {(door: Door, before: Door) => void} f */
export function onEnter(f) { entering.push(f); }

/** Shows a door; the address is left as it is. @param {Door} name */
export function show(name) {
  const before = now;
  now = name;
  document.body.dataset.door = name;
  document.documentElement.classList.remove("elsewhere");
  for (const part of document.querySelectorAll("main [data-door]")) {
    /** @type {HTMLElement} */ (part).hidden = !/** @type {HTMLElement} */ (part).dataset.door.split(" ").includes(name);
  }
  for (const a of links()) a.ariaCurrent = doorOf(a) === name ? "page" : null;
  byId("menu-door").textContent = links().find((a) => a.ariaCurrent).textContent;
  fold(false);
  if (before !== name) for (const f of entering) f(name, before);
}

/** Goes to a door, as a step that can be taken back. @param {Door} name */
export function enter(name) {
  if (now !== name && location.hash) keep(location.hash); // to come back to
  if (now !== name) {
    history.pushState(null, "", fragments[name] ?? `#door=${name}`);
    arrived();
  }
  show(name);
}

/** The open door's address was written. */
export function keep(fragment) { fragments[now] = fragment; }

function fold(open) {
  document.body.classList.toggle("menu-open", open);
  byId("menu").setAttribute("aria-expanded", String(open));
}

/** Makes the links of the navigation doors. */
export function hangDoors() {
  for (const a of [...links(), /** @type {HTMLAnchorElement} */ (document.querySelector(".logo"))]) {
    const name = doorOf(a);
    if (name) a.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // for another tab
      event.preventDefault();
      enter(name);
    });
  }
  byId("menu").addEventListener("click", () => fold(byId("menu").getAttribute("aria-expanded") !== "true"));
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.body.classList.contains("menu-open")) {
      fold(false);
      byId("menu").focus();
      event.preventDefault();
    }
  });
}
