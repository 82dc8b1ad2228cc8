package main

import (
	"testing"
)

// One row: the published bounds, ours before and now in their order, the ceiling above
// them, and more of it from three runs.
func TestBenchOneRun(t *testing.T) {
	x := oneRunMedians(1, 21, 8, 1000)
	if !(x.recursion <= x.before && x.steinke <= x.before && x.before < x.now && x.now < x.ceiling && x.ceiling < x.three && x.three < 8) || x.now < 2.8 || x.byClaim <= x.byM {
		t.Errorf("%+v", x)
	}
}
