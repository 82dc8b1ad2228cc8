// One labelled control of the form, with its hint and its error.
import { html } from "./element.js";

/** @typedef {import("../types/elements").PageElement} Control */
/**
 * @typedef {object} Field
 * @property {HTMLElement} box
 * @property {Control} control
 * @property {(message: string) => void} fail shows an error, or none for ""
 * @property {(text: string) => void} hint
 */

/**
 * @param {{id: string, key: string, label: string, hint?: string, wide?: boolean}} about
 * @param {HTMLElement} element its control
 * @returns {Field}
 */
export function field({ id, key, label, hint = "", wide = false }, element) {
  const control = /** @type {Control} */ (element);
  const said = html("span", { id: `${id}-hint`, class: "hint", hidden: !hint }, hint);
  const error = html("span", { id: `${id}-error`, class: "field-error", hidden: true });
  control.id = id;
  control.dataset.key = key;
  control.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
  const words = html("label", { for: id }, label);
  const check = control.type === "checkbox";
  const box = html("div", { class: check ? "field check" : wide ? "field wide" : "field" }, check ? [control, words] : [words, control], said, error);
  return {
    box, control,
    fail(message) {
      error.textContent = message;
      error.hidden = !message;
      if (message) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    },
    hint(text) {
      said.textContent = text;
      said.hidden = !text;
    },
  };
}

/** A number; an empty one means the default, which its placeholder shows. */
export const numberInput = (attributes) => html("input", { type: "number", step: "any", autocomplete: "off", ...attributes });

/** A switch. Its setting is "true" or absent. */
export const checkbox = () => html("input", { type: "checkbox" });

/** The control of a setting; a choice gets its options later. @param {import("./keys.js").Key} key */
export function controlOf({ type, range, form }) {
  const placeholder = form.empty ?? "";
  if (type === "number") return numberInput({ min: range?.min, max: range?.max, placeholder, inputmode: "decimal" });
  if (type === "whole") return numberInput({ min: range?.min, max: range?.max, placeholder, step: 1, inputmode: "numeric" });
  if (type === "switch") return checkbox();
  if (type === "json") return html("textarea", { rows: 3, spellcheck: "false", autocapitalize: "off" });
  if (type === "limits" || type === "text") return html("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder });
  return choice([]);
}

/** @typedef {{value: string, text: string, group?: string}} Option those of one group follow one another */

/**
 * A choice.
 * @param {Option[]} options
 */
export function choice(options, value = "") {
  const control = html("select", {});
  setOptions(control, options, value);
  return control;
}

/** Replaces a select's options and keeps its value where it can. @param {Option[]} options */
export function setOptions(control, options, value = control.value) {
  control.replaceChildren();
  let place = control, group;
  for (const o of options) {
    if (o.group !== group) {
      group = o.group;
      place = control;
      if (group) control.append(place = html("optgroup", { label: group }));
    }
    place.append(html("option", { value: o.value }, o.text));
  }
  control.value = options.some((o) => o.value === value) ? value : options[0]?.value ?? "";
}
