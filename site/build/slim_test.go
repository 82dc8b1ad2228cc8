package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// needsTables is a program that needs the runtime's tables of functions: stacks that grow and
// are searched for pointers, a panic that is recovered, a function's name, and a panic that
// ends it.
const needsTables = `package main

import (
	"fmt"
	"runtime"
)

func main() {
	sums := make(chan int)
	go func() { sums <- *deep(2000, 0) }()
	pc, _, _, _ := runtime.Caller(0)
	fmt.Println(<-sums, recovered(), runtime.FuncForPC(pc).Name())
	panic("the end")
}

// deep adds up 1 to n, and i, with one live pointer in each of n frames.
func deep(n, i int) *int {
	if n == 0 {
		runtime.GC()
		return &i
	}
	here := new(n)
	return new(*here + *deep(n-1, i))
}

func recovered() (what any) {
	defer func() { what = recover() }()
	var none []int
	return none[len(none)]
}
`

// A slim program does the same, and the trace of its panic names its functions. It has more
// bytes, and fewer when it is compressed.
func TestSlim(t *testing.T) {
	node := must.Have(t, "node")
	runner := filepath.Join(must.Get(goEnv("GOROOT"))(t), "lib", "wasm", "wasm_exec_node.js")
	source, path := filepath.Join(t.TempDir(), "needs.go"), filepath.Join(t.TempDir(), "needs.wasm")
	must.Do(t, os.WriteFile(source, []byte(needsTables), 0o644))
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, source)
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	whole := must.Get(os.ReadFile(path))(t)
	made := must.Get(slim(whole))(t)
	for _, c := range []struct {
		program []byte
		line    string
	}{{whole, "needs.go:"}, {made, "?:0 "}} {
		must.Do(t, os.WriteFile(path, c.program, 0o644))
		said, err := exec.Command(node, runner, path).CombinedOutput()
		if err == nil || !strings.HasPrefix(string(said), "2001000 runtime error: index out of range [0] with length 0 main.main\npanic: the end\n") {
			t.Fatalf("%v: %s", err, said)
		}
		if _, trace, _ := strings.Cut(string(said), "\nmain.main("); !strings.Contains(trace, c.line) {
			t.Errorf("no %q in the trace of main:\n%s", c.line, said)
		}
	}
	if before, after := len(must.Get(gzipCoding.pack(whole))(t)), len(must.Get(gzipCoding.pack(made))(t)); after > before*9/10 {
		t.Errorf("%d bytes of gzip became %d", before, after)
	}
	must.Refuse(t, must.Err(slim(bytes.Replace(whole, []byte{0xf1, 0xff, 0xff, 0xff}, make([]byte, 4), -1))), "table of functions", "another Go's program")
}
