// The panel of the user's files of outputs or scores: a card says what they are taken
// for, before anything runs. A worker of its own reads and audits them; the form above
// audits them as it audits a mechanism.
import { enter } from "../page/doors.js";
import { byId, html, scrolled, tableRows } from "../page/element.js";
import { Ended, Engine, REPLACE_AFTER, Refused } from "../page/engine.js";
import { choice } from "../page/field.js";
import { picker } from "../page/files.js";
import { dismiss, notify } from "../page/notice.js";
import { grouped, size } from "../page/number.js";
import { Bar, say } from "../page/progress.js";

/** @typedef {import("../worker/protocol").InspectRequest} Asked */

export class Samples {
  /** The worker that holds the samples; it runs and verifies what is about them. */
  engine = new Engine({ lost() {}, died: (reason) => this.#died(reason) }, { role: "samples" });
  /** @type {File[]} */
  #files = [];
  /** @type {Asked} */
  #asked = { reading: {} };
  /** @type {import("../worker/protocol").Inspected | null} */
  #found = null;
  /** @type {Asked | null} */
  #next = null; // of the files that are asked for
  #request = 0; // id of the reading under way
  #reads = 0; // numbers them: only the last one counts
  #stopping = false; // on the user's wish
  #bar = new Bar("yours");
  #page;

  /** @param {import("../app/runs.js").Parts} page */
  constructor(page) {
    this.#page = page;
    let second = false;
    const input = picker("yours-choose", "yours-input", "Files of outputs or scores", null, true, (files) => {
      if (second) this.take([...this.#files, ...files]);
      else if (this.#next) this.take(files);
      else page.came(files);
    });
    byId("yours-choose").addEventListener("click", () => { second = false; });
    byId("yours-second").addEventListener("click", () => {
      input.click();
      second = true;
    });
    input.addEventListener("cancel", () => { this.#next = null; });
    byId("yours-stop").addEventListener("click", () => this.stop());
    byId("yours-table").addEventListener("click", () => page.table.take(this.#files[0]));
    byId("yours-forget").addEventListener("click", () => {
      this.forget();
      byId("yours-choose").focus();
    });
  }

  get busy() { return this.#request !== 0; }
  /** Are there files, read or not? */
  get there() { return this.#files.length > 0 && this.engine.ready !== null; }

  /** Are the files those of a report? @param {{files?: any[]}} of */
  holds(of) {
    const sums = (files) => (files ?? []).map((file) => file.sha256).sort().join();
    return this.there && sums(this.#found?.files) !== "" && sums(this.#found.files) === sums(of.files);
  }

  /** Asks for files, to be read as a report says. @param {import("../worker/protocol").Reading} reading */
  ask(reading) {
    this.#next = { reading };
    byId("yours-choose").click();
  }

  /** Takes one or two files of outputs or scores. They stay in the browser. @param {File[]} files */
  take(files) {
    const asked = this.#next ?? { reading: {} };
    this.#next = null;
    enter("data");
    // In the order of their names: that in which they are dropped is nobody's.
    this.#read([...files].sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))), asked, true);
  }

  /** Reads the files, or what is left of the work after a change of what they are. @param {File[]} files @param {Asked} asked */
  async #read(files, asked, anew) {
    const number = ++this.#reads, { engine, runs, setState } = this.#page;
    try {
      if (runs.takesSamples) {
        notify({ key: "file", kind: "warning", title: "The samples were not read", text: "Those that were read before are being audited. Stop that first." });
        return this.#show(); // as it was
      }
      await engine.running;
      if (number !== this.#reads) return;
      this.#files = files;
      this.#asked = asked;
      anew ||= this.busy; // a worker reads once at a time
      this.#request = -1;
      this.#stopping = false;
      this.#bar.begin();
      this.#bar.at(`Reading ${files.map((f) => `${f.name}, ${size(f.size)}`).join(" and ")}`);
      byId("yours-stop").hidden = false;
      setState();
      if (anew || !this.engine.ready) {
        this.#found = null;
        this.#show();
        await this.engine.start(engine.module, 0); // a fresh worker: the memory of the old one is free
        if (number !== this.#reads) return;
        anew = true;
      }
      const { id, answer } = this.engine.ask("inspect", asked, (p) => this.#progress(p), anew ? files : []);
      this.#request = id;
      setState();
      const found = await answer;
      if (number !== this.#reads) return;
      this.#end();
      this.#found = found;
      this.#show();
      this.#told(found);
    } catch (error) {
      if (number !== this.#reads) return;
      if (error instanceof Ended && !error.stopped) return; // told by died
      if (this.#stopping) return this.#stopped();
      this.forget();
      this.#page.refuse("The samples were not read", error);
    }
  }

  /** @param {import("../worker/protocol").Inspected} found */
  #told({ sentences, offer, problem }) {
    const names = this.#files.map((f) => f.name).join(" and ");
    this.#offer(offer ? { ...offer, ...offer.listing, claim: {}, title: names, own: true } : null);
    if (problem) this.#page.refuse(`${names} cannot be audited as it is`, new Refused(problem));
    else {
      dismiss("file");
      say(sentences.flatMap((parts) => [...parts.map((p) => p.text ?? p.options.find(({ asks }) => !asks).text), " "]).join(""));
    }
  }

  /** @param {import("../page/form.js").Offered | null} offer */
  #offer(offer) {
    const { form, settings, shown } = this.#page;
    form.offer(offer);
    settings.changed();
    shown.fileWords();
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
    this.#page.setState();
  }

  stop() {
    this.#stopping = true;
    if (this.#request > 0) this.engine.stop(this.#request, () => {}, () => {}, REPLACE_AFTER);
    else this.#stopped();
    return true;
  }

  #stopped() {
    this.forget();
    byId("yours-status").textContent = "Reading was stopped.";
    say("Reading was stopped");
  }

  #died(reason) {
    const files = this.#files, asked = this.#asked;
    this.forget();
    notify({ key: "file", kind: "error", title: "The worker that held your samples crashed", text: [reason.split("\n", 1)[0], "Perhaps there is not enough memory for them. The result is still here."],
      action: { label: "Read them again", run: () => this.#read(files, asked, true) } });
  }

  /** Lets go of the files, their worker and its memory. */
  forget() {
    this.#reads++;
    this.#files = [];
    this.#found = null;
    this.engine.end("the samples were discarded");
    this.#page.runs.gone(this.engine);
    this.#end();
    this.#offer(null);
    this.#show();
    byId("yours-status").textContent = "";
  }

  // The card

  #show() {
    const found = this.#found, focus = document.activeElement?.id;
    document.body.toggleAttribute("data-file", Boolean(found?.offer));
    byId("yours-forget").hidden = byId("yours-more").hidden = !found;
    byId("yours-second").hidden = !found || this.#files.length !== 1 || found.as !== "outputs" || Boolean(found.offer);
    byId("yours-table").hidden = found?.as !== "table";
    const tell = (place, sentences = []) => byId(place).replaceChildren(...sentences.map((parts, i) => html("p", {}, parts.map((p, k) => this.#part(p, `${place}-${i}-${k}`)))));
    tell("yours-card", found?.sentences);
    tell("yours-reading", found?.reading);
    if (!found) return;
    byId("yours-preview").replaceChildren(...[
      found.files.length > 0 && scrolled("Files", "data", tableRows(["file", "format", "size", "rows", "SHA-256"], found.files.map((f) => [f.name, f.format, size(f.bytes), grouped(f.rows), html("span", { title: f.sha256 }, `${f.sha256.slice(0, 12)}…`)]))),
      found.notes.length > 0 && html("ul", { class: "notes" }, found.notes.map((note) => html("li", {}, note))),
      found.columns.length > 0 && scrolled("Columns and first rows", "data tall", this.#columns(found)),
    ].filter(Boolean));
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  }

  /** A text or a choice. @param {import("../worker/protocol").Part} part */
  #part({ text: said = "", label, options }, id) {
    if (!options) return said;
    const control = choice(options.map(({ text }, i) => ({ value: String(i), text })), String(options.findIndex(({ asks }) => !asks)));
    control.id = id;
    control.setAttribute("aria-label", label);
    control.addEventListener("change", () => {
      const { asks } = options[Number(control.value)];
      if (asks) this.#read(this.#files, asks, false);
    });
    return control;
  }

  /** The columns, a line each: what they are, changeable, and their first values. @param {import("../worker/protocol").Inspected} found */
  #columns({ columns, head }) {
    return [
      html("thead", {}, html("tr", {}, ["column", "holds", "is", ...head.map((_, i) => `row ${i + 1}`)].map((cell) => html("th", { scope: "col" }, cell)))),
      html("tbody", {}, columns.map((c, i) => html("tr", {}, html("th", { scope: "row" }, c.name), html("td", {}, this.#part(c.kind, `yours-kind-${i}`)), html("td", {}, this.#part(c.role, `yours-role-${i}`)),
        head.map((row) => html("td", { class: "number" }, row[i])))))];
  }
}
