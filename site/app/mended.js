// The mechanism that is shown without its fault, beside it: audited on the same two datasets
// where it takes them, with the lines that differ.
import { readFragment } from "../page/address.js";
import { byId, html } from "../page/element.js";
import { Ended } from "../page/engine.js";
import { Picture } from "../page/picture.js";
import { asked } from "../page/plan.js";
import { underWay, verdict } from "../page/result.js";

export class Mended {
  /** @type {Partial<import("../worker/protocol").ReportedValue> | null} */
  #answer = null; // what it is shown beside
  #shown = ""; // the address of its own audit
  #page;

  /** @param {import("./runs.js").Parts} page */
  constructor(page) {
    this.#page = page;
    byId("mend").addEventListener("change", () => this.beside(this.#answer));
  }

  /** A result is shown: what it is without its fault stands beside it where the switch says so. @param {Partial<import("../worker/protocol").ReportedValue> | null} answer */
  async beside(answer) {
    this.#answer = answer;
    const { mended = "", report } = answer ?? {}, there = byId("mend").checked && mended !== "";
    byId("mended").hidden = !there;
    if (!there || mended === this.#shown) return;
    this.#shown = mended;
    const { runs } = this.#page, settings = readFragment(mended).settings ?? {}, [sound, { lines, museum }] = [settings, report.plan].map((of) => this.#page.settings.listing(of));
    const board = html("div", { class: "verdict" }), chart = html("div", {}), said = html("p", { class: "say" });
    const picture = new Picture(chart, { of: "live", view: "outputs", name: "mended", bare: true, told: ({ sentence, small }) => said.replaceChildren(sentence ?? "", small ? html("small", {}, small) : "") });
    byId("mended").replaceChildren(html("div", { class: "board" }, board), html("div", { class: "card scene" },
      html("h3", {}, `Mended: ${sound.title}`),
      lines && html("pre", { class: "lines", tabindex: 0 }, html("del", {}, lines[0].trim()), html("ins", {}, lines[1].trim())),
      lines && html("p", { class: "hint" }, "What changes, in JavaScript. ", html("a", { href: museum }, "Why it fails")),
      chart, said));
    underWay(board, { state: "going", title: "Auditing it mended", detail: sound.name });
    try {
      const done = await runs.beside(asked(settings, sound), (p) => p.live && picture.show(JSON.stringify(p), "live"));
      if (this.#shown !== mended) return;
      if (!done) this.#shown = "";
      else {
        verdict(board, done.report, "", done);
        picture.show(done.text, "report");
      }
    } catch (error) {
      this.#shown = "";
      underWay(board, { state: "error", title: "It was not audited mended", detail: error instanceof Ended ? "Stopped." : error.message });
    }
  }
}
