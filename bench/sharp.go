package main

import (
	"context"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
)

const (
	// sharpRuns is how many runs a sharp cell has. The standard error of a rate of .05 is
	// then .0007.
	sharpRuns = 100_000
	// sharpLevel is how often, at most, the test of one sharp cell accuses a bound that
	// refutes as often as its size says.
	sharpLevel = 1e-5
	sharpBatch = 1000 // runs that share a stream
)

// sharp is one bound at its exact claim, with an event that is fixed and without a search:
// a run draws counts and asks whether the bound refutes the claim. So runs are cheap, and
// the probability of a false alarm, the size, is known exactly: by enumeration of all counts.
type sharp struct {
	name string
	laws []sharpLaw
	size float64 // a bound that keeps its error has at most beta
	// refuted tells of the counts, as digits of one number: a count of n has n+1 values.
	refuted []bool
}

// sharpLaw is of a number of independent outputs, each of which is in one of some cells;
// those that are in none of them are the rest.
type sharpLaw struct {
	n int
	p []float64
}

// sharpOf enumerates the counts of all cells.
func sharpOf(name string, laws []sharpLaw, refutes func(counts []int) bool) sharp {
	c := sharp{name: name, laws: laws}
	var lengths []int
	for _, l := range laws {
		for range l.p {
			lengths = append(lengths, l.n+1)
		}
	}
	c.refuted = make([]bool, combin.Card(lengths))
	counts := make([]int, len(lengths))
	for i := range c.refuted {
		combin.SubFor(counts, i, lengths)
		if mass := sharpMass(laws, counts); mass > 0 && refutes(counts) {
			c.refuted[i], c.size = true, c.size+mass
		}
	}
	return c
}

// sharpMass is the probability of counts.
func sharpMass(laws []sharpLaw, counts []int) float64 {
	lgamma := func(k int) float64 { v, _ := math.Lgamma(float64(k + 1)); return v }
	log := 0.0
	for _, l := range laws {
		left, rest := l.n, 1.0
		for i, p := range l.p {
			log += float64(float64(counts[i])*math.Log(p)) - lgamma(counts[i])
			left, rest = left-counts[i], rest-p
		}
		if left < 0 {
			return 0
		}
		log += lgamma(l.n) + float64(float64(left)*math.Log(rest)) - lgamma(left)
		counts = counts[len(l.p):]
	}
	return math.Exp(log)
}

// alarms does the runs of a batch and returns how many refuted the claim.
func (c sharp) alarms(seed uint64, batch int) (alarms int) {
	s := stream.New(stream.Key{Seed: seed, Purpose: "calibration/sharp/" + c.name, Trial: batch})
	for range sharpBatch {
		at := 0
		for _, l := range c.laws {
			counts := make([]int, len(l.p)+1)
			for range l.n {
				u, k := s.Float64(), 0
				for k < len(l.p) && u >= l.p[k] {
					u -= l.p[k]
					k++
				}
				counts[k]++
			}
			for _, n := range counts[:len(l.p)] {
				at = at*(l.n+1) + n
			}
		}
		if c.refuted[at] {
			alarms++
		}
	}
	return alarms
}

// sharpLimits are the least and the most alarms of so many runs that do not accuse, by the
// exact two-sided binomial test of the size.
func sharpLimits(size float64, runs int) (least, most int) {
	least = sort.Search(runs, func(k int) bool { return bounds.UpperProportion(k, runs, sharpLevel/2) >= size })
	most = sort.Search(runs, func(k int) bool { return bounds.LowerProportion(k+1, runs, sharpLevel/2) > size })
	return least, most
}

// sharpCells are those of bounds at error beta: the exact bound at delta = 0 on the outputs of
// randomised response, at delta > 0 and at unequal sample sizes, of epsilon and of delta;
// Clopper-Pearson's of mu; betting on pairs; and the one-run bound where every guess is
// randomised response, its worst case at delta = 0.
func sharpCells(beta float64) []sharp {
	const truthful, upperHalf = math.E / (1 + math.E), 0.6914624612740131 // Phi(1/2)
	two := func(name string, n1, n0 int, p1, p0 float64, refutes func(c bounds.Counts) bool) sharp {
		return sharpOf(fmt.Sprintf("%s, %d and %d outputs", name, n1, n0), []sharpLaw{{n1, []float64{p1}}, {n0, []float64{p0}}},
			func(k []int) bool { return refutes(bounds.Counts{X: k[0], N1: n1, Y: k[1], N0: n0}) })
	}
	// What a pair of answers can be, on 1 and on 0: yes and yes, yes and no, no and yes.
	answers := []float64{truthful * (1 - truthful), truthful * truthful, (1 - truthful) * (1 - truthful)}
	pairs := func(n int, k []int) bounds.CanaryTable {
		t := bounds.NewCanaryTable(1, 1)
		for i, count := range append(k[:3:3], n-k[0]-k[1]-k[2]) {
			t.Add(1-i/2, 1-i%2, count)
		}
		return t
	}
	const n, m = 60, 86
	var expected []int
	for _, p := range answers {
		expected = append(expected, int(math.Round(10_000*p)))
	}
	stakes := bounds.TuneCanary(pairs(10_000, expected), n, 0, beta)
	return []sharp{
		two("exact-unconditional, epsilon = 1, delta = 0", 40, 40, truthful, 1-truthful,
			func(c bounds.Counts) bool { return bounds.Exact(c, 0, beta) > 1 }),
		two("exact-unconditional, epsilon = 1, delta = 0.05", 40, 40, float64(math.E*0.1)+0.05, 0.1,
			func(c bounds.Counts) bool { return bounds.Exact(c, 0.05, beta) > 1 }),
		two("exact-unconditional, epsilon = 0.5, delta = 0", 60, 20, float64(0.3*stream.Exp(0.5)), 0.3,
			func(c bounds.Counts) bool { return bounds.Exact(c, 0, beta) > 0.5 }),
		two("exact-unconditional, delta = 0.2 at epsilon = 0.5", 40, 40, float64(0.3*stream.Exp(0.5))+0.2, 0.3,
			func(c bounds.Counts) bool { return bounds.ExactDelta(c, 0.5, beta) > 0.2 }),
		two("gaussian-dp-clopper-pearson, mu = 1", 40, 40, upperHalf, 1-upperHalf,
			func(c bounds.Counts) bool { return bounds.GaussianMu(c, beta) > 1 }),
		sharpOf(fmt.Sprintf("paired-betting, epsilon = 1, delta = 0, %d pairs", n), []sharpLaw{{n, answers}},
			func(k []int) bool {
				return bounds.CanaryEpsilon(bounds.CanaryPairedBetting, pairs(n, k), 0, beta, stakes) > 1
			}),
		sharpOf(fmt.Sprintf("one-run, epsilon = 1, delta = 0, %d canaries, all guessed", m), []sharpLaw{{m, []float64{truthful}}},
			func(k []int) bool { return bounds.OneRunEpsilon(m, m, k[0], 0, beta) > 1 }),
	}
}

// sharp does the runs of all sharp cells, and names those that are accused: for a size above
// beta, or for runs that refute more or less often than it says.
func (l lab) sharp(seed uint64, beta float64) (t *table, accused []string, err error) {
	t = &table{title: "Sharp cells: bounds at their exact claims with a fixed event and without a search", columns: []string{"size", "false alarms", "accused outside", ""}, notes: []string{
		"size: the probability that the bound refutes the claim, by enumeration of all counts; above beta it is accused whatever the runs say",
		fmt.Sprintf("accused outside: the exact two-sided binomial test of the size accuses a bound that refutes as often as that with probability %g at most, in each cell", sharpLevel)}}
	for _, c := range sharpCells(beta) {
		batches, err := results(l, sharpRuns/sharpBatch, func(_ context.Context, batch int) (int, error) { return c.alarms(seed, batch), nil })
		if err != nil {
			return nil, nil, err
		}
		alarms := 0
		for _, n := range batches {
			alarms += n
		}
		least, most := sharpLimits(c.size, sharpRuns)
		mark := choose(alarms < least || alarms > most, "RATE IS NOT THE SIZE", "")
		if c.size > beta*(1+1e-9) {
			mark = "SIZE ABOVE BETA " + mark
		}
		if mark != "" {
			accused = append(accused, c.name)
		}
		t.add(c.name, fmt.Sprintf("%.5f", c.size), of(alarms, sharpRuns), fmt.Sprintf("%d..%d", least, most), mark)
	}
	return t, accused, nil
}
