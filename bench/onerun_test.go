package main

import (
	"strings"
	"testing"
)

// One row: the published bounds, ours before and now in their order, the ceiling above
// them, and more of it from three runs.
func TestBenchOneRun(t *testing.T) {
	x := oneRunMedians(1, 21, 8, 1000)
	if !(x.Mahloujifar <= x.Before && x.Steinke <= x.Before && x.Before < x.Now && x.Now < x.Ceiling && x.Ceiling < x.Three && x.Three < x.Epsilon) || x.Now < 2.8 || x.ByClaim <= x.ByM {
		t.Errorf("%+v", x)
	}
	var out strings.Builder
	printOneRun(&out, oneRunResult{Seed: 1, Rows: []oneRunRow{x}, Checks: []check{atLeast("a check", x.Now, 2.8)}})
	if !strings.Contains(out.String(), "now/ceiling") || !strings.Contains(out.String(), "reached  a check") {
		t.Error(out.String())
	}
}
