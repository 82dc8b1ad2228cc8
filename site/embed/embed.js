// The embed: the page's audit in a frame of somebody else's page. It is the page's own
// document and parts, of which embed.css leaves the settings, Run and the result; what stands
// here is what an embed does beside that. It loads nothing heavy before it is to run, and
// computes only while no other embed of this site does, by a lock that they share.
// Messages are those of dp-audit.d.ts; it takes calls from the page around it only.
import { Core, status } from "../app/core.js";
import { Runs } from "../app/runs.js";
import { Settings } from "../app/settings.js";
import { Shown } from "../app/shown.js";
import { Sliders } from "../app/sliders.js";
import { readFragment } from "../page/address.js";
import { onEnter, show as showDoor } from "../page/doors.js";
import { beside, byId, fetched, onSubmit } from "../page/element.js";
import { Engine } from "../page/engine.js";
import { Form, workersOf } from "../page/form.js";
import { keepFocus } from "../page/keyboard.js";
import { dismiss, notify } from "../page/notice.js";
import { drawnBy } from "../page/picture.js";
import { makeSections } from "../page/result.js";
import { Canaries } from "../panel/canaries.js";
import { COLOURS, fragmentOf, isCanarySetting, onceSeen, optionsOf } from "./embedoptions.js";

const LOCK = "dpscope-audit"; // whoever has it computes
const SAY_WAITING = 200; // ms without the lock
const TELL_AFTER = 150; // ms without a change
const dark = matchMedia("(prefers-color-scheme: dark)");
let host = "*"; // the origin around, once it has spoken

/** Tells the page around, if there is one. */
function tell(type, detail = {}) {
  if (parent !== window) parent.postMessage({ dpaudit: 1, type, detail }, host);
}

/** An error as the page around is told it. */
const plain = (error) => ({ name: error.name, message: error.message, ...error.refusal });

/** What the page has and an embed has not: the picture, and the user's files and code. */
const absent = /** @type {any} */ ({
  busy: false, running: false, there: false, engine: null, fragment: "",
  show() {}, follow() {}, grow() {}, end() {}, ask() {}, add() {}, beside() {}, holds: () => true,
  async verify() { throw new Error("The report contains its code: open it in dpscope to verify it."); },
});

class Embed {
  options = optionsOf({}).options;
  bad = /** @type {string[]} */ ([]); // what could not be used of those that were asked for, in words
  /** What is under way. @type {Promise<any> | null} */
  work = null;
  #texts = /** @type {Record<string, string>} */ ({}); // of an audit with canaries
  #stopping = new AbortController();
  #failed = ""; // why the core does not run
  #verifying = false; // by what is under way
  #timer = 0;

  /** @param {import("../worker/files").FullCatalogue} catalogue */
  constructor(catalogue) {
    makeSections();
    this.engine = new Engine({ lost: (n, reason) => this.runs.lost(n, reason), died: (reason) => this.core.died(reason) });
    drawnBy(this.engine);
    const page = Object.assign(this, { accounting: absent, picture: absent, samples: absent, own: absent, table: absent, mended: absent, past: absent,
      still: true, came() {}, refuse() {}, heard: (p) => tell("progress", p) });
    const form = this.form = new Form({ changed: () => this.#changed() });
    this.core = new Core(page, {
      busy: () => this.work !== null, idle: () => "", listed() {}, begun: () => this.settings.check(),
      fell: (why) => {
        this.#failed = why;
        this.runs.end();
      },
    });
    this.core.catalogue = catalogue;
    const canaries = this.canaries = new Canaries({ run: (...what) => this.runs.plant(...what) });
    const shown = this.shown = new Shown(page);
    this.settings = new Settings(page);
    this.runs = new Runs(page);
    this.sliders = new Sliders(form, {
      moving: () => shown.old(),
      moved: () => (this.work && !this.#verifying ? this.runs.again() : this.run().catch(() => {})), // told
    });
    form.fill(catalogue);
    canaries.fill(catalogue.canaries);
    onEnter((door) => shown.enter(door));
    onSubmit(byId("form"), () => this.run());
    byId("canaries-form").addEventListener("submit", (event) => {
      event.stopImmediatePropagation();
      event.preventDefault();
      this.run();
    }, true);
    for (const id of ["stop", "canaries-stop"]) byId(id).addEventListener("click", () => this.stop());
    byId("verify").addEventListener("click", () => {
      this.#begin(() => this.runs.verify());
      this.#verifying = true;
    });
    addEventListener("keydown", (event) => { if (event.key === "Escape" && !event.repeat && !event.defaultPrevented) this.stop(); });
  }

  setState = (state) => {
    document.body.dataset.state = state;
    keepFocus(() => {
      byId("run").disabled = byId("verify").disabled = this.work !== null;
      byId("stop").disabled = byId("canaries-stop").disabled = this.work === null;
      this.canaries.able(this.work === null);
    }, ["run", "stop", "verify", "canaries-run", "canaries-stop"]);
    this.shown.buttons();
  };

  // Settings

  /** Is it an audit with canaries? No file can be given for it. */
  get planted() { return this.options.view === "canaries"; }

  /** The settings as the page's address has them. @returns {Record<string, string>} */
  get current() { return this.planted ? { view: this.options.view, ...this.#texts } : this.form.read(); }

  /** Takes what an address or the page around gives; what cannot be used is named, and its default is. @param {Record<string, string>} texts */
  configure(texts) {
    clearTimeout(this.#timer);
    dismiss("address");
    const { controls, view, theme, readonly, autorun, ...rest } = texts;
    ({ options: this.options, bad: this.bad } = optionsOf(texts));
    const { options, bad } = this, all = options.view === "all";
    document.body.dataset.controls = options.controls;
    document.body.dataset.view = options.view;
    document.body.classList.toggle("readonly", options.readonly);
    byId("settings").open = options.controls === "full";
    for (const fold of document.querySelectorAll(".folds > details")) fold.toggleAttribute("open", all);
    this.dress(options.theme);
    const { settings, odd } = readFragment(new URLSearchParams(rest).toString());
    if (odd) bad.push(odd);
    this.#texts = Object.fromEntries(Object.entries(rest).filter(([key, text]) => isCanarySetting(key) && text !== ""));
    bad.push(...this.planted ? this.canaries.read(this.#texts) : this.form.write(settings ?? {}));
    if (bad.length) {
      notify({ key: "address", kind: "warning", title: "Not everything that this embed was given could be used", list: bad });
      tell("error", { name: "Error", message: bad.join(" ") });
    }
    showDoor(this.planted ? "training" : "explore");
    if (!this.planted) this.settings.check();
    this.#describe();
  }

  /** The title, and the link to the page. */
  #describe() {
    const { view, mechanism, source = "gaussian-sum", seed, workers, pair, ...rest } = this.current;
    byId("explorer").hidden = !this.form.mechanism?.fault;
    this.sliders.show();
    byId("audit").textContent = [this.planted ? `Canary audit of ${source}` : `Audit of ${mechanism}`, ...Object.entries(rest).map(([key, text]) => `${key.replace(/^p\./, rest[key.slice(2)] ? "parameter " : "")} ${text}`)].join(" · ");
    byId("full").href = new URL(`index.html${fragmentOf(this.current)}`, document.baseURI).href;
  }

  /** The reader changed something. */
  #changed() {
    this.settings.changed();
    this.bad = [];
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#describe();
      tell("config-change", { settings: this.current, fragment: fragmentOf(this.current) });
    }, TELL_AFTER);
  }

  // Looks

  /** Light, dark, or as the system says. */
  dress(theme) {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    this.tellTheme();
  }

  tellTheme() { tell("theme", { theme: this.options.theme === "auto" ? (dark.matches ? "dark" : "light") : this.options.theme }); }

  // Runs

  /** Runs the audit, after a replay that is under way. It comes to the report, or fails in words. @returns {Promise<any>} */
  run() {
    const stopping = this.#stopping;
    if (this.work && this.#verifying) return this.work.catch(() => {}).then(() => stopping?.signal.aborted || this.run());
    this.#verifying = false;
    return this.#begin(() => {
      if (!this.planted) return this.runs.run(false);
      this.canaries.able(true);
      return this.canaries.run();
    });
  }

  #begin(begin) {
    if (!this.work) {
      this.work = this.#alone(begin);
      this.work.catch(() => {}); // told
      for (const key of ["settings", "stop", "core"]) dismiss(key);
      this.setState("loading");
    }
    return this.work;
  }

  stop() {
    if (!this.runs.stop()) this.#stopping.abort(new DOMException("Stopped.", "AbortError"));
  }

  /** Sees to it that the core runs, without workers for tasks. */
  async need() {
    if (!this.engine.ready) await this.core.boot(0);
    if (!this.engine.ready) throw new Error(this.#failed);
  }

  /** Has something done while no other embed computes, and tells what comes of it. */
  async #alone(begin) {
    const { signal } = this.#stopping = new AbortController(), { engine } = this;
    const job = async () => {
      await this.need();
      signal.throwIfAborted();
      engine.resize(workersOf(this.current.workers));
      this.runs.outcome = Promise.resolve({});
      begin();
      let ended, outcome;
      do outcome = await (ended = this.runs.outcome);
      while (ended !== this.runs.outcome); // a knob was moved meanwhile
      const { answer, error } = outcome;
      engine.resize(0);
      if (error) throw error;
      if (answer?.report) tell("result", { report: answer.report, text: answer.text });
      return answer?.report;
    };
    try {
      return await Promise.race([locked(signal, job), new Promise((_, reject) => { signal.addEventListener("abort", () => reject(signal.reason)); })]);
    } catch (error) {
      if (!signal.aborted) {
        tell("error", plain(error));
        if (error.refusal && !byId("settings").checkVisibility()) notify({ key: "settings", kind: "error", title: "This cannot be run", error });
      }
      throw error;
    } finally {
      this.work = null;
      status("");
      this.setState(this.shown.report ? "done" : "idle");
    }
  }
}

/** Does something while no other embed computes. */
async function locked(signal, job) {
  if (!navigator.locks) return job(); // plain http: not to be had
  const waiting = setTimeout(() => status("Waiting for another audit to end…"), SAY_WAITING);
  let begun = false;
  try {
    return await navigator.locks.request(LOCK, { signal }, () => {
      begun = true;
      clearTimeout(waiting);
      return job();
    });
  } catch (error) {
    if (begun || error.name !== "SecurityError") throw error;
    return job(); // a browser that denies storage denies locks
  } finally {
    clearTimeout(waiting);
  }
}

/** Colours of the page around, by the names in COLOURS. */
function paint(colours) {
  for (const [name, properties] of Object.entries(COLOURS)) {
    const colour = colours[name];
    for (const property of properties) {
      if (colour && CSS.supports("color", colour)) document.documentElement.style.setProperty(property, colour);
      else document.documentElement.style.removeProperty(property);
    }
  }
}

// The page around

/** Does what the page around asks for. @param {Embed} embed */
function listen(embed) {
  const calls = {
    configure({ texts, colours }) {
      paint(colours ?? {});
      embed.configure(texts);
    },
    run() {
      if (embed.bad.length) throw new Error(embed.bad.join(" "));
      return embed.run();
    },
    stop: () => embed.stop(),
    save: () => ({ version: 1, fragment: fragmentOf(embed.current), report: embed.shown.text ?? null }),
    /** Shows a report again, with the settings that it came with. */
    async restore({ fragment, report }) {
      if (embed.work) throw new Error("An audit is under way; stop it first.");
      const texts = Object.fromEntries(new URLSearchParams(fragment.replace(/^#/, "")));
      const view = texts.view === "canaries" ? { view: "canaries" } : embed.planted && { view: "chart" };
      embed.configure({ ...texts, ...Object.fromEntries(Object.entries(embed.options).map(([key, value]) => [key, String(value)])), ...view });
      if (report === null) return;
      await embed.need();
      await embed.shown.show(await embed.engine.ask("open", report).answer, "before", "", "unverified");
      embed.setState("done");
    },
    async export(format) {
      const { report, text } = embed.shown;
      return format === "html" && report ? (await import(beside("export.js"))).pageOf({ report, text }, byId("result")) : text ?? null;
    },
    theme(theme) {
      embed.options.theme = optionsOf({ theme }).options.theme;
      embed.dress(embed.options.theme);
    },
  };
  addEventListener("message", async ({ source, origin, data }) => {
    if (source !== parent || parent === window || data?.dpaudit !== 1 || !Object.hasOwn(calls, data.call)) return;
    if (origin !== "null") host = origin;
    const { id, call, value } = data;
    try {
      tell("answer", { id, value: await calls[call](value) });
    } catch (error) {
      tell("answer", { id, error: plain(error) });
    }
  });
  dark.addEventListener("change", () => embed.tellTheme());
}

/** It cannot run. */
function cannot(title, error, ...more) {
  notify({ key: "core", kind: "error", title, text: [error.message, ...more] });
  tell("error", plain(error));
}

/** Takes over the page's document, but for its help, which asks for the focus. */
async function adopt() {
  const { body } = new DOMParser().parseFromString(await (await fetched("index.html")).text(), "text/html");
  for (const part of [...body.children]) if ((!part.id || !byId(part.id)) && part.id !== "help") document.body.append(part);
}

async function open() {
  byId("full").href = new URL(`index.html${location.hash}`, document.baseURI).href;
  new ResizeObserver(() => tell("height", { height: Math.ceil(document.body.getBoundingClientRect().height) })).observe(document.body);
  if (self.origin === "null") {
    cannot("This embed cannot run here", new DOMException("Its sandbox lacks allow-same-origin, so the browser starts no workers, which audits need.", "SecurityError"), "Open it on its own page with the link below.");
    return;
  }
  let embed;
  try {
    const [catalogue] = await Promise.all([new Engine({ lost() {}, died() {} }).catalogue(), adopt()]);
    embed = new Embed(catalogue);
  } catch (error) {
    cannot("This embed cannot run", error);
    return;
  }
  const readAddress = () => embed.configure(Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
  readAddress();
  addEventListener("hashchange", readAddress);
  embed.setState("idle");
  status(""); // nothing is loaded before a run
  listen(embed);
  tell("ready", { settings: embed.current });
  if (embed.options.autorun) onceSeen(byId("audit"), () => { if (!embed.bad.length) embed.run(); });
}

open();
