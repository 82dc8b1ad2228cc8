// The accounting panel: what a mechanism guarantees after sampling, over many
// steps and for groups. It asks the core and shows what that answers.
import { onEnter } from "../page/doors.js";
import { byId, html, onSubmit, scrolled, tableRows } from "../page/element.js";
import { Ended, Refused } from "../page/engine.js";
import { choice, controlOf, field, Fields, setOptions } from "../page/field.js";
import { ACCOUNT } from "../page/keys.js";
import { exact, short } from "../page/number.js";
import { Picture } from "../page/picture.js";
import { keyOf } from "../page/plan.js";
import { say } from "../page/progress.js";
import { command } from "../page/result.js";

const ASK_AFTER = 250; // ms without a change

const methods = {
  "gaussian-exact": "Gaussian noise itself",
  "privacy-loss": "distribution of the privacy loss",
  "optimal-composition": "optimal composition",
  "renyi-optimal": "Rényi curve, optimal conversion",
  "renyi-tight": "Rényi curve, tight conversion",
  "renyi-classical": "Rényi curve, classical conversion",
  "basic-composition": "basic composition",
  "advanced-composition": "advanced composition",
  "published-composition": "composition through a pure bound's curve, as published",
};

/**
 * What is asked, as texts: an empty or absent one means the default.
 * @typedef {{kind: string, texts: Record<string, string>}} Asked
 */

/** The name of a setting in the query, which is that in the address too. */
const nameIn = (key) => key.fields[0].slice(1);
const keyFor = (name) => ACCOUNT.find((key) => nameIn(key) === name);

/**
 * What a kind is asked, by names of settings. What is empty has the default that the form shows.
 * @param {import("../worker/files").AccountKind} kind
 * @param {Record<string, string>} texts by names in the query
 */
export const asked = ({ kind, fields }, texts) => ({ mechanism: kind, ...Object.fromEntries(fields.map(keyFor).map((key) => [key.name, texts[nameIn(key)] || (key.form.empty ?? "")])) });

export class Accounting {
  /** Of the account that is shown, for the address; empty where there is none. */
  fragment = "";
  /** @type {import("../worker/files").AccountKind[]} */
  #kinds = [];
  #fields = new Fields("a-"); // by name in the query
  #kind;
  #asked = 0; // numbers the questions: only the last one counts
  #timer = 0;
  #on;

  /**
   * @param {{account(texts: Record<string, string>): Promise<import("../worker/protocol").AccountedValue>, changed(): void}} on
   *   changed: fragment has
   */
  constructor(on) {
    this.#on = on;
    this.#kind = field({ id: "account-kind", key: "account", label: "A step is", wide: true }, choice([]));
    byId("account-kind-field").append(this.#kind.box);
    byId("account-form").addEventListener("input", (event) => {
      if (event.target === this.#kind.control) this.#kindChanged();
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.ask(), ASK_AFTER);
    });
    onSubmit(byId("account-form"), () => this.ask(true));
    onEnter((door) => {
      if (door === "accounting" && this.#kinds.length) this.ask();
    });
  }

  /** @param {import("../worker/files").AccountKind[]} kinds */
  fill(kinds) {
    this.#kinds = kinds;
    setOptions(this.#kind.control, kinds.map((k) => ({ value: k.kind, text: k.title })));
    this.#kindChanged();
  }

  /**
   * Opens the panel with what an address asks for.
   * @param {Asked} asked
   * @returns {string[]} what of it cannot be used, in words
   */
  read({ kind, texts }) {
    const known = this.#kinds.some((k) => k.kind === kind);
    this.#kind.control.value = known ? kind : this.#kinds[0].kind;
    this.#kindChanged({ ...texts });
    this.ask();
    return known ? [] : [`account is "${kind}", must be one of ${this.#kinds.map((k) => k.kind).join(", ")}. The first is used.`];
  }

  get #chosen() { return this.#kinds.find((k) => k.kind === this.#kind.control.value); }

  /** @param {Record<string, string>} [texts] of its fields, and of others; what was typed before unless they are given */
  #kindChanged(texts) { this.#fields.swap("account-fields", this.#chosen.fields.map((name) => [name, keyFor(name).form, controlOf(keyFor(name))]), texts); }

  #fragment() {
    const parts = [["account", this.#chosen.kind], ...Object.entries(this.#fields.texts).map(([name, text]) => [`a.${name}`, text])];
    return parts.map(([key, value]) => `&${key}=${encodeURIComponent(value)}`).join("");
  }

  /** Asks what the form says, and shows the answer. @param {boolean} focus on what is at fault */
  async ask(focus = false) {
    clearTimeout(this.#timer);
    const number = ++this.#asked;
    const fragment = this.#fragment();
    try {
      this.#fields.clearErrors();
      this.#status("Accounting…");
      const answer = await this.#on.account(asked(this.#chosen, this.#fields.texts));
      if (number !== this.#asked) return;
      this.#status("");
      this.#show(answer, fragment);
    } catch (error) {
      if (number === this.#asked) this.#blame(error, focus);
    }
  }

  #blame(error, focus) {
    this.#fields.clearErrors();
    const key = error instanceof Refused && ACCOUNT.find(({ name }) => name === keyOf(error.refusal, ACCOUNT));
    const told = key && this.#fields.fail(nameIn(key), error.message, focus);
    this.#status(error instanceof Ended ? "The core ended; ask again." : told ? "" : error.message);
    if (told) say(error.message, focus);
    byId("account-result").classList.toggle("old", !byId("account-result").hidden);
  }

  #status(text) { byId("account-status").textContent = text; }

  /** @param {import("../worker/protocol").AccountedValue | null} a */
  #show(a, fragment = "") {
    this.fragment = fragment;
    const box = byId("account-result");
    box.classList.remove("old");
    box.hidden = !a;
    box.replaceChildren();
    if (a) {
      const { delta, atEpsilon } = a.query;
      const chart = html("div", {});
      box.append(...[
        html("h3", {}, a.title),
        html("p", { class: "headline" }, a.epsilon === undefined ? `No epsilon holds at delta = ${exact(delta)}.` : `epsilon = ${exact(a.epsilon)} at delta = ${exact(delta)}${nothingBelow(a.epsilons)}`),
        a.delta !== undefined && html("p", { class: "headline" }, `delta = ${exact(a.delta)} at epsilon = ${exact(atEpsilon)}${nothingBelow(a.deltas)}`),
        a.needed && html("p", { class: "headline" }, `${a.needed.parameter} = ${exact(a.needed.noise)} is the least noise for epsilon = ${exact(a.query.targetEpsilon)} at delta = ${exact(delta)}`),
        (a.notes ?? []).map((note) => html("p", { class: "hint" }, note)),
        guarantees("Ways to epsilon", a.epsilons, "epsilon", a.epsilon),
        guarantees("Ways to delta", a.deltas, "delta", a.delta),
        outcomes(a),
        (a.factors ?? []).map((f) => table(`Posterior odds exceed ${exact(f.odds)} times the prior odds with probability at most ${exact(f.probability)}`, ["order", "mean of the factor’s power of α − 1, at most", "probability, at most"],
          f.orders.map((x) => [short(x.alpha), x.mean === undefined ? "–" : exact(x.mean), exact(x.probability)]))).flat(),
        lemma(a),
        chart,
        command("The same on the command line", a.cli),
      ].flat().filter(Boolean));
      if (a.curve.length) {
        chart.before(html("h4", {}, "Rényi curve"));
        new Picture(chart, { of: "account", name: "account", square: true }).show(JSON.stringify(a));
      }
      say(`${a.title}. ${box.querySelector(".headline").textContent}`, false);
    }
    this.#on.changed();
  }
}

/** What cannot hold, where that is known. @param {import("../worker/protocol").Guarantee[]} [ways] */
function nothingBelow(ways) {
  const least = ways?.find((w) => w.atLeast !== undefined)?.atLeast;
  return least === undefined ? "" : `, and nothing below ${exact(least)} holds`;
}

/** Ways to a figure, the best one marked. @param {import("../worker/protocol").Guarantee[]} ways */
function guarantees(title, ways, figure, best) {
  return ways?.length > 0 && table(title, ["method", "epsilon", "delta", "order", "source"], ways.map((w) => [
    [w[figure] === best && html("span", { class: "mark" }, "● "), methods[w.method] ?? w.method, w.exact && ", exact", w[figure] === best && html("span", { class: "unseen" }, " (the least)")],
    exact(w.epsilon), exact(w.delta), w.atLeast !== undefined ? `at least ${exact(w.atLeast)}` : w.order === undefined ? "–" : short(w.order), w.source]));
}

/** The range of an event's probability on the neighbour, by order. @param {import("../worker/protocol").AccountedValue} a */
function outcomes({ outcomes: all, curve }) {
  if (!all?.length) return [];
  const range = ({ lower, upper }) => `${exact(lower)} to ${exact(upper)}`;
  const rows = curve.map(({ alpha }, i) => [short(alpha), ...all.map((o) => range(o.orders[i]))]);
  rows.push(["best", ...all.map(range)]);
  if (all[0].composed !== undefined) rows.push(["published, composed", ...all.map((o) => `at most ${exact(o.composed)}`)]);
  return table("Probability of an event on the neighbour, by order and by its probability on one dataset", ["order", ...all.map((o) => exact(o.event))], rows);
}

/** The published bound of pure steps beside the curve. @param {import("../worker/protocol").AccountedValue} a */
function lemma({ curve }) {
  if (curve[0]?.lemma === undefined) return [];
  return table("Rényi divergence in nats, and 2αε² over all steps (Mironov 2017, lemma 1)", ["order", "divergence", "lemma"], curve.map((p) => [short(p.alpha), exact(p.divergence), exact(p.lemma)]));
}

const table = (title, head, rows) => [html("h4", {}, title), scrolled(title, "data ways", tableRows(head, rows))];
