// Files of what the page shows: a report as a page that needs nothing else, a chart
// as SVG or PNG, its numbers as CSV. A bundle of its own, loaded when the first file
// is asked for.
import { fetched, html } from "../page/element.js";
import { coloursAt } from "../page/roles.js";
import { csvOf, save } from "../page/files.js";

const WIDTH = 760; // px of a chart in a file, whatever the window's
const SQUARE = 540; // px of one that is about as high as it is wide, in a page
const SCALE = 2; // px of a PNG for one of the chart's

/** What the names of the files of a box's chart begin with. */
const stem = (box) => box.closest("[data-stem]")?.dataset.stem ?? "dpscope";

/** What a file's picture is of: mechanism, claim, day and link. */
const of = (box) => box.closest("[data-of]")?.dataset.of ?? "";

/** @returns {Promise<Blob>} of an SVG, with a line beneath it */
async function png(markup, words = "", { fore = "", back = "" } = {}) {
  const url = URL.createObjectURL(new Blob([markup], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const lines = words.match(/.{1,110}/gu) ?? [], line = 16 * SCALE, width = SCALE * image.width, height = SCALE * image.height;
    const canvas = html("canvas", { width, height: height + line * (lines.length + Number(lines.length > 0)) }), paper = canvas.getContext("2d");
    paper.fillStyle = back;
    paper.fillRect(0, 0, canvas.width, canvas.height);
    paper.drawImage(image, 0, 0, width, height);
    paper.fillStyle = fore;
    paper.font = `${11 * SCALE}px system-ui, sans-serif`;
    lines.forEach((text, i) => paper.fillText(text, 8 * SCALE, height + line * (i + 1), width - 16 * SCALE));
    return await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Saves a chart: as SVG that needs no styles, as a picture with pixels, or its numbers, unrounded. @param {"SVG" | "PNG" | "CSV"} kind @param {import("../page/picture.js").Picture} picture */
export async function saveChart(kind, picture) {
  const { box } = picture, name = `${stem(box)}-${picture.name}.${kind.toLowerCase()}`;
  if (kind === "CSV") {
    const { table } = await picture.ask({ width: WIDTH, exact: true });
    save(name, csvOf(table.head, table.rows), "text/csv");
    return;
  }
  const { markup } = await picture.ask({ width: WIDTH, theme: coloursAt(box).map((colour) => colour.rgb), heading: of(box) || stem(box) });
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n${markup}\n`;
  if (kind === "SVG") save(name, text, "image/svg+xml");
  else {
    const { color: fore, backgroundColor: back } = getComputedStyle(document.body);
    save(name, await png(text, of(box), { fore, back }), "image/png");
  }
}

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const STYLES = "main{display:block;max-width:62rem;margin:auto}.result,.meaning{margin-block:1.25rem}.masthead p{overflow-wrap:anywhere}.curves{grid-template-columns:minmax(0,1fr)}.picture{overflow-x:auto}.picture svg{max-width:none;width:100%;min-width:30rem;height:auto}.square svg{min-width:22rem}.raw pre{white-space:pre-wrap;overflow-wrap:anywhere}"
  + "@media print{.panel,.result,.meaning{border:0;padding:0}}";

const textOf = (name) => fetched(name).then((answer) => answer.text());

/** The meaning of the terms, which the page has and an embed has not. */
async function meaning() {
  const there = document.getElementById("meaning");
  const terms = /** @type {HTMLElement} */ ((there ?? new DOMParser().parseFromString(await textOf("index.html"), "text/html").getElementById("meaning")).cloneNode(true));
  terms.hidden = false;
  return terms;
}

/** Saves a report that is shown as a page that needs no script and no other file. @param {HTMLElement} shown where it is */
export async function savePage(report, shown) { save(`${stem(shown)}.html`, await pageOf(report, shown), "text/html"); }

/** That page's text. */
export async function pageOf({ report, text }, shown) {
  const [styles, terms] = await Promise.all([textOf("page.css"), meaning()]);
  const result = shown.cloneNode(true);
  result.classList.add("result");
  const boxes = shown.querySelectorAll(".picture"), copies = result.querySelectorAll(".picture");
  await Promise.all([...boxes].map(async ({ picture, classList }, i) => {
    if (picture?.there) copies[i].replaceChildren(await picture.at(classList.contains("square") ? SQUARE : WIDTH));
  }));
  result.querySelectorAll("[hidden], .actions, .files, .axes, .on-page, .origin, .drift, .verification, .view, .spark, .rail, .note, button, input").forEach((element) => element.remove());
  // That it was verified here nobody can see there; that it was not, or failed, stays.
  result.querySelectorAll(":is([data-standing=verified], [data-standing=recomputed]) .standing").forEach((element) => element.remove());
  result.querySelectorAll("[tabindex]").forEach((element) => element.removeAttribute("tabindex"));
  result.querySelectorAll("details").forEach((element) => { element.open = true; });
  result.querySelectorAll("a").forEach((a) => a.setAttribute("href", new URL(a.getAttribute("href"), location.href).href));
  const { version, coreSha256 } = report.generator ?? {};
  const title = `dpscope: ${report.subject}, ${report.verdict}`;
  const page = html("html", { lang: "en" },
    html("head", {}, html("meta", { charset: "utf-8" }), html("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      html("meta", { "http-equiv": "Content-Security-Policy", content: POLICY }), html("meta", { name: "color-scheme", content: "light dark" }),
      html("title", {}, title)),
    html("body", {}, html("header", { class: "masthead" }, html("h1", {}, "dpscope"),
      html("p", {}, of(shown)), html("p", {}, "An audit report. ", version && `Written by dpscope ${version}. `, coreSha256 && `SHA-256 of the core: ${coreSha256}. `)),
    html("main", {}, result, terms,
      html("details", { class: "result raw" }, html("summary", {}, "The report as JSON, from which dpscope verifies it"), html("pre", {}, text)))));
  // The policy of this page refuses a style element that is made here; text is none.
  return `<!doctype html>\n${page.outerHTML.replace("</head>", () => `<style>${styles}${STYLES}</style></head>`)}\n`;
}

/** Stores a report with the server of this page. @returns {Promise<{id: string, address: string, token?: string}>} */
export async function store(text) {
  const answer = await fetch(new URL("api/reports", document.baseURI), { method: "POST", body: text }), said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  return said;
}
