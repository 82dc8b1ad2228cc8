// The embed: one audit in a frame of somebody's page. It loads nothing heavy
// before it is to run, and computes only while no other embed of this site does,
// by a lock that they share: task workers are there for the length of a run.
//
// Messages to the page around it are {dpaudit: 1, type, detail}, as
// dp-audit.d.ts lists them; it takes {dpaudit: 1, id, call, value} from that page
// only, and answers {dpaudit: 1, type: "answer", detail: {id, value | error}}.
import { faultOf, readFragment } from "../page/address.js";
import { beside, byId, onSubmit, terms } from "../page/element.js";
import { CLAIM } from "../panel/canaryform.js";
import { phases, showPlanted } from "../panel/canaryreport.js";
import { fragmentOf, isCanarySetting, optionsOf } from "./embedoptions.js";
import { CORE, Ended, Engine, Refused } from "../page/engine.js";
import { save, stemOf } from "../page/files.js";
import { Form, workersOf } from "../page/form.js";
import { keepFocus } from "../page/keyboard.js";
import { copyText, dismiss, notify } from "../page/notice.js";
import { grouped, roundedDown, size } from "../page/number.js";
import { drawnBy } from "../page/picture.js";
import { asked, Unusable } from "../page/plan.js";
import { ProgressPanel, say, timeLeft } from "../page/progress.js";
import { foundNothing, judge, makeSections, replayWords, showDrift, showOrigin, showReport, showVerification } from "../page/result.js";

const LOCK = "dpscope-audit"; // whoever has it computes
const SAY_WAITING = 200; // ms without the lock
const CHECK_AFTER = 150; // ms without a change
const COLOURS = { accent: ["--accent", "--link"], "accent-text": ["--accent-text"], background: ["--page", "--panel"], text: ["--text"], muted: ["--muted"], line: ["--line"] };

let options = optionsOf({}).options;
/** @type {import("../worker/files").FullCatalogue} */
let catalogue;
/** @type {import("../page/plan.js").Settings} */
let settings = {};
let bad = []; // what could not be used of those that were asked for, in words
let work = null; // what is under way: {promise, abort, id, replays}
let shown = null; // the answer with its report, standing, and whole: promise of its end
let ran = ""; // the settings of what is shown, as a fragment
let checkTimer = 0;
const dark = matchMedia("(prefers-color-scheme: dark)");
let host = "*"; // the origin around, once it has spoken

makeSections();
const engine = new Engine({
  lost: (n, reason) => panel.message(`Worker ${n + 1} was lost (${reason.split("\n", 1)[0]}). Its task runs again elsewhere.`),
  died: () => {}, // what was pending fails
});
drawnBy(engine);
const form = new Form({ changed });
const panel = new ProgressPanel();

/** Tells the page around, if there is one. */
function tell(type, detail = {}) {
  if (parent !== window) parent.postMessage({ dpaudit: 1, type, detail }, host);
}

/** An error as the page around is told it. */
const plain = (error) => ({ name: error.name, message: error.message, ...error.refusal });

function setState(state) {
  document.body.dataset.state = state;
  keepFocus(() => {
    byId("run").disabled = work !== null || self.origin === "null";
    byId("stop").disabled = work === null;
    byId("verify").disabled = work !== null;
    byId("verify").hidden = shown?.standing !== "unverified";
  }, ["run", "stop", "verify"]);
}

const status = (text) => { byId("status").textContent = text; };

// Settings

const listing = (name) => catalogue.mechanisms.find((m) => m.name === name);

/** Is it an audit with canaries? That has no form, and no file can be given. */
const planted = () => options.view === "canaries";

/** The settings as the page's address has them. */
const current = () => (planted() ? { view: options.view, ...settings } : settings);

/** The audit that they ask for. @returns {import("../worker/protocol").Wanted} */
function wanted() {
  workersOf(settings.workers);
  const { workers, ...texts } = settings;
  return planted() ? { kind: "canary", settings: { epsilon: CLAIM.epsilon, ...texts } } : { kind: "pair", settings: asked(texts, listing(texts.mechanism)) };
}

/** Takes what an address or the page around gives; what cannot be used is named, and its default is. @param {Record<string, string>} texts */
function configure(texts) {
  clearTimeout(checkTimer);
  dismiss("address");
  const before = planted(), { controls, view, theme, readonly, autorun, ...rest } = texts;
  ({ options, bad } = optionsOf(texts));
  if (before !== planted()) { // what is shown is of another kind
    shown = null;
    byId("result").hidden = true;
  }
  document.body.dataset.controls = options.controls;
  document.body.dataset.view = options.view;
  document.body.classList.toggle("readonly", options.readonly);
  byId("change").open = options.controls === "full";
  dress(options.theme);
  const { settings: given, odd } = readFragment(new URLSearchParams(rest).toString());
  if (odd) bad.push(odd);
  if (planted()) plant(Object.fromEntries(Object.entries(rest).filter(([key, text]) => isCanarySetting(key) && text !== "")));
  else {
    bad.push(...form.write(given ?? {}));
    settings = form.read();
  }
  if (bad.length) {
    notify({ key: "address", kind: "warning", title: "Not everything that this embed was given could be used", list: bad });
    tell("error", { name: "Error", message: bad.join(" ") });
  }
  describe();
}

/** Takes the settings of an audit with canaries. @param {Record<string, string>} texts */
function plant({ source, design, ...rest }) {
  const { sources } = catalogue.canaries, found = source ? sources.find((s) => s.name === source) : sources[0];
  const vectors = found?.designs.some((d) => d.name === design && d.vectors);
  if (!found) bad.push(`source is "${source}", must be ${sources.map((s) => s.name).join(" or ")}. The first is used.`);
  if (vectors) bad.push(`design is ${design}, must be one that needs no file. The default is used.`);
  settings = { source: (found ?? sources[0]).name, ...(design && !vectors && { design }), ...rest };
  byId("canary-settings").replaceChildren(...terms(Object.entries(settings).map(([key, text]) => [key.replace(/^p\./, ""), text])).flat());
}

/** The title, the link to the page, and whether the result is that of the settings. */
function describe() {
  const { source, mechanism, epsilon, delta, guarantee, rho, mu, alpha, samples, n } = settings;
  const claim = guarantee === "zcdp" ? rho && `rho ${rho}` : guarantee === "gaussian-dp" ? mu && `mu ${mu}` : epsilon && `epsilon ${epsilon}${guarantee === "renyi" ? ` at order ${alpha}` : delta && delta !== "0" ? `, delta ${delta}` : ""}`;
  const words = planted() ? [`Canary audit of ${source}`, `claim: epsilon ${epsilon ?? CLAIM.epsilon}, delta ${delta ?? Number(CLAIM.delta).toExponential()}`, n && `${n} runs`]
    : [`Audit of ${mechanism}`, `claim: ${claim || listing(mechanism)?.claimWords}`, samples && `${Number.isFinite(Number(samples)) ? grouped(Number(samples)) : samples} samples a side`];
  byId("form-title").textContent = words.filter(Boolean).join(" · ");
  byId("full").href = new URL(`index.html${fragmentOf(current())}`, document.baseURI).href;
  showDrift(shown !== null && ran !== fragmentOf(current()));
}

/** Has the core, where it is there, look at the settings of the form. */
async function check() {
  if (planted()) return;
  settings = form.read();
  const { settings: texts } = wanted();
  if (engine.ready) form.show(await engine.ask("check", texts).answer);
  else form.clearErrors();
}

/** The user changed something. */
function changed() {
  clearTimeout(checkTimer);
  checkTimer = setTimeout(async () => {
    try {
      await check();
    } catch (error) {
      form.clearErrors();
      if (!(error instanceof Ended)) blame(error, false);
      return;
    }
    bad = [];
    describe();
    tell("config-change", { settings, fragment: fragmentOf(settings) });
  }, CHECK_AFTER);
}

/** Shows an error of the settings at its field, or as a notice. */
function blame(error, focus) {
  const key = faultOf(error), seen = options.controls !== "none" && !options.readonly && !planted();
  if (key && seen && form.fail(key, error.message, focus)) {
    byId("change").open = true;
    say(error.message, focus);
  } else notify({ key: "settings", kind: "error", title: "This cannot be run", refusal: error.refusal ?? { message: error.message } });
}

// Looks

/** Light, dark, or as the system says. */
function dress(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  tellTheme();
}

const tellTheme = () => tell("theme", { theme: options.theme === "auto" ? (dark.matches ? "dark" : "light") : options.theme });

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

// The core

/** Sees to it that the core runs. */
async function need(signal) {
  if (engine.ready) return;
  const info = await engine.fileInfo(CORE);
  const doing = `Loading the core${info ? `, ${size(info.brotli)}` : ""}…`;
  status(doing);
  const core = await engine.load({ signal, progress: (bytes) => info && status(`${doing} ${Math.floor((100 * bytes) / info.bytes)} %`), building: status });
  signal.throwIfAborted();
  await engine.start(core, 0);
}

/** Does something while no other embed computes. */
async function alone(signal, action) {
  if (!navigator.locks) return action(); // plain http: not to be had
  const waiting = setTimeout(() => {
    setState("queued");
    status("Waits for the end of another audit…");
  }, SAY_WAITING);
  let begun = false;
  try {
    return await navigator.locks.request(LOCK, { signal }, () => {
      begun = true;
      clearTimeout(waiting);
      return action();
    });
  } catch (error) {
    if (begun || error.name !== "SecurityError") throw error;
    return action(); // a browser that denies storage denies locks
  } finally {
    clearTimeout(waiting);
  }
}

// Runs

/** Runs the audit. It comes to the report, or fails in words. */
function run() {
  if (work?.replays) return work.promise.then(run);
  work ??= begin(audit);
  return work.promise;
}

function begin(job) {
  const controller = new AbortController();
  const mine = { abort: () => controller.abort(new DOMException("Stopped.", "AbortError")), id: null };
  for (const key of ["settings", "stop", "core"]) dismiss(key);
  clearTimeout(checkTimer);
  setState("loading");
  mine.promise = Promise.resolve().then(() => job(mine, controller.signal)).finally(() => {
    work = null;
    status("");
    panel.end();
    setState(shown ? "done" : "idle");
  });
  mine.promise.catch(() => {}); // told where it is caught
  return mine;
}

/** Asks the engine with its workers, while no other embed computes. */
const compute = (mine, signal, phase, request) => alone(signal, async () => {
  signal.throwIfAborted();
  status("");
  setState("running");
  panel.begin(phase);
  engine.resize(workersOf(settings.workers));
  try {
    const { id, answer } = request();
    mine.id = id;
    return await answer;
  } finally {
    engine.resize(0);
  }
});

/** Replays the report that is shown, which came from the page around. */
async function verify(mine, signal) {
  showVerification(null);
  const { text } = shown;
  try {
    await need(signal);
    const found = await compute(mine, signal, "Replaying", () => engine.ask("verify", text, (p) => panel.show(p, true)));
    judge(shown, found);
    say(replayWords(found));
  } catch (error) {
    notify({ key: "stop", kind: "warning", title: "The report was not replayed", refusal: error.refusal ?? { message: error.message } });
  }
}

async function audit(mine, signal) {
  try {
    await need(signal);
    await check();
    const asks = wanted(), of = fragmentOf(current());
    const { report, error, ...answer } = await compute(mine, signal, "Starting", () => engine.ask("run", asks, (p) => {
      if (planted()) follow(p, asks.settings.interval);
      else panel.show(p);
      tell("progress", p);
    }));
    const whole = foundNothing(report) ? notify({ key: "stop", kind: "info", title: "Stopped before anything was found" }) : show({ report, error, ...answer }, of);
    if (whole) say(report.summary);
    if (error) notify({ key: "stop", kind: "error", title: "The run failed; what it had found is shown", text: error });
    tell("result", { report, text: answer.text });
    await whole;
    return report;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    tell("error", plain(error));
    if (error instanceof Ended) notify({ key: "core", kind: "error", title: "The core ended", text: error.message });
    else if (error instanceof Refused || error instanceof Unusable) blame(error, true);
    else notify({ key: "core", kind: "error", title: "The audit did not run", text: error.message });
    throw error;
  }
}

/** Shows how far an audit with canaries is. @param {import("../worker/protocol").CanaryProgress} p @param {string} [interval] whose bound is told */
function follow(p, interval = catalogue.canaries.intervals[0].name) {
  const words = phases[p.phase], percent = Math.floor((100 * p.runs) / p.total), left = timeLeft(p), mine = p.bounds?.find((b) => b.interval === interval);
  panel.tell(words, percent, [["Runs", `${grouped(p.runs)} of ${grouped(p.total)}`], left && ["Time left", left], mine && [p.holds ? "So far" : "So far, not certified", `epsilon ≥ ${roundedDown(mine.epsilon)}`]]);
  say(`${words}, ${percent} %`, false);
}

function stop() {
  if (!work) return;
  if (work.id === null) work.abort();
  else engine.stop(work.id, () => panel.stopping("Stopping"), () => engine.end("stopped"));
}

/**
 * Shows a report.
 * @param {string} settings that it is of, as a fragment
 * @param {import("../page/result.js").Standing} [standing]
 * @returns {Promise<void>} when all of it is there
 */
function show(answer, settings, standing = "") {
  ran = settings;
  byId("result").hidden = false;
  byId("origin").dataset.kind = "run";
  showVerification(null);
  const whole = answer.report.kind === "pair" ? showReport(answer, listing(answer.report.subject)?.museum, standing) : showPlanted(answer, catalogue.canaries.intervals, standing);
  shown = { ...answer, standing, whole };
  showDrift(ran !== fragmentOf(current()));
  return whole;
}

// The page around

const calls = {
  configure({ texts, colours }) {
    paint(colours ?? {});
    return configure(texts);
  },
  run() {
    if (bad.length) throw new Error(bad.join(" "));
    return run();
  },
  stop,
  save: () => ({ version: 1, fragment: fragmentOf(current()), report: shown?.text ?? null }),
  /** Shows a report again, with the settings that it came with. */
  async restore({ fragment, report }) {
    if (work) throw new Error("An audit is under way; stop it first.");
    const texts = Object.fromEntries(new URLSearchParams(fragment.replace(/^#/, "")));
    const view = texts.view === "canaries" ? { view: "canaries" } : planted() && { view: "chart" };
    configure({ ...texts, ...Object.fromEntries(Object.entries(options).map(([key, value]) => [key, String(value)])), ...view });
    if (report === null) return;
    const signal = AbortSignal.timeout(60_000);
    await need(signal);
    const whole = show(await engine.ask("open", report).answer, fragmentOf(current()), "unverified");
    showOrigin("before");
    status("");
    setState("done");
    await whole;
  },
  async export(format) {
    if (format !== "html" || !shown) return shown?.text ?? null;
    await shown.whole;
    return (await import(beside("export.js"))).pageOf(shown, byId("result"));
  },
  theme(theme) {
    options.theme = optionsOf({ theme }).options.theme;
    dress(options.theme);
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

// Events

onSubmit(byId("form"), () => run().catch(() => {})); // told
byId("stop").addEventListener("click", stop);
byId("verify").addEventListener("click", () => { work ??= Object.assign(begin(verify), { replays: true }); });
addEventListener("keydown", (event) => { if (event.key === "Escape" && !event.defaultPrevented) stop(); });
byId("save").addEventListener("click", () => save(`${stemOf(shown.report)}.json`, shown.text));
byId("copy-command").addEventListener("click", () => copyText(byId("copy-command"), shown.report.reproduce.cli));
dark.addEventListener("change", tellTheme);
new ResizeObserver(() => tell("height", { height: Math.ceil(document.body.getBoundingClientRect().height) })).observe(document.body);

/** Runs by itself once the frame is seen. */
function autorun() {
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    if (!bad.length) run().catch(() => {}); // told
  });
  seen.observe(byId("run").closest("main"));
}

/** What the frame's address asks for. */
const readAddress = () => configure(Object.fromEntries(new URLSearchParams(location.hash.slice(1))));

/** It cannot run. */
function cannot(title, error, ...more) {
  notify({ key: "core", kind: "error", title, text: [error.message, ...more] });
  tell("error", plain(error));
}

async function open() {
  byId("full").href = new URL(`index.html${location.hash}`, document.baseURI).href;
  if (self.origin === "null") {
    cannot("This embed cannot run here", new DOMException("The sandbox around it lacks allow-same-origin, without which a browser starts no workers, and audits run in workers.", "SecurityError"), "It runs on a page of its own, from the link below.");
    return;
  }
  try {
    catalogue = await engine.catalogue();
  } catch (error) {
    cannot("This embed cannot run", error);
    return;
  }
  form.fill(catalogue);
  readAddress();
  addEventListener("hashchange", readAddress);
  setState("idle");
  tell("ready", { settings: current() });
  if (options.autorun) autorun();
}

/** For tests: the report that is shown, and the engine. */
globalThis.dpscope = { engine, get report() { return shown?.report ?? null; } };

open();
