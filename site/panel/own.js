// The panel of the user's own mechanism: a function that is written here, or a
// WebAssembly module. Its code runs in the sandbox only, and a core of its own
// audits it.
import { CodeField } from "./codefield.js";
import { templateOf, templates } from "./templates.js";
import { door, enter, onEnter } from "../page/doors.js";
import { byId, html, onSubmit } from "../page/element.js";
import { Ended, Engine, REPLACE_AFTER, STOPPING } from "../page/engine.js";
import { base64, picker } from "../page/files.js";
import { choice, controlOf, Fields, numberInput, slider } from "../page/field.js";
import { defaultWorkers } from "../page/form.js";
import { size, times } from "../page/number.js";
import { OUTSIDE } from "../page/keys.js";
import { Unusable } from "../page/plan.js";
import { phases, say, timeLeft } from "../page/progress.js";
import { foundNothing } from "../page/result.js";
import { pythonFor } from "../worker/python.js";
import { inside } from "../worker/sandboxed.js";

const MODULE = "webassembly"; // a kind of audit.UserMechanism, as the languages are
/** What may be written, each with the file that errors name. @type {Record<string, string>} */
const files = { javascript: "mechanism.js", python: "mechanism.py" };
const isScript = (kind) => Object.hasOwn(files, kind);
const SANDBOXED = "dpscope-sandbox"; // what its document says to the page
const COMES_WITHIN = 1000; // ms after the frame has loaded something
const KEYS = OUTSIDE.filter(({ form }) => form.place === "own");
const MAX_MODULE = 16 * 2 ** 20; // bytes
const SOON = 300; // ms after the last key until what is written is audited
const AT_ONCE = "5000"; // outputs of an audit that nobody asked for
const BETA = "0.001"; // whoever writes is audited time and again, and should not be accused by chance
const KEPT = "dpscope-code"; // where the browser keeps what was written

const relations = [["add-remove", "one row more or less"], ["replace", "one row replaced"], ["bounded-replace", "one row changes by at most the reach"], ["l-infinity", "all rows change by at most the reach"]];

const frame = (attributes) => html("iframe", { src: "sandbox.html", hidden: true, title: "Sandbox", ...attributes });

/** The sandbox that Python ran in last, and its program's bytes: compiled there, it serves again. @type {{sandbox: Sandbox, wasm: ArrayBuffer} | null} */
let warm = null;

/** A frame that runs code for as many workers as ask. */
class Sandbox {
  #frame = frame({ sandbox: "allow-scripts" });
  #source;
  #files;
  #printed;

  /** @param {{code?: string}} source none for a module, which the core brings @param {import("../worker/python.js").Files} [files] of Python, where the code is that @param {(words: string) => void} [printed] hears the first that it prints */
  constructor(source, files, printed) { [this.#source, this.#files, this.#printed] = [source, files, printed]; }

  async open() {
    if (this.#files && warm && warm.wasm === this.#files.wasm && warm.sandbox.#frame.isConnected) {
      this.#frame = warm.sandbox.#frame;
      return;
    }
    if (this.#files && warm) warm.sandbox.#frame.remove();
    await this.#load();
    if (!this.#files) return;
    warm = { sandbox: this, wasm: this.#files.wasm };
    const { wheels: _, names: __, modules: ___, ...files } = this.#files;
    this.#post({ files });
  }

  async #load() {
    if (await this.#comes()) return;
    // A service worker may not answer for such a frame. Offline ours does so for one
    // without the attribute, with a policy that says the same.
    this.#frame.remove();
    this.#frame = frame();
    if (!await this.#comes()) throw new Error("The sandbox could not be loaded. Is the server still there?");
  }

  /** Puts the frame into the page. @returns {Promise<boolean>} whether a sandbox is in it */
  #comes() {
    return new Promise((resolve) => {
      const hear = ({ source, data }) => { if (source === this.#frame.contentWindow && data === SANDBOXED) done(true); };
      const done = (there) => {
        removeEventListener("message", hear);
        resolve(there);
      };
      addEventListener("message", hear);
      this.#frame.addEventListener("load", () => setTimeout(done, COMES_WITHIN, false), { once: true });
      document.body.append(this.#frame);
    });
  }

  /** A port to a fresh worker with the code. @returns {MessagePort} */
  port() {
    const { port1, port2 } = new MessageChannel(), message = { ...this.#source, program: `(${inside})()`, port: port2 };
    if (this.#files) {
      const { port1: hears, port2: notes } = new MessageChannel(), { wheels, names, modules } = this.#files;
      hears.onmessage = ({ data }) => this.#printed(String(data.printed));
      this.#post({ ...message, notes, python: { wheels, names, modules } }, [port2, notes]);
    } else this.#post(message, [port2]);
    return port1;
  }

  /** @param {object} message @param {Transferable[]} [transfer] */
  #post(message, transfer) { this.#frame.contentWindow?.postMessage(message, "*", transfer); } // its origin is opaque

  /** Ends all that runs in it. */
  close() {
    if (this.#files) this.#post({ end: true });
    else this.#frame.remove();
  }
}

export class Own {
  #fields = new Fields("own-");
  /** @type {{name: string, bytes: ArrayBuffer} | null} */
  #module = null;
  /** @type {Engine | null} */
  #engine = null;
  #id = null;
  /** @type {CodeField} */
  #code;
  /** @type {{text: string, language: any} | null} code that something else took the place of */
  #replaced = null;
  /** @type {Record<string, string>} what was written last in the language that is not shown */
  #others = {};
  /** @type {import("./templates.js").Template | null} what the code began as */
  #template = null;
  #told = 0; // how much of the template's bug
  #result = null; // the state that the result which is shown came of
  #came = false; // what is written came from elsewhere, and nothing of it has run
  #stopped = false;
  #printed = ""; // the first that Python printed
  #slider;
  #timer = 0;
  #again = false; // what is under way is of what was written before
  #asked = true; // what is under way, by a button
  #page;

  /** @param {import("../app/runs.js").Parts} page */
  constructor(page) {
    this.#page = page;
    const add = (place, key, about, control) => this.#fields.add(place, key, about, control);
    add("own-code-field", "code", { label: "Your code", wide: true }, html("textarea", { rows: 14, spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off" }));
    this.#code = new CodeField(this.#fields.get("code"));
    const known = (place, name, about = {}) => {
      const key = KEYS.find((key) => key.name === name);
      add(place, name, { ...key.form, ...about }, controlOf(key));
    };
    known("own-space", "rows", { label: "Rows in a dataset" });
    known("own-space", "domain", { label: "Values in a row" });
    add("own-space", "relation", { label: "Datasets differ by" }, choice(relations.map(([value, text]) => ({ value, text }))));
    add("own-space", "output", { label: "Output is" }, choice([{ value: "real", text: "numbers" }, { value: "symbol", text: "names" }]));
    known("own-space", "reach");
    add("own-fields", "epsilon", { label: "Claimed epsilon" }, numberInput({ min: 0, inputmode: "decimal" }));
    add("own-fields", "delta", { label: "Claimed delta" }, numberInput({ min: 0, max: 1, inputmode: "decimal", placeholder: "0" }));
    known("own-fields", "integer");
    add("own-fields", "samples", { label: "Samples" }, numberInput({ min: 1, step: 1, placeholder: "100000" }));
    add("own-fields", "seed", { label: "Seed" }, numberInput({ min: 0, step: 1, placeholder: "42" }));
    this.#slider = slider("own-slide", "What it claims", (x) => {
      const { control } = this.#fields.get("epsilon");
      control.value = String(Number(x.toPrecision(2)));
      control.dispatchEvent(new Event("input", { bubbles: true }));
    });
    byId("own-code-set").prepend(this.#slider.box);
    const select = byId("own-template");
    select.append(html("option", { value: "", hidden: true }, "Your own code"), ...templates.map(({ name }) => html("option", { value: name }, `Template: ${name}`)));
    select.addEventListener("input", (event) => event.stopPropagation());
    select.addEventListener("change", () => {
      this.#begin(templates.find(({ name }) => name === select.value));
      this.#keep();
      if (!page.still) this.soon(0);
    });
    for (const button of document.querySelectorAll("#own-language button")) {
      button.addEventListener("click", () => this.#speak(/** @type {any} */ (/** @type {HTMLElement} */ (button).dataset.language)));
    }
    byId("own-more").open = matchMedia("(min-width: 47.5625em)").matches;
    byId("own-hint").addEventListener("click", () => this.#reveal(this.#told + 1));
    this.#begin(templates[0]);
    this.#recall();
    onEnter((to) => { if (to === "code") this.#equip(); });
    if (door() === "code") this.#equip();
    onSubmit(byId("own-form"), () => this.run());
    byId("own-form").addEventListener("input", () => {
      this.#dependents();
      this.#keep();
      if (page.still || this.#module) return;
      if (!this.running) page.shown.old("code");
      this.soon();
    });
    byId("own-stop").addEventListener("click", () => this.stop());
    picker("own-choose", "own-input", "Module", ".wasm,application/wasm", false, (files) => this.take(files));
    byId("own-forget").addEventListener("click", () => {
      this.#give(null);
      this.#code.focus();
    });
    byId("own-back").addEventListener("click", () => {
      const { text, language } = this.#code, before = this.#replaced;
      this.#code.write(before.text, before.language);
      this.#replaced = { text, language };
      this.#template = templateOf(before.text);
      this.#code.focus();
      this.#dependents();
      this.#keep();
    });
  }

  /** Loads what the door needs and the site was built with; without that the code is JavaScript in a text field. */
  async #equip() {
    const { engine } = this.#page, [editor, python] = await Promise.all(["editor.js", "python/micropython.js"].map((name) => engine.fileInfo(name)));
    byId("own-python").hidden = !python;
    byId("own-without").hidden = Boolean(editor) || !await engine.info(); // without that nobody knows
    if (editor) await this.#code.load();
  }

  // Templates and languages

  /** Begins with a template. @param {import("./templates.js").Template} template */
  #begin(template) {
    this.#write({ epsilon: "1", ...template.texts }, template.in[this.#code.language][0]);
    this.#template = template;
    this.#others = {};
    this.#reveal(0);
    this.#dependents();
  }

  /** Goes on in another language: with what was written there, or with the same template. @param {any} language */
  #speak(language) {
    const { text, language: before } = this.#code;
    if (language === before) return;
    const begun = this.#template ?? templates[0], other = this.#others[language] ?? begun.in[language][0];
    this.#others[before] = text;
    this.#code.write(other, language);
    this.#template = templateOf(other) ?? this.#template;
    this.#code.fail("");
    this.#dependents();
    this.#keep();
    if (!this.#page.still) this.soon(0);
  }

  /** Tells more of the template's bug: nothing, where to look, what is wrong. */
  #reveal(much) {
    const t = this.#template;
    this.#told = t ? much : 0;
    byId("own-hint").hidden = !t || this.#told > 1;
    byId("own-hint").textContent = this.#told ? "Show what is wrong" : "Show a hint";
    byId("own-told").textContent = ["", t?.hint, t?.fault][this.#told] ?? "";
    if (this.#told < 2) return;
    const at = this.#code.text.indexOf(t.in[this.#code.language][1]);
    if (at >= 0) this.#code.goTo(this.#code.text.slice(0, at).split("\n").length);
  }

  /** Is the template's bug gone from the code, under the template's own claim and datasets? */
  get #mended() {
    const t = this.#template, texts = { epsilon: "1", ...t?.texts };
    const same = ([key, f]) => ["code", "samples", "seed"].includes(key) || f.box.hidden || this.#fields.text(key) === (texts[key] ?? f.control.options?.[0].value ?? "");
    return t !== null && !this.#code.text.includes(t.in[this.#code.language][1]) && [...this.#fields].every(same);
  }

  /** Has anything been audited here, or does what came wait for that? */
  get there() { return this.#result !== null || this.#came; }

  /** Audits what is written, if nothing else is written meanwhile. */
  soon(after = SOON) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.#page.runs.module) this.soon(); // it is busy
      else if (this.#engine !== null || byId("own-run").disabled) {
        this.#again = true;
        this.stop(REPLACE_AFTER);
      } else this.run(false);
    }, after);
  }

  /**
   * Shows code that came with a link. Nothing of it runs. Throws what is wrong with it.
   * @returns {Pick<import("../worker/protocol").PreviewRequest, "settings" | "brought">} what it asks for, to the core
   */
  receive({ code, language, settings }) {
    this.#come(settings, code, isScript(language) ? language : "javascript", "Code that came with a link", "The code of the link. It runs when you press Run.");
    const { settings: asked, mine: { name }, about } = this.#wanted();
    return { settings: asked, brought: { kind: this.#code.language, name, ...about } };
  }

  /** Takes a function that came as a file or as text. Nothing of it runs. @param {import("../worker/protocol").Recognized} found */
  bring({ code, language, said }) {
    enter("code");
    this.#come(this.#fields.texts, code, language, "A function of yours", said);
    this.#keep();
    if (language === "python") pythonFor(code).catch(() => {}); // it comes meanwhile; Run says what is wrong
  }

  /** Shows code of which nothing has run. */
  #come(settings, code, language, title, said) {
    clearTimeout(this.#timer);
    this.#result = null;
    this.#came = true;
    this.#write(settings, code, language);
    this.#page.shown.waits(title, "Say what it claims, and have it audited here.", "code", "Audit it here");
    this.#status(said);
  }

  /** Keeps what is written; a browser that refuses forgets it with the page. */
  #keep() {
    try {
      localStorage.setItem(KEPT, JSON.stringify({ code: this.#code.text, language: this.#code.language, others: this.#others, template: this.#template?.name, texts: { ...this.#fields.texts, code: undefined } }));
    } catch { /* then it lasts as long as the page */ }
  }

  #recall() {
    try {
      const { code, texts, language = "javascript", others, template } = JSON.parse(localStorage.getItem(KEPT) ?? "null") ?? {};
      if (typeof code !== "string" || typeof texts !== "object" || !isScript(language)) return;
      this.#write(texts, code, language);
      this.#template = templates.find(({ name }) => name === template) ?? null;
      this.#others = typeof others === "object" && others !== null ? Object.fromEntries(Object.entries(others).filter(([kind, text]) => isScript(kind) && typeof text === "string")) : {};
      this.#reveal(0);
      this.#dependents();
    } catch { /* nothing that can be read was kept */ }
  }

  get running() { return this.#engine !== null || byId("own-run").disabled; }

  /** What the panel is set to: its source is a module or the code. */
  get #state() {
    const texts = [...this.#fields.keys()].map((key) => (key === "code" ? "" : this.#fields.text(key)));
    return { texts: texts.join("\n"), source: this.#module ?? `${this.#code.language}\n${this.#code.text.trim()}` };
  }

  /** Have the settings changed since the result that is shown? */
  get drifts() {
    const was = this.#result, is = this.#state;
    return was !== null && (was.texts !== is.texts || (was.source !== null && was.source !== is.source));
  }

  #dependents() {
    this.#fields.get("reach").box.hidden = !["bounded-replace", "l-infinity"].includes(this.#fields.text("relation"));
    this.#fields.get("code").box.hidden = this.#module !== null;
    byId("own-back").hidden = this.#module !== null || !this.#replaced;
    byId("own-template").value = this.#template?.name ?? "";
    if (!this.#template) this.#reveal(0);
    for (const button of document.querySelectorAll("#own-language button")) button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.language === this.#code.language));
    const epsilon = Number(this.#fields.text("epsilon"));
    this.#slider.box.hidden = !(epsilon > 0);
    this.#slider.put(Math.log10(epsilon), `ε = ${epsilon}`, ["No output may be more than ", html("b", {}, `${times(epsilon)} times`), " as likely."]);
    this.#page.shown.compare();
  }

  /** Fills the fields; what texts do not name gets its default. @param {string} [code] @param {any} [language] of it */
  #write(texts, code, language = this.#code.language) {
    this.#fields.clearErrors();
    for (const key of this.#fields.keys()) if (key !== "code") this.#fields.put(key, texts[key]);
    this.#code.fail("");
    if (code !== undefined) {
      const { text, language: spoken } = this.#code;
      if (text && text !== code && !templateOf(text)) this.#replaced = { text, language: spoken };
      this.#code.write(code, language);
      this.#template = templateOf(code);
      this.#give(null);
    }
    this.#dependents();
  }

  /** Shows the mechanism of a report. Nothing of it runs. @param {{inputs: {brought?: any}, claim: any, plan: any}} report */
  open({ inputs: { brought: b }, claim, plan }) {
    this.#result = null;
    if (!isScript(b.kind) && b.kind !== MODULE) return;
    this.#write(textsOf({ inputs: { brought: b }, claim, plan }), isScript(b.kind) ? b.code : undefined, b.kind);
    this.#result = { ...this.#state, ...(b.kind === MODULE && { source: null }) }; // its file may come later
    enter("code");
    this.#status(isScript(b.kind) ? "The code of the report that was opened. It runs when you press Run or Verify." : `The report is of the module ${b.name}, which it does not contain: choose the file.`);
  }

  // Files

  /** Are dropped files meant for this panel? @param {File[]} files */
  wants(files) { return files.length === 1 && /\.wasm$/i.test(files[0].name); }

  /** Takes a module. It stays in the browser. @param {File[]} files one */
  async take([file]) {
    enter("code");
    try {
      if (file.size > MAX_MODULE) throw new Unusable("file", size(file.size), `at most ${size(MAX_MODULE)}`);
      this.#give({ name: file.name, bytes: await file.arrayBuffer() });
      this.#status(`${file.name} is loaded. Press Run to audit it.`);
    } catch (error) {
      this.#status(`${file.name} was not opened: ${error.message}`);
    }
    byId("own-rest").open = true;
    byId("own-form").scrollIntoView({ block: "nearest" });
  }

  #give(module) {
    this.#module = module;
    byId("own-file").textContent = module ? `${module.name}, ${size(module.bytes.byteLength)}` : "";
    byId("own-forget").hidden = !module;
    this.#dependents();
  }

  // Runs

  /** What the panel is set to, to the core; throws what is wrong with it. @param {string} [samples] where none are set */
  #wanted(samples = "") {
    const { texts } = this.#fields, { epsilon, delta, seed, relation, output } = texts;
    if (!epsilon) throw new Unusable("epsilon", "absent", "the epsilon that this mechanism claims");
    const { language, text: code } = this.#code, mine = this.#module ?? { name: files[language], code };
    return {
      settings: { epsilon, delta, samples: texts.samples || samples, seed, beta: BETA, mechanism: "bytes" in mine ? MODULE : language }, mine,
      about: { relation: /** @type {import("../worker/protocol").Relation} */ (relation), output: /** @type {import("../worker/protocol").ColumnKind} */ (output), settings: Object.fromEntries(KEYS.map(({ name }) => [name, texts[name]])) },
    };
  }

  /** @param {boolean} [asked] whether by a button */
  async run(asked = true) {
    if (this.running) return;
    clearTimeout(this.#timer);
    this.#came = false;
    this.#asked = asked;
    this.#fields.clearErrors();
    this.#code.fail("");
    const state = this.#state;
    if (!this.#module && !this.#code.text.trim()) {
      this.#page.shown.waits("Write a mechanism", "A function called mechanism(rows, random) that returns one output.", "code");
      this.#status("Write a mechanism, or begin with a template.");
      return;
    }
    try {
      const { settings, mine, about } = this.#wanted(asked ? "" : AT_ONCE);
      this.#page.shown.old("code");
      const answer = await this.#do(mine, about, (tell) => this.#engine.ask("run", { kind: "pair", settings }, tell));
      const { report } = answer;
      if (this.#again) throw new Ended("", true);
      if (foundNothing(report)) throw new Ended("Stopped before anything was found.", true);
      this.#status(answer.error ? `Ended by an error: ${answer.error}` : `Audited in ${report.timing.total.toFixed(1)} s.${this.#printed && ` It printed “${this.#printed}”; what it prints is shown nowhere else.`}`, false);
      say(report.summary, true);
      if (!report.tables.length) return;
      this.#result = state;
      this.#page.shown.show(answer, "run");
      this.#page.runs.free("done");
      if (this.#mended && report.verdict !== "violation") byId("own-told").textContent = `You found it. ${this.#template.fault}`;
    } catch (error) {
      if (!this.#again) this.#blame(error);
    }
    if (this.#again) {
      this.#again = false;
      this.run(false);
    }
  }

  /** Replays a report of a mechanism that was brought here. @returns {Promise<import("../worker/protocol").VerifiedValue>} */
  async verify(report, text) {
    const b = report.inputs.brought;
    clearTimeout(this.#timer);
    this.#asked = true;
    if (this.running) throw new Error("Your own mechanism is being audited; stop that first.");
    if (!isScript(b.kind) && b.kind !== MODULE) throw new Error("A command runs on the command line only: dpscope verify -exec.");
    if (b.kind === MODULE && !this.#module) throw new Error(`It is of the module ${b.name}, which it does not contain. Choose the file in "Your code" first.`);
    const { relation, ...space } = spaceOf(b), about = { relation, settings: space, sha256: b.sha256, kinds: Object.fromEntries(b.columns.map((c) => [c.name, c.kind])) };
    try {
      // The file may have been renamed.
      return await this.#do({ code: b.code ?? "", kind: b.kind, ...(b.kind === MODULE && this.#module), name: b.name }, about, (tell) => this.#engine.ask("verify", text, tell));
    } finally {
      this.#status("");
    }
  }

  /** Opens sandbox and core, asks, and ends both. @param {{name: string, kind?: string, code?: string, bytes?: ArrayBuffer}} mine @param {object} about it, for the core */
  async #do({ name, kind = this.#code.language, code, bytes }, about, request) {
    let sandbox = null;
    this.#stopped = false;
    this.#printed = "";
    byId("own-run").disabled = true;
    byId("own-stop").disabled = false;
    if (this.#asked) byId("own-stop").focus({ preventScroll: true });
    this.#status("Trying the mechanism…");
    try {
      const json = JSON.stringify({ ...about, name, ...(bytes ? { kind: MODULE, module: await base64(new Blob([bytes])) } : { kind, code }) });
      const core = this.#page.runs.module;
      if (!core) throw new Error("The core is not running, or is busy: try again.");
      if (!bytes && kind === "python") this.#status("Fetching Python…", false);
      const files = !bytes && kind === "python" ? await pythonFor(code) : undefined;
      sandbox = new Sandbox(bytes ? {} : { code }, files, (words) => { this.#printed ||= words; });
      await sandbox.open();
      this.#status(files?.names ? `Starting ${["Python", ...files.names].join(" with ")}, which takes seconds…` : "Trying the mechanism…");
      if (this.#stopped) throw new Ended("Stopped.", true);
      const ended = (reason) => this.#status(`A worker ended: ${reason.split("\n", 1)[0]}`);
      this.#engine = new Engine({ lost: (_, reason) => ended(reason), died: ended }, { bring: () => ({ json, port: sandbox.port() }) });
      await this.#engine.start(core, defaultWorkers());
      const { id, answer } = request((p) => this.#tell(p));
      this.#id = id;
      return await answer;
    } finally {
      this.#engine?.end("done");
      sandbox?.close();
      this.#engine = this.#id = null;
      byId("own-progress").hidden = true;
      byId("own-run").disabled = false;
      if (document.activeElement === byId("own-stop") || this.#asked && document.activeElement === document.body) byId("own-run").focus({ preventScroll: true });
      byId("own-stop").disabled = true;
    }
  }

  /** @param {number} [patience] of who does not wait for the result (ms) */
  stop(patience) {
    const engine = this.#engine, end = () => engine?.end("Stopped.");
    if (this.#id === null) end();
    else if (this.#stopped && !patience) engine.endNow(this.#id);
    else engine.stop(this.#id, () => this.#status(STOPPING), end, patience);
    this.#stopped = true;
  }

  /** @param {import("../worker/protocol").ProgressValue} p */
  #tell(p) {
    const percent = p.total > 0 ? Math.min(100, Math.floor((100 * p.rows) / p.total)) : 0;
    const left = timeLeft(p);
    if (!this.#again) this.#page.shown.follow(p, "code");
    byId("own-progress").hidden = false;
    byId("own-progress").value = percent;
    this.#status(`${phases[p.phase] ?? "Replaying"}, ${percent} %${left && `, ${left} left`}`, false);
  }

  #status(text, now = true) {
    byId("own-status").textContent = text;
    if (text) say(text, now);
  }

  #blame(error) {
    if (error instanceof Ended) {
      this.#page.shown.standsAgain("code");
      return this.#status(error.stopped ? error.message : `Ended: ${error.message}`);
    }
    const { path = "", fault, line, said: told, late } = error.refusal ?? {}, words = fault || error.message, said = told || words;
    const about = [...this.#fields.keys()].find((key) => path.split("/").includes(key));
    this.#status(line ? `Stopped at line ${line}.` : words);
    this.#page.shown.cannot(said, about ? undefined : line ? `The code failed in line ${line}` : late ? "Your code does not finish" : undefined, "code");
    if (this.#fields.fail(about, words, this.#asked) || this.#module) return;
    this.#code.fail(line ? said : words, line);
    if (!this.#asked) return; // whoever writes goes on
    if (line) this.#code.goTo(line);
    else this.#code.focus();
  }
}

/** What a link holds of a report's code; null where it has none. @returns {import("../page/packed.js").Linked | null} */
export function linkOf({ inputs, claim, plan }) {
  const b = inputs?.brought;
  if (!isScript(b?.kind)) return null;
  return { code: b.code, language: b.kind, settings: textsOf({ inputs, claim, plan }) };
}

/** Those of values that there are, as texts. */
const given = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== false).map(([key, value]) => [key, String(value)]));

/** Where the datasets of a report's mechanism lie. */
const spaceOf = ({ datasets: d }) => given({ domain: d.lower.map((x, i) => `${x}:${d.upper[i]}`).join(), rows: `${d.minRows}:${d.maxRows}`, relation: d.relation, reach: d.reach, integer: d.integer });

/** What a report's audit was set to, as texts of the form. */
const textsOf = ({ inputs: { brought: b }, claim, plan }) => ({ ...spaceOf(b), ...given({ output: b.columns.every((c) => c.kind === "symbol") ? "symbol" : "real", epsilon: claim.epsilon, delta: claim.delta, samples: plan.samples, seed: plan.seed }) });
