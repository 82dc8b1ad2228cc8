// The embed: one audit in a frame of somebody's page. It loads nothing heavy
// before it is to run, and computes only while no other embed of this site does,
// by a lock that they share: task workers are there for the length of a run.
//
// Messages to the page around it are {dpaudit: 1, type, detail}, as
// dp-audit.d.ts lists them; it takes {dpaudit: 1, id, call, value} from that page
// only, and answers {dpaudit: 1, type: "answer", detail: {id, value | error}}.
import { faultOf, readFragment, usable } from "../page/address.js";
import { beside, byId, html, onSubmit } from "../page/element.js";
import { fillBody } from "../panel/canaryreport.js";
import { canarySettings, describeCanaries, tellCanaries, wantedOf } from "./embedcanaries.js";
import { fragmentOf, optionsOf } from "./embedoptions.js";
import { CORE, Ended, Engine, Refused } from "../worker/engine.js";
import { save, stemOf } from "../file/files.js";
import { Form, workersOf } from "../page/form.js";
import { keepFocus } from "../page/keyboard.js";
import { copyText, dismiss, notify } from "../page/notice.js";
import { grouped, size } from "../page/number.js";
import { drawnBy } from "../page/picture.js";
import { asked as askedOf, Unusable } from "../page/plan.js";
import { ProgressPanel, say } from "../page/progress.js";
import { foundNothing, judge, makeSections, replayWords, showDrift, showHead, showOrigin, showReport, showVerification } from "../page/result.js";

const LOCK = "dpscope-audit"; // whoever has it computes
const SAY_WAITING = 200; // ms without the lock
const CHECK_AFTER = 150; // ms without a change
const COLOURS = { accent: ["--accent", "--link"], "accent-text": ["--accent-text"], background: ["--page", "--panel"], text: ["--text"], muted: ["--muted"], line: ["--line"] };

let options = optionsOf({}).options;
/** @type {import("../worker/files").FullCatalogue | null} once it is there, the form lists it */
let catalogue = null;
let asked = {}; // settings before it does
let planted = null; // those of a canary audit, where it is one
let mended = ""; // what of the settings that were asked for could not be used, in words
let judged = true; // the core has seen the settings, or the user made them
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

const listing = (name) => catalogue?.mechanisms.find((m) => m.name === name);

/** The audit that settings ask for, as far as it can be judged without the core. @returns {import("../worker/protocol").Wanted} */
function wanted(settings) {
  workersOf(settings.workers);
  if (planted) return wantedOf(settings, catalogue?.canaries);
  if (!listing(settings.mechanism) && catalogue) throw new Unusable("mechanism", `"${settings.mechanism}"`, "the name of one that dpscope knows");
  return { kind: "pair", settings: askedOf(settings) };
}

/** What the form holds; before there is a list, what was asked for. */
const current = () => planted ?? (catalogue ? form.read() : asked);

/** Takes settings; bad ones are named, and their defaults are used. */
async function take(settings, bad, judge) {
  settings = { ...settings };
  const found = await usable(settings, async () => {
    if (!planted) settings.mechanism ||= catalogue ? form.defaultMechanism : "";
    return judge(settings);
  }, faultOf);
  bad.push(...found.bad);
  if (planted) planted = { ...settings, view: "canaries" };
  else asked = settings;
  if (catalogue && !planted) bad.push(...form.write(settings));
  if (bad.length) {
    mended = bad.join(" ");
    notify({ key: "address", kind: "warning", title: "Not everything that this embed was given could be used", list: bad });
    tell("error", { name: "Error", message: mended });
  }
  describe();
  return found.value;
}

/** Takes what an address or the page around gives. @param {Record<string, string>} texts */
async function configure(texts) {
  clearTimeout(checkTimer);
  dismiss("address");
  mended = "";
  judged = false;
  const { options: chosen, bad } = optionsOf(texts);
  options = chosen;
  const { controls, view, theme, readonly, autorun, ...rest } = texts;
  const { settings, odd } = readFragment(new URLSearchParams(rest).toString());
  if (odd) bad.push(odd);
  const before = planted;
  planted = canarySettings({ ...rest, view: options.view });
  if (!before !== !planted) { // what is shown is of another kind
    shown = null;
    byId("result").hidden = true;
  }
  document.body.dataset.controls = options.controls;
  document.body.dataset.view = options.view;
  document.body.classList.toggle("readonly", options.readonly);
  byId("change").open = options.controls === "full";
  dress(options.theme);
  await take(planted ?? settings, bad, wanted);
}

/** The title, the link to the page, and whether the result is that of the settings. */
function describe() {
  const settings = current();
  const { mechanism, epsilon, delta, guarantee, rho, mu, alpha, samples } = settings;
  const m = listing(mechanism);
  const claim = guarantee === "zcdp" ? rho && `rho ${rho}` : guarantee === "gaussian-dp" ? mu && `mu ${mu}` : epsilon && `epsilon ${epsilon}${guarantee === "renyi" ? ` at order ${alpha}` : delta && delta !== "0" ? `, delta ${delta}` : ""}`;
  const words = planted ? describeCanaries(planted, catalogue?.canaries) : [`Audit of ${mechanism || "a mechanism"}`, claim ? `claim: ${claim}` : m?.claimWords && `claim: ${m.claimWords}`, samples && `${Number.isFinite(Number(samples)) ? grouped(Number(samples)) : samples} samples a side`];
  byId("form-title").textContent = words.filter(Boolean).join(" · ");
  byId("full").href = new URL(`index.html${fragmentOf(settings)}`, document.baseURI).href;
  showDrift(shown !== null && ran !== fragmentOf(settings));
}

/** The user changed something. */
function changed() {
  clearTimeout(checkTimer);
  checkTimer = setTimeout(async () => {
    const settings = form.read();
    try {
      const asks = wanted(settings);
      if (engine.ready) form.show(await engine.ask("check", asks.settings).answer);
      else form.clearErrors();
    } catch (error) {
      form.clearErrors();
      if (!(error instanceof Ended)) blame(error, false);
      return;
    }
    mended = "";
    judged = true;
    describe();
    tell("config-change", { settings, fragment: fragmentOf(settings) });
  }, CHECK_AFTER);
}

/** Shows an error of the settings at its field, or as a notice. */
function blame(error, focus) {
  const key = faultOf(error);
  const seen = document.body.dataset.controls !== "none" && !options.readonly;
  if (key && seen && !planted && form.fail(key, error.message, focus)) {
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

/**
 * Runs the audit. It comes to the report, or fails in words.
 * @param {boolean} strict fails where settings are not those that were asked for
 */
function run(strict = false) {
  if (work?.replays) return work.promise.then(() => run(strict));
  work ??= begin((mine, signal) => audit(mine, signal, strict));
  return work.promise;
}

function begin(job) {
  const controller = new AbortController();
  const mine = { abort: () => controller.abort(new DOMException("Stopped.", "AbortError")), id: null };
  mine.promise = Promise.resolve().then(() => job(mine, controller.signal)).finally(() => {
    work = null;
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
  engine.resize(workersOf(current().workers));
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
  for (const key of ["settings", "stop", "core"]) dismiss(key);
  showVerification(null);
  setState("loading");
  const { text } = shown;
  try {
    await need(signal);
    const found = await compute(mine, signal, "Replaying", () => engine.ask("verify", text, (p) => panel.show(p, true)));
    judge(shown, found);
    say(replayWords(found));
  } catch (error) {
    notify({ key: "stop", kind: "warning", title: "The report was not replayed", refusal: error.refusal ?? { message: error.message } });
  }
  status("");
}

async function audit(mine, signal, strict) {
  for (const key of ["settings", "stop", "core"]) dismiss(key);
  clearTimeout(checkTimer);
  setState("loading");
  try {
    await need(signal);
    if (!judged) {
      const bad = [];
      judged = true;
      const checked = await take(current(), bad, (s) => (planted ? wanted(s) : engine.ask("check", wanted(s).settings).answer));
      if (checked && !planted) form.show(checked);
      if (bad.length && !strict) return null; // the user decides
    }
    if (strict && mended) throw new Error(mended);
    const settings = current(), asks = wanted(settings);
    const answer = await compute(mine, signal, "Starting", () => engine.ask("run", asks, (p) => {
      if (planted) tellCanaries(p, asks.settings, catalogue.canaries, panel);
      else panel.show(p);
      tell("progress", p);
    }));
    const { report, error } = answer;
    let whole;
    if (foundNothing(report)) {
      notify({ key: "stop", kind: "info", title: "Stopped before anything was found" });
    } else {
      whole = show(answer, fragmentOf(settings));
      say(report.summary);
    }
    if (error) notify({ key: "stop", kind: "error", title: "The run failed; what it had found is shown", text: error });
    status("");
    tell("result", { report, text: answer.text });
    await whole;
    return report;
  } catch (error) {
    status("");
    if (signal.aborted) throw signal.reason;
    if (error.message !== mended) tell("error", plain(error));
    if (error instanceof Ended) notify({ key: "core", kind: "error", title: "The core ended", text: error.message });
    else if (error instanceof Refused || error instanceof Unusable) blame(error, true);
    else if (!mended) notify({ key: "core", kind: "error", title: "The audit did not run", text: error.message });
    throw error;
  }
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
  let whole;
  if (answer.report.kind === "pair") whole = showReport(answer, listing(answer.report.subject)?.museum, standing);
  else {
    const body = html("div", { class: "contents" });
    showHead(answer, standing);
    byId("canary-result").replaceChildren(body);
    whole = fillBody(body, answer, catalogue.canaries.intervals);
  }
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
  run: () => run(true),
  stop,
  save: () => ({ version: 1, fragment: fragmentOf(current()), report: shown?.text ?? null }),
  /** Shows a report again, with the settings that it came with. */
  async restore({ fragment, report }) {
    if (work) throw new Error("An audit is under way; stop it first.");
    const texts = Object.fromEntries(new URLSearchParams(fragment.replace(/^#/, "")));
    const view = texts.view === "canaries" ? { view: "canaries" } : options.view === "canaries" && { view: "chart" };
    await configure({ ...texts, ...Object.fromEntries(Object.entries(options).map(([key, value]) => [key, String(value)])), ...view });
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
    if (!mended) run().catch(() => {}); // told
  });
  seen.observe(byId("run").closest("main"));
}

/** What the frame's address asks for. */
const readAddress = () => configure(Object.fromEntries(new URLSearchParams(location.hash.slice(1))));

async function open() {
  if (self.origin === "null") {
    await readAddress();
    const text = ["The sandbox around it lacks allow-same-origin, without which a browser starts no workers, and audits run in workers.", "It runs on a page of its own, from the link below."];
    notify({ key: "core", kind: "error", title: "This embed cannot run here", text });
    tell("error", { name: "SecurityError", message: text[0] });
    return;
  }
  try {
    catalogue = await engine.catalogue();
  } catch (error) {
    notify({ key: "core", kind: "error", title: "This embed cannot run", text: error.message });
    tell("error", plain(error));
    return;
  }
  form.fill(catalogue);
  form.write(asked);
  await readAddress();
  addEventListener("hashchange", readAddress);
  setState("idle");
  tell("ready", { settings: current() });
  if (options.autorun) autorun();
}

/** For tests: the report that is shown, and the engine. */
globalThis.dpscope = { engine, get report() { return shown?.report ?? null; } };

open();
