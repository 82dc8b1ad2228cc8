// The report that the page shows as its result: where it comes from, whether the
// form's settings are its own, and how it leaves the page.
import { CODE, linkTo, RESULT } from "../page/address.js";
import { door } from "../page/doors.js";
import { byId, fetched } from "../page/element.js";
import { save, stemOf } from "../page/files.js";
import { copyText, notify } from "../page/notice.js";
import { showPlanted } from "../panel/canaryreport.js";
import { linkOf } from "../panel/own.js";
import { pack } from "../page/packed.js";
import { grouped, roundedDown } from "../page/number.js";
import { Picture, toFile } from "../page/picture.js";
import { pairsOf } from "../page/progress.js";
import { countsOf, judge, outputs, showDrift, showNothing, showOrigin, showReport, showSentence, showVerification, showWords, underWay, verdict } from "../page/result.js";

/** What stands in a door where nothing was audited yet. */
const empty = {
  code: { title: "Write a mechanism", detail: "What your function called mechanism returns is audited here." },
  data: { title: "Nothing was audited yet", detail: "Choose or drop a file, say what was promised, and press Audit." },
  training: { title: "Nothing was trained yet", detail: "Press Run to train models with planted records. They give a lower bound on epsilon." },
  explore: { title: "Pick a mechanism", detail: "It is audited here, on two datasets that differ in one person." },
};

/** The door that a report is from. @returns {import("../page/doors.js").Door} */
export const homeOf = ({ kind, inputs }) => (kind === "canary" ? "training" : kind === "scores" ? "data" : inputs?.brought ? "code" : inputs?.samples || inputs?.labelled ? "data" : "explore");

const STILL_EVERY = 500; // ms between two pictures of trainings as they come
const REST = 2; // as long as the core draws a picture of a run, so many times as long it works on
const MOST_MOMENTS = 400; // of the line that are kept; then every other one goes
const MOST_EARLIER = 12; // results that are kept to go back to

/** What tells a report's settings apart; one of samples has no address. */
export const settingsOf = (again) => again?.url || again?.cli;

/** What the result in a link is of: the code and its settings, or the settings. */
export const stateOf = (report) => {
  const code = linkOf(report);
  return code ? JSON.stringify(code) : settingsOf(report.reproduce);
};

/** The files of recorded samples, in words. */
export const filesOf = ({ files = [] }) => files.map((file) => `${file.name} (SHA-256 ${String(file.sha256).slice(0, 12)}…)`).join(" and ");

/** A claim's figure. */
const short = ({ epsilon, rho, mu }) => (rho ? `ρ = ${rho}` : mu ? `µ = ${mu}` : `ε = ${epsilon ?? 0}`);

/** Has tab and previews say what is shown. */
function named(title, subject) {
  document.title = [title, subject, "dpscope"].filter(Boolean).join(" · ");
  document.querySelector('meta[name="description"]')?.setAttribute("content", `${[subject, title].filter(Boolean).join(": ")}. dpscope audits differential privacy in your browser.`);
}

/** Pictures that the build drew; none where a page has no example, which is a page too. @returns {Promise<import("../worker/protocol").PictureValue[]>} by width */
const picturesIn = (file) => fetched(file).then((answer) => answer.json()).catch(() => []);

export class Shown {
  /** What is shown, and where it comes from. @type {import("../page/result.js").Reported & {report: any, origin: string, name?: string, standing?: import("../page/result.js").Standing} | null} */
  #now = null;
  /** @type {{result: import("../worker/protocol").LinkSummary, said: import("../worker/protocol").PreviewedValue, title: string, of: string} | null} the result of a link and its settings, as long as it is what is shown */
  link = null;
  #drawAgain = 0; // when the next picture of a run is drawn, in ms
  #drawnAt = ""; // what the run was about when the last was
  #claimed = 0; // in the run that the line is of
  #line = new Picture(byId("spark"), { of: "spark", name: "line", bare: true }); // the bound of a run as it climbs, very small
  #moments = []; // that it shows
  #valid = false; // each, if the run was stopped there
  #whole = null; // the report, once all of it is there
  /** @type {import("../page/doors.js").Door | null} where the run under way is shown */
  #under = null;
  #stale = false; // what was shown no longer applies
  /** @type {Map<string, any>} what each door shows */
  #homes = new Map();
  /** @type {Map<string, import("../worker/protocol").ReportedValue>} results of this visit, by settings */
  #earlier = new Map();
  #url; // the form's settings as the core writes them; null while they cannot be run
  #page;

  /** @param {import("./runs.js").Parts} page */
  constructor(page) {
    this.#page = page;
    byId("save").addEventListener("click", () => save(`${stemOf(this.report)}.json`, this.text));
    byId("save-html").addEventListener("click", () => toFile((exporter) => exporter.savePage(this.#now, byId("result"))));
    for (const id of ["share-open", "share-next"]) byId(id).addEventListener("click", () => this.#share());
    byId("save-png").addEventListener("click", () => toFile((exporter) => exporter.saveChart("PNG", outputs())));
    byId("share-store").addEventListener("click", () => toFile((exporter) => this.#store(exporter)));
    byId("copy-link").addEventListener("click", () => copyText(byId("copy-link"), byId("share-url").value));
    byId("copy-markdown").addEventListener("click", () => copyText(byId("copy-markdown"), `**${byId("share-verdict").textContent}**\n\n${byId("say").firstChild?.textContent ?? ""}\n\n${byId("result").dataset.of}\n`));
    byId("copy-command").addEventListener("click", () => copyText(byId("copy-command"), this.report.reproduce.cli));
    byId("copy-embed").addEventListener("click", () => {
      import(new URL("embedcode.js", import.meta.url).href).then(({ open }) => open(this.report.reproduce.url)).catch((error) =>
        notify({ key: "embed", kind: "error", title: "The dialog could not be loaded", text: error.message }));
    });
    byId("use-settings").addEventListener("click", () => {
      page.settings.goTo(this.report.reproduce.url);
      byId("run").focus();
    });
  }

  get report() { return this.#now?.report ?? null; }
  get text() { return this.#now?.text; }
  /** The report, or that before it as long as not all of it is there. */
  get whole() { return this.#whole; }

  /** Can what is shown be verified? */
  get verifiable() { return Boolean(this.link || this.report && countsOf(this.report)); }

  /** Shows a report. @param {import("../page/result.js").Standing} [standing] @returns {Promise<void>} when all of it is there */
  async show(answer, origin, name, standing = origin === "file" ? "unverified" : "") {
    const { report, text, title } = answer, { link } = this, home = homeOf(report);
    if (origin === "run" && home !== "code") this.#under = null;
    if (["run", "example"].includes(origin) && home !== door() && Object.hasOwn(empty, door())) { // shown when its door is entered
      this.#homes.set(home, { ...answer, origin, name });
      return;
    }
    this.link = null;
    this.#stale = false;
    this.#now = { ...answer, origin, name, standing };
    this.#note();
    this.#homes.set(home, this.#now);
    byId("result").classList.toggle("old", origin === "example");
    byId("result").dataset.stem = stemOf(report);
    this.#headed();
    showVerification(null);
    const pair = report.kind === "pair", whole = pair ? showReport(answer, this.#page.settings.listing(report.plan)?.museum, standing) : showPlanted(answer, standing);
    if (!pair) this.#flat();
    this.#page.picture.show(answer);
    this.#page.mended.beside(answer);
    if (origin === "example") underWay(byId("verdict"), { state: "going", title: "Starting the engine", detail: `${short(report.claim)} claimed. The grey picture is an example.` });
    showOrigin(origin, name);
    this.compare();
    this.fileWords();
    named(title, report.subject);
    if (origin === "run" && pair && report.lowerBound !== undefined && report.termination.samplesUsed > 0) this.climb(report.termination.samplesUsed, report.lowerBound, this.#claimed, report.quantity);
    if (origin === "run" && link?.of === stateOf(report)) this.#held(link, answer);
    const url = settingsOf(report.reproduce);
    if (origin === "run" && pair && url) {
      this.#earlier.delete(url);
      this.#earlier.set(url, answer);
      if (this.#earlier.size > MOST_EARLIER) this.#earlier.delete(this.#earlier.keys().next().value);
      if (!report.inputs?.brought) this.#linked().then((fragment) => fragment && this.#page.past.add({ subject: report.subject, title, fragment }), () => {});
    }
    await whole;
    if (this.text === text) this.#whole = report;
  }

  /** Shows the result that the form's settings had before, if they had one. @returns {boolean} whether they had */
  recall() {
    const answer = this.#earlier.get(this.#url);
    if (answer && answer.text !== this.text) this.show(answer, "before");
    return answer !== undefined;
  }

  /** Writes the line at the head of all that leaves the page: whose result it is, what was claimed and found, by what and when, and where it can be seen. */
  #headed() {
    const { title, detail, report: { subject, promise, generator, reproduce } } = this.#now;
    byId("result").dataset.of = [`${subject}: ${promise}`, [title, detail].filter(Boolean).join(". "), `dpscope ${generator?.version ?? ""}`, new Date().toISOString().slice(0, 10), reproduce?.url && linkTo(reproduce.url)].filter(Boolean).join(" · ");
  }

  /** Says what a replay of the report found. @param {import("../worker/protocol").VerifiedValue} found */
  verified(found) { judge(this.#now, found); }

  /** Another door was opened: what was shown there is shown again. @param {import("../page/doors.js").Door} to */
  enter(to) {
    if (!Object.hasOwn(empty, to)) return;
    const had = this.#homes.get(to);
    if (!had) {
      this.#now = this.#whole = this.link = null;
      this.#nothing();
      this.buttons();
    } else if (had.text !== this.text) this.#again(had);
    if (to === this.#under) this.old();
  }

  /** Shows what was shown before. */
  #again(had) { this.show(had, had.origin === "run" ? "before" : had.origin, had.name, had.standing); }

  /** Shows that nothing was audited in this door yet. */
  #nothing() {
    const home = door();
    if (!Object.hasOwn(empty, home)) return;
    this.#flat();
    showVerification(null);
    showNothing();
    this.waits(empty[home].title, empty[home].detail, home);
    if (home === "training") this.#recorded();
  }

  /** A still of a recorded run stands where nothing was trained yet. */
  async #recorded() {
    byId("chart-section").hidden = byId("say").hidden = false; // their room is kept
    outputs().clear();
    const drawn = await picturesIn("example-trainings.json");
    if (!drawn.length || this.#now || this.#under || door() !== "training") return;
    outputs().preview(drawn);
    showOrigin("example");
  }

  /** Trainings of the run under way came. @param {import("../worker/protocol").CanaryProgress} p */
  train({ say }) {
    if (this.#under !== "training" || door() !== "training" || !say) return;
    if (byId("origin").dataset.kind !== "live" || byId("origin").hidden) {
      showNothing();
      byId("result").classList.remove("empty");
      byId("chart-section").hidden = false;
      showOrigin("live");
    }
    showSentence(say);
    const now = performance.now();
    if (now < this.#drawAgain) return;
    this.#drawAgain = now + STILL_EVERY;
    outputs().show("", "trainings");
  }

  /** Nothing runs until somebody does something. @param {string} [press] what the one button says that does it */
  waits(title, detail, where, press) {
    if (where !== door()) return;
    this.#note(press && "Nothing of it has run. It runs in a sandbox, and nothing is uploaded.", press);
    underWay(byId("verdict"), { state: "error", title, detail });
    byId("verdict").dataset.verdict = "empty";
  }

  // Links

  /** Shows the result that a link holds. Nothing has run. @param {Shown["link"]["said"]} said @param {string} [of] what stateOf says of its settings; as a rule those of the form */
  sent(result, said, of = this.#url) {
    const { title, detail, odd, picture } = said;
    this.#now = this.#whole = null;
    this.#flat();
    showVerification(null);
    showNothing();
    this.link = { result, said, title, of };
    byId("result").dataset.of = [[title, detail].filter(Boolean).join(". "), "not verified here", location.href].join(" · ");
    const standing = odd ? "failed" : "unverified";
    verdict(byId("verdict"), { verdict: result.verdict }, standing, { title, detail, pill: odd ? "" : "not verified here yet" });
    this.#note(odd ? `${odd}.` : "This result came with the link. Nothing has run on your machine.", "Verify here");
    named(title, "");
    if (picture) {
      byId("chart-section").hidden = false;
      outputs().show(picture, "linked");
    }
    this.buttons();
  }

  /** Says whether a run gave what the link said. */
  #held({ result, title }, answer) {
    const is = answer.glimpse, same = is.verdict === result.verdict && is.bound === result.bound && is.outputs === result.outputs;
    const differences = same ? [] : [`The link said “${title}”${result.bound === undefined ? "" : ` at a bound of ${result.bound}`}, its settings give “${answer.title}”${is.bound === undefined ? "" : ` at ${is.bound}`} here.`];
    const found = { ok: same, summary: answer.report.summary, checked: same ? ["verdict", "bound", "number of outputs"] : [], differences, notes: [] };
    showVerification(found);
    this.#now.standing = same ? "verified" : "";
    if (same) verdict(byId("verdict"), this.report, "verified", this.#now);
  }

  /** The state of settings and result; empty where no address holds them. @returns {Promise<string>} */
  async #linked({ report, glimpse } = this.#now) {
    const { url } = report.reproduce ?? {}, code = linkOf(report);
    if (code) return `#door=code&${CODE}=${await pack({ ...code, result: glimpse, width: report.inputs.brought.columns.length })}`;
    return url && glimpse ? `${url}&${RESULT}=${await pack(glimpse)}` : url ?? "";
  }

  // A run on its way

  /** What is shown no longer applies: another audit begins. */
  old(where = door()) {
    const { title } = this.#now ?? {};
    if (where !== door()) return;
    if (where !== "code") this.#under = where; // that door has a core of its own, and tells itself
    this.#stale = true;
    this.buttons();
    byId("result").classList.add("old");
    this.#flat();
    this.#note();
    underWay(byId("verdict"), { state: "old", title: "Starting again", detail: title && byId("origin").dataset.kind !== "example" ? `The last result (${title}) no longer applies.` : "The first outputs come soon." });
  }

  /** @param {import("../worker/protocol").ProgressValue} p */
  follow(p, where = this.#under) {
    if (where !== door()) return;
    const { betted, live, letter: symbol } = p;
    const bound = p.provisional !== undefined ? `${symbol} ≥ ${roundedDown(p.provisional)} so far` : "";
    const drawn = live ? `${grouped(live.rows)} outputs on each dataset` : betted ? `${grouped(betted.outputs)} outputs` : "";
    const detail = [p.refuted > 0 && `Refuted after ${grouped(p.refuted)} outputs`, bound && `${bound}${p.valid ? "" : ", not certified yet"}`, !p.refuted && drawn].filter(Boolean).join(". ");
    underWay(byId("verdict"), p.refuted > 0 ? { state: "violation", title: `Violation: ${symbol} > ${p.claimed}`, detail: `${detail}.` }
      : { state: "going", title: "Within the claim so far", detail: `${symbol} = ${p.claimed} claimed. ${detail}${detail && "."}` });
    if (p.provisional !== undefined && pairsOf(p) > 0 && (p.valid ? p.phase === "bet" : p.phase !== "explore")) {
      this.#valid = p.valid;
      this.climb(pairsOf(p), p.provisional, this.#claimed = p.claimed, p.quantity);
    }
    if (!live) return;
    byId("result").classList.remove("old", "empty");
    byId("chart-section").hidden = false;
    showOrigin("live");
    const now = performance.now(), news = `${p.phase} ${p.refuted > 0}`;
    if (now < this.#drawAgain && news === this.#drawnAt) return;
    [this.#drawAgain, this.#drawnAt] = [Infinity, news];
    outputs().show(JSON.stringify(p), "live").finally(() => { this.#drawAgain = performance.now() + REST * (performance.now() - now); });
  }

  /** Says what came here, beside the one button that has it run; takes that away where there are no words. */
  #note(words = "", press = "") {
    byId("note").hidden = !words;
    byId("note-words").textContent = words;
    byId("note-verify").textContent = press;
  }

  #flat() {
    this.#moments = [];
    byId("spark").hidden = true;
  }

  /** The bound of a run climbs. @param {boolean} [valid] does it hold, if the run was stopped there? */
  climb(pairs, bound, claimed = 0, quantity = "epsilon", valid = this.#valid, counted = undefined) {
    if (this.#moments.at(-1)?.pairs > pairs) this.#moments = []; // another stage, or a worker was lost
    this.#moments.push({ pairs, bound });
    if (this.#moments.length > MOST_MOMENTS) this.#moments = this.#moments.filter((_, i, all) => i % 2 === 0 || i === all.length - 1);
    byId("spark").hidden = this.#moments.length < 2;
    this.#line.show(JSON.stringify({ moments: this.#moments, valid, claimed, quantity, counted }));
  }

  /** The run ended without a result: what was shown before counts again. */
  standsAgain(where = this.#under) {
    const here = where === null || where === door();
    if (where !== "code") this.#under = null;
    if (!here) return;
    this.#stale = false;
    this.buttons();
    if (!this.#now) return this.link ? this.sent(this.link.result, this.link.said, this.link.of) : this.#nothing();
    if (this.report.kind !== "pair") return this.#again(this.#now);
    const { origin, name, standing } = this.#now;
    showOrigin(origin, name);
    byId("result").classList.toggle("old", origin === "example");
    verdict(byId("verdict"), this.report, standing, this.#now);
    outputs().show(this.text, "report");
  }

  /** The settings cannot be run. */
  cannot(why, title = "This cannot run yet", where = door()) {
    if (where !== door()) return;
    if (where !== "code") this.#under = null;
    byId("result").classList.add("old");
    underWay(byId("verdict"), { state: "error", title, detail: why });
  }

  /** Has the server of this page keep the report. */
  async #store({ store }) {
    try {
      const { id, address, token } = await store(this.text);
      byId("share-url").value = address;
      byId("copy-link").disabled = false;
      byId("share-store").hidden = true;
      byId("share-words").textContent = `Stored: whoever has this address sees the report. ${token ? `To delete it: dpscope share -host ${new URL(".", document.baseURI).href} -delete ${token} ${id}` : "It was there already."}`;
    } catch (error) {
      byId("share-words").textContent = `The report was not stored: ${error.message}`;
    }
  }

  async #share() {
    byId("share-store").hidden = true;
    fetch(new URL("build-info.json", document.baseURI), { method: "HEAD" }).then(({ headers }) => { byId("share-store").hidden = !headers.has("dpscope-store"); }, () => {});
    byId("share-verdict").textContent = this.#now.title ?? this.report.headline;
    byId("share-detail").textContent = `${this.report.subject}: ${this.report.promise}`;
    const state = await this.#linked();
    byId("share-url").value = state ? linkTo(state) : "A link cannot contain a file.";
    byId("copy-link").disabled = !state;
    byId("share-words").textContent = this.report.inputs?.brought ? "The link holds the code, its settings and the result. Nothing is uploaded, and nothing of it runs until somebody presses Run or Verify." : `The link holds the settings${this.#now.glimpse ? " and the result" : ""}. Nothing is uploaded.`;
    byId("share").showModal();
  }

  /** The example stands there before the core does. @returns {Promise<boolean>} whether it is shown */
  async example() {
    try {
      const text = await (await fetched("example.json")).text();
      if (this.#now || this.link) return false; // a quicker result
      this.show({ report: JSON.parse(text), text }, "example").catch(() => {});
      picturesIn("example-picture.json").then((drawn) => {
        if (drawn.length && this.text === text) outputs().preview(drawn); // the core draws it too
      });
      return true;
    } catch {
      return false; // a page without its example is a page
    }
  }

  /** Fills in what the core says of the example, where that is shown. */
  describe() {
    const { text } = this;
    if (!text || byId("origin").dataset.kind !== "example") return;
    this.#page.engine.ask("open", text).answer.then((answer) => {
      if (this.text !== text) return;
      Object.assign(this.#now, { title: answer.title, detail: answer.detail, glimpse: answer.glimpse });
      this.#headed();
      showWords(answer);
      this.#page.picture.show(answer);
    }, () => {}); // an example without its words is an example
  }

  /** Says beside a report of samples which file a replay needs, where it is not there. */
  fileWords() {
    const { samples, labelled } = this.report?.inputs ?? {};
    const needed = (samples && !this.#page.samples.holds(samples)) || (labelled && !this.#page.table.holds(labelled));
    byId("needs-file").hidden = !needed;
    if (needed) byId("needs-file").textContent = `To verify it, ${filesOf(samples ?? { files: [labelled.file] })} is needed.`;
  }

  /** Takes note of what the form's settings are to the core. */
  settled(url) {
    this.#url = url;
    this.compare();
  }

  /** Says beside the result when it is not that of the settings of its form. */
  compare() {
    const { inputs, reproduce } = this.report ?? {};
    const url = settingsOf(reproduce), recording = inputs?.samples;
    const other = () => Boolean(url) && this.#url !== undefined && (this.#url !== url || (recording && !this.#page.samples.holds(recording)));
    showDrift(byId("origin").dataset.kind !== "example" && (inputs?.brought ? this.#page.own.drifts : inputs && !inputs.labelled && other()));
    this.buttons();
  }

  /** Enables the buttons of what can be done with the report. */
  buttons() {
    const { reproduce, inputs } = this.report ?? {};
    byId("more-outputs").hidden = !this.#now || homeOf(this.report) !== "explore" || this.report.plan.samples > 1e7;
    const not = !this.#now || this.#stale, pair = this.report?.kind === "pair";
    for (const id of ["save", "save-html"]) byId(id).disabled = not;
    for (const id of ["share-open", "share-next"]) byId(id).disabled = not || byId("result").classList.contains("stale");
    byId("save-png").disabled = not || !this.report.evidence;
    byId("use-settings").disabled = !reproduce?.url;
    byId("copy-embed").disabled = !reproduce?.url || !pair;
    byId("copy-command").disabled = !reproduce?.cli || inputs?.brought?.kind === "javascript";
  }
}
