package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const panicking = `package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

var kept [][]int

//go:noinline
func deep(n int) int {
	if n == 0 {
		runtime.GC()
		panic("at the bottom")
	}
	kept = append(kept, make([]int, 1000)) // stacks grow and are scanned
	return deep(n-1) + len(kept[n%len(kept)])
}

func main() {
	defer func() {
		fmt.Println(recover())
		var pcs [1 << 12]uintptr
		frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
		for {
			f, more := frames.Next()
			if f.Function == "main.deep" || strings.HasPrefix(f.Function, "slices.") || f.Function == "runtime.gopanic" {
				fmt.Println(f.Function, f.Line)
			}
			if !more {
				break
			}
		}
	}()
	slices.SortFunc([]int{2, 1}, func(int, int) int { return deep(2000) })
}
`

// A program without lines of its libraries runs, collects garbage and panics as
// before; stacks name all functions and the lines of its own.
func TestDropLines(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	module, err := mergeSegments(linkedProgram(t, panicking))
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Count(module, []byte{0})
	if err := dropLines(module, isOwn); err != nil {
		t.Fatal(err)
	}
	if zeros := bytes.Count(module, []byte{0}) - before; zeros < 50_000 {
		t.Errorf("%d bytes became zero", zeros)
	}
	out := filepath.Join(t.TempDir(), "main.wasm")
	if err := os.WriteFile(out, module, 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(node, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js"), out)
	run.Env = []string{"PATH=" + os.Getenv("PATH")}
	said, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, want := range []string{"at the bottom\n", "main.deep 16\n", "main.deep 19\n", "slices.insertionSortCmpFunc[...] 0\n", "runtime.gopanic 0\n"} {
		if !strings.Contains(string(said), want) {
			t.Errorf("it does not say %q but %q", want, strings.ReplaceAll(string(said), "main.deep 19\n", ""))
		}
	}
}

func TestDropLinesRefuses(t *testing.T) {
	for _, module := range []string{"", "no table", tableMagic, tableMagic + strings.Repeat("\xff", 200), tableMagic + strings.Repeat("\x00", 200) + tableMagic} {
		if err := dropLines([]byte(module), isOwn); err == nil {
			t.Errorf("%.20q passed", module)
		}
	}
}
