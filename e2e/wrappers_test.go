package e2e

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/e2e/browser"
	"github.com/dpscope/dpscope/internal/gear"
)

// TestWrappers: what docs tell readers of Sphinx and MkDocs to write becomes a page with
// the element and its record, and the element in it runs.
func TestWrappers(t *testing.T) {
	gear.Long(t)
	for _, c := range []struct {
		command, docs, wrapper, conf string
		args                         []string
	}{
		{"sphinx-build", "sphinx", "sphinx/dpaudit.py", "conf.py", []string{"-q", "-W", "-b", "html", ".", "out"}},
		{"mkdocs", "mkdocs", "mkdocs/dpaudit.py", "mkdocs.yml", []string{"build", "-q", "-s", "-d", "out"}},
	} {
		t.Run(c.docs, func(t *testing.T) {
			if _, err := exec.LookPath(c.command); err != nil {
				t.Skipf("%s is not installed; ./build.sh test-all installs it on Debian", c.command)
			}
			dir := t.TempDir()
			copied := func(to, from string) string {
				data, err := os.ReadFile(from)
				if err != nil {
					t.Fatal(err)
				}
				writeText(t, filepath.Join(dir, to), strings.ReplaceAll(string(data), "https://dpscope.example/", site))
				return string(data)
			}
			source := filepath.Join("..", "docs", "embed", c.docs)
			copied(c.conf, filepath.Join(source, c.conf))
			copied("dpaudit.py", filepath.Join("..", "site", "wrappers", c.wrapper))
			page, from := "index.rst", "index.rst"
			if c.docs == "mkdocs" {
				page, from = "docs/index.md", "docs/index.markdown"
			}
			text := copied(page, filepath.Join(source, from))
			card := filepath.Join(dir, filepath.Dir(page), "svt4.svg")
			writeText(t, card, recordedAs(t, "svg"))
			build := func() (string, error) {
				cmd := exec.Command(c.command, c.args...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if out, err := build(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			files := map[string]string{}
			root := os.DirFS(filepath.Join(dir, "out"))
			if err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				data, err := fs.ReadFile(root, path)
				files["/"+path] = string(data)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			files["/"] = files["/index.html"]
			tab := hostingFiles(t, "127.0.0.1", files, "cdnjs.cloudflare.com", "hljs") // what MkDocs's own theme asks for
			until(t, tab, `document.querySelector("dp-audit").shadowRoot.querySelector("img")?.naturalWidth === 592`, 10*time.Second)
			eval[bool](t, tab, `(addEventListener("dpaudit-result", (e) => { window.found = e.detail.report; }), document.querySelector("dp-audit").shadowRoot.querySelector("button").click(), true)`)
			until(t, tab, `window.found`, time.Minute)
			sameCounts(t, "the element and the command line", embedReport(t, tab, `found`), runAudit(t, embedFlags...))
			if link := eval[string](t, tab, `document.querySelector("dp-audit a").href`); link != site+"index.html#v=1&mechanism=svt4&epsilon=1&samples=20000&trials=2&seed=42" {
				t.Errorf("without a script there is a link to %s", link)
			}

			// A report instead is words too; a file that is missing is named.
			writeText(t, filepath.Join(dir, page), strings.ReplaceAll(strings.ReplaceAll(text, "https://dpscope.example/", site), "svt4.svg", "svt4.json"))
			if out, err := build(); err == nil || !strings.Contains(out, "there is no ") || !strings.Contains(out, "svt4.json") {
				t.Errorf("without the recorded file it says (%v)\n%s", err, out)
			}
			writeText(t, filepath.Join(filepath.Dir(card), "svt4.json"), recordedAs(t, "json"))
			if out, err := build(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if html, err := os.ReadFile(filepath.Join(dir, "out", "index.html")); err != nil || !strings.Contains(string(html), "<p>Recorded: Violation: epsilon &gt;= 1.510") {
				t.Errorf("%v: the page does not say what was recorded:\n%s", err, html)
			}
		})
	}
}

// TestNPM: the package is packed, imported in Node, where it does nothing, and checked by
// its types; in a browser its module defines the element, which runs from the package.
func TestNPM(t *testing.T) {
	gear.Long(t)
	dir := t.TempDir()
	pack := goCommand("run", "./site/build", "-plain", "-out", filepath.Join(dir, "site"), "-npm", filepath.Join(dir, "package"))
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	do := func(folder, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	packed := strings.Fields(do(filepath.Join(dir, "package"), "npm", "pack", "--silent", "--pack-destination", dir))
	user := filepath.Join(dir, "user")
	writeText(t, filepath.Join(user, "package.json"), `{"type": "module", "private": true}`)
	do(user, "npm", "install", "--offline", "--no-audit", "--no-fund", filepath.Join(dir, packed[len(packed)-1]))
	if out := do(user, "node", "-e", `import("dpscope").then(async (m) => { await m.defined; console.log(Object.keys(m).join()); })`); strings.TrimSpace(out) != "defined" {
		t.Errorf("in Node it exports %q", out)
	}
	writeText(t, filepath.Join(user, "index.html"), `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title><dp-audit `+embedAttributes+`></dp-audit><script type="module" src="node_modules/dpscope/index.js"></script></html>`)
	server := httptest.NewServer(http.FileServer(http.Dir(user)))
	defer server.Close()
	tab, err := browser.Open(profile(t), server.URL+"/")
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	until(t, tab, `document.querySelector("dp-audit").run`, 10*time.Second)
	eval[bool](t, tab, `document.querySelector("dp-audit").run().then((r) => { window.found = r; return true; })`)
	sameCounts(t, "the package and the command line", embedReport(t, tab, `found`), runAudit(t, embedFlags...))

	writeText(t, filepath.Join(user, "use.ts"), "import { defined, type DPAuditReport } from \"dpscope\";\nawait defined;\nconst e = document.querySelector(\"dp-audit\")!;\ne.epsilon = 1;\nconst r: DPAuditReport = await e.run();\n// @ts-expect-error: a verdict is none of this\nconst no: \"fine\" = r.verdict;\nexport { no };\n")
	tsc, err := filepath.Abs("../site/types/node_modules/.bin/tsc")
	if err == nil {
		_, err = os.Stat(tsc)
	}
	if err != nil {
		t.Logf("types are not checked: %v; go test ./site/types installs the compiler", err)
	} else {
		do(user, tsc, "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "use.ts")
	}
}

// writeText writes a file, in a folder that may have to be made.
func writeText(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
