// What the page has under way: one run, replay or panel's audit at a time, from its
// button to its end.
import { status } from "./core.js";
import { byId } from "../page/element.js";
import { door, show as showDoor } from "../page/doors.js";
import { Ended, REPLACE_AFTER, STOPPING } from "../page/engine.js";
import { dismiss, notify } from "../page/notice.js";
import { ProgressPanel, say } from "../page/progress.js";
import { foundNothing, replayWords, showOrigin, showVerification } from "../page/result.js";
import { filesOf } from "./shown.js";

/**
 * The parts of a page, which find one another here. An embed has the first ones and calibrates nothing; for the others it has what is always empty.
 * @typedef {{engine: import("../page/engine.js").Engine, core: import("./core.js").Core, form: import("../page/form.js").Form, settings: import("./settings.js").Settings,
 *   runs: Runs, shown: import("./shown.js").Shown, canaries: import("../panel/canaries.js").Canaries, setState(next?: string): void, heard?(p: any): void,
 *   calibration?: import("../panel/calibration.js").Calibration, accounting: import("../panel/accounting.js").Accounting, picture: import("../view/viewframe.js").ViewFrame,
 *   samples: import("../panel/samples.js").Samples, own: import("../panel/own.js").Own, table: import("../panel/table.js").Table, mended: import("./mended.js").Mended, past: import("./history.js").History,
 *   still: boolean, came(files: File[], target?: EventTarget): void, refuse(title: string, error: Error): void}} Parts
 *   heard: how far a run is; still: nothing runs by itself; came: takes files of any kind
 */

const notReplayed = (error) => notify({ key: "file", kind: "warning", title: "The report could not be replayed", error });

export class Runs {
  /** Id of the request under way that needs the workers. */
  active = null;
  /** Of it, the last. @type {import("../worker/protocol").ProgressValue | null} */
  progress = null;
  /** The button that it was begun with, and the panel of that; none is the form's. */
  begunBy = "run";
  panel = "";
  /** What comes of the last run or replay: its answer, or what it failed of. @type {Promise<{answer?: any, error?: Error}>} */
  outcome = Promise.resolve({});
  #host; // the engine that does it
  #stopAsked = null; // id of what the user wished to stop
  #next = false; // the settings changed meanwhile: what is under way is given up for a run of theirs
  #panel = new ProgressPanel();
  #page;

  /** @param {Parts} page */
  constructor(page) { this.#page = page; }

  get busy() { return this.active !== null; }
  /** Does it take the user's samples? */
  get takesSamples() { return this.busy && this.#host === this.#page.samples.engine; }

  get able() { return this.#page.engine.ready !== null && !this.busy && !this.#page.samples.busy; }

  /** The core's module for another engine; null where it cannot be had now. */
  get module() { return this.#page.engine.ready && !this.busy ? this.#page.engine.module : null; }

  /** What was under way is gone. */
  end() {
    this.active = null;
    this.#underWay.end?.();
    this.#page.picture.end();
  }

  /** Nothing is under way any more, and the core is free. */
  free(next = this.#page.shown.report ? "done" : "ready") {
    if (!this.#page.engine.ready || this.busy) return;
    this.#page.setState(next);
    this.#page.core.free();
  }

  /** Runs the settings that changed while something was under way, where need be on a new core. */
  async #goOn() {
    if (!this.#next) return;
    await this.#page.engine.running;
    if (!this.#next) return;
    this.#next = false;
    this.run(false);
  }

  /**
   * Starts a run or a verification, and sees it to its end, with its outcome.
   * @param {{on: import("../page/engine.js").Engine, phase: string, replay?: boolean, name?: string, by?: string, blame?: (error: Error) => void}} work name: of the panel that shows it; by: the button; blame: shows an error
   */
  async #work({ on, phase, replay = false, name = "", by = replay ? "verify" : "run", blame }, request, finish) {
    const { picture, setState, settings, shown } = this.#page;
    [this.begunBy, this.panel] = [by, name];
    const panel = this.#underWay;
    this.#host = on;
    this.progress = null;
    panel.begin(phase);
    const { id, answer } = request((p) => {
      if (id !== this.active) return;
      if (p.share !== undefined) { // the files of a report are read first
        panel.message(`Reading ${p.name}, ${Math.floor(100 * p.share)} %`);
        return;
      }
      if (!this.progress) panel.message("");
      this.progress = p;
      panel.show(p, replay);
      if (!replay) this.#page.heard?.(p);
      if (name && !replay) shown.train(p);
      if (p.scored) picture.grow(p.scored);
      if (replay || this.#next || name) return;
      picture.follow(p);
      shown.follow(p);
    });
    this.active = id;
    setState("running");
    status("");
    let next = shown.report ? "done" : "ready", outcome;
    try {
      const answered = await answer;
      outcome = { answer: answered };
      if (!this.#next) next = await finish(answered) ?? "done";
    } catch (error) {
      outcome = { error };
      if (error instanceof Ended && !error.stopped) return outcome; // told by died
      if (!replay) shown.standsAgain();
      if (this.#next) {
        // What it would have said does not count.
      } else if (replay && id === this.#stopAsked) {
        notify({ key: "stop", kind: "info", title: "Verification stopped", text: "The report was not replayed to its end. What was shown is still here." });
        say("Verification stopped");
      } else if (blame && !(error instanceof Ended)) blame(error);
      else if (error instanceof Ended) notify({ key: "stop", kind: "warning", title: "Stopped", text: [error.message, "There is no partial report. What was shown before is still here."] });
      else if (replay) notReplayed(error);
      else settings.blame(error, true);
    }
    this.end();
    if (on === this.#page.table.engine) this.#page.table.rest();
    this.free(next);
    this.#goOn();
    return outcome;
  }

  /** Runs what the form asks for now; what is under way for what it asked before is given up. */
  again() {
    if (!this.busy) this.run(false);
    else if (!this.panel && this.begunBy === "run" && !this.#next) {
      this.#next = true;
      this.#host.stop(this.active, () => {}, this.#unstopped, REPLACE_AFTER);
    }
  }

  /** Runs what the form asks for. @param {boolean} asked whether the user pressed a button for it @returns {boolean} whether it can */
  run(asked = true) {
    if (!this.able) return false;
    const { engine, settings, shown } = this.#page;
    if (asked && !["explore", "data"].includes(door())) showDoor("explore");
    settings.still();
    dismiss("settings");
    dismiss("stop");
    let wanted;
    try {
      wanted = settings.asked();
      if (wanted.count !== engine.workers.length && wanted.on === engine) engine.resize(wanted.count);
    } catch (error) {
      shown.cannot(error.message);
      settings.blame(error, asked);
      this.outcome = Promise.resolve({ error });
      return true;
    }
    settings.check();
    this.#audit({ on: wanted.on }, wanted.wanted);
    return true;
  }

  /** Audits a pair, and shows the result. @param {import("../page/engine.js").Engine} on @param {import("../page/plan.js").Settings} settings */
  audit(on, settings) { this.#audit({ on }, { kind: "pair", settings }); }

  /** Audits with canaries. @param {import("../panel/canaryform.js").How} how @param {import("../worker/protocol").Wanted} wanted @param {File[]} files */
  plant(how, wanted, files) {
    const { canaries } = this.#page;
    this.#audit({ on: this.#page.engine, name: "canaries", by: `canaries-${how}`, blame: (error) => canaries.blame(error) }, wanted, files);
  }

  #audit(work, wanted, files = []) {
    const { shown } = this.#page;
    dismiss("stop");
    if (byId("origin").dataset.kind === "run") showOrigin("before");
    shown.old();
    this.outcome = this.#work({ ...work, phase: "Starting" }, (tell) => work.on.ask("run", wanted, tell, files), async (answer) => {
      const { report, error } = answer;
      if (shown.report && foundNothing(report)) {
        shown.standsAgain();
        notify({ key: "stop", kind: "info", title: "Stopped before anything was found", text: "There is no new result. What was shown before is still here." });
        say("Stopped before anything was found");
        return undefined;
      }
      const whole = shown.show({ ...answer, scored: this.#page.picture.grown ?? undefined }, "run");
      say(report.summary);
      if (!work.name) dismiss("file");
      await whole;
      if (!error) return "done";
      notify({ key: "stop", kind: "error", title: "The run failed; what it had found is shown", text: error });
      return "failed";
    });
  }

  verify() {
    const { engine, own, samples, shown, table } = this.#page, { text, report } = shown;
    if (!this.able || !shown.verifiable) return;
    if (shown.link) { // it holds no counts of each epoch: it is run again
      if (door() === "code") own.run();
      else this.run();
      return;
    }
    showVerification(null);
    dismiss("stop");
    if (report.inputs?.brought) {
      own.verify(report, text).then((found) => {
        if (shown.text === text) shown.verified(found);
        say(replayWords(found));
      }, notReplayed);
      return;
    }
    const recording = report.inputs?.samples;
    const { labelled } = report.inputs ?? {}, held = recording || report.kind === "scores" && samples.holds(report); // scores can do without
    const needed = (what, of, ask) => notify({ key: "file", kind: "info", title: `The ${what} is needed to verify this report`, text: `It was made from ${filesOf(of)}. Nothing is uploaded.`, action: { label: "Choose it", run: ask } });
    if (recording && !samples.there) needed("file", recording, () => samples.ask(recording.reading));
    else if (labelled && !table.holds(labelled)) needed("table", { files: [labelled.file] }, () => table.ask(labelled));
    else if (!labelled) this.#replay(held ? samples.engine : engine);
    else table.replaying(labelled).then((on) => { if (shown.text === text && !this.busy) this.#replay(on); }).catch(notReplayed);
  }

  /** Replays the report that is shown, there. @param {import("../page/engine.js").Engine} on */
  #replay(on) {
    const { canaries, shown } = this.#page, { text, report } = shown;
    const planted = report.kind === "canary", files = planted ? canaries.replays(report) : [];
    const work = { on, phase: report.inputs?.unseeded ? "Recomputing from the counts" : "Replaying the certification", replay: true };
    this.outcome = this.#work(planted ? { ...work, name: "canaries", blame: (error) => canaries.blame(error, report) } : work, (tell) => on.ask("verify", text, tell, files), (found) => {
      if (shown.text === text) shown.verified(found);
      say(replayWords(found));
    });
  }

  // Panels

  calibrate(texts, tell) { return this.#aside("calibrate", "calibrate", "Measuring the tool's own error rate.", (engine) => engine.ask("calibrate", texts, tell)); }

  /** Audits beside the result, once what is under way has ended; null where something else came first. @param {import("../page/plan.js").Settings} settings */
  async beside(settings, tell) {
    await this.outcome;
    return this.able ? this.#aside("run", "", "Auditing it mended.", (engine) => engine.ask("run", { kind: "pair", settings }, tell, [])) : null;
  }

  /** Has the core do something while the result stays. @param {(engine: import("../page/engine.js").Engine) => {id: number, answer: Promise<any>}} begin */
  async #aside(by, panel, words, begin) {
    const { engine, setState } = this.#page, { id, answer } = begin(engine);
    [this.begunBy, this.panel, this.#host, this.active] = [by, panel, engine, id];
    setState("running");
    status(words);
    try {
      return await answer;
    } finally {
      this.active = null;
      this.free();
      this.#goOn();
    }
  }

  get #underWay() { return { calibrate: this.#page.calibration, canaries: this.#page.canaries }[this.panel] ?? this.#panel; }

  /** Stops what is under way. @returns {boolean} whether anything is */
  stop() {
    const { own, samples } = this.#page;
    this.#next = false;
    if (samples.busy) return samples.stop();
    if (!this.busy) {
      const { running } = own;
      if (running) own.stop();
      return running;
    }
    if (this.#stopAsked === this.active) this.#host.endNow(this.active);
    this.#stopAsked = this.active;
    this.#host.stop(this.active, () => this.#underWay.stopping(STOPPING), this.#unstopped);
    return true;
  }

  /** Ends the workers that gave no answer to a stop. */
  #unstopped = () => {
    const { core, engine, samples, table } = this.#page;
    if (this.#host === engine) core.restart();
    else if (this.#host === table.engine) table.engine.end("Stopped.");
    else samples.forget();
  };

  lost(n, reason) {
    const text = `Worker ${n + 1} was lost (${reason.split("\n", 1)[0]}). Its task runs again elsewhere.`;
    if (this.busy) this.#underWay.message(text);
    say(text);
  }

  /** The workers of a panel's own engine have ended, and what they did with them. @param {import("../page/engine.js").Engine} host */
  gone(host) {
    if (this.#host !== host || !this.busy) return;
    this.active = null;
    this.#panel.end();
    this.#page.shown.standsAgain();
    this.free();
  }
}
