package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/pages"
)

// withCode makes the files of the editor and of Python, where their packages are.
func withCode(t *testing.T) []pages.File {
	t.Helper()
	t.Chdir("../..")
	files, _ := must.Get2(code())(t)
	if files == nil {
		t.Skipf("npm has not installed the packages of %s", codeFolder)
	}
	return files
}

// All files of the editor and of Python are there. Python's loaders run where nothing
// can be imported: they are classic scripts.
func TestCode(t *testing.T) {
	files := withCode(t)
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		if len(f.Data) < 10_000 {
			t.Errorf("%s has %d bytes", f.Name, len(f.Data))
		}
		if strings.HasPrefix(f.Name, pythonFolder) && strings.HasSuffix(f.Name, ".js") {
			if bytes.Contains(f.Data, []byte("import.meta")) || bytes.Contains(f.Data, []byte("\nexport")) {
				t.Errorf("%s is a module, must be a classic script", f.Name)
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, ".whl") }) // comes where it could be fetched
	want := []string{"editor.js", "python/micropython.js", "python/pyodide.js", "python/micropython.wasm", "python/pyodide-lock.json", "python/pyodide.asm.wasm", "python/python_stdlib.zip"}
	if !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
}

// The licence of every package that is part of the site's files is there, and none of a
// package that is not.
func TestCodeLicences(t *testing.T) {
	withCode(t)
	var out bytes.Buffer
	must.Do(t, codeLicences(&out))
	for _, want := range []string{"@codemirror/view 6.", "@lezer/python 1.", "style-mod 4.", "@micropython/micropython-webassembly-pyscript 1.", "Damien P. George", "pyodide 314.", "Mozilla Public License Version 2.0", "PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not there", want)
		}
	}
	for _, not := range []string{"\nws 8", "@types/"} {
		if strings.Contains(out.String(), not) {
			t.Errorf("%q is there, and not part of the site", not)
		}
	}
}

// Without packages there are no files; with others than the lock names, an error that
// says what to do.
func TestCodePackages(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
	put("package-lock.json", `{"packages": {"": {}, "node_modules/a": {"version": "1.0.0", "integrity": "sha512-x"}}}`)
	if there, err := codePackages(dir); err != nil || there.Packages != nil {
		t.Errorf("nothing installed: %v, %v", there, err)
	}
	const installed = "node_modules/.package-lock.json"
	for _, c := range []struct{ text, fails string }{
		{`{"packages": {"node_modules/a": {"version": "1.0.0", "integrity": "sha512-x", "license": "MIT"}}}`, ""},
		{`{"packages": {"node_modules/a": {"version": "1.0.1", "integrity": "sha512-y"}}}`, `node_modules/a has version "1.0.1", package-lock.json wants 1.0.0: run npm ci`},
		{`{"packages": {}}`, "run npm ci"},
		{`{`, "run npm ci"},
	} {
		put(installed, c.text)
		_, err := codePackages(dir)
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: %v, want %q", c.text, err, c.fails)
		}
	}
}

func TestPackageOf(t *testing.T) {
	for input, want := range map[string]string{
		"site/code/editor.js":                                        "",
		"site/code/node_modules/crelt/index.js":                      "node_modules/crelt",
		"site/code/node_modules/@lezer/lr/dist/index.js":             "node_modules/@lezer/lr",
		"site/code/node_modules/a/node_modules/@b/c/index.js":        "node_modules/@b/c",
		"node_modules/pyodide/pyodide.asm.wasm":                      "node_modules/pyodide",
		"(disabled):site/code/node_modules/pyodide/node_modules/x/y": "node_modules/x",
	} {
		if got := packageOf(input); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

// Neither the addresses of a registry nor a machine's folders are in the lock file.
func TestLockNamesNoPlace(t *testing.T) {
	for _, name := range []string{"../code/package-lock.json", "../types/package-lock.json"} {
		lock := must.Get(os.ReadFile(name))(t)
		for _, place := range []string{`"resolved"`, "://registry", "file:"} {
			if bytes.Contains(lock, []byte(place)) {
				t.Errorf("%s contains %s", name, place)
			}
		}
	}
}
