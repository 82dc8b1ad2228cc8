// The panel that measures the tool's own error rate: whole audits of mechanisms
// that keep their claim, and how many of them raise a false alarm.
import { table } from "../page/tables.js";
import { byId, html, onSubmit } from "../page/element.js";
import { Ended } from "../page/engine.js";
import { checkbox, controlOf, Fields } from "../page/field.js";
import { CALIBRATION } from "../page/keys.js";
import { duration, grouped } from "../page/number.js";
import { Unusable } from "../page/plan.js";
import { Bar, say } from "../page/progress.js";
import { command } from "../page/result.js";

const columns = Object.entries({ mechanism: "mechanism", audits: "audits", alarms: "false alarms", rate: "rate", interval: "99 % interval", allowed: "allowed" }).map(([key, title]) => ({ key, title }));
const LEFT_AFTER = 1500; // ms, before that the time left is a guess

export class Calibration extends Bar {
  /** @type {import("../worker/files").CalibrationOffer | null} */
  #offer = null;
  #fields = new Fields("c-");
  #boxes = new Fields("c-m"); // by mechanism
  #begun = 0;
  #calibrate;

  /** @param {(texts: Record<string, string>, tell: (so: import("../worker/protocol").CalibratedValue) => void) => Promise<import("../worker/protocol").CalibratedValue>} calibrate */
  constructor(calibrate) {
    super("calibration");
    this.#calibrate = calibrate;
    onSubmit(byId("calibration-form"), () => this.run());
    byId("calibration-form").addEventListener("input", () => this.#cost());
  }

  /** @param {import("../worker/files").CalibrationOffer} offer */
  fill(offer) {
    this.#offer = offer;
    const { plan } = offer;
    for (const key of CALIBRATION) {
      const form = { ...key.form, empty: String(plan[key.name]) };
      this.#fields.add("calibration-fields", key.name, form, controlOf({ ...key, form }));
    }
    byId("calibration-mechanisms").append(html("div", { class: "choices" }, offer.mechanisms.map((m, i) => {
      const box = this.#boxes.add("", m.name, { label: m.met ? m.name : `${m.name} ~` }, checkbox(), i);
      box.title = `${m.claim}: ${m.why}`;
      this.#boxes.put(m.name, String(plan.mechanisms.includes(m.name)));
      return box;
    })));
    byId("calibration-words").textContent = `Each audit is complete, with its own seed and the default learners and finder. It draws ${grouped(plan.explore)} outputs a side to explore each of up to ${plan.trials} pairs, and ${grouped(plan.samples)} to certify. ` +
      `An audit accuses a mechanism that keeps its claim with probability at most ${plan.beta}. False alarms are most frequent where the claim is met with equality.`;
    this.#cost();
  }

  #chosen() { return Object.keys(this.#boxes.texts); }

  #cost() {
    const audits = Number(this.#fields.text("runs") || this.#offer.plan.runs) * this.#chosen().length;
    byId("calibration-audits").textContent = audits > 0 ? `${grouped(audits)} audits.` : "";
  }

  /** Does what the form asks for, and shows what comes of it. */
  async run() {
    if (byId("calibrate").disabled) return;
    this.#fields.clearErrors();
    byId("calibration-mechanisms-error").hidden = true;
    let last;
    try {
      if (!this.#chosen().length) throw new Unusable("mechanisms", "empty", "one at least");
      this.begin();
      this.#begun = 0;
      const answer = await this.#calibrate({ ...this.#fields.texts, mechanisms: this.#chosen().join() }, (so) => {
        last = so;
        this.#show(so);
        this.#progress(so);
      });
      this.#show(answer);
      this.end();
      this.message(answer.error ? `Ended by an error: ${answer.error}` : answer.stopped ? `Stopped after ${grouped(answer.all.of)} of ${grouped(answer.total)} audits.` : "");
      say(`${answer.stopped ? "Stopped. " : ""}${answer.sentence} ${answer.judgement ?? ""}`);
    } catch (error) {
      this.end();
      this.#blame(error, last);
    }
  }

  /** @param {import("../worker/protocol").CalibratedValue} so */
  #progress({ all, total }) {
    const now = performance.now();
    this.#begun ||= now;
    const passed = now - this.#begun;
    const left = all.of > 0 && passed > LEFT_AFTER ? `, about ${duration(((passed / 1000) * (total - all.of)) / all.of)} left` : "";
    const words = `${grouped(all.of)} of ${grouped(total)} audits${left}`;
    this.at(words, all.of / total);
    say(`${words}, ${all.alarms} false alarms`, false);
  }

  #blame(error, last) {
    const name = error.refusal?.path.split("/").find(Boolean) ?? "";
    if (this.#fields.fail(name, error.message, true)) return;
    if (name.startsWith("mechanism")) {
      byId("calibration-mechanisms-error").textContent = error.message;
      byId("calibration-mechanisms-error").hidden = false;
      this.#boxes.values().next().value?.control.focus();
    } else {
      this.message(error instanceof Ended && last ? `The core ended after ${grouped(last.all.of)} audits (${error.message}). Their counts are still here.` : error instanceof Ended ? `The core ended (${error.message}); try again.` : error.message);
    }
    if (name) say(error.message);
  }

  /** @param {import("../worker/protocol").CalibratedValue} so */
  #show(so) {
    const rows = so.cells.map((c) => cells(c, so, c.mechanism, c.runs));
    if (rows.length > 1) rows.push(cells(so.all, so, "all together", so.total));
    byId("calibration-result").hidden = false;
    byId("calibration-result").replaceChildren(
      html("p", { class: "headline" }, so.sentence),
      html("p", { class: so.above && "remark" }, so.judgement),
      html("div", {}, table("False alarms", columns, rows)),
      html("div", {}, remarks(so).map((text) => html("p", { class: "hint" }, text)), command(whole(so) ? "The same on the command line" : "All of it on the command line", so.cli)));
  }
}

/** Did it come to its end? @param {import("../worker/protocol").CalibratedValue} so */
const whole = (so) => so.all.of === so.total;

const cells = (c, so, name, runs) => ({ cells: [
  [c.met === false ? `${name} ~` : name, c.above && html("span", { class: "exceeds" }, html("span", { "aria-hidden": "true" }, "▲ "), "significantly above")],
  `${grouped(c.of)} of ${grouped(runs)}`, grouped(c.alarms), c.rateText, c.intervalText, so.betaText,
] });

/** @param {import("../worker/protocol").CalibratedValue} so */
function remarks(so) {
  return [
    so.cli && !whole(so) && "Interval and judgement assume a number of audits fixed beforehand. They are invalid if you stop when you like the figures.",
    so.cells.some((c) => !c.met) && "~ No pair in reach is known to meet the claim with equality; expect fewer false alarms.",
    ...so.cells.filter((c) => c.failed > 0).map((c) => `${c.failed} of ${c.mechanism} failed, which is no alarm: ${c.note}`),
    so.cli && so.cells.length > 1 && "The overall rate hides differences: false alarms are rare where the true value lies below the claim or a bound is loose.",
    so.cli && "So few audits show large errors only. On the command line, go run github.com/dpscope/dpscope/bench calibration -sharp tests the bounds alone at their exact claims: 100 000 runs each, against error rates that are known exactly.",
    so.cli && so.all.of > 0 && `The intervals are Clopper-Pearson's, each with 99 % confidence on its own.${whole(so) ? " The same seed gives the same counts on the command line." : ""}`,
  ].filter(Boolean);
}
