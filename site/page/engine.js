// The core, seen from the page: one compiled module, a coordinator and task
// workers, requests with ids. The messages are those of protocol.d.ts.
import { moduleOf, startWorker } from "./corefile.js";
import { fetched } from "./element.js";

/** The core's file. */
export const CORE = "core.wasm";

const SAY_STOPPING = 500; // ms after a stop without an answer
const END_UNSTOPPED = 30_000; // then all workers are ended
/** How long (ms) what nobody waits for any more may hold up what comes after it. */
export const REPLACE_AFTER = 2000;
/** What late says to who stops something. */
export const STOPPING = "Stopping; Stop again ends it";
const DEATHS_AT_START = 3; // of one task worker, before it is given up

/** The core refused a request. */
export class Refused extends Error {
  /** @param {import("../worker/protocol").Refusal} refusal */
  constructor(refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

let buildInfo = null; // asked for once

/** The core ended, or was ended, with the request unanswered. */
export class Ended extends Error {
  constructor(reason, stopped = false) {
    super(reason);
    this.stopped = stopped; // on the user's wish
  }
}

export class Engine {
  /** Promise of a core that runs. @type {Promise<void>} */
  running;
  #runs; // resolves it
  /** Task workers by number. */
  workers = [];
  /** @type {import("../worker/protocol").ReadyValue | null} */
  ready = null;
  /** The core that runs, or ran last. @type {WebAssembly.Module | null} */
  module = null;
  #coordinator = null;
  #held; // the text of the report that the coordinator answered with last, which it can draw
  #pending = new Map();
  #last = 0;
  #size = 1;
  #starting = null;
  #ends = 0;
  #on;
  #options;

  /**
   * @param {{lost(worker: number, reason: string): void, died(reason: string): void}} on
   * @param {{hangAfterMs?: number, role?: string, bring?: () => {json: string, port: MessagePort}, table?: () => {json: string, text: Uint8Array}}} options hangAfterMs: for tests;
   *   role: of the coordinator; bring: the user's mechanism, with a port to its sandbox, for each worker anew; table: the user's, which learners are over
   */
  constructor(on, options = {}) {
    this.#on = on;
    this.#options = options;
    this.#wait();
  }

  /** build-info.json, or null where a server has none. @returns {Promise<import("../worker/files").BuildInfo | null>} */
  async info() { return buildInfo ??= await fetched("build-info.json").then((answer) => answer.json()).catch(() => null); }

  /** What it says of a file. */
  async fileInfo(name) { return (await this.info())?.files.find((file) => file.name === name); }

  /** catalogue.json. Throws an Error in words for the user. @returns {Promise<import("../worker/files").FullCatalogue>} */
  async catalogue() { return (await fetched("catalogue.json")).json(); }

  /** Fetches and compiles the core. Throws an Error in words for the user. @param {import("./corefile.js").Options} options */
  async load({ building, progress }) {
    let waited = false;
    const module = await moduleOf(CORE, { progress, building(words) {
      waited = true;
      building(words);
    } });
    if (waited) buildInfo = null; // it knew of no core
    return module;
  }

  /** Ends what runs; starts the coordinator and `size` task workers of a core. @param {WebAssembly.Module} module */
  async start(module, size = this.#size) {
    this.end("the workers were restarted");
    this.module = module;
    this.#size = size;
    const ends = this.#ends;
    const info = await this.fileInfo(CORE);
    if (ends !== this.#ends) throw new Ended("Stopped.", true);
    const { role = "coordinator", hangAfterMs } = this.#options;
    this.#coordinator = this.#spawn({ role, worker: 0, hangAfterMs, coreSha256: info?.sha256 }, (reason) => this.#died(reason));
    this.#starting = Promise.withResolvers();
    this.#coordinator.onmessage = ({ data }) => this.#hear(data);
    const ready = this.#starting.promise;
    for (let n = 0; n < size; n++) this.#attach(n, 0);
    return ready;
  }

  /** Makes it `size` task workers. Not during a run. */
  resize(size) {
    this.#size = size;
    if (!this.#coordinator) return;
    while (this.workers.length > size) {
      const n = this.workers.length - 1;
      this.#post({ type: "detach", worker: n });
      this.workers.pop().terminate();
    }
    for (let n = this.workers.length; n < size; n++) this.#attach(n, 0);
  }

  /** Ends task worker n, tells the coordinator, and attaches a fresh one. */
  endWorker(n, reason = "ended by the page") { this.#replace(n, reason, true, 0); }

  /**
   * Asks the coordinator.
   * @template {keyof import("../worker/protocol").Calls} T
   * @param {T} type
   * @param {import("../worker/protocol").Calls[T]["sends"]} value a string goes as it is
   * @param {(so: any) => void} [progress] hears what the call tells
   * @param {File[]} [files] of the user's
   * @returns {{id: number, answer: Promise<import("../worker/protocol").Calls[T]["answer"]>}}
   */
  ask(type, value, progress, files) {
    const id = ++this.#last, { promise: answer, resolve, reject } = Promise.withResolvers();
    if (this.#coordinator) this.#pending.set(id, { resolve, reject, progress });
    else reject(new Ended("the core is not running"));
    this.#post({ type, id, json: typeof value === "string" ? value : JSON.stringify(value), files });
    return { id, answer };
  }

  /** @param {import("../worker/protocol").PictureRequest} request @returns {Promise<import("../worker/protocol").PictureValue>} */
  picture(request) {
    return this.ask("picture", request.of === "report" && request.text === this.#held ? { ...request, text: "" } : request).answer;
  }

  /**
   * Stops what runs; its answer arrives as ever, and late is called when it takes its time. When none
   * comes within patience (ms) or before endNow, the request fails, and unstopped is called: all is to
   * be started anew.
   */
  stop(id, late, unstopped, patience = END_UNSTOPPED) {
    const request = this.#pending.get(id);
    if (!request || request.timers) return;
    this.#post({ type: "stop", id });
    const end = () => {
      this.#settle(id)?.reject(new Ended("The core did not answer and its workers were ended.", true));
      unstopped();
    };
    const say = () => {
      request.end = end;
      late();
    };
    request.timers = [setTimeout(say, SAY_STOPPING), setTimeout(end, patience)];
  }

  /** Ends what was stopped and takes its time. */
  endNow(id) { this.#pending.get(id)?.end?.(); }

  #answered(id, value) {
    if (value.report === null && value.text) value.report = JSON.parse(value.text); // it goes over once
    if (value.report?.kind === "pair") this.#held = value.text;
    this.#settle(id)?.resolve(value);
  }

  /** Takes a request from the pending ones. */
  #settle(id) {
    const request = this.#pending.get(id);
    this.#pending.delete(id);
    request?.timers?.forEach(clearTimeout);
    return request;
  }

  /** A message from the coordinator. @param {import("../worker/protocol").FromCoordinator} message */
  #hear(message) {
    if (message.type === "progress") this.#pending.get(message.id)?.progress?.(JSON.parse(message.json));
    else if (message.type === "refused") this.#settle(message.id)?.reject(new Refused(JSON.parse(message.json)));
    else if (message.type === "answer") this.#answered(message.id, JSON.parse(message.json));
    else if (message.type === "replace") this.#replace(message.worker, message.reason, false, 0); // the coordinator knows already
    else if (message.type === "dead") this.#died(message.reason);
    else if (message.type === "ready") {
      this.ready = JSON.parse(message.json);
      this.#starting?.resolve(this.ready);
      this.#runs();
      this.#starting = null;
    }
  }

  #wait() { this.running = new Promise((resolve) => { this.#runs = resolve; }); }

  /** @param {import("../worker/protocol").ToCoordinator} message @param {Transferable[]} [transfer] */
  #post(message, transfer = []) { this.#coordinator?.postMessage(message, transfer); }

  #spawn(start, die) {
    const worker = startWorker(die);
    const brought = this.#options.bring?.();
    worker.postMessage({ type: "start", module: this.module, ...start, brought, table: this.#options.table?.() }, brought ? [brought.port] : []);
    return worker;
  }

  /** Starts task worker n and connects it to the coordinator. */
  #attach(n, deaths) {
    let lived = false;
    const die = (reason) => {
      if (this.workers[n] === worker) this.#replace(n, reason, true, lived ? 0 : deaths + 1);
    };
    const worker = this.workers[n] = this.#spawn({ role: "task", worker: n }, die);
    worker.onmessage = ({ data }) => {
      if (data.type === "ready") lived = true;
      if (data.type === "dead") die(data.reason);
    };
    const { port1, port2 } = new MessageChannel();
    this.#post({ type: "attach", worker: n, port: port1 }, [port1]);
    worker.postMessage({ type: "serve", port: port2 }, [port2]);
  }

  #replace(n, reason, tell, deaths) {
    if (!this.workers[n]) return;
    this.workers[n].terminate();
    if (tell) this.#post({ type: "lost", worker: n, reason });
    this.#on.lost(n, reason);
    if (deaths < DEATHS_AT_START) this.#attach(n, deaths);
  }

  #died(reason) {
    this.end(reason);
    this.#on.died(reason);
  }

  /** Ends all workers; what is pending fails. */
  end(reason) {
    this.#ends++;
    this.#coordinator?.terminate();
    this.#held = undefined;
    this.#coordinator = null;
    if (this.ready) this.#wait();
    this.ready = null;
    for (const worker of this.workers.splice(0)) worker.terminate();
    for (const id of [...this.#pending.keys()]) this.#settle(id).reject(new Ended(reason));
    this.#starting?.reject(new Ended(reason));
    this.#starting = null;
  }
}
