// node key.mjs NAME makes a key for the log of receipts: the secret, for
// npx wrangler secret put LOG_KEY, and the verifier key, to be published.
import { createHash, generateKeyPairSync } from "node:crypto";

const name = process.argv[2];
if (!name || /[\s+]/.test(name)) {
  console.error("node key.mjs NAME: the name of the log, such as audits.example.org");
  process.exit(2);
}
const { d, x } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
const keyed = (value) => Buffer.concat([Buffer.from([1]), Buffer.from(value, "base64url")]);
const hash = createHash("sha256").update(`${name}\n`).update(keyed(x)).digest("hex").slice(0, 8); // c2sp.org/signed-note
console.log(`secret: PRIVATE+KEY+${name}+${hash}+${keyed(d).toString("base64")}`);
console.log(`verifier key: ${name}+${hash}+${keyed(x).toString("base64")}`);
