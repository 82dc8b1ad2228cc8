package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
)

// sequenceCell is a setting of sequential audits of the Gaussian sum, exactly
// calibrated, with 32 orthogonal canaries inside and 32 fresh ones.
type sequenceCell struct {
	eps   float64
	noise float64 // on what the claim needs
	runs  int     // trainings, at most
	most  float64 // the median is to be at most that; NaN: nothing is to be reached
}

// sequenceCells: medians of a prototype with independent Gaussian canaries were 74, 1031,
// 87, 1301 and 288 trainings; the most that is allowed is 1.25 of them.
var sequenceCells = []sequenceCell{
	{1, .25, 1500, 93}, {1, .5, 1500, 1289}, {2, .25, 1500, 109}, {2, .5, 1500, math.NaN()}, {4, .25, 1500, 360},
}

func (b *canaryBench) sequencePlan(eps, noise float64, runs, seed int) canary.Plan {
	return canary.Plan{Version: canary.PlanVersion, Subject: source.Subject{Source: "gaussian-sum", Claim: new(audit.DPClaim(eps, canaryDelta)), Design: source.Orthogonal, Parameters: audit.Params{"noise": {Number: noise}, "calibration": {Text: source.ByAnalytic}}}, K: 32, Runs: runs, Beta: canaryBeta, Seed: b.Seed + uint64(seed)}
}

// sequential measures audits that look after every training: how soon they refute what
// is wrong, and how tight their bound is beside that of a fixed audit of as many
// trainings.
func (b *canaryBench) sequential() (*canaryTable, error) {
	seeds := 60
	if b.Seeds > 0 {
		seeds = b.Seeds
	} else if b.Quick {
		seeds = 10
	}
	t := &canaryTable{Title: fmt.Sprintf("Sequential audits of orthogonal canaries in the Gaussian sum, K = M = 32, %d seeds", seeds), Published: "none",
		Columns: []string{"trainings to the refutation, median", "90th percentile", "not refuted", "bound, median", "fixed audit's bound, median"}}
	all := func(n int, of func(seed int) (float64, error)) ([]float64, error) {
		values := make([]float64, n)
		err := each(b.ctx, b.workers, n, func(_ context.Context, i int) (err error) {
			values[i], err = of(i)
			return err
		})
		slices.Sort(values)
		return values, err
	}
	bet := func(p canary.Plan) (r canary.Report, err error) {
		a, err := p.Resolve(source.Sources(), nil)
		if err == nil {
			r, err = auditCanaries(b.ctx, a)
		}
		return r, err
	}
	one := func(x float64) canaryFigure { return meanFigure([]float64{x}) }
	for _, c := range sequenceCells {
		took, err := all(seeds, func(seed int) (float64, error) {
			p := b.sequencePlan(c.eps, c.noise, c.runs, seed)
			p.Mode = canary.UntilRefuted
			r, err := bet(p)
			if r.Verdict != audit.Violation {
				return math.Inf(1), err
			}
			return float64(r.Termination.SamplesUsed), err
		})
		if err != nil {
			return nil, err
		}
		missed := 0
		for _, x := range took {
			if math.IsInf(x, 1) {
				missed++
			}
		}
		median := took[len(took)/2]
		t.Rows = append(t.Rows, canaryTableRow{fmt.Sprintf("claim %g, %g of the noise, at most %d trainings", c.eps, c.noise, c.runs),
			[]canaryFigure{one(median), one(took[len(took)*9/10]), one(float64(missed)), {}, {}}})
		if !math.IsNaN(c.most) {
			t.Checks = append(t.Checks, atMost(fmt.Sprintf("median trainings to the refutation, claim %g, %g of the noise", c.eps, c.noise), median, c.most))
		}
	}
	for _, runs := range []int{128, 1024} {
		for _, eps := range []float64{.5, 1, 2, 4, 8} {
			var figures [2]float64
			for way := range figures {
				values, err := all(max(5, seeds/2), func(seed int) (float64, error) {
					p := b.sequencePlan(eps, 1, 2*runs, seed)
					if way == 0 {
						p.Mode = canary.Sequential
					} else {
						p.Mode, p.Runs = canary.Fixed, runs
					}
					r, err := bet(p)
					if err != nil {
						return 0, err
					}
					return *r.LowerBound, nil
				})
				if err != nil {
					return nil, err
				}
				figures[way] = values[len(values)/2]
			}
			t.Rows = append(t.Rows, canaryTableRow{fmt.Sprintf("claim %g, its noise, %d trainings (fixed: half to explore)", eps, 2*runs), []canaryFigure{{}, {}, {}, one(figures[0]), one(figures[1])}})
		}
	}
	return t, nil
}
