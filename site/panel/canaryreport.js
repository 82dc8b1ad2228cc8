// A canary report as the page shows it. Words come from the core; reports are
// strangers' files, so every text goes in as text.
import { byId, html } from "../page/element.js";
import { Picture } from "../page/picture.js";
import { background, factsOf, outputs, showHead, showNothing, showSentence } from "../page/result.js";
import { tablesOf } from "../page/tables.js";

export const phases = { explore: "Choosing the threshold on exploration runs", certify: "Certifying on fresh runs", bet: "Training, with a test after each", "one-run": "One run, with canaries chosen by coins" };

/** Shows a report, as those of pairs are shown, until its picture is there, too. @param {import("../worker/protocol").ReportedValue} answer */
export async function showPlanted({ facts, tables: all, course, ...answer }, standing) {
  showNothing();
  showHead(answer, standing);
  const report = /** @type {import("../worker/protocol").CanaryReport} */ (answer.report), { plan } = report; // of the other kinds, less of it
  const tables = all.filter(({ name }) => name !== "membership"), scored = all.filter(({ name }) => name === "membership");
  const chart = course.length > 0 && html("div", {}), holds = ["sequential", "until-refuted"].includes(plan.mode ?? "");
  byId("chart-section").hidden = !report.evidence;
  if (answer.say) showSentence(answer.say);
  byId("planted").hidden = false;
  byId("planted").replaceChildren(...[
    fold("All bounds", "each with its method, and how they came", chart && html("section", {}, !holds && html("p", { class: "hint" }, "Runs are in the order in which workers finished."), chart), tables.length > 0 && html("section", {}, tablesOf(tables))),
    scored.length > 0 && membership(answer.text, scored),
    fold("Facts, and how to repeat it", "command line, limits, references", facts.length > 0 && html("section", {}, factsOf(facts)), html("div", { class: "background" }, background(report)))].filter((e) => e instanceof Node));
  if (chart) new Picture(chart, { of: "canaries", name: "bounds" }).show(JSON.stringify({ claimed: plan.claim.epsilon, valid: holds, quantity: "epsilon", counted: holds ? "trainings" : "certification runs",
    moments: course.flatMap(({ runs, bounds }) => bounds.filter((b) => b.interval === plan.interval).map((b) => ({ pairs: runs, bound: b.epsilon }))) }));
  if (report.evidence) await outputs().show(answer.text, "planted");
}

const fold = (title, more, ...parts) => html("details", {}, html("summary", {}, title, " ", html("span", {}, more)), parts);

/** Scores of canaries in and out, as trainers of models look at them. */
function membership(text, tables) {
  const places = ["roc", "scores"].map((view) => {
    const place = html("section", {});
    new Picture(place, { of: "membership", view, name: view, square: view === "roc" }).show(text);
    return place;
  });
  return fold("Membership inference", "ROC and scores", html("div", { class: "curves" }, places), html("section", {}, tablesOf(tables, "")));
}
