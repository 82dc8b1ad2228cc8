// Lower bounds on the Rényi divergence against its order, and what the claim
// allows at each.
import { across, linear, logarithmic, roomFor, upright } from "./axis.js";
import { html, svg } from "./element.js";
import { bound, grouped, short } from "./number.js";
import { asTable, files, hatch, legend, responsive } from "./picture.js";

/**
 * @param {HTMLElement} host
 * @param {import("../worker/protocol").RenyiCurve} curve points by alpha, ascending
 */
export function showRenyi(host, { points, claimed, claimWords, confidence }) {
  const allowed = (alpha) => heightAt(claimed, alpha);
  const over = points.filter((p) => p.lower > allowed(p.alpha)).length;
  const most = points.reduce((a, b) => (b.lower > a.lower ? b : a));
  const picture = html("div", { class: "picture square" });
  host.replaceChildren(
    html("p", { class: "chart-words" }, `The largest bound: Rényi divergence ≥ ${bound(most.lower)} at alpha = ${short(most.alpha)}. All ${grouped(points.length)} bounds hold together with ${confidence} confidence. `,
      claimed.length > 0 && `Claimed: ${claimWords}. `,
      claimed.length > 0 && (over ? `At ${grouped(over)} of ${grouped(points.length)} orders the bound exceeds what the claim allows: there it is refuted.` : "At no order does the bound exceed what the claim allows.")),
    legend([
      [[svg("path", { class: "estimate", d: "M2 12H14V4H26" }), svg("circle", { class: "dot", cx: 14, cy: 4, r: 2.5 })], "lower bound; it holds for every larger alpha too"],
      claimed.length > 0 && [svg("path", { class: "claim-line", d: "M1 8H27" }), "claimed (dashed)"],
      over > 0 && [[hatch("over-key", "refuted-line"), svg("rect", { class: "refuted", x: 1, y: 1, width: 26, height: 14 }), svg("rect", { x: 1, y: 1, width: 26, height: 14, fill: "url(#over-key)" })], "refuted (hatched)"]]),
    picture,
    html("p", { class: "axis-label" }, "alpha (logarithmic)"),
    files(picture, {
      name: "renyi", title: "Rényi divergence by order", axis: "alpha (logarithmic)", head: ["alpha", "lower", ...(claimed.length ? ["claimed"] : [])],
      rows: () => points.map((p) => [p.alpha, p.lower, ...(claimed.length ? [allowed(p.alpha)] : [])]),
    }),
    asTable("The Rényi bounds as a table", ["alpha", "divergence at least", ...(claimed.length ? ["claim allows"] : [])],
      points.map((p) => [short(p.alpha), bound(p.lower), ...(claimed.length ? [allowedWords(allowed(p.alpha), p.lower)] : [])])));
  responsive(picture, (width) => draw(points, claimed, allowed, width));
}

const allowedWords = (claim, lower) => `${claim === Infinity ? "anything" : short(claim)}${lower > claim ? " ▲ refuted" : ""}`;

/** A polyline's height at x; infinite beyond its ends, where anything is allowed. */
function heightAt(line, x) {
  for (let i = 0; i < line.length; i++) {
    const [x0, y0] = line[Math.max(0, i - 1)], [x1, y1] = line[i];
    if (Math.abs(x - x1) <= 1e-9 * x1) return y1;
    if (x > x0 && x < x1) return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
  }
  return Infinity;
}

function draw(points, claimed, allowed, width) {
  const height = Math.round(Math.min(400, Math.max(260, width * 0.8)));
  const top = 24, bottom = height - 22, right = width - 10;
  const first = points[0].alpha, last = Math.max(points.at(-1).alpha, first * 1.5);
  // A claim far above the bounds is cut off, so that the bounds can be seen.
  const highest = Math.max(0, ...points.map((p) => p.lower)), claim = Math.max(0, ...claimed.map((c) => c[1]));
  const most = Math.max(highest * 1.12, highest > 0 ? Math.min(claim * 1.08, highest * 2.5) : claim * 1.08) || 1;
  const marks = linear(0, most, 0, 1).marks(5);
  const { words } = linear(0, most, 0, 1);
  const left = roomFor(marks.map(words));
  const x = logarithmic(first, last, left + 4, right - 4), y = linear(0, most, bottom, top);
  const place = (alpha, v) => `${x.at(alpha).toFixed(1)} ${y.at(v).toFixed(1)}`;
  // The divergence grows with its order, so a bound holds for every larger one.
  let held = 0;
  const stairs = points.flatMap((p) => {
    const before = held;
    held = Math.max(held, p.lower);
    return [[p.alpha, before], [p.alpha, held]];
  });
  const steps = `M${[...stairs.slice(1), [last, held]].map((s) => place(...s)).join("L")}`;
  let refuted = "", run = [];
  const close = () => {
    if (run.length > 1) refuted += `M${[...run.map((r) => `${r.at} ${r.level}`), ...run.reverse().map((r) => `${r.at} ${r.claim}`)].join("L")}Z`;
    run = [];
  };
  let step = 0;
  for (let at = Math.ceil(left + 4); at <= right - 4; at++) {
    const alpha = x.value(at);
    while (step + 1 < stairs.length && stairs[step + 1][0] <= alpha) step++;
    const claim = allowed(alpha);
    if (stairs[step][1] > claim) run.push({ at, level: y.at(stairs[step][1]).toFixed(1), claim: y.at(claim).toFixed(1) });
    else close();
  }
  close();

  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Lower bounds on the Rényi divergence against alpha, and the claimed curve. The table below holds the same numbers." },
    hatch("over-hatch", "refuted-line"),
    svg("defs", {}, svg("clipPath", { id: "renyi-clip" }, svg("rect", { x: left, y: top - 2, width: right - left, height: bottom - top + 3 }))),
    across(marks, y.at, { left, right }, words),
    upright(x.marks(Math.max(3, Math.floor((right - left) / 45))), x.at, { top, bottom, right: width }, short),
    svg("text", { class: "tick", x: 0, y: 12 }, "Rényi divergence"),
    refuted && [svg("path", { class: "refuted", d: refuted }), svg("path", { d: refuted, fill: "url(#over-hatch)" })],
    claimed.length > 0 && svg("path", { class: "claim-line", "clip-path": "url(#renyi-clip)", d: `M${claimed.map((c) => place(...c)).join("L")}` }),
    svg("path", { class: "estimate", d: steps }),
    points.map((p) => [
      svg("circle", { class: "dot", cx: x.at(p.alpha), cy: y.at(p.lower), r: 3 }),
      svg("circle", { class: "target", cx: x.at(p.alpha), cy: y.at(p.lower), r: 8 }, svg("title", {},
        `alpha = ${short(p.alpha)}: divergence ≥ ${bound(p.lower)}${allowed(p.alpha) === Infinity ? "" : `, the claim allows ${short(allowed(p.alpha))}`}`))]));
}
