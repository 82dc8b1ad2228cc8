// The element <dp-audit>: an audit in a page of any origin. It shows a button,
// and loads embed.html of the site that this script came from into a frame when
// that is pressed, or, with autorun, when it comes into view. Types, and what it
// promises, are in dp-audit.d.ts.
import { html } from "../page/element.js";
import { AUDIT_SWITCHES } from "../page/keys.js";
import { CHOICES, COLOURS, FLAGS, fragmentOf, isSetting, onceSeen, optionsOf, SETTINGS } from "./embedoptions.js";

const READY_AFTER = 10_000; // ms that the frame may take once it is loaded, well or not
const OURS = [...Object.keys(CHOICES), ...FLAGS, "site", "recorded"];
/** Attributes of every element, and those of frameworks, are no mistake. */
const ANYBODYS = /^(class|id|style|slot|part|lang|dir|title|hidden|role|tabindex|is|nonce|inert|translate|popover|draggable|exportparts|accesskey|autofocus|contenteditable|spellcheck|item\w+|on\w+)$|^(data|aria)-|[:@_$\[(]/;

const own = document.currentScript ?? document.querySelector('script[src*="dp-audit.js"]');
const home = new URL(".", own?.src || import.meta.url).href; // of a classic script without an address, the document's

const styles = new CSSStyleSheet();
styles.replaceSync(`
:host { display: block; }
[hidden], :host([hidden]) { display: none !important; }
.box { --a: var(--dp-audit-accent, light-dark(#0b5c73, #6cc4dc)); --m: var(--dp-audit-muted, light-dark(#56626b, #a3b0b8)); position: relative; overflow: hidden; color-scheme: light; font: var(--dp-audit-font, 15px/1.5 system-ui, sans-serif);
  color: var(--dp-audit-text, light-dark(#1b2328, #e6ebee)); background: var(--dp-audit-background, light-dark(#fff, #1a2227)); border: 1px solid var(--dp-audit-line, light-dark(#d3dade, #36434b)); border-radius: var(--dp-audit-radius, 10px); }
.box[data-theme="dark"] { color-scheme: dark; }
.poster { display: flex; flex-wrap: wrap; gap: .8rem 1.2rem; align-items: center; padding: .9rem 1rem; }
.about { display: grid; gap: .5rem; flex: 1 1 15rem; }
figure { margin: 0; flex: 2 1 20rem; max-width: 37rem; container-type: inline-size; }
img { display: block; width: 100%; aspect-ratio: 1; object-fit: contain; border-radius: 6px; }
slot[name] { flex: 1 1 100%; min-width: 0; }
.said { min-height: 3em; }
@container (width > 26rem) { .said:has(+ img) { display: none; } }
p { margin: 0; overflow-wrap: anywhere; }
.title { font-weight: 600; }
.actions { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; }
.hint { color: var(--m); font-size: .87em; }
button { font: inherit; font-weight: 600; min-height: 2.3rem; padding: .3rem 1rem; border: 1px solid var(--a); border-radius: 6px; background: var(--a); color: var(--dp-audit-accent-text, light-dark(#fff, #08222b)); cursor: pointer; }
button:disabled { opacity: .6; cursor: default; }
a { color: var(--a); }
:focus-visible { outline: 3px solid var(--a); outline-offset: 2px; }
iframe { display: block; width: 100%; border: 0; height: 12rem; color-scheme: inherit; }
.loading { position: absolute; top: 0; visibility: hidden; }
.failed { padding: .9rem 1rem; }
.around { color: CanvasText; }`);

class DPAudit extends HTMLElement {
  #box = html("div", { class: "box", part: "box" });
  #title = html("p", { class: "title", part: "title" });
  #button = html("button", { type: "button", part: "button" }, "Run this audit");
  #link = html("a", { target: "_blank", rel: "noopener", part: "link" }, "Open in dpscope");
  #hint = html("p", { class: "hint", part: "hint" }, "Runs in this browser, which loads a megabyte or two for it. Nothing is uploaded.");
  #standing = html("figcaption", { class: "hint" });
  #record = html("figure", { part: "recorded", hidden: true }, this.#standing);
  #recorded = null; // address of what it shows
  #of = ""; // fragment of the settings that were recorded
  #poster = html("div", { class: "poster", part: "poster" }, this.#record, html("div", { class: "about" }, this.#title, html("div", { class: "actions" }, this.#button, this.#link), this.#hint), html("slot", { name: "still" }));
  #failed = html("p", { class: "failed", part: "error", role: "alert", hidden: true });
  #slot = html("slot", { hidden: true });
  #paper = html("span", { class: "around", hidden: true }); // has the colour of text of the page around
  #frame = null;
  #opened = Promise.resolve(); // once the frame is ready
  #reveal = () => {}; // shows it
  #timer = 0; // until it is given up
  #calls = new Map(); // {resolve, reject} by id; 0 is that it is ready
  #last = 0;
  #warned = new Set();
  #report = null;
  #text = null;
  #seen = null; // observer of the view
  #attributes = new MutationObserver(() => this.#changed());
  #around = new MutationObserver(() => this.#look());
  #life; // ends what it listens to

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    root.adoptedStyleSheets = [styles];
    this.#box.append(this.#poster, this.#failed);
    root.append(this.#box, this.#slot, this.#paper);
    this.#button.addEventListener("click", () => { this.run().catch(() => {}); }); // the frame shows why
  }

  connectedCallback() {
    for (const name of Object.keys(this)) { // set before the upgrade, in that order
      if (!PROPERTIES.includes(name)) continue;
      const value = this[name];
      delete this[name];
      this[name] = value;
    }
    this.#attributes.takeRecords();
    this.#attributes.observe(this, { attributes: true });
    this.#around.observe(document.documentElement, { attributes: true });
    if (document.body) this.#around.observe(document.body, { attributes: true });
    this.#life = new AbortController();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#look(), this.#life);
    addEventListener("message", (event) => this.#message(event), this.#life);
    this.#describe();
    this.#look();
    this.#watch();
  }

  disconnectedCallback() {
    this.#attributes.disconnect();
    this.#around.disconnect();
    this.#life.abort();
    this.#seen?.disconnect();
    this.#close(new DOMException("The element left the page.", "AbortError"));
  }

  // What it is asked for

  /** Settings of the audit, by the keys of the page's address. */
  get settings() {
    return Object.fromEntries([...this.attributes].filter(({ name }) => isSetting(name)).map(({ name, value }) => [name, AUDIT_SWITCHES.includes(name) && value === "" ? "true" : value]));
  }

  set settings(settings) {
    for (const name of Object.keys(this.settings)) if (!(name in settings)) this.removeAttribute(name);
    for (const [name, value] of Object.entries(settings)) this.setAttribute(name, String(value));
  }

  get report() { return this.#report; }

  // What it does

  /** Has the frame do something; a host may leave the promise alone. */
  #ask(call, value) {
    const answer = this.#open().then(() => this.#send(call, value));
    answer.catch(() => {});
    return answer;
  }

  run() { return this.#ask("run"); }
  async stop() { if (this.#frame) await this.#ask("stop"); }

  async save() {
    return this.#frame ? this.#ask("save") : { version: 1, fragment: this.#fragment, report: this.#text };
  }

  async restore(state) {
    if (state?.version !== 1 || typeof state.fragment !== "string") throw new TypeError(`The state is ${state?.version === undefined ? "not from save()" : `of version ${state.version}`}, must be of version 1.`);
    const asked = new URLSearchParams(state.fragment.replace(/^#/, ""));
    this.settings = Object.fromEntries([...asked].filter(([key]) => isSetting(key)));
    if ((asked.get("view") === "canaries") !== (this.view === "canaries")) this.view = asked.get("view");
    this.#attributes.takeRecords(); // told here
    this.#describe();
    if (!this.#frame && state.report === null) return;
    await this.#ask("restore", { fragment: state.fragment, report: state.report ?? null });
    this.#reveal();
    if (state.report) [this.#report, this.#text] = [JSON.parse(state.report), state.report];
  }

  async exportReport(format = "json") {
    if (!["json", "html"].includes(format)) throw new TypeError(`The format is ${format}, must be json or html.`);
    if (format === "json" || !this.#text) return this.#text;
    if (!this.#frame) await this.restore(await this.save());
    return this.#ask("export", format);
  }

  // How it is done

  get #home() {
    const given = this.getAttribute("site");
    return given ? new URL(given.replace(/\/?$/, "/"), document.baseURI) : new URL(home);
  }

  /** The audit, as an address of the page. */
  get #fragment() { return fragmentOf(this.view === "canaries" ? { view: "canaries", ...this.settings } : this.settings); }

  get #texts() {
    const { controls, view, readonly } = this.#options.options;
    return { ...this.settings, controls, view, readonly: String(readonly), theme: this.#box.dataset.theme };
  }

  /** What is shown of it, and what of that cannot be used. */
  get #options() { return optionsOf(Object.fromEntries([...this.attributes].map(({ name, value }) => [name, value]))); }

  /** The poster's words; attributes that are none of ours are named once. */
  #describe() {
    const { mechanism, source, epsilon } = this.settings;
    this.#title.textContent = `${this.view === "canaries" ? "Canary audit" : "Audit"} of ${(this.view === "canaries" ? source : mechanism) || "a mechanism"}${epsilon ? ` at epsilon ${epsilon}` : ""}`;
    this.#link.href = new URL(`index.html${this.#fragment}`, this.#home);
    const warn = (key, words) => {
      if (this.#warned.has(key)) return;
      this.#warned.add(key);
      console.warn(`dp-audit: ${words}`);
    };
    for (const { name } of this.attributes) {
      if (!isSetting(name) && !OURS.includes(name) && !ANYBODYS.test(name)) warn(name, `the attribute ${name} is ignored; known attributes: ${[...SETTINGS, "p.NAME", ...OURS].join(", ")}`);
    }
    for (const words of this.#options.bad) warn(words, words);
    this.#recall();
  }

  /** Shows what the attribute recorded names: a report, or a picture. */
  async #recall() {
    const recorded = this.getAttribute("recorded");
    this.#caption();
    if (recorded === this.#recorded) return;
    this.#recorded = recorded;
    this.#record.hidden = !recorded;
    this.#of = "";
    if (!recorded) return;
    const url = new URL(recorded, document.baseURI).href, said = html("p", { class: "said" }); // where the picture is too small to be read
    const image = html("img", { alt: `Recorded picture: ${this.#title.textContent}`, part: "picture" }); // keeps its room
    this.#record.replaceChildren(...recorded.endsWith(".json") ? [said] : [said, image], this.#standing);
    let text = "", report = null;
    try {
      const answer = await fetch(url);
      if (answer.ok) text = await answer.text();
      if (text.trimStart()[0] === "{") report = JSON.parse(text);
    } catch { /* of another origin, perhaps, which shows pictures and no text */ }
    if (recorded !== this.#recorded) return;
    const of = (name) => new DOMParser().parseFromString(text, "image/svg+xml").querySelector(`svg > ${name}`)?.textContent ?? "";
    said.textContent = report?.headline ?? of("title");
    this.#of = report?.headline ? String(report.reproduce?.url ?? "") : of("metadata");
    if (report?.headline) image.remove();
    else {
      image.addEventListener("error", () => {
        image.remove();
        this.#standing.textContent = `Nothing recorded could be shown: ${url} is neither a picture nor a report.`;
      });
      if (said.textContent) image.alt = said.textContent;
      image.src = url;
    }
    this.#caption();
  }

  /** Says that it is recorded, and of which settings if they are not the element's. */
  #caption() {
    const of = new URLSearchParams(this.#of.slice(1));
    const others = Object.entries(this.settings).filter(([key, value]) => {
      const was = of.get(key);
      return was !== null && key !== "pair" && was !== value && !(Number(was) === Number(value));
    });
    this.#standing.textContent = others.length ? `Recorded with other settings: ${others.map(([key]) => `${key} ${of.get(key)}`).join(", ")}.` : "Recorded, not run in this browser yet.";
  }

  /** Follows theme and colours of the page. */
  #look() {
    const { theme } = this.#options.options;
    const style = getComputedStyle(this);
    const [red, green, blue] = getComputedStyle(this.#paper).color.match(/[\d.]+/g).map(Number);
    const chosen = theme !== "auto" ? theme : red + green + blue > 382 ? "dark" : "light";
    const colours = Object.fromEntries(Object.keys(COLOURS).map((name) => [name, style.getPropertyValue(`--dp-audit-${name}`).trim()]));
    const before = [this.#box.dataset.theme, this.#box.dataset.colours];
    this.#box.dataset.theme = chosen;
    this.#box.dataset.colours = JSON.stringify(colours);
    if (before[0] !== chosen || before[1] !== this.#box.dataset.colours) this.#configure();
  }

  #changed() {
    this.#describe();
    this.#look();
    this.#configure();
    this.#watch();
  }

  #configure() {
    if (this.#frame && !this.#calls.has(0)) this.#send("configure", { texts: this.#texts, colours: JSON.parse(this.#box.dataset.colours) }).catch(() => {}); // told where it is asked
  }

  /** With autorun, runs once it is seen. */
  #watch() {
    this.#seen?.disconnect();
    if (!this.#options.options.autorun || this.#frame) return;
    this.#seen = onceSeen(this, () => this.run().catch(() => {})); // the frame shows why
  }

  /** The frame, ready. */
  #open() {
    if (!this.isConnected) return Promise.reject(new DOMException("The element is not in a page.", "InvalidStateError"));
    if (this.#frame) return this.#opened;
    const focused = this.shadowRoot.activeElement === this.#button;
    this.#button.disabled = true;
    this.#failed.hidden = this.#slot.hidden = true;
    this.#frame = html("iframe", { part: "frame", class: "loading", title: this.#title.textContent, allow: "clipboard-write", referrerpolicy: "no-referrer" });
    this.#frame.src = new URL(`embed.html${fragmentOf(this.#texts)}`, this.#home).href;
    const giveUp = () => {
      const error = new Error(`The audit could not be loaded from ${this.#home.origin}. Does this page's policy allow frames of it, and is the network there?`);
      this.#close(error);
      this.#failed.textContent = error.message;
      this.#failed.hidden = this.#slot.hidden = false;
      this.#fire("error", { name: error.name, message: error.message });
    };
    this.#frame.addEventListener("load", () => { if (this.#calls.has(0)) this.#timer ||= setTimeout(giveUp, READY_AFTER); });
    this.#box.append(this.#frame);
    return this.#opened = this.#answer(0).then((detail) => {
      clearTimeout(this.#timer);
      const still = this.querySelector("[slot=still]");
      this.#reveal = () => {
        this.#reveal = () => {};
        this.#frame.classList.remove("loading");
        if (!this.#record.hidden || still) this.#frame.style.minHeight = `${this.#poster.getBoundingClientRect().height}px`; // nothing below it moves
        this.#poster.hidden = true;
        if (focused) this.#frame.focus();
      };
      if (!still) this.#reveal(); // else it stays until there is something to see
      this.#configure();
      this.#fire("ready", detail);
    });
  }

  /** Takes the frame away, and its workers with it. */
  #close(error) {
    this.#frame?.remove();
    this.#frame = null;
    this.#reveal = () => {};
    clearTimeout(this.#timer);
    this.#timer = 0;
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
    this.#button.disabled = false;
    this.#poster.hidden = false;
  }

  #answer(id) { return new Promise((resolve, reject) => { this.#calls.set(id, { resolve, reject }); }); }

  #send(call, value) {
    this.#frame.contentWindow.postMessage({ dpaudit: 1, id: ++this.#last, call, value }, this.#home.origin);
    return this.#answer(this.#last);
  }

  #fire(type, detail) { this.dispatchEvent(new CustomEvent(`dpaudit-${type}`, { detail, bubbles: true, composed: true })); }

  /** A message of the frame, and of nobody else. */
  #message({ source, origin, data }) {
    if (!this.#frame || source !== this.#frame.contentWindow || origin !== this.#home.origin || data?.dpaudit !== 1) return;
    const { type, detail } = data;
    if (type === "height") this.#frame.style.height = `${detail.height}px`;
    else if (type === "ready" || type === "answer") {
      const { id, value, error } = type === "ready" ? { id: 0, value: detail } : detail, call = this.#calls.get(id);
      this.#calls.delete(id);
      if (error) call?.reject(Object.assign(new DOMException(error.message, error.name), { refusal: error }));
      else call?.resolve(value);
    } else if (["result", "progress", "error", "config-change"].includes(type)) {
      if (type === "result") [this.#report, this.#text] = [detail.report, detail.text];
      this.#reveal();
      this.#fire(type, type === "result" ? { report: detail.report } : detail);
    }
  }
}

/** Properties that are attributes, by name. */
const REFLECTED = new Map([...SETTINGS, ...OURS].map((key) => [{ readonly: "readOnly" }[key] ?? key.replace(/-./g, (x) => x[1].toUpperCase()), key]));
const PROPERTIES = [...REFLECTED.keys(), "settings"];
for (const [property, key] of REFLECTED) {
  const flag = FLAGS.includes(key) || AUDIT_SWITCHES.includes(key);
  Object.defineProperty(DPAudit.prototype, property, {
    get() { return flag ? this.hasAttribute(key) && !["false", "0"].includes(this.getAttribute(key)) : this.getAttribute(key); },
    set(value) {
      if (value === null || value === undefined || value === false) this.removeAttribute(key);
      else this.setAttribute(key, value === true ? "" : String(value));
    },
    enumerable: true, configurable: true,
  });
}

if (!customElements.get("dp-audit")) customElements.define("dp-audit", DPAudit);
