// The bound of a run as it climbs, with the claim across it, very small. The number stands
// as text beside it.
import { Picture } from "../page/picture.js";

const MOST_POINTS = 400; // kept; then every other one goes

export class LiveLine {
  #host;
  #picture;
  #moments = [];

  /** @param {HTMLElement} host is hidden while there is no line */
  constructor(host) {
    this.#host = host;
    this.#picture = new Picture(host, { of: "spark", name: "line", bare: true });
    host.setAttribute("aria-hidden", "true");
    this.clear();
  }

  clear() {
    this.#moments = [];
    this.#host.hidden = true;
  }

  add(pairs, bound, claimed = 0, quantity = "epsilon") {
    if (this.#moments.length && pairs < this.#moments.at(-1).pairs) this.#moments = []; // another stage, or a worker was lost
    this.#moments.push({ pairs, bound });
    if (this.#moments.length > MOST_POINTS) this.#moments = this.#moments.filter((_, i, all) => i % 2 === 0 || i === all.length - 1);
    this.#host.hidden = this.#moments.length < 2;
    this.#picture.show(JSON.stringify({ moments: this.#moments, valid: true, claimed, quantity }));
  }
}
