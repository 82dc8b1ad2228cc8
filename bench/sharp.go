package main

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	sharpRuns  = 100_000 // of a cell: the standard error of a rate of .05 is then .0007
	sharpLevel = 1e-5    // how often, at most, a bound is accused that refutes as often as its size says
	sharpBatch = 1000    // runs that share a stream
)

// sharp is one bound at its exact claim, with an event that is fixed: a run draws how many of n1
// and of n0 outputs are in the event and asks whether the bound refutes the claim. So the
// probability of a false alarm, the size, is known exactly: by enumeration of all counts.
type sharp struct {
	name    string
	n1, n0  int
	p1, p0  float64 // of the event
	refuted []bool
	size    float64 // a bound that keeps its error has at most beta
}

func sharpOf(name string, n1, n0 int, p1, p0 float64, refutes func(bounds.Counts) bool) sharp {
	c := sharp{name: fmt.Sprintf("%s, %d and %d outputs", name, n1, n0), n1: n1, n0: n0, p1: p1, p0: p0}
	first, second := distuv.Binomial{N: float64(n1), P: p1}, distuv.Binomial{N: float64(n0), P: p0}
	for x := range n1 + 1 {
		for y := range n0 + 1 {
			refuted := refutes(bounds.Counts{X: x, N1: n1, Y: y, N0: n0})
			if c.refuted = append(c.refuted, refuted); refuted {
				c.size += first.Prob(float64(x)) * second.Prob(float64(y))
			}
		}
	}
	return c
}

func (c sharp) alarms(seed uint64, batch int) (alarms int) {
	s := stream.New(stream.Key{Seed: seed, Purpose: "calibration/sharp/" + c.name, Trial: batch})
	count := func(n int, p float64) (k int) {
		for range n {
			k += audit.Pick(s.Float64() < p, 1, 0)
		}
		return k
	}
	for range sharpBatch {
		x := count(c.n1, c.p1)
		alarms += audit.Pick(c.refuted[x*(c.n0+1)+count(c.n0, c.p0)], 1, 0)
	}
	return alarms
}

// sharpLimits are the alarms of so many runs that do not accuse, by the exact two-sided test of the size.
func sharpLimits(size float64, runs int) (least, most int) {
	least = sort.Search(runs, func(k int) bool { return bounds.UpperProportion(k, runs, sharpLevel/2) >= size })
	most = sort.Search(runs, func(k int) bool { return bounds.LowerProportion(k+1, runs, sharpLevel/2) > size })
	return least, most
}

// sharpCells are bounds at error beta. The worst case of the one-run bound is randomised response.
func sharpCells(beta float64) []sharp {
	const truthful, upperHalf = math.E / (1 + math.E), 0.6914624612740131 // Phi(1/2)
	exact := func(delta, epsilon float64) func(bounds.Counts) bool {
		return func(c bounds.Counts) bool { return bounds.Exact(c, delta, beta) > epsilon }
	}
	return []sharp{
		sharpOf("exact-unconditional, epsilon = 1, delta = 0", 40, 40, truthful, 1-truthful, exact(0, 1)),
		sharpOf("exact-unconditional, epsilon = 1, delta = 0.05", 40, 40, float64(math.E*0.1)+0.05, 0.1, exact(0.05, 1)),
		sharpOf("exact-unconditional, epsilon = 0.5, delta = 0", 60, 20, float64(0.3*stream.Exp(0.5)), 0.3, exact(0, 0.5)),
		sharpOf("exact-unconditional, delta = 0.2 at epsilon = 0.5", 40, 40, float64(0.3*stream.Exp(0.5))+0.2, 0.3,
			func(c bounds.Counts) bool { return bounds.ExactDelta(c, 0.5, beta) > 0.2 }),
		sharpOf("gaussian-dp-clopper-pearson, mu = 1", 40, 40, upperHalf, 1-upperHalf,
			func(c bounds.Counts) bool { return bounds.GaussianMu(c, beta) > 1 }),
		sharpOf("one-run, epsilon = 1, delta = 0, all canaries guessed", 86, 0, truthful, 0.5,
			func(c bounds.Counts) bool { return bounds.OneRunEpsilon(c.N1, c.N1, c.X, 0, beta) > 1 }),
	}
}

// sharp accuses cells of a size above beta, and those that refute more or less often than it says.
func (l lab) sharp(seed uint64, beta float64) (t *table, accused []string) {
	t = &table{title: "Sharp cells: bounds at their exact claims with a fixed event and without a search", columns: []string{"size", "false alarms", "accused outside", ""}, notes: []string{
		"size: the probability that the bound refutes the claim, by enumeration of all counts; above beta it is accused whatever the runs say",
		fmt.Sprintf("accused outside: the exact two-sided binomial test of the size accuses a bound that refutes as often as that with probability %g at most, in each cell", sharpLevel)}}
	for _, c := range sharpCells(beta) {
		batches := results(l, sharpRuns/sharpBatch, func(_ context.Context, batch int) int { return c.alarms(seed, batch) })
		alarms := audit.Total(batches)
		least, most := sharpLimits(c.size, sharpRuns)
		mark := audit.Pick(c.size > beta*(1+1e-9), "SIZE ABOVE BETA ", "") + audit.Pick(alarms < least || alarms > most, "RATE IS NOT THE SIZE", "")
		if mark != "" {
			accused = append(accused, c.name)
		}
		t.add(c.name, fmt.Sprintf("%.5f", c.size), of(alarms, sharpRuns), fmt.Sprintf("%d..%d", least, most), mark)
	}
	return t, accused
}
