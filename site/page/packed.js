// Values in an address: JSON, deflated, in the letters that an address takes as they
// are.

const MOST = 4e6; // characters of JSON that are unpacked: an address may be anybody's

/** @param {Uint8Array} bytes @param {CompressionStream | DecompressionStream} through @returns {Promise<Uint8Array>} at most MOST of them */
async function flow(bytes, through) {
  const reader = new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)]).stream().pipeThrough(through).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    if ((size += value.length) > MOST) {
      reader.cancel();
      throw new Error(`it holds more than ${MOST} bytes`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** @returns {Promise<string>} of A-Z, a-z, 0-9, - and _ */
export async function pack(value) {
  const bytes = await flow(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What {@link pack} made. Throws an error in words where the text is cut off or something else. @param {string} text */
export async function unpack(text) {
  let binary;
  try {
    binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    throw new Error("it holds letters that no link of ours has, or is cut off");
  }
  let json;
  try {
    json = new TextDecoder().decode(await flow(Uint8Array.from(binary, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw")));
  } catch (error) {
    throw new Error(error instanceof TypeError ? "it ends too early: the link was cut off, or changed on its way" : error.message);
  }
  return JSON.parse(json);
}
