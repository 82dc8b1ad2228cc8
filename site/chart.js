// A report's chart as SVG, with a legend and the same numbers as a table. The
// picture is drawn for the width there is, so that its text keeps its size.
import { html, svg, tableRows } from "./element.js";
import { histogram, binWords } from "./histogram.js";
import { outcomeBars, outcomeWords } from "./outcomebars.js";
import { grouped } from "./number.js";

const MOST_BINS = 1000; // drawn; a report of ours has 50
let watch = null;

/**
 * @param {HTMLElement} host
 * @param {HTMLElement} key where the legend goes
 * @param {any} chart of the report; its lists may be absent in a run that was stopped early
 */
export function showChart(host, key, chart) {
  watch?.disconnect();
  key.replaceChildren();
  const bars = chart.kind === "outcomes";
  const bins = bars ? (chart.outcomes?.length ?? 0) + 1 : (chart.edges?.length ?? 0) + 1;
  const data = { kind: chart.kind, axis: chart.axis, edges: chart.edges ?? [], bins: [] };
  if (bins <= MOST_BINS) {
    for (let i = 0; i < bins; i++) {
      data.bins.push({
        label: bars ? outcomeWords(chart, i) : binWords(data.edges, i),
        first: count(chart.first, i), firstIn: count(chart.firstInEvent, i),
        second: count(chart.second, i), secondIn: count(chart.secondInEvent, i),
      });
    }
  }
  if (!data.bins.some((b) => b.first || b.second)) {
    host.replaceChildren(html("p", { class: "hint" }, bins > MOST_BINS ? `${grouped(bins)} bins are too many to draw.` : "No outputs were counted for the chart."));
    return;
  }
  const picture = html("div", { class: "picture" });
  key.replaceChildren(legend(bars));
  host.replaceChildren(picture, html("p", { class: "axis-label" }, bars ? "outputs" : chart.axis), asTable(data, bars));
  let width = 0;
  const draw = () => {
    const now = Math.floor(picture.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    picture.replaceChildren((bars ? outcomeBars : histogram)(data, width));
  };
  draw(); // a tab in the background has no frames
  let frame = 0;
  watch = new ResizeObserver(() => {
    // The observer must not change sizes itself.
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  });
  watch.observe(picture);
}

const count = (list, i) => Math.max(0, Number(list?.[i]) || 0);

function legend(bars) {
  const swatch = (...content) => svg("svg", { class: "swatch", width: 28, height: 16, viewBox: "0 0 28 16", "aria-hidden": "true" }, content);
  const line = (side) => swatch(bars
    ? svg("rect", { class: `bar ${side}`, x: 2, y: 3, width: 24, height: 10 })
    : svg("path", { class: `step ${side}`, d: "M1 12H8V4H18V9H27" }));
  return html("ul", { class: "legend" },
    html("li", {}, line("first"), "first dataset"),
    html("li", {}, line("second"), bars ? "second dataset" : "second dataset (dashed)"),
    html("li", {}, swatch(hatch("legend-hatch", "hatch"), svg("rect", { class: "region", x: 1, y: 1, width: 26, height: 14 }),
      svg("rect", { x: 1, y: 1, width: 26, height: 14, fill: "url(#legend-hatch)" })), bars && html("span", { class: "mark" }, "●"), bars ? "in the event (hatched)" : "in the event"));
}

/** Diagonal lines that mark the event where colour does not. */
export function hatch(id, kind) {
  return svg("defs", {}, svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("line", { class: kind, x1: 0, y1: 0, x2: 0, y2: 6 })));
}

function asTable(data, bars) {
  const head = [bars ? "outcome" : data.axis, "first dataset", "of these in the event", "second dataset", "of these in the event"];
  const rows = data.bins.filter((b) => !bars || b.first || b.second)
    .map((b) => [b.label, grouped(b.first), grouped(b.firstIn), grouped(b.second), grouped(b.secondIn)]);
  return html("details", {}, html("summary", {}, "The chart as a table"),
    html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The chart as a table" }, html("table", { class: "data" }, tableRows(head, rows))));
}

/** What a bin holds, for its tooltip. */
export const binTitle = (b) =>
  `${b.label}\nfirst dataset: ${grouped(b.first)} (${grouped(b.firstIn)} in the event)\nsecond dataset: ${grouped(b.second)} (${grouped(b.secondIn)} in the event)`;
