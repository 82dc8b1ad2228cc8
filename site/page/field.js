// The labelled controls of a form, each with its hint and its error.
import { byId, html } from "./element.js";
import { say } from "./progress.js";

/** @typedef {import("../types/elements").PageElement} Control */
/** @typedef {ReturnType<typeof field>} Field */

/** A field: its box, its control, and what shows an error (none for "") and a hint. @param {{id: string, key: string, label: string, hint?: string, wide?: boolean}} about @param {HTMLElement} element its control */
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
      control.ariaInvalid = message ? "true" : null;
    },
    hint(text) {
      said.textContent = text;
      said.hidden = !text;
    },
  };
}

/** Rows of fields, which can be folded away; the element of that id takes them. */
export const group = (id, title, fields = `${id}-fields`) => html("details", { id, class: "group" }, html("summary", {}, title), html("div", { id: fields, class: "rows" }));

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
  if (type === "limits" || type === "list" || type === "text") return html("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder });
  return choice([]);
}

/** @typedef {{value: string, text: string, group?: string}} Option those of one group follow one another */

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

/** A slider of factors from a tenth to ten, or of another range. @param {(x: number) => void} moved by the hand */
export function slider(id, label, moved) {
  const input = html("input", { type: "range", id, min: -1, max: 1, step: "any", value: 0, autocomplete: "off" });
  const said = html("output", { for: id }), words = html("p", { class: "hint" }), need = html("span", { class: "need", "aria-hidden": "true", hidden: true });
  let whole = false;
  const move = (event) => {
    event.stopPropagation(); // the field that it sets says it
    moved(10 ** Number(input.value));
  };
  input.addEventListener("input", move);
  input.addEventListener("keydown", (event) => { // a step of a tenth, as no default fits a scale of factors
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const x = 10 ** Number(input.value);
    input.value = String(Math.log10(whole ? Math.round(x) + by : x * 1.1 ** by));
    move(event);
  });
  return {
    box: html("div", { class: "slider" }, html("label", { for: id }, label), said, html("div", { class: "track" }, need, input), words),
    need, // marks what is needed
    /** @param {import("../worker/protocol").ParamSpec} of */
    range({ min = 0, max = 0, open, integer }) {
      [input.min, input.max, whole] = [String(Math.log10(open ? 1.01 * min : min)), String(Math.log10(max)), Boolean(integer)];
    },
    /** @param {number} log of the factor @param {string} text @param {(string | Node)[]} hint */
    put(log, text, hint) {
      if (document.activeElement !== input || Math.abs(Number(input.value) - log) > 0.02) input.value = String(log);
      said.textContent = text;
      input.setAttribute("aria-valuetext", text);
      words.replaceChildren(...hint);
    },
  };
}

/** What a field holds where a number is wanted and something else is typed. */
const NO_NUMBER = "not a number";

/**
 * The fields of a form, by key: what is typed, what is wrong with it, and those of the
 * parameters of what was chosen.
 * @extends {Map<string, Field>}
 */
export class Fields extends Map {
  #prefix;
  #swapped = /** @type {string[]} */ ([]); // keys of those that have others' place
  /** @type {Record<string, string>} */
  #kept = {}; // what was typed in those others

  /** @param {string} [prefix] of ids */
  constructor(prefix = "") {
    super();
    this.#prefix = prefix;
  }

  /** Makes a field. @param {string} place id of what it goes into, where that is in the document @returns {HTMLElement} its box */
  add(place, key, about, control, id = key.replace(/\W/g, "-")) {
    const f = field({ id: this.#prefix + id, key, ...about }, control);
    this.set(key, f);
    if (place) byId(place).append(f.box);
    return f.box;
  }

  /** What is typed; "" where there is no such field, or it is hidden. */
  text(key) {
    const { box, control } = this.get(key) ?? {};
    if (!box || box.hidden) return "";
    if (control.validity.badInput) return NO_NUMBER; // a number field gives no text for what is none
    return control.type === "checkbox" ? (control.checked ? "true" : "") : control.value.trim();
  }

  /** All that is typed. @returns {Record<string, string>} */
  get texts() { return Object.fromEntries([...this.keys()].map((key) => [key, this.text(key)]).filter(([, text]) => text !== "")); }

  /** What is wrong with a text that a field cannot hold, in words. */
  unheld(key, text) {
    const { options } = this.get(key).control;
    return `${key} is "${text}", must be ${options ? `one of ${[...options].map((o) => o.value || o.text).join(", ")}. The first` : "a number. The default"} is used.`;
  }

  /** Sets a field. @returns {boolean} whether it can hold that; one that cannot has its default */
  put(key, text = "") {
    const { control } = this.get(key);
    if (control.type === "checkbox") control.checked = String(text) === "true";
    else if (control.type === "number" && !Number.isFinite(Number(text))) { // a browser complains of such texts
      control.value = "";
      return false;
    } else if (control.tagName !== "SELECT") control.value = text;
    else {
      // The first option is the default, whose value is empty.
      const options = [...control.options], found = options.find((o) => o.value === text) ?? options.find((o) => o.text === text);
      control.value = (found ?? options[0])?.value;
      return found !== undefined || text === "";
    }
    return true;
  }

  /** Shows an error at its field, and says it. @returns {boolean} whether there is one, and it is shown */
  fail(key, message, focus = false) {
    const f = this.get(key);
    if (!f || f.box.hidden) return false;
    f.fail(message);
    const group = f.box.closest("details");
    if (group) group.open = true;
    if (focus) f.control.focus();
    say(message, focus);
    return true;
  }

  /** Takes all errors away. */
  clearErrors() {
    for (const f of this.values()) f.fail("");
  }

  /** Makes fields that others had the place of, whose texts come back with them, or texts that are given. @param {[key: string, about: object, control: HTMLElement][]} list @param {Record<string, string>} [kept] */
  swap(place, list, kept) {
    for (const key of this.#swapped) {
      this.#kept[key] = this.get(key).control.value;
      this.delete(key);
    }
    this.#kept = kept ?? this.#kept;
    byId(place).replaceChildren();
    this.#swapped = list.map(([key, about, control]) => {
      this.add(place, key, about, control);
      this.put(key, this.#kept[key]);
      return key;
    });
  }

  /** Makes the fields of parameters. @param {import("../worker/protocol").ParamSpec[]} specs @param {(spec: import("../worker/protocol").ParamSpec) => any} [empty] what stands in an empty one, if not its default */
  parameters(place, specs, empty = () => undefined) {
    this.swap(place, specs.map((spec) => [`p.${spec.name}`, { label: spec.name, hint: spec.doc }, spec.choices?.length ? choice(spec.choices.map((c, i) => ({ value: i ? c : "", text: c })))
      : numberInput({ min: spec.min ?? 0, max: spec.max ?? 0, step: spec.integer ? 1 : "any", placeholder: empty(spec) ?? spec.default ?? 0 })]));
  }

  /** Forgets what was typed for parameters, shown or not. */
  forget() {
    this.#kept = {};
    for (const key of this.#swapped) this.put(key);
  }
}
