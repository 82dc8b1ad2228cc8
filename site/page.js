// The page: joins the form, the engine and the result. It relays and displays;
// every number and every verdict comes from the core.
import { linkTo, readFragment, writeFragment } from "./address.js";
import { byId } from "./element.js";
import { Ended, Engine, Refused } from "./engine.js";
import { copy, receive, reportName, save, typing } from "./files.js";
import { defaultWorkers, Form } from "./form.js";
import { dismiss, notify } from "./notice.js";
import { size } from "./number.js";
import { keyOf, planOf, Unusable } from "./plan.js";
import { ProgressPanel, say } from "./progress.js";
import { showFacts, showOrigin, showReport, showVerification } from "./result.js";

const CHECK_AFTER = 150; // ms without a change

let state = "loading";
let shown = null; // {report, text}: what the result shows
let active = null; // id of the run or verification under way
let progress = null; // of it, the last
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
  byId("run").disabled = !able;
  byId("stop").disabled = active === null;
  byId("verify").disabled = !able || !shown?.report.results?.[0]?.counts;
  for (const id of ["save", "copy-link", "copy-command", "use-settings"]) byId(id).disabled = !shown;
  for (const id of ["copy-link", "use-settings"]) byId(id).disabled ||= !shown?.report.reproduce?.url;
  byId("copy-command").disabled ||= !shown?.report.reproduce?.cli;
}

const status = (text) => { byId("status").textContent = text; };

function show(report, facts, text, origin, name) {
  shown = { report, text };
  showVerification(null);
  showReport(report, facts);
  showOrigin(origin, name);
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
    show(report, [], text, "example");
    setState(state);
    if (engine.ready) describe();
  } catch { /* a page without its example is a page */ }
}

/** Fills in the facts of the example, which the core words. */
function describe() {
  const { text } = shown;
  engine.open(text).then(({ facts }) => {
    if (shown.text === text) showFacts(facts);
  }, () => {}); // an example without its facts is an example
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
    writeFragment(checked.url + (count === defaultWorkers() ? "" : `&workers=${count}`));
  } catch (error) {
    if (number !== checks) return;
    form.clearErrors();
    blame(error, false);
  }
}

/** Shows an error of the settings at its field, or as a notice. */
function blame(error, focus) {
  if (error instanceof Ended) return; // told by died
  const key = error.key ?? (error instanceof Refused ? keyOf(error.refusal) : undefined);
  if (key && form.fail(key, error.message, focus)) {
    say(error.message, focus);
    return;
  }
  notify({ key: "settings", kind: "error", title: "This cannot be run", refusal: error.refusal ?? { message: error.message } });
}

/** Takes the settings from the address. Bad ones are named, and their defaults used. */
async function readAddress() {
  const { settings, newer } = readFragment(location.hash);
  const unused = newer ? [`This link is of version ${newer}, newer than the version 1 that this page knows; what it understands of it is used.`] : [];
  const number = ++checks;
  for (let tries = Object.keys(settings).length; tries >= 0; tries--) {
    try {
      workersOf(settings.workers);
      settings.mechanism ||= form.defaultMechanism;
      const checked = await engine.check(planOf(settings, listing(settings), engine.ready.limits));
      if (number !== checks) return;
      form.write(settings);
      form.show(checked);
      break;
    } catch (error) {
      if (error instanceof Ended) throw error;
      const key = error.key ?? (error.refusal && keyOf(error.refusal));
      unused.push(`${error.message}. The default is used.`);
      if (key === undefined || settings[key] === undefined) {
        form.write({});
        break;
      }
      delete settings[key];
    }
  }
  dismiss("address");
  if (unused.length) notify({ key: "address", kind: "warning", title: "Not everything in the address could be used", list: unused });
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
  setState("running");
  status("");
  let next = shown ? "done" : "ready";
  try {
    next = finish(await answer) ?? "done";
  } catch (error) {
    if (error instanceof Ended && !error.stopped) return; // told by died
    if (error instanceof Ended) notify({ key: "stop", kind: "warning", title: "Stopped", text: [error.message, "There is no partial report. What was shown before is still here."] });
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
  if (!engine.ready || active !== null) return;
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
    return;
  }
  check();
  if (byId("origin").dataset.kind === "run") showOrigin("before");
  work("Starting", (tell) => engine.run(plan, tell), ({ report, facts, text, error }) => {
    show(report, facts, text, "run");
    say(report.summary);
    dismiss("file");
    // On a narrow screen the result lies below the form.
    if (byId("result").getBoundingClientRect().top > innerHeight / 2) byId("result").scrollIntoView();
    if (!error) return "done";
    notify({ key: "stop", kind: "error", title: "The run failed; what it had found is shown", text: error });
    return "failed";
  });
}

function verify() {
  if (!engine.ready || active !== null || !shown) return;
  const { text } = shown;
  showVerification(null);
  work("Replaying the certification", (tell) => engine.verify(text, tell), (found) => {
    showVerification(found);
    say(found.ok ? "Replayed: everything is as the report says." : "Replayed: not what the report says.");
  }, true);
}

function stop() {
  if (active === null) return;
  engine.stop(active, () => panel.stopping("Stopping"), restart);
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
    show(answer.report, answer.facts, answer.text, "file", name);
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
  const button = byId(id);
  button.dataset.label ??= button.textContent;
  if (!await copy(text)) {
    notify({ key: "copy", kind: "info", title: "The browser does not allow copying; here it is", text });
    return;
  }
  button.textContent = "Copied";
  say("Copied");
  setTimeout(() => { button.textContent = button.dataset.label; }, 1500);
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
  location.hash = shown.report.reproduce.url;
  byId("run").focus();
});
byId("help-open").addEventListener("click", () => byId("help").showModal());
addEventListener("hashchange", () => {
  if (engine.ready) readAddress().catch(() => {}); // of a core that ended
});
addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event) || byId("help").open) return;
  if (event.key === "r") run();
  else if (event.key === "Escape") stop();
  else if (event.key === "?") byId("help").showModal();
  else return;
  event.preventDefault();
});
receive(openText, (name, found, want) =>
  notify({ key: "file", kind: "error", title: `${name} was not opened`, text: "What was shown is still here.", refusal: { message: "", field: "file", found, want, remedy: "" } }));

showExample();
boot();
