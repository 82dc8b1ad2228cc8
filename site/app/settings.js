// The settings of the page's audit: what the form says, what the core makes of it,
// and the address that holds it.
import { faultOf, readFragment, usable, writeFragment } from "../page/address.js";
import { Ended } from "../page/engine.js";
import { arrived, door, show as showDoor } from "../page/doors.js";
import { defaultWorkers, workersOf } from "../page/form.js";
import { dismiss, notify } from "../page/notice.js";
import { asked } from "../page/plan.js";
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
  /** What the address asks for: settings, null for those that are there, and what is wrong with the rest, in words. */
  #asked = { settings: null, bad: [], odd: "" };
  #changed = false; // the form, since then
  /** The result that came with the address, packed; empty where none did. */
  result = "";
  /** The code that did, packed. */
  code = "";
  report = ""; // its id, where the address asks the server for one
  #page;

  /** @param {import("./runs.js").Parts} page */
  constructor(page) { this.#page = page; }

  /** What is known of the mechanism of some settings. */
  listing(settings) { return this.#page.form.listing(settings.mechanism); }

  /** What the form asks for; throws what is wrong with it. */
  asked() {
    const { engine, form, samples } = this.#page, { mechanism } = form, { workers, ...settings } = form.read();
    const wanted = mechanism?.kind === "scores" ? { kind: "scores", settings: { ...settings, ...mechanism.settings } } : { kind: "pair", settings: asked(settings, mechanism) };
    return { wanted, count: workersOf(workers), on: mechanism?.own ? samples.engine : engine };
  }

  changed() {
    this.#changed = true;
    this.#checks++; // what is under way is out of date
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.check(), CHECK_AFTER);
  }

  /** Lets no check come of what changed before now. */
  still() { clearTimeout(this.#timer); }

  /** Has the core look at the settings; a valid state goes into the address. */
  async check() {
    const { engine, form, samples, shown } = this.#page;
    const number = ++this.#checks;
    if (!engine.ready) return;
    try {
      if (samples.busy && form.mechanism?.own) return; // asked for again at its end
      const { wanted: { kind, settings }, count, on } = this.asked();
      if (kind !== "pair") { // the core sees them when it audits
        form.clearErrors();
        shown.settled(null);
        return;
      }
      const checked = await on.ask("check", settings).answer;
      if (number !== this.#checks) return;
      form.show(checked);
      shown.settled(settingsOf(checked));
      if (!checked.url) return; // no address holds a file
      this.#part = stateOf(checked.url, count);
      this.write();
    } catch (error) {
      if (number !== this.#checks) return;
      if (!(error instanceof Ended)) shown.settled(null);
      this.blame(error, false);
    }
  }

  write() {
    const { fragment } = this.#page.accounting;
    if (door() === "accounting") writeFragment("#door=accounting" + fragment);
    else if (this.#part !== null && door() === "explore") writeFragment(this.#part);
  }

  /** Shows an error of the settings at its field, or as a notice. */
  blame(error, focus) {
    if (error instanceof Ended) return; // told by died
    this.#page.form.clearErrors();
    const key = faultOf(error);
    if (!key || !this.#page.form.fail(key, error.message, focus)) notify({ key: "settings", kind: "error", title: "This cannot be run", error });
  }

  /** Shows what the address asks for, as far as that can be done without the core. */
  show() {
    const { engine, form, accounting, canaries } = this.#page;
    this.still(); // of what the form held
    const { door: name, settings, account, canaries: planted, result, code, report, odd } = readFragment(location.hash);
    [this.result, this.code, this.report] = [result, code, report];
    arrived();
    const stays = settings === null && this.#part !== null; // the audit's form
    showDoor(name);
    this.#asked = { settings: stays ? null : settings ?? {}, bad: [...(planted ? canaries.read(planted) : []), ...(account ? accounting.read(account) : [])], odd };
    this.#changed = false;
    if (!engine.ready && !stays) form.write({ ...settings, mechanism: this.listing(settings ?? {})?.name });
  }

  /**
   * Has the core judge what the address asks for. Bad settings are named, their
   * defaults are used, and the address is mended. Where the user has changed the form
   * meanwhile, that counts.
   */
  async judge() {
    const { engine, form, shown } = this.#page, { settings, bad: others, odd } = this.#asked;
    if (this.#changed || !settings) {
      addressWords(others, odd);
      if (this.#changed) await this.check();
      return;
    }
    const number = ++this.#checks;
    const { value, bad } = await usable(settings, async () => {
      const count = workersOf(settings.workers);
      settings.mechanism ||= form.defaultMechanism;
      return { count, checked: await engine.ask("check", asked(settings, this.listing(settings))).answer };
    });
    if (number !== this.#checks) return;
    if (value) {
      form.write(settings);
      form.show(value.checked);
      shown.settled(value.checked.url);
      this.#part = stateOf(value.checked.url, value.count);
      if (bad.length) this.write();
    }
    addressWords([...bad, ...others], odd);
  }

  /** Takes the settings from the address anew. */
  async reread() {
    const { engine, core } = this.#page;
    if (!core.catalogue) return;
    this.show();
    if (engine.ready) await this.judge().catch(() => {}); // of a core that ended
  }

  /** Follows a link to a state; one to the present address changes nothing there. */
  goTo(fragment) {
    const before = location.hash;
    location.hash = fragment;
    if (location.hash === before) dispatchEvent(new HashChangeEvent("hashchange"));
  }
}
