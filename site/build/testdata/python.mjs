// Run by TestPython. FOLDER has the files of Python and the sandbox's program; RUNTIME
// names the interpreter.
import assert from "node:assert";
import { readFileSync } from "node:fs";
const { FOLDER, RUNTIME } = process.env, micropython = RUNTIME === "micropython";
const { inside } = await import(FOLDER + "/sandboxed.mjs");
const { MICRO, needsOf, wheelsOf } = await import(FOLDER + "/python.mjs");
const { exit } = process;
// As in a worker of a browser.
globalThis.WorkerGlobalScope = Object;
globalThis.self = globalThis;
globalThis.location = new URL("blob:null/");
Reflect.deleteProperty(globalThis, "process");

const text = (name) => readFileSync(FOLDER + "/" + name, "utf8");
const compiled = await WebAssembly.compile(readFileSync(FOLDER + (micropython ? "/micropython.wasm" : "/pyodide.asm.wasm")));
const files = () => ({ script: text(RUNTIME + ".js"), compiled, ...(!micropython && { stdlib: readFileSync(FOLDER + "/python_stdlib.zip"), lock: text("pyodide-lock.json"), wheels: new Map(), names: [], modules: ["json"] }) });

// Pyodide takes a second to start, so one serves most of the test.
const shared = {};
let kept = null;
globalThis.another = (open) => async (files, by) => {
  Object.assign(shared, by);
  return kept ??= open(files, shared);
};
const again = () => (micropython ? files() : { ...(kept ? {} : files()), script: kept ? "globalThis.dpscopePython = globalThis.another()" : text("pyodide.js") + "\n;globalThis.dpscopePython = globalThis.another(globalThis.dpscopePython)" });

/** A worker with the code: a function that asks it. */
function begin(code, python = again()) {
  const port = { postMessage: (message) => heard(message) }, notes = [];
  let heard, name, id = 0;
  globalThis.onmessage = null;
  inside();
  heard = ({ runtime }) => { name = runtime; };
  globalThis.onmessage({ data: { port, code, python, notes: { postMessage: (note) => notes.push(note) } } });
  const ask = (n, seed, rows = [1, 1], columns = 1) => new Promise((resolve) => {
    id++;
    heard = (message) => (message.runtime ? name = message.runtime : message.id === id && resolve(message));
    port.onmessage({ data: { id, values: new Uint8Array(Float64Array.from(rows).buffer), columns, n, seed } });
  });
  return { ask, notes, name: () => name };
}

const javascript = (code, ...of) => begin(code, null).ask(...of);
const numbers = ({ bytes, width, fault }) => {
  assert.equal(fault, undefined);
  return [[...new Float64Array(bytes.buffer)], width];
};

// The same draws as in JavaScript, to the bit; in both forms; anew in each call.
const draws = ["laplace(2)", "gaussian(3)", "normal(0.5)", "exponential(7)", "uniform()", "integer(10)", "integer(2 ** 40)", "choice([3, 4, 5])", "laplace(2 ** 60)"];
const list = draws.map((draw) => `random.${draw}`).join(", ");
const wanted = numbers(await javascript(`function mechanism(rows, random) { return [rows.length, ${list}]; }`, 300, 2 ** 52 + 12345));
const each = begin(`def mechanism(rows, random):\n    rows.append(0)\n    return [len(rows) - 1, ${list}]\n`);
const got = await each.ask(300, 2 ** 52 + 12345);
assert.equal(got.fault, undefined);
assert.match(each.name(), micropython ? /^MicroPython 1\.\d+\.\d+$/ : /^Pyodide \d+\.\d+\.\d+$/);
assert.deepEqual(numbers(got), wanted);
assert.deepEqual(numbers(await each.ask(300, 2 ** 52 + 12345)), wanted); // again
assert.notDeepEqual(numbers(await each.ask(300, 5)), wanted);
const batch = begin(`from array import array\ndef mechanism(dataset, n, random):\n    return array("d", [len(dataset) + random.laplace(2) for _ in range(n)])\n`);
assert.deepEqual(numbers(await batch.ask(50, 3, [])), numbers(await javascript("function mechanism(d, n, random) { return Array.from({length: n}, () => d.length + random.laplace(2)); }", 50, 3, [])));
assert.deepEqual(numbers(await batch.ask(2, 3, [1, 2, 3, 4], 2)), numbers(await javascript("function mechanism(d, n, random) { return Array.from({length: n}, () => d.length + random.laplace(2)); }", 2, 3, [1, 2, 3, 4], 2)));
const forms = [
  ["def mechanism(\n    rows: list,  # one, two\n    random=None,\n) -> float:\n    return rows[1][0]", [[4, 4], 1]],
  ["def mechanism(dataset, n):\n    return [True, False]", [[1, 0], 1]],
  ["def mechanism(dataset, n, random):\n    return ((1, 2.5), [False, 2**53])", [[1, 2.5, 0, 2 ** 53], 2]],
  ["mechanism = lambda rows, random: [rows[0][0]]", [[1, 1], 1]],
  ["class Noisy:\n    def __call__(self, rows, random):\n        return sum(value for row in rows for value in row)\nmechanism = Noisy()", [[5, 5], 1]],
  ["calls = 0\ndef mechanism(rows, random):\n    global calls\n    calls += 1\n    return calls", [[1, 2], 1]],
];
for (const [code, want] of forms) {
  const { ask } = begin(code);
  for (const again of [0, 1]) assert.deepEqual(numbers(await ask(2, 1 + again, [1, 4])), want, code);
}
// Python's own random is seeded, and hashes are.
const own = `import random as r${micropython ? "" : ", secrets"}\ndef mechanism(rows, random):\n    return [r.random(), ${micropython ? "r.randint(0, 10**6)" : "secrets.randbelow(10**6)"}, hash('word') % 1000]`;
const first = numbers(await begin(own).ask(5, 77)), other = numbers(await begin(own).ask(5, 78));
assert.deepEqual(numbers(await begin(own).ask(5, 77)), first);
assert.notDeepEqual(first[0].slice(0, 2), other[0].slice(0, 2));
assert.equal(first[0][2], other[0][2]);

const others = []; // than what is wanted
const def = (body, of = "rows, random") => `def mechanism(${of}):\n${body.split("\n").map((line) => "    " + line).join("\n")}\n`;
for (const [name, code, line, ...says] of [
  ["syntax", "\ndef mechanism(rows, random):\n    return [;\n", 3, "SyntaxError: invalid syntax"],
  ["indentation", "def mechanism(rows, random):\nreturn 1\n", 2, "SyntaxError: invalid syntax", "IndentationError: expected an indented block"],
  ["a name", def("x = 1\nreturn nothing(x)"), 3, "NameError: name 'nothing' isn't defined", "NameError: name 'nothing' is not defined"],
  ["in a function that it calls", "def noise(scale):\n    return scale / 0\n" + def("return noise(1)"), 2, "ZeroDivisionError: div"],
  ["at the top", "x = 1\nx.y()\n", 2, "AttributeError: 'int' object has no attribute 'y'"],
  ["misspelt", def("return random.laplce(1)"), 2, 'random has no "laplce": did you mean "laplace"?'],
  ["a member that there is not", def("return random.cauchy(1)"), 2, 'random has no "cauchy": it has uniform, integer, laplace'],
  ["too many arguments", def("return random.uniform(0, 1)"), 2, "takes 0 positional arguments but 2 were given"],
  ["no function", "x = 1", 0, "it defines no function mechanism(rows, random)"],
  ["empty", "", 0, "it defines no function mechanism(rows, random)"],
  ["None", def("pass"), 0, "output 1 is None, must be a finite number"],
  ["no list", def("return 1", "dataset, n, random"), 0, "mechanism returned 1, must return a list of n = 4 outputs"],
  ["words for a list", def("return 'abcd'", "dataset, n, random"), 0, 'mechanism returned "abcd", must return a list'],
  ["a generator", def("return (1 for _ in range(n))", "dataset, n, random"), 0, "mechanism returned a value of type generator, must return a list"],
  ["too few", def("return [1]", "dataset, n, random"), 0, "mechanism returned 1 outputs, must return n = 4"],
  ["ragged", def("return [[1, 2], [1, 2], [1], [1, 2]]", "d, n, random"), 0, "output 3 is a list of 1, not a list of 2 numbers as the first is"],
  ["another shape", def("return [[1, 2], [1, 2], 3, [1, 2]]", "d, n, random"), 0, "output 3 is 3, not a list of 2 numbers as the first is"],
  ["a list later", def("return [1, [1], 3, 4]", "d, n, random"), 0, "output 2 has a list of 1 where a number must be"],
  ["empty lists", def("return []"), 0, "output 1 is an empty list, must be a number"],
  ["words", def("return 'yes'"), 0, 'output 1 is "yes", must be a finite number'],
  ["NaN", def("return float('nan')"), 0, "output 1 is nan, must be a finite number"],
  ["infinity", def("return [1, -1e308 * 10]"), 0, "output 1 is -inf, must be a finite number"],
  ["complex", def("return 1 + 2j"), 0, "output 1 is (1+2j), must be a finite number"],
  ["numpy's complex behind a float", "class Value:\n    def tolist(self):\n        return 1 + 2j\n    def __float__(self):\n        return 1.0\n" + def("return [1.0, Value(), 1.0, 1.0]", "d, n, random"), 0, "output 2 is (1+2j), must be a finite number"],
  ["a whole number that no double holds", def("return 2**53 + 1"), 0, "output 1 is 9007199254740993, a whole number beyond 2^53"],
  ["a huge one", def("return 10**400"), 0, "output 1 is 1000000000000000000000000000000000000000, a whole number"],
  ["a function", def("return len"), 0, "output 1 is a function, must be"],
  ["recursion", "def deep(n):\n    return deep(n + 1)\n" + def("return deep(0)"), 2, "RuntimeError: maximum recursion depth exceeded", "RecursionError: maximum recursion depth exceeded"],
  ["what is raised", def("raise SystemExit"), 2, "SystemExit"],
  ["raised without words", def("raise ValueError"), 2, "ValueError"],
  ["words that are raised", def("raise ValueError('\\x1b[31m' + 'x' * 5000)"), 2, "ValueError:  [31mxxx"],
  ["what has no words", "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\n" + def("raise Odd()"), 5, "it raised an error that cannot be shown"],
  ["a module that there is not", "import nothing_of_this_name\n" + def("return 1"), 1, "ImportError: no module named 'nothing_of_this_name'", "ModuleNotFoundError: No module named 'nothing_of_this_name'"],
  ["a network", "from js import fetch\n" + def("return 1"), 1, "ImportError: can't import name fetch", "ImportError: cannot import name 'fetch'"],
]) {
  const told = await begin(code).ask(4, 1);
  if (!says.some((words) => told.fault?.includes(words)) || told.fault.length > 600 || told.line !== line) others.push(`${name}: line ${told.line}: ${told.fault}, want line ${line}: ${says}`);
}
assert.deepEqual(others, []);
// The templates of "Your code" say the same in both languages, and MicroPython is enough.
const { templates } = await import(FOLDER + "/templates.mjs");
for (const { name, in: { javascript: [js, ...of], python: [py, ...ofPython] } } of templates) {
  assert.ok(needsOf(py).micro, name);
  for (const mend of [0, 1]) {
    const [a, b] = mend ? [js.replace(...of), py.replace(...ofPython)] : [js, py];
    assert.ok(!mend || (a !== js && b !== py), name);
    assert.deepEqual(numbers(await begin(b).ask(100, 9, [1, 0, 1, 1, 0])), numbers(await javascript(a, 100, 9, [1, 0, 1, 1, 0])), name);
  }
}
// A fault is one of its call: the next may be well.
const sometimes = begin(def("if len(rows) > 2:\n    return 'no'\nreturn 1"));
assert.equal((await sometimes.ask(1, 1, [1, 1, 1])).fault, 'output 1 is "no", must be a finite number');
assert.deepEqual(numbers(await sometimes.ask(1, 1)), [[1], 1]);
// No memory left: said, and the next call is answered.
const hungry = begin(def("if len(rows) > 2:\n    return len([0] * 10**9)\nreturn 1"));
const out = await hungry.ask(1, 1, [1, 1, 1]);
assert.match(out.fault, /^MemoryError: /);
assert.equal(out.line, 3);
assert.deepEqual(numbers(await hungry.ask(1, 1)), [[1], 1]);
// Many lines go nowhere, but for the first words of them.
const chatty = begin(def("for i in range(10**5):\n    print('line', i)\nreturn 1"));
assert.deepEqual(numbers(await chatty.ask(1, 1)), [[1], 1]);
await chatty.ask(1, 2);
assert.deepEqual(chatty.notes, [{ printed: "line 0" }]);

// What is imported, and what MicroPython is enough for.
for (const [code, names, micro] of [
  ["x = 1", [], true],
  ["import math\nmath.exp(1)", ["math"], true],
  ["import math as m, cmath\nm.comb(3, 2)", ["math", "cmath"], false],
  ["from math import (exp,\n  log as ln)", ["math"], true],
  ["from math import prod", ["math"], false],
  ["from math import *", ["math"], false],
  ["def f():\n  if True: import numpy.random as r", ["numpy"], false],
  ["from collections import deque", ["collections"], true],
  ["from collections import Counter", ["collections"], false],
  ["# import numpy\ns = 'import numpy'\nt = '''\nimport numpy\n\"\"\"\n'''\nu = \"\"\"it's\nimport numpy\"\"\"\nv = 'a\\'; import numpy'", [], true],
  ["a = 1; import os.path; b = self.math.comb", ["os"], false],
  ["match x:\n  case 1: pass", [], false],
  ["match = 1\nx = match", [], true],
  ["importer = 3; frommage = 2", [], true],
  ["s = 'never ends", [], true],
  ["import \nfrom", [], true],
]) assert.deepEqual(needsOf(code), { names, micro }, code);
// MicroPython has what the page believes.
if (micropython) {
  const lines = Object.entries(MICRO).map(([module, members]) => `import ${module}\nfor name in ${JSON.stringify(members)}:\n    if not hasattr(${module}, name): lacks.append(name)`);
  assert.deepEqual(numbers(await begin(`lacks = []\n${lines.join("\n")}\n` + def("if lacks: raise ValueError(str(lacks))\nreturn 1")).ask(1, 1)), [[1], 1]);
} else {
  // A wheel that a host added.
  const wheel = Uint8Array.from(atob("UEsDBBQAAAAIAAAAIVCUuPO0HgAAAB4AAAAJAAAAaGFsdmVzLnB5S0lNU8hIzEnTqNC04lIAgqLUktKiPIUKBX0FIy4AUEsDBBQAAAAIAAAAIVB91GRbKwAAADAAAAAdAAAAaGFsdmVzLTEuMC5kaXN0LWluZm8vTUVUQURBVEHzTS1JTEksSdQNSy0qzszPs1Iw0jPk8kvMTbVSyEjMKUst5oLLGOoZcAEAUEsDBBQAAAAIAAAAIVA34aygTQAAAEsAAAAaAAAAaGFsdmVzLTEuMC5kaXN0LWluZm8vV0hFRUwLz0hNzdENSy0qzszPs1Iw1DPgck/NSy1KLMkvslLISMxL4QrKzy/R9SzWDSgtSs3JTLJSKCkqTeUKSUy3UiioNNbNy89L1U3Mq+QCAFBLAwQUAAAACAAAACFQ9unoSzkAAABnAAAAGwAAAGhhbHZlcy0xLjAuZGlzdC1pbmZvL1JFQ09SRMtIzClLLdYrqNTR4coAs3UN9Qz0UjKLS3Qz89Ly9X1dQxxdHEMcccmHe7i6+uCSDHJ19g9yAcoCAFBLAQIUAxQAAAAIAAAAIVCUuPO0HgAAAB4AAAAJAAAAAAAAAAAAAACAAQAAAABoYWx2ZXMucHlQSwECFAMUAAAACAAAACFQfdRkWysAAAAwAAAAHQAAAAAAAAAAAAAAgAFFAAAAaGFsdmVzLTEuMC5kaXN0LWluZm8vTUVUQURBVEFQSwECFAMUAAAACAAAACFQN+GsoE0AAABLAAAAGgAAAAAAAAAAAAAAgAGrAAAAaGFsdmVzLTEuMC5kaXN0LWluZm8vV0hFRUxQSwECFAMUAAAACAAAACFQ9unoSzkAAABnAAAAGwAAAAAAAAAAAAAAgAEwAQAAaGFsdmVzLTEuMC5kaXN0LWluZm8vUkVDT1JEUEsFBgAAAAAEAAQAEwEAAKIBAAAAAA=="), (c) => c.charCodeAt(0));
  const sha256 = [...new Uint8Array(await crypto.subtle.digest("SHA-256", wheel))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const lock = JSON.parse(text("pyodide-lock.json"));
  lock.packages.halves = { ...lock.packages.six, name: "halves", file_name: "halves-1.0-py3-none-any.whl", imports: ["halves"], depends: [], sha256 };
  let asked = [];
  const serve = (answer) => { globalThis.fetch = async (url) => (asked.push(String(url).split("/").slice(-2).join("/")), answer); };
  serve({ ok: false, status: 404 });
  await assert.rejects(wheelsOf(["math", "halves"], lock.packages), /halves is not part of this page/);
  assert.deepEqual(asked, ["python/halves-1.0-py3-none-any.whl"]);
  serve({ ok: true, arrayBuffer: async () => new ArrayBuffer(3) });
  lock.packages.cut = { ...lock.packages.halves, file_name: "cut.whl", imports: ["cut"] };
  await assert.rejects(wheelsOf(["cut"], lock.packages), /cut.whl has SHA-256 .*, pyodide-lock.json wants/);
  serve({ ok: true, arrayBuffer: async () => wheel.buffer });
  const added = await wheelsOf(["halves"], lock.packages);
  assert.deepEqual(added.names, ["halves"]);
  assert.deepEqual(numbers(await begin("import halves\n" + def("return halves.half(len(rows))"), { ...files(), lock: JSON.stringify(lock), ...added, modules: ["halves"] }).ask(2, 1)), [[1, 1], 1]);
}
exit(0); // Pyodide waits for more
