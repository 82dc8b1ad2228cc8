// A core's file: fetched here and compiled in a worker, because compiling some ten
// megabytes would hold up the page.
import { beside, fetched } from "./element.js";

const ASK_AGAIN = 500; // ms, for a file that is still being built

/** @typedef {{progress?: (bytes: number) => void, building?: (words: string) => void}} Options progress: how much has come, unpacked; building: the server still builds it */

/** Fetches and compiles a core. Throws an Error in words for the user. @param {string} name @param {Options} options */
export async function moduleOf(name, { progress, building } = {}) {
  if (typeof WebAssembly !== "object") throw new Error("This browser has no WebAssembly, or it is switched off.");
  const { promise: module, resolve, reject } = Promise.withResolvers();
  module.catch(() => {}); // told where it is waited for
  const compiler = startWorker((reason) => reject(new Error(reason))); // comes up while the file comes
  compiler.onmessage = ({ data }) => {
    if (data.module) resolve(data.module);
    else if (data.forbidden) reject(new Error("The server's content security policy forbids WebAssembly. It must send the header Content-Security-Policy with script-src 'self' 'wasm-unsafe-eval'."));
    else reject(new Error(`${name} is not a WebAssembly module that this browser can run (${data.reason}).`));
  };
  try {
    let answer = await fetched(name);
    while (answer.headers.has("dpscope-building")) { // of dpscope serve
      building?.((await answer.text()).trim());
      await new Promise((again) => { setTimeout(again, ASK_AGAIN); });
      answer = await fetched(name);
    }
    return await Promise.race([module, send(name, answer, compiler, progress).then(() => module)]);
  } finally {
    compiler.terminate();
  }
}

/** Hands the bytes on as they come. */
async function send(name, answer, compiler, progress) {
  const reader = answer.body.getReader();
  try {
    for (let bytes = 0, part; !(part = await reader.read()).done;) {
      progress?.(bytes += part.value.length);
      compiler.postMessage({ type: "compile", part: part.value }, [part.value.buffer]);
    }
  } catch (error) {
    throw new Error(`${name} was loaded only in part (${error.message}).`);
  }
  compiler.postMessage({ type: "compile" });
}

/** Starts a worker of the site. @param {(reason: string) => void} failed hears of a fault in it */
export function startWorker(failed) {
  const worker = new Worker(beside("worker.js"));
  worker.onerror = (event) => {
    event.preventDefault();
    failed(event.message || "worker.js could not be loaded");
  };
  return worker;
}
