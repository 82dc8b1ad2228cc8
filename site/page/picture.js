// What the charts have in common: a picture that is drawn for the width there
// is, so that its text keeps its size, a legend, the same numbers as a table, and
// buttons that save them as files.
import { beside, html, svg, tableRows } from "./element.js";
import { notify } from "./notice.js";
import { inTurns } from "./turns.js";

let fresh = []; // boxes without a picture yet

/**
 * Paints into a box in the document, in a turn of its own, at its width then and
 * whenever that changes.
 * @param {HTMLElement} box
 * @param {(width: number) => SVGElement} paint
 * @returns {() => void} paints anew
 */
export function responsive(box, paint) {
  box.paint = paint; // for files, which have a width of their own
  let width = 0;
  const draw = (now, anew) => {
    if (now === 0 || (now === width && !anew)) return;
    width = now;
    box.replaceChildren(paint(width));
  };
  // All that wait are measured at once: what is painted changes the layout.
  if (fresh.push({ box, draw }) === 1) inTurns(() => {
    const all = fresh.map((f) => [f.draw, widthOf(f.box.getBoundingClientRect())]);
    fresh = [];
    inTurns(...all.map(([draw, now]) => () => draw(now)));
  });
  const watch = new ResizeObserver(([{ contentRect }]) => {
    if (!box.isConnected) watch.disconnect();
    else setTimeout(inTurns, 0, () => draw(widthOf(contentRect))); // the observer must not change sizes itself
  });
  watch.observe(box);
  return () => draw(width || widthOf(box.getBoundingClientRect()), true);
}

const widthOf = (box) => Math.floor(box.width);

/** @param {[sample: any, words: string][]} items samples are shapes on 28 by 16 */
export const legend = (items) => html("ul", { class: "legend" }, items.filter(Boolean).map(([sample, words]) => html("li", {},
  svg("svg", { class: "swatch", width: 28, height: 16, viewBox: "0 0 28 16", "aria-hidden": "true" }, sample), words)));

/** Diagonal lines, for a meaning that must not hang on colour alone. */
export const hatch = (id, kind) => svg("defs", {}, svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
  svg("line", { class: kind, x1: 0, y1: 0, x2: 0, y2: 6 })));

/** A chart's numbers, folded away. */
export const asTable = (title, head, rows) => html("details", {}, html("summary", {}, title),
  html("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": title }, html("table", { class: "data" }, tableRows(head, rows))));

/** Writes a file by what is loaded with the first one. @param {(exporter: typeof import("../file/export.js")) => Promise<void>} write */
export async function toFile(write) {
  try {
    await write(await import(beside("export.js")));
  } catch (error) {
    notify({ key: "export", kind: "error", title: "The file was not written", text: error.message });
  }
}

/**
 * Buttons that save a chart as SVG or PNG, and its numbers, unrounded, as CSV.
 * @param {HTMLElement} box of the picture
 * @param {{name: string, title: string, axis?: string, head: string[], rows(): any[][]}} chart name: in the files' names
 */
export const files = (box, chart) => html("p", { class: "files", role: "group", "aria-label": `Save: ${chart.title}` }, ["SVG", "PNG", "CSV"].map((kind) =>
  html("button", { type: "button", class: "quiet", onclick: () => toFile((exporter) => exporter.saveChart(kind, box, chart)) }, kind)));
