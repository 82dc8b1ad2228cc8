// The frame of a picture: offered with its size, loaded when asked for, and told
// from then on what is shown and how far a run has come.
import { byId, html } from "../page/element.js";
import { size } from "../page/number.js";
import { pairsOf } from "../page/progress.js";

const MOST_MOMENTS = 1000; // kept of a run; then every other one goes

export class ViewFrame {
  #host;
  #opener;
  #still;
  #port = null;
  #frame = null;
  #shown = {}; // what the page shows: {report, curves, course} or {canary}
  #progress = null; // of a run on its way
  #course = null; // of that run

  /**
   * @param {string} host id of the element that it goes into; hidden while there is nothing to show
   * @param {{opener?: string, still?: string}} [places] ids of where the button goes instead, and of what it takes the place of
   */
  constructor(host, { opener = host, still = "" } = {}) {
    this.#host = byId(host);
    this.#opener = byId(opener);
    this.#still = still ? byId(still) : null;
  }

  /** @param {Promise<{brotli: number} | undefined>} file of the program */
  offer(file) {
    file.then((known) => {
      if (!known) return;
      const words = `Walk around (${size(known.brotli)})`;
      const button = html("button", { type: "button", class: "picture-open", "aria-expanded": "false", "aria-controls": this.#host.id, onclick: () => {
        this.#frame ? this.#close() : this.#open();
        button.setAttribute("aria-expanded", String(Boolean(this.#frame)));
        button.textContent = this.#frame ? "Back to the picture" : words;
      } }, words);
      this.#opener.replaceChildren(button);
    });
  }

  #open() {
    this.#frame = html("iframe", { src: "view.html", title: "The picture" });
    this.#frame.addEventListener("load", () => {
      const { port1, port2 } = new MessageChannel();
      this.#port = port1;
      this.#frame.contentWindow.postMessage("dpscope-view", location.origin, [port2]);
      port1.postMessage(this.#shown);
      if (this.#progress) port1.postMessage(this.#progress);
    });
    this.#host.append(this.#frame);
    this.#still?.classList.add("replaced");
  }

  #close() {
    this.#frame.remove();
    this.#frame = this.#port = null;
    this.#still?.classList.remove("replaced");
  }

  /** @param {{report: any, curves?: any}} answer */
  show({ report, curves }) {
    const planted = report.kind !== "pair";
    this.#shown = planted ? { canary: report } : { report, curves, course: this.#progress && this.#course };
    this.#progress = null;
    this.#host.hidden = planted && !report.evidence; // of canaries without evidence there is no picture
    this.#port?.postMessage(this.#shown);
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
    this.#port?.postMessage(this.#progress);
  }

  /** The run ended: what the page shows counts again. */
  end() {
    if (this.#progress) this.#port?.postMessage(this.#shown);
    this.#progress = null;
  }
}
