package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	check "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

const (
	root = "../.."
	kept = root + "/core/testdata/reports"
)

// keptReport is what the test reads of a report of any kind, of a plan too.
type keptReport struct {
	Schema    string `json:"$schema"`
	Kind      string
	Generator audit.Generator
	Verdict   audit.Verdict
	Audits    []struct{ Report keptReport } // of a plan
	view      report.View                   // of all others
}

// ended says whether the run ended before anything was certified.
func (r keptReport) ended() bool {
	switch x := r.view.(type) {
	case pair.Report:
		return !x.Certified() && x.Plan.Mode != pair.UntilRefuted
	case canary.Report:
		return x.Evidence == nil || x.Evidence.OneRun == nil && x.Evidence.Runs.Certified.Table == nil
	}
	return false
}

// TestKeptReports verifies every report that is kept, as dpscope verify does: all quickly,
// and as whole runs where that is as quick.
func TestKeptReports(t *testing.T) {
	schemas := compileSchemas(t)
	t.Chdir(kept)
	seen := map[string]bool{}
	listed := listReports(t)
	for _, file := range slices.Sorted(maps.Keys(listed)) {
		t.Run(file, func(t *testing.T) {
			data := must.Get(os.ReadFile(file))(t)
			var r keptReport
			must.Do(t, json.Unmarshal(data, &r))
			if r.Kind != suite.ReportKind {
				r.view = must.Get(core.ParseReport(data))(t)
			}
			seen[r.Schema] = true
			if got := r.Generator.Release(); got != audit.Version {
				t.Errorf("it is of version %q", got)
			}
			value, err := check.UnmarshalJSON(bytes.NewReader(data))
			if err == nil && schemas[r.Schema] != nil {
				err = schemas[r.Schema].Validate(value)
			}
			if err != nil || schemas[r.Schema] == nil {
				t.Errorf("it does not fit the schema %q: %v", r.Schema, err)
			}
			verifyKept(t, file, r, listed[file])
		})
	}
	for name := range schemas {
		if !seen[name] {
			t.Errorf("no report of the schema %s is kept", name)
		}
	}
}

// verifyKept runs dpscope verify with the arguments that the report needs.
func verifyKept(t *testing.T, file string, r keptReport, args []string) {
	runsCommand := slices.Contains(args, "-exec") || slices.ContainsFunc(r.Audits, func(a struct{ Report keptReport }) bool { return a.Report.Verdict == audit.Invalid })
	if runsCommand {
		must.Have(t, "python3")
	}
	modes := [][]string{{"-quick"}, nil}
	slow := runsCommand || file == "page.json" || filepath.Dir(file) == "pair" // which core/pair replays
	if slices.Contains(args, "-quick") {
		modes = modes[1:]
	} else if slow && !testsize.All() {
		modes = modes[:1]
	}
	for _, mode := range modes {
		given := slices.Clone(args)
		if i := slices.IndexFunc(given, func(a string) bool { return a == "-exec" || a == "-wasm" }); i >= 0 && len(mode) > 0 {
			given = slices.Delete(given, i, i+2) // -quick runs nothing
		}
		code, out, errs := dpscope(t, slices.Concat([]string{"verify"}, mode, given, []string{file})...)
		if _, ofPair := r.view.(pair.Report); r.ended() && !ofPair {
			if code != cli.ExitUsage || !strings.Contains(errs, "has nothing to replay") {
				t.Errorf("verify %s: exit code %d: %s%s", mode, code, out, errs)
			}
			continue
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		last := lines[len(lines)-1]
		ends := []string{"Replayed: ", "Recomputed: "}
		if r.ended() {
			ends = []string{"Nothing to replay: "}
		}
		if code != cli.ExitOK || strings.Contains(out, "DIFFERS") || !slices.ContainsFunc(ends, func(s string) bool { return strings.HasPrefix(last, s) }) {
			t.Fatalf("verify %s: exit code %d: %s%s", mode, code, out, errs)
		}
	}
}

// listReports reads reports.txt of the folder: each line a report and the arguments
// of verify. Every report in the folder must be listed.
func listReports(t *testing.T) map[string][]string {
	t.Helper()
	data := must.Get(os.ReadFile("reports.txt"))(t)
	listed := map[string][]string{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		words, err := audit.ShellWords("reports.txt", lines.Text())
		if err != nil || len(words) == 0 {
			t.Fatalf("reports.txt: %q: %v", lines.Text(), err)
		}
		listed[words[0]] = words[1:]
	}
	if len(listed) == 0 {
		t.Fatal("reports.txt names no report")
	}
	must.Do(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path == "inputs" {
			return fs.SkipDir
		}
		path = filepath.ToSlash(path)
		if _, ok := listed[path]; !ok && filepath.Ext(path) == ".json" {
			t.Errorf("reports.txt does not name %s", path)
		}
		return nil
	}))
	return listed
}

// compileSchemas are the schemas of this version's reports, by their names.
func compileSchemas(t *testing.T) map[string]*check.Schema {
	t.Helper()
	files, err := filepath.Glob(root + "/docs/dpscope-*.schema.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	out := map[string]*check.Schema{}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "dpscope-plan-v") {
			continue // of plans, not of their reports
		}
		c := check.NewCompiler()
		out[name] = must.Get(c.Compile(file))(t)
	}
	return out
}

// TestChangelog: this version is the first that the change log names.
func TestChangelog(t *testing.T) {
	data := must.Get(os.ReadFile(root + "/CHANGELOG.md"))(t)
	_, first, _ := strings.Cut(string(data), "\n## [")
	if version, _, _ := strings.Cut(first, "]"); version != audit.Version {
		t.Errorf("the change log names %q first, must be %s", version, audit.Version)
	}
}
