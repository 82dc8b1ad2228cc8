// MicroPython for the sandbox: a classic script, which leaves one function.
import { loadMicroPython } from "@micropython/micropython-webassembly-pyscript/micropython.mjs";
import { given, pythonOf } from "./python.js";

const HEAP = 4 * 2 ** 20; // bytes at its start; it grows
const STACK = 2 ** 16; // bytes of Python's calls

/** @type {any} */ (globalThis).dpscopePython = async (/** @type {{compiled: WebAssembly.Module}} */ { compiled }, by) => {
  let memory;
  const quiet = () => {}; // its print is taken away, and what it writes otherwise
  const python = await given(new Map(), compiled, ({ exports }) => { memory = Object.values(exports).find((one) => one instanceof WebAssembly.Memory); },
    () => loadMicroPython({ url: "micropython.wasm", heapsize: HEAP, pystack: STACK, stdout: quiet, stderr: quiet, linebuffer: false }));
  const get = (name) => python.globals.get(name);
  python.runPython("import sys; version = '.'.join([str(part) for part in sys.implementation.version[:3]])");
  const numbers = (place, count) => new Float64Array(memory.buffer, place, count);
  return pythonOf({
    name: `MicroPython ${get("version")}`,
    run: python.runPython,
    get,
    give: (values) => numbers(get("room")(values.length), values.length).set(values),
    take: () => numbers(get("place")(), get("length")()).slice(),
  }, by);
};
