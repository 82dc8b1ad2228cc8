// The door where a mechanism is explored: a few to pick from, and sliders.
import { byId, html } from "../page/element.js";
import { dismiss, notify } from "../page/notice.js";
import { Mechanisms } from "./mechanisms.js";
import { NOISE, Sliders } from "./sliders.js";

/** What there is to pick, before the list of all. @type {[title: string, picks: [mechanism: string, name: string, fault: string][]][]} */
const groups = [
  ["Mechanism", [["laplace-count", "Noisy count", ""], ["randomised-response", "Randomised response", ""], ["laplace-mean", "Noisy mean", ""]]],
  ["Broken classics", [["svt4", "Sparse vector", "too little noise"], ["noisy-max-value-laplace", "Noisy max", "tells its value"], ["noisy-histogram-wrong-scale", "Histogram", "wrong scale"], ["laplace-mean-raw-count", "Mean", "leaks the count"]]],
];
/** What is shown by itself. @type {[mechanism: string, mended: boolean, title: string, text: string][]} */
const tour = [
  ["laplace-count", false, "A count with noise", "With and without Ada the answers differ, but by no more than the claim allows: the marks stay between the dashed lines."],
  ["svt4", false, "A published technique that adds too little noise", "One answer comes too often without Ada. Its mark leaves the lines, and the claim is refuted."],
  ["svt4", true, "The same with one line changed", "Mended, it is audited on the same two datasets, beside the broken one."],
];
const NEXT_AFTER = 7000; // ms; what comes last stays
const ALLOWED_ERROR = "0.001"; // of what is explored by sliders: many audits are looked at
const SAMPLES = 5000; // an answer at once; there is a button for more
const BROKEN = 10; // times as many of one with a known fault, which ends when it is found

/** @param {import("../worker/files").FullCatalogue["mechanisms"][number]} of */
const exploring = ({ name, fault, claim: { epsilon = 1 } }) => `#v=1&mechanism=${name}&epsilon=${epsilon}&p.${NOISE}=${epsilon}&samples=${fault ? BROKEN * SAMPLES : SAMPLES}&beta=${ALLOWED_ERROR}`;

export class Explore {
  #form;
  #sliders;
  /** @type {Map<string, string>} of mechanisms to be explored; what one claims is then free of what it adds */
  #addresses = new Map();
  #touring = 0;
  #all = new Mechanisms();
  /** @type {Map<string, string>} the broken mechanism by the name of what it is without its fault, the first of them */
  #broken = new Map();
  #on;

  /** @param {import("../page/form.js").Form} form @param {{pick(fragment: string): void, moving(): void, moved(): void}} on pick: an address to go to; moving: a knob, under the hand; moved: it came to rest */
  constructor(form, on) {
    this.#form = form;
    this.#on = on;
    this.#sliders = new Sliders(form, on);
    byId("pick-open").addEventListener("click", () => this.#list(byId("pick-open").getAttribute("aria-expanded") !== "true"));
    byId("mend").addEventListener("input", (event) => event.stopPropagation()); // it is no setting
    byId("mend").addEventListener("change", () => {
      const broken = this.#broken.get(this.#form.mechanism?.name);
      if (byId("mend").checked && broken) on.pick(this.#addresses.get(broken));
    });
    byId("form").addEventListener("checked", () => this.show());
    byId("form").addEventListener("input", () => {
      this.#stay();
      this.show();
    });
  }

  /** Offers what the catalogue has of the picks. @param {import("../worker/files").FullCatalogue} catalogue */
  fill(catalogue) {
    this.#addresses = new Map(catalogue.mechanisms.map((m) => [m.name, exploring(m)]));
    const there = this.#addresses;
    this.#broken = new Map(catalogue.mechanisms.filter((m) => m.mended).reverse().map((m) => [m.mended, m.name]));
    const pick = (event, name, mended = byId("mend").checked) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // for another tab
      event.preventDefault();
      this.#stay();
      this.#list(false);
      if (byId("all").open) {
        byId("all").close();
        byId("verdict").focus({ preventScroll: true }); // not what opened the window: the press of Enter would go on there
      }
      byId("mend").checked = mended;
      this.#on.pick(there.get(name));
    };
    byId("picks").replaceChildren(...groups.flatMap(([title, picks]) => [
      html("h3", {}, title),
      html("ul", {}, picks.filter(([name]) => there.has(name)).map(([name, words, fault]) => html("li", {}, html("a", { href: there.get(name), "data-mechanism": name, onclick: (event) => pick(event, name) },
        words, fault && html("small", {}, fault))))),
    ]), html("p", {}, html("button", { type: "button", class: "plain", "aria-haspopup": "dialog", onclick: () => byId("all").showModal() }, `All ${catalogue.mechanisms.length} mechanisms`)));
    this.#all.fill(catalogue.mechanisms, (name) => there.get(name), pick);
    this.show();
  }

  /** What is explored by whoever did not ask for anything. */
  get first() { return this.#addresses.get(this.#form.defaultMechanism); }

  /** Shows what the tour has, one after the other. @returns {boolean} */
  tour(at = 0) {
    this.#stay();
    if (!this.#addresses.size) return false;
    const [name, mended, title, text] = tour[at];
    byId("mend").checked = mended;
    if (mended) byId("mend").dispatchEvent(new Event("change"));
    else this.#on.pick(this.#addresses.get(name));
    notify({ key: "tour", kind: "info", title: `${at + 1} of ${tour.length}: ${title}`, text, action: { label: "End the tour", run: () => this.#stay() } });
    if (tour[at + 1]) this.#touring = setTimeout(() => this.tour(at + 1), NEXT_AFTER);
    return true;
  }

  /** The tour ends. */
  #stay() {
    clearTimeout(this.#touring);
    dismiss("tour");
  }

  #list(open) {
    byId("picks").classList.toggle("open", open);
    byId("pick-open").setAttribute("aria-expanded", String(open));
  }

  /** Shows what the form says. */
  show() {
    const { mechanism } = this.#form;
    this.#sliders.show();
    let known = "";
    for (const link of document.querySelectorAll("#picks a")) {
      const a = /** @type {HTMLElement} */ (link), on = a.dataset.mechanism === mechanism?.name;
      a.ariaCurrent = on ? "true" : null;
      if (on) known = a.firstChild.textContent;
    }
    const twin = this.#form.listing(mechanism?.mended ?? this.#broken.get(mechanism?.name));
    byId("mend-box").hidden = !twin;
    byId("mend-words").textContent = mechanism?.mended ? "Mended, beside it" : `Beside the broken one: ${twin?.name}`;
    byId("pick-name").textContent = known || mechanism?.title || "";
  }
}
