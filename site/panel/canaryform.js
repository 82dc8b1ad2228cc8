// The form of the panel of canary audits: its fields, which the core lists, and the
// plan that they ask for.
import { boxes } from "./canaryfiles.js";
import { canaryPlan, CLAIM, inTodaysWords, NO_NUMBER } from "./canaryplan.js";
import { byId, html } from "../page/element.js";
import { checkbox, choice, field, numberInput, setOptions } from "../page/field.js";
import { DEFAULT_SEED } from "../page/plan.js";

/** Names of the core's fields that have other ones here. */
const own = { runs: "n", data: "file", vectors: "file", canaries: "k", csv: "file", classes: "file", bounds: "bounds", "learning rate": "p.learning-rate", claim: "epsilon" };

export class CanaryForm {
  /** @type {import("../worker/protocol").CanaryOffer | null} */
  offer = null;
  /** @type {Map<string, import("../page/field.js").Field>} by key of the address */
  #fields = new Map();
  #params = []; // keys of the parameters that are shown
  #kept = {}; // what was typed for parameters that are not
  #files;

  /** @param {import("./canaryfiles.js").CanaryFiles} files */
  constructor(files) {
    this.#files = files;
    byId("canaries-form").addEventListener("input", (event) => {
      if (event.target.dataset.key === "source") this.#sourceChanged();
      this.dependents();
    });
  }

  /** Makes the fields. @param {import("../worker/protocol").CanaryOffer} offer */
  fill(offer) {
    this.offer = offer;
    const whole = (placeholder) => numberInput({ min: 1, step: 1, inputmode: "numeric", placeholder });
    const number = (attributes) => numberInput({ inputmode: "decimal", ...attributes });
    const add = (place, key, about, control) => this.#add(place, key, about, control);
    add("k-source-fields", "source", { label: "What is audited", wide: true }, choice(offer.sources.map((s) => ({ value: s.name, text: s.name }))));
    add("k-claim-fields", "epsilon", { label: "Claimed epsilon" }, number({ min: 0, placeholder: CLAIM.epsilon }));
    add("k-claim-fields", "delta", { label: "Claimed delta" }, number({ min: 0, max: 1, placeholder: CLAIM.delta }));
    add("k-run-fields", "design", { label: "Canaries", hint: "their distribution" }, choice([]));
    add("k-run-fields", "relation", { label: "Neighbours", hint: "of the claim" }, choice([]));
    add("k-run-fields", "n", { label: "Runs, n", hint: "to certify" }, whole(""));
    add("k-run-fields", "k", { label: "Canaries inside, K", hint: "a run" }, whole("√n"));
    add("k-run-fields", "m", { label: "Fresh canaries, M", hint: "a run; they cost little" }, whole("K"));
    add("k-run-fields", "seed", { label: "Seed" }, numberInput({ min: 0, step: 1, inputmode: "numeric", placeholder: DEFAULT_SEED }));
    add("k-one-fields", "one", { label: "Canaries, m", hint: "of one run" }, whole(""));
    add("k-scores-fields", "scores-relation", { label: "Neighbours of the claim", hint: "scores do not tell; private under add-remove may be twice the epsilon under replace", wide: true }, choice([
      { value: "", text: "choose" },
      { value: "add-remove", text: "add-remove: a record is there or not" },
      { value: "replace", text: "replace: a record is replaced by another" },
    ]));
    add("k-scores-fields", "method", { label: "Method", hint: "whose bound the verdict is by; the table has all", wide: true }, choice([
      { value: "", text: `default: ${offer.methods[0]}; of runs ${offer.intervals[0].name}` },
      ...offer.methods.map((name) => ({ value: name, text: name, group: "scores" })),
      ...offer.intervals.map(({ name }) => name).filter((name) => !offer.methods.includes(name)).map((name) => ({ value: name, text: name, group: "scores of several runs" })),
    ]));
    add("k-file-fields", "tail", { label: "Tail", hint: "how many singular vectors, those of the smallest values" }, whole("half of all"));
    add("k-file-fields", "scale", { label: "Norm of the vectors" }, choice(offer.scales.map((s, i) => ({ value: i ? s : "", text: s }))));
    add("k-file-fields", "distinct", { label: "No vector twice in a run" }, checkbox());
    add("k-file-fields", "label", { label: "Column of the labels", hint: "its name or number" }, html("input", { type: "text", autocomplete: "off", placeholder: "the last" }));
    add("k-file-fields", "bounds", { label: "Bounds of all features", hint: "declared, not looked up in the data: LOW,HIGH" }, html("input", { type: "text", autocomplete: "off", placeholder: "-1,1" }));
    add("k-file-fields", "scaling", { label: "Scaling" }, choice([{ value: "", text: "box: each feature by its bounds" }, { value: "unit", text: "unit: each row to norm 1" }]));
    add("k-more-fields", "explore", { label: "Exploration runs", hint: "for the threshold" }, whole("n"));
    add("k-more-fields", "interval", { label: "Interval", wide: true, hint: "the report has all; this one decides" },
      choice(offer.intervals.map((x, i) => ({ value: i ? x.name : "", text: x.valid ? x.name : `${x.name} (asymptotic)` }))));
    add("k-more-fields", "quantile", { label: "Threshold range", hint: "q: between the q and 1 − q quantile of the scores inside; 0: anywhere" }, number({ min: 0, max: 0.5, placeholder: "0" }));
    add("k-more-fields", "single", { label: "A single canary beside it", hint: "for equation 10" }, choice([{ value: "", text: "where runs are cheap" }, { value: "true", text: "yes" }, { value: "false", text: "no" }]));
    add("k-more-fields", "beta", { label: "Beta", hint: "allowed error; confidence is 1 − beta" }, number({ min: 1e-9, max: 0.5, placeholder: "0.05" }));
    this.#sourceChanged();
    this.dependents();
  }

  #add(place, key, about, control) {
    const f = field({ id: `k-${key.replace(/\W/g, "-")}`, key, ...about }, control);
    this.#fields.set(key, f);
    byId(place).append(f.box);
  }

  #text(key) {
    const f = this.#fields.get(key);
    if (!f || f.box.hidden) return "";
    if (f.control.validity.badInput) return NO_NUMBER;
    return f.control.type === "checkbox" ? (f.control.checked ? "true" : "") : f.control.value.trim();
  }

  get #source() { return this.offer.sources.find((s) => s.name === this.#fields.get("source").control.value) ?? this.offer.sources[0]; }

  #sourceChanged() {
    const s = this.#source;
    for (const key of this.#params) {
      this.#kept[key] = this.#fields.get(key).control.value;
      this.#fields.delete(key);
    }
    byId("k-param-fields").replaceChildren();
    this.#params = s.params.map((spec) => {
      const key = `p.${spec.name}`;
      const claimed = spec.name in CLAIM && "as claimed";
      const control = spec.choices?.length
        ? choice(spec.choices.map((c, i) => ({ value: i ? c : "", text: c })), this.#kept[key])
        : numberInput({ min: spec.min ?? 0, max: spec.max ?? 0, step: spec.integer ? 1 : "any", placeholder: claimed || (spec.default ?? 0) });
      this.#add("k-param-fields", key, { label: spec.name, hint: spec.doc }, control);
      if (!spec.choices?.length) control.value = this.#kept[key] ?? "";
      return key;
    });
    const option = (name, i) => ({ value: i ? name : "", text: name });
    setOptions(this.#fields.get("design").control, s.designs.map((d, i) => option(d.name, i)));
    setOptions(this.#fields.get("relation").control, s.relations.map(option));
    this.#fields.get("n").control.placeholder = s.runs;
    this.#fields.get("one").control.placeholder = s.oneRun;
    byId("k-one-group").hidden = byId("canaries-one").hidden = !s.oneRun;
    this.#fields.get("source").hint(s.title);
  }

  get #design() { return this.#source.designs.find((d) => d.name === this.#fields.get("design").control.value) ?? this.#source.designs[0]; }

  /** Shows the fields that the choices use; the others keep their texts. */
  dependents() {
    const { vectors, name } = this.#design, examples = this.#source.examples;
    const show = (key, there) => { this.#fields.get(key).box.hidden = !there; };
    byId("k-file-group").hidden = !vectors && !examples;
    byId("k-file-words").textContent = vectors ? "A CSV file of vectors, one a line. Needed." : "A CSV file of examples, instead of the built-in data.";
    show("tail", name === "tail-singular");
    for (const key of ["scale", "distinct"]) show(key, vectors);
    for (const key of ["label", "bounds", "scaling"]) show(key, examples && this.#files.there);
    for (const key of ["p.examples", "p.features", "p.classes", "p.separation"]) this.#fields.get(key)?.hint(this.#files.there ? "of the built-in data, which the file replaces" : this.#source.params.find((p) => `p.${p.name}` === key).doc);
    if (vectors) byId("k-file-group").open = true;
  }

  /** Sets all fields; those that texts lack get their defaults. @param {Record<string, string>} texts by key of the address @returns {string[]} what of it cannot be used */
  write(texts) {
    if (!this.offer) return ["This page knows no canaries: it has no catalogue.json."];
    texts = inTodaysWords(texts);
    const bad = [];
    this.clear();
    for (const key of this.#params) this.#fields.get(key).control.value = "";
    this.#kept = {};
    const set = (key) => {
      const { control } = this.#fields.get(key), value = texts[key] ?? "";
      if (control.type === "checkbox") control.checked = value === "true";
      else if (control.tagName !== "SELECT") control.value = value;
      else {
        // The first option is the default, whose value is empty.
        const found = [...control.options].find((o) => o.value === value) ?? [...control.options].find((o) => o.text === value);
        control.value = (found ?? control.options[0]).value;
        if (value && !found) bad.push(`${key} is "${value}", must be one of ${[...control.options].map((o) => o.value || o.text).join(", ")}. The first is used.`);
      }
    };
    set("source");
    this.#sourceChanged();
    for (const key of this.#fields.keys()) if (key !== "source") set(key);
    if (["explore", "interval", "quantile", "single", "beta"].some((key) => texts[key])) byId("k-more").open = true;
    if (Object.keys(texts).some((key) => key.startsWith("p."))) byId("k-params").open = true;
    this.dependents();
    return bad;
  }

  /** Sets what an address asks for. @returns {string[]} what of it cannot be used, in words */
  read(texts) {
    const one = texts.view === "one-run";
    const bad = this.write(one ? { ...texts, one: texts.m, m: "", design: texts.design ?? this.offer?.sources.find((s) => s.name === texts.source)?.oneRunDesign ?? "" } : texts);
    if (one) byId("k-one-group").open = true;
    if (one && (texts.guesses || texts["gdp-guesses"])) bad.push("Numbers of guesses are set on the command line only; here they are the defaults.");
    return bad;
  }

  /** Chooses what a report is about, so that the box for its file is there. */
  follow({ source, design }) {
    this.#fields.get("source").control.value = source;
    this.#sourceChanged();
    const { control } = this.#fields.get("design");
    control.value = design;
    if (control.selectedIndex < 0) control.selectedIndex = 0;
    this.dependents();
  }

  /** The plan that the form asks for: of runs, of a single one, or of scores. Throws Unusable. */
  plan(how) { return canaryPlan(how, this.#source, (key) => this.#text(key), this.#files.there, this.#design); }

  // Errors

  clear() {
    for (const key of [...this.#fields.keys(), ...boxes]) this.fail(key, "");
  }

  /** Shows an error at its field. @returns {boolean} whether there is one */
  fail(key, message, focus = false) {
    if (boxes.includes(key)) return this.#files.fail(key, message, focus);
    const f = this.#fields.get(key);
    if (!f || f.box.hidden) return false;
    f.fail(message);
    if (!message) return true;
    const group = f.box.closest("#canaries-form details");
    if (group) group.open = true;
    if (focus) f.control.focus();
    return true;
  }

  /** The key of the field that a refusal is about. @param {import("../worker/protocol").Refusal} refusal @param {"run" | "one" | "scores"} how it was asked */
  keyOf(refusal, how) {
    const name = refusal.field.replace(/^(canary|one-run|scores) plan: field /, "").replace(/^"(.*)"$/, "$1");
    if (how === "scores" && name === "relation") return "scores-relation";
    if (how === "scores" && !["method", "beta", "seed", "epsilon", "delta", "claim"].includes(name)) return "scores";
    if (how === "one" && (name === "m" || name === "canaries")) return "one";
    if (name.startsWith("parameter ")) return `p.${name.slice(10)}`;
    if (/^(data|vectors)\b/.test(name)) return "file";
    const key = own[name] ?? name;
    return this.#fields.has(key) ? key : this.#fields.has(`p.${key}`) ? `p.${key}` : undefined;
  }
}
