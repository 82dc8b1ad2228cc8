package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/must"
)

// TestRecomputeKept: what every kept report says follows from its counts without a
// file or a draw, or it is refused with a remedy.
func TestRecomputeKept(t *testing.T) {
	files, err := filepath.Glob(kept + "/*.json")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	right := 0
	for _, name := range files {
		data := must.Get(os.ReadFile(name))(t)
		var all []report.View
		if report.KindOf(data) == suite.ReportKind {
			r, err := suite.ParseReport(data)
			if err != nil {
				t.Fatal(name, err)
			}
			for _, a := range r.Audits {
				all = append(all, a.Report)
			}
		} else {
			r, err := core.ParseReport(data)
			if err != nil {
				t.Fatal(name, err)
			}
			all = append(all, r)
		}
		for _, r := range all {
			v, err := core.Verify(t.Context(), r, core.Env{Catalogue: catalogue}, false)
			var in *audit.InputError
			switch own, ok := r.(pair.Report); {
			case errors.As(err, &in) && in.Remedy != "":
				if in.Field != "data" && in.Field != "report" {
					t.Errorf("%s: %v", name, err)
				}
				continue
			case err != nil || !v.OK():
				t.Errorf("%s: %v %v", name, err, v.Differences)
			case ok && own.LowerBound != nil:
				*own.LowerBound = own.Claim.Limit() + 1 // nothing of its counts
				own.Verdict = audit.Violation
				if v, err := core.Verify(t.Context(), own, core.Env{Catalogue: catalogue}, false); err == nil && v.OK() {
					t.Errorf("%s: a forged bound follows from its counts", name)
				}
			}
			right++
		}
	}
	if right < 30 {
		t.Errorf("only %d reports could be checked", right)
	}
}
