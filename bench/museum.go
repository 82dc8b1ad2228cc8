package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// museumClaims are epsilons of pages that are not 1.
var museumClaims = map[string]float64{"noisy-histogram-wrong-scale": 0.5, "truncated-geometric": 0.1}

// museumPlans are audits of the known faults, at the claims of their pages in the museum, or their own.
func museumPlans(only string) (plans []pair.Plan) {
	for _, m := range seeded.Mechanisms {
		if m.Fault == "" || !chosen(only, m.Name) {
			continue
		}
		p := pair.Plan{Version: pair.PlanVersion, Mechanism: m.Name, Trials: 10}
		learner := slices.ContainsFunc(learners.All(), func(l audit.MechanismSpec) bool { return l.Name == m.Name })
		if !learner && !strings.HasPrefix(m.Name, "gaussian-mean-") && !strings.HasPrefix(m.Name, "dp-sgd-") {
			p.Claim = new(audit.DPClaim(cmp.Or(museumClaims[m.Name], 1), 0))
		}
		plans = append(plans, p)
	}
	refuse(len(plans) == 0, "-only", only, "part of the name of a mechanism with a known fault")
	return plans
}

// museumOracles are outputs that the log-optimal bet needs at epsilon = 1: the growth of the learnt bet
// at 400,000 outputs of the best pair, cross-validated.
var museumOracles = map[string]int{"svt3": 2560, "svt4": 2700, "svt5": 82, "svt6": 366, "laplace-mean-raw-count": 371, "laplace-mean-raw-denominator": 15_000}

const (
	museumSeed    = 5000 // of the first run
	museumSeconds = 0.3  // to the verdict, at the median
)

func benchMuseum(c *call) {
	c.workers = 1 // seconds are of one audit alone
	var seeds, samples int
	c.count(&seeds, "seeds", 5, 1, 10_000, "runs a mechanism, with seeds 5000, 5001, ...")
	c.Count(&samples, "samples", 200_000, "outputs a side, of all pairs, at most")
	only := c.String("only", "", "only mechanisms whose name contains one of these, comma between")
	c.parse()
	plans := museumPlans(*only)
	t := &table{title: fmt.Sprintf("Outputs of both sides of all pairs, and seconds, at beta .05 and at most %d outputs a side", samples),
		columns: []string{"claim", "oracle", "median", "90 %", "most", "seconds", "of all", "most", "bound", "refuted"}}
	quick := 0
	var runs []float64
	for _, p := range plans {
		p.Samples = samples
		a := try.Get(p.Resolve(seeded))
		type verdict struct {
			outputs               int
			seconds, whole, bound float64
			refuted               bool
		}
		var all []verdict
		in(p.Mechanism, func() {
			all = results(c.lab, seeds, func(ctx context.Context, run int) (v verdict) {
				now, p := cli.Clock(), p
				p.Seed = uint64(museumSeed + run)
				r := try.Get(pair.Run{Plan: p, Catalogue: seeded, Pool: engine.LocalPool(1), Progress: func(g pair.Progress) {
					if g.Refuted > 0 && v.seconds == 0 {
						v.seconds = now()
					}
				}}.Do(ctx))
				v.whole, v.bound = now(), *r.LowerBound
				if v.outputs, v.refuted = r.Sequential.Refuted, r.Sequential.Refuted > 0; !v.refuted {
					v.outputs, v.seconds = 2*samples, v.whole
				}
				return v
			})
		})
		refuted := audit.Count(all, func(v verdict) bool { return v.refuted })
		outputs := sorted(all, func(v verdict) int { return v.outputs })
		seconds := sorted(all, func(v verdict) float64 { return v.seconds })
		whole := sorted(all, func(v verdict) float64 { return v.whole })
		bounds := sorted(all, func(v verdict) float64 { return v.bound })
		runs = append(runs, whole...)
		half, most := seeds/2, min(seeds-1, seeds*9/10)
		quick += audit.Pick(refuted == seeds && seconds[half] <= museumSeconds, 1, 0)
		oracle := strings.TrimPrefix(fmt.Sprint(museumOracles[p.Mechanism]), "0")
		t.add(p.Mechanism, a.Claim, oracle, outputs[half], outputs[most], outputs[seeds-1], seconds[half], whole[half], whole[seeds-1], bounds[half], of(refuted, seeds))
		c.say("%s: median %d", p.Mechanism, outputs[half])
	}
	slices.Sort(runs)
	t.notes = []string{fmt.Sprintf("a whole audit takes %.2f s in the median and %.1f at most; the seconds before are those to the verdict", runs[len(runs)/2], runs[len(runs)-1]), fmt.Sprintf("%d of %d are refuted by every seed within %g seconds at the median", quick, len(plans), museumSeconds)}
	c.print("Known faults at the claims of their pages, private learners at their own", t)
}
