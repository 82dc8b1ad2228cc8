// The page: joins the form, the engine and the result. It relays and displays;
// every number and every verdict comes from the core.
import { Accounting } from "../panel/accounting.js";
import { Calibration } from "../panel/calibration.js";
import { Canaries } from "../panel/canaries.js";
import { Core } from "./core.js";
import { door, enter, hangDoors, onEnter } from "../page/doors.js";
import { byId, onSubmit } from "../page/element.js";
import { Explore } from "./explore.js";
import { Ended, Engine, Refused } from "../page/engine.js";
import { receive } from "../page/files.js";
import { Form } from "../page/form.js";
import { History } from "./history.js";
import { Mended } from "./mended.js";
import { keepFocus, listenForKeys } from "../page/keyboard.js";
import { dismiss, notify } from "../page/notice.js";
import { keepOffline } from "./offline.js";
import { Own } from "../panel/own.js";
import { unpack, unpackCode } from "../page/packed.js";
import { drawnBy } from "../page/picture.js";
import { size } from "../page/number.js";
import { refusalOf } from "../page/plan.js";
import { say } from "../page/progress.js";
import { makeSections } from "../page/result.js";
import { Runs } from "./runs.js";
import { Samples } from "../panel/samples.js";
import { Settings } from "./settings.js";
import { homeOf, Shown } from "./shown.js";
import { offerThemes } from "./themes.js";
import { Table } from "../panel/table.js";
import { ViewFrame } from "../view/viewframe.js";

let arrived = false; // what the address asks for is under way; what is said of the example waits for that
let picked = false; // what the address asks for now
/** A test may wish to press the buttons itself. */
const still = Boolean(globalThis.dpscopeOptions?.still);

makeSections();
/** @type {import("./runs.js").Parts} */
const page = /** @type {any} */ ({ still, setState, came, refuse });
const engine = page.engine = new Engine({ lost: (n, reason) => runs.lost(n, reason), died: (reason) => core.died(reason) }, { hangAfterMs: globalThis.dpscopeOptions?.hangAfterMs });
drawnBy(engine);
const form = page.form = new Form({ changed: () => settings.changed() });
const picture = page.picture = new ViewFrame(() => door() === "training");
const explore = new Explore(form, {
  pick(fragment) {
    picked = true;
    settings.goTo(fragment);
  },
  moving: () => shown.old(),
  moved: () => runs.again(),
});
const HEAD = 1 << 20; // bytes that tell what a file is, and hold a function
const MOST_BYTES = 50e6; // of a report, which is some 20 kB
const MOST_UNASKED = 200_000; // samples of an audit that nobody pressed a button for

/**
 * Shows the result that came with a link; nothing runs. It comes to whether it can be shown.
 * @param {() => Promise<import("../worker/protocol").PreviewRequest>} asked what it is to the core
 * @param {string} [code] with its settings, which it is of
 */
async function come(asked, code) {
  try {
    const request = await asked();
    shown.sent(request.result, await engine.ask("preview", request).answer, code);
    setState("ready");
    return true;
  } catch (error) {
    const text = code ? "The code and its settings are here. Press Run to audit it." : "Its settings are in the form; the audit shows what they give.";
    notify({ key: "link", kind: "warning", title: "The result in the link cannot be read", text, error });
    return false;
  }
}

/** Shows the code that came with a link, and its result. @param {string} packed */
async function comeCode(packed) {
  try {
    const { result, width, ...code } = await unpackCode(packed), asked = own.receive(code);
    if (result && engine.ready) await come(async () => ({ ...asked, result, width }), JSON.stringify(code));
  } catch (error) {
    notify({ key: "link", kind: "warning", title: "The code in the link cannot be read", text: ["Your own code is unchanged.", error.message] });
  }
}

/** The doors of code and training show what an audit there is, unless something else is asked for. */
function begin() {
  if (still || !engine.ready) return;
  if (door() === "code" && !own.there && !own.running) own.soon(0);
  if (door() === "training" && !runs.busy && canaries.untouched) canaries.run();
}

/** Opens a report, or code, that the server of this page keeps; nothing runs. @param {string} id */
async function fetchStored(id) {
  try {
    const answer = await fetch(new URL(`api/reports/${encodeURIComponent(id)}`, document.baseURI));
    const text = await answer.text();
    if (!answer.ok) throw new Error(answer.headers.get("content-type") === "application/json" ? JSON.parse(text).error : `The server answered ${answer.status}.`);
    if (text.startsWith("{")) await openText(`report ${id}`, text);
    else settings.goTo(`#door=code&code=${text}`);
  } catch (error) {
    notify({ key: "file", kind: "error", title: "The report could not be fetched", text: error.message });
  }
}

/** Shows the result of what the form asks for now, or has it audited. */
async function arrive() {
  const unasked = !still || picked;
  picked = false;
  if (settings.report) return fetchStored(settings.report);
  if (settings.code) return comeCode(settings.code);
  begin();
  if (door() !== "explore" || !engine.ready || shown.recall()) return;
  const { result: packed } = settings;
  if (packed && await come(async () => ({ settings: settings.asked().wanted.settings, result: await unpack(packed) })) || !unasked) return;
  if (Number(byId("samples").value || 0) <= MOST_UNASKED) runs.again();
}

const core = page.core = new Core(page, {
  busy: () => runs.busy,
  listed() {
    const { catalogue } = core;
    form.fill(catalogue);
    accounting.fill(catalogue.accounts);
    calibration.fill(catalogue.calibration);
    canaries.fill(catalogue.canaries);
    explore.fill(catalogue);
    if (!location.hash && !still) history.replaceState(null, "", explore.first);
    settings.show();
  },
  async begun() {
    picture.offer(engine.fileInfo("view.wasm"));
    await settings.judge();
    explore.show();
  },
  fell() {
    if (runs.busy && runs.panel !== "calibrate") shown.standsAgain();
    runs.end();
  },
  idle: () => (shown.whole ? "" : "Ready."),
});
const shown = page.shown = new Shown(page);
page.mended = new Mended(page);
page.past = new History(page);
const accounting = page.accounting = new Accounting(page);
const calibration = page.calibration = new Calibration((...what) => runs.calibrate(...what));
const canaries = page.canaries = new Canaries({
  run: (...what) => runs.plant(...what),
  climbs: ({ certified, claimed, holds }, bound) => shown.climb(certified, bound, claimed, "epsilon", Boolean(holds), "trainings"),
});
const samples = page.samples = new Samples(page);
const own = page.own = new Own(page);
page.table = new Table(page);
const settings = page.settings = new Settings(page);
const runs = page.runs = new Runs(page);

/**
 * For tests: the engine (workers, endWorker), the state as in data-state of
 * the body ("loading", "ready", "running", "done", "failed"), the report that
 * is shown and the last progress of the run under way. A test may set
 * dpscopeOptions.hangAfterMs before this script runs.
 */
globalThis.dpscope = {
  engine,
  samples,
  get state() { return document.body.dataset.state; },
  get report() { return shown.whole; },
  get progress() { return runs.progress; },
  /** The canary report that is shown. */
  get canaryReport() { return shown.report?.kind === "pair" ? null : shown.whole; },
};

function ableToVerify() { byId("verify").disabled = !runs.able || document.body.dataset.state === "loading" || !shown.verifiable; }

function setState(next = document.body.dataset.state) {
  document.body.dataset.state = next;
  const able = runs.able && next !== "loading";
  keepFocus(() => {
    byId("run").disabled = byId("calibrate").disabled = !able;
    byId("stop").disabled = !runs.busy;
    for (const button of document.querySelectorAll("button[data-panel]")) byId(button.id).disabled = !runs.busy || runs.panel !== byId(button.id).dataset.panel;
    canaries.able(able);
    ableToVerify();
  }, [runs.begunBy, "calibrate-stop", "canaries-stop", "run", "stop", "verify"]);
  shown.buttons();
  if (next === "ready" && arrived) shown.describe();
}

// What comes in

/** @param {Error} error */
function refuse(title, error) { notify({ key: "file", kind: "error", title, text: "What was shown is still here.", error }); }

/** Takes files, or text that was pasted: a report, a function, outputs or scores. @param {File[]} files @param {EventTarget} [target] what they were dropped on */
async function came(files, target) {
  if (own.wants(files)) return own.take(files);
  if (/** @type {Element} */ (target)?.closest?.("#k-file-group")) return canaries.take(files);
  const names = files.map((file) => file.name).join(", ");
  const bad = (found, want, remedy) => refuse(`${names} was not opened`, new Refused(refusalOf("file", found, want, remedy)));
  try {
    await engine.running;
    const all = await Promise.all(files.map(async (file) => engine.ask("recognize", { text: await file.slice(0, HEAD).text() }).answer));
    const [{ is }] = all, [file] = files;
    if (all.some((one) => one.is === "empty")) bad("empty", "a report, a function, or a file of outputs or scores", "was it still being written?");
    else if (files.length > 2 || all.some((one) => one.is !== (files.length > 1 ? "data" : is))) bad(`${files.length} files`, "one file, or two of outputs or scores");
    else if (is === "data") samples.take(files);
    else if (is === "code") own.bring(all[0]);
    else if (file.size > MOST_BYTES) bad(size(file.size), `a report of at most ${size(MOST_BYTES)}`);
    else await openText(file.name, await file.text());
  } catch (error) {
    bad(`unreadable (${error.message})`, "a file that this browser may read");
  }
}

async function openText(name, text) {
  const hindered = !engine.ready ? "The core, which reads reports, is not running yet. Try again in a moment." : runs.busy && "A run is under way; stop it first.";
  if (hindered) {
    notify({ key: "file", kind: "warning", title: `${name} was not opened`, text: hindered });
    return;
  }
  try {
    const answer = await engine.ask("open", text).answer;
    dismiss("file");
    say(`Opened ${name}, not verified here: ${answer.report.summary}`);
    if (answer.report.kind !== "pair") canaries.untouched = false;
    const report = /** @type {import("../worker/protocol").Report} */ (answer.report);
    if (report.inputs?.brought) own.open(report);
    enter(homeOf(report));
    const whole = shown.show(answer, "file", name);
    runs.free("done");
    await whole;
  } catch (error) {
    if (error instanceof Ended) return;
    refuse(`${name} was not opened`, error);
  }
}

// Events

function help() {
  byId("help").showModal();
  return true;
}

onSubmit(byId("form"), () => runs.run());
for (const id of ["stop", "canaries-stop", "calibrate-stop"]) byId(id).addEventListener("click", () => runs.stop());
byId("more-outputs").addEventListener("click", () => {
  byId("samples").value = String(10 * shown.report.plan.samples);
  byId("samples").dispatchEvent(new Event("input", { bubbles: true }));
  runs.again();
});
byId("verify").addEventListener("click", () => runs.verify());
byId("note-verify").addEventListener("click", () => (shown.verifiable ? runs.verify() : own.run()));
hangDoors();
onEnter((to) => {
  picture.enter();
  begin();
  shown.enter(to);
  ableToVerify();
  settings.write();
});
byId("help-open").addEventListener("click", help);
byId("help-terms").addEventListener("click", () => {
  byId("help").close();
  byId("meaning").hidden = false;
  byId("meaning").scrollIntoView();
  byId("meaning").focus({ preventScroll: true });
});
addEventListener("hashchange", async () => {
  await settings.reread();
  explore.show();
  arrive();
});
listenForKeys({ run: () => runs.run(), stop: () => runs.stop(), tour: () => explore.tour(), help });
receive(came);

offerThemes(byId("theme"));
shown.example().then((there) => {
  if (there) setState();
});
core.boot().then(() => {
  arrive().then(() => {
    arrived = true;
    setState();
  });
  keepOffline(byId("offline"), engine.info());
});
