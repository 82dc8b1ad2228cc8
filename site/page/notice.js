// Notices: what went wrong, what was found, what was expected, how to mend it.
import { byId, html, terms } from "./element.js";
import { copyFor } from "./files.js";
import { say } from "./progress.js";

const words = { error: "Error", warning: "Warning", info: "Note" };

/** @typedef {{label: string, run: () => void}} Action */
/**
 * Shows a notice; one with the same key is replaced. One with an
 * action stays until that is taken.
 * @param {{key: string, kind: "error"|"warning"|"info", title: string, text?: string | string[], list?: string[],
 *   error?: Error & {refusal?: import("../worker/protocol").Refusal}, action?: Action | Action[]}} notice
 */
export function notify({ key, kind, title, text, list, error, action }) {
  dismiss(key);
  const { field, found, want, remedy } = error?.refusal ?? {};
  const box = html("div", { class: `notice ${kind}`, role: kind === "info" ? "status" : "alert", "data-key": key },
    html("p", { class: "notice-title" }, html("span", { class: "tag" }, words[kind]), " ", title),
    [text ?? []].flat().map((paragraph) => html("p", {}, paragraph)),
    list && html("ul", {}, list.map((item) => html("li", {}, item))),
    field ? html("dl", { class: "pairs" }, terms([["Where", field], ["Found", found], ["Expected", want], ["To mend it", remedy]])) : error && html("p", {}, error.message),
    html("p", { class: "actions" },
      action
        ? [action].flat().map(({ label, run }, i) => html("button", { type: "button", class: i ? null : "primary", onclick: () => { box.remove(); run(); } }, label))
        : html("button", { type: "button", onclick: () => box.remove() }, "Dismiss")));
  byId("notice").append(box);
  box.scrollIntoView({ block: "nearest" });
}

/** Copies text for a button, or shows it. @param {HTMLElement} button */
export async function copyText(button, text) {
  if (await copyFor(button, text)) say("Copied");
  else notify({ key: "copy", kind: "info", title: "The browser does not allow copying; here it is", text });
}

export function dismiss(key) {
  for (const box of byId("notice").children) {
    if (/** @type {HTMLElement} */ (box).dataset.key === key) box.remove();
  }
}
