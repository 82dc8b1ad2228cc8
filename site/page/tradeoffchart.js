// The trade-off curve of the test that was found: its false positive rate
// against its false negative rate, with the band that holds at the stated
// confidence, and the curve that the claim allows nothing to lie below.
import { across, linear, logarithmic, roomFor, upright } from "./axis.js";
import { html, svg } from "./element.js";
import { bound, grouped, short } from "./number.js";
import { asTable, files, hatch, legend, responsive } from "./picture.js";

const BENDS = 16; // parts of a straight line that logarithmic axes bend
let axes = "linear"; // as last chosen

/**
 * @param {HTMLElement} host
 * @param {import("../worker/protocol").TradeoffCurve} curve
 */
export function showTradeoff(host, { points, claimed, claimWords, confidence, direction }) {
  const below = points.filter((p) => heightAt(claimed, p.fprUpper) > p.fnrUpper).length;
  const picture = html("div", { class: "picture square" });
  const choose = html("fieldset", { class: "axes" }, html("legend", {}, "Axes"), ["linear", "logarithmic"].map((kind) =>
    html("label", {}, html("input", { type: "radio", name: "tradeoff-axes", value: kind, checked: kind === axes, onchange: () => {
      axes = kind;
      redraw();
    } }), kind)));
  const of = direction === "second-over-first" ? "first" : "second";
  host.replaceChildren(
    html("p", { class: "chart-words" }, `How well the test that was found tells the two datasets apart, with its ${confidence} band. `,
      claimed.length > 0 && `Claimed: ${claimWords}. `,
      claimed.length > 0 && (below ? `At ${grouped(below)} of ${grouped(points.length)} points the whole band lies below the claimed curve: there the claim is refuted.`
        : "Nowhere does the whole band lie below the claimed curve.")),
    legend([
      [[svg("path", { class: "estimate", d: "M2 3L9 11L26 13" }), svg("circle", { class: "dot", cx: 9, cy: 11, r: 2.5 })], "estimate"],
      [svg("path", { class: "band", d: "M1 2H27V14H1Z" }), `${confidence} band`],
      claimed.length > 0 && [svg("path", { class: "claim-line", d: "M1 8H27" }), "claimed (dashed)"],
      below > 0 && [[hatch("refuted-key", "refuted-line"), svg("rect", { class: "refuted", x: 1, y: 1, width: 26, height: 14 }), svg("rect", { x: 1, y: 1, width: 26, height: 14, fill: "url(#refuted-key)" })], "refuted (hatched)"]]),
    choose, picture,
    html("p", { class: "axis-label" }, "false positive rate"),
    html("p", { class: "hint" }, `False positive: an output on the ${of} dataset taken for one on the other. The smaller both rates, the more the mechanism leaks.`),
    files(picture, {
      name: "tradeoff", title: "Trade-off curve", axis: "false positive rate",
      head: ["fpr", "fprLower", "fprUpper", "fnr", "fnrLower", "fnrUpper", ...(claimed.length ? ["claimed"] : [])],
      rows: () => points.map((p) => [p.fpr, p.fprLower, p.fprUpper, p.fnr, p.fnrLower, p.fnrUpper, ...(claimed.length ? [heightAt(claimed, p.fprUpper)] : [])]),
    }),
    asTable("The trade-off curve as a table", ["false positive rate", "at least", "at most", "false negative rate", "at least", "at most", ...(claimed.length ? ["claimed: not below"] : [])],
      points.map((p) => [short(p.fpr), bound(p.fprLower), bound(p.fprUpper, true), short(p.fnr), bound(p.fnrLower), bound(p.fnrUpper, true),
        ...(claimed.length ? [`${short(heightAt(claimed, p.fprUpper))}${heightAt(claimed, p.fprUpper) > p.fnrUpper ? " ▲ refuted" : ""}`] : [])])));
  const redraw = responsive(picture, (width) => draw(points, claimed, width));
}

/** A polyline's height at x; left of it as at its start. */
function heightAt(line, x) {
  let height = line[0]?.[1] ?? 0;
  for (let i = 1; i < line.length && line[i - 1][0] <= x; i++) {
    const [[x0, y0], [x1, y1]] = [line[i - 1], line[i]];
    height = x1 > x0 && x < x1 ? y0 + ((y1 - y0) * (x - x0)) / (x1 - x0) : y1;
  }
  return height;
}

function draw(points, claimed, width) {
  const height = Math.round(Math.min(400, Math.max(260, width * 0.8)));
  const log = axes === "logarithmic";
  // Decades down to the least rate that the band can tell from none.
  const rates = points.flatMap((p) => [p.fprUpper, p.fnrUpper]).filter((v) => v > 0);
  const lo = log ? 10 ** Math.max(-9, Math.min(-1, Math.floor(Math.log10(Math.min(1, ...rates))))) : 0;
  const scale = log ? logarithmic : linear;
  const top = 24, bottom = height - 22, right = width - 10;
  const marks = (n) => scale(lo, 1, 0, 1).marks(n);
  const { words } = scale(lo, 1, 0, 1);
  const left = roomFor(marks(5).map(words));
  const x = scale(lo, 1, left, right), y = scale(lo, 1, bottom, top);
  const place = ([u, v]) => `${x.at(u).toFixed(1)} ${y.at(v).toFixed(1)}`;
  const path = (line) => `M${(log ? bent(line, lo) : line).map(place).join("L")}`;
  const stairs = (corners) => corners.map(place).join("L");
  const upper = [[0, 1], ...points.flatMap((p, i) => [[p.fprUpper, i ? points[i - 1].fnrUpper : 1], [p.fprUpper, p.fnrUpper]]), [1, points.at(-1).fnrUpper]];
  const lower = [...points.flatMap((p, i) => [[i ? points[i - 1].fprLower : 0, p.fnrLower], [p.fprLower, p.fnrLower]]), [1, 0]];
  const refuted = claimed.length ? between(upper, claimed, x, y, left, right) : "";

  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Trade-off curve with its band and the claimed curve, ${axes} axes. The table below holds the same numbers.` },
    hatch("refuted-hatch", "refuted-line"),
    across(marks(5), y.at, { left, right }, words),
    upright(marks(Math.max(2, Math.floor((right - left) / 60))), x.at, { top, bottom, right: width }, words),
    svg("text", { class: "tick", x: 0, y: 12 }, "false negative rate"),
    svg("path", { class: "band", d: `M${stairs(upper)}L${stairs(lower.reverse())}Z` }),
    refuted && [svg("path", { class: "refuted", d: refuted }), svg("path", { d: refuted, fill: "url(#refuted-hatch)" })],
    claimed.length > 0 && svg("path", { class: "claim-line", d: path(claimed) }),
    svg("path", { class: "estimate", d: path(points.map((p) => [p.fpr, p.fnr])) }),
    points.map((p) => [
      points.length <= 60 && svg("circle", { class: "dot", cx: x.at(p.fpr), cy: y.at(p.fnr), r: 2.2 }),
      svg("circle", { class: "target", cx: x.at(p.fpr), cy: y.at(p.fnr), r: 7 }, svg("title", {},
        `false positives ${short(p.fpr)} (${bound(p.fprLower)} to ${bound(p.fprUpper, true)})\nfalse negatives ${short(p.fnr)} (${bound(p.fnrLower)} to ${bound(p.fnrUpper, true)})`))]));
}

/** A polyline with more points where logarithmic axes bend it. */
function bent(line, lo) {
  const out = line.slice(0, 1);
  for (let i = 1; i < line.length; i++) {
    const [from, to] = [line[i - 1], line[i]];
    const shares = [1];
    for (const c of [0, 1]) {
      const a = Math.max(lo, from[c]), b = Math.max(lo, to[c]);
      if (Math.abs(Math.log(b / a)) < 0.05) continue;
      for (let k = 0; k < BENDS; k++) {
        const share = (a * (b / a) ** (k / BENDS) - from[c]) / (to[c] - from[c]);
        if (share > 0 && share < 1) shares.push(share);
      }
    }
    for (const s of shares.sort((p, q) => p - q)) out.push([from[0] + s * (to[0] - from[0]), from[1] + s * (to[1] - from[1])]);
  }
  return out;
}

/** What lies over the staircase and under the claimed curve, as a path, px by px. */
function between(stairs, claimed, x, y, left, right) {
  let d = "", run = [];
  const close = () => {
    if (run.length > 1) d += `M${[...run.map((r) => `${r.at} ${r.claim}`), ...run.reverse().map((r) => `${r.at} ${r.band}`)].join("L")}Z`;
    run = [];
  };
  let step = 0;
  for (let at = Math.ceil(left); at <= right; at++) {
    const v = x.value(at);
    while (step + 1 < stairs.length && stairs[step + 1][0] <= v) step++;
    const band = y.at(stairs[step][1]), claim = y.at(heightAt(claimed, v));
    if (claim < band) run.push({ at, claim: claim.toFixed(1), band: band.toFixed(1) });
    else close();
  }
  close();
  return d;
}
