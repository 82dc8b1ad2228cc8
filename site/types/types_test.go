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

// Scripts keep the types that they declare. npm installs the compiler that
// package-lock.json names. Where it cannot, the test is skipped; ./build.sh test sets
// DPSCOPE_TYPES, and insists.
func TestTypes(t *testing.T) {
	missing := t.Skipf
	if os.Getenv("DPSCOPE_TYPES") != "" {
		missing = t.Fatalf
	}
	if _, err := exec.LookPath("npm"); err != nil {
		missing("npm, which installs the TypeScript compiler, is missing: %v", err)
	}
	for folder, needs := range map[string]string{".": "@anywidget/types", "../code": "@codemirror/view"} {
		if installed(folder, needs) {
			continue
		}
		install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		install.Dir = folder
		if out, err := install.CombinedOutput(); err != nil {
			missing("npm ci did not install the TypeScript compiler and the packages that scripts import: %v\n%s", err, out)
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

// installed says whether what is in the folder is what its lock file asks for.
func installed(folder, name string) bool {
	list := exec.Command("npm", "ls", "--json")
	list.Dir = folder
	got, err := list.Output()
	return err == nil && strings.Contains(string(got), `"`+name+`"`)
}
