// The page: joins the form, the engine and the result. It relays and displays;
// every number and every verdict comes from the core.
import { linkTo, readFragment, usable, writeFragment } from "./address.js";
import { byId } from "./element.js";
import { Ended, Engine, Refused } from "./engine.js";
import { copyFor, receive, reportName, save } from "./files.js";
import { defaultWorkers, Form } from "./form.js";
import { keepFocus, listenForKeys } from "./keyboard.js";
import { dismiss, notify } from "./notice.js";
import { size } from "./number.js";
import { keyOf, planOf, Unusable } from "./plan.js";
import { ProgressPanel, say } from "./progress.js";
import { replayWords, showDrift, showOrigin, showReport, showVerification, showWords } from "./result.js";

const CHECK_AFTER = 150; // ms without a change

let state = "loading";
let shown = null; // {report, text}: what the result shows
let active = null; // id of the run or verification under way
let progress = null; // of it, the last
let begunBy = "run"; // the button that it was begun with
let stopAsked = null; // id of what the user wished to stop
let formUrl; // the form's settings as the core writes them; null while they cannot be run
let checks = 0; // numbers them: only the last one counts
let checkTimer = 0;

const engine = new Engine({ lost, died }, { hangAfterMs: globalThis.dpscopeOptions?.hangAfterMs });
const form = new Form({ changed });
const panel = new ProgressPanel();

/**
 * For tests: the engine (workers, endWorker), the state as in data-state of
 * the body ("loading", "ready", "running", "done", "failed"), the report that
 * is shown and the last progress of the run under way. A test may set
 * dpscopeOptions.hangAfterMs before this script runs.
 */
globalThis.dpscope = {
  engine,
  get state() { return state; },
  get report() { return shown?.report ?? null; },
  get progress() { return progress; },
};

function setState(next) {
  state = next;
  document.body.dataset.state = next;
  const able = engine.ready !== null && active === null;
  keepFocus(() => {
    byId("run").disabled = !able;
    byId("stop").disabled = active === null;
    byId("verify").disabled = !able || !shown?.report.evidence?.table || !shown.report.results?.length;
  }, [begunBy, "run", "stop", "verify"]);
  for (const id of ["save", "copy-link", "copy-command", "use-settings"]) byId(id).disabled = !shown;
  for (const id of ["copy-link", "use-settings"]) byId(id).disabled ||= !shown?.report.reproduce?.url;
  byId("copy-command").disabled ||= !shown?.report.reproduce?.cli;
}

const status = (text) => { byId("status").textContent = text; };

function show(answer, origin, name) {
  shown = { report: answer.report, text: answer.text };
  showVerification(null);
  showReport(answer);
  showOrigin(origin, name);
  compare();
}

/** Says beside the result when it is not that of the form's settings. */
function compare() {
  const url = shown?.report.reproduce?.url;
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
  engine.info().then((info) => {
    const core = info?.files.find((file) => file.name === "core.wasm");
    if (core && state === "loading") status(`Loading the core, ${size(core.brotli)} compressed…`);
    if (info) byId("version").textContent = `dpscope ${info.version} (${info.go})`;
    if (!core) return;
    byId("core-hash").textContent = `core ${core.sha256.slice(0, 12)}`;
    byId("core-hash").title = `SHA-256 of core.wasm: ${core.sha256}`;
  });
  try {
    await engine.load();
    await start(() => engine.start(defaultWorkers()));
  } catch (error) {
    failed("The core did not start", error.message, boot);
  }
}

/** Starts the core, first or anew, and takes the page to ready. */
async function start(begin) {
  const ready = await begin();
  form.fill(ready);
  await readAddress();
  status("Ready.");
  setState("ready");
  byId("version").textContent = `dpscope ${ready.version} (${ready.go})`;
  if (byId("origin").dataset.kind === "example") describe();
}

function failed(title, text, retry) {
  active = null;
  panel.end();
  status("The core is not running.");
  setState("failed");
  notify({ key: "core", kind: "error", title, text: [text, "Settings and result are still here."], action: { label: "Start it again", run: retry } });
}

function restart() {
  setState("loading");
  status("Starting the core again…");
  engine.restart().then((ready) => {
    form.fill(ready);
    status("Ready.");
    setState("ready");
    return check();
  }).catch((error) => failed("The core did not start", error.message, boot));
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
  engine.open(text).then((answer) => {
    if (shown.text === text) showWords(answer);
  }, () => {}); // an example without its words is an example
}

// The form and the address

function listing(settings) { return engine.ready?.catalogue.mechanisms.find((m) => m.name === settings.mechanism); }

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
  if (!engine.ready) return;
  try {
    const settings = form.read();
    const count = workersOf(settings.workers);
    const checked = await engine.check(planOf(settings, listing(settings), engine.ready.limits));
    if (number !== checks) return;
    form.show(checked);
    settled(checked.url);
    writeState(checked.url, count);
  } catch (error) {
    if (number !== checks) return;
    form.clearErrors();
    if (!(error instanceof Ended)) settled(null);
    blame(error, false);
  }
}

const writeState = (url, count) => writeFragment(url + (count === defaultWorkers() ? "" : `&workers=${count}`));

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
  const { settings, newer } = readFragment(location.hash);
  const { value, bad } = await usable(settings, async () => {
    const count = workersOf(settings.workers);
    settings.mechanism ||= form.defaultMechanism;
    return { count, checked: await engine.check(planOf(settings, listing(settings), engine.ready.limits)) };
  }, faultOf);
  if (number !== checks) return;
  if (value) {
    form.write(settings);
    form.show(value.checked);
    settled(value.checked.url);
    if (bad.length) writeState(value.checked.url, value.count);
  }
  dismiss("address");
  if (newer) bad.unshift(`This link is of version ${newer}, newer than the version 1 that this page knows; what it understands of it is used.`);
  if (bad.length) notify({ key: "address", kind: "warning", title: "Not everything in the address could be used", list: bad });
}

/** Follows a link to a state; one to the present address changes nothing there. */
function goTo(fragment) {
  const before = location.hash;
  location.hash = fragment;
  if (location.hash === before) reread();
}

function reread() {
  if (engine.ready) readAddress().catch(() => {}); // of a core that ended
}

// Runs

/** Starts a run or a verification, and sees it to its end. */
async function work(phase, request, finish, replay = false) {
  progress = null;
  panel.begin(phase);
  const { id, answer } = request((p) => {
    if (id !== active) return;
    progress = p;
    panel.show(p, replay);
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
  if (engine.ready) {
    setState(next);
    status("Ready.");
  }
}

function run() {
  if (!engine.ready || active !== null) return false;
  clearTimeout(checkTimer);
  dismiss("settings");
  dismiss("stop");
  let plan;
  try {
    const settings = form.read();
    const count = workersOf(settings.workers);
    plan = planOf(settings, listing(settings), engine.ready.limits);
    if (count !== engine.workers.length) engine.resize(count);
  } catch (error) {
    form.clearErrors();
    blame(error, true);
    return true;
  }
  check();
  if (byId("origin").dataset.kind === "run") showOrigin("before");
  work("Starting", (tell) => engine.run(plan, tell), (answer) => {
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

function verify() {
  if (!engine.ready || active !== null || !shown) return;
  const { text } = shown;
  showVerification(null);
  dismiss("stop");
  work("Replaying the certification", (tell) => engine.verify(text, tell), (found) => {
    showVerification(found);
    say(replayWords(found));
  }, true);
}

function stop() {
  if (active === null) return false;
  stopAsked = active;
  engine.stop(active, () => panel.stopping("Stopping"), restart);
  return true;
}

function lost(n, reason) {
  const text = `Worker ${n + 1} was lost (${reason.split("\n", 1)[0]}). Its task runs again elsewhere.`;
  if (active !== null) panel.message(text);
  say(text);
}

function died(reason) {
  failed("The core crashed", reason, restart);
}

// Reports in and out

async function openText(name, text) {
  if (!engine.ready) {
    notify({ key: "file", kind: "warning", title: `${name} was not opened`, text: "The core, which reads reports, is not running yet. Try again in a moment." });
    return;
  }
  if (active !== null) {
    notify({ key: "file", kind: "warning", title: `${name} was not opened`, text: "A run is under way; stop it first." });
    return;
  }
  try {
    const answer = await engine.open(text);
    dismiss("file");
    show(answer, "file", name);
    say(`Opened ${name}: ${answer.report.summary}`);
    if (answer.newer) {
      notify({ key: "file", kind: "warning", title: `${name} was written by a newer version of dpscope`, text: "It is shown as far as this version understands it, and cannot be replayed here." });
    }
    if (active === null) setState("done");
  } catch (error) {
    if (error instanceof Ended) return;
    notify({ key: "file", kind: "error", title: `${name} was not opened`, text: "What was shown is still here.", refusal: error.refusal ?? { message: error.message } });
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
byId("save").addEventListener("click", () => save(reportName(shown.report), shown.text));
byId("copy-link").addEventListener("click", () => copyText("copy-link", linkTo(shown.report.reproduce.url)));
byId("copy-command").addEventListener("click", () => copyText("copy-command", shown.report.reproduce.cli));
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
addEventListener("hashchange", reread);
listenForKeys({ run, stop, help });
receive(openText, (title, found, want) =>
  notify({ key: "file", kind: "error", title, text: "What was shown is still here.", refusal: { message: "", field: "file", found, want, remedy: "" } }));

showExample();
boot();
