// The panel of the user's samples: files in, a preview before anything runs. A
// worker of its own reads and audits them; the form above audits them as it
// audits a mechanism.
import { enter } from "../page/doors.js";
import { byId, html, scrolled, tableRows, terms } from "../page/element.js";
import { Ended, Engine } from "../page/engine.js";
import { choice, field } from "../page/field.js";
import { OUTSIDE } from "../page/keys.js";
import { picker } from "../page/files.js";
import { grouped, size } from "../page/number.js";
import { refusalOf } from "../page/plan.js";
import { Bar, say } from "../page/progress.js";

/** How large a file may be, in bytes; the core says the same. */
const MOST_BYTES = 2 ** 30;
const MOST_ASKED = 6; // columns in a question
/** Names of files of scores. */
const LIKE_SCORES = /canar|score|(^|[^a-z])((non)?[-_ ]?members?|in|out|holdout|held[-_ ]?out)([^a-z]|$)/i;

/** Names of columns that say who was in a training, and of such that may be a score of it. */
const LIKE_MEMBER = /member|train|canary|^in$/i, LIKE_SCORE = /score|loss|logit|conf|prob|error/i;

const kinds = [{ value: "", text: "by content" }, { value: "real", text: "numbers" }, { value: "symbol", text: "names" }, { value: "mixed", text: "numbers and names" }];
const kindWords = Object.fromEntries(kinds.map(({ value, text }) => [value, text]));
const roles = ["output", "dataset", "left out"].map((value) => ({ value, text: value === "dataset" ? "tells the dataset" : value }));

/** What is set for all columns: its field, what of a reading it is, and what it may be. */
const settings = OUTSIDE.filter(({ form }) => form.place === "yours").map(({ name, fields, form }) => ({ id: `yours-${name}`, key: fields[0].split("/").pop(), form }));
const options = {
  header: { "": "by content", yes: "names the columns", no: "is a row" },
  nonFinite: { "": "refuse", symbol: "treat as symbols" },
};

/** @typedef {import("../worker/protocol").Reading} Reading */

export class Samples {
  /** The worker that holds the samples; it runs and verifies what is about them. */
  engine = new Engine({ lost() {}, died: (reason) => this.#died(reason) }, { role: "samples" });
  /** @type {File[]} */
  #files = [];
  /** @type {Reading} */
  #reading = {};
  /** @type {import("../worker/protocol").Inspected | null} */
  #found = null;
  /** @type {Reading} */
  #next = {}; // of the files that are asked for
  #request = 0; // id of the reading under way
  #reads = 0; // numbers them: only the last one counts
  #stopping = false; // on the user's wish
  #bar = new Bar("yours");
  #on;

  /**
   * @param {{core(): Promise<WebAssembly.Module | null>, busy(): void,
   *   offer(listing: import("../worker/protocol").MechanismListing | null): void, refused(title: string, refusal: import("../worker/protocol").Refusal, table?: () => void): void, labelled(file: File): void,
   *   settled(): void, asks(title: string, text: string, action: import("../page/notice.js").Action[]): void, scores(files: File[], name: string, sure: boolean): void, gone(): void, died(reason: string, again: () => void): void, claim(): void, membership(): void, toScores(files: File[], columns?: import("./canaries.js").ScoreColumns): void}} on
   *   core: null where it cannot be had now; busy: whether it is changed; settled: reading went well; asks: what only the user knows; table: takes the file as a table with labels, which labelled does; scores: the files look like membership scores, sure: and like no outputs; gone: the worker has ended
   */
  constructor(on) {
    this.#on = on;
    let second = false;
    picker("yours-choose", "yours-input", (files) => this.take(second ? [...this.#files, ...files] : files));
    byId("yours-choose").addEventListener("click", () => { second = false; });
    byId("yours-second").addEventListener("click", () => {
      byId("yours-input").click();
      second = true;
    });
    byId("yours-input").addEventListener("cancel", () => { this.#next = {}; });
    byId("yours-stop").addEventListener("click", () => this.stop());
    byId("yours-forget").addEventListener("click", () => {
      this.forget();
      byId("yours-choose").focus();
    });
    byId("yours-membership").addEventListener("click", () => on.membership());
    byId("yours-claim").addEventListener("click", () => on.claim());
    byId("yours-scores").addEventListener("click", () => on.toScores(this.#files));
    for (const { id, key, form } of settings) {
      const { box, control } = field({ id, key, ...form }, choice(Object.entries(options[key]).map(([value, text]) => ({ value, text }))));
      byId("yours-fields").append(box);
      control.addEventListener("change", () => this.#change({ [key]: control.value }));
    }
  }

  /** Is a reading under way? */
  get busy() { return this.#request !== 0; }
  /** Are there files, read or not? */
  get there() { return this.#files.length > 0 && this.engine.ready !== null; }

  /** Are the files those of a report? @param {any} recording its inputs.samples */
  holds(recording) {
    const sums = (files) => (files ?? []).map((file) => file.sha256).sort().join();
    return this.there && sums(this.#found?.files) !== "" && sums(this.#found.files) === sums(recording.files);
  }

  /** Asks for files, to be read as a report says. @param {Reading} reading */
  ask(reading) {
    this.#next = reading;
    byId("yours-choose").click();
  }

  /** Takes one or two files of samples. They stay in the browser. @param {File[]} files */
  take(files) {
    const reading = this.#next;
    this.#next = {};
    enter("data");
    const refuse = (found, want, remedy = "") => this.#on.refused("The samples were not read", refusalOf(files.map((f) => f.name).join(", "), found, want, remedy));
    if (files.length > 2) return refuse(`${files.length} files`, "one file, or one for each of the two datasets");
    const large = files.find((f) => f.size > MOST_BYTES);
    if (large) return refuse(`${large.name} of ${size(large.size)}; nothing of it was read`, "at most 1 GiB", "take a random part of the rows, or give it to the command dpscope, which takes larger ones");
    if (files.some((f) => f.size === 0)) return refuse("empty", "a file with data", "was it still being written?");
    // In the order of their names: that in which they are dropped is nobody's.
    this.#read([...files].sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))), reading, true);
  }

  /** Reads the files, or what is left of the work after a change of what their columns are. */
  async #read(files, reading, anew) {
    const number = ++this.#reads, table = this.#asTable(files);
    try {
      const core = await this.#on.core();
      if (number !== this.#reads) return;
      if (!core) {
        this.#show(); // as it was
        return;
      }
      this.#files = files;
      this.#reading = reading;
      anew ||= this.busy; // a worker reads once at a time
      this.#request = -1;
      this.#stopping = false;
      this.#begin(files);
      if (anew || !this.engine.ready) {
        this.#found = null;
        this.#show();
        this.#on.offer(null);
        await this.engine.start(core, 0); // a fresh worker: the memory of the old one is free
        if (number !== this.#reads) return;
        anew = true;
      }
      const { id, answer } = this.engine.ask("inspect", reading, (p) => this.#progress(p), anew ? files : []);
      this.#request = id;
      this.#on.busy();
      const found = await answer;
      if (number !== this.#reads) return;
      this.#end();
      this.#found = found;
      this.#show();
      this.#told(found);
    } catch (error) {
      if (number !== this.#reads) return;
      if (error instanceof Ended && !error.stopped) return; // told by died
      if (this.#stopping) {
        this.#stopped();
        return;
      }
      this.forget();
      this.#on.refused("The samples were not read", error.refusal ?? { message: error.message }, table);
    }
  }

  /** Takes one file of text as a table with labels; undefined for what cannot be one. @param {File[]} files */
  #asTable(files) {
    const [file] = files;
    return files.length === 1 && file.name.toLowerCase().endsWith(".csv") ? () => { this.forget(); this.#on.labelled(file); } : undefined;
  }

  #told(found) {
    const names = this.#files.map((f) => f.name).join(" and ");
    if (found.problem) {
      this.#on.offer(null);
      byId("yours-status").textContent = `${names} cannot be audited as it is: see the notice.`;
      if (found.scores) this.#on.scores(this.#files, names, true);
      else if (found.twoValued) this.#ask(found, names);
      else this.#on.refused(`${names}: no samples to audit`, found.problem, this.#asTable(this.#files));
      return;
    }
    const [a, b] = found.samples.rows;
    const text = `${names}: ${grouped(a)} and ${grouped(b)} rows on the two datasets.`;
    byId("yours-status").textContent = text;
    say(text);
    this.#on.settled();
    const fresh = Object.keys(this.#reading).length === 0; // nothing was said of the columns yet
    if (fresh && (found.scores || (this.#pairOfColumns && this.#files.some(({ name }) => LIKE_SCORES.test(name))))) this.#on.scores(this.#files, names, false);
    this.#on.offer({ ...found.samples.listing, claim: {}, title: names, own: true });
  }

  /** Asks what a column of two values says: which dataset, or who was in a training. @param {import("../worker/protocol").Inspected} found */
  #ask({ twoValued: two, columns, problem }, names) {
    const files = this.#files, member = two.find((name) => LIKE_MEMBER.test(name)), [first] = two;
    const numbers = columns.filter(({ name, kind }) => kind === "real" && name !== member).map(({ name }) => name), score = numbers.find((name) => LIKE_SCORE.test(name)) ?? numbers[0];
    const none = { label: "None of these", run: () => this.#on.refused(`${names}: no samples to audit`, problem, this.#asTable(files)) };
    const apart = (name, label) => ({ label, run: () => this.#change({ dataset: name }) });
    if (member && score) {
      const is = (how, lower) => ({ label: `Yes, and a ${how} ${score} means in`, run: () => this.#on.toScores(files, { score, member, lower }) });
      this.#on.asks(`Does “${member}” say who was in the training?`, `It has two values. Then “${score}” is taken as the membership score.`, [is("lower", "true"), is("higher", ""), apart(member, "No, it tells two datasets apart"), none]);
    } else if (two.length > 1) this.#on.asks("Which column tells the datasets apart?", "Each of these has two values: the rows with one are outputs on one dataset, those with the other outputs on its neighbour.", [...two.slice(0, MOST_ASKED).map((name) => apart(name, name)), none]);
    else this.#on.asks(`Does “${first}” tell the datasets apart?`, "It has two values: the rows with one would be outputs on one dataset, those with the other outputs on its neighbour.", [apart(first, "Yes"), { ...none, label: "No" }]);
  }

  /** Are there two files of one column of numbers each, which may be outputs or scores? */
  get #pairOfColumns() { return this.#files.length === 2 && this.#found?.samples?.columns === 1 && this.#found.columns[0].kind === "real"; }

  #begin(files) {
    this.#bar.begin();
    this.#bar.at(`Reading ${files.map((f) => `${f.name}, ${size(f.size)}`).join(" and ")}`);
    byId("yours-stop").hidden = false;
    this.#on.busy();
  }

  #progress({ name, share }) {
    const percent = Math.min(99, Math.floor(100 * share));
    this.#bar.at(`Reading ${name}, ${percent} %`, percent / 100);
    say(`Reading ${name}, ${percent} %`, false);
  }

  #end() {
    this.#request = 0;
    const focused = document.activeElement === byId("yours-stop");
    this.#bar.end();
    byId("yours-stop").hidden = true;
    if (focused) byId("yours-choose").focus();
    this.#on.busy();
  }

  /** Stops the reading under way. */
  stop() {
    this.#stopping = true;
    if (this.#request > 0) this.engine.stop(this.#request, () => {}, () => {});
    else this.#stopped();
    return true;
  }

  #stopped() {
    this.forget();
    byId("yours-status").textContent = "Reading was stopped.";
    say("Reading was stopped");
  }

  #died(reason) {
    const files = this.#files, reading = this.#reading;
    this.forget();
    this.#on.died(reason, () => this.#read(files, reading, true));
  }

  /** Lets go of the files, their worker and its memory. */
  forget() {
    this.#reads++;
    this.#files = [];
    this.#found = null;
    this.engine.end("the samples were discarded");
    this.#on.gone();
    this.#end();
    this.#on.offer(null);
    this.#show();
    byId("yours-status").textContent = "";
  }

  #change(part) {
    const reading = { ...this.#reading, ...part };
    for (const [key, value] of Object.entries(reading)) if (!value || Object.keys(value).length === 0) delete reading[key];
    if (this.#files.length) this.#read(this.#files, reading, false);
  }

  // The preview

  #show() {
    const found = this.#found;
    document.body.toggleAttribute("data-file", found !== null);
    byId("yours-forget").hidden = byId("yours-fields").hidden = !found;
    byId("yours-second").hidden = !found || this.#files.length !== 1 || Boolean(found.samples);
    byId("yours-preview").hidden = !found;
    byId("yours-claim").hidden = !found?.samples;
    byId("yours-scores").hidden = !found?.scores && !this.#pairOfColumns;
    for (const { id, key } of settings) byId(id).value = this.#reading[key] ?? "";
    if (!found) return;
    const facts = found.samples;
    const focus = document.activeElement?.id;
    byId("yours-preview").replaceChildren(...[
      found.files.length > 0 && scrolled("Files", "data", tableRows(["file", "format", "size", "rows", "SHA-256"], found.files.map((f) => [f.name, f.format, size(f.bytes), grouped(f.rows), html("span", { title: f.sha256 }, `${f.sha256.slice(0, 12)}…`)]))),
      facts && html("dl", { class: "pairs" }, terms(["Dataset A", "Dataset B"].map((name, i) => [name, `${facts.datasets[i]}: ${grouped(facts.rows[i])} rows`]))),
      facts?.notes.length > 0 && html("ul", { class: "notes" }, facts.notes.map((note) => html("li", {}, note))),
      found.columns.length > 0 && scrolled("Columns and first rows", "data tall", this.#columns(found)),
    ].filter(Boolean));
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  }

  /** The columns, a line each: what they are, changeable, and their first values. */
  #columns({ columns, head }) {
    const rows = Math.max(0, ...head.map((_, i) => i + 1));
    const select = (i, name, options, value, change) => {
      const control = choice(options, value);
      control.id = `yours-${name}-${i}`;
      control.setAttribute("aria-label", `${columns[i].name}: ${name}`);
      control.addEventListener("change", () => change(control.value));
      return control;
    };
    return [
      html("thead", {}, html("tr", {}, ["column", "holds", "is", ...Array.from({ length: rows }, (_, i) => `row ${i + 1}`)].map((cell) => html("th", { scope: "col" }, cell)))),
      html("tbody", {}, columns.map((c, i) => html("tr", {},
        html("th", { scope: "row" }, c.name),
        html("td", {}, select(i, "kind", kinds.map((k) => (k.value ? k : { value: "", text: `${kindWords[c.kind]} (${k.text})` })), this.#reading.kinds?.[c.name] ?? "",
          (kind) => this.#change({ kinds: Object.fromEntries(Object.entries({ ...this.#reading.kinds, [c.name]: kind }).filter(([, k]) => k)) }))),
        html("td", {}, this.#files.length > 1 && !c.role ? "" : select(i, "role", c.role ? roles : [{ value: "", text: "–" }, ...roles], c.role, (role) => this.#role(c.name, role))),
        Array.from({ length: rows }, (_, k) => html("td", { class: "number" }, head[k][i])))))];
  }

  /** A column gets another role. */
  #role(name, role) {
    const { columns } = this.#found;
    if (role === "dataset") {
      const outputs = this.#reading.outputs?.filter((other) => other !== name);
      this.#change({ dataset: name, outputs });
      return;
    }
    const outputs = columns.filter((c) => (c.name === name ? role : c.role) === "output").map((c) => c.name);
    const told = columns.find((c) => c.role === "dataset");
    this.#change({ outputs, dataset: told?.name === name ? "" : this.#reading.dataset });
  }
}
