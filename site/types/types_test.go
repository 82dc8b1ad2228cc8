// Package types holds the check of the site's scripts by the TypeScript compiler: their
// comments declare types, and those of what crosses to Go are generated from it.
package types

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// Scripts keep the types that they declare. ./build.sh test installs the packages that this
// needs, and insists on it by DPSCOPE_TYPES; elsewhere the test is skipped without them.
func TestTypes(t *testing.T) {
	for _, needs := range []string{"node_modules/typescript", "node_modules/@anywidget", "../code/node_modules/@codemirror"} {
		if _, err := os.Stat(needs); err != nil {
			missing := t.Skipf
			if os.Getenv("DPSCOPE_TYPES") != "" {
				missing = t.Fatalf
			}
			missing("%v: run npm ci --ignore-scripts in site/types and in site/code", err)
		}
	}
	read(t)
	out, err := exec.Command("node_modules/.bin/tsc", "--project", ".").CombinedOutput()
	if err != nil {
		t.Errorf("%d faults (%v), as node_modules/.bin/tsc --project . finds them in site/types:\n%s", strings.Count(string(out), "error TS"), err, out)
	}
}

// read reads what the compiler will, so that go test knows that a result is out of date.
func read(t *testing.T) {
	must.Get(os.ReadFile("../../python/src/dpscope/widget.js"))(t)
	must.Do(t, fs.WalkDir(os.DirFS(".."), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == "node_modules":
			return fs.SkipDir
		case strings.HasSuffix(path, ".js") || strings.HasSuffix(path, ".ts") || strings.HasSuffix(path, ".json"):
			_, err = os.ReadFile(filepath.Join("..", path))
		}
		return err
	}))
}
