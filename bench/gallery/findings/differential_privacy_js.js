// The npm package differential-privacy: a mean of equal values gets no noise.
//
//     node --no-deprecation gallery/findings/differential_privacy_js.js FOLDER
//
// FOLDER holds the packages that catalogue.json names, in node_modules.
"use strict";
const path = require("path");
Object.defineProperty(globalThis, "crypto", { value: globalThis.crypto, writable: true, configurable: true });
const { privatize, newArrayView } = require(path.resolve(process.argv[2], "node_modules", "differential-privacy"));

const mean = (view) => {
  let [sum, count] = [0, 0];
  view.forEach((x) => {
    sum += x;
    count++;
  });
  return sum / count;
};

async function main() {
  for (const data of [[1, 1, 1], [1, 1, 1, 0]]) {
    const view = newArrayView(data);
    let exact = 0;
    for (let i = 0; i < 1000; i++) {
      const { result } = await privatize(mean, { maxEpsilon: 1, newShadowIterator: view.newShadowIterator })(view);
      if (result === 1) exact++;
    }
    console.log(`on [${data}] ${exact} of 1000 results are exactly 1`);
  }
}

main();
