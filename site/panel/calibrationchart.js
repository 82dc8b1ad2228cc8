// False-alarm rates with their intervals, one a row, against what is allowed.
import { linear, upright, widthOf } from "../page/axis.js";
import { html, svg } from "../page/element.js";
import { short } from "../page/number.js";
import { files, hatch, legend, responsive } from "../page/picture.js";

const PITCH = 40, BAR = 12;
const ENDS = [0.1, 0.2, 0.3, 0.5, 1]; // of the axis, so that it seldom jumps while rates come

/**
 * A chart that is drawn anew as figures come.
 * @param {HTMLElement} host
 * @returns {(value: import("../worker/protocol").CalibratedValue) => void}
 */
export function calibrationChart(host) {
  const picture = html("div", { class: "picture square" }), key = html("div", {});
  const axis = "audits that raised a false alarm";
  let rows = [], beta = 0, redraw;
  host.replaceChildren(key, picture,
    html("p", { class: "axis-label" }, axis),
    files(picture, { name: "calibration", title: "The tool's own error rate", axis, head: ["mechanism", "alarms", "audits", "rate", "lower", "upper", "allowed"],
      rows: () => rows.map((r) => [r.name, r.alarms, r.of, r.rate, r.lower, r.upper, beta]) }));
  return (value) => {
    beta = value.beta;
    rows = value.cells.map((cell) => ({ ...cell, name: cell.mechanism }));
    if (rows.length > 1) rows.push({ ...value.all, name: "all together" });
    key.replaceChildren(legend([
      [[svg("path", { class: "band", d: "M2 3H26V13H2Z" }), svg("circle", { class: "dot", cx: 12, cy: 8, r: 3.5 })], "rate with its 99 % interval"],
      [svg("path", { class: "claim-line", d: "M14 0V16" }), "allowed (dashed)"],
      rows.some((r) => r.above) && [[hatch("above-key", "refuted-line"), svg("rect", { class: "refuted", x: 2, y: 3, width: 24, height: 10 }), svg("rect", { x: 2, y: 3, width: 24, height: 10, fill: "url(#above-key)" })], "significantly above it (hatched)"]]));
    if (redraw) redraw();
    else redraw = responsive(picture, (width) => draw(rows, beta, width));
  };
}

const percent = (v) => `${short(Number((100 * v).toPrecision(6)))} %`;

function draw(rows, beta, width) {
  const top = 6, bottom = top + PITCH * rows.length, height = bottom + 22, left = 16, right = width - 18;
  const most = Math.max(2 * beta, ...rows.filter((r) => r.of > 0).map((r) => r.upper));
  const end = ENDS.find((e) => e >= most) ?? 1;
  const x = linear(0, end, left, right);
  const limit = x.at(beta).toFixed(1);
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "False-alarm rates with their intervals, against the rate that is allowed. The table below holds the same numbers." },
    hatch("above-hatch", "refuted-line"),
    upright(x.marks(Math.max(2, Math.floor((right - left) / 70))), x.at, { top, bottom, right: width }, percent),
    svg("path", { class: "claim-line", d: `M${limit} ${top}V${bottom}` }),
    rows.map((r, i) => row(r, top + PITCH * i, x, left, width)));
}

function row(r, y, x, left, width) {
  const bar = { x: x.at(r.lower).toFixed(1), y: y + 20, width: Math.max(1, x.at(r.upper) - x.at(r.lower)).toFixed(1), height: BAR };
  return svg("g", {},
    svg("rect", { class: "plate", x: left + 3, y, width: widthOf(r.name) + 4, height: 17 }),
    svg("text", { x: left + 5, y: y + 13 }, r.name),
    r.of > 0 && [
      svg("rect", { class: r.above ? "refuted" : "band", ...bar }),
      r.above && svg("rect", { ...bar, fill: "url(#above-hatch)" }),
      svg("circle", { class: "dot", cx: x.at(r.rate).toFixed(1), cy: y + 20 + BAR / 2, r: 4 })],
    svg("rect", { class: "target", x: 0, y, width, height: PITCH }, svg("title", {}, `${r.name}: ${r.alarms} of ${r.of}, ${r.rateText} (${r.intervalText})`)));
}
