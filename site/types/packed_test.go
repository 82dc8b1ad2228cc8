package types

import (
	"encoding/base64"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// linked holds links against what they came of, and against what may befall one.
const linked = `
import assert from "node:assert";
import { deflateRawSync } from "node:zlib";
const { BadLink, unpackCode: decode, pack: encode } = await import("data:text/javascript;base64," + process.env.CODELINK);
const of = { code: "def mechanism(rows, random):\n    return 'é 🎲'\n".repeat(20), language: "python", settings: { epsilon: "1", rows: "0:5" } };
const link = await encode(of);
assert.match(link, /^[\w.-]+$/);
assert.ok(link.length < 300, "of " + link.length + " characters");
assert.deepEqual(await decode(link), of);
const refused = async (text, says) => {
  try {
    await decode(text);
  } catch (error) {
    assert.ok(error instanceof BadLink && error.message.includes(says), error + ", want " + says);
    return;
  }
  assert.fail(text.slice(0, 80) + " was read");
};
for (let end = 4; end < link.length; end++) await refused(link.slice(0, end), "incomplete");
for (let at = 12; at < link.length; at += 7) await refused(link.slice(0, at) + (link[at] === "A" ? "B" : "A") + link.slice(at + 1), "was changed");
await refused("", "nothing that can be read");
await refused("x" + link, "nothing that can be read");
await refused("2" + link.slice(1), "newer version");
// What is whole and yet no link: forged with the check that its data have.
const check = (text) => {
  let sum = 0x811c9dc5;
  for (const c of text) sum = Math.imul(sum ^ c.charCodeAt(0), 0x01000193);
  return (sum >>> 0).toString(36);
};
const forged = (bytes) => { const data = Buffer.from(bytes).toString("base64url"); return "1." + check(data) + "." + data; };
await refused(forged(deflateRawSync('{"code":1}')), "something else");
await refused(forged(deflateRawSync('{"code":"","language":"python","settings":{"epsilon":1}}')), "something else");
await refused(forged(deflateRawSync("null")), "something else");
await refused(forged(deflateRawSync("{")), "something else");
await refused(forged(deflateRawSync(Buffer.from(JSON.stringify(of))).subarray(0, 60)), "unpacked");
await refused(forged(deflateRawSync(Buffer.alloc(2 ** 24, 32))), "unfolds to more");
`

// A link gives back the code, and one that is cut, changed, newer or forged is refused
// in words for its reader.
func TestCodeLink(t *testing.T) {
	must.Have(t, "node")
	source := must.Get(os.ReadFile("../page/packed.js"))(t)
	cmd := exec.Command("node", "--input-type=module")
	cmd.Stdin = strings.NewReader(linked)
	cmd.Env = append(os.Environ(), "CODELINK="+base64.StdEncoding.EncodeToString(source))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %.2000s", err, out)
	}
}
