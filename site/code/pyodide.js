// Pyodide, which is CPython, for the sandbox: a classic script, which leaves one function.
import createPyodideModule from "pyodide/pyodide.asm.mjs";
import { loadPyodide } from "pyodide/pyodide.mjs";
import { given, pythonOf } from "./python.js";

const BESIDE = "https://python.invalid/"; // where nothing is asked for

// wheels by file name; names: of the packages in them.
/** @type {any} */ (globalThis).dpscopePython = async (/** @type {{compiled: WebAssembly.Module, stdlib: ArrayBuffer, lock: string, wheels: Map<string, ArrayBuffer>, names: string[], modules: string[]}} */ { compiled, stdlib, lock, wheels, names, modules }, by) => {
  const files = new Map([["python_stdlib.zip", stdlib], ...wheels]);
  const quiet = () => {};
  const python = await given(files, compiled, quiet, async () => {
    const python = await loadPyodide(/** @type {any} */ ({
      indexURL: BESIDE, packageBaseUrl: BESIDE, lockFileContents: lock, createPyodideModule, stdout: quiet, stderr: quiet, checkIntegrity: false,
      env: { PYTHONHASHSEED: "0" }, // sets of words have one order
    }));
    if (names.length) await python.loadPackage(names, { messageCallback: quiet, errorCallback: quiet, checkIntegrity: false });
    return python;
  });
  // Large modules take a second, which is not the code's.
  for (const name of modules) python.runPython(`try:\n    __import__(${JSON.stringify(name)})\nexcept Exception:\n    pass`);
  const get = (name) => python.globals.get(name);
  return pythonOf({
    name: `Pyodide ${python.version}`,
    run: (text) => python.runPython(text),
    get,
    give(values) {
      const room = get("room")(values.length), buffer = room.getBuffer("f64");
      buffer.data.set(values);
      buffer.release();
      room.destroy();
    },
    take() {
      const out = get("out"), buffer = out.getBuffer("f64"), rows = buffer.data.slice();
      buffer.release();
      out.destroy();
      return rows;
    },
  }, by);
};
