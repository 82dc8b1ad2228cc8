// A table with labels, for a learner: a dialog asks what the file does not say, its
// label, the declared bounds of its features and the claim. A core of its own holds
// the table and audits the learner.
import { enter } from "../page/doors.js";
import { byId, html, onSubmit, tableRows } from "../page/element.js";
import { choice, Fields, numberInput, setOptions } from "../page/field.js";
import { fileInput } from "../page/files.js";
import { defaultWorkers } from "../page/form.js";
import { dismiss, notify } from "../page/notice.js";
import { size } from "../page/number.js";
import { refusalOf, Unusable } from "../page/plan.js";
import { say } from "../page/progress.js";
import { Engine, Refused } from "../page/engine.js";

const MOST_BYTES = 64 * 2 ** 20; // the core says the same
const HEAD = 1 << 16; // bytes that tell what columns there are

/** @typedef {import("../worker/protocol").Labelled} Labelled */

export class Table {
  /** @type {{name: string, text: Uint8Array<ArrayBuffer>} | null} */
  #file = null;
  #looks = 0; // numbers them: only the last one counts
  #json = ""; // what the engine was started with, beside the text
  /** @type {Labelled | null} the report's whose file is asked for */
  #asked = null;
  #fields = new Fields("table-");
  /** @type {string[]} names, whose bounds are the fields lower/NAME and upper/NAME */
  #features = [];
  /** The workers that hold the table. */
  engine = new Engine({ lost() {}, died: (reason) => this.#died(reason) }, { table: () => ({ json: this.#json, text: this.#file.text }) });
  #page;
  #preview = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "First rows" });
  #status = html("p", { class: "status", role: "status" });
  #title = html("h2", { id: "table-title" });
  #go = html("button", { class: "primary" }, "Audit");
  #input = fileInput("table-input", "File of a table with labels", ".csv,text/csv", false, ([file]) => this.take(file, this.#asked));
  #dialog;

  /** @param {import("../app/runs.js").Parts} page */
  constructor(page) {
    this.#page = page;
    const add = (key, about, control) => this.#fields.add("", key, about, control);
    const form = html("form", { novalidate: true },
      html("div", { class: "grid" },
        add("label", { label: "Label column" }, choice([])),
        add("classes", { label: "The two labels" }, html("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "those that occur" })),
        add("mechanism", { label: "Learner" }, choice([])),
        add("epsilon", { label: "Claimed epsilon" }, numberInput({ min: 0, inputmode: "decimal" })),
        add("samples", { label: "Trainings" }, numberInput({ min: 1, step: 1, placeholder: "100000" })),
        add("seed", { label: "Seed" }, numberInput({ min: 0, step: 1, placeholder: "42" }))),
      html("fieldset", {}, html("legend", {}, "Declared bounds"),
        html("p", { class: "hint" }, "Enter the range that each feature can have, whoever is in the table: the noise is scaled to it. These fields are not filled from the data, because the least and the largest value are facts about single rows, and bounds computed from them leak them before any noise is added. ",
          html("a", { href: "docs/learners.html#a-table-of-yours", target: "_blank" }, "More on declared bounds")),
        html("div", { id: "table-bounds", class: "bounds" })),
      this.#status,
      html("div", { class: "actions" }, this.#go, html("button", { type: "button", onclick: () => this.#dialog.close() }, "Cancel")));
    onSubmit(form, () => this.#submit());
    this.#fields.get("label").control.addEventListener("change", () => this.#look());
    this.#dialog = html("dialog", { id: "table", "aria-labelledby": "table-title" }, this.#title,
      html("p", { class: "hint" }, "A learner is trained on it, and on the same table with one row changed. Nothing is uploaded."), this.#preview, form);
    document.body.append(this.#dialog, this.#input);
  }

  /** Is the file of a report there, as far as its size tells? The core knows its hash. @param {Labelled} of */
  holds({ file }) { return this.#file?.text.length === file.bytes; }

  /** Asks for a file. @param {Labelled | null} [of] of a report that is to be replayed */
  ask(of = null) {
    this.#asked = of;
    this.#input.click();
  }

  /** Takes a table. It stays in the browser. @param {File} file @param {Labelled | null} [of] */
  async take(file, of = null) {
    enter("data");
    const refuse = (found, want) => this.#page.refuse("The table was not read", new Refused(refusalOf(file.name, found, want)));
    if (file.size > MOST_BYTES) return refuse(size(file.size), "at most 64 MiB");
    try {
      this.#file = { name: file.name, text: new Uint8Array(await file.arrayBuffer()) };
    } catch (error) {
      return refuse(`unreadable (${error.message})`, "a file that this browser may read");
    }
    this.engine.end("another table");
    this.#json = "";
    const { core, runs, shown } = this.#page;
    if (of) {
      shown.fileWords();
      return runs.verify();
    }
    this.#title.textContent = `${file.name}, a table with labels`;
    const learners = core.catalogue.mechanisms.filter(({ params }) => params.some((p) => p.name === "table"));
    setOptions(this.#fields.get("mechanism").control, learners.map(({ name, title, museum }) => ({ value: name, text: title, group: museum ? "Broken ones" : "Private ones" })));
    const label = this.#fields.get("label").control;
    label.replaceChildren();
    this.#fields.forget();
    if (!await this.#look()) return;
    this.#dialog.showModal();
    label.focus();
  }

  /** Has the core say which columns there are. @returns {Promise<boolean>} whether it could */
  async #look() {
    const { text, name } = this.#file, { control } = this.#fields.get("label");
    const number = ++this.#looks;
    const whole = text.length <= HEAD ? text.length : text.lastIndexOf(10, HEAD) + 1 || HEAD;
    try {
      const found = await this.#page.engine.ask("look", { text: new TextDecoder().decode(text.subarray(0, whole)), label: control.value }).answer;
      if (number === this.#looks) this.#show(found);
      return true;
    } catch (error) {
      if (this.#dialog.open) this.#blame(error);
      else this.#page.refuse(`${name} is not a table with labels`, error);
      return false;
    }
  }

  #show(found) {
    this.#features = found.names.filter((_, i) => i !== found.label);
    setOptions(this.#fields.get("label").control, found.names.map((name, i) => ({ value: found.header ? name : String(i + 1), text: name })), found.header ? found.names[found.label] : String(found.label + 1));
    this.#fields.get("classes").hint(`Here: ${found.labels.slice(0, 6).join(", ")}${found.labels.length > 6 ? " …" : ""}`);
    this.#preview.replaceChildren(html("table", { class: "data" }, tableRows(found.names, found.head.slice(0, 4))));
    this.#fields.swap("table-bounds", this.#features.flatMap((name, i) => [["lower", "at least"], ["upper", "at most"]].map(([end, words]) =>
      /** @type {[string, object, HTMLElement]} */ ([`${end}/${name}`, { id: `table-${end}-${i}`, label: `${name}, ${words}` }, numberInput({ inputmode: "decimal" })]))));
  }

  async #submit() {
    if (this.#go.disabled) return;
    this.#fields.clearErrors();
    this.#say("");
    this.#go.disabled = true;
    try {
      const text = (key) => this.#fields.text(key);
      const classes = text("classes") ? text("classes").split(",").map((word) => word.trim()) : undefined;
      if (!text("epsilon")) throw new Unusable("epsilon", "absent", "the epsilon that the learner claims");
      const bounds = this.#features.map((name) => {
        const a = text(`lower/${name}`), b = text(`upper/${name}`);
        if (!a && !b) throw new Unusable(`bounds/${name}`, "absent", "the least and the greatest value that the feature can have, known without the data");
        if (!a || !b || !(Number(a) < Number(b))) throw new Unusable(`bounds/${name}`, `${a || "nothing"} to ${b || "nothing"}`, "a lower bound below an upper one");
        return `${name}=${a}:${b}`;
      }).join();
      const texts = Object.fromEntries(["mechanism", "epsilon", "samples", "seed"].map((key) => [key, text(key)]));
      this.#say("Reading the table…");
      await this.#start({ label: text("label"), bounds, classes });
      await this.engine.ask("check", texts).answer;
      this.#say("");
      this.#dialog.close();
      dismiss("file");
      this.#page.runs.audit(this.engine, texts);
    } catch (error) {
      this.engine.end("refused");
      this.#json = "";
      this.#blame(error);
    } finally {
      this.#go.disabled = false;
    }
  }

  /** The engine to replay a report with. @param {Labelled} was */
  async replaying(was) {
    await this.#start(was.reading, was);
    return this.engine;
  }

  /** Starts workers that hold the table. @param {import("../worker/protocol").LabelledReading} reading @param {Labelled} [was] */
  async #start(reading, was) {
    const core = this.#page.runs.module;
    if (!core) throw new Error("A run is under way, or the core has not started yet. Try again in a moment.");
    const json = JSON.stringify({ name: this.#file.name, reading, was });
    if (json === this.#json && this.engine.ready) return this.engine.resize(defaultWorkers());
    this.#json = json;
    await this.engine.start(core, defaultWorkers());
  }

  /** Nothing is under way: one worker keeps the table. */
  rest() { this.engine.resize(0); }

  #died(reason) {
    notify({ key: "file", kind: "error", title: "A worker that held your table crashed", text: reason.split("\n", 1)[0] });
    this.#page.runs.gone(this.engine);
  }

  #say(text) {
    this.#status.textContent = text;
    if (text) say(text);
  }

  #blame(error) {
    const { fault, path = "" } = error.refusal ?? {}, words = fault || error.message;
    const [first] = this.#features, feature = path === "bounds" ? first : this.#features.find((name) => path === `bounds/${name}`);
    const key = feature === undefined ? [...this.#fields.keys()].find((name) => path.split("/").includes(name)) : `lower/${feature}`;
    this.#say(this.#fields.fail(key, words, true) ? "" : words);
  }
}
