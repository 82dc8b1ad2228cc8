// What was certified, one row a quantity, and published forms beside it.
import { html } from "./element.js";

const headings = { quantity: "quantity", bound: "lower bound", claimed: "claim allows", confidence: "confidence", method: "method", assumption: "assumption" };
const published = { quantity: "quantity", value: "value", method: "method", fault: "note" };

/**
 * @param {HTMLElement} host
 * @param {import("../worker/protocol").CertifiedRow[]} rows
 * @param {import("../worker/protocol").PublishedRow[]} others
 */
export function showCertified(host, rows, others) {
  host.replaceChildren(...[
    rows.length > 0 && html("p", { class: "hint" }, "Each row holds with its own confidence, not all of them together. The first one decides the verdict."),
    rows.length > 0 && table("What was certified", headings, rows, (row, key) => {
      if (key === "bound" && row.exceeds) return html("span", {}, row.bound, " ", html("span", { class: "exceeds" }, html("span", { "aria-hidden": "true" }, "▲ "), "exceeds the claim"));
      if (key === "claimed") return row.claimed || "not compared";
      return key === "assumption" ? row.assumption || "none" : row[key];
    }),
    others.length > 0 && html("details", {}, html("summary", {}, "Published forms on the same counts, for comparison"),
      html("p", { class: "hint" }, "Those called published certify nothing."),
      table("Published forms", published, others, (row, key) => row[key])),
  ].filter(Boolean));
}

/**
 * A table that narrow screens show as cards; its roles say so that it stays a table.
 * @param {Record<string, string>} heads by the key of their cells, the first one heads its row
 */
export const table = (title, heads, rows, cell) => html("div", { class: "carded" }, html("table", { role: "table", "aria-label": title },
  html("thead", { role: "rowgroup" }, html("tr", { role: "row" }, Object.values(heads).map((words) => html("th", { role: "columnheader", scope: "col" }, words)))),
  html("tbody", { role: "rowgroup" }, rows.map((row) => html("tr", { role: "row", class: row.exceeds ? "exceeding" : null }, Object.entries(heads).map(([key, words], i) =>
    html(i ? "td" : "th", i ? { role: "cell", "data-head": words, class: key } : { role: "rowheader", scope: "row" }, cell(row, key))))))));
