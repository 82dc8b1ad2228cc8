package main

import (
	"fmt"
	"math"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
)

// sharpRuns is how many runs a sharp cell has. The standard error of a rate of
// .05 is then .0007.
const sharpRuns = 100_000

// sharpLevel is how often, at most, the test of one sharp cell accuses a bound
// that refutes as often as Size says.
const sharpLevel = 1e-5

// sharpBatch is how many runs of a sharp cell share a stream. It is part of what
// a seed means.
const sharpBatch = 1000

// sharp is one bound at its exact claim, with an event that is fixed and without
// a search: a run draws counts and asks whether the bound refutes the claim. So
// runs are cheap, and the probability of a false alarm is known exactly.
type sharp struct {
	Name string `json:"name"`
	// Size is the probability that a run refutes the claim, by enumeration of
	// all counts. A bound that keeps its error has at most beta.
	Size float64 `json:"size"`
	run  func(s *stream.Stream) bool
}

// sharpRow is a sharp cell and what its runs gave.
type sharpRow struct {
	sharp
	Alarms int     `json:"falseAlarms"`
	Of     int     `json:"of"`
	Rate   float64 `json:"rate"`
	// Least and Most alarms that do not accuse, by the exact two-sided binomial
	// test of Size at sharpLevel.
	Least int `json:"leastAlarms"`
	Most  int `json:"mostAlarms"`
	// TooLarge: Size is above beta.
	TooLarge bool `json:"sizeAboveBeta,omitempty"`
	// Off: the runs refute more or less often than Size says.
	Off bool `json:"rateIsNotSize,omitempty"`
}

// accused tells whether the cell speaks against dpscope.
func (r sharpRow) accused() bool { return r.TooLarge || r.Off }

// sharpBatches is how many batches hold so many runs.
func sharpBatches(runs int) int { return (runs + sharpBatch - 1) / sharpBatch }

// batch does the runs of batch number 0, 1, ... and returns how many refuted
// the claim. It depends on the seed, the cell's name and the number alone.
func (c sharp) batch(seed uint64, number int) (alarms int) {
	s := stream.New(stream.Key{Seed: seed, Purpose: "calibration/sharp/" + c.Name, Trial: number})
	for range sharpBatch {
		if c.run(s) {
			alarms++
		}
	}
	return alarms
}

// row judges so many alarms in so many batches; beta is what the bound allows.
func (c sharp) row(alarms, batches int, beta float64) sharpRow {
	const side = sharpLevel / 2
	of := batches * sharpBatch
	r := sharpRow{sharp: c, Alarms: alarms, Of: of, Most: of, TooLarge: c.Size > beta*(1+1e-9)}
	if of == 0 {
		return r
	}
	r.Rate = float64(alarms) / float64(of)
	r.Least = sort.Search(of, func(k int) bool { return bounds.UpperProportion(k, of, side) >= c.Size })
	r.Most = sort.Search(of, func(k int) bool { return bounds.LowerProportion(k+1, of, side) > c.Size })
	r.Off = alarms < r.Least || alarms > r.Most
	return r
}

// sharpCells lists the sharp cells of bounds at error beta: the exact bound at
// delta = 0 on the outputs of randomised response, at delta > 0 and at unequal
// sample sizes, of epsilon and of delta; Clopper-Pearson's of mu; betting on pairs;
// and the one-run bound where every guess is randomised
// response, its worst case at delta = 0. The enumeration takes
// a few seconds.
func sharpCells(cat audit.Catalogue, beta float64) ([]sharp, error) {
	if err := bounds.CheckBeta(beta); err != nil {
		return nil, err
	}
	const n = 40
	answers, err := answersCell(cat, n, beta)
	if err != nil {
		return nil, err
	}
	return []sharp{
		answers,
		twoBinomials("exact-unconditional, epsilon = 1, delta = 0.05, 40 and 40 outputs", n, n, float64(math.E*0.1)+0.05, 0.1,
			func(c bounds.Counts) bool { return bounds.Exact(c, 0.05, beta) > 1 }),
		twoBinomials("exact-unconditional, epsilon = 0.5, delta = 0, 60 and 20 outputs", 60, 20, float64(0.3*stream.Exp(0.5)), 0.3,
			func(c bounds.Counts) bool { return bounds.Exact(c, 0, beta) > 0.5 }),
		twoBinomials("exact-unconditional, delta = 0.2 at epsilon = 0.5, 40 and 40 outputs", n, n, float64(0.3*stream.Exp(0.5))+0.2, 0.3,
			func(c bounds.Counts) bool { return bounds.ExactDelta(c, 0.5, beta) > 0.2 }),
		twoBinomials("gaussian-dp-clopper-pearson, mu = 1, 40 and 40 outputs", n, n, upperHalf, 1-upperHalf,
			func(c bounds.Counts) bool { return bounds.GaussianMu(c, beta) > 1 }),
		bettingCell(60, beta),
		oneRunCell(86, beta),
	}, nil
}

// upperHalf is Phi(1/2).
const upperHalf = 0.6914624612740131

// truthful is e/(1+e): how often randomised response at epsilon = 1 is truthful.
const truthful = math.E / (1 + math.E)

// binomialMasses are the probabilities of 0, ..., n.
func binomialMasses(n int, p float64) []float64 {
	mass := make([]float64, n+1)
	logs := func(k int) float64 { v, _ := math.Lgamma(float64(k + 1)); return v }
	for k := range mass {
		mass[k] = math.Exp(logs(n) - logs(k) - logs(n-k) + float64(float64(k)*math.Log(p)) + float64(float64(n-k)*math.Log1p(-p)))
	}
	return mass
}

// twoBinomials is a cell of n1 and n0 independent outputs, of which those in the
// event have the probabilities p1 and p0.
func twoBinomials(name string, n1, n0 int, p1, p0 float64, refutes func(bounds.Counts) bool) sharp {
	first, second := make([]float64, n1), make([]float64, n0)
	return countsCell(name, n1, n0, p1, p0, refutes, func(s *stream.Stream) (x, y int) {
		first, second := append([]float64{}, first...), append([]float64{}, second...)
		s.Bernoulli(first, p1)
		s.Bernoulli(second, p0)
		return ones(first), ones(second)
	})
}

// countsCell is twoBinomials with the draw given.
func countsCell(name string, n1, n0 int, p1, p0 float64, refutes func(bounds.Counts) bool, draw func(*stream.Stream) (x, y int)) sharp {
	c := sharp{Name: name}
	refuted := make([]bool, (n1+1)*(n0+1))
	at1, at0 := binomialMasses(n1, p1), binomialMasses(n0, p0)
	for x, w1 := range at1 {
		for y, w0 := range at0 {
			if refutes(bounds.Counts{X: x, N1: n1, Y: y, N0: n0}) {
				refuted[x*(n0+1)+y] = true
				c.Size += float64(w1 * w0)
			}
		}
	}
	c.run = func(s *stream.Stream) bool {
		x, y := draw(s)
		return refuted[x*(n0+1)+y]
	}
	return c
}

func ones(v []float64) (k int) {
	for _, x := range v {
		if x == 1 {
			k++
		}
	}
	return k
}

// answersCell draws its counts from the mechanism of the catalogue.
func answersCell(cat audit.Catalogue, n int, beta float64) (sharp, error) {
	spec, err := cat.Mechanism("randomised-response")
	if err != nil {
		return sharp{}, err
	}
	m, err := spec.New(audit.Params{"epsilon": {Number: 1}, "p": {Number: 0}})
	if err != nil {
		return sharp{}, err
	}
	sides := [2]audit.Dataset{audit.Records(1), audit.Records(0)}
	for _, d := range sides {
		if err := m.Sample(d, stream.New(stream.Key{Purpose: "calibration/sharp"}), make([]float64, 1)); err != nil {
			return sharp{}, err
		}
	}
	name := fmt.Sprintf("exact-unconditional, epsilon = 1, delta = 0, %d and %d outputs of randomised-response", n, n)
	return countsCell(name, n, n, truthful, 1-truthful, func(c bounds.Counts) bool { return bounds.Exact(c, 0, beta) > 1 },
		func(s *stream.Stream) (x, y int) {
			var k [2]int
			for side, d := range sides {
				out := make([]float64, n)
				m.Sample(d, s, out) // did without an error above
				k[side] = ones(out)
			}
			return k[0], k[1]
		}), nil
}

// pairCells is what a pair of answers of randomised response at epsilon = 1 can
// be, on 1 and on 0: yes and yes, yes and no, no and yes, no and no.
var pairCells = [4]float64{truthful * (1 - truthful), truthful * truthful, (1 - truthful) * (1 - truthful), (1 - truthful) * truthful}

// drawPair draws one of pairCells.
func drawPair(s *stream.Stream) int {
	u := s.Float64()
	for k, p := range pairCells[:3] {
		if u < p {
			return k
		}
		u -= p
	}
	return 3
}

// bettingCell bets on n pairs with the stake that is best for them.
func bettingCell(n int, beta float64) sharp {
	c := sharp{Name: fmt.Sprintf("paired-betting, epsilon = 1, delta = 0, %d pairs", n)}
	table := func(k [4]int) bounds.CanaryTable { // of pairs, one output a side
		t := bounds.NewCanaryTable(1, 1)
		for i, count := range k {
			t.Add(1-i/2, 1-i%2, count)
		}
		return t
	}
	var expected [4]int
	for k, p := range pairCells {
		expected[k] = int(math.Round(10_000 * p))
	}
	stakes := bounds.TuneCanary(table(expected), n, 0, beta)
	side := n + 1
	refuted := make([]bool, side*side*side)
	logs := make([]float64, n+1)
	for k := range logs {
		logs[k], _ = math.Lgamma(float64(k + 1))
	}
	var logCell [4]float64
	for k, p := range pairCells {
		logCell[k] = math.Log(p)
	}
	for yy := range side {
		for yn := range side - yy {
			for ny := range side - yy - yn {
				k := [4]int{yy, yn, ny, n - yy - yn - ny}
				mass := logs[n]
				for i, count := range k {
					mass += float64(float64(count)*logCell[i]) - logs[count]
				}
				if bounds.CanaryEpsilon(bounds.CanaryPairedBetting, table(k), 0, beta, stakes) > 1 {
					refuted[(yy*side+yn)*side+ny] = true
					c.Size += math.Exp(mass)
				}
			}
		}
	}
	c.run = func(s *stream.Stream) bool {
		var k [4]int
		for range n {
			k[drawPair(s)]++
		}
		return refuted[(k[0]*side+k[1])*side+k[2]]
	}
	return c
}

// oneRunCell guesses m canaries, each right with the probability of randomised
// response.
func oneRunCell(m int, beta float64) sharp {
	c := sharp{Name: fmt.Sprintf("one-run, epsilon = 1, delta = 0, %d canaries, all guessed", m)}
	refuted := make([]bool, m+1)
	for v, mass := range binomialMasses(m, truthful) {
		if bounds.OneRunEpsilon(m, m, v, 0, beta) > 1 {
			refuted[v] = true
			c.Size += mass
		}
	}
	c.run = func(s *stream.Stream) bool {
		right := make([]float64, m)
		s.Bernoulli(right, truthful)
		return refuted[ones(right)]
	}
	return c
}
