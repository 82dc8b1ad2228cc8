package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/cli"
)

// rung is an adversary against a training by DP-SGD: a threat model that a plan names by
// the parameters summary and start, and by its pair.
type rung struct {
	name, summary, start string
	natural              bool // the canary is a row of the table's kind with the other label
}

// ladder goes from all that the accounting covers to what a user of the model sees, as
// Nasr et al. (Adversary Instantiation, S&P 2021, section 4) go.
var ladder = []rung{
	{"every noisy step, crafted row", "steps", "own", false},
	{"last weights, crafted row", "gradient", "own", false},
	{"last weights, crafted row, worst-case first weights", "gradient", "worst-case", false},
	{"log odds of the last model, crafted row", "odds", "own", false},
	{"log odds of the last model, crafted row, worst-case first weights", "odds", "worst-case", false},
	{"every noisy step, mislabelled row", "steps", "own", true},
	{"log odds of the last model, mislabelled row, worst-case first weights", "odds", "worst-case", true},
	{"log odds of the last model, mislabelled row", "odds", "own", true},
}

// rungResult is a line of the table.
type rungResult struct {
	Adversary string  `json:"adversary"`
	Trainings int     `json:"trainings"` // of both datasets, explored and certified
	Mu        float64 `json:"mu"`        // lower bound, valid at finite n
	// FromMu is the epsilon that a Gaussian trade-off of this mu has at the claim's delta:
	// a bound where the trade-off is Gaussian.
	FromMu  float64 `json:"fromMu"`
	Epsilon float64 `json:"epsilon"` // lower bound at the claim's delta, without assumption
	Seconds float64 `json:"seconds"`
}

// benchHidden prints what adversaries of different power show of one training.
func benchHidden(c *call) (int, error) {
	learner := c.String("learner", "sgd-linear", "learner by DP-SGD: sgd-linear or sgd-perceptron")
	table := c.String("table", "digits", "table of the learner")
	epsilon := c.Float64("epsilon", 10, "claimed epsilon")
	delta := c.Float64("delta", 1e-5, "claimed delta")
	steps := c.Int("steps", 50, "steps of a training")
	n := c.Int("samples", 500, "trainings a side that certify, and that explore")
	seed := c.Uint64("seed", 42, "seed")
	only := c.Int("rung", 0, "only this line, from 1")
	workers := c.workersFlag()
	c.outputFlags()
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	pool := engine.LocalPool(*workers)
	var results []rungResult
	for i, x := range ladder {
		if *only > 0 && i+1 != *only {
			continue
		}
		params := audit.Params{"table": {Text: *table}, "epsilon": {Number: *epsilon}, "delta": {Number: *delta}, "steps": {Number: float64(*steps)},
			"summary": {Text: x.summary}, "start": {Text: x.start}}
		spec, err := catalogue.Mechanism(*learner)
		if err != nil {
			return 0, err
		}
		resolved, err := audit.ResolveParams(spec.Params, params, audit.Claim{})
		if err != nil {
			return 0, err
		}
		pairs := spec.Pairs(resolved, audit.AddRemove)
		two := pairs[0]
		if x.natural {
			two = mislabelled(spec.Table(resolved).Base)
		}
		began := time.Now()
		result := rungResult{Adversary: x.name}
		claim := audit.Claim{Kind: audit.GaussianDP, Mu: bounds.GaussianMuFromDelta(*delta, *epsilon)}
		r, err := audited(c.ctx, pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed, Mechanism: *learner, Parameters: params, Claim: &claim,
			Relation: audit.AddRemove, Pair: &two, Samples: *n, Explore: *n, Seed: *seed}, catalogue, pool)
		if err != nil {
			return 0, err
		}
		result.Trainings, result.Mu = r.Termination.Outputs, *r.LowerBound
		result.FromMu = bounds.GaussianEpsilon(result.Mu, *delta)
		for _, row := range r.Rows(report.Bounds) {
			if row.ID == report.Epsilon && row.Delta == *delta && row.LowerBound != nil {
				result.Epsilon = max(result.Epsilon, *row.LowerBound)
			}
		}
		result.Seconds = time.Since(began).Seconds()
		results = append(results, result)
		c.say("%s: mu >= %.3f", x.name, result.Mu)
	}
	return cli.ExitOK, c.emit(results, func(w io.Writer) {
		printLadder(w, results, *learner, *table, *epsilon, *delta, *steps)
	})
}

func printLadder(w io.Writer, results []rungResult, learner, table string, epsilon, delta float64, steps int) {
	mu := bounds.GaussianMuFromDelta(delta, epsilon)
	fmt.Fprintf(w, "%s on %s, 1000 rows, %d steps of all rows, claim epsilon = %s at delta = %s (mu = %.3f).\n", learner, table, steps, audit.Number(epsilon), audit.Number(delta), mu)
	fmt.Fprintf(w, "Lower bounds with 95 %% confidence, valid at this number of trainings. Published for the final model alone, at\nepsilon = 10 and 1000 records: 7.21 (Annamalai and De Cristofaro 2024).\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "what the adversary sees\tmu\tepsilon if Gaussian\tepsilon\ttrainings\tseconds\t")
	total := 0.0
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%.3f\t%.2f\t%.2f\t%d\t%.0f\t\n", r.Adversary, phrase.Floor(r.Mu, 3), phrase.Floor(r.FromMu, 2), phrase.Floor(r.Epsilon, 2), r.Trainings, r.Seconds)
		total += r.Seconds
	}
	t.Flush()
	fmt.Fprintf(w, "\n%.0f s in all.\n", total)
}

// mislabelled is a table, and the same with its first row once more under the other label.
func mislabelled(base audit.Dataset) audit.Pair {
	row := append([]float64{}, base.Row(0)...)
	row[len(row)-1] = 1 - row[len(row)-1]
	more := audit.Dataset{Columns: base.Columns, Values: append(append([]float64{}, base.Values...), row...)}
	return audit.Pair{Label: "the table, and its first row once more with the other label", First: base, Second: more}
}
