package main

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/internal/testsize"
)

// Every bound keeps its error in its sharp cell, the exact ones use most of it, and the runs
// refute as often as the enumeration says. The seed is fixed; each cell's test errs with
// probability 1e-5 in the choice of a seed.
func TestSharp(t *testing.T) {
	testsize.Native(t)
	out := printedBy(t, "calibration", "-sharp")
	if !strings.Contains(out, "No cell is accused.") || strings.Count(out, "/100000") != 6 || strings.Contains(out, "finder") {
		t.Error(out)
	}
	for _, c := range sharpCells(0.05) {
		if tight := strings.HasPrefix(c.name, "exact") || strings.HasPrefix(c.name, "one-run"); tight && c.size < 0.042 {
			t.Errorf("%s has size %g", c.name, c.size)
		}
	}
}

// A bound at a level of .062 is accused for its size; its runs are told from those of the
// sound bound but with a probability below 1e-9, and the sound bound is accused with
// probability 1e-5 at most.
func TestSharpAccuses(t *testing.T) {
	const p = math.E / (1 + math.E)
	size := func(beta float64) float64 {
		return sharpOf("exact", 40, 40, p, 1-p, func(c bounds.Counts) bool { return bounds.Exact(c, 0, beta) > 1 }).size
	}
	sound, wrong := size(0.05), size(0.062)
	if !(sound <= 0.05 && wrong > 0.055 && wrong < 0.06) {
		t.Fatalf("sizes %g and %g", sound, wrong)
	}
	if _, accused := (lab{ctx: t.Context(), workers: 2}).sharp(1, 0.05); len(accused) > 0 {
		t.Error(accused)
	}
	least, most := sharpLimits(sound, sharpRuns)
	inside := func(p float64) float64 {
		d := distuv.Binomial{N: sharpRuns, P: p}
		return d.CDF(float64(most)) - d.CDF(float64(least-1))
	}
	if missed, wrongly := inside(wrong), 1-inside(sound); missed > 1e-9 || wrongly > sharpLevel || wrongly < sharpLevel/10 {
		t.Errorf("missed with probability %g, accused wrongly with %g", missed, wrongly)
	}
}
