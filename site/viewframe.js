// The frame of the picture: offered with its size, loaded when asked for, and
// told from then on what is shown and how far a run has come.
import { byId, html } from "./element.js";
import { size } from "./number.js";

export class ViewFrame {
  #port = null;
  #frame = null;
  #report = {}; // that the page shows
  #progress = null; // of a run on its way

  /** @param {Promise<{brotli: number} | undefined>} file of the program */
  offer(file) {
    file.then((known) => {
      if (!known) return;
      const words = `Open the picture (${size(known.brotli)})`;
      const button = html("button", { id: "picture-open", type: "button", "aria-expanded": "false", "aria-controls": "picture-frame", onclick: () => {
        this.#frame ? this.#close() : this.#open();
        button.setAttribute("aria-expanded", String(Boolean(this.#frame)));
        button.textContent = this.#frame ? "Close the picture" : words;
      } }, words);
      byId("picture").prepend(button);
      byId("picture").hidden = false;
    });
  }

  #open() {
    this.#frame = html("iframe", { src: "view.html", title: "The picture", id: "picture-frame" });
    this.#frame.addEventListener("load", () => {
      const { port1, port2 } = new MessageChannel();
      this.#port = port1;
      this.#frame.contentWindow.postMessage("dpscope-view", location.origin, [port2]);
      port1.postMessage(this.#report);
      if (this.#progress) port1.postMessage(this.#progress);
    });
    byId("picture").append(this.#frame);
  }

  #close() {
    this.#frame.remove();
    this.#frame = this.#port = null;
  }

  /** @param {{report: any, curves?: any}} answer */
  show({ report, curves }) {
    this.#report = { report, curves };
    this.#progress = null;
    this.#port?.postMessage(this.#report);
  }

  /** @param {import("./protocol").ProgressValue} progress */
  follow(progress) {
    this.#progress = { progress };
    this.#port?.postMessage(this.#progress);
  }

  /** The run ended: what the page shows counts again. */
  end() {
    if (this.#progress) this.#port?.postMessage(this.#report);
    this.#progress = null;
  }
}
