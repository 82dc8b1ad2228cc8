// The Worker's entry. A request that Go answers makes a new instance of the program, which
// costs more than the free plan allows; so pages in words and badges are made once, when a
// report is stored, and given out from here. One that another build made is given out
// while this build makes it anew. All else goes to Go.
import BUILD from "./build/version.mjs"; // of the program in Go
import go from "./build/worker.mjs";

const KEPT = 30 * 24 * 3600; // seconds
/** Headers that are of one request. */
const PASSING = ["content-length", "transfer-encoding"];

/** The key of what is made of a report, or nothing where it is not kept. */
function keyOf(url) {
  const [, r, id, part, ...more] = url.pathname.split("/");
  if (r !== "r" || more.length || url.search) return undefined;
  return part === undefined ? `${id}.page` : part === "badge.svg" ? `${id}.badge` : undefined;
}

const madeOf = (id) => [[`${id}.page`, `/r/${id}`], [`${id}.badge`, `/r/${id}/badge.svg`]];

/** Has Go make a page or a badge, and keeps it. */
async function make(key, address, env, ctx) {
  const said = await go.fetch(new Request(address), env, ctx), body = await said.text();
  if (said.status === 200) {
    const headers = Object.fromEntries([...said.headers].filter(([name]) => !PASSING.includes(name)));
    try {
      await env.REPORTS.put(key, body, { expirationTtl: KEPT, metadata: { origin: new URL(address).origin, build: BUILD, headers } });
      if ((await env.REPORTS.get(key.split(".")[0])) === null) await env.REPORTS.delete(key); // deleted meanwhile
    } catch (e) {
      console.error(e); // then the next reader has it made
    }
  }
  return new Response(body, { status: said.status, headers: said.headers });
}

/** A refusal in the manner of Go's. */
function refuse(status, error, more) {
  return new Response(`${JSON.stringify({ error })}\n`, { status, headers: { "content-type": "application/json", "content-security-policy": "default-src 'none'; sandbox", "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store", ...more } });
}

/** What Go calls an id, and the bytes of the largest report that it takes. */
const ID = /^[1-9A-HJ-NP-Za-km-z]{10,44}$/, MOST = 1 << 20;

/** Whom an address counts as: of IPv6 its network of 64 bits, which one visitor has whole. @param {string} ip */
export function visitor(ip) {
  if (!ip.includes(":")) return ip;
  const [head, tail] = ip.split("::"), parts = (text) => (text ? text.split(":") : []);
  const first = parts(head), last = parts(tail), zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  return [...first, ...Array(Math.max(0, zeros)).fill("0"), ...last].slice(0, 4).map((part) => parseInt(part, 16).toString(16)).join(":");
}

/** Refuses what is not worth waking anything for; nothing where it is. */
async function refused(request, url, env, who) {
  const reading = request.method === "GET" || request.method === "HEAD";
  if (!(await within(reading ? env.READS : env.UPLOADS, who))) return refuse(429, TOO_MANY, { "retry-after": "60" });
  const [, r, id] = url.pathname.replace(/^\/api\/reports\/?/, "/r/").split("/");
  if (r !== "r" || (id !== "" && !ID.test(id)) || (id === "" && url.pathname.startsWith("/r/"))) return refuse(404, "There is no report at this address. It may have been deleted, or the address is cut short: copy it again.");
  const length = request.headers.get("content-length");
  if (request.method === "POST" && length === null) return refuse(411, "Say with Content-Length how many bytes the report has.");
  if (Number(length) > MOST) return refuse(413, "The report is larger than 1 MiB. Share it as a file.");
  return undefined;
}

const within = async (limit, key) => (await limit?.limit({ key }))?.success ?? true;
const TOO_MANY = "too many requests in a minute; try again in 60 s";

async function answer(request, env, ctx) {
  const url = new URL(request.url), who = visitor(request.headers.get("cf-connecting-ip") ?? "");
  const no = await refused(request, url, env, who);
  if (no) return no;
  if (request.method !== "GET" && request.method !== "HEAD") {
    const said = await go.fetch(request, env, ctx);
    if (!said.ok) return said;
    const [, api, reports, at] = url.pathname.split("/");
    if (api !== "api" || reports !== "reports") return said;
    const body = said.body ? await said.text() : null, id = at || JSON.parse(body ?? "{}").id;
    if (at) await Promise.all(madeOf(id).map(([key]) => env.REPORTS.delete(key)));
    if (request.method !== "DELETE" && said.status !== 200) { // 200: it was there already
      ctx.waitUntil(Promise.all(madeOf(id).map(([key, path]) => make(key, url.origin + path, env, ctx))));
    }
    return new Response(body, { status: said.status, headers: said.headers });
  }
  const key = request.method === "GET" ? keyOf(url) : undefined;
  if (!key) return go.fetch(request, env, ctx);
  const { value, metadata } = await env.REPORTS.getWithMetadata(key, "stream");
  if (value === null || metadata?.origin !== url.origin) return make(key, url.href, env, ctx);
  if (metadata.build !== BUILD) ctx.waitUntil(make(key, url.href, env, ctx));
  if (request.headers.get("if-none-match") === metadata.headers.etag) return new Response(null, { status: 304, headers: metadata.headers });
  return new Response(value, { headers: metadata.headers });
}

export default { fetch: answer };
