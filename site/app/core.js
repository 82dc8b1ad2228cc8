// The page's core: how it comes, and its start after a crash.
import { byId } from "../page/element.js";
import { defaultWorkers } from "../page/form.js";
import { dismiss, notify } from "../page/notice.js";
import { size } from "../page/number.js";
import { CORE } from "../page/engine.js";

export const status = (text) => { byId("status").textContent = text; };

export class Core {
  /** @type {import("../worker/files").FullCatalogue | null} what it knows; there before it */
  catalogue = null;
  #page;
  #on;

  /**
   * @param {import("./runs.js").Parts} page
   * @param {{busy(): boolean, listed(): void, begun(): Promise<void>, fell(why: string): void, idle(): string}} on
   *   busy: whether a request needs the workers; listed: the catalogue is there; begun: the core runs for the first time; fell: it does not run any more, with what was under way;
   *   idle: what is said while nothing is under way
   */
  constructor(page, on) {
    this.#page = page;
    this.#on = on;
  }

  get #engine() { return this.#page.engine; }
  get #loading() { return document.body.dataset.state === "loading"; }

  async boot(workers = defaultWorkers()) {
    dismiss("core");
    this.#page.setState("loading");
    const engine = this.#engine;
    engine.info().then((info) => {
      if (info) byId("version").textContent = `dpscope ${info.version} (${info.go})`;
    });
    try {
      const coming = this.#download();
      coming.catch(() => {}); // told below
      if (!this.catalogue) {
        this.catalogue = await engine.catalogue();
        this.#on.listed();
      }
      this.#started(await engine.start(await coming, workers));
      await this.#on.begun();
      this.free();
    } catch (error) {
      this.#failed("The core did not start", error.message, () => this.boot(workers));
    }
  }

  /** Fetches the core and says in the status how far it is. @returns {Promise<WebAssembly.Module>} */
  #download() {
    let file, shown;
    const tell = (text) => {
      if (text !== shown && this.#loading) status(shown = text);
    };
    tell("Loading the core…");
    this.#engine.fileInfo(CORE).then((found) => { file = found; });
    return this.#engine.load({
      progress: (bytes) => tell(file ? `Loading the core, ${size(file.brotli)}… ${Math.floor((100 * bytes) / file.bytes)} %` : "Loading the core…"),
      building: tell,
    });
  }

  #started({ version, go }) {
    byId("version").textContent = `dpscope ${version} (${go})`;
    this.#engine.fileInfo(CORE).then((file) => {
      if (!file) return;
      byId("core-hash").textContent = `core ${file.sha256.slice(0, 12)}`;
      byId("core-hash").title = `SHA-256 of ${CORE}: ${file.sha256}`;
    });
  }

  /** Says so where the core runs and has nothing to do. */
  free() {
    if (!this.#engine.ready || this.#on.busy()) return;
    status(this.#on.idle());
    if (this.#loading) this.#page.setState("ready");
  }

  #failed(title, text, retry) {
    this.#on.fell(text);
    status("The core is not running.");
    this.#page.setState("failed");
    notify({ key: "core", kind: "error", title, text: [text, "Settings and result are still here."], action: { label: "Start it again", run: retry } });
  }

  died(reason) { this.#failed("The core crashed", reason, () => this.restart()); }

  restart() {
    this.#page.setState("loading");
    status("Starting the core again…");
    this.#engine.start(this.#engine.module).then((said) => {
      this.#started(said);
      this.free();
      return this.#page.settings.check();
    }).catch((error) => this.#failed("The core did not start", error.message, () => this.boot()));
  }
}
