// Answers dpscope's requests with the code of published libraries for JavaScript.
//
//     node main.js CASE EPSILON FOLDER
//
// FOLDER holds the packages that catalogue.json names, in node_modules. A case is a
// function of the folder and epsilon, which returns an asynchronous f(rows) -> output.
// The libraries draw from generators of their own.
"use strict";
const path = require("path");
const readline = require("readline");

// The package differential-privacy sets global.crypto, which Node may since write-protect.
Object.defineProperty(globalThis, "crypto", { value: globalThis.crypto, writable: true, configurable: true });

const library = (folder, name) => require(path.join(folder, "node_modules", name));

const cases = {
  // The mean of the first column.
  "privatize-mean": (folder, epsilon) => {
    const { privatize, newArrayView } = library(folder, "differential-privacy");
    const mean = (view) => {
      let [sum, count] = [0, 0];
      view.forEach((x) => {
        sum += x;
        count++;
      });
      return sum / count;
    };
    return async (rows) => {
      const view = newArrayView(rows.map((row) => row[0]));
      return (await privatize(mean, { maxEpsilon: epsilon, newShadowIterator: view.newShadowIterator })(view)).result;
    };
  },
};

async function main([name, epsilon, folder]) {
  if (!(name in cases) || !folder) {
    process.stderr.write(`usage: main.js CASE EPSILON FOLDER; cases: ${Object.keys(cases).join(" ")}\n`);
    process.exit(1);
  }
  const answer = cases[name](path.resolve(folder), Number(epsilon));
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { dataset, n } = JSON.parse(line);
    const outputs = [];
    for (let i = 0; i < n; i++) outputs.push(await answer(dataset));
    process.stdout.write(JSON.stringify({ outputs }) + "\n");
  }
}

main(process.argv.slice(2));
