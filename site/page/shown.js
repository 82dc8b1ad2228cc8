// The report that the page shows as its result: where it comes from, whether the
// form's settings are its own, and how it leaves the page.
import { linkTo } from "./address.js";
import { byId } from "./element.js";
import { copyFor, save, stemOf } from "../file/files.js";
import { notify } from "./notice.js";
import { toFile } from "./picture.js";
import { say } from "./progress.js";
import { outputs, showDrift, showLine, showOrigin, showReport, showVerification, showWords, standingOf, verdict } from "./result.js";

/** What tells a report's settings apart; one of samples has no address. */
export const settingsOf = (again) => again?.url || again?.cli;

/** The files of recorded samples, in words. */
export const filesOf = ({ files = [] }) => files.map((file) => `${file.name} (SHA-256 ${String(file.sha256).slice(0, 12)}…)`).join(" and ");

async function copyText(id, text) {
  if (await copyFor(byId(id), text)) say("Copied");
  else notify({ key: "copy", kind: "info", title: "The browser does not allow copying; here it is", text });
}

export class Shown {
  /** @type {{report: any, text: string} | null} */
  #now = null;
  #whole = null; // the report, once all of it is there
  /** @type {import("./result.js").Standing} */
  #standing = "";
  #url; // the form's settings as the core writes them; null while they cannot be run
  #picture;
  #on;

  /**
   * @param {import("../view/viewframe.js").ViewFrame} picture
   * @param {{museum(plan: any): string | undefined, holds(recording: any): boolean, drifts(): boolean, open(text: string): Promise<import("../worker/protocol").ReportedValue>, goTo(fragment: string): void}} on
   *   museum: the page about a mechanism's fault; holds: whether the files of a recording are there; drifts: whether the panel of the user's mechanism has other settings than its result; open: has the core read a report
   */
  constructor(picture, on) {
    this.#picture = picture;
    this.#on = on;
    byId("save").addEventListener("click", () => save(`${stemOf(this.report)}.json`, this.text));
    byId("save-html").addEventListener("click", () => toFile((exporter) => exporter.savePage(this.#now, byId("result"))));
    byId("copy-link").addEventListener("click", () => copyText("copy-link", linkTo(this.report.reproduce.url)));
    byId("copy-command").addEventListener("click", () => copyText("copy-command", this.report.reproduce.cli));
    byId("copy-embed").addEventListener("click", () => {
      import(new URL("embedcode.js", import.meta.url).href).then(({ open }) => open(this.report.reproduce.url)).catch((error) =>
        notify({ key: "embed", kind: "error", title: "The dialog could not be loaded", text: error.message }));
    });
    byId("bar-verdict").addEventListener("click", () => byId("result").scrollIntoView());
    byId("use-settings").addEventListener("click", () => {
      on.goTo(this.report.reproduce.url);
      byId("run").focus();
    });
  }

  get report() { return this.#now?.report ?? null; }
  get text() { return this.#now?.text; }
  /** The report, or that before it as long as not all of it is there. */
  get whole() { return this.#whole; }

  /** Shows a report. @returns {Promise<void>} when all of it is there */
  async show(answer, origin, name) {
    const { report, text } = answer;
    this.#now = { report, text };
    byId("result").dataset.stem = stemOf(report);
    showVerification(null);
    this.#standing = origin === "file" ? "unverified" : "";
    const whole = showReport(answer, this.#on.museum(report.plan), this.#standing);
    this.#picture.show(answer);
    showOrigin(origin, name);
    this.compare();
    this.fileWords();
    await whole;
    if (this.text === text) this.#whole = report;
  }

  /** Says what a replay of the report found. @param {import("../worker/protocol").VerifiedValue} found */
  verified(found) {
    showVerification(found);
    this.#standing = standingOf(found);
    verdict(byId("verdict"), this.report, this.#standing);
    this.#bar();
  }

  /** Is there a verdict of the user's in the bar? */
  get inBar() { return !byId("bar-verdict").hidden; }

  /** Keeps the verdict in sight: in the bar of the form's buttons and, on a narrow screen, below the result. */
  #bar() {
    if (!this.report) return;
    for (const id of ["bar-verdict", "result-line"]) {
      byId(id).hidden = byId("origin").dataset.kind === "example";
      showLine(byId(id), this.report, this.#standing, byId("drift").hidden ? "" : byId("drift").textContent);
    }
  }

  /** The example stands there before the core does. @returns {Promise<boolean>} whether it is shown */
  async example() {
    try {
      const answer = await fetch(new URL("example.json", document.baseURI));
      if (!answer.ok || this.#now) return false;
      const text = await answer.text();
      const report = JSON.parse(text);
      if (this.#now) return false; // a quicker result
      this.show({ report, text }, "example").catch(() => {});
      this.#preview(text).catch(() => {}); // the core draws it too
      return true;
    } catch {
      return false; // a page without its example is a page
    }
  }

  async #preview(text) {
    const answer = await fetch(new URL("example-picture.json", document.baseURI));
    const drawn = answer.ok ? await answer.json() : [];
    if (drawn.length && this.text === text) outputs().preview(drawn);
  }

  /** Fills in what the core says of the example, where that is shown. */
  describe() {
    if (byId("origin").dataset.kind !== "example") return;
    const { text } = this;
    this.#on.open(text).then((answer) => {
      if (this.text !== text) return;
      showWords(answer);
      this.#picture.show(answer);
    }, () => {}); // an example without its words is an example
  }

  /** Says beside a report of samples which file a replay needs, where it is not there. */
  fileWords() {
    const recording = this.report?.inputs?.samples;
    const needed = Boolean(recording) && !this.#on.holds(recording);
    byId("needs-file").hidden = !needed;
    if (needed) byId("needs-file").textContent = `To verify it, ${filesOf(recording)} is needed.`;
  }

  /** Takes note of what the form's settings are to the core. */
  settled(url) {
    this.#url = url;
    this.compare();
  }

  /** Says beside the result when it is not that of the settings of its form. */
  compare() {
    const { inputs, reproduce } = this.report ?? {};
    const url = settingsOf(reproduce), recording = inputs?.samples;
    const other = () => Boolean(url) && this.#url !== undefined && (this.#url !== url || (recording && !this.#on.holds(recording)));
    showDrift(inputs?.brought ? this.#on.drifts() : other());
    this.#bar();
  }

  /** Enables the buttons of what can be done with the report. */
  buttons() {
    const { reproduce, inputs } = this.report ?? {};
    for (const id of ["save", "save-html"]) byId(id).disabled = !this.#now;
    for (const id of ["copy-link", "copy-embed", "use-settings"]) byId(id).disabled = !reproduce?.url;
    byId("copy-command").disabled = !reproduce?.cli || inputs?.brought?.kind === "javascript";
  }
}
