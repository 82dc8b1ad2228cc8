// The frame of a picture: offered with its size, loaded when asked for, and told
// from then on what is shown and how far a run has come.
import { byId, html } from "../page/element.js";
import { size } from "../page/number.js";
import { pairsOf } from "../page/progress.js";

const MOST_MOMENTS = 1000; // kept of a run; then every other one goes

/** @type {boolean | undefined} */
let webgl; // is there any?

/** Is there WebGL? The browser has only so many pictures, so this one goes at once. */
function painted() {
  const on = html("canvas", {}).getContext("webgl2");
  on?.getExtension("WEBGL_lose_context")?.loseContext();
  return on !== null;
}

export class ViewFrame {
  #host = byId("picture"); // hidden while there is nothing to show
  #still = byId("chart-section"); // what it takes the place of
  #stays; // is the page where it opens by itself?
  #button = null;
  #port = null;
  #frame = null;
  #alone = false; // it was opened by itself
  #shown = [{}, {}]; // what the page shows, where it stays closed and where it opens by itself: {report, curves, course} or {canary, scored}
  #progress = null; // of a run on its way
  #course = null; // of that run
  /** Trainings of a run with canaries on its way. @type {import("../worker/protocol").MembershipScored[] | null} */
  grown = null;

  /** @param {() => boolean} stays */
  constructor(stays) { this.#stays = stays; }

  /** @param {Promise<{brotli: number} | undefined>} file of the program */
  offer(file) {
    file.then((known) => {
      if (!known) return;
      const words = `Walk around (${size(known.brotli)})`;
      this.#button = html("button", { type: "button", class: "picture-open", "aria-expanded": "false", "aria-controls": this.#host.id, onclick: () => {
        this.#frame ? this.#close() : this.#open();
        this.#button.setAttribute("aria-expanded", String(Boolean(this.#frame)));
        this.#button.textContent = this.#frame ? "Back to the picture" : words;
      } }, words);
      byId("scene-tools").replaceChildren(this.#button);
      this.enter();
    });
  }

  /** The page shows another door: where the picture opens by itself it does when there is nothing else to do, if it can be painted, and closes elsewhere. */
  enter() {
    const stays = this.#stays();
    if (this.#frame && this.#alone !== stays) this.#close();
    const opens = stays && (webgl ??= painted());
    this.#host.classList.toggle("coming", opens);
    if (opens && this.#button && !this.#frame) (globalThis.requestIdleCallback ?? setTimeout)(() => {
      if (this.#stays() && !this.#frame) this.#open();
    });
  }

  #open() {
    const alone = this.#alone = this.#stays(), frame = this.#frame = html("iframe", { src: "view.html", title: "The picture", class: "waiting" });
    frame.addEventListener("load", () => {
      const { port1, port2 } = new MessageChannel();
      this.#port = port1;
      port1.onmessage = ({ data: painted }) => { // what stands there stays until there is something instead
        if (frame !== this.#frame) return; // it was closed meanwhile
        this.#still.classList.toggle("replaced", painted || !alone);
        frame.classList.toggle("waiting", !painted && alone);
      };
      frame.contentWindow.postMessage("dpscope-view", location.origin, [port2]);
      this.#send();
    });
    this.#host.hidden = false;
    this.#host.append(frame);
  }

  #close() {
    this.#frame.remove();
    this.#frame = this.#port = null;
    this.#still.classList.remove("replaced");
  }

  /** Sends all that there is to show. */
  #send() {
    this.#port?.postMessage(this.#shown[Number(this.#alone)]);
    if (this.#progress && !this.#alone) this.#port?.postMessage(this.#progress);
    if (this.grown && this.#alone) this.#port?.postMessage({ scored: this.grown });
  }

  /** @param {{report: any, curves?: any, scored?: any}} answer scored: the trainings that made it, as they came */
  show({ report, curves, scored }) {
    const planted = report.kind !== "pair";
    this.#shown[Number(report.kind === "canary")] = planted ? { canary: report, scored } : { report, curves, course: this.#progress && this.#course };
    this.#progress = null;
    this.#host.hidden = planted && !report.evidence; // of canaries without evidence there is no picture
    if (scored) this.grown = null;
    this.#send();
  }

  /** Trainings came. @param {import("../worker/protocol").MembershipScored[]} scored */
  grow(scored) {
    const more = this.grown !== null;
    this.grown = more ? this.grown.concat(scored) : scored;
    if (!this.#alone) return;
    this.#host.hidden = false;
    this.#port?.postMessage({ scored, more });
  }

  /** @param {import("../worker/protocol").ProgressValue} p */
  follow(p) {
    const moments = this.#progress ? this.#course.moments : [];
    const pairs = p.phase === "explore" ? 0 : pairsOf(p);
    if (pairs > 0 && p.provisional !== undefined && pairs !== moments.at(-1)?.pairs) {
      while (moments.at(-1)?.pairs > pairs) moments.pop(); // a worker was lost
      moments.push({ pairs, bound: p.provisional });
      if (moments.length > MOST_MOMENTS) moments.splice(0, moments.length, ...moments.filter((_, i) => i % 2));
    }
    this.#course = { moments, valid: Boolean(p.valid), claimed: p.claimed, quantity: p.quantity };
    this.#progress = { progress: p, course: this.#course };
    if (!this.#alone) this.#port?.postMessage(this.#progress);
  }

  /** The run ended: what the page shows counts again. */
  end() {
    const under = this.#progress || this.grown;
    this.#progress = this.grown = null;
    if (under) this.#send();
  }
}
