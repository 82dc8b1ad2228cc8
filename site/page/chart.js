// The two output distributions as SVG, with a legend and the same numbers as a table.
import { html, svg } from "./element.js";
import { histogram, binWords } from "./histogram.js";
import { outcomeBars, outcomeWords } from "./outcomebars.js";
import { grouped } from "./number.js";
import { asTable, files, hatch, legend, responsive } from "./picture.js";

const MOST_BINS = 1000; // drawn; a report of ours has 50

/**
 * @param {HTMLElement} host
 * @param {HTMLElement} key where the legend goes
 * @param {any} chart of the report; its lists may be absent in a run that was stopped early
 */
export function showChart(host, key, chart) {
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
  key.replaceChildren(meaning(bars));
  host.replaceChildren(picture, html("p", { class: "axis-label" }, bars ? "outputs" : chart.axis), files(picture, {
    name: "outputs", title: "The two output distributions", axis: bars ? "outputs" : chart.axis,
    head: [...(bars ? ["outcome"] : ["from", "below"]), "first", "firstInEvent", "second", "secondInEvent"],
    rows: () => data.bins.map((b, i) => [...(bars ? [b.label] : [data.edges[i - 1] ?? -Infinity, data.edges[i] ?? Infinity]), b.first, b.firstIn, b.second, b.secondIn]),
  }), numbers(data, bars));
  responsive(picture, (width) => (bars ? outcomeBars : histogram)(data, width));
}

const count = (list, i) => Math.max(0, Number(list?.[i]) || 0);

function meaning(bars) {
  const line = (side) => bars
    ? svg("rect", { class: `bar ${side}`, x: 2, y: 3, width: 24, height: 10 })
    : svg("path", { class: `step ${side}`, d: "M1 12H8V4H18V9H27" });
  return legend([
    [line("first"), "first dataset"],
    [line("second"), bars ? "second dataset" : "second dataset (dashed)"],
    [[hatch("legend-hatch", "hatch"), svg("rect", { class: "region", x: 1, y: 1, width: 26, height: 14 }), svg("rect", { x: 1, y: 1, width: 26, height: 14, fill: "url(#legend-hatch)" })],
      bars ? [html("span", { class: "mark" }, "●"), "in the event (hatched)"] : "in the event"]]);
}

function numbers(data, bars) {
  const head = [bars ? "outcome" : data.axis, "first dataset", "of these in the event", "second dataset", "of these in the event"];
  return asTable("The chart as a table", head, data.bins.filter((b) => !bars || b.first || b.second)
    .map((b) => [b.label, grouped(b.first), grouped(b.firstIn), grouped(b.second), grouped(b.secondIn)]));
}

/** What a bin holds, for its tooltip. */
export const binTitle = (b) =>
  b.title ?? `${b.label}\nfirst dataset: ${grouped(b.first)} (${grouped(b.firstIn)} in the event)\nsecond dataset: ${grouped(b.second)} (${grouped(b.secondIn)} in the event)`;
