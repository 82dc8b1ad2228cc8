// Runs a mechanism in the shape of the page (docs/own-mechanism.md) for
// dpscope audit -exec 'node run.js mechanism.js'.
const { readFileSync } = require("node:fs");
const { createInterface } = require("node:readline");

const mechanism = new Function(`${readFileSync(process.argv[2], "utf8")}\n;return mechanism;`)();

/** splitmix32 twice; the page has a generator of its own. */
function randomOf(seed) {
  let a = seed >>> 0, b = Math.floor(seed / 2 ** 32) >>> 0;
  const next = () => {
    a = (a + 0x9e3779b9) | 0;
    let t = Math.imul(a ^ (a >>> 16) ^ b, 0x21f0aaad);
    t = Math.imul(t ^ (t >>> 15), 0x735a2d97);
    b = (b + t) | 0;
    return (t ^ (t >>> 15)) >>> 0;
  };
  const uniform = () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) * 2 ** -53;
  return {
    uniform,
    integer: (m) => Math.floor(uniform() * m),
    laplace: (scale) => scale * (next() & 1 ? 1 : -1) * -Math.log(1 - uniform()),
    gaussian: (sigma) => sigma * Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { dataset, n, seed } = JSON.parse(line);
  console.log(JSON.stringify(Array.from(mechanism(dataset, n, randomOf(seed)))));
});
