package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
)

// oracleMechanisms are those whose bounds are held against an oracle's.
var oracleMechanisms = []string{gaussianShift, "svt4", "laplace-mean-raw-denominator", "svt6", "dp-sgd-scaled-noise", "laplace-mean"}

// gaussianShift is a normal output whose mean a record moves by its deviation: mu = 1, and
// epsilon = 4.377 at delta = 1e-5.
const gaussianShift = "gaussian-shift"

// oracleCell is a mechanism at a number of outputs.
type oracleCell struct {
	Mechanism string  `json:"mechanism"`
	Samples   int     `json:"samples"` // outputs a side, to certify and to explore a pair
	Oracle    float64 `json:"oracle"`  // mean exact bound of the best event, known beforehand
	// Mean is that of all runs, Median too; Share is the mean's share of the oracle.
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	Share  float64 `json:"share"`
}

// benchOracle prints which share of the bound of the best event an audit certifies that
// has to find it.
func benchOracle(c *call) (int, error) {
	plan := pair.Plan{Version: pair.PlanVersion, Trials: 1, Mode: pair.Fixed}
	c.IntVar(&plan.Trials, "trials", 1, "pairs to explore; 1: the oracle's pair, which is known")
	seeds := c.Int("seeds", 20, "runs a cell, with seeds 1, 2, ...")
	sizes := c.String("samples", "1000,10000,100000", "outputs a side, comma between: so many certify, and so many explore a pair")
	large := c.Int("known", 10_000_000, "outputs a side by which the oracle knows a mechanism")
	only := c.String("only", "", "only mechanisms whose name contains this")
	workers := c.workersFlag()
	c.outputFlags()
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	var numbers []int
	for _, s := range strings.Split(*sizes, ",") {
		n := 0
		if _, err := fmt.Sscan(s, &n); err != nil || n < pair.MinSamples {
			return 0, &audit.InputError{Field: "-samples", Found: fmt.Sprintf("%q", s), Want: fmt.Sprintf("whole numbers from %d, comma between", pair.MinSamples)}
		}
		numbers = append(numbers, n)
	}
	cat := catalogue
	cat.Mechanisms = append(slices.Clone(cat.Mechanisms), shiftSpec())
	pool := engine.LocalPool(*workers)
	var cells []oracleCell
	for _, m := range oracleMechanisms {
		if !strings.Contains(m, *only) {
			continue
		}
		plan := plan
		plan.Mechanism = m
		if m == "dp-sgd-scaled-noise" {
			plan.Claim = new(audit.DPClaim(1, shiftDelta)) // its own is of Rényi DP
		}
		rates, neighbours, err := oracleRates(c.ctx, plan, *large, cat, pool)
		if err != nil {
			return 0, err
		}
		if plan.Trials == 1 {
			plan.Pair = &neighbours
		}
		for _, n := range numbers {
			cell := oracleCell{Mechanism: m, Samples: n, Oracle: rates.best(n)}
			plan.Samples, plan.Explore = n, n
			var found []float64
			for seed := 1; seed <= *seeds; seed++ {
				plan.Seed = uint64(seed)
				r, err := audited(c.ctx, plan, cat, pool)
				if err != nil {
					return 0, err
				}
				found = append(found, *r.LowerBound)
				cell.Mean += *r.LowerBound / float64(*seeds)
			}
			slices.Sort(found)
			cell.Median, cell.Share = (found[(len(found)-1)/2]+found[len(found)/2])/2, cell.Mean/cell.Oracle
			c.say("%s at %d: %.3f of %.3f", m, n, cell.Mean, cell.Oracle)
			cells = append(cells, cell)
		}
	}
	return 0, c.emit(map[string]any{"plan": plan, "seeds": *seeds, "known": *large, "cells": cells}, func(w io.Writer) {
		fmt.Fprintf(w, "Mean exact bound of the best event known beforehand (oracle, of %d outputs a side; of gaussian-shift computed), and of %d audits that had to find it.\n\n", *large, *seeds)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "mechanism\toutputs a side\toracle\tmean\tmedian\tshare of the oracle's")
		for _, k := range cells {
			fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\n", k.Mechanism, k.Samples, k.Oracle, k.Mean, k.Median, k.Share)
		}
		t.Flush()
	})
}

// known are the probabilities of events on both datasets, the likelier first, and the
// delta at which their epsilon is bounded.
type known struct {
	rates [][2]float64
	delta float64
}

// oracleRates are the rates of all events of a witness that much data found and counted,
// and the pair that was loudest.
func oracleRates(ctx context.Context, plan pair.Plan, n int, cat audit.Catalogue, pool *engine.Pool) (k known, neighbours audit.Pair, err error) {
	if plan.Mechanism == gaussianShift {
		k.delta = shiftDelta
		for x := 1.0; x < 6; x += 0.05 {
			k.rates = append(k.rates, [2]float64{math.Erfc((x-1)/math.Sqrt2) / 2, math.Erfc(x/math.Sqrt2) / 2})
		}
		return k, audit.Pair{First: audit.Records(1), Second: audit.Records()}, nil
	}
	plan.Samples, plan.Explore, plan.Trials, plan.Seed = n, min(n, 400_000), 10, 99
	r, err := audited(ctx, plan, cat, pool)
	if err != nil {
		return k, neighbours, err
	}
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
	return k, r.Evidence.Pair, nil
}

// best is the largest mean of the exact bound on n outputs a side over the events.
func (k known) best(n int) float64 {
	const few = 12 // events by their promise
	rates := slices.Clone(k.rates)
	count := func(p float64) int { return int(math.Round(p * float64(n))) }
	promise := func(r [2]float64) float64 {
		return bounds.Score(bounds.Counts{X: count(r[0]), N1: n, Y: count(r[1]), N0: n}, k.delta, 0.05)
	}
	slices.SortFunc(rates, func(a, b [2]float64) int {
		if promise(a) > promise(b) {
			return -1
		}
		return 1
	})
	most := 0.0
	for _, r := range rates[:min(few, len(rates))] {
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
	s := stream.New(stream.Key{Seed: 1, Purpose: "oracle"})
	for i := range quantiles {
		y := binomialQuantile(n, r[1], (float64(i)+s.Float64())/quantiles)
		for _, at := range [][2]float64{{-math.Sqrt(3), 1. / 6}, {0, 2. / 3}, {math.Sqrt(3), 1. / 6}} {
			x := min(n, max(0, int(math.Round(float64(n)*r[0]+at[0]*spread))))
			sum += at[1] / quantiles * max(0, bounds.Exact(bounds.Counts{X: x, N1: n, Y: y, N0: n}, delta, 0.05))
		}
	}
	return sum
}

// binomialQuantile is the least k with P(Bin(n, p) <= k) >= u, by its recurrence from far
// below the mean.
func binomialQuantile(n int, p, u float64) int {
	if p <= 0 {
		return 0
	}
	mean := float64(n) * p
	k := max(0, int(mean-9*math.Sqrt(mean)))
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	v := math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	for sum := v; sum < u && k < n && v > 0; sum += v {
		v *= float64(n-k) / float64(k+1) * p / (1 - p)
		k++
	}
	return k
}

const shiftDelta = 1e-5

// shiftSpec is the mechanism that adds standard normal noise to the number of records.
func shiftSpec() audit.MechanismSpec {
	return audit.MechanismSpec{Name: gaussianShift, Title: "Number of records plus a standard normal value", Source: "Dong, Roth and Su, Gaussian differential privacy, JRSS B 84 (2022)", Custom: true,
		Relations: func(audit.Params) []audit.Relation { return []audit.Relation{audit.AddRemove} },
		Claim: func(audit.Params) audit.Claim {
			return audit.DPClaim(bounds.GaussianEpsilon(1, shiftDelta), shiftDelta)
		},
		Truth: func(audit.Params) string { return "mu = 1" },
		Domain: func(audit.Params, audit.Relation) audit.Domain {
			return audit.Domain{Columns: 1, MaxRows: 1, Lower: []float64{0}, Upper: []float64{1}}
		},
		Pairs: func(audit.Params, audit.Relation) []audit.Pair {
			return []audit.Pair{{First: audit.Records(1), Second: audit.Records()}}
		},
		New: func(audit.Params) (audit.Mechanism, error) { return shift{}, nil }}
}

type shift struct{}

func (shift) Columns() []audit.Column { return []audit.Column{{Name: "x", Kind: audit.Real}} }

func (shift) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	s.Gaussian(out, 1)
	for i := range out {
		out[i] += float64(d.Len())
	}
	return nil
}
