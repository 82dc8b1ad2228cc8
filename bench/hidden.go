package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/try"
)

// hiddenAdversaries go from all that the accounting covers to what a user of the model sees, as those
// of Nasr et al. (Adversary Instantiation, S&P 2021, section 4).
var hiddenAdversaries = []struct {
	name, summary, start string
	natural              bool // the canary is a row of the table's kind with the other label
}{
	{"every noisy step, crafted row", "steps", "own", false},
	{"last weights, crafted row", "gradient", "own", false},
	{"last weights, crafted row, worst-case first weights", "gradient", "worst-case", false},
	{"log odds of the last model, crafted row", "odds", "own", false},
	{"log odds of the last model, crafted row, worst-case first weights", "odds", "worst-case", false},
	{"every noisy step, mislabelled row", "steps", "own", true},
	{"log odds of the last model, mislabelled row, worst-case first weights", "odds", "worst-case", true},
	{"log odds of the last model, mislabelled row", "odds", "own", true},
}

func benchHidden(c *call) {
	const learner, data, epsilon, delta = "sgd-linear", "digits", 10, 1e-5
	var steps, n int
	c.Count(&steps, "steps", 50, "steps of a training")
	c.Count(&n, "samples", 500, "trainings a side that certify, and that explore")
	only := c.String("only", "", "only adversaries whose name contains this")
	c.parse()
	mu := bounds.GaussianMuFromDelta(delta, epsilon)
	spec := try.Get(catalogue.Mechanism(learner))
	all := results(c.lab, len(hiddenAdversaries), func(ctx context.Context, i int) []any {
		x := hiddenAdversaries[i]
		if !chosen(*only, x.name) {
			return nil
		}
		params := audit.Params{"table": {Text: data}, "epsilon": {Number: epsilon}, "delta": {Number: delta}, "steps": {Number: float64(steps)},
			"summary": {Text: x.summary}, "start": {Text: x.start}}
		resolved := try.Get(audit.ResolveParams(spec.Params, params, audit.Claim{}))
		two := spec.Pairs(resolved, audit.AddRemove)[0]
		if x.natural {
			base := spec.Table(resolved).Base
			more := audit.Dataset{Columns: base.Columns, Values: slices.Concat(base.Values, base.Row(0))}
			label := &more.Values[len(more.Values)-1]
			*label = 1 - *label
			two = audit.Pair{Label: "the table, and its first row once more with the other label", First: base, Second: more}
		}
		now := cli.Clock()
		r := audited(ctx, pair.Plan{Mode: pair.Fixed, Mechanism: learner, Parameters: params, Claim: &audit.Claim{Kind: audit.GaussianDP, Mu: mu},
			Relation: audit.AddRemove, Pair: &two, Samples: n, Explore: n, Seed: 42}, catalogue)
		best := 0.0
		for _, row := range r.Rows(report.Bounds) {
			if row.ID == report.Epsilon && row.Delta == delta && row.LowerBound != nil {
				best = max(best, *row.LowerBound)
			}
		}
		c.say("%s: mu >= %.3f", x.name, *r.LowerBound)
		floor := func(x float64) any { return phrase.Floor(x, 3) }
		return []any{floor(*r.LowerBound), floor(bounds.GaussianEpsilon(*r.LowerBound, delta)), floor(best), r.Termination.Outputs, fmt.Sprintf("%.0f", now())}
	})
	t := &table{title: "Lower bounds with 95 % confidence, valid at this number of trainings", columns: []string{"mu", "epsilon if Gaussian", "epsilon", "trainings", "seconds"},
		notes: []string{"published for the final model alone, at epsilon = 10 and 1000 records: 7.21 (Annamalai and De Cristofaro 2024)"}}
	for i, cells := range all {
		if cells != nil {
			t.add(hiddenAdversaries[i].name, cells...)
		}
	}
	c.print(fmt.Sprintf("%s on %s, 1000 rows, %d steps of all rows, claim epsilon = %v at delta = %v (mu = %.3f)", learner, data, steps, epsilon, delta, mu), t)
}
