// Python beside the sandbox's program, of which it is a part: what both interpreters
// have in common. Bytes come from the page, for nothing can be fetched here.
import glue from "./python.py";

/**
 * What an interpreter offers to `pythonOf`: its name with its version; get: a global of Python's; give: hands over the numbers of a dataset; take: a copy of those of the outputs.
 * @typedef {{name: string, run(text: string): void, get(name: string): any, give(values: Float64Array): void, take(): Float64Array}} Interpreter
 */

/**
 * Lets a loader find its files, by name, in what the page sent, and the one program that was compiled.
 * @template T
 * @param {() => Promise<T>} load
 */
export async function given(files, compiled, started, load) {
  const streaming = WebAssembly.instantiateStreaming;
  /** @type {any} */ (globalThis).fetch = async (url) => {
    const bytes = files.get(String(url).split("/").at(-1) ?? "");
    return { ok: true, status: 200, arrayBuffer: async () => bytes, url };
  };
  WebAssembly.instantiateStreaming = /** @type {any} */ (async (_, imports) => {
    const instance = await WebAssembly.instantiate(compiled, imports);
    started(instance);
    return { instance, module: compiled };
  });
  try {
    return await load();
  } finally {
    Reflect.deleteProperty(globalThis, "fetch");
    WebAssembly.instantiateStreaming = streaming;
  }
}

/**
 * The user's code in an interpreter.
 * @param {Interpreter} python
 * @param {{wrong(words: string, line?: number): Error, drawsOf(seed: number): object, printed(words: string): void}} by what the sandbox has
 */
export function pythonOf(python, by) {
  python.run(`${glue}\nreseed(0)`); // which imports what it seeds
  const [load, ask, fault, line, said] = ["load", "ask", "told", "at", "heard"].map(python.get);
  let dead = "", heard = false;
  const guarded = (go) => {
    if (dead) throw by.wrong(dead);
    try {
      return go();
    } catch (error) { // the interpreter itself: it has no memory or no stack left
      dead = `Python ended: ${error?.message ?? error}`;
      throw by.wrong(dead);
    }
  };
  const blame = () => { throw by.wrong(fault(), line()); };
  return {
    name: python.name,
    /** @param {string} code */
    load(code) {
      if (!guarded(() => load(code))) blame();
      return (values, { columns, n, seed }) => {
        const width = guarded(() => {
          python.give(values);
          return ask(columns, n, seed % 2 ** 30, Math.floor(seed / 2 ** 30), by.drawsOf(seed));
        });
        const words = heard ? null : said();
        if (typeof words === "string") {
          heard = true;
          by.printed(words);
        }
        if (!width) blame();
        return { rows: guarded(python.take), width };
      };
    },
  };
}
