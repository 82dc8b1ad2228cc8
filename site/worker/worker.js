// The shell of every web worker: compiles a core for the page, or instantiates one,
// hands messages on to it, and tells the page when it has ended. The contract
// is in protocol.d.ts; wasm_exec.js is that of the Go that built the core.
import "wasm_exec.js";

const waiting = []; // messages that came before Go listened
let handle = null; // Go's handler
let started = false;
let dead = false;

// What Go printed, from its beginning: it prints only of a panic, first its
// message and then where it happened.
const MOST_PRINTED = 2000;
let printed = "";
const decoder = new TextDecoder();
globalThis.fs.writeSync = (fd, bytes) => {
  if (printed.length < MOST_PRINTED) printed += decoder.decode(bytes);
  return bytes.length;
};

function die(reason) {
  if (dead) return;
  dead = true;
  handle = null;
  const said = printed.slice(0, MOST_PRINTED).trim();
  postMessage({ type: "dead", reason: said ? `${reason}: ${said}` : reason });
}

async function start(message) {
  const go = new globalThis.Go();
  let code = 0;
  go.exit = (c) => { code = c; };
  globalThis.dpscopeShell = {
    options: message,
    listen(handler) {
      handle = handler;
      for (const m of waiting.splice(0)) handle(m);
    },
  };
  const instance = await WebAssembly.instantiate(message.module, go.importObject);
  await go.run(instance);
  die(`the core ended with code ${code}`);
}

let parts = null; // takes the bytes of a core

/** Does the server's policy let any WebAssembly run? The smallest module that there is says so. */
function runsAny() {
  try {
    return Boolean(new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)));
  } catch {
    return false;
  }
}

/** Compiles a core as its bytes come, and ends with what came of it. @param {Uint8Array | undefined} part the next; undefined: there are no more */
function compile(part) {
  if (!parts) {
    const body = new ReadableStream({ start(controller) { parts = controller; } });
    WebAssembly.compileStreaming(new Response(body, { headers: { "content-type": "application/wasm" } }))
      .then((module) => postMessage({ type: "compiled", module }), (error) => postMessage({ type: "compiled", reason: error.message, forbidden: !runsAny() }));
  }
  if (part) parts.enqueue(part);
  else parts.close();
}

self.onmessage = ({ data }) => {
  if (dead) return;
  if (data?.type === "compile") {
    compile(data.part);
  } else if (!started) {
    if (!data || data.type !== "start") return;
    started = true;
    start(data).catch((error) => die(`the core did not start: ${error}`));
  } else if (handle) {
    handle(data);
  } else {
    waiting.push(data);
  }
};

// A trap of the core (memory, stack) surfaces where the event that ran it did.
self.addEventListener("error", (event) => {
  event.preventDefault(); // told by die
  die(`the core failed: ${event.message}`);
});
self.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  die(`the core failed: ${event.reason}`);
});
