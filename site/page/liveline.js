// The bound of an anytime run as it climbs, with the claim across it. The
// number stands as text beside it.
import { svg } from "./element.js";
import { short } from "./number.js";

const MOST_POINTS = 400; // kept; then every other one goes
const HEIGHT = 84;

export class LiveLine {
  #host;
  #points = []; // [pairs, bound]

  /** @param {HTMLElement} host is hidden while there is no line */
  constructor(host) {
    this.#host = host;
    host.setAttribute("aria-hidden", "true");
    this.clear();
  }

  clear() {
    this.#points = [];
    this.#host.hidden = true;
    this.#host.replaceChildren();
  }

  add(pairs, bound, claimed) {
    if (this.#points.length && pairs < this.#points.at(-1)[0]) this.#points = []; // a worker was lost
    this.#points.push([pairs, bound]);
    if (this.#points.length > MOST_POINTS) this.#points = this.#points.filter((_, i, all) => i % 2 === 0 || i === all.length - 1);
    this.#host.hidden = false;
    const width = Math.floor(this.#host.clientWidth);
    if (width > 0) this.#host.replaceChildren(draw(this.#points, claimed, width));
  }
}

function draw(points, claimed, width) {
  const [last, now] = points.at(-1);
  const most = Math.max(...points.map((p) => p[1]), claimed ?? 0) * 1.25 || 1;
  const top = 4, bottom = HEIGHT - 4, right = width - 8;
  const x = (pairs) => 2 + ((right - 2) * pairs) / Math.max(1, last), y = (v) => bottom - ((bottom - top) * v) / most;
  // A bound holds from where it was reached until the next.
  const d = points.map(([n, v], i) => (i ? `H${x(n).toFixed(1)}V${y(v).toFixed(1)}` : `M${x(n).toFixed(1)} ${y(v).toFixed(1)}`)).join("");
  return svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` },
    svg("line", { class: "axis", x1: 2, x2: right, y1: bottom, y2: bottom }),
    claimed > 0 && [svg("line", { class: "claim-line", x1: 2, x2: right, y1: y(claimed), y2: y(claimed) }),
      svg("text", { class: "tick", x: 4, y: y(claimed) - 4 }, `claimed ${short(claimed)}`)],
    svg("path", { class: "estimate", d }), svg("circle", { class: "dot", cx: x(last), cy: y(now), r: 3 }));
}
