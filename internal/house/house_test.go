package house

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestPureCore: core, estimators and mechanisms see no browser, file, network,
// process or clock, on the host and in the browser. Their own imports may not
// name such a package at all; what those imports bring with them (fmt needs
// os) may still not reach the network, a process or the drawing library.
func TestPureCore(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("needs the go command")
	}
	const pure = "github.com/dpscope/dpscope/"
	var rooms []string
	for _, room := range []string{"audit/...", "report", "stream/...", "mechanisms", "mechanisms/recorded/...", "finders", "estimators", "bounds/...", "accounting", "core/..."} {
		rooms = append(rooms, pure+room)
	}
	forbiddenHere := []string{"os", "os/*", "net", "net/*", "syscall", "syscall/*", "time", "log", "log/*", "math/rand", "unsafe", "io/ioutil", "embed", "testing"}
	forbiddenBelow := []string{"net", "net/*", "os/exec", "os/signal", "crypto/tls", "testing", "github.com/hajimehoshi/*"}
	for _, platform := range [][2]string{{"js", "wasm"}, {runtime.GOOS, runtime.GOARCH}} {
		list := func(args ...string) []string {
			cmd := exec.Command("go", append([]string{"list"}, args...)...)
			cmd.Env = append(os.Environ(), "GOOS="+platform[0], "GOARCH="+platform[1])
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("go list %v: %v", args, err)
			}
			return strings.Split(strings.TrimSpace(string(out)), "\n")
		}
		seen := map[string]bool{}
		for _, line := range list(append([]string{"-f", "{{.ImportPath}} {{join .Imports \" \"}}"}, rooms...)...) {
			fields := strings.Fields(line)
			seen[fields[0]] = true
			for _, imp := range fields[1:] {
				if matches(imp, forbiddenHere) {
					t.Errorf("%s/%s: %s imports %s", platform[0], platform[1], fields[0], imp)
				}
			}
		}
		for _, room := range []string{"audit", "core/engine", "core/pair", "bounds", "stream", "core/canary", "core/canary/train", "finders", "estimators", "mechanisms"} {
			if !seen[pure+room] {
				t.Errorf("go list does not see %s", room)
			}
		}
		for _, dep := range list(append([]string{"-deps"}, rooms...)...) {
			if matches(dep, forbiddenBelow) {
				t.Errorf("%s/%s: the core depends on %s", platform[0], platform[1], dep)
			}
			if strings.HasPrefix(dep, pure) && !seen[dep] {
				t.Errorf("%s/%s: the core depends on %s, which lies above it", platform[0], platform[1], dep)
			}
		}
	}
}

func matches(path string, patterns []string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(path, prefix) || p == path {
			return true
		}
	}
	return false
}
