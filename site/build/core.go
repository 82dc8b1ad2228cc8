package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/site/pages"
)

var binaries = []struct {
	name, from string
	flags      []string
}{
	{"core.wasm", "./wasm/worker", inline("math/rand/v2", "internal/chacha8rand", "internal/byteorder", "internal/goarch", "./audit", "./audit/stream/...", "./estimators")},
	{"view.wasm", "./wasm/view", inline("image/...", "./wasm/...", "github.com/hajimehoshi/ebiten/v2/...")},
}

// inline has functions inlined in these packages, in which a program spends its time, and in the runtime's alone:
// calls compress better, by a tenth of the core.
func inline(packages ...string) []string {
	flags := []string{"-gcflags=all=-l"}
	for _, p := range append([]string{"runtime/...", "internal/runtime/...", "internal/abi", "internal/bytealg", "math", "math/bits", "slices", "encoding/binary"}, packages...) {
		flags = append(flags, "-gcflags="+p+"=")
	}
	return flags
}

// compile builds the programs, without paths, build id and version control stamp.
func compile() (files []pages.File, err error) {
	defer try.To(&err)
	dir := try.Get(os.MkdirTemp("", "dpscope-core-"))
	defer os.RemoveAll(dir)
	for _, b := range binaries {
		path := filepath.Join(dir, b.name)
		args := slices.Concat([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", path}, b.flags, []string{b.from})
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWASM=", "GOFLAGS=", "GOEXPERIMENT=")
		if said, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", b.name, err, said)
		}
		data, err := slim(try.Get(os.ReadFile(path)))
		try.Of(b.name, err)
		files = append(files, pages.File{Name: b.name, Data: data})
	}
	return files, nil
}
