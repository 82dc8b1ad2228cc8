package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/gear"
)

// A small network comes out the same natively and in Node; times are there, and
// how they compare is left to the bench.
func TestBenchNetwork(t *testing.T) {
	gear.Long(t)
	for _, tool := range []string{"go", "node"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs " + tool)
		}
	}
	var out, errs bytes.Buffer
	code := run([]string{"network", "-outputs", "1000", "-columns", "3", "-units", "8", "-epochs", "1", "-runs", "2", "-format", "json"}, &out, &errs)
	if code != cli.ExitOK && code != cli.ExitViolation { // start-up may weigh more than the limit
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var r networkResult
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if !r.Same || len(r.Times) != 2 || r.Plan.Units != 8 {
		t.Errorf("%+v", r)
	}
	for _, x := range r.Times {
		if len(x.Seconds) != 2 || !(x.Median > 0 && x.Ratio > 0) {
			t.Errorf("%+v", x)
		}
	}
	var text strings.Builder
	r.print(&text)
	if !strings.Contains(text.String(), "bit for bit: true") {
		t.Errorf("printed %s", text.String())
	}
}

// What is missing is named, with how to get it.
func TestBenchNetworkNeeds(t *testing.T) {
	fails := func(says string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run([]string{"network"}, &out, &errs); code != cli.ExitUsage || !strings.Contains(errs.String(), says) || out.Len() > 0 {
			t.Errorf("exit code %d, %q; want %d and %q", code, errs.String(), cli.ExitUsage, says)
		}
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs go")
	}
	if _, err := exec.LookPath("node"); err == nil {
		t.Chdir(t.TempDir())
		fails("must be inside of it")
	}
	path := t.TempDir()
	t.Setenv("PATH", path)
	fails("no go command")
	if err := os.Symlink(goTool, filepath.Join(path, "go")); err != nil {
		t.Skip(err)
	}
	fails("no node command")
}

func TestTrainingOutputIsChecked(t *testing.T) {
	if _, err := readTrained([]byte(`{"platform":"js/wasm","seconds":1.5,"network":"ab"}`)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "panic: no", `{"seconds":1}`, `{"network":"ab"}`} {
		if _, err := readTrained([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
