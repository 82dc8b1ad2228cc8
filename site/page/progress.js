// How far a run has come, for the eye and, now and then, for the ear.
import { byId, html, terms } from "./element.js";
import { duration, grouped, roundedDown, roundedUp } from "./number.js";

const SPEAK_EVERY = 4000; // ms between two announcements

export const phases = { bet: "Betting on samples of all pairs", explore: "Exploring pairs", certify: "Certifying on fresh samples", bound: "Computing the bound" };
const shows = { explore: "Learning an event that shows it", certify: "Counting the event on fresh samples", bound: "Computing what the event certifies" }; // once the bound is there

let spoken = 0;

/** Says a sentence to screen readers; one that can wait is dropped when another was just said. */
export function say(text, now = true) {
  const time = performance.now();
  if (!now && time - spoken < SPEAK_EVERY) return;
  spoken = time;
  byId("live").textContent = text;
}

/** The time left in words, or "" while the core does not know it. @param {{left?: number, atMost?: boolean}} p */
export const timeLeft = ({ left, atMost }) => left ? `${atMost ? "at most" : "about"} ${duration(left)}` : "";

/** What bets have shown so far: the verdict, which stands whatever follows, or how near it is. @param {Partial<import("../worker/protocol").ProgressValue>} p */
function verdictSoFar({ refuted, betted, phase }) {
  if (refuted > 0) return `Refuted after ${grouped(refuted)} outputs${phase === "bet" ? "; the bound goes on climbing" : ""}`;
  return betted ? `no violation in ${grouped(betted.outputs)} outputs so far${betted.pValue < 1 ? ` (p-value at most ${roundedUp(betted.pValue)})` : ""}` : "";
}

/** Pairs of outputs that a bound so far is from. @param {Partial<import("../worker/protocol").ProgressValue>} p */
export const pairsOf = (p) => p.pairs ?? (p.betted ? p.betted.outputs / 2 : 0);

/** How far something is: a bar and a line at the head of a panel's place, and a message; their ids begin with its name. */
export class Bar {
  #place;
  #bar;
  #phase;
  #message;
  #stopping = "";

  /** @param {string} name */
  constructor(name) {
    this.#place = byId(`${name}-progress`);
    this.#bar = html("progress", { id: `${name}-bar`, max: 100, "aria-labelledby": `${name}-phase` });
    this.#phase = html("span", { id: `${name}-phase` });
    this.#message = byId(`${name}-status`);
    this.#place.prepend(this.#bar, html("p", { class: "progress-line" }, this.#phase));
  }

  begin() {
    this.#stopping = this.#phase.textContent = "";
    this.message("");
  }

  /** @param {string} words @param {number} [share] absent where nobody knows */
  at(words, share) {
    this.#place.hidden = false;
    if (share === undefined) this.#bar.removeAttribute("value");
    else this.#bar.value = Math.min(100, 100 * share);
    this.#phase.textContent = this.#stopping || words;
  }

  stopping(text) { this.#stopping = this.#phase.textContent = text; }
  message(text) { this.#message.textContent = text; }
  end() { this.#place.hidden = true; }
}

/** How far the form's run is, with its facts. */
export class ProgressPanel extends Bar {
  #refuted = false;
  #percent = html("span", {});

  constructor() {
    super("run");
    byId("run-phase").after(" ", this.#percent);
  }

  begin(phase = "") {
    super.begin();
    this.#refuted = false;
    this.#percent.textContent = "";
    byId("progress-facts").replaceChildren();
    this.at(phase);
    spoken = performance.now();
  }

  /** @param {Partial<import("../worker/protocol").ProgressValue>} p of a replay: rows and total */
  show(p, replay = false) {
    const left = timeLeft(p), share = p.total > 0 ? p.rows / p.total : 0, percent = `${Math.min(100, Math.floor(100 * share))} %`;
    const phase = replay ? "Replaying the certification" : (p.valid && shows[p.phase]) || (phases[p.phase] ?? p.phase);
    const bound = p.provisional !== undefined && `${p.quantity ?? "epsilon"} ≥ ${roundedDown(p.provisional)}`;
    const so = verdictSoFar(p);
    /** @type {any[]} */
    const facts = [
      so && ["Claim", p.refuted > 0 ? html("strong", {}, so) : so],
      !replay && p.phase === "bet" && ["Pairs drawn from", grouped(p.trial)],
      !replay && p.phase !== "bet" && !p.valid && ["Pairs explored", `${grouped(p.trial)} of ${grouped(p.trials)}`],
      ["Samples", `${grouped(p.rows)} of ${p.valid ? "at most " : ""}${grouped(p.total)}`],
      p.pairs > 0 && ["Pairs of outputs seen", grouped(p.pairs)],
      left && ["Time left", left],
      bound && [p.valid ? "So far, valid if stopped now" : "So far, not certified", bound],
    ];
    this.at(phase, share);
    this.#percent.textContent = percent;
    byId("progress-facts").replaceChildren(...facts.filter(Boolean).map((fact) => html("div", {}, terms([fact]))));
    if (p.message) this.message(p.message);
    if (p.refuted > 0 && !this.#refuted) {
      this.#refuted = true;
      say(so);
      return;
    }
    say(`${phase}, ${percent}${left && `, ${left} left`}${p.valid && bound ? `, ${bound} so far, valid if stopped now` : ""}`, false);
  }
}
