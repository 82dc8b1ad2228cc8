// The service worker: keeps one build of the site, whole, for use offline. A page
// never gets files of two builds: each file is held to the SHA-256 that
// build-info.json gives for this build, a build has a cache of its own, and a newer
// build takes over only when no page of the older one is open, or the only one
// that is asks for it. Several sites of one origin do not touch each other's caches.
const BUILD = "@BUILD@"; // the build's hash, so that every build has another script
const { scope } = registration;
const OURS = `dpscope ${scope} `, CACHE = OURS + BUILD;
const INFO = "build-info.json";
const HEADERS = ["content-type", "content-security-policy", "x-content-type-options", "referrer-policy"];

const at = (name) => new URL(name, scope).href;

/** Is a file kept from the start? Others are from when they are first asked for. */
const first = (name) => !name.startsWith("python/") && !["sw.js", "view.wasm", "editor.js"].includes(name);

let sums; // promise of the SHA-256 by file
const known = () => sums ??= caches.match(at(INFO), { cacheName: CACHE }).then(async (kept) => (kept ? sumsOf(await kept.json()) : new Map()));
const sumsOf = ({ files }) => new Map(files.map((file) => [file.name, file.sha256]));

const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** A file of the server as it comes; its body fails at its end where it is another build's. */
async function fetched(name, sum) {
  const answer = await fetch(at(name), { cache: "no-cache" });
  if (!answer.ok) return answer;
  const parts = [];
  const body = answer.body.pipeThrough(new TransformStream({
    transform(part, to) {
      parts.push(part);
      to.enqueue(part);
    },
    async flush() {
      if (hex(await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer())) === sum) return;
      registration.update().catch(() => {});
      throw new Error(`${name} is not of this build`);
    },
  }));
  return new Response(body, { headers: HEADERS.filter((h) => answer.headers.has(h)).map((h) => [h, answer.headers.get(h)]) });
}

async function keep() {
  const answer = await fetch(at(INFO), { cache: "no-cache" });
  const info = await answer.clone().json();
  if (info.build !== BUILD) throw new Error(`the server has build ${info.build}, this is ${BUILD}`);
  const cache = await caches.open(CACHE);
  try {
    for (const [name, sum] of sumsOf(info)) {
      if (!first(name)) continue;
      const file = await fetched(name, sum);
      if (!file.ok) throw new Error(`${name}: ${file.status}`);
      await cache.put(at(name), file);
    }
    await cache.put(at(INFO), answer);
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
}

async function forget() {
  for (const name of await caches.keys()) {
    if (name.startsWith(OURS) && name !== CACHE) await caches.delete(name);
  }
}

/** The document that runs a user's code, which has no origin wherever it is shown: own.js asks for it without the attribute that says so. */
function sandboxed({ body, headers }) {
  const more = new Headers(headers);
  more.append("content-security-policy", "sandbox allow-scripts");
  return new Response(body, { headers: more });
}

async function answer(event, name) {
  const cache = await caches.open(CACHE), kept = await cache.match(at(name));
  if (kept) return name === "sandbox.html" ? sandboxed(kept) : kept;
  try {
    const sum = (await known()).get(name);
    // The pages of docs stand for themselves: the server's are as good.
    if (!sum || name === "sw.js" || name.startsWith("docs/")) return await fetch(event.request);
    const file = await fetched(name, sum);
    if (file.ok) event.waitUntil(cache.put(at(name), file.clone()).catch(() => {})); // another build's, or no room
    return file;
  } catch (error) {
    if (event.request.mode !== "navigate") throw error;
    return new Response("<!doctype html><meta charset=utf-8><title>Offline</title><p>You are offline, and this page is not stored here.", { status: 503, headers: { "content-type": "text/html; charset=utf-8" } });
  }
}

/** Takes over, unless that would leave another page with files of two builds. */
async function takeOver(asker) {
  const open = (await clients.matchAll({ type: "window", includeUncontrolled: true }))
    .filter((page) => page.url.startsWith(scope) && (page.frameType !== "nested" || page.url.includes("/embed.html")));
  if (open.length > 1) asker.postMessage("others are open");
  else await skipWaiting();
}

addEventListener("install", (event) => event.waitUntil(keep()));
addEventListener("activate", (event) => event.waitUntil(forget()));
addEventListener("message", (event) => event.waitUntil(takeOver(event.source)));
addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method !== "GET" || !url.startsWith(scope)) return;
  const name = decodeURIComponent(new URL(url).pathname.slice(new URL(scope).pathname.length));
  event.respondWith(answer(event, name === "" ? "index.html" : name));
});
