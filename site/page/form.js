// The form: what to audit and how. It holds texts; what they mean is up to the
// core, whose answers it shows beside the fields.
import { door, onEnter } from "./doors.js";
import { byId, html, terms } from "./element.js";
import { controlOf, Fields, group, numberInput, setOptions } from "./field.js";
import { AUDIT, SCORES } from "./keys.js";
import { DEFAULT_ALPHA, DEFAULT_SEED, Unusable, usedBy } from "./plan.js";

const MAX_WORKERS = 64;
const FIRST_MECHANISM = "laplace-count";
/** Where settings stand in the document, by their place, in order. */
const PLACES = { mechanism: "mechanism-field", claim: "claim-fields", budget: "budget-fields", more: "more-fields", search: "more-fields" };
const guarantees = [
  { value: "", text: "as the fields say: epsilon, delta" },
  { value: "pure", text: "pure: epsilon" },
  { value: "approximate", text: "approximate: epsilon and delta" },
  { value: "renyi", text: "Rényi: epsilon at order alpha" },
  { value: "zcdp", text: "zero-concentrated (zCDP): rho" },
  { value: "gaussian-dp", text: "Gaussian: mu" },
];

/**
 * The user's files, as a mechanism.
 * @typedef {import("../worker/protocol").MechanismListing & Pick<import("../worker/protocol").Offer, "kind" | "settings" | "methods"> & {own: true}} Offered
 */

const listed = ({ name, title }, group) => ({ value: name, text: `${name}: ${title}`, group });

/** Task workers unless the user says otherwise. */
export const defaultWorkers = () => Math.max(1, Math.min(4, navigator.hardwareConcurrency || 1));

/** Task workers that a text asks for. */
export function workersOf(text = "") {
  const n = text === "" ? defaultWorkers() : Number(text);
  const { min, max } = byId("workers");
  if (!Number.isInteger(n) || n < Number(min) || n > Number(max)) throw new Unusable("workers", text, `a whole number in [${min}, ${max}]`);
  return n;
}

export class Form {
  #fields = new Fields();
  #catalogue = null;
  /** @type {Offered | null} */
  #own = null;
  #before = ""; // what was chosen before they were

  /** @param {{changed(): void}} on */
  constructor(on) {
    const legend = html("legend", {}), claim = html("fieldset", {}, legend, html("div", { id: "claim-fields", class: "grid" }));
    const place = (to) => {
      byId(to === "data" ? "promise" : "claim-place").append(claim);
      legend.textContent = to === "data" ? "What did it promise?" : "Claim";
      byId("run").textContent = to === "data" ? "Audit" : "Run";
    };
    byId("fields").append(html("div", { id: "claim-place" }), group("params", "Parameters of the mechanism"), html("fieldset", {}, html("legend", {}, "Budget"), html("div", { id: "budget-fields", class: "rows" })), group("more", "Pair, search and error"),
      html("div", { id: "notes", class: "notes", hidden: true }));
    place(door());
    onEnter(place);
    for (const [place, id] of Object.entries(PLACES)) {
      for (const key of AUDIT.filter((key) => key.form?.place === place)) this.#fields.add(id, key.name, key.form, controlOf(key));
    }
    this.#mechanisms("");
    byId("mechanism").disabled = true;
    setOptions(byId("guarantee"), guarantees);
    setOptions(byId("relation"), [{ value: "", text: "default" }]);
    for (const id of ["learner", "finder"]) setOptions(byId(id), [{ value: "", text: "auto" }]);
    const method = SCORES.find(({ name }) => name === "method");
    this.#fields.add("budget-fields", "method", method.form, controlOf(method));
    this.#fields.add("budget-fields", "workers", { label: "Workers", hint: "the result does not depend on them" },
      numberInput({ min: 1, max: MAX_WORKERS, step: 1, placeholder: defaultWorkers() }));
    byId("seed").value = DEFAULT_SEED;
    byId("alpha").value = DEFAULT_ALPHA;
    this.#dependents();
    byId("form").addEventListener("input", (event) => {
      if (/** @type {HTMLElement} */ (event.target).dataset.key === "mechanism") this.#chosen();
      this.#dependents();
      if (/** @type {HTMLElement} */ (event.target).dataset.key) on.changed();
    });
  }

  /** Shows the fields that the chosen guarantee uses; the others keep their texts. */
  #dependents() {
    const scores = this.mechanism?.kind === "scores";
    for (const [key, { box }] of this.#fields) box.hidden = scores ? !SCORES.some(({ name }) => name === key) : key === "method";
    if (scores) return;
    for (const key of AUDIT.filter((key) => key.claims)) this.#fields.get(key.name).box.hidden = !usedBy(byId("guarantee").value, key);
    const own = Boolean(this.mechanism?.own);
    const bets = byId("until-refuted").checked; // it explores as it goes on
    const fixed = byId("fixed").checked && !bets;
    for (const key of ["explore", "fixed"]) this.#fields.get(key).box.hidden = bets;
    for (const key of ["relation", "workers", "trials", "finder", "pair"]) this.#fields.get(key).box.hidden = own;
    this.#fields.get("samples").hint((fixed ? "to certify, a side" : "at most, a side, over all pairs") + (own ? "; of the file's rows" : ""));
    this.#fields.get("explore").hint(own ? "rows a side; default: half of them" : fixed ? "samples a side, over all pairs; 0: 1.5 times the number above" : "samples a side that show an event; 0: the number above, at most 10,000");
  }

  /** What there is to choose from. */
  fill(catalogue) {
    this.#catalogue = catalogue;
    this.#mechanisms(byId("mechanism").value);
    byId("mechanism").disabled = false;
    const named = (list, byName) => list.filter((x) => x.name !== "auto" && Boolean(x.byName) === byName);
    setOptions(byId("learner"), [{ value: "", text: "auto: the portfolio" },
      ...named(catalogue.learners, false).map((x) => listed(x, "Of the portfolio")), ...named(catalogue.learners, true).map((x) => listed(x, "Only by name"))]);
    this.#mechanismChanged();
  }

  /** Offers the mechanisms that there are. */
  #mechanisms(chosen) {
    const all = this.#catalogue?.mechanisms ?? [], of = (list, title) => list.map((m) => listed(m, title));
    const options = [...of(this.#own ? [this.#own] : [], "Your files"), ...of(all.filter((m) => !m.fault), "Keeps its claim"), ...of(all.filter((m) => m.fault), "Known to be broken")];
    setOptions(byId("mechanism"), this.#catalogue ? options : [...options, { value: "", text: "…" }], this.listing(chosen) ? chosen : this.defaultMechanism);
  }

  /** Offers the user's files and chooses them, with the claim that stands there, or takes them away. @param {Offered | null} own */
  offer(own) {
    const select = byId("mechanism"), before = this.#own?.name;
    if (!this.#own && !own) return;
    const claims = ["epsilon", "rho", "mu"].map((name) => [name, byId(name).value || byId(name).placeholder]);
    if (own && select.value !== before) {
      this.#before = select.value;
      for (const key of ["samples", "explore"]) this.#fields.put(key); // of files, all rows
    }
    const chosen = own?.name ?? (select.value === before ? this.#before : select.value);
    this.#own = own;
    this.#mechanisms(chosen);
    if (own) this.#mechanismChanged();
    else this.#chosen();
    if (own) for (const [name, text] of claims) byId(name).value = text;
    setOptions(byId("method"), (own?.methods ?? []).map((name, i) => ({ value: i ? name : "", text: i ? name : `default: ${name}` })));
    this.#dependents();
  }

  get defaultMechanism() {
    const all = this.#catalogue?.mechanisms ?? [];
    return (all.find((m) => m.name === FIRST_MECHANISM) ?? all[0])?.name ?? "";
  }

  get mechanism() { return this.listing(byId("mechanism").value); }

  /** The listing of a name, that of the user's samples among them. */
  listing(name) { return this.#own?.name === name ? this.#own : this.#catalogue?.mechanisms.find((m) => m.name === name); }

  /** @returns {import("./plan.js").Settings} workers among them; without the fields that are hidden */
  read() { return this.#fields.texts; }

  /** Sets all fields; those that settings lack get their defaults. @returns {string[]} what of it cannot be used, in words */
  write(settings) {
    const bad = [];
    this.#fields.forget();
    byId("mechanism").value = settings.mechanism ?? this.defaultMechanism;
    if (!byId("mechanism").value && this.#catalogue) {
      bad.push(`mechanism is "${settings.mechanism}", must be the name of one that dpscope knows. The default is used.`);
      byId("mechanism").value = this.defaultMechanism;
    }
    byId("relation").value = "";
    this.#mechanismChanged();
    for (const key of this.#fields.keys()) {
      const value = settings[key] ?? { seed: DEFAULT_SEED, alpha: DEFAULT_ALPHA }[key] ?? "";
      if (key === "mechanism" || this.#fields.put(key, value)) continue;
      if (key === "relation") this.#relations(this.mechanism?.relations ?? [""], value);
      else if (key === "finder") this.#finders(value);
      else if (key === "learner" && value.includes(":")) byId(key).append(html("option", { value, selected: true }, value)); // settings stand behind its name
      else bad.push(this.#fields.unheld(key, value));
    }
    if (AUDIT.some((key) => PLACES[key.form?.place] === "more-fields" && settings[key.name])) byId("more").open = true;
    this.#dependents();
    this.clearErrors();
    return bad;
  }

  /** A mechanism was chosen by hand, or samples came: it makes its own claim, not that of the one before. */
  #chosen() {
    const claims = AUDIT.filter((key) => key.form?.place === "claim" && key.name !== "relation");
    for (const { name } of claims) for (const key of [name, `p.${name}`]) if (this.#fields.has(key)) this.#fields.put(key);
    this.#mechanismChanged();
    const claim = this.mechanism?.claim ?? {};
    byId("guarantee").value = claim.kind && !["pure", "approximate"].includes(claim.kind) ? claim.kind : "";
    byId("alpha").value = claim.alpha ?? DEFAULT_ALPHA;
    this.#dependents();
  }

  #mechanismChanged() {
    const m = this.mechanism;
    this.#fields.parameters("params-fields", m?.params ?? []);
    byId("params").hidden = !m?.params?.length;
    if (!m) return;
    this.#finders();
    this.#relations(m.relations);
    if (!m.relations.includes(byId("relation").value)) byId("relation").value = "";
    this.#about(m, m.claimWords, m.truth);
    byId("epsilon").placeholder = m.claim.epsilon ?? "";
    for (const key of ["rho", "mu"]) byId(key).placeholder = m.claim[key] ?? "";
    byId("delta").placeholder = m.claim.delta ?? (m.kind === "scores" ? SCORES.find(({ name }) => name === "delta").form.empty : 0);
  }

  /** Offers the finders that fit the mechanism, and the one that an address names, which the core refuses. */
  #finders(named = "") {
    const fit = ({ name, attacks }) => name !== "auto" && (!attacks || attacks.includes(this.mechanism?.learns) || name === named);
    setOptions(byId("finder"), [{ value: "", text: "auto" }, ...(this.#catalogue?.finders ?? []).filter(fit).map((x) => listed(x))], named || undefined);
  }

  #relations(allowed, now = byId("relation").value) {
    const names = now && !allowed.includes(now) ? [...allowed, now] : allowed;
    setOptions(byId("relation"), [{ value: "", text: this.mechanism?.kind === "scores" ? "choose" : `default (${allowed[0]})` }, ...names.map((r) => ({ value: r, text: r }))], now);
  }

  #about(m, claimWords, truth) {
    if (m.own) {
      byId("about").replaceChildren(html("p", {}, m.kind === "scores" ? "You vouch that each score was computed without knowing who was in, by one rule for all." : "You vouch that the rows are independent and the datasets are neighbours."));
      return;
    }
    byId("about").replaceChildren(
      html("p", { class: m.fault ? "kind broken" : "kind sound" }, html("span", { class: "mark", "aria-hidden": "true" }, m.fault ? "▲" : "●"), m.fault ? " Known to be broken" : " Keeps its claim"),
      html("dl", { class: "pairs" }, terms([["Runs", m.library && `the real library: ${m.library}. A seed does not reproduce its outputs.`], ["Fault", m.fault], ["Claims", claimWords], ["Truth", truth], ["Source", m.source], ["More", m.museum && html("a", { href: m.museum }, "Why it fails")]])));
  }

  /** Shows what the core made of the settings: defaults, relations, notes. @param {import("../worker/protocol").CheckedValue} checked */
  show(checked) {
    this.clearErrors();
    const { plan, claim } = checked;
    for (const key of ["epsilon", "alpha", "rho", "mu"]) byId(key).placeholder = claim[key] ?? "";
    byId("delta").placeholder = String(checked.ownClaim.delta ?? 0);
    this.#relations(checked.relations);
    for (const key of ["samples", "explore", "trials", "beta", "seed"]) byId(key).placeholder = plan[key];
    for (const [key, { control }] of this.#fields) {
      if (key.startsWith("p.") && control.tagName === "INPUT") control.placeholder = String(plan.parameters[key.slice(2)]);
    }
    if (this.mechanism) this.#about(this.mechanism, checked.ownClaimWords, checked.truth);
    byId("notes").replaceChildren(...checked.notes.map((note) => html("p", {}, note)));
    byId("notes").hidden = !checked.notes.length;
    byId("form").dispatchEvent(new CustomEvent("checked", { detail: checked }));
  }

  fail(key, message, focus) { return this.#fields.fail(key, message, focus); }

  clearErrors() { this.#fields.clearErrors(); }
}
