// The program of a worker in the sandbox: a frame with an opaque origin and a policy
// without any way out (sandbox.html). It runs the user's code and answers the core
// through a port; messages are those of wasm/worker/user_js.go. The page ends
// all by removing the frame.

/**
 * It is sent there as text, so it may use nothing from outside. Its first message
 * has {port, code}, with {python} where the code is Python: what site/code's scripts
 * take, and {notes}, a port to the page; or {port} where the first question brings a
 * module.
 */
export function inside() {
  // The policy closes every way out. A worker that the code starts could ask before the
  // policy has reached it, so what makes another context is taken away, and what asks
  // or keeps with it.
  const { Worker } = globalThis; // for lineOf, before any of the code runs
  for (const name of ["Worker", "SharedWorker", "importScripts", "fetch", "fetchLater", "XMLHttpRequest", "WebSocket", "WebSocketStream", "EventSource", "WebTransport", "RTCPeerConnection", "FontFace", "fonts", "Notification", "BroadcastChannel", "caches", "indexedDB", "cookieStore"]) {
    for (let at = globalThis; at; at = Object.getPrototypeOf(at)) Reflect.deleteProperty(at, name);
  }

  const FILE = "mechanism.js";
  const MOST_WORDS = 500; // characters of a fault
  /**
   * The line where an error was, in the code with what Function puts above it. Safari's
   * stack leaves that code without a name, and its errors have a line of their own, of
   * the frame at the top.
   */
  function seen(error) {
    const stack = String(error?.stack), top = stack.split("\n", 1)[0];
    return Number(new RegExp(`${FILE}:(\\d+)`).exec(stack)?.[1] ?? (top.endsWith("@") ? error.line : 0));
  }
  const lines = new WeakMap(); // of faults

  onmessage = ({ data: { port, code, python, notes } }) => {
    onmessage = null;
    let call;
    const started = python && begin(python, notes).then((runs) => {
      port.postMessage({ runtime: runs.name }); // from now on the code has to answer in time
      return runs;
    });
    started?.catch(() => port.postMessage({ runtime: "Python" })); // why not, the first question's answer tells
    port.onmessage = async ({ data }) => {
      try {
        call ??= data.module ? ofModule(data.module) : started ? (await started).load(code) : await ofCode(code);
        const { rows, width } = call(new Float64Array(data.values.buffer), data);
        const bytes = new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength);
        port.postMessage({ id: data.id, bytes, width }, [rows.buffer]);
      } catch (error) {
        port.postMessage({ id: data.id, ...(refused.get(error) ?? told(error)) });
      }
    };
  };

  const refused = new WeakMap(); // what is told of a module by the error that refuses it
  const ours = new WeakSet();
  /** A fault in words of our own. */
  const wrong = (words, line = 0) => {
    const error = new Error(words);
    ours.add(error);
    lines.set(error, line);
    return error;
  };

  /** What was thrown, which may be anything, in words that can be sent and shown. */
  function told(error) {
    let words, line = 0;
    try {
      words = ours.has(error) ? error.message : error instanceof Error ? (error instanceof TypeError && meant(error.message)) || `${error.name}: ${error.message}` : `it threw ${typeof error === "string" ? error : shown(error)}`;
      line = lines.get(error) ?? 0;
    } catch {
      words ??= "it threw a value that cannot be shown";
    }
    return { fault: tame(words), line };
  }

  /** Text without what a terminal or a screen would obey, and not without end. */
  const tame = (text) => (text.length > MOST_WORDS ? `${text.slice(0, MOST_WORDS)}…` : text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ");

  function shown(value) {
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    if (typeof value === "string") return JSON.stringify(value.slice(0, MOST_WORDS));
    return typeof value === "bigint" ? `the BigInt ${value}n` : typeof value === "object" && value !== null ? `an object (${kind})` : typeof value === "function" ? "a function" : String(value);
  }

  /** An interpreter of Python, which knows no code yet. */
  async function begin({ script, failed, ...files }, notes) {
    if (failed) throw wrong(`Python did not start: ${failed}`);
    new Function(script)();
    const open = /** @type {any} */ (globalThis).dpscopePython;
    Reflect.deleteProperty(globalThis, "dpscopePython");
    try {
      return await open(files, { wrong, drawsOf, printed: (words) => notes?.postMessage({ printed: tame(words) }) });
    } catch (error) {
      throw wrong(`Python did not start: ${error?.message ?? error}`);
    }
  }

  // JavaScript

  async function ofCode(code) {
    const named = (text) => new Function(`${text}\n//# sourceURL=${FILE}`);
    let before = 0; // lines that Function puts above
    try {
      named("throw new Error()")();
    } catch (error) {
      before = seen(error) - 1;
    }
    let make;
    try {
      make = named(`${code}\n;return typeof mechanism === "undefined" ? undefined : mechanism`);
    } catch (error) {
      lines.set(error, error.lineNumber - before || await lineOf(code)); // Firefox tells it, and no worker there does
      throw error;
    }
    return (values, { columns, n, seed }) => {
      try {
        const mechanism = make(); // anew, so that nothing is left of the call before
        if (typeof mechanism !== "function") throw wrong("it defines no function mechanism(rows, random)");
        const random = randomOf(seed);
        const rows = () => {
          const dataset = [];
          for (let at = 0; at < values.length; at += columns) dataset.push([...values.subarray(at, at + columns)]);
          return dataset; // a fresh one: the code may change it
        };
        return flat(simple(mechanism) ? Array.from({ length: n }, () => mechanism(rows(), random)) : mechanism(rows(), n, random), n);
      } catch (error) {
        const line = seen(error) - before;
        if (error instanceof Error && line > 0) lines.set(error, line);
        throw error;
      }
    };
  }

  /**
   * Does a function return one output, mechanism(rows, random)? One of two parameters
   * does, unless the second is called n: such a one is asked for n outputs.
   */
  const simple = (mechanism) => mechanism.length === 2 && !/^[^(]*\([^,]*,\s*n\s*\)/.test(Function.prototype.toString.call(mechanism));

  /** The member of random that a fault in calling another one meant, in words, or nothing. */
  function meant(message) {
    const name = /\.(\w+) is not a function/.exec(message)?.[1], known = Object.keys(randomOf(0));
    if (!name || known.includes(name)) return "";
    const near = known.find((other) => distance(name, other) <= 2);
    return near ? `random has no "${name}": did you mean "${near}"?` : "";
  }

  /** How many letters have to be changed, added or taken away. */
  function distance(a, b) {
    let row = Array.from({ length: b.length + 1 }, (_, i) => i);
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + Number(a[i - 1] !== b[j - 1]));
      row = next;
    }
    return row[b.length];
  }

  /** The line of a syntax error: only a script of its own tells. It ends before the code. */
  function lineOf(code) {
    return new Promise((resolve) => {
      const worker = new Worker(URL.createObjectURL(new Blob(["throw 0;\n", code])));
      const end = (line) => {
        worker.terminate();
        resolve(Math.max(0, line - 1));
      };
      worker.onerror = (event) => {
        event.preventDefault();
        end(event.lineno);
      };
      setTimeout(end, 1000, 0);
    });
  }

  /** n outputs as numbers in a row. */
  function flat(outputs, n) {
    const isList = (x) => Array.isArray(x) || (ArrayBuffer.isView(x) && !(x instanceof DataView));
    if (outputs instanceof Promise) throw wrong("mechanism returned a promise, must return an array of outputs: it must not be async");
    if (!isList(outputs)) throw wrong(`mechanism returned ${shown(outputs)}, must return an array of outputs`);
    if (outputs.length !== n) throw wrong(`mechanism returned ${outputs.length} outputs, must return n = ${n}`);
    const several = isList(outputs[0]), width = several ? outputs[0].length : 1;
    const rows = new Float64Array(n * width);
    for (let i = 0; i < n; i++) {
      const output = several ? outputs[i] : [outputs[i]];
      if (!isList(output) || output.length !== width || !width) throw wrong(`output ${i + 1} is not ${width ? `an array of ${width} numbers` : "a number"}, as the first is`);
      for (let k = 0; k < width; k++) {
        const value = output[k];
        if (typeof value === "bigint") throw wrong(`output ${i + 1} is the BigInt ${String(value).slice(0, 40)}n, must be a finite number: up to 2^53 Number(x); a larger one as two columns, its high and its low part`);
        if (typeof value !== "number" || !Number.isFinite(value)) throw wrong(`output ${i + 1} is ${shown(value)}, must be a finite number`);
        rows[i * width + k] = value;
      }
    }
    return { rows, width };
  }

  /**
   * The numbers of which a source of randomness is made: sfc32, with the seed in a and
   * b, 0x9e3779b9 in c, and 16 words passed over. The logarithm is stream's, with the same bits in
   * every browser.
   */
  function drawsOf(seed) {
    let a = seed | 0, b = (seed / 2 ** 32) | 0, c = 0x9e3779b9 | 0, count = 1;
    const next = () => {
      const t = (((a + b) | 0) + count) | 0;
      count = (count + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = ((c << 21) | (c >>> 11)) + t | 0;
      return t >>> 0;
    };
    for (let i = 0; i < 16; i++) next();
    const uniform = () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) * 2 ** -53;
    const view = new DataView(new ArrayBuffer(8));
    const log = (x) => {
      view.setFloat64(0, x);
      const high = view.getUint32(0) + 0x95f62;
      const k = (high >>> 20) - 1023;
      view.setUint32(0, (high & 0xfffff) + 0x3fe6a09e);
      const f = view.getFloat64(0) - 1, s = f / (2 + f), z = s * s, w = z * z, h = 0.5 * f * f;
      const r = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))) +
        w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
      return s * (h + r) + k * 1.90821492927058770002e-10 - h + f + k * 6.93147180369123816490e-01;
    };
    const exponential = () => 0 - log(1 - uniform());
    let of = 0;
    return {
      uniform,
      exponential,
      laplace() {
        const x = exponential();
        return next() & 1 ? x : 0 - x;
      },
      /** The first of two factors of a Gaussian number; root is the other. */
      polar() {
        for (;;) {
          const x = 2 * uniform() - 1, y = 2 * uniform() - 1, s = x * x + y * y;
          if (s >= 1 || s <= 0) continue;
          of = Math.sqrt((-2 * log(s)) / s);
          return x;
        }
      },
      root: () => of,
    };
  }

  function randomOf(seed) {
    const { uniform, exponential, laplace, polar, root } = drawsOf(seed);
    const gaussian = (sigma) => sigma * polar() * root();
    return Object.freeze({
      uniform,
      integer: (m) => Math.floor(uniform() * m),
      laplace: (scale) => scale * laplace(),
      gaussian,
      normal: gaussian,
      exponential: (scale) => scale * exponential(),
      choice: (list) => list[Math.floor(uniform() * list.length)],
    });
  }

  // WebAssembly, as mechanisms/user/module does it

  const letters = (word) => Array.from(word, (letter) => letter.charCodeAt(0));

  const MOST_MEMORY = 4096 * 2 ** 16;
  /**
   * A module that imports memory, alloc, sample and width of the types that docs/abi.md
   * says, so that linking it to the exports of another one is checking them.
   */
  const WANTED = Uint8Array.of(
    0, 97, 115, 109, 1, 0, 0, 0,
    1, 20, 3, 96, 1, 127, 1, 127, 96, 6, 126, 127, 127, 127, 127, 127, 1, 127, 96, 0, 1, 127,
    2, 44, 4, 1, 109, 6, ...letters("memory"), 2, 0, 0, 1, 109, 5, ...letters("alloc"), 0, 0, 1, 109, 6, ...letters("sample"), 0, 1, 1, 109, 5, ...letters("width"), 0, 2,
  );

  /** An error that refuses a module, which is no outcome of a run. */
  function refuse(what) {
    const error = new Error("refused");
    refused.set(error, what);
    return error;
  }

  function ofModule(module) {
    let compiled;
    try {
      compiled = new WebAssembly.Module(module);
    } catch (error) {
      throw refuse({ invalid: tame(`it is not valid: ${error.message}`) });
    }
    const imports = WebAssembly.Module.imports(compiled).map(({ module: from, name }) => `${from}.${name}`);
    if (imports.length) throw refuse({ imports });
    const lacks = ["memory", "alloc", "sample", "width"].find((name) => !WebAssembly.Module.exports(compiled).some((e) => e.name === name));
    if (lacks) throw refuse({ invalid: `export ${lacks} is missing` });
    const wanted = new WebAssembly.Module(WANTED);
    const small = ({ memory: { buffer } }) => {
      if (buffer.byteLength > MOST_MEMORY) throw refuse({ invalid: `its memory is of ${buffer.byteLength} bytes, must be of at most ${MOST_MEMORY}` });
    };
    return (values, { columns, n, seed }) => {
      let doing = "its start";
      try {
        const exports = /** @type {any} */ (new WebAssembly.Instance(compiled).exports), rows = values.length / columns;
        new WebAssembly.Instance(wanted, { m: exports });
        small(exports);
        const does = (name, ...args) => exports[doing = name](...args);
        if (exports._initialize) does("_initialize");
        const width = does("width");
        if (width < 1 || width > 1000) throw wrong(`numbers of one output is ${width}, must be in [1, 1000]`);
        const alloc = (bytes, given, size) => {
          const at = does("alloc", Math.max(8, bytes)) >>> 0, have = exports.memory.buffer.byteLength;
          if (at === 0 || at % 8 || at + bytes > have || (at < given + size && at + bytes > given)) {
            throw wrong(`alloc is the address ${at} for ${bytes} bytes, in a memory of ${have}, must be a multiple of 8 and not 0, inside the memory and apart from earlier blocks`);
          }
          return at;
        };
        const dataset = alloc(8 * values.length, 0, 0), out = alloc(8 * n * width, dataset, 8 * values.length);
        new Float64Array(exports.memory.buffer, dataset, values.length).set(values);
        const code = does("sample", BigInt(seed), dataset, rows, columns, n, out), { buffer } = exports.memory;
        small(exports);
        if (code !== 0) throw wrong(`sample is the error code ${code}, for ${rows} rows of ${columns} columns; the module defines its meaning; check that the domain is what the module expects`);
        return { rows: new Float64Array(buffer, out, n * width).slice(), width };
      } catch (error) {
        if (ours.has(error) || refused.has(error)) throw error;
        if (error instanceof WebAssembly.LinkError) throw refuse({ invalid: tame(`an export has the wrong type: ${error.message}`) });
        throw wrong(`${doing} is ended by a trap: ${error.message}`);
      }
    };
  }
}
