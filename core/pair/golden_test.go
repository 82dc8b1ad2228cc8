package pair_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/nativetest"
	"github.com/dpscope/dpscope/report"
)

// TestSameBitsOfReports replays reports of earlier versions, exploration and all: each
// learner, each kind of output and each relation, and a search by a model. It runs
// on every platform that the tests run on, so that a report written on one gives
// the same counts on the others. All that were kept are verified in cmd/dpscope.
func TestSameBitsOfReports(t *testing.T) {
	files, err := filepath.Glob("../testdata/released/*/pair/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := pair.ParseReport(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		upgraded, err := audit.Canonical(r)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, upgraded)
		v, err := pair.Verify(context.Background(), catalogue, pair.LocalPool(catalogue, 2), r, true)
		if err != nil || !v.OK() {
			t.Errorf("%s: %v %v", file, err, v.Differences)
		}
	}
}

// TestConcludesReleased: what a report says follows from its plan and its evidence, for
// all that were kept of earlier versions, but for those of mechanisms that users brought
// and of files, which are not here.
func TestConcludesReleased(t *testing.T) {
	nativetest.Only(t)
	files, err := filepath.Glob("../testdata/released/*/*.json")
	more, _ := filepath.Glob("../testdata/released/*/pair/*.json")
	if err != nil {
		t.Fatal(err)
	}
	concluded := 0
	for _, file := range append(files, more...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if report.KindOf(data) != report.Pair {
			continue
		}
		r, err := pair.ParseReport(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		a, err := r.Plan.Resolve(catalogue)
		if err != nil || !r.Certified() {
			continue
		}
		want, err := pair.Conclude(catalogue, a, pair.Found{Trials: r.Trials, Evidence: r.Evidence}, r.Termination)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
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
