package main

import (
	"context"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
)

// canaryLaw is a law of a pair of runs with known rates.
type canaryLaw struct {
	name    string
	k, m, n int
	p1, p0  float64
	delta   float64
	spread  bool    // a run's rate is uniform between 0 and twice the law's
	shock   float64 // share of the runs of a side whose canaries all share one coin
	coupled bool    // both sides of a pair use the same numbers
}

// truth is the epsilon that the rates show.
func (l canaryLaw) truth() float64 { return math.Log((l.p1 - l.delta) / l.p0) }

func canaryLaws() []canaryLaw {
	return []canaryLaw{
		{name: "independent", k: 8, m: 8, n: 256, p1: .3, p0: .1, delta: 1e-5},
		{name: "independent, rare", k: 16, m: 16, n: 256, p1: .02, p0: .004, delta: 1e-5},
		{name: "one canary", k: 1, m: 1, n: 256, p1: .3, p0: .1, delta: 1e-5},
		{name: "beta-binomial", k: 8, m: 8, n: 256, p1: .4, p0: .15, delta: 1e-5, spread: true},
		{name: "common shock", k: 8, m: 8, n: 256, p1: .3, p0: .1, delta: 1e-5, shock: .5},
		{name: "all or none, rare", k: 8, m: 4, n: 256, p1: .05, p0: .01, delta: 1e-5, shock: 1},
		{name: "coupled pairs", k: 8, m: 8, n: 256, p1: .3, p0: .1, delta: .01, shock: .3, coupled: true},
	}
}

// draw fills a table with n pairs of runs.
func (l canaryLaw) draw(st *stream.Stream, n int) bounds.CanaryTable {
	counts := make([]int, (l.k+1)*(l.m+1))
	u := make([]float64, 3+l.k+l.m)
	for range n {
		st.Uniform(u, 0, 1)
		x := l.side(u[0], u[1], u[3:3+l.k], l.p1)
		other := u[3+l.k:]
		shock := u[2]
		var coin float64
		switch {
		case l.coupled:
			shock, coin, other = u[0], u[1], u[3:3+l.m]
		case shock < l.shock:
			coin = shock / l.shock // uniform, given that
		default:
			coin = (shock - l.shock) / (1 - l.shock)
		}
		counts[x*(l.m+1)+l.side(shock, coin, other, l.p0)]++
	}
	t := bounds.NewCanaryTable(l.k, l.m)
	for c, n := range counts {
		t.Add(c/(l.m+1), c%(l.m+1), n)
	}
	return t
}

// side counts the canaries in the event.
func (l canaryLaw) side(shock, coin float64, u []float64, p float64) int {
	if l.spread {
		p *= 2 * coin
	}
	if shock < l.shock {
		if coin < p {
			return len(u)
		}
		return 0
	}
	x := 0
	for _, v := range u {
		if v < p {
			x++
		}
	}
	return x
}

// coverage counts how often each interval's bound exceeds the truth.
func (b *canaryBench) coverage() *table {
	t := &table{title: fmt.Sprintf("Coverage: share of %d audits whose bound exceeds the true epsilon, nominal .05 at most", b.audits)}
	kinds := bounds.CanaryIntervals()
	for _, k := range kinds {
		t.columns = append(t.columns, string(k)+choose(k.Valid(), "", " (asymptotic)"))
	}
	worst := 0.0
	for i, l := range canaryLaws() {
		over := results(b.lab, b.audits, func(_ context.Context, run int) []float64 {
			st := stream.New(stream.Key{Seed: b.seed, Purpose: "bench/canaries/coverage", Trial: run, Shard: i})
			stakes := bounds.TuneCanary(l.draw(st, l.n), l.n, l.delta, canaryBeta)
			table := l.draw(st, l.n)
			over := make([]float64, len(kinds))
			for j, k := range kinds {
				if min(l.k, l.m) >= k.Order() && bounds.CanaryEpsilon(k, table, l.delta, canaryBeta, stakes) > l.truth() {
					over[j] = 1
				}
			}
			return over
		})
		var row []any
		for j, k := range kinds {
			rate := 0.0
			for _, o := range over {
				rate += o[j]
			}
			if rate /= float64(b.audits); min(l.k, l.m) < k.Order() {
				row = append(row, noFigure)
				continue
			}
			if row = append(row, figureOf(rate)); k.Valid() {
				worst = max(worst, rate)
			}
		}
		t.add(fmt.Sprintf("%s: n = %d, K = %d, M = %d, rates %g and %g, delta %g, true epsilon %.3f", l.name, l.n, l.k, l.m, l.p1, l.p0, l.delta, l.truth()), row...)
	}
	t.notes = []string{fmt.Sprintf("largest rate of a valid bound: %.4g", worst)}
	return t
}
