package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/internal/nativetest"
	"github.com/dpscope/dpscope/mechanisms"
)

const sharpBeta = 0.05

// Every bound keeps its error in its sharp cell, the two that are exact use most
// of it, and the runs refute as often as the enumeration says. The seed is
// fixed; each cell's test errs with probability 1e-5 in the choice of a seed.
func TestSharpCellsKeepTheirSize(t *testing.T) {
	nativetest.Only(t)
	cells, err := sharpCells(audit.Catalogue{Mechanisms: mechanisms.All()}, sharpBeta)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	batches := sharpBatches(sharpRuns)
	for _, c := range cells {
		alarms := 0
		for b := range batches {
			alarms += c.batch(1, b)
		}
		r := c.row(alarms, batches, sharpBeta)
		if r.accused() || r.Of < 100_000 || r.Size > sharpBeta || names[c.Name] {
			t.Errorf("%+v", r)
		}
		names[c.Name] = true
		if tight := strings.HasPrefix(c.Name, "exact") || strings.HasPrefix(c.Name, "one-run"); tight && r.Size < 0.042 {
			t.Errorf("%s has size %g", c.Name, r.Size)
		}
		again := c.batch(1, 3)
		if c.batch(1, 3) != again || c.batch(1, 3) == c.batch(2, 3) && c.batch(1, 4) == c.batch(2, 4) && c.batch(1, 5) == c.batch(2, 5) && c.batch(1, 6) == c.batch(2, 6) {
			t.Errorf("%s: a batch does not depend on the seed alone", c.Name)
		}
	}
	if len(cells) < 7 {
		t.Errorf("%d cells", len(cells))
	}
}

// broken are cells of the exact bound at a level above .05, whose size is .06.
func broken() (sound, wrong sharp) {
	const n = 40
	cell := func(beta float64) sharp {
		return twoBinomials("exact", n, n, truthful, 1-truthful, func(c bounds.Counts) bool { return bounds.Exact(c, 0, beta) > 1 })
	}
	return cell(sharpBeta), cell(0.062)
}

// A bound whose size is .06 instead of .05 is accused for its size; and if its
// size were said to be that of the sound bound, by its runs, with probability
// all but 1. So is one that refutes less often than it says.
func TestSharpCellAccusesABrokenBound(t *testing.T) {
	nativetest.Only(t)
	sound, wrong := broken()
	if wrong.Size < 0.055 || wrong.Size > 0.06 {
		t.Fatalf("the broken bound has size %g", wrong.Size)
	}
	batches := sharpBatches(sharpRuns)
	alarms := 0
	for b := range batches {
		alarms += wrong.batch(1, b)
	}
	if r := wrong.row(alarms, batches, sharpBeta); !r.TooLarge || r.Off {
		t.Errorf("the broken bound: %+v", r)
	}
	r := sound.row(alarms, batches, sharpBeta)
	if !r.Off || r.TooLarge {
		t.Errorf("its runs against the size of the sound bound: %+v", r)
	}
	runs := distuv.Binomial{N: float64(r.Of), P: wrong.Size}
	if missed := runs.CDF(float64(r.Most)) - runs.CDF(float64(r.Least-1)); !(missed < 1e-9) {
		t.Errorf("it is missed with probability %g", missed)
	}
	if r := wrong.row(int(math.Round(sound.Size*float64(r.Of))), batches, 0.07); !r.Off {
		t.Errorf("fewer alarms than its size: %+v", r)
	}
	// The test accuses what it should not with probability 1e-5 at most.
	runs.P = sound.Size
	if wrongly := runs.CDF(float64(r.Least-1)) + runs.Survival(float64(r.Most)); wrongly > sharpLevel || wrongly < sharpLevel/10 {
		t.Errorf("a sound bound is accused with probability %g", wrongly)
	}
	var result calibrationResult
	result.addSharp([]sharpRow{sound.row(0, 0, sharpBeta), r})
	if len(result.Sharp) != 2 || !slices.Equal(result.Above, []string{"exact"}) {
		t.Errorf("%+v", result)
	}
}
