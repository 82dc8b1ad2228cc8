// The form of the panel of canary audits: its fields, which the core lists, and what
// they ask for.
import { byId } from "../page/element.js";
import { picker } from "../page/files.js";
import { controlOf, Fields, group, setOptions } from "../page/field.js";
import { CANARIES, ONE_RUN } from "../page/keys.js";
import { grouped, size } from "../page/number.js";
import { keyOf, Unusable } from "../page/plan.js";
import { say } from "../page/progress.js";

const MOST = 16e6; // bytes of a file
const fileBox = (name) => byId(`k-file-${name}`);
export const CLAIM = { epsilon: "2", delta: "0.00001" }; // unless the user says otherwise; the core's own default of delta

/** @typedef {"run" | "one"} How in runs, or in a single one */
/** The kinds of audits, and the settings of each. @type {Record<How, [kind: string, keys: import("../page/keys.js").Key[]]>} */
const kinds = { run: ["canary", CANARIES], one: ["one-run", ONE_RUN] };

/** The name in the page, which has one form for all kinds, of a setting of a kind. */
const nameIn = (how, name) => (how === "one" && name === "m" ? "one" : name);

export class CanaryForm {
  /** @type {import("../worker/files").CanaryOffer | null} */
  offer = null;
  #fields = new Fields("k-"); // by key of the address
  /** The user's examples or vectors, one file or none. It stays in the browser. @type {File[]} */
  files = [];

  constructor() {
    fileBox("group").before(group("k-params", "Parameters of what is audited", "k-param-fields"), group("k-runs", "Runs and canaries", "k-run-fields"));
    byId("k-one-group").after(group("k-more", "More settings"));
    picker("k-file-choose", "k-file-input", "Your file", ".csv,.tsv,.txt,text/csv", false, (files) => this.take(files));
    fileBox("forget").addEventListener("click", () => {
      this.#give([]);
      fileBox("choose").focus();
    });
    byId("canaries-form").addEventListener("input", (event) => {
      if (/** @type {HTMLElement} */ (event.target).dataset.key === "source") this.#sourceChanged();
      this.dependents();
    });
  }

  /** Takes a file of the user's. @param {File[]} files */
  take(files) {
    fileBox("group").open = true;
    try {
      if (files.length > 1) throw new Unusable("file", `${files.length} files`, "one file");
      if (files[0].size > MOST) throw new Unusable("file", `${files[0].name}, ${size(files[0].size)}`, `at most ${size(MOST)} here; the command line takes more`);
      this.#give(files);
      say(`${files[0].name}: there`);
    } catch (error) {
      this.#failFile(error.message);
    }
  }

  /** @param {File[]} files */
  #give(files) {
    this.files = files;
    this.#failFile("");
    fileBox("name").textContent = files.map((f) => `${f.name}, ${grouped(f.size)} bytes`).join("") || "No file.";
    fileBox("forget").hidden = !files.length;
    this.dependents();
  }

  /** @returns {boolean} whether it is shown */
  #failFile(message, focus = false) {
    fileBox("error").textContent = message;
    fileBox("error").hidden = !message;
    if (message) fileBox("group").open = true;
    if (message) say(message);
    if (message && focus) fileBox("choose").focus();
    return !fileBox("group").hidden;
  }

  /** Makes the fields. @param {import("../worker/files").CanaryOffer} offer */
  fill(offer) {
    this.offer = offer;
    for (const [how, [, keys]] of Object.entries(kinds)) {
      for (const { name, form, ...key } of keys) {
        const own = nameIn(how, name);
        if (form && !this.#fields.has(own)) this.#fields.add(`k-${form.place}-fields`, own, form, controlOf({ name, ...key, form }));
      }
    }
    const options = (key, list) => setOptions(this.#fields.get(key).control, list);
    options("source", offer.sources.map((s) => ({ value: s.name, text: s.name })));
    options("scale", offer.scales.map((s, i) => ({ value: i ? s : "", text: s })));
    options("scaling", [{ value: "", text: "box: each feature by its bounds" }, { value: "unit", text: "unit: each row to norm 1" }]);
    options("interval", offer.intervals.map((x, i) => ({ value: i ? x.name : "", text: x.valid ? x.name : `${x.name} (asymptotic)` })));
    this.#sourceChanged();
    this.dependents();
  }

  get #source() { return this.offer.sources.find((s) => s.name === this.#fields.get("source").control.value) ?? this.offer.sources[0]; }

  #sourceChanged() {
    const s = this.#source;
    this.#fields.parameters("k-param-fields", s.params, ({ name }) => (name in CLAIM ? "as claimed" : undefined));
    const option = (name, i) => ({ value: i ? name : "", text: name });
    setOptions(this.#fields.get("design").control, s.designs.map(option));
    setOptions(this.#fields.get("relation").control, s.relations.map(option));
    this.#fields.get("n").control.placeholder = String(s.runs);
    this.#fields.get("one").control.placeholder = String(s.oneRun ?? "");
    byId("k-one-group").hidden = byId("canaries-one").hidden = !s.oneRun;
    this.#fields.get("source").hint(s.title);
  }

  get #design() { return this.#fields.get("design").control.value || this.#source.designs[0]; }

  /** Shows the fields that the choices use; the others keep their texts. */
  dependents() {
    const tail = this.#design === "tail-singular", vectors = this.#design === "vectors", examples = this.#source.examples;
    const show = (key, there) => { this.#fields.get(key).box.hidden = !there; };
    byId("k-file-group").hidden = !vectors && !examples;
    byId("k-file-words").textContent = vectors ? "A CSV file of vectors, one a line. Needed." : "A CSV file of examples, instead of the built-in data.";
    show("tail", tail);
    show("scale", vectors || tail);
    for (const key of ["label", "bounds", "scaling"]) show(key, examples && this.files.length > 0);
    if (vectors) byId("k-file-group").open = true;
    for (const key of ["p.examples", "p.features", "p.classes", "p.separation"]) this.#fields.get(key)?.hint(this.files.length ? "of the built-in data, which the file replaces" : this.#source.params.find((p) => `p.${p.name}` === key).doc);
  }

  /** Sets all fields; those that texts lack get their defaults. @param {Record<string, string>} texts by key of the address @returns {string[]} what of it cannot be used */
  write(texts) {
    if (!this.offer) return ["This page knows no canaries: it has no catalogue.json."];
    const bad = [];
    this.clear();
    this.#fields.forget();
    const set = (key) => {
      if (!this.#fields.put(key, texts[key])) bad.push(this.#fields.unheld(key, texts[key]));
    };
    set("source");
    this.#sourceChanged();
    for (const key of this.#fields.keys()) if (key !== "source") set(key);
    if (CANARIES.some((key) => key.form?.place === "more" && texts[key.name])) byId("k-more").open = true;
    this.dependents();
    return bad;
  }

  /** Sets what an address asks for. @returns {string[]} what of it cannot be used, in words */
  read(texts) {
    const one = texts.view === "one-run";
    const bad = this.write(one ? { ...texts, one: texts.m, m: "", design: texts.design ?? this.offer?.sources.find((s) => s.name === texts.source)?.oneRunDesign ?? "" } : texts);
    if (one) byId("k-one-group").open = true;
    if (one && (texts.guesses || texts["gdp-guesses"])) bad.push("The numbers of guesses can be set only on the command line; here they have their defaults.");
    return bad;
  }

  /** Chooses what a report is about, so that the box for its file is there. */
  follow({ source, design }) {
    this.#fields.put("source", source);
    this.#sourceChanged();
    this.#fields.put("design", design);
    this.dependents();
  }

  /** The audit that the form asks for. @param {How} how @returns {import("../worker/protocol").Wanted} */
  asked(how) {
    const [kind, keys] = kinds[how], text = (name) => this.#fields.text(nameIn(how, name));
    const settings = Object.fromEntries(keys.filter((key) => key.form).map(({ name }) => [name, text(name)]));
    if (how === "one") settings.design = this.#design; // the one that is shown
    settings.epsilon ||= CLAIM.epsilon;
    for (const { name } of this.#source.params) settings[`p.${name}`] = text(`p.${name}`);
    return { kind, settings };
  }

  // Errors

  clear() {
    this.#fields.clearErrors();
    this.#failFile("");
  }

  /** Shows an error at its field. @returns {boolean} whether there is one */
  fail(key, message, focus = false) {
    return key === "file" ? this.#failFile(message, focus) : this.#fields.fail(key, message, focus);
  }

  /** The key of the field that a refusal is about. @param {import("../worker/protocol").Refusal} refusal @param {How} how it was asked */
  keyOf(refusal, how) {
    const name = keyOf(refusal, kinds[how][1]), key = name && nameIn(how, name);
    if (key && this.#fields.has(key)) return key;
    return refusal.path.startsWith("/data") || refusal.path.startsWith("/csv") ? "file" : undefined;
  }
}
