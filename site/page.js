// The page: joins the form, the engine and the result. It relays and displays;
// every number and every verdict comes from the core.
import { Accounting } from "./accounting.js";
import { linkTo, readFragment, usable, writeFragment } from "./address.js";
import { Calibration } from "./calibration.js";
import { Canaries } from "./canaries.js";
import { coreOf, lacking as unknown } from "./cores.js";
import { byId } from "./element.js";
import { Ended, Engine, FIRST, LARGER, Refused } from "./engine.js";
import { copyFor, receive, save, stemOf } from "./files.js";
import { defaultWorkers, Form } from "./form.js";
import { keepFocus, listenForKeys } from "./keyboard.js";
import { dismiss, notify } from "./notice.js";
import { size } from "./number.js";
import { keepOffline } from "./offline.js";
import { Own } from "./own.js";
import { toFile } from "./picture.js";
import { keyOf, planOf, Unusable } from "./plan.js";
import { ProgressPanel, say } from "./progress.js";
import { replayWords, showDrift, showOrigin, showReport, showVerification, showWords } from "./result.js";
import { Samples } from "./samples.js";
import { offerThemes } from "./themes.js";
import { ViewFrame } from "./viewframe.js";

const CHECK_AFTER = 150; // ms without a change
const CANARIES_END = 30_000; // ms that choosing a threshold may hold up a stop
const ACCOUNTING = "accounting", CALIBRATION = "the tool's own error rate", CANARIES = "canaries", YOURS = "your samples"; // as reasons for the larger core

let state = "loading";
let shown = null; // {report, text}: what the result shows
let active = null; // id of the request under way that needs the workers
let progress = null; // of it, the last
let host; // the engine that does it
let begunBy = "run"; // the button that it was begun with
let stopAsked = null; // id of what the user wished to stop
let formUrl; // the form's settings as the core writes them; null while they cannot be run
let checks = 0; // numbers them: only the last one counts
let checkTimer = 0;
let limits; // of a plan, once a core has said
/** @type {import("./protocol").FullCatalogue | null} */
let catalogue = null; // what all cores know; null: only the core that runs has a list
let loading = null; // promise of a larger core while it is on its way
let stopper = null; // AbortController of its download
let declined; // what it was last not loaded for: not asked for again by every keystroke
let auditPart = null; // of the address: the last valid settings
const afterwards = new Set(); // what waits for a core that is free

const engine = new Engine({ lost, died }, { hangAfterMs: globalThis.dpscopeOptions?.hangAfterMs });
const form = new Form({ changed });
const panel = new ProgressPanel();
const accounting = new Accounting({ account, changed: writeAddress });
const calibration = new Calibration({ calibrate, stop });
const samples = new Samples({
  core: sampleCore,
  busy: () => setState(state),
  offer(listing) {
    form.offer(listing);
    changed();
    fileWords();
  },
  refused: (title, refusal) => notify({ key: "file", kind: "error", title, text: "What was shown is still here.", refusal }),
  settled: () => dismiss("file"),
  scores(name) {
    notify({ key: "file", kind: "info", title: `${name} looks like membership scores of a trained model`, text: "Outputs on two datasets are audited here; scores of canaries are for the panel below.",
      action: { label: "Open the Canaries panel", run() { byId("canaries").open = true; byId("canaries").scrollIntoView(); } } });
  },
  gone: samplesGone,
  died(reason, again) {
    notify({ key: "file", kind: "error", title: "The worker that held your samples crashed", text: [reason.split("\n", 1)[0], "Perhaps there is not enough memory for them. The result is still here."], action: { label: "Read them again", run: again } });
  },
  claim() {
    byId("epsilon").closest("fieldset").scrollIntoView();
    byId(byId("epsilon").closest(".field").hidden ? "guarantee" : "epsilon").focus();
  },
});
const own = new Own({
  core: async (again) => (engine.ready && active === null && await larger("your own mechanism", again) ? engine.core : null),
  done(answer) {
    show(answer, "run");
    if (active === null) setState("done");
    byId("result").scrollIntoView();
  },
});
const picture = new ViewFrame("picture"), canaryPicture = new ViewFrame("canary-picture");
const canaries = new Canaries({ shown: (report) => canaryPicture.showCanary(report), ask: plant, stop, open: () => byId("file").click(), opened: openText });

/**
 * For tests: the engine (workers, endWorker), the state as in data-state of
 * the body ("loading", "ready", "running", "done", "failed"), the report that
 * is shown and the last progress of the run under way. A test may set
 * dpscopeOptions.hangAfterMs before this script runs.
 */
globalThis.dpscope = {
  engine,
  samples,
  get state() { return state; },
  get report() { return shown?.report ?? null; },
  get progress() { return progress; },
  /** The canary report that is shown. */
  get canaryReport() { return canaries.report; },
};

function setState(next) {
  state = next;
  document.body.dataset.state = next;
  const able = engine.ready !== null && active === null && next !== "loading" && !samples.busy;
  keepFocus(() => {
    byId("run").disabled = byId("calibrate").disabled = !able;
    byId("stop").disabled = active === null && stopper === null;
    for (const panel of ["calibrate", "canaries"]) byId(`${panel}-stop`).disabled = byId("stop").disabled || begunBy.split("-")[0] !== panel;
    canaries.able(able);
    byId("verify").disabled = !able || !shown?.report.evidence?.table || !shown.report.results?.length;
  }, [begunBy, "calibrate-stop", "canaries-stop", "run", "stop", "verify"]);
  for (const id of ["save", "save-html", "copy-link", "copy-command", "copy-embed", "use-settings"]) byId(id).disabled = !shown;
  for (const id of ["copy-link", "copy-embed", "use-settings"]) byId(id).disabled ||= !shown?.report.reproduce?.url;
  byId("copy-command").disabled ||= !shown?.report.reproduce?.cli || shown.report.inputs.brought?.kind === "javascript";
}

const status = (text) => { byId("status").textContent = text; };

function show(answer, origin, name) {
  shown = { report: answer.report, text: answer.text };
  byId("result").dataset.stem = stemOf(answer.report);
  showVerification(null);
  showReport(answer, listing(answer.report.inputs ?? {})?.museum);
  picture.show(answer);
  showOrigin(origin, name);
  compare();
  fileWords();
}

/** What tells a report's settings apart; one of samples has no address. */
const settingsOf = (again) => again?.url || again?.cli;

/** Says beside a report of samples which file a replay needs, where it is not there. */
function fileWords() {
  const recording = shown?.report.inputs?.samples;
  const needed = Boolean(recording) && !samples.holds(recording);
  byId("needs-file").hidden = !needed;
  if (needed) byId("needs-file").textContent = `To verify it, ${filesOf(recording)} is needed.`;
}

const filesOf = ({ files = [] }) => files.map((file) => `${file.name} (SHA-256 ${String(file.sha256).slice(0, 12)}…)`).join(" and ");

/** Says beside the result when it is not that of the form's settings. */
function compare() {
  const url = settingsOf(shown?.report.reproduce);
  showDrift(Boolean(url) && formUrl !== undefined && formUrl !== url);
}

/** Takes note of what the form's settings are to the core. */
function settled(url) {
  formUrl = url;
  compare();
}

// Starting

async function boot() {
  dismiss("core");
  setState("loading");
  status("Loading the core…");
  const list = engine.catalogue();
  engine.info().then((info) => {
    if (info) byId("version").textContent = `dpscope ${info.version} (${info.go})`;
  });
  try {
    const core = await firstCore(list);
    catalogue = await list;
    await start(() => engine.start(core, defaultWorkers()));
  } catch (error) {
    failed("The core did not start", error.message, boot);
  }
}

/**
 * The core that the address needs, so that none is fetched in vain; the first
 * one where the larger cannot be had.
 */
async function firstCore(list) {
  const { settings, account } = readFragment(location.hash);
  const asked = ["mechanism", "finder", "learner"].some((key) => settings[key]);
  const lacking = asked && unknown((name) => name === FIRST, await list, settings);
  const reason = account && (!lacking || needed(lacking, await list) === LARGER) ? ACCOUNTING : lacking;
  if (reason) {
    try {
      return await download(needed(reason, await list), "Loading the core");
    } catch (error) {
      notLoaded(error, reason, () => (engine.ready ? reread() : afterwards.add(reread)));
    }
  }
  return download(FIRST, "Loading the core");
}

/** The larger core that something needs. */
const needed = (reason, list = catalogue) => coreOf(reason, list);

/** Fetches a core and says in the status how far it is. A larger one can be stopped. */
async function download(name, doing) {
  let info, shown;
  engine.fileInfo(name).then((found) => {
    info = found;
    tell(0);
  });
  const tell = (bytes) => {
    if (!info || state !== "loading") return;
    const text = `${doing}, ${size(info.brotli)} compressed…${bytes && name !== FIRST ? ` ${Math.floor((100 * bytes) / info.bytes)} %` : ""}`;
    if (text !== shown) status(shown = text);
  };
  if (name === FIRST) return engine.load(name);
  stopper = new AbortController();
  setState(state);
  try {
    return await engine.load(name, { signal: stopper.signal, progress: tell });
  } finally {
    stopper = null;
    setState(state);
  }
}

/** Starts a core, first or anew, and takes the page to ready. */
async function start(begin) {
  ready(await begin());
  form.fill(catalogue ?? engine.ready.catalogue, limits);
  await readAddress();
  free();
  if (byId("origin").dataset.kind === "example") describe();
}

/** Takes note of the core that runs now. */
function ready(said) {
  limits = said.limits;
  byId("version").textContent = `dpscope ${said.version} (${said.go})`;
  const name = engine.coreName;
  engine.fileInfo(name).then((file) => {
    if (!file || name !== engine.coreName) return;
    byId("core-hash").textContent = `${name.replace(".wasm", "")} ${file.sha256.slice(0, 12)}`;
    byId("core-hash").title = `SHA-256 of ${name}: ${file.sha256}`;
  });
  engine.fileInfo(LARGER).then((file) => {
    const cost = engine.larger || !catalogue ? "" : `The larger core${file ? ` (${size(file.brotli)})` : ""}`;
    form.hint(cost && `${cost} is loaded when what you choose needs it.`);
    accounting.fill(catalogue?.accounts ?? [], cost);
    calibration.fill(catalogue?.calibration, cost);
    canaries.fill(catalogue?.canaries, cost);
    byId("own-load").textContent = cost && `${cost} is loaded first.`;
  });
}

/** A core runs and has nothing to do. */
function free() {
  if (!engine.ready || active !== null || loading) return;
  status("Ready.");
  if (state === "loading") setState("ready");
  for (const later of [...afterwards]) {
    afterwards.delete(later);
    later();
  }
}

function failed(title, text, retry) {
  active = null;
  panel.end();
  picture.end();
  status("The core is not running.");
  setState("failed");
  notify({ key: "core", kind: "error", title, text: [text, "Settings and result are still here."], action: { label: "Start it again", run: retry } });
}

function restart() {
  setState("loading");
  status("Starting the core again…");
  engine.restart().then((said) => {
    ready(said);
    free();
    return check();
  }).catch((error) => failed("The core did not start", error.message, boot));
}

// Larger cores

/**
 * Sees to it that a larger core runs; however often it is asked for, it comes
 * once. Not during a run.
 * @param {string} reason what needs it
 * @param {() => void} retry asks for it again
 * @returns {Promise<boolean>} whether it runs
 */
function larger(reason, retry) {
  if (engine.has(needed(reason))) return Promise.resolve(true);
  const before = loading;
  loading ??= bring(reason, retry).finally(() => {
    loading = null;
    free();
  });
  // What comes already may not be enough.
  return before ? before.then((there) => there && larger(reason, retry)) : loading;
}

async function bring(reason, retry) {
  for (const key of ["core", "settings", "address", "stop"]) dismiss(key);
  setState("loading");
  const doing = `Loading the larger core for ${reason}`;
  status(`${doing}…`);
  say(doing);
  try {
    const core = await download(needed(reason), doing);
    status("Starting the larger core…");
    ready(await engine.start(core));
    dismiss("core");
    setState("loading"); // the old one may have crashed meanwhile
    say("The larger core is running");
    return true;
  } catch (error) {
    if (engine.ready) notLoaded(error, reason, retry);
    else failed("The larger core did not start", error.message, boot);
    return false;
  }
}

function notLoaded(error, reason, retry) {
  declined = reason;
  const action = {
    label: "Load it",
    run() {
      declined = undefined;
      retry();
    },
  };
  const without = `It is needed for ${reason}. Everything else works; settings and result are still here.`;
  if (error.name === "AbortError") {
    notify({ key: "core", kind: "info", title: "Loading of the larger core was stopped", text: without, action });
    say("Loading was stopped");
  } else notify({ key: "core", kind: "error", title: "The larger core was not loaded", text: [error.message, without], action });
}

/** What of some settings the core that runs cannot do, but a larger one can. */
const missing = (settings) => unknown((name) => name === FIRST || engine.has(name), catalogue, settings);

/** Asks the core; once more if the larger one took its place meanwhile. */
async function ask(request) {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof Ended) || !loading) throw error;
    await loading;
    return request();
  }
}

/** Answers the accounting panel, now or when the core is free. */
async function account(query, again) {
  if (!engine.larger && (active !== null || !(engine.ready || loading))) {
    afterwards.add(again);
    throw new Error(active === null ? "Waits for the core." : "Waits for the end of the run: it needs the larger core.");
  }
  if (!await larger(ACCOUNTING, again)) throw new Error("The larger core is not there.");
  return engine.account(query);
}

/** Measures the tool's own error rate for its panel. */
function calibrate(plan, tell, again) {
  return inPanel({ by: "calibrate", stop: "calibrate-stop", reason: CALIBRATION, doing: "Measuring the tool's own error rate, below.", again }, () => engine.calibrate(plan, tell));
}

const plantings = { run: "Auditing with canaries", one: "Auditing in one run", scores: "Auditing scores", verify: "Replaying a canary audit" };

/** Does for the panel of canaries what its button of this name is for. */
function plant(how, request, tell, again) {
  return inPanel({ by: `canaries-${how}`, stop: "canaries-stop", reason: CANARIES, doing: `${plantings[how]}, below.`, again }, () => engine.canaries(how === "verify" ? "verify-canaries" : "canaries", request, tell));
}

/**
 * Does for a panel what needs the larger core and its workers, and sees it to its end.
 * @param {{by: string, stop: string, reason: string, doing: string, again: () => void}} panel by: the button that began it, stop: the one that ends it
 */
async function inPanel({ by, stop: end, reason, doing, again }, request) {
  begunBy = by;
  host = engine;
  if (!await larger(reason, again)) throw new Error("The larger core is not there.");
  const { id, answer } = request();
  active = id;
  setState("running");
  if (document.activeElement === document.body) byId(end).focus({ preventScroll: true }); // lost while the core came
  status(doing);
  try {
    return await answer;
  } finally {
    active = null;
    if (engine.ready) {
      setState(shown ? "done" : "ready");
      free();
    }
  }
}

/** The example stands there before the core does. */
async function showExample() {
  try {
    const answer = await fetch(new URL("example.json", document.baseURI));
    if (!answer.ok || shown) return;
    const text = await answer.text();
    const report = JSON.parse(text);
    if (shown) return; // a quicker result
    show({ report, text }, "example");
    setState(state);
    if (engine.ready) describe();
  } catch { /* a page without its example is a page */ }
}

/** Fills in what the core says of the example. */
function describe() {
  const { text } = shown;
  ask(() => engine.open(text)).then((answer) => {
    if (shown.text !== text) return;
    showWords(answer);
    picture.show(answer);
  }, () => {}); // an example without its words is an example
}

// The form and the address

function listing(settings) { return form.listing(settings.mechanism) ?? (catalogue ?? engine.ready?.catalogue)?.mechanisms.find((m) => m.name === settings.mechanism); }

/** The engine that can do settings. */
const engineFor = (settings) => (listing(settings)?.own ? samples.engine : engine);

/** Task workers that a text asks for. */
function workersOf(text = "") {
  const n = text === "" ? defaultWorkers() : Number(text);
  const { min, max } = byId("workers");
  if (!Number.isInteger(n) || n < Number(min) || n > Number(max)) throw new Unusable("workers", text, `a whole number in [${min}, ${max}]`);
  return n;
}

function changed() {
  checks++; // what is under way is out of date
  clearTimeout(checkTimer);
  checkTimer = setTimeout(check, CHECK_AFTER);
}

/** Has the core look at the settings; a valid state goes into the address. */
async function check() {
  const number = ++checks;
  if (!engine.ready && !loading) return;
  try {
    const settings = form.read();
    if (listing(settings)?.own && samples.busy) return; // asked for again at its end
    const count = workersOf(settings.workers);
    const plan = planOf(settings, listing(settings), limits);
    if (!await able(settings, number)) return;
    const checked = await ask(() => engineFor(settings).check(plan));
    if (number !== checks) return;
    form.show(checked);
    settled(settingsOf(checked));
    if (!checked.url) return; // no address holds a file
    auditPart = stateOf(checked.url, count);
    writeAddress();
  } catch (error) {
    if (number !== checks) return;
    form.clearErrors();
    if (!(error instanceof Ended)) settled(null);
    blame(error, false);
  }
}

/**
 * Has the larger core come where settings need it. Where it cannot, that is said
 * at the field; a run goes on first.
 * @param {number} number of the check that asks
 * @returns {Promise<boolean>} whether the core that runs can do them
 */
async function able(settings, number) {
  const lacking = missing(settings);
  if (!lacking) return true;
  if (active === null && lacking !== declined && await larger(lacking, check)) return number === checks;
  if (number !== checks) return false;
  if (active !== null) afterwards.add(check);
  form.clearErrors();
  settled(null);
  const at = ["mechanism", "finder", "learner"].find((key) => settings[key] === lacking);
  form.fail(at, `${lacking} needs the larger core, which ${active === null ? "is not there" : "is loaded when the run has ended"}`);
  return false;
}

const stateOf = (url, count) => url + (count === defaultWorkers() ? "" : `&workers=${count}`);

function writeAddress() {
  if (auditPart !== null || accounting.fragment) writeFragment((auditPart ?? "#v=1") + accounting.fragment);
}

/** The key of the setting that an error is about, or undefined. */
const faultOf = (error) => error.key ?? (error instanceof Refused ? keyOf(error.refusal) : undefined);

/** Shows an error of the settings at its field, or as a notice. */
function blame(error, focus) {
  if (error instanceof Ended) return; // told by died
  const key = faultOf(error);
  if (key && form.fail(key, error.message, focus)) {
    say(error.message, focus);
    return;
  }
  notify({ key: "settings", kind: "error", title: "This cannot be run", refusal: error.refusal ?? { message: error.message } });
}

/**
 * Takes the settings from the address. Bad ones are named, their defaults are
 * used, and the address is mended.
 */
async function readAddress() {
  clearTimeout(checkTimer); // of what the form held
  const number = ++checks;
  const { settings, account, canaries: planted, odd } = readFragment(location.hash);
  if (planted && auditPart !== null) { // the audit's form stays as it is
    addressWords(canaries.read(planted), odd);
    return;
  }
  if (missing(settings)) {
    form.write(settings);
    if (!await able(settings, number)) return;
  }
  const { value, bad } = await usable(settings, async () => {
    const count = workersOf(settings.workers);
    settings.mechanism ||= form.defaultMechanism;
    return { count, checked: await ask(() => engine.check(planOf(settings, listing(settings), limits))) };
  }, faultOf);
  if (number !== checks) return;
  const mend = bad.length > 0;
  if (planted) bad.push(...canaries.read(planted));
  if (account) bad.push(...accounting.read(account, declined !== ACCOUNTING));
  if (value) {
    form.write(settings);
    form.show(value.checked);
    settled(value.checked.url);
    auditPart = stateOf(value.checked.url, value.count);
    if (mend) writeAddress();
  }
  addressWords(bad, odd);
}

/** Says what of the address cannot be used. @param {string[]} bad */
function addressWords(bad, odd) {
  dismiss("address");
  if (odd) bad.unshift(odd);
  if (bad.length) notify({ key: "address", kind: "warning", title: "Not everything in the address could be used", list: bad });
}

/** Follows a link to a state; one to the present address changes nothing there. */
function goTo(fragment) {
  const before = location.hash;
  location.hash = fragment;
  if (location.hash === before) reread();
}

function reread() {
  declined = undefined;
  if (engine.ready || loading) readAddress().catch(() => {}); // of a core that ended
}

// Runs

/** Starts a run or a verification, and sees it to its end. */
async function work(phase, on, request, finish, replay = false) {
  host = on;
  progress = null;
  panel.begin(phase);
  const { id, answer } = request((p) => {
    if (id !== active) return;
    if (p.share !== undefined) { // the files of a report are read first
      panel.message(`Reading ${p.name}, ${Math.floor(100 * p.share)} %`);
      return;
    }
    if (!progress) panel.message("");
    progress = p;
    panel.show(p, replay);
    if (!replay) picture.follow(p);
  });
  active = id;
  begunBy = replay ? "verify" : "run";
  setState("running");
  status("");
  let next = shown ? "done" : "ready";
  try {
    next = finish(await answer) ?? "done";
  } catch (error) {
    if (error instanceof Ended && !error.stopped) return; // told by died
    if (replay && id === stopAsked) {
      notify({ key: "stop", kind: "info", title: "Verification stopped", text: "The report was not replayed to its end. What was shown is still here." });
      say("Verification stopped");
    } else if (error instanceof Ended) notify({ key: "stop", kind: "warning", title: "Stopped", text: [error.message, "There is no partial report. What was shown before is still here."] });
    else if (replay) notify({ key: "file", kind: "warning", title: "The report could not be replayed", refusal: error.refusal });
    else blame(error, true);
  }
  active = null;
  panel.end();
  picture.end();
  if (engine.ready) {
    setState(next);
    free();
  }
}

function run() {
  if (byId("run").disabled) return false;
  clearTimeout(checkTimer);
  dismiss("settings");
  dismiss("stop");
  let plan, on;
  try {
    const settings = form.read();
    const count = workersOf(settings.workers);
    plan = planOf(settings, listing(settings), limits);
    const lacking = missing(settings);
    if (lacking) {
      larger(lacking, run).then((there) => there && run());
      return true;
    }
    if (count !== engine.workers.length && engineFor(settings) === engine) engine.resize(count);
    on = engineFor(settings);
  } catch (error) {
    form.clearErrors();
    blame(error, true);
    return true;
  }
  check();
  if (byId("origin").dataset.kind === "run") showOrigin("before");
  work("Starting", on, (tell) => on.run(plan, tell), (answer) => {
    const { report, error } = answer;
    if (shown && report.termination.reason === "stopped" && report.termination.samplesUsed === 0) {
      notify({ key: "stop", kind: "info", title: "Stopped before anything was certified", text: "There is no new result. What was shown before is still here." });
      say("Stopped before anything was certified");
      return;
    }
    show(answer, "run");
    say(report.summary);
    dismiss("file");
    // On a narrow screen the result lies below the form.
    if (byId("result").getBoundingClientRect().top > innerHeight / 2) byId("result").scrollIntoView();
    if (!error) return "done";
    notify({ key: "stop", kind: "error", title: "The run failed; what it had found is shown", text: error });
    return "failed";
  });
  return true;
}

async function verify() {
  if (byId("verify").disabled) return;
  const { text, report } = shown;
  showVerification(null);
  dismiss("stop");
  if (report.inputs?.brought) {
    own.verify(report, text).then((found) => {
      if (shown.text === text) showVerification(found);
      say(replayWords(found));
    }, (error) => notify({ key: "file", kind: "warning", title: "The report could not be replayed", refusal: error.refusal ?? { message: error.message } }));
    return;
  }
  const recording = report.inputs?.samples;
  if (recording && !samples.there) {
    notify({ key: "file", kind: "info", title: "The file is needed to verify this report", text: `It is of ${filesOf(recording)}. Nothing is uploaded.`,
      action: { label: "Choose it", run: () => samples.ask(recording.reading) } });
    return;
  }
  const lacking = missing({ mechanism: report.inputs?.mechanism, finder: report.settings?.finder, learner: report.settings?.learner });
  if (lacking && (!await larger(lacking, verify) || shown.text !== text)) return;
  const on = recording ? samples.engine : engine;
  // The core finds a difference where this is not what it knows of the mechanism.
  const recomputed = Boolean(report.inputs?.unseeded);
  work(recomputed ? "Recomputing from the counts" : "Replaying the certification", on, (tell) => on.verify(text, tell), (answer) => {
    const found = { ...answer, recomputed };
    showVerification(found);
    say(replayWords(found));
  }, true);
}

/** The panel that shows what is under way. */
const underWay = () => (begunBy === "calibrate" ? calibration : begunBy.startsWith("canaries") ? canaries : panel);

function stop() {
  if (stopper) {
    stopper.abort();
    return true;
  }
  if (samples.busy) return samples.stop();
  if (active === null) {
    if (own.running) own.stop();
    return own.running;
  }
  stopAsked = active;
  host.stop(active, () => underWay().stopping("Stopping"), host === engine ? restart : () => samples.forget(), underWay() === canaries ? CANARIES_END : undefined);
  return true;
}

function lost(n, reason) {
  const text = `Worker ${n + 1} was lost (${reason.split("\n", 1)[0]}). Its task runs again elsewhere.`;
  if (active !== null) underWay().message(text);
  say(text);
}

function died(reason) {
  failed("The core crashed", reason, restart);
}

// The user's samples

/** The larger core, for their worker. */
async function sampleCore(again) {
  if (active !== null) {
    notify({ key: "file", kind: "warning", title: "The samples were not read", text: "A run is under way; stop it first." });
    return null;
  }
  return await larger(YOURS, again) ? engine.core : null;
}

/** Their worker has ended, and what it did with it. */
function samplesGone() {
  if (host !== samples.engine || active === null) return;
  active = null;
  panel.end();
  setState(shown ? "done" : "ready");
  free();
}

// Reports in and out

async function openText(name, text) {
  if (!engine.ready && !loading) {
    notify({ key: "file", kind: "warning", title: `${name} was not opened`, text: "The core, which reads reports, is not running yet. Try again in a moment." });
    return;
  }
  if (active !== null) {
    notify({ key: "file", kind: "warning", title: `${name} was not opened`, text: "A run is under way; stop it first." });
    return;
  }
  try {
    if (isCanaries(text)) {
      if (!await larger(CANARIES, () => openText(name, text))) return;
      const answer = await engine.openCanaries(text);
      dismiss("file");
      canaries.show(answer, name);
      say(`Opened ${name}: ${answer.report.summary}`);
      return;
    }
    const answer = await ask(() => engine.open(text));
    dismiss("file");
    show(answer, "file", name);
    if (answer.report.inputs?.brought) own.open(answer.report);
    say(`Opened ${name}: ${answer.report.summary}`);
    if (answer.newer) {
      notify({ key: "file", kind: "warning", title: `${name} was written by a newer version of dpscope`, text: "It is shown as far as this version understands it, and cannot be replayed here." });
    }
    if (active === null) setState(loading ? state : "done");
  } catch (error) {
    if (error instanceof Ended) return;
    notify({ key: "file", kind: "error", title: `${name} was not opened`, text: "What was shown is still here.", refusal: error.refusal ?? { message: error.message } });
  }
}

/** Is a file's text the report of a canary audit? */
function isCanaries(text) {
  try {
    return ["canary", "one-run", "scores"].includes(JSON.parse(text.replace(/^\uFEFF/, "")).kind);
  } catch {
    return false;
  }
}

async function copyText(id, text) {
  if (await copyFor(byId(id), text)) say("Copied");
  else notify({ key: "copy", kind: "info", title: "The browser does not allow copying; here it is", text });
}

function help() {
  byId("help").showModal();
  return true;
}

// Events

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
byId("stop").addEventListener("click", stop);
byId("verify").addEventListener("click", verify);
byId("save").addEventListener("click", () => save(`${stemOf(shown.report)}.json`, shown.text));
byId("save-html").addEventListener("click", () => toFile((exporter) => exporter.savePage(shown, byId("result"))));
byId("copy-link").addEventListener("click", () => copyText("copy-link", linkTo(shown.report.reproduce.url)));
byId("copy-command").addEventListener("click", () => copyText("copy-command", shown.report.reproduce.cli));
byId("copy-embed").addEventListener("click", () => {
  import(new URL("embedcode.js", import.meta.url)).then(({ open }) => open(shown.report.reproduce.url)).catch((error) =>
    notify({ key: "embed", kind: "error", title: "The dialog could not be loaded", text: error.message }));
});
byId("use-settings").addEventListener("click", () => {
  goTo(shown.report.reproduce.url);
  byId("run").focus();
});
for (const link of document.querySelectorAll(".try a")) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // for another tab
    event.preventDefault();
    goTo(link.hash);
  });
}
byId("help-open").addEventListener("click", help);
byId("help-terms").addEventListener("click", () => {
  byId("help").close();
  byId("meaning").scrollIntoView();
  byId("meaning").focus({ preventScroll: true });
});
addEventListener("hashchange", reread);
listenForKeys({ run, stop, help });
receive(openText, (title, found, want, remedy = "") =>
  notify({ key: "file", kind: "error", title, text: "What was shown is still here.", refusal: { message: "", field: "file", found, want, remedy } }),
(files, target) => {
  for (const panel of [own, canaries]) {
    const wanted = panel.wants(files, target);
    if (wanted) panel.take(files, wanted);
    if (wanted) return true;
  }
  return false;
}, (files) => samples.take(files));

for (const frame of [picture, canaryPicture]) frame.offer(engine.fileInfo("view.wasm"));
offerThemes(byId("theme"));
showExample();
boot().then(() => keepOffline(byId("offline"), engine.info()));
