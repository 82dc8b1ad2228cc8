package main

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/dpscope/dpscope/audit"
)

// smallSite is a built site of a few files.
func smallSite(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	files := []file{{"index.html", []byte("<!doctype html>")}, {"embed.html", []byte("<!doctype html>")}, {"dp-audit.js", []byte("0")}, {"dp-audit.d.ts", []byte("export {}")}, {"docs/a.html", []byte("a")}, {"core.wasm", []byte("\x00asm")}}
	if _, err := write(out, "go1", files, true); err != nil {
		t.Fatal(err)
	}
	return out
}

// The package holds the site and its own files and nothing else; all that package.json
// names is there, under the product's version.
func TestNPMContents(t *testing.T) {
	out, to := smallSite(t), filepath.Join(t.TempDir(), "npm")
	t.Chdir("../..")
	for range 2 { // an earlier build goes
		if err := packNPM(out, to, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	if err := fs.WalkDir(os.DirFS(to), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := "README.md build-info.json core.wasm docs/a.html dp-audit.d.ts dp-audit.js embed.html index.d.ts index.html index.js package.json react.d.ts react.js vite.d.ts vite.js"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("the package holds\n%s, must hold\n%s", got, want)
	}
	data, err := os.ReadFile(filepath.Join(to, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p npmPackage
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	if p.Name != "dpscope" || p.Version != audit.Version || p.Type != "module" {
		t.Errorf("package.json is of %s %s, a %s", p.Name, p.Version, p.Type)
	}
	for _, name := range names {
		top, _, _ := strings.Cut(name, "/")
		if name != "package.json" && !slices.Contains(p.Files, top) {
			t.Errorf("%s is left out by files", name)
		}
	}
	for path, e := range p.Exports {
		for _, name := range []string{e.Types, e.Default} {
			if name != "" && !strings.Contains(name, "*") && !slices.Contains(names, strings.TrimPrefix(name, "./")) {
				t.Errorf("%s is exported as %s, which is not there", path, name)
			}
		}
	}
	if other := t.TempDir(); os.WriteFile(filepath.Join(other, "mine.txt"), nil, 0o644) != nil || packNPM(out, other, io.Discard) == nil {
		t.Error("a folder of other files was taken")
	}
}

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
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("NOT RUN: needs node")
	}
	t.Chdir("../..")
	script, err := bundleOne(filepath.Join("site", "embed", "dp-audit.js"), api.FormatESModule, "")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(node, "--input-type=module")
	c.Stdin, c.Env = strings.NewReader(observed), append(os.Environ(), "ELEMENT="+base64.StdEncoding.EncodeToString(script))
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %.2000s", err, err.(*exec.ExitError).Stderr)
	}
	var is map[string]string
	if err := json.Unmarshal(out, &is); err != nil || len(is) < 40 {
		t.Fatalf("%v: %s", err, out)
	}
	types, err := os.ReadFile(elementTypes)
	if err != nil {
		t.Fatal(err)
	}
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
		if name != "pair" && !slices.Contains(slices.Collect(maps.Values(is)), name) {
			t.Errorf("DPAuditAttributes has %s, which the element does not read", name)
		}
	}
	for _, name := range properties {
		if _, ok := is[name]; !ok && !slices.Contains([]string{"parameters", "pair", "settings", "report"}, name) {
			t.Errorf("DPAuditElement has %s, which the element lacks", name)
		}
	}
}
