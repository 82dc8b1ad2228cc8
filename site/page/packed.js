// Values in an address: version, check and deflated JSON, with dots between, in the
// letters that an address takes as they are. The check tells a link that lost its end, or
// a letter, from one that is whole.

const VERSION = 1;
const MOST = 2 ** 20; // characters of JSON that a link may unfold to

/** A link that cannot be read; its message says why and what to do. */
export class BadLink extends Error {}

/** FNV-1a of a text's characters, in base 36. */
function check(text) {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  return (sum >>> 0).toString(36);
}

/** @returns {Promise<string>} letters, digits, dots, - and _ */
export async function pack(value) {
  const deflated = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  let bytes = "";
  for (const byte of new Uint8Array(await new Response(deflated).arrayBuffer())) bytes += String.fromCharCode(byte);
  const data = btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${VERSION}.${check(data)}.${data}`;
}

/** Reads what pack wrote. Throws a BadLink. @param {string} text @returns {Promise<any>} */
export async function unpack(text) {
  const [version, sum, data, ...more] = text.split(".");
  const number = Number(version);
  if (!Number.isInteger(number) || number < 1) throw new BadLink("This link holds nothing that can be read. Copy it again, from its first character to its last.");
  if (number > VERSION) throw new BadLink(`This link was made by a newer version of dpscope (it has form ${number}, this page reads ${VERSION}). Reload the page, or open the link where it was made.`);
  if (!data || more.length || check(data) !== sum) throw new BadLink("This link is incomplete or was changed. Copy it again, from its first character to its last.");
  const json = await inflate(Uint8Array.from(atob(data.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0)));
  try {
    return JSON.parse(json);
  } catch {
    throw new BadLink("This link holds something else. Ask its sender for a new one.");
  }
}

/** Unfolds bytes, which may be a stranger's, as far as MOST. */
async function inflate(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).pipeThrough(new TextDecoderStream()).getReader();
  let json = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return json;
      json += value;
      if (json.length > MOST) break;
    }
  } catch {
    throw new BadLink("This link cannot be unpacked. Ask its sender for a new one.");
  }
  reader.cancel().catch(() => {});
  throw new BadLink(`This link unfolds to more than ${MOST.toLocaleString("en")} characters. Ask its sender for a file instead.`);
}

/**
 * Code with its settings, in a link; of its result what the core puts there, and how many
 * numbers an output has.
 * @typedef {{code: string, language: string, settings: Record<string, string>, result?: import("../worker/protocol").LinkSummary, width?: number}} Linked
 */

/** Reads a link that holds code. Throws a BadLink. @param {string} text @returns {Promise<Linked>} */
export async function unpackCode(text) {
  const linked = await unpack(text);
  const isTexts = (x) => typeof x === "object" && x !== null && !Array.isArray(x) && Object.values(x).every((value) => typeof value === "string");
  if (typeof linked?.code !== "string" || typeof linked.language !== "string" || !isTexts(linked.settings)) {
    throw new BadLink("This link holds something else than code and its settings. Ask its sender for a new one.");
  }
  return linked;
}
