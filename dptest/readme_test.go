package dptest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/dpscope/dpscope/internal/child"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// TestReadmeCompiles: the test that README shows is whole: in a file of its own it
// compiles, and go vet has nothing to say.
func TestReadmeCompiles(t *testing.T) {
	testsize.Native(t)
	text := must.Get(os.ReadFile("../README.md"))(t)
	snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(text, -1)
	if len(snippets) == 0 {
		t.Fatal("README shows no Go")
	}
	for _, s := range snippets {
		file := filepath.Join(t.TempDir(), "readme_test.go")
		must.Do(t, os.WriteFile(file, s[1], 0o600))
		here := must.Get(filepath.Abs("../docs"))(t)
		overlay := must.Get(json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "readme_test.go"): file}}))(t)
		list := filepath.Join(t.TempDir(), "overlay.json")
		must.Do(t, os.WriteFile(list, overlay, 0o600))
		if out, err := child.Go(t, "vet", "-overlay", list, "./docs").CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, out, s[1])
		}
	}
}
