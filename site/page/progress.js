// How far a run has come, for the eye and, now and then, for the ear.
import { byId, html } from "./element.js";
import { LiveLine } from "./liveline.js";
import { duration, grouped, roundedDown, roundedUp } from "./number.js";

const SPEAK_EVERY = 4000; // ms between two announcements
const RATE_OVER = 3000; // ms that the rate is taken over
const TELL_FROM = 0.2; // of a stage, before its time left is told

export const phases = { bet: "Betting on samples of all pairs", explore: "Exploring pairs", certify: "Certifying on fresh samples", bound: "Computing the bound" };

let spoken = 0;

/** Says a sentence to screen readers; one that can wait is dropped when another was just said. */
export function say(text, now = true) {
  const time = performance.now();
  if (!now && time - spoken < SPEAK_EVERY) return;
  spoken = time;
  byId("live").textContent = text;
}

/** How fast something goes, over the last seconds. */
export class Pace {
  #seen = []; // [time, done]
  #over;
  #stage = { name: undefined, began: 0, before: 0 };

  /** @param {number} over ms that the rate is taken over */
  constructor(over = RATE_OVER) { this.#over = over; }

  /**
   * A unit of one stage costs more than one of another. So of a run that names its stages the
   * time left is taken from what this stage took, and not told before a fifth of it is done.
   * @returns {{rate: number, left: string}} done a second, 0 while nobody knows; the time left in words, or ""
   */
  at(done, total, stage = "") {
    const now = performance.now(), seen = this.#seen;
    if (seen.length && done < seen.at(-1)[1]) seen.length = 0; // a worker was lost
    seen.push([now, done]);
    while (seen.length > 2 && now - seen[1][0] > this.#over) seen.shift();
    const [time, first] = seen[0];
    const rate = now - time > 200 ? (1000 * (done - first)) / (now - time) : 0;
    if (stage !== this.#stage.name || done < this.#stage.before) this.#stage = { name: stage, began: now, before: done };
    if (!stage) return { rate, left: rate > 0 ? `about ${duration((total - done) / rate)}` : "" };
    const { began, before } = this.#stage, of = done - before;
    return { rate, left: rate > 0 && of > 0 && of >= TELL_FROM * (total - before) ? `about ${duration((((now - began) / 1000) * (total - done)) / of)}` : "" };
  }
}

/**
 * What the sequential stage of a run has said so far: the verdict, as soon as it is there, which stands
 * whatever follows, or how near it is.
 * @param {Partial<import("../worker/protocol").ProgressValue>} p
 */
export function verdictSoFar({ refuted, betted, phase }) {
  if (refuted > 0) return `Refuted after ${grouped(refuted)} outputs${phase === "bet" ? "" : "; the bound goes on climbing"}`;
  return betted ? `not refuted, p ≤ ${roundedUp(betted.pValue)} after ${grouped(betted.outputs)} outputs` : "";
}

/** Pairs of outputs that a bound so far is from. @param {Partial<import("../worker/protocol").ProgressValue>} p */
export const pairsOf = (p) => p.pairs ?? (p.betted ? p.betted.outputs / 2 : 0);

export class ProgressPanel {
  #pace;
  #refuted = false;
  #stopping = false;
  #line = new LiveLine(byId("progress-line"));

  begin(phase) {
    this.#pace = new Pace();
    this.#refuted = false;
    this.#stopping = false;
    byId("progress-panel").hidden = false;
    byId("progress-phase").textContent = phase;
    byId("progress-percent").textContent = "";
    byId("progress-facts").replaceChildren();
    byId("progress-message").hidden = true;
    this.#line.clear();
    byId("progress").removeAttribute("value"); // not known yet
    spoken = performance.now();
  }

  /** @param {Partial<import("../worker/protocol").ProgressValue>} p of a replay: rows and total */
  show(p, replay = false) {
    const { rate, left } = this.#pace.at(p.rows, p.total, p.phase);
    const percent = p.total > 0 ? Math.min(100, Math.floor((100 * p.rows) / p.total)) : 0;
    const phase = replay ? "Replaying the certification" : phases[p.phase] ?? p.phase;
    if (!this.#stopping) byId("progress-phase").textContent = phase;
    byId("progress-percent").textContent = `${percent} %`;
    byId("progress").value = percent;
    const bound = p.provisional !== undefined && `${p.quantity ?? "epsilon"} ≥ ${roundedDown(p.provisional)}`;
    const so = verdictSoFar(p);
    const facts = [
      so && ["Claim", p.refuted > 0 ? html("strong", {}, so) : so],
      !replay && p.phase === "bet" && ["Pairs drawn from", grouped(p.trial)],
      !replay && p.phase !== "bet" && ["Pairs explored", `${grouped(p.trial)} of ${grouped(p.trials)}`],
      ["Samples", `${grouped(p.rows)} of ${p.valid ? "at most " : ""}${grouped(p.total)}`],
      p.pairs > 0 && ["Pairs of outputs seen", grouped(p.pairs)],
      rate > 0 && p.phase !== "bound" && ["Speed", `${grouped(Number(rate.toPrecision(2)))} samples/s`],
      left && p.phase !== "bound" && ["Time left", p.phase === "bet" ? `${left} at most` : left],
      bound && [p.valid ? "So far, valid if stopped now" : "So far, not certified", bound],
    ].filter(Boolean);
    if (p.valid && bound) this.#line.add(pairsOf(p), p.provisional, p.claimed);
    byId("progress-facts").replaceChildren(...facts.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value))));
    if (p.message) this.message(p.message);
    if (p.refuted > 0 && !this.#refuted) {
      this.#refuted = true;
      say(so);
      return;
    }
    say(`${phase}, ${percent} %${left && p.phase !== "bound" ? `, ${left} left` : ""}${p.valid && bound ? `, ${bound} so far, valid if stopped now` : ""}`, false);
  }

  message(text) {
    byId("progress-message").textContent = text;
    byId("progress-message").hidden = !text;
  }

  stopping(text) {
    this.#stopping = true;
    byId("progress-phase").textContent = text;
  }

  end() { byId("progress-panel").hidden = true; }
}
