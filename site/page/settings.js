// The settings of the page's audit: what the form says, what the core makes of it,
// and the address that holds it.
import { faultOf, readFragment, usable, writeFragment } from "./address.js";
import { ACCOUNTING } from "../worker/corekeeper.js";
import { Ended } from "../worker/engine.js";
import { defaultWorkers, workersOf } from "./form.js";
import { dismiss, notify } from "./notice.js";
import { planOf } from "./plan.js";
import { say } from "./progress.js";
import { settingsOf } from "./shown.js";

const CHECK_AFTER = 150; // ms without a change

const stateOf = (url, count) => url + (count === defaultWorkers() ? "" : `&workers=${count}`);

/** Says what of the address cannot be used. @param {string[]} bad */
function addressWords(bad, odd) {
  dismiss("address");
  if (odd) bad.unshift(odd);
  if (bad.length) notify({ key: "address", kind: "warning", title: "Not everything in the address could be used", list: bad });
}

export class Settings {
  #checks = 0; // numbers them: only the last one counts
  #timer = 0;
  #part = null; // of the address: the last valid settings
  #page;

  /**
   * @param {{engine: import("../worker/engine.js").Engine, core: import("../worker/corekeeper.js").CoreKeeper, form: import("./form.js").Form, samples: import("../panel/samples.js").Samples,
   *   accounting: import("../panel/accounting.js").Accounting, canaries: import("../panel/canaries.js").Canaries, settled(url: string | null): void, busy(): boolean}} page
   *   settled: what the settings are to the core; busy: whether a run is under way
   */
  constructor(page) { this.#page = page; }

  /** What is known of the mechanism of some settings. */
  listing(settings) {
    const { form, core, engine } = this.#page;
    return form.listing(settings.mechanism) ?? (core.catalogue ?? engine.ready?.catalogue)?.mechanisms.find((m) => m.name === settings.mechanism);
  }

  /** The engine that can do settings. */
  #engineFor(settings) {
    const { samples, engine } = this.#page;
    return this.listing(settings)?.own ? samples.engine : engine;
  }

  /** What the form asks for; throws what is wrong with it. */
  asked() {
    const { form } = this.#page;
    const settings = form.read();
    return { settings, count: workersOf(settings.workers), plan: planOf(settings, this.listing(settings)), on: this.#engineFor(settings) };
  }

  /** The form changed. */
  changed() {
    this.#checks++; // what is under way is out of date
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.check(), CHECK_AFTER);
  }

  /** Lets no check come of what changed before now. */
  still() { clearTimeout(this.#timer); }

  /** Has the core look at the settings; a valid state goes into the address. */
  async check() {
    const { engine, core, form, samples, settled } = this.#page;
    const number = ++this.#checks;
    if (!engine.ready && !core.loading) return;
    try {
      if (samples.busy && this.listing(form.read())?.own) return; // asked for again at its end
      const { settings, count, plan } = this.asked();
      if (!await this.#able(settings, number)) return;
      const checked = await core.ask(() => this.#engineFor(settings).check(plan));
      if (number !== this.#checks) return;
      form.show(checked);
      settled(settingsOf(checked));
      if (!checked.url) return; // no address holds a file
      this.#part = stateOf(checked.url, count);
      this.write();
    } catch (error) {
      if (number !== this.#checks) return;
      form.clearErrors();
      if (!(error instanceof Ended)) settled(null);
      this.blame(error, false);
    }
  }

  /**
   * Has the larger core come where settings need it. Where it cannot, that is said
   * at the field; a run goes on first.
   * @param {number} number of the check that asks
   * @returns {Promise<boolean>} whether the core that runs can do them
   */
  async #able(settings, number) {
    const { core, form, settled, busy } = this.#page;
    const lacking = core.missing(settings), check = () => this.check();
    if (!lacking) return true;
    if (!busy() && !core.declined(lacking) && await core.larger(lacking, check)) return number === this.#checks;
    if (number !== this.#checks) return false;
    if (busy()) core.later(check);
    form.clearErrors();
    settled(null);
    const at = ["mechanism", "finder", "learner"].find((key) => settings[key] === lacking);
    form.fail(at, `${lacking} needs the larger core, which ${busy() ? "is loaded when the run has ended" : "is not there"}`);
    return false;
  }

  /** Writes the address. */
  write() {
    const { fragment } = this.#page.accounting;
    if (this.#part !== null || fragment) writeFragment((this.#part ?? "#v=1") + fragment);
  }

  /** Shows an error of the settings at its field, or as a notice. */
  blame(error, focus) {
    if (error instanceof Ended) return; // told by died
    const key = faultOf(error);
    if (key && this.#page.form.fail(key, error.message, focus)) {
      say(error.message, focus);
      return;
    }
    notify({ key: "settings", kind: "error", title: "This cannot be run", refusal: error.refusal ?? { message: error.message } });
  }

  /** The form asks for what cannot be run. */
  unusable(error) {
    this.#page.form.clearErrors();
    this.blame(error, true);
  }

  /**
   * Takes the settings from the address. Bad ones are named, their defaults are
   * used, and the address is mended.
   */
  async read() {
    const { engine, core, form, accounting, canaries, settled } = this.#page;
    this.still(); // of what the form held
    const number = ++this.#checks;
    const { settings, account, canaries: planted, odd } = readFragment(location.hash);
    if (planted && this.#part !== null) { // the audit's form stays as it is
      addressWords(canaries.read(planted), odd);
      return;
    }
    if (core.missing(settings)) {
      form.write(settings);
      if (!await this.#able(settings, number)) return;
    }
    const { value, bad } = await usable(settings, async () => {
      const count = workersOf(settings.workers);
      settings.mechanism ||= form.defaultMechanism;
      return { count, checked: await core.ask(() => engine.check(planOf(settings, this.listing(settings)))) };
    }, faultOf);
    if (number !== this.#checks) return;
    const mend = bad.length > 0;
    if (planted) bad.push(...canaries.read(planted));
    if (account) bad.push(...accounting.read(account, !core.declined(ACCOUNTING)));
    if (value) {
      form.write(settings);
      form.show(value.checked);
      settled(value.checked.url);
      this.#part = stateOf(value.checked.url, value.count);
      if (mend) this.write();
    }
    addressWords(bad, odd);
  }

  /** Takes the settings from the address anew. */
  reread() {
    const { engine, core } = this.#page;
    core.forgive();
    if (engine.ready || core.loading) this.read().catch(() => {}); // of a core that ended
  }

  /** Follows a link to a state; one to the present address changes nothing there. */
  goTo(fragment) {
    const before = location.hash;
    location.hash = fragment;
    if (location.hash === before) this.reread();
  }
}
