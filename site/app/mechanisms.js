// All mechanisms as cards, in a window over the page: what each claims, whether it keeps
// that, and its fault. A search leaves those that have every word.
import { byId, html } from "../page/element.js";

/** @typedef {import("../worker/files").Mechanism} Listed */

export class Mechanisms {
  /** @type {{card: HTMLElement, text: string}[]} */
  #cards = [];

  constructor() {
    byId("all-search").addEventListener("input", () => this.#find());
    byId("all").addEventListener("keydown", (event) => {
      const stops = /** @type {HTMLElement[]} */ ([byId("all-search"), ...byId("all-list").querySelectorAll("li:not([hidden]) .tile")]), at = stops.findIndex((stop) => stop === document.activeElement);
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter" && at === 0) stops[1]?.click();
      else if (by && at >= 0) stops[Math.max(0, Math.min(stops.length - 1, at + by))].focus();
      else return;
      event.preventDefault();
    });
  }

  /** @param {Listed[]} all @param {(event: MouseEvent, name: string, mended: boolean) => void} pick @param {(name: string) => string} addressOf */
  fill(all, addressOf, pick) {
    this.#cards = all.map((m) => {
      const link = (kind, mended, ...words) => html("a", { class: kind, href: addressOf(m.name), "data-mechanism": m.name, onclick: (event) => pick(event, m.name, mended) }, words);
      const card = html("li", { class: m.fault ? "broken" : "sound" }, link("tile", false, html("strong", {}, m.title), html("code", {}, m.name),
        html("span", {}, `Claims ${m.claimWords}`), html("span", { class: "truth" }, m.fault ? `▲ In truth: ${m.truth}` : "● Keeps it"), html("span", { class: "hint" }, m.fault), html("span", { class: "hint" }, m.library ? `Runs the real library: ${m.library}` : m.learns && "Trains a model")),
      m.mended && link("plain", true, "Mended, beside it"));
      return { card, text: card.textContent.toLowerCase() + m.source.toLowerCase() };
    });
    const group = (title, kind) => html("section", { "aria-label": title }, html("h3", {}, title), html("ul", { class: "tiles" }, this.#cards.map(({ card }) => card).filter((card) => card.className === kind)));
    byId("all-list").replaceChildren(group("Known to be broken", "broken"), group("Keep their claim", "sound"));
    this.#find();
  }

  #find() {
    const words = byId("all-search").value.toLowerCase().split(" ");
    for (const { card, text } of this.#cards) card.hidden = !words.every((word) => text.includes(word));
    const shown = this.#cards.filter(({ card }) => !card.hidden).length;
    byId("all-found").textContent = `${shown} of ${this.#cards.length} mechanisms`;
  }
}
