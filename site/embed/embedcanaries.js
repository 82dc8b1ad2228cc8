// A canary audit in an embed, with &view=canaries: its settings in words, its plan and
// how far it is. It has no form; a file cannot be given.
import { phases } from "../panel/canaryreport.js";
import { CLAIM } from "../panel/canaryform.js";
import { byId, terms } from "../page/element.js";
import { isCanarySetting } from "./embedoptions.js";
import { grouped, roundedDown } from "../page/number.js";
import { Unusable } from "../page/plan.js";
import { say, timeLeft } from "../page/progress.js";

/** Settings of texts, which the page's address would have too; null where they are of another audit. */
export const canarySettings = (texts) => (texts.view === "canaries" ? { view: "canaries", ...Object.fromEntries(Object.entries(texts).filter(([key, text]) => isCanarySetting(key) && text !== "")) } : null);

/** The audit in words, and its settings below the title. */
export function describeCanaries({ view, ...settings }, offer) {
  const { source = offer?.sources[0].name, epsilon = CLAIM.epsilon, delta = Number(CLAIM.delta).toExponential(), n } = settings;
  byId("canary-settings").replaceChildren(...terms(Object.entries(settings).map(([key, text]) => [key.replace(/^p\./, ""), text])).flat());
  return [`Canary audit of ${source}`, `claim: epsilon ${epsilon}, delta ${delta}`, n && `${n} runs`];
}

/** The audit that settings ask for. @param {Record<string, string>} settings @param {import("../worker/files").CanaryOffer | undefined} offer absent before the list is there @returns {import("../worker/protocol").Wanted} */
export function wantedOf({ view, workers, ...settings }, offer) {
  if (!offer) throw new Error("The list of sources, catalogue.json, is not there yet.");
  const source = settings.source ? offer.sources.find((s) => s.name === settings.source) : offer.sources[0];
  if (!source) throw new Unusable("source", `"${settings.source}"`, offer.sources.map((s) => s.name).join(" or "));
  if (source.designs.some((d) => d.name === settings.design && d.vectors)) throw new Unusable("design", settings.design, "one that needs no file");
  return { kind: "canary", settings: { source: source.name, epsilon: CLAIM.epsilon, ...settings } };
}

/**
 * @param {import("../worker/protocol").CanaryProgress} p
 * @param {Record<string, string>} settings
 * @param {import("../worker/files").CanaryOffer} offer
 * @param {import("../page/progress.js").ProgressPanel} panel
 */
export function tellCanaries(p, { interval }, offer, panel) {
  const words = phases[p.phase], percent = Math.floor((100 * p.runs) / p.total);
  const left = timeLeft(p);
  const mine = p.bounds?.find((b) => b.interval === (interval ?? offer.intervals[0].name));
  panel.tell(words, percent, [["Runs", `${grouped(p.runs)} of ${grouped(p.total)}`], left && ["Time left", left], mine && [p.holds ? "So far" : "So far, not certified", `epsilon ≥ ${roundedDown(mine.epsilon)}`]]);
  say(`${words}, ${percent} %`, false);
}
