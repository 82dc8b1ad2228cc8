// The runs of this browser, which it keeps itself, and two results beside one another.
import { readFragment } from "../page/address.js";
import { byId, html, tableRows } from "../page/element.js";
import { picker } from "../page/files.js";
import { notify } from "../page/notice.js";
import { unpack } from "../page/packed.js";
import { Picture } from "../page/picture.js";
import { asked } from "../page/plan.js";
import { verdict } from "../page/result.js";

const KEY = "dpscope-history";
const MOST = 40; // runs that are kept

/** @typedef {{at: number, subject: string, title: string, fragment: string}} Entry fragment: settings and packed result */
/** @typedef {{name: string, title: string, detail: string, verdict: string, settings: [string, string][], draw: [text: string, of: "report" | "linked"] | null}} Side */

/** @returns {Entry[]} the latest first; what is not of ours is left out */
function kept() {
  try {
    const list = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(list) ? list.filter((e) => typeof e?.fragment === "string" && typeof e.title === "string" && typeof e.subject === "string") : [];
  } catch {
    return [];
  }
}

export class History {
  #page;
  #told = false; // that nothing is kept

  /** @param {import("./runs.js").Parts} page */
  constructor(page) {
    this.#page = page;
    byId("history-open").addEventListener("click", () => {
      this.#list();
      byId("history").showModal();
    });
    byId("history-forget").addEventListener("click", () => {
      try {
        localStorage.removeItem(KEY);
      } catch { /* then nothing is kept */ }
      this.#list();
    });
    byId("history-list").addEventListener("change", () => this.#count());
    byId("history-compare").addEventListener("click", () => this.#compare("runs", () => this.#chosen().reverse().map((e) => this.#ofLink(e)))); // the earlier first
    picker("history-files", "history-input", "Two reports", ".json,application/json", true, (files) => this.#compare("reports", () => {
      if (files.length !== 2) throw new Error(`${files.length} ${files.length === 1 ? "file was" : "files were"} chosen; choose two reports at once.`);
      return files.map((file) => this.#ofReport(file));
    }));
  }

  /** Keeps a run. @param {Omit<Entry, "at">} run */
  add(run) {
    const list = [{ at: Date.now(), ...run }, ...kept().filter((e) => e.fragment !== run.fragment)].slice(0, MOST);
    for (; list.length > 0; list.length = Math.floor(list.length / 2)) {
      try {
        localStorage.setItem(KEY, JSON.stringify(list));
        return;
      } catch { /* there is no more room: half of them */ }
    }
    this.#told = true;
  }

  #list() {
    const list = kept();
    byId("history-none").hidden = list.length > 0;
    byId("history-none").textContent = this.#told ? "This browser does not let the page store anything, so no run is kept. Reports can be saved as files." : "Nothing ran in this browser yet.";
    byId("history-forget").hidden = list.length === 0;
    byId("history-list").replaceChildren(...list.map((e, i) => html("li", {},
      html("label", {}, html("input", { type: "checkbox", value: i, "aria-label": `Compare ${e.subject}: ${e.title}` })),
      html("a", { href: e.fragment, onclick: (event) => {
        event.preventDefault();
        byId("history").close();
        this.#page.settings.goTo(e.fragment);
      } }, html("strong", {}, e.subject), ` ${e.title}`),
      html("small", {}, new Date(e.at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })))));
    this.#count();
  }

  #chosen() { return [...byId("history-list").querySelectorAll("input:checked")].map((box) => kept()[Number(/** @type {HTMLInputElement} */ (box).value)]); }

  #count() {
    const n = this.#chosen().length;
    byId("history-compare").disabled = n !== 2;
    byId("history-hint").textContent = n === 2 ? "" : "Mark two runs to compare them.";
  }

  /** @param {Entry} e @returns {Promise<Side>} */
  async #ofLink(e) {
    const { settings, result } = readFragment(e.fragment), packed = await unpack(result);
    const { title, detail, picture } = await this.#page.engine.ask("preview", { settings: asked(settings, this.#page.settings.listing(settings)), result: packed }).answer;
    return { name: e.subject, title, detail, verdict: packed.verdict, settings: Object.entries(settings), draw: picture ? [picture, "linked"] : null };
  }

  /** @param {File} file @returns {Promise<Side>} */
  async #ofReport(file) {
    const { name } = file, { report, text, title, detail, facts, glimpse } = await this.#page.engine.ask("open", await file.text()).answer;
    const { url } = report.reproduce ?? {}, settings = url ? Object.entries(readFragment(url).settings ?? {}) : facts.map((f) => /** @type {[string, string]} */ ([f.name, f.value]));
    return { name, title, detail, verdict: report.verdict, settings, draw: glimpse?.chart ? [text, "report"] : null };
  }

  /** Shows two results beside one another. @param {string} what they are, in words @param {() => Promise<Side>[]} begin */
  async #compare(what, begin) {
    let sides;
    try {
      sides = await Promise.all(begin());
    } catch (error) {
      notify({ key: "compare", kind: "error", title: `The ${what} cannot be compared`, error });
      return;
    } finally {
      byId("history").close();
    }
    const [a, b] = sides, of = (side) => new Map(side.settings), [first, second] = [of(a), of(b)];
    const names = [...new Set([...first.keys(), ...second.keys()])].filter((name) => first.get(name) !== second.get(name));
    byId("compare-sides").replaceChildren(...sides.map((side) => html("section", { "aria-label": side.name },
      html("h3", {}, side.name),
      html("div", { class: "board" }, verdict(html("div", { class: "verdict" }), { verdict: side.verdict }, "", side)),
      html("div", { class: "compare-picture" }))));
    byId("compare-changed").replaceChildren(names.length ? html("table", { class: "data" }, ...tableRows(["setting", "first", "second"], names.map((name) => [name, first.get(name) ?? "default", second.get(name) ?? "default"])))
      : html("p", { class: "hint" }, "All settings are the same."));
    byId("compare").showModal();
    for (const [i, side] of sides.entries()) {
      const host = /** @type {HTMLElement} */ (byId("compare-sides").children[i].querySelector(".compare-picture"));
      if (side.draw) new Picture(host, { of: side.draw[1], view: "outputs", name: `compare-${i}`, bare: true }).show(side.draw[0]);
      else host.append(html("p", { class: "hint" }, "No picture: it counted no event on a pair of datasets."));
    }
  }
}
