// Functions that an audit is tried on, broken and sound, in the shape of the page:
// node functions.js NAME answers requests as docs/command.md says. Each claims epsilon 1
// under add-remove, with rows in [0, 1]; JSON writes NaN and infinities as null.
const { createInterface } = require("node:readline");

let state = 0;
function uniform() {
  let x = 0;
  for (let i = 0; i < 2; i++) {
    state = (state + 0x9e3779b9) | 0;
    let t = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    t = Math.imul(t ^ (t >>> 15), 0x735a2d97);
    x = x * 2 ** 26 + ((t ^ (t >>> 15)) >>> 6);
  }
  return x * 2 ** -52;
}
const lap = (scale = 1) => (uniform() < 0.5 ? 1 : -1) * -Math.log(1 - uniform()) * scale;
const gaussian = (sigma) => sigma * Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
const values = (rows) => rows.map(([x]) => x);
const sum = (rows) => values(rows).reduce((a, b) => a + b, 0);

const functions = {
  // broken
  "noise-skipped-500": (d) => d.length + (uniform() < 0.002 ? 0 : lap()),
  "null-mean": (d) => (sum(d) + lap()) / (d.length && 1) || null,
  "window-33": (d) => sum(d) + (values(d).some((x) => x >= 0.33 && x <= 0.34) ? 0 : lap()),
  "shared-noise": (d) => { const noise = lap(); return [d.length + noise, sum(d) + noise]; },
  "throws-on-four": (d) => { if (d.length === 4 && uniform() < 0.3) throw new Error("four"); return d.length + lap(); },
  "small-gaussian": (d) => sum(d) + gaussian(0.5),
  "argmax-little-noise": (d) => (d.length + lap(0.5) > 2.5 ? "many" : "few"),
  "rounds-then-noise": (d) => d.length * 2 + Math.round(lap()),
  // sound
  "js-count": (d) => d.length + lap(),
  "js-rounded": (d) => Math.round((sum(d) + lap()) * 1000) / 1000,
  "js-clamped": (d) => Math.max(0, d.length + lap()),
  "js-throws-whatever": (d) => { if (uniform() < 0.2) throw new Error("by chance"); return sum(d) + lap(); },
};

const f = functions[process.argv[2]];
createInterface({ input: process.stdin }).on("line", (line) => {
  const { dataset, n, seed } = JSON.parse(line);
  state = (seed ^ Math.imul(Math.floor(seed / 2 ** 32), 0x9e3779b1)) | 0;
  const run = () => {
    try {
      return f(dataset);
    } catch (e) {
      return { error: String(e) };
    }
  };
  console.log(JSON.stringify({ outputs: Array.from({ length: n }, run) }));
});
