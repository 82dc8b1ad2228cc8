// What runs Python in the sandbox, seen from the page: which interpreter a text needs,
// and the files of it, which the sandbox cannot fetch.
import { beside } from "../page/element.js";

const FOLDER = "python/";

// What MicroPython has of modules: names, or all of them where there is no list. It lacks
// other modules, or has so little of them that CPython is the one to ask.
const MATH = "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees e erf erfc exp expm1 fabs factorial floor fmod frexp gamma inf isclose isfinite isinf isnan ldexp lgamma log log10 log2 modf nan pi pow radians sin sinh sqrt tan tanh tau trunc";
/** @type {Record<string, string[]>} */
export const MICRO = Object.fromEntries(Object.entries({
  math: MATH, cmath: "cos e exp log phase pi polar rect sin sqrt", array: "array", collections: "OrderedDict deque namedtuple",
  functools: "partial reduce wraps", heapq: "heapify heappop heappush", itertools: "accumulate chain count cycle islice repeat starmap tee",
  json: "dumps loads", struct: "calcsize pack unpack", time: "sleep time", gc: "collect", sys: "maxsize version",
}).map(([name, words]) => [name, words.split(" ")]));

const isWord = (c) => c === "_" || (c >= "0" && c <= "9") || c.toLowerCase() !== c.toUpperCase();

/** Words and signs of a text of Python, without its comments, and "" for what is quoted; "\n" ends a statement. */
function tokensOf(code) {
  const tokens = [];
  let depth = 0;
  for (let at = 0; at < code.length;) {
    const c = code[at];
    if (c === "#") {
      while (at < code.length && code[at] !== "\n") at++;
    } else if (c === '"' || c === "'") {
      const quote = code.startsWith(c.repeat(3), at) ? c.repeat(3) : c;
      at += quote.length;
      while (at < code.length && !code.startsWith(quote, at) && (code[at] !== "\n" || quote.length > 1)) at += code[at] === "\\" ? 2 : 1;
      at += quote.length;
      tokens.push("");
    } else if (isWord(c)) {
      const from = at;
      while (at < code.length && isWord(code[at])) at++;
      tokens.push(code.slice(from, at));
    } else {
      at += c === "\\" ? 2 : 1;
      if ("([{".includes(c)) depth++;
      if (")]}".includes(c)) depth--;
      if ((c === "\n" && depth <= 0) || c === ";") tokens.push("\n");
      else if (c.trim() && c !== "\\") tokens.push(c);
    }
  }
  return [...tokens, "\n"];
}

/** What a text imports, as names of modules without those inside of them, and whether MicroPython is enough for it. @param {string} code */
export function needsOf(code) {
  const tokens = tokensOf(code), names = new Set(), called = new Map(); // modules by what the text calls them
  let micro = true;
  const take = (module, member) => {
    names.add(module);
    const has = Object.hasOwn(MICRO, module) ? MICRO[module] : [];
    micro &&= has.length > 0 && (member === undefined || has.includes(member));
  };
  for (let from = 0; from < tokens.length;) {
    const end = tokens.indexOf("\n", from), statement = tokens.slice(from, end);
    from = end + 1;
    const at = statement.indexOf("import"), of = statement.lastIndexOf("from", at);
    if (statement[0] === "match" && statement.at(-1) === ":" && statement.length > 2) micro = false;
    if (at < 0) continue;
    // What is imported: names with dots, each perhaps called something else.
    const parts = [[]];
    for (const word of statement.slice(at + 1)) {
      if (word === ",") parts.push([]);
      else if (word !== "(" && word !== ")") parts.at(-1).push(word);
    }
    for (const words of parts) {
      if (!words.length) continue;
      if (of >= 0) take(statement[of + 1], of + 2 === at ? words[0] : ".");
      else {
        take(words[0], words[1] === "." ? "." : undefined);
        called.set(words.includes("as") ? words.at(-1) : words[0], words[0]);
      }
    }
  }
  tokens.forEach((word, at) => {
    if (called.has(word) && tokens[at + 1] === "." && tokens[at - 1] !== ".") take(called.get(word), tokens[at + 2]);
  });
  return { names: [...names], micro };
}

/**
 * What runs a text of Python. wasm is the same object each time; wheels by file name, of
 * the packages that names has; modules: what the text imports.
 * @typedef {{script: string, wasm: ArrayBuffer, stdlib?: ArrayBuffer, lock?: string, wheels?: Map<string, ArrayBuffer>, names?: string[], modules?: string[]}} Files
 */

/** @type {Map<string, Promise<any>>} */
const kept = new Map(); // files by name

/** A file of this folder, as it comes; kept for the next time. */
function got(name, as) {
  if (!kept.has(name)) {
    const answer = fetch(beside(FOLDER + name)).then((answer) => {
      if (!answer.ok) throw new Error(answer.status === 404 ? `${name} is not there` : `${name}: the server answers ${answer.status}`);
      return answer[as]();
    });
    answer.catch(() => kept.delete(name)); // perhaps it comes later
    kept.set(name, answer);
  }
  return kept.get(name);
}

/** The files that run a text of Python. Throws an Error in words for the user. @param {string} code @returns {Promise<Files>} */
export async function pythonFor(code) {
  const { names, micro } = needsOf(code);
  try {
    if (micro) {
      const [script, wasm] = await Promise.all([got("micropython.js", "text"), got("micropython.wasm", "arrayBuffer")]);
      return { script, wasm };
    }
    const [script, wasm, stdlib, lock] = await Promise.all([got("pyodide.js", "text"), got("pyodide.asm.wasm", "arrayBuffer"), got("python_stdlib.zip", "arrayBuffer"), got("pyodide-lock.json", "text")]);
    return { script, wasm, stdlib, lock, modules: names, ...await wheelsOf(names, JSON.parse(lock).packages, code) };
  } catch (error) {
    if (error instanceof Lacking) throw error;
    throw new Error(`Python could not be loaded: ${error.message}. ${navigator.onLine ? "Is this site built with Python, and its server still there?" : "You are offline, and Python has not been used here before."} JavaScript goes on working.`);
  }
}

/** What random has for the functions of numpy.random. */
const INSTEAD = {
  laplace: "random.laplace(scale)", normal: "random.gaussian(sigma)", exponential: "random.exponential(scale)", uniform: "low + (high - low) * random.uniform()",
  random: "random.uniform()", randint: "low + random.integer(high - low)", integers: "low + random.integer(high - low)", choice: "random.choice(values)",
};

/** What to write where a module is not there. */
function lackingWords(module, code) {
  const used = Object.keys(INSTEAD).filter((name) => new RegExp(`\\b${name}\\s*\\(`).test(code)), draws = used.length ? used : ["laplace", "normal"];
  const instead = module === "numpy" ? ` Write ${draws.map((name) => `${INSTEAD[name]} for numpy’s ${name}`).join(", ")}: mechanism gets random as its last argument, without an import.` : ` Write the code without ${module}; Python’s own modules, such as math and statistics, are here.`;
  return `${module} is not part of this page.${instead}`;
}

class Lacking extends Error {}

/**
 * The wheels of modules that code imports, and of what those need, by Pyodide's list of packages.
 * @param {Record<string, {file_name: string, sha256: string, imports: string[], depends: string[], package_type?: string}>} packages
 */
export async function wheelsOf(modules, packages, code = "") {
  const all = Object.entries(packages), names = new Set(), wheels = new Map();
  const add = async (name, module) => {
    const one = packages[name];
    if (!one || names.has(name)) return;
    names.add(name);
    let bytes;
    try {
      bytes = await got(one.file_name, "arrayBuffer");
    } catch {
      throw new Lacking(lackingWords(module, code));
    }
    const sum = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    if (sum !== one.sha256) throw new Lacking(`${one.file_name} has SHA-256 ${sum}, pyodide-lock.json wants ${one.sha256}: it is of another version, or was cut. Fetch it again.`);
    wheels.set(one.file_name, bytes);
    for (const other of one.depends) await add(other, module);
  };
  for (const module of modules) {
    const found = all.find(([, one]) => one.imports.includes(module));
    if (found) await add(found[0], module);
  }
  return { wheels, names: [...names] };
}
