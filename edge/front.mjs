// The Worker's entry. A request that Go answers makes a new instance of the program, which
// costs more than the free plan allows; so the pages in words and badges that it made are
// kept for an hour, and given out from here. All else goes to Go.
import go from "./build/worker.mjs";

const KEPT = 3600; // seconds
/** Headers that are of one request. */
const PASSING = ["ratelimit", "ratelimit-policy", "content-length", "transfer-encoding"];

/** The key of what is made of a report, or nothing where it is not kept. */
function keyOf(url) {
  const [, r, id, part, ...more] = url.pathname.split("/");
  if (r !== "r" || !id || more.length || url.search) return undefined;
  return part === undefined ? `${id}.page` : part === "badge.svg" ? `${id}.badge` : undefined;
}

/** What a change of a report makes stale. */
function stale(url) {
  const [, api, reports, id] = url.pathname.split("/");
  return api === "api" && reports === "reports" && id ? [`${id}.page`, `${id}.badge`] : [];
}

async function answer(request, env, ctx) {
  const url = new URL(request.url);
  if (request.method !== "GET" && request.method !== "HEAD") {
    const said = await go.fetch(request, env, ctx);
    if (said.ok) await Promise.all(stale(url).map((key) => env.REPORTS.delete(key)));
    return said;
  }
  const key = request.method === "GET" ? keyOf(url) : undefined;
  if (!key) return go.fetch(request, env, ctx);
  const who = request.headers.get("cf-connecting-ip") ?? "";
  const [{ value, metadata }, { success }] = await Promise.all([env.REPORTS.getWithMetadata(key), env.READS?.limit({ key: `front ${who}` }) ?? { success: true }]);
  if (!success) return new Response('{"error":"too many requests in a minute; try again in 60 s"}\n', { status: 429, headers: { ...metadata?.headers, "content-type": "application/json", "cache-control": "no-store", "retry-after": "60" } });
  if (value !== null && metadata?.origin === url.origin) {
    if (request.headers.get("if-none-match") === metadata.headers.etag) return new Response(null, { status: 304, headers: metadata.headers });
    return new Response(value, { headers: metadata.headers });
  }
  const said = await go.fetch(request, env, ctx);
  if (said.status !== 200) return said;
  const body = await said.text(), headers = Object.fromEntries([...said.headers].filter(([name]) => !PASSING.includes(name)));
  ctx.waitUntil(env.REPORTS.put(key, body, { expirationTtl: KEPT, metadata: { origin: url.origin, headers } }).catch(() => {}));
  return new Response(body, { headers: said.headers });
}

export default { fetch: answer };
