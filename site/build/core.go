package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/dpscope/dpscope/site/pages"
)

// binaries are the programs for the browser, where they come from, and how they are compiled.
var binaries = []struct {
	name, from string
	flags      []string
}{
	{"core.wasm", "./wasm/worker", inline("math/rand/v2", "internal/chacha8rand", "internal/byteorder", "internal/goarch", "./audit", "./audit/stream/...", "./estimators")},
	{"view.wasm", "./wasm/view", inline("image/...", "./wasm/...", "github.com/hajimehoshi/ebiten/v2/...")},
}

// inline has the compiler put functions into their callers in these packages alone, in which
// a program spends its time, and in the runtime's. In all others calls stay calls, which
// compress better: by a tenth of the core.
func inline(packages ...string) []string {
	flags := []string{"-gcflags=all=-l"}
	for _, p := range append([]string{"runtime/...", "internal/runtime/...", "internal/abi", "internal/bytealg", "math", "math/bits", "slices", "encoding/binary"}, packages...) {
		flags = append(flags, "-gcflags="+p+"=")
	}
	return flags
}

// compile builds the programs for the browser. Nothing of the machine or the
// checkout goes into them: no paths, no build id, no version control stamp.
func compile() ([]pages.File, error) {
	dir, err := os.MkdirTemp("", "dpscope-core-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var files []pages.File
	for _, b := range binaries {
		path := filepath.Join(dir, b.name)
		args := slices.Concat([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", path}, b.flags, []string{b.from})
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWASM=", "GOFLAGS=", "GOEXPERIMENT=")
		if said, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", b.name, err, said)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if data, err = slim(data); err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
		files = append(files, pages.File{Name: b.name, Data: data})
	}
	return files, nil
}
