// The panel of canary audits: its form, what is under way, and the report.
import { canaryChart, letterOf } from "./canarychart.js";
import { bodyOf, findingsBodyOf, headOf } from "./canaryreport.js";
import { byId, html, tableRows } from "./element.js";
import { Ended, Refused } from "./engine.js";
import { checkbox, choice, field, numberInput, setOptions } from "./field.js";
import { linkTo } from "./address.js";
import { copyFor, save } from "./files.js";
import { duration, grouped, roundedDown, size } from "./number.js";
import { toFile } from "./picture.js";
import { DEFAULT_SEED, Unusable } from "./plan.js";
import { say } from "./progress.js";
import { replayWords, showVerification } from "./result.js";

const CLAIM = { epsilon: 2, delta: 1e-5 }; // unless the user says otherwise
const RATE_OVER = 5000; // ms that the rate is taken over
const phases = { explore: "Choosing the threshold on exploration runs", certify: "Certifying on fresh runs", "one-run": "One run, with canaries in it by coins", scores: "Reading and auditing the scores" };
const perceptron = { source: "dp-sgd", n: "128", k: "11", m: "64" };
const presets = [
  ["Gaussian sum as in the paper", { source: "gaussian-sum", n: "1024", k: "32", quantile: "0.1" }],
  ["Perceptron by DP-SGD", perceptron],
  ["A copy that forgets to clip", { ...perceptron, "p.fault": "no-clipping" }],
  ["A quarter of the noise", { ...perceptron, "p.fault": "quarter-noise" }],
];
/** Names of the core's fields that have other ones here. */
const own = { runs: "n", data: "file", vectors: "file", canaries: "k", csv: "file", classes: "file", bounds: "bounds", "learning rate": "p.learning-rate", claim: "epsilon" };
const titles = { "one-run": "One-run audit", scores: "Audit of recorded scores" };
/** What a replay starts from; absent in a report of a run that was stopped too early. */
const countsOf = ({ kind, evidence }) => (titles[kind] ? evidence : evidence?.certified?.table);

const MOST = { file: 16e6, scores: 4e6 }; // bytes of a file; more scores would hold up the page
const boxes = Object.keys(MOST); // that take files of the user's

/** @typedef {{name: string, bytes: number, content: string}} Given a file of the user's, in base64 */

/** @param {File} file @returns {Promise<string>} */
const base64 = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => reject(new Unusable("file", `unreadable (${reader.error?.message})`, "a file that this browser may read"));
  reader.readAsDataURL(file);
});

export class Canaries {
  /** @type {import("./protocol").CanaryOffer | null} */
  #offer = null;
  /** @type {Map<string, import("./field.js").Field>} by key of the address */
  #fields = new Map();
  #params = []; // keys of the parameters that are shown
  #kept = {}; // what was typed for parameters that are not
  /** @type {Record<string, Given[]>} */
  #files = { file: [], scores: [] };
  #cost = "";
  #able = false;
  /** @type {{report: any, text: string} | null} */
  #shown = null;
  #view; // of what is shown
  #course = null;
  #seen = []; // [time, runs]
  #stopping = "";
  #how = "run"; // what the button began that was last used: "run", "one" or "scores"
  #on;

  /**
   * @param {{ask(how: "run" | "one" | "scores" | "verify", request: import("./protocol").CanaryRequest, tell: (p: import("./protocol").CanaryProgress) => void, again: () => void): Promise<any>,
   *   stop(): void, open(): void, opened(name: string, text: string): void, shown(report: any): void}} on again is called when it is worth asking anew; open: asks for a report's file; opened: here is one
   */
  constructor(on) {
    this.#on = on;
    byId("canaries-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    byId("canaries-form").addEventListener("input", (event) => {
      if (event.target.dataset.key === "source") this.#sourceChanged();
      this.#dependents();
    });
    for (const how of ["one", "scores"]) byId(`canaries-${how}`).addEventListener("click", () => this.run(how));
    byId("canaries-stop").addEventListener("click", () => on.stop());
    byId("canaries-open").addEventListener("click", () => on.open());
    for (const box of boxes) {
      const part = (name) => byId(`k-${box}-${name}`);
      part("choose").addEventListener("click", () => part("input").click());
      part("input").addEventListener("change", ({ target }) => {
        if (target.files.length) this.take([...target.files], box);
        target.value = "";
      });
      part("forget").addEventListener("click", () => {
        this.#give(box, []);
        part("choose").focus();
      });
    }
    byId("k-scores-swap").addEventListener("click", () => {
      this.#give("scores", this.#files.scores.reverse());
      this.run("scores");
    });
  }

  /**
   * @param {import("./protocol").CanaryOffer | undefined} offer without one the panel hides
   * @param {string} cost what has to be loaded first; "" once it is there
   */
  fill(offer, cost) {
    this.#cost = cost;
    byId("canaries").hidden = !offer;
    byId("canaries-load").textContent = cost && `${cost} is loaded first.`;
    if (!offer || this.#offer) return;
    this.#offer = offer;
    const whole = (placeholder) => numberInput({ min: 1, step: 1, inputmode: "numeric", placeholder });
    const number = (attributes) => numberInput({ inputmode: "decimal", ...attributes });
    const add = (place, key, about, control) => this.#add(place, key, about, control);
    add("k-source-fields", "source", { label: "What is audited", wide: true }, choice(offer.sources.map((s) => ({ value: s.name, text: s.name }))));
    add("k-claim-fields", "epsilon", { label: "Claimed epsilon" }, number({ min: 0, placeholder: CLAIM.epsilon }));
    add("k-claim-fields", "delta", { label: "Claimed delta" }, number({ min: 0, max: 1, placeholder: CLAIM.delta }));
    add("k-run-fields", "design", { label: "Canaries", hint: "their distribution" }, choice([]));
    add("k-run-fields", "form", { label: "Neighbours" }, choice([]));
    add("k-run-fields", "n", { label: "Runs, n", hint: "to certify" }, whole(""));
    add("k-run-fields", "k", { label: "Canaries inside, K", hint: "a run" }, whole("√n"));
    add("k-run-fields", "m", { label: "Fresh canaries, M", hint: "a run; they cost little" }, whole("K"));
    add("k-run-fields", "seed", { label: "Seed" }, numberInput({ min: 0, step: 1, inputmode: "numeric", placeholder: DEFAULT_SEED }));
    add("k-one-fields", "one", { label: "Canaries, m", hint: "of one run" }, whole(""));
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
    byId("canaries-presets").replaceChildren(...presets.map(([words, texts]) => html("button", {
      type: "button", onclick: () => {
        this.write(texts);
        byId("canaries-status").textContent = `${words}: set. Run does it.`;
      },
    }, words)));
    this.#sourceChanged();
    this.#dependents();
  }

  #add(place, key, about, control) {
    const f = field({ id: `k-${key.replace(/\W/g, "-")}`, key, ...about }, control);
    this.#fields.set(key, f);
    byId(place).append(f.box);
  }

  #text(key) {
    const f = this.#fields.get(key);
    if (!f || f.box.hidden) return "";
    return f.control.type === "checkbox" ? (f.control.checked ? "true" : "") : f.control.value.trim();
  }

  get #source() { return this.#offer.sources.find((s) => s.name === this.#fields.get("source").control.value) ?? this.#offer.sources[0]; }

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
    setOptions(this.#fields.get("form").control, s.forms.map(option));
    this.#fields.get("n").control.placeholder = s.runs;
    this.#fields.get("one").control.placeholder = s.oneRun;
    byId("k-one-group").hidden = byId("canaries-one").hidden = !s.oneRun;
    this.#fields.get("source").hint(s.title);
  }

  get #design() { return this.#source.designs.find((d) => d.name === this.#fields.get("design").control.value) ?? this.#source.designs[0]; }

  /** Shows the fields that the choices use; the others keep their texts. */
  #dependents() {
    const { vectors, name } = this.#design, examples = this.#source.examples;
    const show = (key, there) => { this.#fields.get(key).box.hidden = !there; };
    byId("k-file-group").hidden = !vectors && !examples;
    byId("k-file-words").textContent = vectors ? "A CSV file of vectors, one a line. Needed." : "A CSV file of examples, instead of the built-in data.";
    show("tail", name === "tail-singular");
    for (const key of ["scale", "distinct"]) show(key, vectors);
    for (const key of ["label", "bounds", "scaling"]) show(key, examples && this.#file);
    for (const key of ["p.examples", "p.features", "p.classes", "p.separation"]) this.#fields.get(key)?.hint(this.#file ? "of the built-in data, which the file replaces" : this.#source.params.find((p) => `p.${p.name}` === key).doc);
    if (vectors) byId("k-file-group").open = true;
  }

  /** Sets all fields; those that texts lack get their defaults. @param {Record<string, string>} texts by key of the address @returns {string[]} what of it cannot be used */
  write(texts) {
    if (!this.#offer) return ["This page knows no canaries: it has no catalogue.json."];
    const bad = [];
    this.#clear();
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
    this.#dependents();
    return bad;
  }

  /** Opens the panel with what an address asks for. @returns {string[]} what of it cannot be used, in words */
  read(texts) {
    const one = texts.view === "one-run";
    const bad = this.write(one ? { ...texts, one: texts.m, m: "", design: texts.design ?? this.#offer?.sources.find((s) => s.name === texts.source)?.oneRunDesign ?? "" } : texts);
    if (one) byId("k-one-group").open = true;
    if (one && (texts.guesses || texts["gdp-guesses"])) bad.push("Numbers of guesses are set on the command line only; here they are the defaults.");
    this.#reveal(byId("canaries"));
    return bad;
  }

  #reveal(at) {
    byId("canaries").open = true;
    at.scrollIntoView();
  }

  // The user's file

  get #file() { return this.#files.file[0]; }

  /** Which box of this panel dropped files are meant for, if any. @param {File[]} files */
  wants(files, target) {
    if (!this.#offer || !files.length || !byId("canaries").open) return undefined;
    const box = boxes.find((b) => target?.closest?.(`#k-${b}-group`));
    if (box) return box;
    const named = (pattern) => files.every((f) => pattern.test(f.name));
    if (!byId("k-file-group").hidden && files.length === 1 && named(/\.(csv|tsv|txt)$/i)) return "file";
    return target?.closest?.("#canaries") && named(/\.(csv|tsv|txt|jsonl|np[yz])$/i) ? "scores" : undefined;
  }

  /** Takes files of the user's. They stay in the browser. @param {File[]} files */
  async take(files, box) {
    byId(`k-${box}-group`).open = true;
    try {
      const most = box === "scores" ? 2 : 1;
      if (files.length > most) throw new Unusable(box, `${files.length} files`, most > 1 ? "one file or two" : "one file");
      if (box === "scores" && /^\s*{\s*"\$schema"/.test(await files[0].slice(0, 99).text())) {
        this.#on.opened(files[0].name, await files[0].text());
        return;
      }
      const given = [];
      for (const { name, size: bytes } of files) if (bytes > MOST[box]) throw new Unusable(box, `${name}, ${size(bytes)}`, `at most ${size(MOST[box])} here; the command line takes more`);
      for (const file of files) given.push({ name: file.name, bytes: file.size, content: await base64(file) });
      this.#give(box, given);
      say(`${given.map((f) => f.name).join(" and ")}: there`);
      if (box === "scores") this.run(box);
    } catch (error) {
      this.#fail(box, error.message);
      say(error.message);
    }
  }

  /** @param {Given[]} files */
  #give(box, files) {
    this.#files[box] = files;
    this.#fail(box, "");
    byId(`k-${box}-name`).textContent = files.map((f, i) => `${files[1] ? ["in: ", "; out: "][i] : ""}${f.name}, ${grouped(f.bytes)} bytes`).join("") || "No file.";
    byId(`k-${box}-forget`).hidden = !files.length;
    byId("k-scores-swap").hidden = !this.#files.scores[1];
    this.#buttons();
    this.#dependents();
  }

  /** The user's file as the core gets it. */
  get #content() { return byId("k-file-group").hidden ? undefined : this.#file?.content; }

  /** The files of scores as the core gets them. */
  get #scores() { return this.#files.scores.map(({ name, content }) => ({ name, content })); }

  // The plan

  /** The plan that the form asks for: of runs, of a single one, or of scores. Throws Unusable. */
  #plan(how) {
    const one = how === "one";
    const number = (key) => {
      const { control } = this.#fields.get(key);
      if (control.validity.badInput && !control.closest("[hidden]")) throw new Unusable(key, "not a number", "a number");
      const text = this.#text(key);
      if (text === "") return undefined;
      if (!Number.isFinite(Number(text))) throw new Unusable(key, `"${text}"`, "a number");
      return Number(text);
    };
    // In a plan zero means the default; who typed it meant it.
    const whole = (key, least) => {
      const value = number(key);
      if (value !== undefined && (!Number.isSafeInteger(value) || value < least)) throw new Unusable(key, this.#text(key), `a whole number, at least ${least}`);
      return value;
    };
    const s = this.#source;
    const epsilon = number("epsilon") ?? CLAIM.epsilon, delta = number("delta") ?? CLAIM.delta;
    if (!(epsilon > 0)) throw new Unusable("epsilon", this.#text("epsilon"), "a finite number above 0");
    if (!(delta >= 0 && delta < 1)) throw new Unusable("delta", this.#text("delta"), "in [0, 1)");
    const plan = { version: 1, claim: { kind: delta ? "approximate" : "pure", epsilon, delta: delta || undefined }, seed: whole("seed", 0) ?? Number(DEFAULT_SEED) };
    plan.beta = number("beta");
    if (plan.beta === 0) throw new Unusable("beta", "0", "in [1e-9, 0.5]");
    if (how === "scores") return { ...plan, method: this.#text("method") || undefined };
    plan.source = s.name;
    if (one) {
      plan.canaries = whole("one", 1);
      plan.design = this.#design.name; // the one that is shown
    } else {
      plan.runs = whole("n", 1);
      plan.k = whole("k", 1);
      plan.m = whole("m", 1);
      plan.explore = whole("explore", 1);
      plan.quantile = number("quantile");
      for (const key of ["form", "design", "interval"]) plan[key] = this.#text(key) || undefined;
      if (this.#text("single")) plan.single = this.#text("single") === "true";
    }
    for (const spec of s.params) {
      const text = this.#text(`p.${spec.name}`);
      const value = spec.choices?.length ? text : number(`p.${spec.name}`);
      if (value !== undefined && value !== "") (plan.parameters ??= {})[spec.name] = value;
    }
    if (this.#design.vectors && !one) plan.pool = { tail: whole("tail", 1), scale: this.#text("scale") || undefined, distinct: this.#text("distinct") === "true" || undefined };
    if (s.examples && this.#file) {
      const bounds = this.#text("bounds"), parts = bounds.split(",").map(Number);
      if (bounds && (parts.length !== 2 || parts.some((x) => !Number.isFinite(x)))) throw new Unusable("bounds", `"${bounds}"`, "two numbers with a comma between, for example 0,255");
      const csv = { label: this.#text("label") || undefined, scaling: this.#text("scaling") || undefined, lower: bounds ? parts[0] : undefined, upper: bounds ? parts[1] : undefined };
      if (Object.values(csv).some((x) => x !== undefined)) plan.csv = csv;
    }
    return plan;
  }

  // Runs

  /** Does what the form asks for, and shows what comes of it. @param {"run" | "one" | "scores"} how in runs, in a single one, or of the scores that were given */
  async run(how = "run") {
    const button = byId(`canaries-${how}`);
    if (button.disabled || button.hidden) return;
    this.#how = how;
    this.#clear();
    const before = this.#shown;
    try {
      const plan = this.#plan(how);
      this.#begin();
      const request = how === "scores" ? { scores: plan, files: this.#scores } : { [how === "one" ? "oneRun" : "plan"]: plan, file: this.#content };
      const answer = await this.#on.ask(how, request, (p) => this.#tell(p, plan), () => this.run(how));
      const { report } = answer;
      if (report.termination.reason === "stopped" && !countsOf(report) && before) {
        this.#end("Stopped before anything was certified. What was shown before is still here.");
        say(byId("canaries-status").textContent);
        return;
      }
      this.#show(answer, "");
      this.#end(answer.error ? `Ended by an error: ${answer.error}` : report.termination.reason === "stopped" ? how === "one" ? "Stopped before the run was done: there is no bound." : "Stopped: what there is stands beside." : "");
      say(report.summary);
      if (byId("canaries-result").getBoundingClientRect().top > innerHeight / 2) byId("canaries-result").scrollIntoView();
    } catch (error) {
      this.#end("");
      this.#blame(error);
    }
  }

  #begin() {
    this.#seen = [];
    this.#stopping = "";
    this.#course = null;
    this.message("");
  }

  /** @param {import("./protocol").CanaryProgress} p */
  #tell(p, plan) {
    const now = performance.now(), seen = this.#seen;
    if (seen.length && p.runs < seen.at(-1)[1]) seen.length = 0; // a worker was lost
    seen.push([now, p.runs]);
    while (seen.length > 2 && now - seen[1][0] > RATE_OVER) seen.shift();
    const [time, runs] = seen[0];
    const rate = now - time > 300 ? (1000 * (p.runs - runs)) / (now - time) : 0;
    byId("canaries-progress").hidden = false;
    if (p.total > 1) byId("canaries-bar").value = Math.min(100, (100 * p.runs) / p.total);
    else byId("canaries-bar").removeAttribute("value"); // nobody knows how far it is
    const left = rate > 0 ? `, about ${duration((p.total - p.runs) / rate)} left` : "";
    const words = (plan ? phases[p.phase] : "Replaying") + (p.total > 1 ? `: ${grouped(p.runs)} of ${grouped(p.total)} runs${left}` : "…");
    byId("canaries-phase").textContent = this.#stopping || words;
    if (p.message) this.message(p.message);
    let bound = "";
    if (plan && p.bounds?.length) {
      const chosen = plan.interval ?? this.#offer.intervals[0].name;
      this.#course ??= { points: [], planned: p.planned, claimed: p.claimed, chosen, intervals: this.#offer.intervals };
      this.#course.points.push({ runs: p.certified, bounds: p.bounds });
      bound = this.#live(p);
    }
    say(`${words}${bound && `. ${bound}`}`, false);
  }

  /** Shows the bounds so far. @returns {string} the audit's own, in words */
  #live(p) {
    const box = byId("canaries-result");
    if (!this.#view?.live) {
      const live = { words: html("p", { class: "chart-words" }), chart: html("div", {}), table: html("div", {}) };
      this.#shown = null;
      this.#buttons();
      box.hidden = false;
      box.replaceChildren(html("h3", {}, "Under way: provisional bounds"), ...Object.values(live));
      this.#view = { live: { ...live, draw: canaryChart(live.chart) } };
    }
    const { words, table, draw } = this.#view.live, { chosen, intervals, claimed } = this.#course;
    const mine = p.bounds.find((b) => b.interval === chosen);
    words.textContent = `After ${grouped(p.certified)} of ${grouped(p.planned)} runs ${chosen} would give ${mine ? `epsilon ≥ ${roundedDown(mine.epsilon)}` : "no bound"} (claimed ${claimed}), had the audit been planned to end here. Nothing is certified before the end.`;
    draw(this.#course);
    table.replaceChildren(html("table", { class: "data" }, tableRows(["interval", "bound so far"], intervals.map(({ name }, i) => {
      const b = p.bounds.find((x) => x.interval === name);
      return [`${letterOf(i)} ${name}`, b ? roundedDown(b.epsilon) : "–"];
    }))));
    return words.textContent;
  }

  stopping(text) {
    this.#stopping = text;
    byId("canaries-phase").textContent = text;
  }

  message(text) { byId("canaries-status").textContent = text; }

  #end(text) {
    byId("canaries-progress").hidden = true;
    this.message(text);
  }

  #clear() {
    for (const key of [...this.#fields.keys(), ...boxes]) this.#fail(key, "");
  }

  /** Shows an error at its field. @returns {boolean} whether there is one */
  #fail(key, message, focus = false) {
    if (boxes.includes(key)) {
      const part = (name) => byId(`k-${key}-${name}`);
      part("error").textContent = message;
      part("error").hidden = !message;
      if (message) part("group").open = true;
      if (message && focus) part("choose").focus();
      return !part("group").hidden;
    }
    const f = this.#fields.get(key);
    if (!f || f.box.hidden) return false;
    f.fail(message);
    if (!message) return true;
    const group = f.box.closest("#canaries-form details");
    if (group) group.open = true;
    if (focus) f.control.focus();
    return true;
  }

  #blame(error) {
    const key = error instanceof Unusable ? error.key : error instanceof Refused ? this.#keyOf(error.refusal) : undefined;
    if (key && this.#fail(key, error.message, true)) say(error.message);
    else this.message(error instanceof Ended ? `The core ended (${error.message}). What it had drawn is lost; try again.` : error.message);
  }

  /** The key of the field that a refusal is about. @param {import("./protocol").Refusal} refusal */
  #keyOf(refusal) {
    const name = refusal.field.replace(/^(canary|one-run|scores) plan: field /, "").replace(/^"(.*)"$/, "$1");
    if (this.#how === "scores" && !["method", "beta", "seed", "epsilon", "delta", "claim"].includes(name)) return "scores";
    if (this.#how === "one" && (name === "m" || name === "canaries")) return "one";
    if (name.startsWith("parameter ")) return `p.${name.slice(10)}`;
    if (/^(data|vectors)\b/.test(name)) return "file";
    const key = own[name] ?? name;
    return this.#fields.has(key) ? key : this.#fields.has(`p.${key}`) ? `p.${key}` : undefined;
  }

  // Reports

  /** Shows a report that was opened. @param {import("./protocol").CanaryReported} answer */
  show(answer, name) {
    this.#clear();
    this.#course = null;
    this.#show(answer, name);
    this.message("");
    this.#reveal(byId("canaries-result"));
  }

  /** @param {import("./protocol").CanaryReported} answer */
  #show(answer, name) {
    const { report, text, course } = answer;
    this.#shown = { report, text };
    this.#on.shown(report);
    const box = byId("canaries-result"), chart = html("div", {}), verification = html("div", { class: "verification", hidden: true });
    const button = (id, words, onclick) => html("button", { id: `canaries-${id}`, type: "button", onclick }, words);
    const again = report.reproduce ?? {};
    box.hidden = false;
    box.dataset.stem = this.#stem();
    box.replaceChildren(...[
      html("div", { class: "result-head" }, html("h3", {}, [titles[report.kind] ?? "Canary audit", report.plan.source].filter(Boolean).join(" of ")), name && html("span", { class: "origin" }, `Opened: ${name}`)),
      ...headOf(answer),
      html("div", { class: "actions" },
        button("save", "Save report", () => save(`${this.#stem()}.json`, text)),
        button("html", "Save as HTML", () => toFile((exporter) => exporter.savePage(this.#shown, box))),
        button("verify", "Verify", () => this.verify()),
        again.url && report.kind !== "scores" && button("link", "Copy link", ({ target }) => this.#copy(target, linkTo(again.url))),
        again.cli && button("command", "Copy command", ({ target }) => this.#copy(target, again.cli))),
      verification,
      course.length > 0 && html("section", {}, html("h3", {}, "The bounds as the runs came"),
        html("p", { class: "hint" }, "Provisional: each as if the audit had been planned to end there. The runs come in the order in which workers are done."), chart),
      ...(titles[report.kind] ? findingsBodyOf(answer) : bodyOf(answer, this.#offer.intervals)),
    ].filter(Boolean));
    this.#view = { verification };
    if (course.length > 0) canaryChart(chart)({ points: course, planned: report.plan.runs, claimed: report.plan.claim.epsilon, chosen: report.plan.interval, intervals: this.#offer.intervals });
    this.#buttons();
  }

  /** The report that is shown, or null. */
  get report() { return this.#shown?.report ?? null; }

  /** What the names of the report's files begin with. */
  #stem() {
    const { kind, plan: { source, claim, runs, canaries, seed } } = this.report;
    const name = titles[kind] ? kind : "canaries", count = runs ? `n${runs}` : canaries && `m${canaries}`;
    return ["dpscope", name, source, `eps${claim.epsilon}`, count, `seed${seed}`].filter(Boolean).join("-").replace(/[^\w.+-]+/g, "_");
  }

  async #copy(button, text) {
    if (await copyFor(button, text)) say("Copied");
    else this.message(`The browser does not allow copying; here it is: ${text}`);
  }

  /** Whether a core is there and free. */
  able(able) {
    this.#able = able;
    this.#buttons();
  }

  #buttons() {
    byId("canaries-run").disabled = byId("canaries-one").disabled = !this.#able;
    byId("canaries-scores").disabled = !this.#able || !this.#files.scores.length;
    const verify = byId("canaries-verify");
    if (verify) verify.disabled = !this.#able || !this.#shown || !countsOf(this.#shown.report);
  }

  async verify() {
    if (byId("canaries-verify").disabled) return;
    const { text } = this.#shown, { verification } = this.#view, scores = this.report.kind === "scores";
    this.#how = scores ? "scores" : this.report.kind === "one-run" ? "one" : "run";
    this.#clear();
    showVerification(null, verification);
    this.#begin();
    try {
      const given = scores ? { files: this.#scores } : { file: this.report.plan.data ? this.#file?.content : undefined };
      const found = await this.#on.ask("verify", { report: text, ...given }, (p) => this.#tell(p, null), () => this.verify());
      if (this.#shown?.text === text) showVerification(found, verification);
      this.#end("");
      say(replayWords(found));
    } catch (error) {
      this.#end("");
      if (!scores && error instanceof Refused && /^(data|vectors)\b/.test(error.refusal.field)) {
        // The form may be that of another source; the file belongs to the report's.
        this.#fields.get("source").control.value = this.report.plan.source;
        this.#sourceChanged();
        this.#fields.get("design").control.value = this.report.plan.design;
        if (this.#fields.get("design").control.selectedIndex < 0) this.#fields.get("design").control.selectedIndex = 0;
        this.#dependents();
      }
      this.#blame(error);
    }
  }
}
