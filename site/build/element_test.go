package main

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/dpscope/dpscope/internal/must"
)

// observed defines the element where there is no page, and prints which attribute each
// property of the element sets.
const observed = `
globalThis.CSSStyleSheet = class { replaceSync() {} };
globalThis.HTMLElement = class {};
globalThis.document = { currentScript: { src: "http://x/dp-audit.js" }, baseURI: "http://x/" };
let element;
globalThis.customElements = { get() {}, define(name, made) { element = made; } };
await import("data:text/javascript;base64," + process.env.ELEMENT);
const names = {};
for (const [property, { set, enumerable }] of Object.entries(Object.getOwnPropertyDescriptors(element.prototype))) {
  if (enumerable && set) set.call({ setAttribute: (name) => { names[property] = name; } }, "x");
}
console.log(JSON.stringify(names));
`

// The types name every attribute that the element reads, and every property, and no other.
func TestElementTypes(t *testing.T) {
	node := must.Have(t, "node")
	t.Chdir("../..")
	script := must.Get(bundleOne(filepath.Join("site", "embed", "dp-audit.js"), api.FormatESModule, ""))(t)
	c := exec.Command(node, "--input-type=module")
	c.Stdin, c.Env = strings.NewReader(observed), append(os.Environ(), "ELEMENT="+base64.StdEncoding.EncodeToString(script))
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %.2000s", err, err.(*exec.ExitError).Stderr)
	}
	var is map[string]string
	if err := json.Unmarshal(out, &is); err != nil || len(is) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	types := must.Get(os.ReadFile(elementTypes))(t)
	declared := func(name string) (found []string) {
		block := regexp.MustCompile(`(?s)export interface ` + name + ` .*?\n}\n`).Find(types)
		for _, m := range regexp.MustCompile(`(?m)^  (?:readonly )?"?([\w-]+)"?\??: `).FindAllSubmatch(block, -1) {
			found = append(found, string(m[1]))
		}
		return found
	}
	properties, attributes := declared("DPAuditElement"), declared("DPAuditAttributes")
	for property, attribute := range is {
		if !slices.Contains(properties, property) {
			t.Errorf("DPAuditElement lacks %s", property)
		}
		if !slices.Contains(attributes, attribute) {
			t.Errorf("DPAuditAttributes lacks %s", attribute)
		}
	}
	for _, name := range attributes {
		if !slices.Contains(slices.Collect(maps.Values(is)), name) {
			t.Errorf("DPAuditAttributes has %s, which the element does not read", name)
		}
	}
	for _, name := range properties {
		if _, ok := is[name]; !ok && !slices.Contains([]string{"settings", "report"}, name) {
			t.Errorf("DPAuditElement has %s, which the element lacks", name)
		}
	}
}
