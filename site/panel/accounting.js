// The accounting panel: what a mechanism guarantees after sampling, over many
// steps and for groups. It asks the core and shows what that answers.
import { onEnter } from "../page/doors.js";
import { byId, html, onSubmit, scrolled, tableRows } from "../page/element.js";
import { Ended } from "../page/engine.js";
import { choice, controlOf, field, Fields, setOptions } from "../page/field.js";
import { ACCOUNT } from "../page/keys.js";
import { exact, short } from "../page/number.js";
import { Picture } from "../page/picture.js";
import { keyOf } from "../page/plan.js";
import { say } from "../page/progress.js";
import { command } from "../page/result.js";

const ASK_AFTER = 250; // ms without a change
const TRACE_AFTER = 300; // ms, as the next question would wait for it

/**
 * What is asked, as texts: an empty or absent one means the default.
 * @typedef {{kind: string, texts: Record<string, string>}} Asked
 */

/** The name of a setting in the query, which is that in the address too. */
const nameIn = (key) => key.fields[0].slice(1);
const keyFor = (name) => ACCOUNT.find((key) => nameIn(key) === name);

/** What a kind is asked, by names of settings. What is empty has the default that the form shows. */
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
  #page;

  /** @param {import("../app/runs.js").Parts} page */
  constructor(page) {
    this.#page = page;
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

  /** Opens the panel with what an address asks for. @param {Asked} asked @returns {string[]} what of it cannot be used, in words */
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
    const { engine } = this.#page, number = ++this.#asked, fragment = this.#fragment(), query = asked(this.#chosen, this.#fields.texts);
    try {
      this.#fields.clearErrors();
      this.#status("Accounting…");
      await engine.running;
      const answer = await engine.ask("account", query).answer;
      if (number !== this.#asked) return;
      this.#status("");
      const traced = this.#show(answer, fragment);
      await new Promise((done) => { setTimeout(done, TRACE_AFTER); });
      try {
        if (number === this.#asked) await this.#trace(answer, await engine.ask("trace", answer.query).answer, traced, number);
      } finally {
        traced.classList.remove("awaited");
      }
    } catch (error) {
      if (number === this.#asked) this.#blame(error, focus);
    }
  }

  #blame(error, focus) {
    this.#fields.clearErrors();
    const key = error.refusal && ACCOUNT.find(({ name }) => name === keyOf(error.refusal, ACCOUNT));
    const told = key && this.#fields.fail(nameIn(key), error.message, focus);
    this.#status(error instanceof Ended ? "The core ended; ask again." : told ? "" : error.message);
    byId("account-result").classList.toggle("old", !byId("account-result").hidden);
  }

  #status(text) { byId("account-status").textContent = text; }

  /** Draws how epsilon changes with the steps, and what a target allows, and with delta. @param {import("../worker/protocol").AccountedValue} a */
  #trace(a, trace, place, number) {
    if (number !== this.#asked || a.epsilon === undefined || !(a.epsilon > 0)) return;
    const text = JSON.stringify({ ...a, ...trace });
    return Promise.all([["Epsilon over steps", "steps"], ["Epsilon over delta", "deltas"]].map(([title, name], i) => {
      const host = html("div", {});
      place.children[i].append(html("h4", {}, title), host);
      return new Picture(host, { of: "account", square: true, view: name, name }).show(text);
    }));
  }

  /** @param {import("../worker/protocol").AccountedValue} a @returns {HTMLElement} the place of how it changes */
  #show(a, fragment = "") {
    this.fragment = fragment;
    const box = byId("account-result");
    box.classList.remove("old");
    box.hidden = false;
    const { delta, atEpsilon } = a.query, traced = html("div", { class: "curves awaited" }, a.epsilon > 0 && [html("section", {}), html("section", {})]), text = JSON.stringify(a);
    const drawn = /** @type {[title: string, view: string, there: any][]} */ ([["Ways to epsilon", "ways", a.epsilons.length], ["Ways to delta", "ways to delta", a.deltas?.length], ["Rényi curve", "", a.curve.length]])
      .filter(([,, there]) => there).map(([title, view]) => ({ title, view, place: html("div", {}) }));
    const pictures = (renyi) => drawn.filter(({ view }) => (view === "") === renyi).map(({ title, place }) => renyi ? html("details", {}, html("summary", {}, title), place) : [html("h4", {}, title), place]);
    box.replaceChildren(...[
      html("h3", {}, a.title),
      html("p", { class: "headline" }, a.epsilon === undefined ? `No epsilon holds at delta = ${exact(delta)}.` : `epsilon = ${exact(a.epsilon)} at delta = ${exact(delta)}${nothingBelow(a.epsilons)}`),
      a.delta !== undefined && html("p", { class: "headline" }, `delta = ${exact(a.delta)} at epsilon = ${exact(atEpsilon)}${nothingBelow(a.deltas)}`),
      a.needed && html("p", { class: "headline" }, `${a.needed.parameter} = ${exact(a.needed.noise)} is the least noise for epsilon = ${exact(a.query.targetEpsilon)} at delta = ${exact(delta)}`),
      (a.notes ?? []).map((note) => html("p", { class: "hint" }, note)),
      traced,
      pictures(false),
      outcomes(a),
      (a.factors ?? []).map((f) => table(`Posterior odds exceed ${exact(f.odds)} times the prior odds with probability at most ${exact(f.probability)}`, ["order", "mean of the factor’s power of α − 1, at most", "probability, at most"],
        f.orders.map((x) => [short(x.alpha), x.mean === undefined ? "–" : exact(x.mean), exact(x.probability)]))).flat(),
      pictures(true),
      command("The same on the command line", a.cli),
    ].flat(2).filter(Boolean));
    for (const { view, place } of drawn) new Picture(place, { of: "account", view, name: view.replaceAll(" ", "-") || "account", square: !view }).show(text);
    say(`${a.title}. ${box.querySelector(".headline").textContent}`, false);
    this.#page.settings.write();
    return traced;
  }
}

/** What cannot hold, where that is known. @param {import("../worker/protocol").Guarantee[]} [ways] */
function nothingBelow(ways) {
  const least = ways?.find((w) => w.atLeast !== undefined)?.atLeast;
  return least === undefined ? "" : `, and nothing below ${exact(least)} holds`;
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

const table = (title, head, rows) => [html("h4", {}, title), scrolled(title, "data ways", tableRows(head, rows))];
