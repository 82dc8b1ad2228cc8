// What is claimed, how much noise is really added and how large the fault is, as sliders. They
// write into the form; what they set is audited once the hand rests.
import { byId, html } from "../page/element.js";
import { slider } from "../page/field.js";
import { times } from "../page/number.js";

const SETTLED = 120; // ms after a knob's last move
export const NOISE = "epsilon"; // the parameter that says how much noise a mechanism adds, where it is one of those

/** Two figures, as a slider gives them. */
const nice = (x) => String(Number(x.toPrecision(2)));
const fieldOf = (key) => byId(key.replace("p.", "p-"));

export class Sliders {
  #form;
  #timer = 0;
  #sliders = {};
  #apart = false; // the mechanism claims another epsilon than the one it adds noise for
  #truth = ""; // of a broken mechanism, in words
  #on;

  /** @param {import("../page/form.js").Form} form @param {{moving(): void, moved(): void}} on moving: a knob, under the hand; moved: it came to rest */
  constructor(form, on) {
    this.#form = form;
    this.#on = on;
    for (const [name, label, key] of [["claim", "What it claims", "epsilon"], ["noise", "Noise it really adds", `p.${NOISE}`], ["fault", "How large the fault is", ""]]) {
      this.#sliders[name] = slider(`slide-${name}`, label, (x) => this.#move(name, key, x));
      byId("sliders").append(this.#sliders[name].box);
      this.#sliders[name].box.hidden = name === "fault";
    }
    byId("form").addEventListener("input", () => {
      this.#truth = "";
      this.show();
    });
    byId("form").addEventListener("checked", (event) => {
      const { plan, ownClaim, truth } = /** @type {CustomEvent<import("../worker/protocol").CheckedValue>} */ (event).detail, epsilon = Number(plan.parameters?.[NOISE]);
      this.#apart = Math.abs(ownClaim.epsilon - epsilon) > 1e-9 * epsilon;
      this.#truth = truth;
      this.show();
    });
  }

  /** The parameter that says how large the fault of the mechanism is. */
  get #faulty() { return this.#form.mechanism?.params?.find((p) => p.fault); }

  #number(key) {
    const field = fieldOf(key);
    return field ? Number(field.value || field.placeholder) : NaN;
  }

  /** A knob was moved: its figure goes into the form. */
  #move(name, key, x) {
    const { name: fault, integer } = this.#faulty ?? {}, field = fieldOf(key || `p.${fault}`);
    // What is claimed must not change what is added, nor the other way round.
    const noise = fieldOf(`p.${NOISE}`), claim = byId("epsilon");
    if (noise && !noise.value) noise.value = noise.placeholder;
    if (!claim.value) claim.value = claim.placeholder;
    field.value = !key && integer ? String(Math.round(x)) : nice(name === "noise" ? 1 / x : x);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    this.#on.moving();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#on.moved(), SETTLED);
  }

  /** Shows what the form says. */
  show() {
    const { mechanism } = this.#form, { claim, noise, fault } = this.#sliders, faulty = this.#faulty;
    fault.box.hidden = !faulty;
    if (faulty) {
      const x = this.#number(`p.${faulty.name}`);
      fault.range(faulty);
      fault.put(Math.log10(x), `${faulty.name} = ${x}`, [faulty.doc]);
    }
    const pure = ["", "pure", "approximate"].includes(byId("guarantee").value) && !mechanism?.claim.alpha && !mechanism?.claim.rho && !mechanism?.claim.mu;
    const claimed = this.#number("epsilon"), added = this.#number(`p.${NOISE}`);
    claim.box.hidden = !(pure && claimed > 0) || Boolean(mechanism?.own);
    noise.box.hidden = claim.box.hidden || !(added > 0) || !mechanism?.params.some((p) => p.name === NOISE && p.noise) || this.#apart;
    claim.put(Math.log10(claimed), `ε = ${claimed}`, ["No answer may be more than ", html("b", {}, `${times(claimed)} times`), " as likely."]);
    const broken = Boolean(mechanism?.fault), as = html("b", {}, `ε = ${added}`);
    if (broken) noise.put(-Math.log10(added), `as for ε = ${added}`, ["As much as the published code adds to claim ", as, this.#truth && `. In truth: ${this.#truth}`, "."]);
    else noise.put(-Math.log10(added), `× ${nice(1 / added)}`, ["Enough for ", as, ". ▾ marks what the claim needs."]);
    const at = -Math.log10(claimed);
    noise.need.hidden = broken || !(Math.abs(at) <= 1);
    noise.need.style.setProperty("--at", String((at + 1) / 2));
  }
}
