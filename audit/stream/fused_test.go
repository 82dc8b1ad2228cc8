//go:build !js

package stream

import (
	"bufio"
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/child"
	"github.com/dpscope/dpscope/internal/must"
)

// decides are the packages, as patterns of the go command, whose code comes before a
// count: what is drawn, proposed, learned and counted. None of it may contain a fused
// multiply-add, which rounds once where wasm rounds twice. What a pattern covers is
// the go command's to say, so that a new package is looked at without being named
// here.
var decides = []string{"./audit/...", "./mechanisms", "./mechanisms/recorded/...", "./mechanisms/google", "./mechanisms/learners", "./mechanisms/source", "./mechanisms/train", "./mechanisms/user", "./estimators/...", "./core/..."}

// also are single files that decide, of packages that may fuse: when a race ends, and
// what it bets, follows from factors of stakes.
var also = map[string]string{"./bounds": "stakes.go"}

// may are the other packages without a window on the system, by why they may fuse. A
// pure package that is in neither list fails the test.
var may = map[string]string{
	"./bounds/...":             "what it computes from counts is rounded to six digits, or compared with a tolerance",
	"./bounds/accounting/...":  "no count depends on a curve of a claim",
	"./core/report/...":        "words and files",
	"./wasm/scene/...":         "pixels",
	"./core/catalogue":         "lists",
	"./wasm/stills":            "pixels",
	"./docs/examples/tutorial": "is read, and run by its own test",
	"./bench/gallery/google":   "its outputs are of the system's generator, and no count replays",
	"./site/...":               "makes the site",
	"./internal/...":           "of tests and builds",
}

// system are imports by which a package is no pure one.
var system = []string{"os", "net", "net/http", "syscall/js", "os/exec", "time", "testing", "github.com/hajimehoshi/ebiten/v2"}

// Platforms on which the compiler fuses. Whatever it fuses on amd64 it fuses on
// arm64 too, so amd64, which would mean compiling every dependency once more, is
// asked about this package only.
var (
	arm64   = []string{"GOOS=linux", "GOARCH=arm64"}
	amd64v3 = []string{"GOOS=linux", "GOARCH=amd64", "GOAMD64=v3"}
)

// fusedInstruction matches FMADDD, FNMSUBS, ... of arm64 and VFMADD231SD, ... of
// amd64.
var fusedInstruction = regexp.MustCompile(`((?:[^/(]+/)?[^/(]+\.go:\d+)\)\t(V?FN?M(?:ADD|SUB)[A-Z0-9]*)\t`)

// assembly returns the compiler's listing of packages for a target.
func assembly(t *testing.T, env []string, folders ...string) []byte {
	t.Helper()
	cmd := child.Go(t, append([]string{"build", "-gcflags=-S"}, folders...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	if !bytes.Contains(out, []byte(" STEXT ")) {
		t.Fatalf("%v: no listing", cmd.Args)
	}
	return out
}

// fused returns the source lines of a listing's fused instructions.
func fused(listing []byte) []string {
	var lines []string
	for line := range bytes.Lines(listing) {
		if !bytes.Contains(line, []byte("MADD")) && !bytes.Contains(line, []byte("MSUB")) {
			continue // some hundred megabytes
		}
		if m := fusedInstruction.FindSubmatch(line); m != nil {
			lines = append(lines, string(m[1])+" ("+string(m[2])+")")
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func TestNoFusedMultiplyAdd(t *testing.T) {
	folders := slices.Collect(maps.Keys(list(t, decides...)))
	for _, pattern := range decides {
		if !slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(folder, strings.TrimSuffix(pattern, "/...")) }) {
			t.Errorf("%s covers no package", pattern)
		}
	}
	for _, line := range fused(assembly(t, arm64, folders...)) {
		t.Errorf("write float64(a*b) + c in %s", line)
	}
	for folder, file := range also {
		listing := assembly(t, arm64, folder)
		if !bytes.Contains(listing, []byte(file+":")) {
			t.Errorf("%s has no %s", folder, file)
		}
		for _, line := range fused(listing) {
			if strings.Contains(line, "/"+file+":") {
				t.Errorf("write float64(a*b) + c in %s", line)
			}
		}
	}
	for _, line := range fused(assembly(t, amd64v3, "./audit/stream")) {
		t.Errorf("amd64 v3: write float64(a*b) + c in %s", line)
	}
}

// TestEveryPurePackageIsListed: whoever adds a package says whether it comes before a
// count.
func TestEveryPurePackageIsListed(t *testing.T) {
	known := list(t, slices.Concat(decides, slices.Collect(maps.Keys(may)))...)
	for folder, imports := range list(t, "./...") {
		if _, ok := known[folder]; !ok && !slices.ContainsFunc(imports, func(name string) bool { return slices.Contains(system, name) }) {
			t.Errorf("%s is in neither list of this test, and imports nothing of the system", folder)
		}
	}
}

// list are the packages that patterns cover and that have code for the browser, by
// folder, with their imports.
func list(t *testing.T, patterns ...string) map[string][]string {
	t.Helper()
	cmd := child.Go(t, append([]string{"list", "-f", `{{if .GoFiles}}{{.Dir}}{{range .Imports}}|{{.}}{{end}}{{end}}`}, patterns...)...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	packages := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		parts := strings.Split(strings.TrimSpace(line), "|")
		folder := must.Get(filepath.Rel(cmd.Dir, parts[0]))(t)
		packages["./"+filepath.ToSlash(folder)] = parts[1:]
	}
	return packages
}

// The search finds what it is for.
func TestFusedMultiplyAddIsFound(t *testing.T) {
	for _, env := range [][]string{arm64, amd64v3} {
		if len(fused(assembly(t, env, "./audit/stream/testdata/fused"))) == 0 {
			t.Errorf("%v: nothing found in a package that fuses", env)
		}
	}
}

// The loops over samples call nothing but the panics of bounds checks: a call
// costs as much as a logarithm. A helper that grew past the inlining budget
// shows here.
func TestBlocksCallNothing(t *testing.T) {
	blocks := map[string]bool{"logBlock": false, "gaussianBlock": false, "uniformBlock": false, "bernoulliBlock": false, "floorBlock": false}
	listing := assembly(t, []string{"GOOS=js", "GOARCH=wasm"}, "./audit/stream")
	function, calls := "", 0
	start := regexp.MustCompile(`stream\.(\S+) STEXT `)
	allowed := regexp.MustCompile(`^runtime\.(panic|goPanic|sigpanic|morestack)`)
	call := regexp.MustCompile(`\t(?i:call)\t(\S+)`)
	for in := bufio.NewScanner(bytes.NewReader(listing)); in.Scan(); {
		if m := start.FindStringSubmatch(in.Text()); m != nil {
			function = m[1]
			if _, ok := blocks[function]; ok {
				blocks[function] = true
			}
		}
		m := call.FindStringSubmatch(in.Text())
		if m == nil {
			continue
		}
		calls++
		if blocks[function] && !allowed.MatchString(m[1]) {
			t.Errorf("%s calls %s", function, m[1])
		}
	}
	if calls == 0 {
		t.Error("no calls anywhere: the listing's form has changed")
	}
	for name, seen := range blocks {
		if !seen {
			t.Errorf("%s is not in the listing", name)
		}
	}
}
