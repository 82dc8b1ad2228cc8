// Keys of the page as a whole, and where the focus goes when the button that
// has it can no longer be pressed.
import { byId } from "./element.js";
import { typing } from "./files.js";

/** Listens for keys. Each action says whether there was anything to do. */
export function listenForKeys({ run, stop, tour, help }) {
  const actions = { r: run, escape: stop, t: tour, "?": help };
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const key = event.key?.toLowerCase(); // absent where the browser fills in a field
    if (event.repeat) {
      // Enter, held down on Run, would go on to press Stop, which has the focus then.
      if (key === "enter" && /** @type {HTMLElement} */ (event.target).closest?.("#run, #stop, #calibrate, #calibrate-stop, #canaries-run, #canaries-stop")) event.preventDefault();
      return;
    }
    // Letters belong to the control that has the focus: a select finds its options by them.
    if (!Object.hasOwn(actions, key) || (key !== "escape" && (typing(event) || /** @type {HTMLElement} */ (event.target).closest?.("select")))) return;
    if (actions[key]()) event.preventDefault();
  });
}

/** Disables and enables buttons. A focus that would be lost by it moves to the first of those ids that is enabled then. */
export function keepFocus(change, ids) {
  const had = document.activeElement;
  change();
  if (!had || !("disabled" in had) || !had.disabled || !ids.includes(had.id)) return;
  ids.map(byId).find((button) => button && !button.disabled)?.focus({ preventScroll: true });
}
