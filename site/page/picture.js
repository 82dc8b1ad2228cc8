// Pictures as the core draws them: laid out for the width there is, so that their
// text keeps its size, with their words, a choice of what is looked at, buttons that
// save them as files, and the same numbers as a table.
import { beside, html, scrolled, svg, tableRows } from "./element.js";
import { notify } from "./notice.js";
import { Ended } from "./engine.js";

/** @type {import("./engine.js").Engine} */
let core;

/** Says which core draws. @param {import("./engine.js").Engine} engine */
export function drawnBy(engine) { core = engine; }

const BEFOREHAND = 500; // ms

const chosen = new Map(); // choices as last taken, by a picture's name
const inHosts = new WeakMap();

/** @param {import("../worker/protocol").SVGNode} node */
const painted = (node) => typeof node === "string" ? node : svg(node[0], node[1], /** @type {import("../worker/protocol").SVGNode[]} */ (node.slice(2)).map(painted));

export class Picture {
  #of;
  #text; // of what is drawn, as JSON
  #width = 0;
  #drawing = null; // promise, while the core draws
  #again = false;
  #stale = false; // what is painted was drawn beforehand
  #words = html("p", { class: "chart-words", hidden: true });
  #choices = html("fieldset", { class: "axes", hidden: true });
  #box;
  #files;
  #table;
  #told;
  #at; // where the hand put the line that it can move
  #handle = html("input", { type: "range", class: "handle", min: 0, max: 1, step: 0.005, autocomplete: "off", oninput: () => {
    this.#at = Number(this.#handle.value);
    this.#draw();
  } });

  /**
   * @param {HTMLElement} host
   * @param {{of: import("../worker/protocol").PictureRequest["of"], view?: string, name: string, square?: boolean, table?: boolean, bare?: boolean, files?: HTMLElement | null, told?: (value: import("../worker/protocol").PictureValue) => void}} options
   *   of, view: what the core is asked for; name: in the names of files; square: it is about as high as wide; table: whether its numbers are shown;
   *   bare: it is alone, without words, files and numbers; files: where its buttons for files go, if not beneath it; told: hears what was drawn
   */
  constructor(host, { of, view = "", name, square = false, bare = false, table = !bare, files = null, told = () => {} }) {
    this.#of = { of, view };
    this.#told = told;
    this.name = name;
    this.#box = html("div", { class: square ? "picture square" : "picture" });
    Object.assign(this.#box, { picture: this });
    this.#files = html("p", { class: "files", role: "group", hidden: true }, /** @type {const} */ (["SVG", "PNG", "CSV"]).map((kind) =>
      html("button", { type: "button", class: "quiet", onclick: () => toFile((exporter) => exporter.saveChart(kind, this)) }, kind)));
    this.#table = table && html("div", {});
    host.replaceChildren(...(bare ? [this.#box] : [this.#words, this.#choices, this.#box, files ? null : this.#files, this.#table]).filter(Boolean));
    files?.replaceChildren(this.#files);
    const watch = new ResizeObserver(() => {
      if (!this.#box.isConnected) watch.disconnect();
      else if (this.#measured() !== this.#width) this.#draw();
    });
    watch.observe(this.#box);
  }

  /** Does it show anything yet? */
  get there() { return this.#text !== undefined; }

  get box() { return this.#box; }

  #measured() { return Math.floor(this.#box.getBoundingClientRect().width); }

  /** Draws something else, until it is painted or cannot be for now. @param {string} text JSON @param {import("../worker/protocol").PictureRequest["of"]} [of] what that is, where it is something else now */
  show(text, of = this.#of.of) {
    this.#text = text;
    this.#of.of = of;
    return this.#draw();
  }

  /** Shows one of pictures that were drawn beforehand, until the core draws. @param {import("../worker/protocol").PictureValue[]} all by width */
  preview(all) {
    const width = this.#measured();
    if (!this.#box.firstChild) this.#show(all.findLast(({ svg: [, at] }) => Number(/** @type {Record<string, string>} */ (at).width) <= width) ?? all[0]);
  }

  /** Shows nothing; what is being drawn does not count. */
  clear() {
    [this.#text, this.#of.of, this.#again] = [undefined, "", true];
    this.#box.replaceChildren();
    this.#files.hidden = true;
    this.#table?.replaceChildren();
  }

  /** Asks the core, at the width of the place unless told otherwise. @returns {Promise<import("../worker/protocol").PictureValue>} */
  ask(more = {}) { return core.picture({ ...this.#of, text: this.#text, choice: chosen.get(this.name) ?? "", width: this.#width, at: this.#at, ...more }); }

  /** @returns {Promise<SVGElement | string>} it at another width */
  async at(width) { return painted((await this.ask({ width })).svg ?? ""); }

  #draw() {
    this.#again = this.#drawing !== null;
    return this.#drawing ??= this.#drawn().finally(() => { this.#drawing = null; });
  }

  async #drawn() {
    do {
      this.#again = false;
      this.#width = this.#measured();
      if (this.#width === 0 || this.#text === undefined) return; // until there is room
      try {
        const { of } = this.#of, now = await this.ask();
        if (this.#again && of !== this.#of.of) continue; // it shows something else by now
        this.#show(now);
        this.#stale = false;
      } catch (error) {
        if (error instanceof Ended) {
          // One that was drawn beforehand does until the core has less to do.
          core.running.then(() => setTimeout(() => { if (this.#stale) this.#draw(); }, this.#box.firstChild ? BEFOREHAND : 0));
          this.#stale = true;
          return;
        }
        this.#show({ title: "", words: error.message, choiceLabel: "", choices: [], chosen: "", table: { title: "", head: null, rows: null } });
      }
    } while (this.#again);
  }

  /** @param {import("../worker/protocol").PictureValue} now */
  #show(now) {
    const { title, words, choiceLabel, choices, chosen: taken, svg: root, table, handle } = now;
    this.#told(now);
    this.#words.textContent = words;
    this.#words.hidden = !words;
    (this.#box.firstChild ?? this.#box.appendChild(new Text())).replaceWith(root ? painted(root) : "");
    this.#box.classList.toggle("none", !root);
    if (handle) {
      if (!this.#handle.isConnected) this.#box.append(this.#handle);
      ["x", "y", "w", "h"].forEach((name, i) => this.#handle.style.setProperty(`--${name}`, `${handle.within[i]}px`));
      if (this.#at === undefined) this.#handle.value = String(handle.at);
      this.#handle.setAttribute("aria-label", handle.label);
      this.#handle.setAttribute("aria-valuetext", handle.words);
    }
    this.#files.hidden = !root || !this.there;
    this.#files.setAttribute("aria-label", `Save: ${title}`);
    if (this.#choices.hidden && choices.length > 1) {
      this.#choices.hidden = false;
      this.#choices.replaceChildren(html("legend", {}, choiceLabel), ...choices.map(({ id, words: text }) =>
        html("label", {}, html("input", { type: "radio", name: `${this.name}-choice`, value: text, checked: id === taken, onchange: () => {
          chosen.set(this.name, id);
          this.#draw();
        } }), text)));
    }
    if (!this.#table) return;
    this.#table.hidden = !table.rows;
    const open = this.#table.querySelector("details")?.open ?? false, named = `${table.title} as a table`;
    if (table.rows) this.#table.replaceChildren(html("details", { open }, html("summary", {}, named),
      scrolled(named, "data tall", tableRows(table.head, table.rows))));
  }
}

/** The picture in a place that stays while what it shows changes. @param {HTMLElement} host */
export function pictureIn(host, options) {
  if (!inHosts.has(host)) inHosts.set(host, new Picture(host, options));
  return inHosts.get(host);
}

/** Writes a file by what is loaded with the first one. @param {(exporter: typeof import("../file/export.js")) => Promise<void>} write */
export async function toFile(write) {
  try {
    await write(await import(beside("export.js")));
  } catch (error) {
    notify({ key: "export", kind: "error", title: "The file was not written", text: error.message });
  }
}
