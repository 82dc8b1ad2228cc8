package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// coldPackages are compiled without inlining, which makes the core smaller by
// some 90 KB of brotli. No sampling or learning goes through them, but for the
// runtime, whose 40 KB cost learning on mixed outputs 3 to 5 %, and other runs
// nothing that could be measured.
var coldPackages = []string{
	"bufio", "bytes", "compress/flate", "context", "encoding/csv", "encoding/hex", "hash/crc32", "encoding/base64", "encoding/binary", "encoding/json", "errors", "fmt",
	"internal/bisect", "internal/fmtsort", "internal/godebug", "internal/poll", "internal/reflectlite",
	"internal/runtime/...", "internal/strconv", "internal/sync", "io", "io/fs", "os", "path", "reflect", "runtime",
	"sort", "strconv", "strings", "sync", "syscall", "syscall/js", "time", "unicode/...",
	"gonum.org/v1/gonum/...",
	"github.com/dpscope/dpscope/core/pair", // its inner loops are in stream, mechanisms and estimators
	"github.com/dpscope/dpscope/accounting",
	"github.com/dpscope/dpscope/core/calibration",
	"github.com/dpscope/dpscope/core/canary",
	"github.com/dpscope/dpscope/finders",
	"github.com/dpscope/dpscope/audit/phrase",
	"github.com/dpscope/dpscope/core/canary/train",
	"github.com/dpscope/dpscope/mechanisms/user/...",
	"github.com/dpscope/dpscope/wasm/catalogue",
	"github.com/dpscope/dpscope/wasm/worker",
}

// binaries are what is built for the browser: the cores and the picture's program.
var binaries = []struct{ name, tags, from string }{
	{"core.wasm", "", "./wasm/worker"},
	{"core-all.wasm", "coreall", "./wasm/worker"},
	{"core-google.wasm", "coreall,google", "./wasm/worker"},
	{"view.wasm", "", "./wasm/view"},
}

// compile builds a program for the browser. Nothing of the machine or
// the checkout goes into it: no paths, no build id, no version control stamp.
func compile(name, tags, from string) (file, error) {
	dir, err := os.MkdirTemp("", "dpscope-core-")
	if err != nil {
		return file{}, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, name)
	args := []string{"build", "-tags=" + tags, "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", out}
	for _, name := range coldPackages {
		args = append(args, "-gcflags="+name+"=-l")
	}
	cmd := exec.Command("go", append(args, from)...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWASM=", "GOFLAGS=", "GOEXPERIMENT=")
	if said, err := cmd.CombinedOutput(); err != nil {
		return file{}, fmt.Errorf("%s: %w\n%s", name, err, said)
	}
	linked, err := os.ReadFile(out)
	if err != nil {
		return file{}, err
	}
	data, err := mergeSegments(linked)
	if err != nil {
		return file{}, err
	}
	// Another Go may lay its table out otherwise: then the core is larger.
	if smaller := bytes.Clone(data); dropLines(smaller, isOwn) == nil {
		data = smaller
	} else {
		fmt.Fprintf(os.Stderr, "build: %s keeps all line numbers: its table of functions is not of the form that is known\n", name)
	}
	return file{name: name, data: data}, nil
}
