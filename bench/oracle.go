package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
)

// oracleMechanisms are those whose bounds are held against an oracle's.
var oracleMechanisms = []string{gaussianShift, "svt4", "laplace-mean-raw-denominator", "svt6", "dp-sgd-scaled-noise", "laplace-mean"}

const (
	gaussianShift = "gaussian-shift" // dp-sgd with [gaussians]
	oracleDelta   = 1e-5             // where the claim is not the mechanism's own
	oracleBeta    = 0.05
)

// benchOracle prints, on the best pair, an audit's share of the bound of the best event.
func benchOracle(c *call) {
	seeds, large := 20, 10_000_000
	c.Count(&seeds, "seeds", seeds, "runs of each mechanism and size, with seeds 1, 2, ...")
	c.Count(&large, "known", large, "outputs a side by which the oracle knows a mechanism")
	sizes := c.String("samples", "1000,10000,100000", "outputs a side, comma between: so many certify, and so many explore")
	only := c.String("only", "", "only mechanisms whose name contains one of these, comma between")
	c.parse()
	var numbers []int
	for _, s := range namesOf(*sizes) {
		n, err := strconv.Atoi(s)
		refuse(err != nil || n < pair.MinSamples, "-samples", s, fmt.Sprintf("whole numbers from %d, comma between", pair.MinSamples))
		numbers = append(numbers, n)
	}
	t := &table{title: fmt.Sprintf("Mean exact bound of the best event known beforehand (oracle, of %d outputs a side; of %s computed), and of %d audits that had to find it", large, gaussianShift, seeds),
		columns: []string{"outputs a side", "oracle", "mean", "share of the oracle's"}}
	for _, m := range oracleMechanisms {
		if !chosen(*only, m) {
			continue
		}
		plan := pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed, Mechanism: m}
		switch m {
		case "dp-sgd-scaled-noise": // its own claim is of Rényi DP
			plan.Claim = new(audit.DPClaim(1, oracleDelta))
		case gaussianShift:
			plan.Mechanism, plan.Parameters, plan.Claim = "dp-sgd", gaussians, new(audit.DPClaim(bounds.GaussianEpsilon(1, oracleDelta), oracleDelta))
		}
		events, neighbours := oracleEvents(c.ctx, plan, large)
		plan.Trials, plan.Pair = 1, &neighbours
		for _, n := range numbers {
			plan.Samples, plan.Explore = n, n
			found := results(c.lab, seeds, func(ctx context.Context, run int) float64 {
				p := plan
				p.Seed = uint64(run + 1)
				return *get(audited(ctx, p, catalogue)).LowerBound
			})
			mean, best := stat.Mean(found, nil), events.best(n)
			c.say("%s at %d: %.3f of %.3f", m, n, mean, best)
			t.add(m, n, best, mean, mean/best)
		}
	}
	c.print("Audits beside an oracle", t)
}

// oracleKnows is what an oracle knows of a mechanism: the probabilities of events on both
// datasets, the likelier first, and the delta at which their epsilon is bounded.
type oracleKnows struct {
	rates [][2]float64
	delta float64
}

// oracleEvents are events of a witness that much data found and counted, and the loudest pair.
func oracleEvents(ctx context.Context, plan pair.Plan, n int) (k oracleKnows, neighbours audit.Pair) {
	if plan.Mechanism == "dp-sgd" { // as it is computed
		a := get(plan.Resolve(catalogue))
		k.delta = oracleDelta
		for x := 1.0; x < 6; x += 0.05 {
			k.rates = append(k.rates, [2]float64{math.Erfc((x-1)/math.Sqrt2) / 2, math.Erfc(x/math.Sqrt2) / 2})
		}
		return k, a.Spec.Pairs(a.Plan.Parameters, a.Plan.Relation)[0]
	}
	plan.Samples, plan.Explore, plan.Trials, plan.Seed = n, min(n, 400_000), 10, 99
	r := get(audited(ctx, plan, catalogue))
	t := r.Evidence.Table
	first, second, x, y := t.First(), t.Second(), 0, 0
	for i := range t.Bins - 1 {
		x, y = x+first[i], y+second[i]
		for _, e := range [][2]int{{x, y}, {y, x}, {n - x, n - y}, {n - y, n - x}} {
			if e[0] > e[1] {
				k.rates = append(k.rates, [2]float64{float64(e[0]) / float64(n), float64(e[1]) / float64(n)})
			}
		}
	}
	k.delta = r.Claim.Delta
	return k, r.Evidence.Pair
}

// best is the largest mean of the exact bound over the events that promise most, n a side.
func (k oracleKnows) best(n int) float64 {
	count := func(p float64) int { return int(math.Round(p * float64(n))) }
	promise := func(r [2]float64) float64 {
		return bounds.Score(bounds.Counts{X: count(r[0]), N1: n, Y: count(r[1]), N0: n}, k.delta, oracleBeta)
	}
	rates := slices.SortedFunc(slices.Values(k.rates), func(a, b [2]float64) int { return cmp.Compare(promise(b), promise(a)) })
	most := 0.0
	for _, r := range rates[:min(12, len(rates))] {
		most = max(most, meanBound(r, n, k.delta))
	}
	return most
}

// meanBound is the mean of the exact bound, at least 0: over quantiles of the rarer count
// and three points of the other.
func meanBound(r [2]float64, n int, delta float64) float64 {
	const quantiles = 24
	sum := 0.0
	spread := math.Sqrt(float64(n) * r[0] * (1 - r[0]))
	s, rare := stream.New(stream.Key{Seed: 1, Purpose: "oracle"}), distuv.Binomial{N: float64(n), P: r[1]}
	for i := range quantiles {
		u, y := (float64(i)+s.Float64())/quantiles, 0
		if r[1] > 0 {
			y = sort.Search(n, func(k int) bool { return rare.CDF(float64(k)) >= u })
		}
		for _, at := range [][2]float64{{-math.Sqrt(3), 1. / 6}, {0, 2. / 3}, {math.Sqrt(3), 1. / 6}} {
			x := min(n, max(0, int(math.Round(float64(n)*r[0]+at[0]*spread))))
			sum += at[1] / quantiles * max(0, bounds.Exact(bounds.Counts{X: x, N1: n, Y: y, N0: n}, delta, oracleBeta))
		}
	}
	return sum
}
