// The panel of canary audits: what is under way, and the report.
import { linkTo } from "../page/address.js";
import { CanaryFiles } from "./canaryfiles.js";
import { CanaryForm } from "./canaryform.js";
import { fillBody, lettered, phases, titles } from "./canaryreport.js";
import { enter } from "../page/doors.js";
import { byId, html, onSubmit, tableRows } from "../page/element.js";
import { Ended, Refused } from "../worker/engine.js";
import { save, stemOf } from "../file/files.js";
import { copyText } from "../page/notice.js";
import { grouped, roundedDown } from "../page/number.js";
import { Picture, toFile } from "../page/picture.js";
import { say, timeLeft } from "../page/progress.js";
import { countsOf, judge, remarks, replayWords, showLine, showVerification, verdict } from "../page/result.js";

const perceptron = { source: "dp-sgd", n: "256", k: "11", m: "64" };
/** @type {[words: string, texts: Record<string, string>][]} */
const presets = [
  ["Gaussian sum as in the paper", { source: "gaussian-sum", n: "1024", k: "32", quantile: "0.1" }],
  ["Perceptron by DP-SGD", perceptron],
  ["A copy that forgets to clip", { ...perceptron, "p.fault": "no-clipping" }],
  ["A quarter of the noise", { ...perceptron, "p.fault": "quarter-noise" }],
];
/** @typedef {{score: string, member: string, lower: string}} ScoreColumns texts of the form: which columns are what, and whether a lower score means in */

export class Canaries {
  #files = new CanaryFiles({ changed: () => this.#changed(), audit: () => this.run("scores"), opened: (name, text) => this.#on.opened(name, text) });
  #form = new CanaryForm(this.#files);
  #able = false;
  /** @type {{report: any, text: string, title?: string, detail?: string, standing: import("../page/result.js").Standing} | null} */
  #shown = null;
  #whole = null; // the report, once all of it is there
  #view; // of what is shown
  #course = null;
  #stopping = "";
  /** What the button began that was last used. @type {import("./canaryform.js").How} */
  #how = "run";
  /** Has nobody asked anything of it yet? */
  untouched = true;
  #on;

  /**
   * @param {{ask(how: import("./canaryform.js").How | "verify", value: import("../worker/protocol").Wanted | string, tell: (p: any) => void, files: File[]): Promise<any>,
   *   stop(): void, open(): void, opened(name: string, text: string): void, shown(report: any): void}} on open: asks for a report's file; opened: here is one
   */
  constructor(on) {
    this.#on = on;
    onSubmit(byId("canaries-form"), () => this.run());
    byId("canaries-form").addEventListener("input", () => { this.untouched = false; });
    for (const how of /** @type {const} */ (["one", "scores"])) byId(`canaries-${how}`).addEventListener("click", () => this.run(how));
    byId("canaries-stop").addEventListener("click", () => on.stop());
    byId("canaries-open").addEventListener("click", () => on.open());
  }

  /** @param {import("../worker/files").CanaryOffer} offer */
  fill(offer) {
    this.#form.fill(offer);
    byId("canaries-presets").replaceChildren(...presets.map(([words, texts]) => html("button", {
      type: "button", onclick: () => {
        this.untouched = false;
        this.#form.write(texts);
        byId("canaries-status").textContent = `${words}: set. Run does it.`;
      },
    }, words)));
  }

  /** Opens the panel with what an address asks for. @returns {string[]} what of it cannot be used, in words */
  read(texts) {
    this.untouched = false;
    return this.#form.read(texts);
  }

  #reveal(at) {
    this.untouched = false;
    enter("training");
    at.scrollIntoView({ block: "nearest" });
  }

  /** Which box of this panel dropped files are meant for, if any. @param {File[]} files */
  wants(files, target) { return this.#form.offer && this.#files.wants(files, target); }

  /** Does it take scores? */
  get scores() { return Boolean(this.#form.offer); }

  /** Takes files of the user's. They stay in the browser. @param {File[]} files @param {Partial<ScoreColumns>} [columns] of scores */
  take(files, box, columns = {}) {
    this.#form.put(columns);
    return this.#files.take(files, box);
  }

  /** Other files are there. */
  #changed() {
    this.#buttons();
    this.#form.dependents();
  }

  // Runs

  /** Does what the form asks for, and shows what comes of it. @param {import("./canaryform.js").How} how @param {boolean} asked whether somebody pressed a button for it */
  async run(how = "run", asked = true) {
    const button = byId(`canaries-${how}`);
    if (button.disabled || button.hidden) return;
    this.#how = how;
    this.untouched = false;
    this.#form.clear();
    const before = this.#shown;
    try {
      const wanted = this.#form.asked(how);
      this.#begin();
      const answer = await this.#on.ask(how, wanted, (p) => this.#tell(p, wanted.settings), how === "scores" ? this.#files.of(how) : byId("k-file-group").hidden ? [] : this.#files.of("file"));
      const { report } = answer;
      if (report.termination.reason === "stopped" && !countsOf(report) && before) {
        this.#end("Stopped before anything was certified. What was shown before is still here.");
        say(byId("canaries-status").textContent);
        return;
      }
      await this.#show(answer, "");
      this.#end(answer.error ? `Ended by an error: ${answer.error}` : report.termination.reason === "stopped" ? how === "one" ? "Stopped before the run was done: there is no bound." : "Stopped: what there is stands beside." : "");
      say(report.summary);
      if (asked && byId("canaries-result").getBoundingClientRect().top > innerHeight / 2) byId("canaries-result").scrollIntoView();
    } catch (error) {
      this.#end("");
      this.#blame(error);
    }
  }

  #begin() {
    this.#stopping = "";
    this.#course = null;
    this.message("");
  }

  /** @param {import("../worker/protocol").CanaryProgress} p @param {Record<string, string>} settings */
  #tell(p, { interval }) {
    const words = this.#bar(phases[p.phase], p.runs, p.total, timeLeft(p));
    if (p.message) this.message(p.message);
    let bound = "";
    if (p.bounds?.length) {
      const chosen = interval || this.#form.offer.intervals[0].name;
      this.#course ??= { points: [], planned: p.planned, claimed: p.claimed, chosen, intervals: lettered(this.#form.offer.intervals) };
      this.#course.points.push({ runs: p.certified, bounds: p.bounds });
      bound = this.#live(p);
    }
    say(`${words}${bound && `. ${bound}`}`, false);
  }

  /** Shows how far something is. @returns {string} in words */
  #bar(doing, done, total, left) {
    byId("canaries-progress").hidden = false;
    if (total > 1) byId("canaries-bar").value = Math.min(100, (100 * done) / total);
    else byId("canaries-bar").removeAttribute("value"); // nobody knows how far it is
    const words = doing + (total > 1 ? `: ${grouped(done)} of ${grouped(total)} runs${left && `, ${left} left`}` : "…");
    byId("canaries-phase").textContent = this.#stopping || words;
    return words;
  }

  /** Shows the bounds so far. @returns {string} the audit's own, in words */
  #live(p) {
    const box = byId("canaries-result");
    if (!this.#view?.live) {
      const live = { words: html("p", { class: "chart-words" }), chart: html("div", {}), table: html("div", {}) };
      this.#shown = this.#whole = null;
      this.#buttons();
      box.hidden = false;
      box.replaceChildren(html("h3", {}, p.holds ? "Under way: the bound so far" : "Under way: provisional bounds"), ...Object.values(live));
      this.#view = { live: { ...live, picture: new Picture(live.chart, { of: "canaries", name: "bounds" }) } };
    }
    const { words, table, picture } = this.#view.live, { chosen, intervals, claimed } = this.#course;
    const mine = p.bounds.find((b) => b.interval === chosen);
    if (p.holds) words.textContent = `After ${grouped(p.certified)} of at most ${grouped(p.planned)} trainings epsilon ≥ ${roundedDown(mine?.epsilon ?? 0)} is certified (claimed ${claimed}). It holds whenever you stop.`;
    else words.textContent = `After ${grouped(p.certified)} of ${grouped(p.planned)} runs ${chosen} would give ${mine ? `epsilon ≥ ${roundedDown(mine.epsilon)}` : "no bound"} (claimed ${claimed}), had the audit been planned to end here. Nothing is certified before the end.`;
    picture.show(JSON.stringify(this.#course));
    table.replaceChildren(html("table", { class: "data" }, tableRows(["interval", "bound so far"], intervals.filter(({ name }) => !p.holds || name === chosen).map(({ name, letter }) => {
      const b = p.bounds.find((x) => x.interval === name);
      return [`${letter} ${name}`, b ? roundedDown(b.epsilon) : "–"];
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
    if (text) this.message(text);
    else this.#verdict();
  }

  /** Puts the verdict beside the buttons, where it stays in sight. */
  #verdict() {
    this.message("");
    if (this.#shown) showLine(byId("canaries-status"), this.report, this.#shown.standing);
  }

  #blame(error) {
    const key = error instanceof Refused ? this.#form.keyOf(error.refusal, this.#how) : undefined;
    if (key && this.#form.fail(key, error.message, true)) say(error.message);
    else this.message(error instanceof Ended ? `The core ended (${error.message}). What it had drawn is lost; try again.` : error.message);
  }

  // Reports

  /** Shows a report that was opened. @param {import("../worker/protocol").ReportedValue} answer */
  show(answer, name) {
    this.#form.clear();
    this.#course = null;
    this.#show(answer, name);
    this.#verdict();
    this.#reveal(byId("canaries-result"));
  }

  /** Shows a report. @param {import("../worker/protocol").ReportedValue} answer @returns {Promise<void>} when all of it is there */
  async #show(answer, name) {
    const { report, text } = answer, standing = /** @type {import("../page/result.js").Standing} */ (name ? "unverified" : "");
    this.#shown = { report, text, standing, title: answer.title, detail: answer.detail };
    this.#on.shown(report);
    const box = byId("canaries-result"), body = html("div", { class: "contents" }), verification = html("div", { class: "verification", hidden: true });
    const button = (id, words, onclick) => html("button", { id: `canaries-${id}`, type: "button", onclick }, words);
    const again = /** @type {import("../worker/protocol").Reproduce} */ (report.reproduce ?? {});
    box.hidden = false;
    box.dataset.stem = stemOf(report);
    box.replaceChildren(...[
      html("div", { class: "result-head" }, html("h3", {}, [titles[report.kind], "source" in report.plan && report.plan.source].filter(Boolean).join(" of ")), name && html("span", { class: "origin" }, `Opened: ${name}`)),
      html("div", { class: "board" }, verdict(html("div", { class: "verdict" }), report, standing, answer)), html("div", {}, remarks(report)),
      html("div", { class: "actions" },
        button("save", "Save report", () => save(`${stemOf(report)}.json`, text)),
        button("html", "Save as HTML", () => toFile((exporter) => exporter.savePage(this.#shown, box))),
        button("verify", "Verify", () => this.verify()),
        again.url && report.kind !== "scores" && button("link", "Copy link", ({ target }) => copyText(target, linkTo(again.url))),
        again.cli && button("command", "Copy command", ({ target }) => copyText(target, again.cli))),
      verification, body,
    ].filter(Boolean));
    this.#view = { verification };
    this.#buttons();
    await fillBody(body, answer, this.#form.offer.intervals);
    if (this.#shown?.text === text) this.#whole = report;
  }

  /** The report that is shown, or null. */
  get report() { return this.#shown?.report ?? null; }

  /** The report, or that before it as long as not all of it is there. */
  get whole() { return this.#whole; }

  /** Whether a core is there and free. */
  able(able) {
    this.#able = able;
    this.#buttons();
  }

  #buttons() {
    byId("canaries-run").disabled = byId("canaries-one").disabled = !this.#able;
    byId("canaries-scores").disabled = !this.#able || !this.#files.scored;
    const verify = byId("canaries-verify");
    if (verify) verify.disabled = !this.#able || !this.#shown || !countsOf(this.#shown.report);
  }

  async verify() {
    if (byId("canaries-verify").disabled) return;
    const { text } = this.#shown, { verification } = this.#view, scores = this.report.kind === "scores";
    this.#how = scores ? "scores" : this.report.kind === "one-run" ? "one" : "run";
    this.#form.clear();
    showVerification(null, verification);
    this.#begin();
    try {
      const files = scores ? this.#files.of("scores") : this.report.plan.data ? this.#files.of("file") : [];
      const found = await this.#on.ask("verify", text, (/** @type {import("../worker/protocol").ReplayProgress} */ p) => say(this.#bar("Replaying", p.rows, p.total, timeLeft(p)), false), files);
      if (this.#shown?.text === text) {
        judge(this.#shown, found, byId("canaries-result").querySelector(".verdict"), verification);
      }
      this.#end("");
      say(replayWords(found));
    } catch (error) {
      this.#end("");
      if (!scores && error instanceof Refused && error.refusal.path.startsWith("/data")) {
        this.#form.follow(this.report.plan); // the form may be that of another source; the file belongs to the report's
      }
      this.#blame(error);
    }
  }
}
