package main

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// pythonAsked asks the sandbox's program for outputs of Python, as the core does.
//
//go:embed testdata/python.mjs
var pythonAsked string

// Python in the sandbox: outputs to the same bits as JavaScript's, the forms of the
// function, and each fault in words with its line, in both interpreters.
func TestPython(t *testing.T) {
	files := withCode(t)
	must.Have(t, "node")
	folder := t.TempDir()
	for _, f := range files {
		if strings.HasPrefix(f.Name, pythonFolder) {
			must.Do(t, os.WriteFile(filepath.Join(folder, filepath.Base(f.Name)), f.Data, 0o600))
		}
	}
	for _, name := range []string{"worker/sandboxed.js", "worker/python.js", "panel/templates.js"} {
		data := must.Get(bundleOne(filepath.Join("site", name), api.FormatESModule, "."))(t)
		must.Do(t, os.WriteFile(filepath.Join(folder, strings.TrimSuffix(filepath.Base(name), ".js")+".mjs"), data, 0o600))
	}
	for _, runtime := range []string{"micropython", "pyodide"} {
		t.Run(runtime, func(t *testing.T) {
			if runtime == "pyodide" {
				testsize.Long(t) // the browser tests run it too
			}
			cmd := exec.Command("node", "--input-type=module")
			cmd.Stdin = strings.NewReader(pythonAsked)
			cmd.Env = append(os.Environ(), "FOLDER="+folder, "RUNTIME="+runtime)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %.3000s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}
