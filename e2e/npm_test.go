package e2e

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/e2e/browser"
	"github.com/dpscope/dpscope/internal/gear"
)

// TestNPM: the package is packed and installed without a network, and imported in Node,
// where it does nothing; in a browser its module defines the element, which runs from the
// package. A project like a user's is checked by its types, built by Vite and served by it
// while it is written.
func TestNPM(t *testing.T) {
	gear.Long(t)
	dir := t.TempDir()
	pack := goCommand("run", "./site/build", "-plain", "-out", filepath.Join(dir, "site"), "-npm", filepath.Join(dir, "package"))
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	packed := strings.Fields(inFolder(t, filepath.Join(dir, "package"), "npm", "pack", "--silent", "--pack-destination", dir))
	tarball := filepath.Join(dir, packed[len(packed)-1])

	t.Run("plain", func(t *testing.T) {
		user := filepath.Join(dir, "user")
		writeText(t, filepath.Join(user, "package.json"), `{"type": "module", "private": true}`)
		inFolder(t, user, "npm", "install", "--offline", "--no-audit", "--no-fund", tarball)
		if out := inFolder(t, user, "node", "-e", `import("dpscope").then(async (m) => { await m.defined; console.log(Object.keys(m).join()); })`); strings.TrimSpace(out) != "defined" {
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
	})

	sample := filepath.Join(dir, "sample")
	if err := os.CopyFS(sample, os.DirFS("../site/npm/sample")); err != nil {
		t.Fatal(err)
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = sample
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install Vite and TypeScript, so no project was built: %v\n%s", err, out)
	}
	inFolder(t, sample, "npm", "install", "--offline", "--no-save", "--no-audit", "--no-fund", tarball)

	t.Run("types", func(t *testing.T) {
		inFolder(t, sample, filepath.Join(sample, "node_modules/.bin/tsc"), "--project", ".")
	})

	t.Run("built by Vite, below a path", func(t *testing.T) {
		inFolder(t, sample, filepath.Join(sample, "node_modules/.bin/vite"), "build", "--logLevel", "warn")
		server := httptest.NewServer(http.StripPrefix("/some/where", http.FileServer(http.Dir(filepath.Join(sample, "dist")))))
		defer server.Close()
		sampleRuns(t, server.URL+"/some/where/")
	})

	t.Run("served by Vite", func(t *testing.T) {
		c := exec.Command("node", "node_modules/vite/bin/vite.js", "--host", "127.0.0.1", "--port", "0", "--clearScreen", "false")
		c.Dir = sample
		c.Env = append(os.Environ(), "NO_COLOR=1")
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer c.Wait()
		defer c.Process.Kill()
		address := ""
		lines := bufio.NewScanner(out)
		for address == "" && lines.Scan() {
			address = regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(lines.Text())
		}
		if address == "" {
			t.Fatalf("Vite names no address (%v)", lines.Err())
		}
		go io.Copy(io.Discard, out)
		sampleRuns(t, address)
	})
}

// sampleRuns opens the sample, which runs its audit by itself and writes the headline into
// the title; all that it asks for is of its own server.
func sampleRuns(t *testing.T, address string) {
	t.Helper()
	tab, err := browser.Open(profile(t), address)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	until(t, tab, `document.title.startsWith("Violation: epsilon >= 1.510 with 95 % confidence; claimed 1.")`, 90*time.Second)
	for _, url := range tab.Requests() {
		if !strings.HasPrefix(url, address) && !strings.HasPrefix(url, "blob:") && !strings.HasPrefix(url, "data:") {
			t.Errorf("it asks for %s", url)
		}
	}
	for _, e := range tab.Errors() {
		if !strings.Contains(e, "favicon") {
			t.Errorf("the page complains: %s", e)
		}
	}
}

// inFolder runs a command there and returns what it printed.
func inFolder(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = folder
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}
