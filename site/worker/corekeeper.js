// The page's core: which one runs, how it comes, the larger ones once something
// needs them, and the start after a crash.
import { readFragment } from "../page/address.js";
import { coreOf, lacking } from "./cores.js";
import { byId } from "../page/element.js";
import { Ended, FIRST, LARGER } from "./engine.js";
import { defaultWorkers } from "../page/form.js";
import { dismiss, notify } from "../page/notice.js";
import { size } from "../page/number.js";
import { say } from "../page/progress.js";

// Reasons for the larger core, beside names of the catalogue.
export const ACCOUNTING = "accounting", CALIBRATION = "the tool's own error rate", CANARIES = "canaries", OWN = "your own mechanism", YOURS = "your samples";

export const status = (text) => { byId("status").textContent = text; };

export class CoreKeeper {
  /** @type {import("./protocol").FullCatalogue | null} what all cores know; null: only the core that runs has a list */
  catalogue = null;
  /** Promise of a larger core while it is on its way. */
  loading = null;
  #engine;
  #stopper = null; // AbortController of its download
  #declined; // what it was last not loaded for: not asked for again by every keystroke
  #afterwards = new Set(); // what waits for a core that is free
  #on;

  /**
   * @param {import("./engine.js").Engine} engine
   * @param {{busy(): boolean, state(): string, setState(next: string): void, offer(cost: string): void, begun(): Promise<void>, fell(): void,
   *   reread(): void, check(): Promise<void>, idle(): string}} on busy: whether a request needs the workers; offer: a core runs, and the larger one costs so much;
   *   begun: the first one runs; fell: none does any more, with what was under way; reread: the address; check: the form; idle: what is said while nothing is under way
   */
  constructor(engine, on) {
    this.#engine = engine;
    this.#on = on;
  }

  // Starting

  async boot() {
    dismiss("core");
    this.#on.setState("loading");
    status("Loading the core…");
    const engine = this.#engine, list = engine.catalogue();
    engine.info().then((info) => {
      if (info) byId("version").textContent = `dpscope ${info.version} (${info.go})`;
    });
    try {
      const core = await this.#first(list);
      this.catalogue = await list;
      this.#ready(await engine.start(core, defaultWorkers()));
      await this.#on.begun();
      this.free();
    } catch (error) {
      this.#failed("The core did not start", error.message, () => this.boot());
    }
  }

  /**
   * The core that the address needs, so that none is fetched in vain; the first
   * one where the larger cannot be had.
   */
  async #first(list) {
    const { settings, account } = readFragment(location.hash);
    const asked = ["mechanism", "finder", "learner"].some((key) => settings[key]);
    const lacks = asked && lacking((name) => name === FIRST, await list, settings);
    const reason = account && (!lacks || coreOf(lacks, await list) === LARGER) ? ACCOUNTING : lacks;
    if (reason) {
      try {
        return await this.#download(coreOf(reason, await list), "Loading the core");
      } catch (error) {
        this.#notLoaded(error, reason, () => (this.#engine.ready ? this.#on.reread() : this.later(() => this.#on.reread())));
      }
    }
    return this.#download(FIRST, "Loading the core");
  }

  /** Fetches a core and says in the status how far it is. A larger one can be stopped. */
  async #download(name, doing) {
    const engine = this.#engine;
    let info, shown;
    engine.fileInfo(name).then((found) => {
      info = found;
      tell(0);
    });
    const tell = (bytes) => {
      if (!info || this.#on.state() !== "loading") return;
      const text = `${doing}, ${size(info.brotli)}…${bytes && name !== FIRST ? ` ${Math.floor((100 * bytes) / info.bytes)} %` : ""}`;
      if (text !== shown) status(shown = text);
    };
    if (name === FIRST) return engine.load(name);
    this.#stopper = new AbortController();
    this.#on.setState(this.#on.state());
    try {
      return await engine.load(name, { signal: this.#stopper.signal, progress: tell });
    } finally {
      this.#stopper = null;
      this.#on.setState(this.#on.state());
    }
  }

  /** Takes note of the core that runs now. */
  #ready(said) {
    const engine = this.#engine, name = engine.coreName;
    byId("version").textContent = `dpscope ${said.version} (${said.go})`;
    engine.fileInfo(name).then((file) => {
      if (!file || name !== engine.coreName) return;
      byId("core-hash").textContent = `${name.replace(".wasm", "")} ${file.sha256.slice(0, 12)}`;
      byId("core-hash").title = `SHA-256 of ${name}: ${file.sha256}`;
    });
    engine.fileInfo(LARGER).then((file) => this.#on.offer(engine.larger || !this.catalogue ? "" : `The larger core${file ? ` (${size(file.brotli)})` : ""}`));
  }

  /** Where a core runs and has nothing to do, what waits for that is done. */
  free() {
    if (!this.#engine.ready || this.#on.busy() || this.loading) return;
    status(this.#on.idle());
    if (this.#on.state() === "loading") this.#on.setState("ready");
    for (const job of [...this.#afterwards]) {
      this.#afterwards.delete(job);
      job();
    }
  }

  /** Does a job once when a core is free. */
  later(job) { this.#afterwards.add(job); }

  #failed(title, text, retry) {
    this.#on.fell();
    status("The core is not running.");
    this.#on.setState("failed");
    notify({ key: "core", kind: "error", title, text: [text, "Settings and result are still here."], action: { label: "Start it again", run: retry } });
  }

  /** The core crashed. */
  died(reason) { this.#failed("The core crashed", reason, () => this.restart()); }

  restart() {
    this.#on.setState("loading");
    status("Starting the core again…");
    this.#engine.restart().then((said) => {
      this.#ready(said);
      this.free();
      return this.#on.check();
    }).catch((error) => this.#failed("The core did not start", error.message, () => this.boot()));
  }

  // Larger cores

  /**
   * Sees to it that a larger core runs; however often it is asked for, it comes
   * once. Not during a run.
   * @param {string} reason what needs it
   * @param {() => void} retry asks for it again
   * @returns {Promise<boolean>} whether it runs
   */
  larger(reason, retry) {
    if (this.#engine.has(coreOf(reason, this.catalogue))) return Promise.resolve(true);
    const before = this.loading;
    this.loading ??= this.#bring(reason, retry).finally(() => {
      this.loading = null;
      this.free();
    });
    // What comes already may not be enough.
    return before ? before.then((there) => there && this.larger(reason, retry)) : this.loading;
  }

  async #bring(reason, retry) {
    for (const key of ["core", "settings", "address", "stop"]) dismiss(key);
    this.#on.setState("loading");
    const doing = `Loading the larger core for ${reason}`;
    status(`${doing}…`);
    say(doing);
    try {
      const core = await this.#download(coreOf(reason, this.catalogue), doing);
      status("Starting the larger core…");
      this.#ready(await this.#engine.start(core));
      dismiss("core");
      this.#on.setState("loading"); // the old one may have crashed meanwhile
      say("The larger core is running");
      return true;
    } catch (error) {
      if (this.#engine.ready) this.#notLoaded(error, reason, retry);
      else this.#failed("The larger core did not start", error.message, () => this.boot());
      return false;
    }
  }

  #notLoaded(error, reason, retry) {
    this.#declined = reason;
    const action = {
      label: "Load it",
      run: () => {
        this.forgive();
        retry();
      },
    };
    const without = `It is needed for ${reason}. Everything else works; settings and result are still here.`;
    if (error.name === "AbortError") {
      notify({ key: "core", kind: "info", title: "Loading of the larger core was stopped", text: without, action });
      say("Loading was stopped");
    } else notify({ key: "core", kind: "error", title: "The larger core was not loaded", text: [error.message, without], action });
  }

  /** Was a larger core last refused for this reason? */
  declined(reason) { return this.#declined === reason; }

  /** Lets what was refused be asked for again. */
  forgive() { this.#declined = undefined; }

  /** Can a download be stopped? */
  get stoppable() { return this.#stopper !== null; }

  /** Stops it. */
  stop() { this.#stopper.abort(); }

  /** What of some settings the core that runs cannot do, but a larger one can. */
  missing(settings) { return lacking((name) => name === FIRST || this.#engine.has(name), this.catalogue, settings); }

  /** Asks the core; once more if the larger one took its place meanwhile. */
  async ask(request) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof Ended) || !this.loading) throw error;
      await this.loading;
      return request();
    }
  }
}
