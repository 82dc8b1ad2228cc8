package pair_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// TestSameBitsOfReports replays reports that are kept, exploration and all: each
// learner, each kind of output and each relation, and a search by a model. It runs
// on every platform that the tests run on, so that a report written on one gives
// the same counts on the others. All that are kept are verified in cmd/dpscope.
func TestSameBitsOfReports(t *testing.T) {
	files, err := filepath.Glob("../testdata/reports/pair/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(t)
		r, err := pair.ParseReport(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		validate(t, data)
		v, err := pair.Verify(context.Background(), catalogue, engine.LocalPool(2), r, true)
		if err != nil || !v.OK() {
			t.Errorf("%s: %v %v", file, err, v.Differences)
		}
	}
}

// TestConcludes: what a report says follows from its plan and its evidence, for all that
// are kept, but for those of mechanisms that users brought and of files, which are not
// here.
func TestConcludes(t *testing.T) {
	testsize.Native(t)
	files, err := filepath.Glob("../testdata/reports/*.json")
	more, _ := filepath.Glob("../testdata/reports/pair/*.json")
	if err != nil {
		t.Fatal(err)
	}
	concluded := 0
	for _, file := range append(files, more...) {
		data := must.Get(os.ReadFile(file))(t)
		if report.KindOf(data) != report.Pair {
			continue
		}
		r, err := pair.ParseReport(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		a, err := r.Plan.Resolve(catalogue)
		if err != nil {
			continue
		}
		want, err := a.Conclude(pair.Found{Trials: r.Trials, Sequential: r.Sequential, Evidence: r.Evidence},
			audit.Termination{Reason: r.Termination.Reason, Message: r.Termination.Message})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for i, row := range want.Rows(report.Renyi) {
			if i > 0 && *row.LowerBound < *want.Rows(report.Renyi)[i-1].LowerBound {
				t.Errorf("%s: the bound falls at order %v, the divergence does not", file, row.Alpha)
			}
		}
		var v engine.Verification
		report.Compare(&v, &r, &want)
		if !v.OK() || v.Summary != want.Summary {
			t.Errorf("%s: %v", file, v.Differences)
		}
		concluded++
	}
	if concluded < 15 {
		t.Errorf("only %d reports were concluded again", concluded)
	}
}
