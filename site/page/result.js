// A report as the page shows it. Words and facts come from the core; reports
// are strangers' files, so every text goes in as text.
import { byId, html, scrolled, svg, tableRows } from "./element.js";
import { grouped, percent, short } from "./number.js";
import { pictureIn } from "./picture.js";
import { tablesOf } from "./tables.js";

const SEQUENTIAL = "sequential-betting"; // the method of bounds by bets on outputs as they come
const MOST_ROWS = 64; // of datasets that are shown as a table

const origins = {
  example: "Example",
  run: "Your run",
  live: "Running",
  before: "Earlier run",
};
const verdicts = {
  "violation": ["Violation", "M12 3L22 21H2Z", "M12 10v5M12 18v.6"],
  "no-violation-found": ["No violation found", "M3.3 10.4a7.1 7.1 0 0 1 14.2 0a7.1 7.1 0 0 1-14.2 0Z", "M15.8 15.8L21.8 21.8"],
  "inconclusive": ["Inconclusive", "M3 12a9 9 0 0 1 18 0a9 9 0 0 1-18 0Z", "M9.5 9.5a2.6 2.6 0 1 1 3.6 2.6q-1.1.5-1.1 1.9M12 17v.6"],
  "invalid": ["Invalid", "M4 4H20V20H4Z", "M8.5 8.5l7 7M15.5 8.5l-7 7"],
};

const standings = {
  unverified: "Not verified here: this is what the file says.",
  verified: "✓ Verified here: a replay gives the same.",
  recomputed: "Recomputed here: it follows from the report's own counts, which were not drawn again.",
  failed: "▲ Failed verification here: this is not what a replay gives.",
};

/** Sections of a report on a pair: title and fold of the page, in which they stand. @type {Record<string, [title: string, fold: string]>} */
const sections = {
  data: ["The data", "fold-pair"], certified: ["What was certified", "fold-bounds"], counts: ["Counts", "fold-bounds"], tradeoff: ["Trade-off curve", "curves"],
  renyi: ["Rényi divergence by order", "curves"], event: ["Event and pair", "fold-pair"], facts: ["Facts", "fold-facts"], background: ["", "fold-facts"],
};
/** Makes them, once a document. */
export function makeSections() {
  for (const [id, [title, fold]] of Object.entries(sections)) {
    const body = html("div", { id, class: title ? null : "background" });
    byId(fold).append(title ? html("section", { id: `${id}-section`, "aria-labelledby": `${id}-title`, hidden: true }, html("h3", { id: `${id}-title` }, title), body) : body);
  }
}

/** Was a run stopped before it found anything? @param {import("../worker/protocol").AnyReport} report */
export const foundNothing = ({ termination: { reason, samplesUsed }, lowerBound }) => reason === "stopped" && samplesUsed === 0 && !(lowerBound > 0);

/** @typedef {Pick<import("../worker/protocol").ReportedValue, "report" | "text"> & Partial<import("../worker/protocol").ReportedValue>} Reported of the example report and text only */

/** Shows the verdict and the remarks of a report of any kind. @param {Reported} answer @param {Standing} [standing] */
export function showHead(answer, standing = "") {
  verdict(byId("verdict"), answer.report, standing, answer);
  byId("remarks").replaceChildren(...remarks(answer.report));
  byId("result").classList.remove("empty");
  byId("result-title").textContent = `Result for ${answer.report.subject}`;
}

/** Says where the report that is shown comes from. */
export function showOrigin(kind, name = "") {
  byId("origin").textContent = kind === "file" ? `Opened: ${name}` : origins[kind];
  byId("origin").dataset.kind = kind;
  byId("origin").hidden = false;
}

/** Says, or no longer says, that the form and the result have different settings. */
export function showDrift(differs) {
  const since = ["run", "before"].includes(byId("origin").dataset.kind);
  byId("drift").textContent = since ? "settings have changed since" : "the form has other settings";
  byId("drift").hidden = !differs;
  byId("result").classList.toggle("stale", Boolean(differs) && since);
}

/** Shows a report; it comes to its end when its pictures are there, too. @param {Reported} answer @param {string} [museum] the page about the mechanism's fault @param {Standing} [standing] */
export function showReport(answer, museum, standing = "") {
  const report = /** @type {import("../worker/protocol").Report} */ (answer.report), row = counted(report), drawn = [];
  showHead(answer, standing);
  byId("planted").hidden = true;
  if (answer.say) showSentence(answer.say); // the picture says it again when it is drawn
  section("chart-section", report.evidence?.chart ?? report.sequential?.chart, () => drawn.push(outputs().show(answer.text, "report")));
  section("data-section", report.inputs?.examples && (report.evidence || report.sequential?.epochs.length), () => drawn.push(draw("data", answer.text, { view: "data", name: "data" })));
  section("counts-section", row?.counts, () => showCounts(row));
  section("event-section", report.evidence, () => showEvent(report));
  showWords(answer, drawn);
  byId("background").replaceChildren(...background(report, museum));
  return Promise.all(drawn);
}

/** Takes away what the last report showed. */
export function showNothing() {
  for (const id of Object.keys(sections)) byId(`${id}-section`)?.toggleAttribute("hidden", true); // one has no title
  for (const id of ["chart-section", "picture", "say", "datasets", "origin", "drift", "needs-file", "planted", "mended"]) byId(id).hidden = true;
  for (const id of ["remarks", "background", "say"]) byId(id).replaceChildren();
  byId("result").classList.remove("old");
  byId("result").classList.add("empty");
}

/** The row of a report that its verdict rests on. @param {import("../worker/protocol").AnyReport} report */
const deciding = (report) => report.tables?.[0]?.rows.find((row) => row.chosen);

/** The row whose event was counted, which is another where bets decide; that which decides, where there is none. @param {import("../worker/protocol").AnyReport} report */
const counted = (report) => [deciding(report), ...report.tables?.[0]?.rows ?? []].find((row) => row?.counts) ?? deciding(report);

/** What a replay starts from; absent in a report of a run that was stopped too early. */
export const countsOf = ({ kind, evidence, sequential }) => (kind === "pair" ? evidence?.table ?? sequential?.epochs.length : kind === "canary" ? evidence?.runs?.certified.table ?? evidence?.oneRun : evidence);

/** The picture of the two output distributions. */
export const outputs = () => pictureIn(byId("chart"), { of: "report", view: "outputs", name: "outputs", files: document.getElementById("more-files"), told: showSentence });

/** Says what the picture shows in a sentence, and of which two datasets it is. @param {import("../worker/protocol").Said} picture */
export function showSentence({ sentence, small, lit, question = "", who }) {
  if (byId("chart-section").hidden) return; // what was drawn is not shown any more
  byId("question").textContent = question;
  ["first", "second"].forEach((side, i) => { byId(`dataset-${side}`).textContent = who?.[i] ?? ""; });
  byId("datasets").hidden = !who?.[0];
  byId("say").hidden = !sentence;
  byId("say").classList.toggle("hit", Boolean(lit));
  byId("say").replaceChildren(sentence ?? "", small ? html("small", {}, small) : "");
}

const draw = (id, text, options) => pictureIn(byId(id), { of: "report", ...options }).show(text);

/** Shows what the core has put into words and curves; nothing of it before it has. @param {Partial<import("../worker/protocol").ReportedValue>} answer */
export function showWords({ text, facts = [], tables = [], curves = /** @type {import("../worker/protocol").Curves} */ ({}) }, drawn = []) {
  section("certified-section", tables.length, () => byId("certified").replaceChildren(...tablesOf(tables)));
  section("tradeoff-section", curves.tradeoff?.points.length, () => drawn.push(draw("tradeoff", text, { view: "tradeoff", name: "tradeoff", square: true })));
  section("renyi-section", curves.renyi?.points.length, () => drawn.push(draw("renyi", text, { view: "renyi", name: "renyi", square: true })));
  section("facts-section", facts.length, () => byId("facts").replaceChildren(factsOf(facts)));
}

/** @param {{name: string, value: string}[]} facts */
export const factsOf = (facts) => html("table", { class: "facts" }, tableRows(null, facts.map((f) => [f.name, f.value])));

function section(id, there, show) {
  byId(id).hidden = !there;
  if (there) show();
}

/** @typedef {"" | "unverified" | "verified" | "recomputed" | "failed"} Standing what a verdict rests on; "": it was computed here */

/**
 * Fills a box with the verdict of a report of any kind.
 * @param {HTMLElement} box
 * @param {{verdict: string, headline?: string, summary?: string}} report
 * @param {Standing} [standing]
 * @param {{title?: string, detail?: string, pill?: string}} [glance] its few words, where the core has said them
 */
export function verdict(box, report, standing = "", { title = report.headline ?? "", detail = (report.summary ?? "").slice(title.length).trim(), pill = "" } = {}) {
  const failed = standing === "failed";
  const [word, ...paths] = (!failed && verdicts[report.verdict]) || verdicts.invalid;
  const said = (text) => html(failed ? "s" : "span", {}, text);
  return board(box, report.verdict, standing, { role: "img", "aria-label": failed ? "Failed verification" : word }, paths,
    standing && !pill && html("p", { class: "standing" }, standings[standing]), said(title), pill, detail && [" ", said(detail)]);
}

/** Fills the box of the verdict. @returns {HTMLElement} it */
function board(box, verdict, standing, named, [frame, sign, ...more], above, title, pill, detail) {
  box.dataset.verdict = verdict;
  box.dataset.standing = standing;
  box.replaceChildren(
    svg("svg", { class: "verdict-mark", viewBox: "0 0 24 24", width: 44, height: 44, ...named }, more, svg("path", { class: "frame", d: frame }), svg("path", { class: "sign", d: sign })),
    html("div", {}, above, html("p", { class: "headline" }, title, pill && html("span", { class: "pill" }, pill)), detail && html("p", { class: "rest" }, detail)));
  return box;
}

/**
 * Fills the box of the verdict while there is none: an audit is under way, or cannot be.
 * @param {HTMLElement} box
 * @param {{state: "going" | "violation" | "old" | "error", title: string, detail: string}} so violation: it stands, whatever follows
 */
export function underWay(box, { state, title, detail }) {
  const [, ...paths] = verdicts[state === "error" ? "inconclusive" : state] ?? ["", "M12 3a9 9 0 0 1 9 9", "", svg("circle", { class: "ring", cx: 12, cy: 12, r: 9 })];
  const turns = state === "going" || state === "old";
  board(box, state, "", { class: `verdict-mark${turns ? " turning" : ""}`, "aria-hidden": "true" }, paths, null, title, "", detail);
}

/** What is to be remarked of a report. */
export const remarks = (report) => [...report.notes ?? [], ...report.warnings ?? []].map((text) => html("p", { class: "remark" }, html("strong", {}, "Note: "), text));

/** @param {import("../worker/protocol").BoundRow} row */
function showCounts({ counts, direction }) {
  const { x, n1, y, n0 } = counts; // x of n1 on the likelier side
  const likelier = [x, n1], other = [y, n0];
  const [first, second] = direction === "second-over-first" ? [other, likelier] : [likelier, other];
  byId("counts").replaceChildren(html("div", { class: "scroll" }, html("table", {}, tableRows(["certification", "in the event", "outputs", "share"],
    [["Dataset A", first], ["Dataset B", second]].map(([name, [hits, all]]) => [name, grouped(hits), grouped(all), percent(hits, all)])))));
}

function showEvent(report) {
  const { pair } = report.evidence, f = counted(report), bets = f?.method === SEQUENTIAL;
  const [likelier, other] = f?.direction === "second-over-first" ? ["second", "first"] : ["first", "second"];
  const trials = report.trials ?? [];
  byId("event").replaceChildren(...[
    html("p", { class: "event-words" }, html("span", { class: "mark", "aria-hidden": "true" }, "●"), " ", shortened(f?.event?.words) ?? (bets ? "No single event: the bound comes from bets on the outputs of all pairs." : "No single event: the test uses the bin of each output's score.")),
    html("p", {}, f?.event ? `Likelier on the ${likelier} dataset than on the ${other}. ` : f && !bets && `Counted in favour of the ${likelier} dataset. `, pair?.label && `The pair: ${pair.label}.`),
    pairTable(pair),
    trials.length > 0 && html("details", {}, html("summary", {}, trials.length > 1 ? `All ${grouped(trials.length)} explored pairs` : "The explored pair"),
      html("p", { class: "hint" }, "The value is a bound on a validation split. It ranks pairs; it certifies nothing."),
      scrolled("Explored pairs", "data trials", tableRows(["pair", "value", "learner", "for the bound"],
        trials.slice(0, 500).map((t) => [t.pair?.label || `pair ${t.trial + 1}`, short(t.value), t.learner, t.chosen ? "● chosen" : ""]))))].filter((e) => e instanceof Node));
}

/** As much of an event's words as one reads. */
const shortened = (words) => words?.length > 400 ? `${words.slice(0, 400)} … (all of it is in the report’s JSON)` : words;

/** The two datasets beside one another, where they are small; differing rows stand out. */
function pairTable(pair) {
  const columns = Math.max(1, pair?.first?.columns ?? 1);
  const n = Math.ceil(Math.max(pair?.first?.values?.length ?? 0, pair?.second?.values?.length ?? 0) / columns);
  if (n === 0 || n > MOST_ROWS) return null;
  const rowsOf = (d) => Array.from({ length: n }, (_, i) => d?.values?.slice(i * columns, (i + 1) * columns).map(short).join(" ") || undefined);
  const first = rowsOf(pair.first), second = rowsOf(pair.second);
  const line = (name, rows, others) => html("tr", {}, html("th", { scope: "row" }, name),
    Array.from({ length: n }, (_, i) => html("td", { class: rows[i] === others[i] ? null : "differs" }, rows[i] ?? "–")));
  return scrolled("The pair of datasets", "data pair",
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "row"), Array.from({ length: n }, (_, i) => html("th", { scope: "col" }, i + 1)))),
    html("tbody", {}, line("First", first, second), line("Second", second, first)));
}

/** A command line, which can be shown. @returns {HTMLDetailsElement | ""} */
export const command = (title, cli) => cli ? html("details", {}, html("summary", {}, title), html("pre", { tabindex: 0 }, html("code", {}, cli))) : "";

/** How to run a report's audit again, and what it does not say. */
export function background(report, museum) {
  const list = (title, items) => items?.length > 0 && html("details", {}, html("summary", {}, title), html("ul", {}, items.map((item) => html("li", {}, item))));
  const again = report.reproduce ?? {};
  return [
    (again.cli || again.note) && html("details", { open: true }, html("summary", {}, again.cli ? "Run it again on the command line" : "Run it again"), again.cli && html("pre", { tabindex: 0 }, html("code", {}, again.cli)), again.note && html("p", {}, again.note)),
    list("What this result does not say", report.limitations),
    list("References", [...report.references ?? [], museum && html("a", { href: museum }, "Museum of known faults: this one"), html("a", { href: "docs/bounds/index.html" }, "Every bound and what it assumes")].filter(Boolean)),
  ].filter(Boolean);
}

/** A replay's outcome in a sentence; it says nothing of what was not replayed. @param {import("../worker/protocol").VerifiedValue} found recomputed: the counts are the report's own */
export function replayWords({ ok, recomputed }) {
  if (recomputed && ok) return "Recomputed in this browser: bound and verdict follow from the report's counts. The counts themselves were not drawn again.";
  return `${recomputed ? "Recomputed" : "Replayed"} in this browser: ${ok ? "what was replayed is the same as in the report" : "not what the report says"}.`;
}

/** Says what a replay found of what is shown, which stands or falls by it from then on. @param {import("../worker/protocol").VerifiedValue} found */
export function judge(shown, found) {
  showVerification(found);
  shown.standing = !found.ok ? "failed" : found.recomputed ? "recomputed" : "verified";
  verdict(byId("verdict"), shown.report, shown.standing, shown);
}

/** What a replay found. @param {import("../worker/protocol").VerifiedValue | null} v */
export function showVerification(v) {
  const box = byId("verification");
  box.hidden = !v;
  box.dataset.ok = String(v?.ok);
  if (!v) return;
  const list = (title, items, kind = null) => items?.length > 0 ? [html("p", {}, title), html("ul", { class: kind }, items.map((item) => html("li", {}, item)))] : [];
  box.replaceChildren(...[
    html("p", {}, html("strong", {}, v.ok ? "✓ " : "▲ ", replayWords(v))),
    !v.ok && v.summary && html("p", {}, html("strong", {}, "A replay says: "), v.summary),
    list("Not the same:", v.differences), list("The same:", v.checked, "short"), list("To note:", v.notes),
  ].flat().filter(Boolean));
}
