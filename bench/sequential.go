package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
)

// sequentialCase is a mechanism audited until its claim is refuted.
type sequentialCase struct {
	mechanism string
	oracle    int // outputs that the log-optimal bet with the true laws needs
	asked     int // outputs at the median
}

var sequentialCases = []sequentialCase{
	// Oracles are ours: the growth of the learnt bet at 400,000 outputs of the best pair,
	// cross-validated.
	{"svt3", 2_560, 25_000},
	{"svt4", 2_700, 14_000},
	{"svt5", 82, 300},
	{"svt6", 366, 1_500},
	{"laplace-mean-raw-count", 371, 1_400},
	{"gaussian-mean-raw-count", 132, 550},
	{"laplace-mean-raw-denominator", 15_000, 65_000},
}

// sequentialSeed is the seed of the first run.
const sequentialSeed = 5000

// sequentialRow is one line of the table: outputs and seconds to the verdict.
type sequentialRow struct {
	Mechanism string     `json:"mechanism"`
	Oracle    int        `json:"oracle,omitempty"`
	Asked     int        `json:"asked,omitempty"`
	Runs      int        `json:"runs"`
	Refuted   int        `json:"refuted"`
	Outputs   [3]int     `json:"outputs"` // median, 90th percentile, largest; of all runs
	Seconds   [2]float64 `json:"seconds"` // median, 90th percentile
}

// benchSequential prints how many outputs and how long a verdict takes.
func benchSequential(c *call) (int, error) {
	plan := pair.Plan{Version: pair.PlanVersion, Mode: pair.UntilRefuted}
	c.IntVar(&plan.Samples, "samples", 500_000, "outputs a side, of all pairs, at most")
	c.IntVar(&plan.Trials, "trials", 10, "pairs, at most")
	c.Float64Var(&plan.Beta, "beta", 0.05, "allowed error of the verdict")
	c.StringVar(&plan.Finder, "finder", audit.Auto, "how pairs are found")
	seeds := c.Int("seeds", 40, "runs a mechanism, with seeds 5000, 5001, ...")
	var only []string
	c.Func("mechanism", "this mechanism alone; may be given more than once", func(name string) error { only = append(only, name); return nil })
	epsilon := c.Float64("epsilon", 1, "the claim, at delta = 0")
	museum := c.Bool("museum", false, "every mechanism with a known fault instead, at the claim of its page")
	alarms := c.Bool("alarms", false, "claims that just hold instead, and how often they are refuted")
	runs := c.Int("runs", 2_500, "with -alarms, runs of a claim")
	workers := c.workersFlag()
	c.outputFlags()
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if *alarms {
		c.unlessGiven("samples", &plan.Samples, 2_000)
		if err := within("-runs", *runs, 4, 1_000_000, ""); err != nil {
			return 0, err
		}
		r, err := sequentialAlarms(c.ctx, alarmPlan{Runs: *runs, Samples: plan.Samples, Beta: plan.Beta, Seed: 1}, alarmCells(), *workers, c.say)
		if err != nil {
			return 0, err
		}
		return c.showAlarms(r)
	}
	cases := sequentialCases
	if *museum {
		c.unlessGiven("samples", &plan.Samples, 50_000)
		c.unlessGiven("seeds", seeds, 5)
		c.unlessGiven("workers", workers, 1) // times are of one audit alone
		rows, err := sequentialMuseum(c.ctx, seeded, plan, only, *seeds, *workers, c.say)
		if err != nil {
			return 0, err
		}
		return c.showMuseum(plan, rows)
	}
	if len(only) > 0 {
		cases = nil
		for _, name := range only {
			i := slices.IndexFunc(sequentialCases, func(k sequentialCase) bool { return k.mechanism == name })
			if i >= 0 {
				cases = append(cases, sequentialCases[i])
			} else {
				cases = append(cases, sequentialCase{mechanism: name})
			}
		}
	}
	rows := make([]sequentialRow, len(cases))
	reached := true
	for i, k := range cases {
		p := plan
		p.Mechanism, p.Claim = k.mechanism, new(audit.DPClaim(*epsilon, 0))
		row, err := sequentialRuns(c.ctx, seeded, p, *seeds, *workers)
		if err != nil {
			return 0, err
		}
		row.Mechanism, row.Oracle, row.Asked = k.mechanism, k.oracle, k.asked
		rows[i] = row
		reached = reached && (k.asked == 0 || row.Outputs[0] <= k.asked)
		c.say("%s: median %d", k.mechanism, row.Outputs[0])
	}
	return code(reached), c.emit(rows, func(w io.Writer) {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "Outputs of both sides of all pairs, search included, until the claim %s is refuted (beta %s)\n", audit.DPClaim(*epsilon, 0), audit.Number(plan.Beta))
		fmt.Fprintln(t, "mechanism\toracle\tasked\tmedian\t90 %\tmost\tseconds\t90 %\trefuted\t")
		for _, r := range rows {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%.3f\t%.3f\t%d/%d\t\n", r.Mechanism, r.Oracle, r.Asked, r.Outputs[0], r.Outputs[1], r.Outputs[2], r.Seconds[0], r.Seconds[1], r.Refuted, r.Runs)
		}
		t.Flush()
	})
}

func sequentialRuns(ctx context.Context, cat audit.Catalogue, plan pair.Plan, seeds, workers int) (sequentialRow, error) {
	outputs, seconds := make([]int, seeds), make([]float64, seeds)
	refuted := make([]bool, seeds)
	err := each(ctx, max(1, workers), seeds, func(ctx context.Context, job int) error {
		p := plan
		p.Seed = uint64(sequentialSeed + job)
		a, err := p.Resolve(cat)
		if err != nil {
			return err
		}
		start := time.Now()
		r, err := engine.Result[pair.SequentialResult](a.SequentialTest(), func(int) error { return ctx.Err() })
		if err != nil {
			return err
		}
		seconds[job] = time.Since(start).Seconds()
		for _, e := range r.Epochs {
			outputs[job] += 2 * e.Outputs
		}
		refuted[job] = r.Refuted
		return nil
	})
	row := sequentialRow{Runs: seeds}
	for _, ok := range refuted {
		if ok {
			row.Refuted++
		}
	}
	slices.Sort(outputs)
	slices.Sort(seconds)
	at := func(q float64) int { return min(seeds-1, int(q*float64(seeds))) }
	row.Outputs = [3]int{outputs[at(0.5)], outputs[at(0.9)], outputs[seeds-1]}
	row.Seconds = [2]float64{seconds[at(0.5)], seconds[at(0.9)]}
	return row, err
}
