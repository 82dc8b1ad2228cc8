package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// The paper's settings.
const (
	canaryDelta = 1e-5
	canaryBeta  = 0.05
	canarySeeds = 25
)

// canaryTables are the tables by name, in the order in which they are printed.
var canaryTables = []part[*canaryBench]{
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

// canaryBench measures audits of the Gaussian sum, of each cell once.
type canaryBench struct {
	lab
	quick  bool
	seeds  int    // audits of a cell; 0: each cell's own number
	audits int    // of a coverage cell
	seed   uint64 // of the first audit; the next has the next
	cells  map[canaryCell][]map[canaryWay]judged
}

// benchCanaries measures canary audits of the Gaussian sum.
func benchCanaries(c *call) {
	b := &canaryBench{cells: map[canaryCell][]map[canaryWay]judged{}}
	c.Count(&b.seeds, "seeds", 0, "audits of a cell; 0: 25, with -quick fewer where an audit is large")
	c.Count(&b.audits, "audits", 1000, "audits of a coverage cell")
	c.Seed(&b.seed, 1, "seed of the first audit")
	only := c.String("only", "", "only these tables, comma between, as runs and coverage")
	c.BoolVar(&b.quick, "quick", false, "under two minutes: smaller grids, fewer audits")
	c.parse()
	within("-audits", b.audits, 1, 1_000_000)
	parts := pick(*only, canaryTables)
	b.lab = c.lab
	tables := built(b, parts)
	c.print(fmt.Sprintf("Canary audits, means ± standard errors, [published]; beta = %g, delta = %g, first seed %d", canaryBeta, canaryDelta, b.seed), tables...)
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

// seedsOf is how many audits a cell gets.
func (b *canaryBench) seedsOf(c canaryCell) int {
	switch {
	case b.seeds > 0:
		return b.seeds
	case !b.quick, c.n*c.k <= 1024*16:
		return canarySeeds
	case c.n*c.k <= 4096*32:
		return 10
	}
	return 5
}

// measure runs the audits of cells that were not measured before.
func (b *canaryBench) measure(cells ...canaryCell) {
	type job struct {
		cell canaryCell
		seed int
	}
	var jobs []job
	for _, c := range cells {
		if _, ok := b.cells[c]; ok {
			continue
		}
		b.cells[c] = nil
		for s := range b.seedsOf(c) {
			jobs = append(jobs, job{c, s})
		}
	}
	all := results(b.lab, len(jobs), func(_ context.Context, i int) map[canaryWay]judged {
		return b.simulate(jobs[i].cell, jobs[i].seed, canaryWays)
	})
	for i, judged := range all {
		b.cells[jobs[i].cell] = append(b.cells[jobs[i].cell], judged)
	}
}

func (b *canaryBench) simulate(c canaryCell, seed int, ways []canaryWay) map[canaryWay]judged {
	p := canary.Plan{Version: canary.PlanVersion, Subject: canary.Subject{Source: "gaussian-sum", Parameters: audit.Params{"d": {Number: float64(c.d)}}, Claim: new(audit.DPClaim(c.eps, canaryDelta))},
		Mode: canary.Fixed, Runs: c.n, K: c.k, Beta: canaryBeta, Seed: b.seed + uint64(seed)}
	if c.orthogonal {
		p.Design = source.Orthogonal
	}
	a := get(p.Resolve(source.Sources(), nil))
	s := simulate(a)
	out := map[canaryWay]judged{}
	for _, way := range ways {
		if c.k >= way.kind.Order() {
			out[way] = s.judge(way)
		}
		runtime.Gosched()
	}
	return out
}

// epsilons are the bounds of a way in a cell, one an audit.
func (b *canaryBench) epsilons(c canaryCell, way canaryWay) (all []float64) {
	for _, audit := range b.cells[c] {
		if j, ok := audit[way]; ok {
			all = append(all, j.epsilon)
		}
	}
	return all
}

func (b *canaryBench) figure(c canaryCell, way canaryWay) figure {
	return figureOf(b.epsilons(c, way)...)
}

// mean of a way in a cell, NaN if there is none.
func (b *canaryBench) mean(c canaryCell, way canaryWay) float64 {
	return stat.Mean(b.epsilons(c, way), nil)
}

// counted is of the counts of a cell's audits, at the threshold of second-order Wilson, or of
// the first order where there is one canary.
func (b *canaryBench) counted(c canaryCell, of func(in, out bounds.Exchangeable) float64) (all []float64) {
	for _, audit := range b.cells[c] {
		t := audit[choose(c.k == 1, wilson1, wilson2)].table
		all = append(all, of(t.In(), t.Out()))
	}
	return all
}

func rateIn(in, _ bounds.Exchangeable) float64   { return in.Mean() }
func rateOut(_, out bounds.Exchangeable) float64 { return out.Mean() }

// simulation is a fixed audit with canaries whose scores are all kept, so that it can be
// judged by one interval after the other, each at a threshold of its own. What it says by
// the plan's interval is what its report says.
type simulation struct {
	plan   canary.Plan
	scores [2][]float64 // of exploration and certification, K in and M out a run
	sorted [2]*membership.Explored
}

// simulate draws all runs of an audit. It holds (explore + n)(K + M) numbers.
func simulate(a *canary.Audit) *simulation {
	explored := get(a.Scores(canary.Exploring, a.Plan.Explore))
	return newSimulation(a.Plan, explored, get(a.Scores(canary.Certifying, a.Plan.Runs)))
}

func newSimulation(p canary.Plan, explored, certified []float64) *simulation {
	return &simulation{p, [2][]float64{explored, certified}, [2]*membership.Explored{membership.NewExplored(p.K, p.M, explored), membership.NewExplored(p.K, p.M, certified)}}
}

// parts are the audits of so many runs, of exploration as of certification, and each with
// the two in the other's place.
func (s *simulation) parts(runs int) (all []*simulation) {
	p, size := s.plan, s.plan.K+s.plan.M
	p.Explore, p.Runs = runs, runs
	for first := 0; first+runs <= s.plan.Runs; first += runs {
		x := newSimulation(p, s.scores[0][first*size:(first+runs)*size], s.scores[1][first*size:(first+runs)*size])
		y := *x
		slices.Reverse(y.sorted[:])
		all = append(all, x, &y)
	}
	return all
}

// judged is what one interval makes of a simulation.
type judged struct {
	epsilon float64 // not rounded up to 0; -Inf where nothing is bounded
	table   bounds.CanaryTable
}

// judge chooses the threshold for an interval, between the quantiles quantile and
// 1-quantile of the scores inside, and computes its bound.
func (s *simulation) judge(way canaryWay) judged {
	p := s.plan
	c := s.sorted[0].Choose(membership.Aim{Interval: way.kind, Quantile: way.quantile, Delta: p.Claim.Delta, Beta: p.Beta, Runs: p.Runs})
	t := s.sorted[1].Table(c.Threshold)
	return judged{bounds.CanaryEpsilon(way.kind, t, p.Claim.Delta, p.Beta, c.Stakes), t}
}
