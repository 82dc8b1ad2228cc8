// The Rényi curve of an account: the divergence that it allows at each order.
import { across, linear, logarithmic, roomFor, upright } from "../page/axis.js";
import { html, svg } from "../page/element.js";
import { exact, short } from "../page/number.js";
import { asTable, files, legend, responsive } from "../page/picture.js";

const TALL = 20; // times larger at its end than at its beginning: logarithmic

/**
 * @param {HTMLElement} host
 * @param {import("../worker/protocol").AccountedValue} account with a curve
 */
export function showAccountCurve(host, { curve, kl, maxDivergence, epsilons }) {
  const best = epsilons.find((g) => g.method === "renyi-tight")?.order;
  const high = curve.at(-1).divergence, low = curve[0].divergence;
  const logs = low > 0 && high > TALL * low;
  const limit = maxDivergence !== undefined && maxDivergence < 2.5 * high ? maxDivergence : undefined;
  const marked = best >= curve[0].alpha && best <= curve.at(-1).alpha ? best : undefined;
  const picture = html("div", { class: "picture square" }), axis = `alpha (logarithmic)${logs ? "; divergence logarithmic too" : ""}`;
  const points = [kl !== undefined && ["1", exact(kl)], ...curve.map((p) => [exact(p.alpha), exact(p.divergence)]), maxDivergence !== undefined && ["infinite", exact(maxDivergence)]].filter(Boolean);
  host.replaceChildren(
    html("h4", {}, "Rényi curve"),
    html("p", { class: "chart-words" }, `The divergence, in nats, is at most ${short(low)} at alpha = ${short(curve[0].alpha)}${curve.length > 1 ? ` and ${short(high)} at alpha = ${short(curve.at(-1).alpha)}` : ""}`,
      maxDivergence !== undefined && `; at every order at most ${short(maxDivergence)}`, ".",
      best !== undefined && ` Epsilon by the tight conversion comes from alpha = ${short(best)}.`),
    ...curve.length > 1 ? [
      legend([
        [[svg("path", { class: "estimate", d: "M2 13C10 12 20 9 26 3" }), svg("circle", { class: "dot", cx: 17, cy: 9.6, r: 2.5 })], "divergence"],
        limit !== undefined && [svg("path", { class: "claim-line", d: "M1 8H27" }), "its limit (dashed)"],
        marked !== undefined && [svg("path", { class: "best-line", d: "M14 1V15" }), "order that gives epsilon (dotted)"]]),
      picture,
      html("p", { class: "axis-label" }, axis),
      files(picture, { name: "account", title: "Rényi curve", axis, head: ["alpha", "divergence"], rows: () => curve.map((p) => [p.alpha, p.divergence]) })] : [],
    asTable("The curve as a table", ["alpha", "divergence at most"], points));
  if (curve.length > 1) responsive(picture, (width) => draw(curve, logs, limit, marked, width));
}

function draw(curve, logs, limit, marked, width) {
  const height = Math.round(Math.min(360, Math.max(240, width * 0.7)));
  const top = 24, bottom = height - 22, right = width - 10;
  const most = Math.max(curve.at(-1).divergence, limit ?? 0) || 1;
  const yOf = (from, to) => (logs ? logarithmic(curve[0].divergence / 1.2, most * 1.2, from, to) : linear(0, most * 1.08, from, to));
  const y = yOf(bottom, top), marks = y.marks(5);
  const left = roomFor(marks.map(y.words));
  const x = logarithmic(curve[0].alpha, curve.at(-1).alpha, left + 4, right - 4);
  const place = (p) => `${x.at(p.alpha).toFixed(1)} ${y.at(p.divergence).toFixed(1)}`;
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Rényi divergence against alpha. The table below holds the same numbers." },
    across(marks, y.at, { left, right }, y.words),
    upright(x.marks(Math.max(3, Math.floor((right - left) / 45))), x.at, { top, bottom, right: width }, short),
    svg("text", { class: "tick", x: 0, y: 12 }, "Rényi divergence (nats)"),
    limit !== undefined && svg("path", { class: "claim-line", d: `M${left} ${y.at(limit).toFixed(1)}H${right}` }),
    marked !== undefined && svg("path", { class: "best-line", d: `M${x.at(marked).toFixed(1)} ${top}V${bottom}` }),
    svg("path", { class: "estimate", d: `M${curve.map(place).join("L")}` }),
    curve.map((p) => [
      svg("circle", { class: "dot", cx: x.at(p.alpha), cy: y.at(p.divergence), r: 3 }),
      svg("circle", { class: "target", cx: x.at(p.alpha), cy: y.at(p.divergence), r: 8 }, svg("title", {}, `alpha = ${exact(p.alpha)}: divergence ≤ ${exact(p.divergence)}`))]));
}
