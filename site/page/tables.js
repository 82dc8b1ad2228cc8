// The tables of a report, in words of the core, and others that narrow screens show as
// cards.
import { html } from "./element.js";

/**
 * The tables of a report of any kind: the first is of what was certified, the others
 * can be opened.
 * @param {import("../worker/protocol").TableWords[]} tables
 */
export const tablesOf = (tables, hint = " Each row holds with its own confidence, not all of them together.") => tables.map(({ title, columns, lines }, place) => {
  const kept = columns.filter(({ key }) => key !== "chosen");
  const shown = table(title, kept, lines.map(({ cells, chosen, exceeds }) => ({
    exceeds, cells: kept.map((column, i) => {
      const words = cells[columns.indexOf(column)] || "–";
      if (column.key === "bound" && exceeds) return [words, " ", html("span", { class: "exceeds" }, html("span", { "aria-hidden": "true" }, "▲ "), "exceeds the claim")];
      if (i > 0) return words;
      return chosen ? html("strong", {}, `* ${words}`) : words;
    }),
  })));
  return place > 0 ? html("details", {}, html("summary", {}, title), shown)
    : [html("p", { class: "hint" }, `${title}.${hint}`), shown];
}).flat();

/** A table that narrow screens show as cards; its roles say so that it stays a table. The first column heads its row. */
export const table = (title, columns, lines) => html("div", { class: "carded" }, html("table", { role: "table", "aria-label": title },
  html("thead", { role: "rowgroup" }, html("tr", { role: "row" }, columns.map((column) => html("th", { role: "columnheader", scope: "col" }, column.title)))),
  html("tbody", { role: "rowgroup" }, lines.map(({ cells, exceeds }) => html("tr", { role: "row", class: exceeds ? "exceeding" : null }, columns.map((column, i) =>
    html(i ? "td" : "th", i ? { role: "cell", "data-head": column.title, class: column.key } : { role: "rowheader", scope: "row" }, cells[i])))))));
