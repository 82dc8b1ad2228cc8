// The Worker's entry. A request that Go answers makes a new instance of the program, which
// costs more than the free plan allows; so pages in words and badges are made once, when a
// report is stored, and given out from here. One that another build made is given out
// while this build makes it anew. All else goes to Go.
import BUILD from "./build/version.mjs"; // of the program in Go
import go from "./build/worker.mjs";

const KEPT = 30 * 24 * 3600; // seconds
/** Headers that are of one request. */
const PASSING = ["ratelimit", "ratelimit-policy", "content-length", "transfer-encoding"];

/** The key of what is made of a report, or nothing where it is not kept. */
function keyOf(url) {
  const [, r, id, part, ...more] = url.pathname.split("/");
  if (r !== "r" || !id || more.length || url.search) return undefined;
  return part === undefined ? `${id}.page` : part === "badge.svg" ? `${id}.badge` : undefined;
}

const madeOf = (id) => [[`${id}.page`, `/r/${id}`], [`${id}.badge`, `/r/${id}/badge.svg`]];

/** Has Go make a page or a badge, and keeps it. */
async function make(key, address, who, env, ctx) {
  const said = await go.fetch(new Request(address, { headers: { "cf-connecting-ip": who } }), env, ctx), body = await said.text();
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

const within = async (limit, key) => (await limit?.limit({ key }))?.success ?? true;
const TOO_MANY = "too many requests in a minute; try again in 60 s";

async function answer(request, env, ctx) {
  const url = new URL(request.url), who = request.headers.get("cf-connecting-ip") ?? "";
  if (request.method !== "GET" && request.method !== "HEAD") {
    const said = await go.fetch(request, env, ctx);
    if (!said.ok) return said;
    const [, api, reports, at] = url.pathname.split("/");
    if (api !== "api" || reports !== "reports") return said;
    const body = said.body ? await said.text() : null, id = at || JSON.parse(body ?? "{}").id;
    if (at) await Promise.all(madeOf(id).map(([key]) => env.REPORTS.delete(key)));
    if (request.method !== "DELETE" && said.status !== 200) { // 200: it was there already
      if (request.method === "POST") ctx.waitUntil(env.REPLAYS?.send(id) ?? Promise.resolve());
      ctx.waitUntil(Promise.all(madeOf(id).map(([key, path]) => make(key, url.origin + path, who, env, ctx))));
    }
    return new Response(body, { status: said.status, headers: said.headers });
  }
  const key = request.method === "GET" ? keyOf(url) : undefined;
  if (!key) return go.fetch(request, env, ctx);
  const [{ value, metadata }, free] = await Promise.all([env.REPORTS.getWithMetadata(key, "stream"), within(env.READS, `front ${who}`)]);
  if (!free) return refuse(429, TOO_MANY, { "retry-after": "60" });
  if (value === null || metadata?.origin !== url.origin) return make(key, url.href, who, env, ctx);
  if (metadata.build !== BUILD) ctx.waitUntil(make(key, url.href, who, env, ctx));
  if (request.headers.get("if-none-match") === metadata.headers.etag) return new Response(null, { status: 304, headers: metadata.headers });
  return new Response(value, { headers: metadata.headers });
}

/** Marks reports to be replayed: the edge runs no audits. The mark goes into the page when that is made next. */
async function mark(batch, env) {
  for (const { body: id } of batch.messages) {
    if ((await env.REPORTS.get(id)) !== null) await env.REPORTS.put(`${id}.due`, `t${JSON.stringify({ outcome: "due", day: new Date().toISOString().slice(0, 10) })}`);
  }
}

export default { fetch: answer, queue: mark };
