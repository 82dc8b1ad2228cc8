// The panel of canary audits: what is asked for, and what is under way.
import { CanaryForm } from "./canaryform.js";
import { phases } from "./canaryreport.js";
import { door } from "../page/doors.js";
import { byId, html, onSubmit } from "../page/element.js";
import { Ended } from "../page/engine.js";
import { grouped, roundedDown } from "../page/number.js";
import { Bar, say, timeLeft } from "../page/progress.js";
import { underWay } from "../page/result.js";

const perceptron = { source: "dp-sgd", n: "256", k: "11", m: "64" };
/** @type {[words: string, texts: Record<string, string>][]} */
const presets = [
  ["Gaussian sum as in the paper", { source: "gaussian-sum", n: "1024", k: "32", quantile: "0.1" }],
  ["Perceptron by DP-SGD", perceptron],
  ["A copy that forgets to clip", { ...perceptron, "p.fault": "no-clipping" }],
  ["A quarter of the noise", { ...perceptron, "p.fault": "quarter-noise" }],
];

export class Canaries extends Bar {
  #form = new CanaryForm();
  #interval = ""; // whose bound is told on the way
  /** What was begun last. @type {import("./canaryform.js").How} */
  #how = "run";
  /** Has nobody asked anything of it yet? */
  untouched = true;
  #on;

  /** @param {{run(how: import("./canaryform.js").How, wanted: import("../worker/protocol").Wanted, files: File[]): void, climbs?(p: import("../worker/protocol").CanaryProgress, bound: number): void}} on climbs: the bound so far */
  constructor(on) {
    super("canaries");
    this.#on = on;
    onSubmit(byId("canaries-form"), () => this.run());
    byId("canaries-form").addEventListener("input", () => { this.untouched = false; });
    byId("canaries-one").addEventListener("click", () => this.run("one"));
  }

  /** @param {import("../worker/files").CanaryOffer} offer */
  fill(offer) {
    this.#form.fill(offer);
    byId("canaries-presets").replaceChildren(...presets.map(([words, texts]) => html("button", {
      type: "button", onclick: () => {
        this.untouched = false;
        this.#form.write(texts);
        this.message(`${words}: set. Press Run to start.`);
      },
    }, words)));
  }

  /** Sets the panel to what an address asks for. @returns {string[]} what of it cannot be used, in words */
  read(texts) {
    this.untouched = false;
    return this.#form.read(texts);
  }

  /** Takes a file of the user's. It stays in the browser. @param {File[]} files */
  take(files) { this.#form.take(files); }

  // Runs

  /** Has what the form asks for audited. @param {import("./canaryform.js").How} how */
  run(how = "run") {
    const button = byId(`canaries-${how}`);
    if (button.disabled || button.hidden) return;
    this.#how = how;
    this.untouched = false;
    this.#form.clear();
    const wanted = this.#form.asked(how);
    this.#interval = wanted.settings.interval || this.#form.offer.intervals[0].name;
    this.#on.run(how, wanted, byId("k-file-group").hidden ? [] : this.#form.files);
  }

  /** The files that a report is replayed with. */
  replays({ plan }) {
    this.#how = plan.mode === "one-run" ? "one" : "run";
    this.#form.clear();
    return plan.data ? this.#form.files : [];
  }

  // What is under way

  /** @param {any} p progress, or that of a replay */
  show(p, replay = false) {
    const [doing, done] = replay ? ["Replaying", p.rows] : [phases[p.phase], p.runs], left = timeLeft(p);
    const words = doing + (p.total > 1 ? `: ${grouped(done)} of ${grouped(p.total)} runs${left && `, ${left} left`}` : "…");
    this.at(words, p.total > 1 ? done / p.total : undefined);
    if (p.message) this.message(p.message);
    if (p.phase === "explore" && !replay && door() === "training") underWay(byId("verdict"), { state: "going", title: "Training", detail: `${grouped(done)} of ${grouped(p.total)} runs${left && `, ${left} left`}. They choose the threshold and certify nothing.` });
    const bound = p.bounds?.length ? this.#bounds(p) : "";
    say(`${words}${bound && `. ${bound}`}`, false);
  }

  /** Shows the bound so far. @param {import("../worker/protocol").CanaryProgress} p @returns {string} the audit's own, in words */
  #bounds(p) {
    const chosen = this.#interval, mine = p.bounds.find((b) => b.interval === chosen), { claimed } = p;
    if (door() !== "training") return "";
    const words = `ε ≥ ${roundedDown(mine?.epsilon ?? 0)} after ${grouped(p.certified)} of ${p.holds ? "at most " : ""}${grouped(p.planned)} ${p.holds ? "trainings" : "runs"}, ${claimed} claimed. ${p.holds ? "It holds whenever you stop." : "Nothing is certified before the end."}`;
    underWay(byId("verdict"), { state: "going", title: `${mine?.epsilon > claimed ? "Beyond" : "Within"} the claim so far`, detail: words });
    this.#on.climbs?.(p, mine?.epsilon ?? 0);
    return words;
  }

  /** Shows an error. @param {any} [report] that was replayed, if one was */
  blame(error, report) {
    // The form may be that of another source; the file belongs to the report's.
    if (report && error.refusal?.path.startsWith("/data")) this.#form.follow(report.plan);
    const key = error.refusal && this.#form.keyOf(error.refusal, this.#how);
    if (!key || !this.#form.fail(key, error.message, true)) this.message(error instanceof Ended ? `The core ended (${error.message}). What it had drawn is lost; try again.` : error.message);
  }

  able(able) { byId("canaries-run").disabled = byId("canaries-one").disabled = !able; }
}
