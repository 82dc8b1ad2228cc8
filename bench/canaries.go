package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// canaryPlan is what the bench canaries is asked for.
type canaryPlan struct {
	Quick  bool   `json:"quick"`
	Only   string `json:"only,omitempty"`
	Seeds  int    `json:"seeds"`  // audits of a cell; 0: each table's own number
	Audits int    `json:"audits"` // of a coverage cell
	Seed   uint64 `json:"seed"`   // of the first audit; the next has the next
}

// The paper's settings.
const (
	canaryDelta = 1e-5
	canaryBeta  = 0.05
	canarySeeds = 25
)

// canaryResult is what a command prints as JSON.
type canaryResult struct {
	Bench  string         `json:"bench"`
	Plan   any            `json:"plan"`
	Tables []*canaryTable `json:"tables"`
}

// canaryTables are the tables by name, in the order in which they are printed.
var canaryTables = []struct {
	name  string
	build func(*canaryBench) (*canaryTable, error)
}{
	{"runs", (*canaryBench).byRuns},
	{"canaries", (*canaryBench).byCanaries},
	{"quantile", (*canaryBench).byQuantile},
	{"gain", (*canaryBench).gain},
	{"dimension", (*canaryBench).byDimension},
	{"bias-variance", (*canaryBench).biasVariance},
	{"correlation-canaries", (*canaryBench).correlationCanaries},
	{"correlation-dimension", (*canaryBench).correlationDimension},
	{"proportion", (*canaryBench).proportion},
	{"coverage", (*canaryBench).coverage},
}

func canaryTableNames() []string {
	var names []string
	for _, t := range canaryTables {
		names = append(names, t.name)
	}
	return names
}

// benchCanaries measures canary audits of the Gaussian sum.
func benchCanaries(c *call) (int, error) {
	var plan canaryPlan
	c.Count(&plan.Seeds, "seeds", 0, "audits of a cell; 0: 25, with -quick fewer where an audit is large")
	c.Count(&plan.Audits, "audits", 0, "audits of a coverage cell; 0: 1000, with -quick 200")
	c.Seed(&plan.Seed, 1, "seed of the first audit")
	c.StringVar(&plan.Only, "only", "", "only these tables, comma between: "+strings.Join(canaryTableNames(), ", "))
	c.BoolVar(&plan.Quick, "quick", false, "under two minutes: smaller grids, fewer audits")
	workers := c.workersFlag()
	c.outputFlags()
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if plan.Seeds < 0 || plan.Seeds > 100_000 || plan.Audits < 0 || plan.Audits > 1_000_000 {
		return 0, &audit.InputError{Field: "-seeds and -audits", Found: fmt.Sprintf("%d and %d", plan.Seeds, plan.Audits), Want: "in [0, 100000] and [0, 1000000]"}
	}
	if plan.Audits == 0 {
		plan.Audits = 1000
		if plan.Quick {
			plan.Audits = 200
		}
	}
	only := namesOf(plan.Only)
	for _, name := range only {
		if !slices.Contains(canaryTableNames(), name) {
			return 0, audit.UnknownName("-only", name, canaryTableNames())
		}
	}
	b := &canaryBench{canaryPlan: plan, cells: map[canaryCell]*canaryMeasured{}, workshop: workshop{ctx: c.ctx, workers: *workers, say: c.say}}
	result := canaryResult{Bench: "canaries", Plan: plan}
	short := false
	for _, t := range canaryTables {
		if len(only) > 0 && !slices.Contains(only, t.name) {
			continue
		}
		table, err := t.build(b)
		if err != nil {
			return 0, err
		}
		table.ID = t.name
		b.say("%s: done", t.name)
		result.Tables = append(result.Tables, table)
		short = short || len(missed(table.Checks)) > 0
	}
	return code(!short), c.emit(result, func(w io.Writer) {
		fmt.Fprintf(w, "Canary audits, means ± standard errors, [published]; beta = %g, delta = %g, first seed %d\n", canaryBeta, canaryDelta, plan.Seed)
		for _, t := range result.Tables {
			printCanaryTable(w, t)
		}
	})
}

// canaryBench measures cells, each once.
type canaryBench struct {
	canaryPlan
	workshop
	cells map[canaryCell]*canaryMeasured
}

// canaryCell is one setting of the Gaussian sum.
type canaryCell struct {
	eps        float64
	n, k, d    int
	orthogonal bool
}

// canaryWay is an interval and the range of its threshold.
type canaryWay struct {
	kind     bounds.CanaryInterval
	quantile float64
}

// The ways that figures compare: the paper's, with thresholds between the
// 10 % and the 90 % quantile of the scores inside, and the default.
var (
	wilson1 = canaryWay{bounds.CanaryWilson1, 0.1}
	wilson2 = canaryWay{bounds.CanaryWilson2, 0.1}
	wilson4 = canaryWay{bounds.CanaryWilson4, 0.1}
	betting = canaryWay{bounds.CanaryPairedBetting, 0}

	canaryWays = []canaryWay{wilson1, wilson2, wilson4, betting}
)

// canaryMeasured are the figures of the audits of a cell, one a seed.
type canaryMeasured struct {
	eps     map[canaryWay][]float64
	mu, mu4 []float64 // mu_2 - mu_1^2 and mu_4 - mu_2^2 inside at the threshold of wilson2
	spread  []float64 // variance of X/K there
	rateIn  []float64
	rateOut []float64
}

// seeds is how many audits a cell gets.
func (b *canaryBench) seeds(c canaryCell) int {
	switch {
	case b.Seeds > 0:
		return b.Seeds
	case !b.Quick, c.n*c.k <= 1024*16:
		return canarySeeds
	case c.n*c.k <= 4096*32:
		return 10
	}
	return 5
}

// measure runs the audits of cells that were not measured before.
func (b *canaryBench) measure(cells ...canaryCell) error {
	type job struct {
		cell canaryCell
		seed int
		res  map[canaryWay]judged
	}
	var jobs []*job
	for _, c := range cells {
		if b.cells[c] != nil {
			continue
		}
		b.cells[c] = &canaryMeasured{eps: map[canaryWay][]float64{}}
		for s := range b.seeds(c) {
			jobs = append(jobs, &job{cell: c, seed: s})
		}
	}
	err := each(b.ctx, b.workers, len(jobs), func(_ context.Context, i int) (err error) {
		jobs[i].res, err = b.simulate(jobs[i].cell, jobs[i].seed, canaryWays)
		return err
	})
	if err != nil {
		return err
	}
	for _, j := range jobs {
		m := b.cells[j.cell]
		for way, x := range j.res {
			m.eps[way] = append(m.eps[way], x.Epsilon)
			if way == wilson2 || j.cell.k == 1 && way == wilson1 {
				in, out := x.Table.In(), x.Table.Out()
				m.rateIn, m.rateOut = append(m.rateIn, in.Mean()), append(m.rateOut, out.Mean())
				if j.cell.k >= 2 {
					m.mu = append(m.mu, in.Correlation(1))
					m.spread = append(m.spread, in.Correlation(1)+(in.Mean()-in.Moment(2))/float64(j.cell.k))
				}
				if j.cell.k >= 4 {
					m.mu4 = append(m.mu4, in.Correlation(2))
				}
			}
		}
	}
	return nil
}

func (b *canaryBench) simulate(c canaryCell, seed int, ways []canaryWay) (map[canaryWay]judged, error) {
	p := canary.Plan{Version: canary.PlanVersion, Subject: canary.Subject{Source: "gaussian-sum", Parameters: audit.Params{"d": {Number: float64(c.d)}}, Claim: new(audit.DPClaim(c.eps, canaryDelta))},
		Mode: canary.Fixed, Runs: c.n, K: c.k, Beta: canaryBeta, Seed: b.Seed + uint64(seed)}
	if c.orthogonal {
		p.Design = source.Orthogonal
	}
	a, err := p.Resolve(source.Sources(), nil)
	if err != nil {
		return nil, err
	}
	s, err := simulate(a)
	if err != nil {
		return nil, err
	}
	out := map[canaryWay]judged{}
	for _, way := range ways {
		if c.k >= way.kind.Order() {
			out[way] = s.judge(way.kind, way.quantile)
		}
		runtime.Gosched()
	}
	return out, nil
}

// mean of a way in a cell, NaN if there is none.
func (b *canaryBench) mean(c canaryCell, way canaryWay) float64 {
	if m := b.cells[c]; m != nil && len(m.eps[way]) > 0 {
		mean, _ := meanError(m.eps[way])
		return mean
	}
	return math.NaN()
}

func (b *canaryBench) figure(c canaryCell, way canaryWay) canaryFigure {
	return meanFigure(b.cells[c].eps[way])
}
