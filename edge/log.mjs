// The log of receipts at the edge: what package receipt is natively. One object writes it,
// so no two entries take one place. It needs neither Go nor the whole log: of a tree of n
// entries it reads about log n hashes a request. The test of the Worker holds every proof
// against the verifier in Go.
//
// Tree: RFC 9162, 2.1. Head: a checkpoint (c2sp.org/tlog-checkpoint), signed as a note
// (c2sp.org/signed-note) by Ed25519.

const SCHEMA = "dpscope-receipt-v1", MOST = 1024;
const text = new TextEncoder();
const base64 = (bytes) => btoa(String.fromCharCode(...bytes));
const bytesOf = (s) => Uint8Array.from(atob(s), (c) => c.charCodeAt(0));
const joined = (...parts) => new Uint8Array(parts.flatMap((p) => [...p]));
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", joined(...parts)));
/** The largest power of 2 below n, and its logarithm. */
function half(n) {
  let level = 0;
  while (2 ** (level + 1) < n) level++;
  return [2 ** level, level];
}

class Refused extends Error {}

/** The log's key as note.GenerateKey writes it, made ready to sign. */
async function signerOf(secret) {
  const found = /^PRIVATE\+KEY\+([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(secret.trim());
  const data = found && bytesOf(found[3]);
  if (data?.length !== 33 || data[0] !== 1) throw new Error("LOG_KEY is no key of a log: PRIVATE+KEY+name+..., as node key.mjs NAME writes it");
  const head = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32]; // PKCS #8 of an Ed25519 seed, RFC 8410
  const key = await crypto.subtle.importKey("pkcs8", joined(head, data.slice(1)), "Ed25519", true, ["sign"]);
  const { x } = await crypto.subtle.exportKey("jwk", key);
  const name = found[1], hash = found[2], open = bytesOf(x.replaceAll("-", "+").replaceAll("_", "/"));
  return { name, key, hash: Uint8Array.from(hash.match(/../g), (h) => parseInt(h, 16)), verifier: `${name}+${hash}+${base64(joined([1], open))}` };
}

function answer(status, value) {
  return new Response(`${JSON.stringify(value)}\n`, { status, headers: {
    "content-type": "application/json", "content-security-policy": "default-src 'none'; sandbox", "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store", "access-control-allow-origin": "*",
  } });
}

export class Log {
  constructor(state, env) {
    this.storage = state.storage;
    this.signer = signerOf(env.LOG_KEY ?? "");
    this.signer.catch(() => {}); // every request says so
    this.last = Promise.resolve();
  }

  async fetch(request) {
    const body = request.body ? await request.text() : "";
    const turn = this.last.then(() => this.answer(request, new URL(request.url), body)); // one after another
    this.last = turn.catch(() => {});
    try {
      return answer(200, await turn);
    } catch (e) {
      if (e instanceof Refused) return answer(400, { error: e.message });
      console.error(e);
      return answer(503, { error: "the log is not to be had: try again later" });
    }
  }

  async answer(request, url, body) {
    const signer = await this.signer, n = (await this.storage.get("n")) ?? 0;
    if (request.method === "POST") return this.add(signer, n, body);
    if (url.pathname === "/api/log") return { key: signer.verifier, head: await this.head(signer, n), size: n };
    const [from, to] = ["from", "to"].map((name) => {
      const asked = url.searchParams.get(name) ?? "";
      if (!/^\d{1,15}$/.test(asked)) throw new Refused(`${name} is ${JSON.stringify(asked)}, must be a number of entries`);
      return Number(asked);
    });
    if (from < 1 || from > to || to > n) throw new Refused(`from and to are ${from} and ${to}, must be in [1, ${n}], the smaller first`);
    return { proof: (await this.growth(from, 0, to, true)).map(base64) };
  }

  async add(signer, n, body) {
    let asked;
    try {
      asked = JSON.parse(body.length > MOST ? "" : body);
    } catch {
      throw new Refused(body.length > MOST ? `the request is too large: at most ${MOST} bytes` : "the request is no JSON");
    }
    const commitment = asked?.commitment, other = Object.keys(asked ?? {}).find((name) => name !== "commitment");
    if (other) throw new Refused(`the request has ${JSON.stringify(other)}, must have commitment only`);
    if (typeof commitment !== "string" || !/^[0-9a-f]{64}$/.test(commitment)) throw new Refused(`commitment is ${JSON.stringify(commitment)}, must be 64 hexadecimal digits in lower case`);
    let at = await this.storage.get(`at/${commitment}`);
    if (at === undefined) {
      at = n++;
      const time = `${new Date().toISOString().slice(0, 19)}Z`;
      const put = { n, [`at/${commitment}`]: at, [`e/${at}`]: { time, commitment } };
      let hash = await sha256([0], text.encode(`${SCHEMA}\n${time}\n${commitment}\n`));
      put[`h/0/${at}`] = hash;
      for (let level = 0, i = at; i % 2 === 1; level++, i = (i - 1) / 2) {
        hash = await sha256([1], await this.storage.get(`h/${level}/${i - 1}`), hash);
        put[`h/${level + 1}/${(i - 1) / 2}`] = hash;
      }
      await this.storage.put(put); // all of them or none
    }
    const proof = await this.path(at, 0, n);
    return { entry: await this.storage.get(`e/${at}`), index: at, proof: proof.map(base64), head: await this.head(signer, n) };
  }

  /** The root of entries from lo on, so many. */
  async root(lo, n) {
    if (n === 0) return sha256();
    const [k, level] = half(n);
    if (n === 1) return this.storage.get(`h/0/${lo}`);
    if (n === 2 * k) return this.storage.get(`h/${level + 1}/${lo / n}`);
    return sha256([1], await this.root(lo, k), await this.root(lo + k, n - k));
  }

  /** PATH(m, D[lo:lo+n]) of RFC 9162, 2.1.3.1. */
  async path(m, lo, n) {
    if (n === 1) return [];
    const [k] = half(n);
    return m - lo < k ? [...(await this.path(m, lo, k)), await this.root(lo + k, n - k)] : [...(await this.path(m, lo + k, n - k)), await this.root(lo, k)];
  }

  /** SUBPROOF(m, D[lo:lo+n], b) of RFC 9162, 2.1.4.1. */
  async growth(m, lo, n, b) {
    if (m === n) return b ? [] : [await this.root(lo, n)];
    const [k] = half(n);
    return m <= k ? [...(await this.growth(m, lo, k, b)), await this.root(lo + k, n - k)] : [...(await this.growth(m - k, lo + k, n - k, false)), await this.root(lo, k)];
  }

  async head(signer, n) {
    const says = `${signer.name}\n${n}\n${base64(await this.root(0, n))}\n`;
    const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", signer.key, text.encode(says)));
    return `${says}\n— ${signer.name} ${base64(joined(signer.hash, signature))}\n`;
  }
}
