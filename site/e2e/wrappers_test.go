package e2e

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// TestWrappers: what docs tell readers of Sphinx and MkDocs to write becomes a page with
// the element and its record, and the element in it runs.
func TestWrappers(t *testing.T) {
	testsize.Long(t)
	for _, c := range []struct {
		command, docs, wrapper, conf string
		args                         []string
	}{
		{"sphinx-build", "sphinx", "sphinx/dpaudit.py", "conf.py", []string{"-q", "-W", "-b", "html", ".", "out"}},
		{"mkdocs", "mkdocs", "mkdocs/dpaudit.py", "mkdocs.yml", []string{"build", "-q", "-s", "-d", "out"}},
	} {
		t.Run(c.docs, func(t *testing.T) {
			must.Have(t, c.command)
			dir := t.TempDir()
			copied := func(to, from string) string {
				data := must.Get(os.ReadFile(from))(t)
				writeText(t, filepath.Join(dir, to), strings.ReplaceAll(string(data), "/dpscope/", site))
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
			must.Do(t, fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				data, err := fs.ReadFile(root, path)
				files["/"+path] = string(data)
				return err
			}))
			files["/"] = files["/index.html"]
			tab := hostingFiles(t, "127.0.0.1", files, "cdnjs.cloudflare.com", "hljs") // what MkDocs's own theme asks for
			until(t, tab, `document.querySelector("dp-audit").shadowRoot.querySelector("img")?.naturalWidth === 592`)
			eval[bool](t, tab, `(addEventListener("dpaudit-result", (e) => { window.found = e.detail.report; }), document.querySelector("dp-audit").shadowRoot.querySelector("button").click(), true)`)
			until(t, tab, `window.found`)
			sameCounts(t, "the element and the command line", embedReport(t, tab, `found`), runAudit(t, embedFlags...))
			if link := eval[string](t, tab, `document.querySelector("dp-audit a").href`); link != site+"index.html#v=1&mechanism=svt4&epsilon=1&samples=20000&trials=2&seed=42" {
				t.Errorf("without a script there is a link to %s", link)
			}

			// A report instead is words too; a file that is missing is named.
			writeText(t, filepath.Join(dir, page), strings.ReplaceAll(strings.ReplaceAll(text, "/dpscope/", site), "svt4.svg", "svt4.json"))
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
