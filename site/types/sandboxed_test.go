package types

import (
	"encoding/base64"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// asked asks the sandbox's program for outputs of functions, as the core does.
const asked = `
import assert from "node:assert";
const { inside } = await import("data:text/javascript;base64," + process.env.SANDBOXED);
const ask = (code, n, seed, rows = [1, 1]) => new Promise((resolve) => {
  globalThis.onmessage = null;
  inside();
  const port = { postMessage: resolve };
  globalThis.onmessage({ data: { port, code } });
  port.onmessage({ data: { id: 1, values: new Uint8Array(Float64Array.from(rows).buffer), columns: 1, n, seed } });
});
const numbers = async (...of) => {
  const { bytes, width, fault } = await ask(...of);
  assert.equal(fault, undefined);
  return [[...new Float64Array(bytes.buffer)], width];
};
// What makes another context or asks a server is gone, from wherever a browser has it.
const ways = ["Worker", "SharedWorker", "importScripts", "fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "RTCPeerConnection", "BroadcastChannel", "caches", "indexedDB"];
const above = Object.create(Object.getPrototypeOf(globalThis));
ways.forEach((name, at) => Object.defineProperty(at % 2 ? above : globalThis, name, { configurable: true, get: () => assert.fail("the code has " + name) }));
class Worker {
  constructor(source) { started.push(source); }
  set onerror(hear) { setTimeout(() => hear({ preventDefault() {}, lineno: 3 })); }
  terminate() {}
}
const started = [];
Object.defineProperty(globalThis, "Worker", { configurable: true, value: Worker });
Object.setPrototypeOf(globalThis, above);
const there = "function mechanism(rows, random) { return " + JSON.stringify(ways) + ".filter((name) => name in globalThis || typeof globalThis[name] !== 'undefined').length; }";
// A syntax error's line comes of a worker, which the code's first line ends.
assert.equal((await ask("\nfunction mechanism( {", 1, 1)).line, 2);
assert.equal(started.length, 1);
const { resolveObjectURL } = await import("node:buffer");
assert.equal(await resolveObjectURL(started[0]).text(), "throw 0;\n\nfunction mechanism( {");
assert.deepEqual(await numbers(there, 1, 1), [[0], 1]);
const each = "function mechanism(rows, random) { return rows.length + random.laplace(2); }";
const batch = "function mechanism(dataset, n, random) { return Array.from({ length: n }, () => dataset.length + random.laplace(2)); }";
assert.deepEqual(await numbers(each, 100, 7), await numbers(batch, 100, 7));
assert.deepEqual(await numbers("function mechanism(rows, random) { rows.push(0); return [rows.length, 1]; }", 3, 7), [[3, 1, 3, 1, 3, 1], 2]);
assert.deepEqual(await numbers("const mechanism = (rows, n) => Array(n).fill(rows[0][0])", 2, 7), [[1, 1], 1]);
assert.deepEqual(await numbers("function mechanism(rows, n) { return Array(n).fill(5) }", 2, 7), [[5, 5], 1]);
const [exponential] = await numbers("function mechanism(rows, random) { return random.exponential(3); }", 20000, 1);
assert.ok(Math.min(...exponential) >= 0 && Math.abs(exponential.reduce((sum, x) => sum + x, 0) / 20000 - 3) < 0.11); // five deviations of the mean
const [chosen] = await numbers("function mechanism(rows, random) { return random.choice([0, 1, 2]); }", 30000, 1);
for (const k of [0, 1, 2]) assert.ok(Math.abs(chosen.filter((x) => x === k).length - 10000) < 410); // five deviations
assert.deepEqual(await numbers(each.replace("laplace", "normal"), 50, 3), await numbers(each.replace("laplace", "gaussian"), 50, 3));
for (const [code, says, line] of [
  ["\nfunction mechanism(rows, random) {\n  return random.laplce(1);\n}", 'random has no "laplce": did you mean "laplace"?', 3],
  ["function mechanism(rows, random) {\n  return rows.nothing(1);\n}", "TypeError: rows.nothing is not a function", 2],
  ["function mechanism(rows, random) {}", "output 1 is undefined", 0],
  ["const x = 1", "no function mechanism(rows, random)", 0],
  ["\nnothing();\nfunction mechanism() {}", "ReferenceError: nothing is not defined", 2],
  ["function mechanism() { throw 'no' }", "it threw no", 0],
  ["function mechanism() { throw Object.create(null) }", "it threw an object (Object)", 0],
  ["function mechanism() { throw {line: () => 1} }", "it threw an object (Object)", 0],
  ["async function mechanism(d, n) { return Array(n).fill(1) }", "must not be async", 0],
  ["function mechanism(d, n) { return Array.from({length: n}, (_, i) => i % 2 ? [1] : [1, 2]) }", "output 2 is not an array of 2 numbers", 0],
  ["function mechanism(d, n) { return Array(n).fill(0 / 0) }", "output 1 is NaN", 0],
  ["function mechanism(d, n) { return Array(n - 1).fill(0) }", "outputs, must return n = ", 0],
  ["function mechanism(d, n) { return new BigInt64Array(n).fill(9007199254740993n) }", "output 1 is the BigInt 9007199254740993n, must be a finite number", 0],
  ["function mechanism(d, n) { return Array(n).fill('a') }", 'output 1 is "a", must be a finite number', 0],
]) {
  const told = await ask(code, 2, 1);
  assert.ok(told.fault.includes(says), told.fault + ", want " + says);
  assert.equal(told.line, line);
}
`

// A function may return one output or be asked for n, to the same numbers; a misspelt
// name of its source of randomness is told with the right one.
func TestSandboxed(t *testing.T) {
	must.Have(t, "node")
	source := must.Get(os.ReadFile("../worker/sandboxed.js"))(t)
	cmd := exec.Command("node", "--input-type=module")
	cmd.Stdin = strings.NewReader(asked)
	cmd.Env = append(os.Environ(), "SANDBOXED="+base64.StdEncoding.EncodeToString(source))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %.2000s", err, out)
	}
}
