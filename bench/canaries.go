package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/mechanisms/source"
)

const (
	canaryDelta = 1e-5
	canaryBeta  = 0.05
	canarySeeds = 25
)

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

type canaryBench struct {
	lab
	quick  bool
	seeds  int    // audits of a cell; 0: each cell's own number
	audits int    // of a coverage cell
	seed   uint64 // of the first audit; the next has the next
	cells  map[canaryCell][]map[canaryWay]judged
}

func benchCanaries(c *call) {
	b := &canaryBench{cells: map[canaryCell][]map[canaryWay]judged{}}
	c.count(&b.seeds, "seeds", 0, 0, 1_000_000, "audits of a cell; 0: 25, with -quick fewer where an audit is large")
	c.count(&b.audits, "audits", 1000, 1, 1_000_000, "audits of a coverage cell")
	c.Seed(&b.seed, 1, "seed of the first audit")
	only := c.String("only", "", "only these tables, comma between, as runs and coverage")
	c.BoolVar(&b.quick, "quick", false, "under two minutes: smaller grids, fewer audits")
	c.parse()
	parts := pick(*only, canaryTables)
	b.lab = c.lab
	tables := built(b, parts)
	c.print(fmt.Sprintf("Canary audits, means ± standard errors, [published]; beta = %g, delta = %g, first seed %d", canaryBeta, canaryDelta, b.seed), tables...)
}

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

// The ways that figures compare: the paper's, with thresholds between the 10 % and the 90 %
// quantile of the scores inside, and the default.
var (
	wilson1 = canaryWay{bounds.CanaryWilson1, 0.1}
	wilson2 = canaryWay{bounds.CanaryWilson2, 0.1}
	wilson4 = canaryWay{bounds.CanaryWilson4, 0.1}
	betting = canaryWay{bounds.CanaryPairedBetting, 0}

	canaryWays = []canaryWay{wilson1, wilson2, wilson4, betting}
)

func (b *canaryBench) seedsOf(c canaryCell) int {
	quick := audit.Pick(c.n*c.k <= 1024*16, canarySeeds, audit.Pick(c.n*c.k <= 4096*32, 10, 5))
	return cmp.Or(b.seeds, audit.Pick(b.quick, quick, canarySeeds))
}

func (b *canaryBench) measure(cells ...canaryCell) {
	fresh := unknown(b.cells, cells)
	all := repeated(b.lab, audit.Each(fresh, b.seedsOf), func(_ context.Context, cell, seed int) map[canaryWay]judged {
		return b.simulate(fresh[cell], seed, canaryWays)
	})
	for i, c := range fresh {
		b.cells[c] = all[i]
	}
}

func (b *canaryBench) simulate(c canaryCell, seed int, ways []canaryWay) map[canaryWay]judged {
	p := canary.Plan{Version: canary.PlanVersion, Source: "gaussian-sum", Parameters: audit.Params{"d": {Number: float64(c.d)}}, Claim: new(audit.DPClaim(c.eps, canaryDelta)),
		Mode: canary.Fixed, Runs: c.n, K: c.k, Beta: canaryBeta, Seed: b.seed + uint64(seed)}
	if c.orthogonal {
		p.Design = source.Orthogonal
	}
	s, out := simulate(try.Get(p.Resolve(source.Sources(), nil))), map[canaryWay]judged{}
	for _, way := range ways {
		if c.k >= way.kind.Order() {
			out[way] = s.judge(way)
		}
	}
	return out
}

func (b *canaryBench) epsilons(c canaryCell, way canaryWay) []float64 {
	if c.k < way.kind.Order() {
		return nil
	}
	return audit.Each(b.cells[c], func(a map[canaryWay]judged) float64 { return a[way].epsilon })
}

func (b *canaryBench) figure(c canaryCell, way canaryWay) figure {
	return figureOf(b.epsilons(c, way)...)
}

// mean of a way in a cell, NaN if there is none.
func (b *canaryBench) mean(c canaryCell, way canaryWay) float64 {
	return stat.Mean(b.epsilons(c, way), nil)
}

// inside is of a cell's counts inside, at the threshold of second-order Wilson.
func (b *canaryBench) inside(c canaryCell, of func(bounds.Exchangeable) float64) []float64 {
	return audit.Each(b.cells[c], func(a map[canaryWay]judged) float64 { return of(a[wilson2].table.In()) })
}

func (b *canaryBench) fresh(c canaryCell) []float64 {
	return audit.Each(b.cells[c], func(a map[canaryWay]judged) float64 { return a[wilson2].table.Out().Mean() })
}

// simulation keeps all scores of a fixed audit, which one interval after the other judges.
type simulation struct {
	plan   canary.Plan
	scores [2][]float64 // of exploration and certification, K in and M out a run
	sorted [2]*membership.Explored
}

// simulate draws all runs of an audit. It holds (explore + n)(K + M) numbers.
func simulate(a *canary.Audit) *simulation {
	explored := try.Get(a.Scores(canary.Exploring, a.Plan.Explore))
	return newSimulation(a.Plan, explored, try.Get(a.Scores(canary.Certifying, a.Plan.Runs)))
}

func newSimulation(p canary.Plan, explored, certified []float64) *simulation {
	sorted := func(scores []float64) *membership.Explored { return membership.NewExplored(p.K, p.M, scores) }
	return &simulation{p, [2][]float64{explored, certified}, [2]*membership.Explored{sorted(explored), sorted(certified)}}
}

// parts are the audits of so many runs of either stage, each with the stages in both roles.
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

type judged struct {
	epsilon float64 // not rounded up to 0; -Inf where nothing is bounded
	table   bounds.CanaryTable
}

// judge bounds at the threshold that is best for the interval, between two quantiles of the scores inside.
func (s *simulation) judge(way canaryWay) judged {
	p := s.plan
	c := s.sorted[0].Choose(membership.Aim{Interval: way.kind, Quantile: way.quantile, Delta: p.Claim.Delta, Beta: p.Beta, Runs: p.Runs})
	t := s.sorted[1].Table(c.Threshold)
	return judged{bounds.CanaryEpsilon(way.kind, t, p.Claim.Delta, p.Beta, c.Stakes), t}
}

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

func (l canaryLaw) truth() float64 { return math.Log((l.p1 - l.delta) / l.p0) }

var canaryLaws = []canaryLaw{
	{name: "independent", k: 8, m: 8, n: 256, p1: .3, p0: .1, delta: 1e-5},
	{name: "independent, rare", k: 16, m: 16, n: 256, p1: .02, p0: .004, delta: 1e-5},
	{name: "one canary", k: 1, m: 1, n: 256, p1: .3, p0: .1, delta: 1e-5},
	{name: "beta-binomial", k: 8, m: 8, n: 256, p1: .4, p0: .15, delta: 1e-5, spread: true},
	{name: "common shock", k: 8, m: 8, n: 256, p1: .3, p0: .1, delta: 1e-5, shock: .5},
	{name: "all or none, rare", k: 8, m: 4, n: 256, p1: .05, p0: .01, delta: 1e-5, shock: 1},
	{name: "coupled pairs", k: 8, m: 8, n: 256, p1: .3, p0: .1, delta: .01, shock: .3, coupled: true},
}

func (l canaryLaw) draw(st *stream.Stream, n int) bounds.CanaryTable {
	counts := make([]int, (l.k+1)*(l.m+1))
	u := make([]float64, 3+l.k+l.m)
	for range n {
		st.Uniform(u, 0, 1)
		x := l.side(u[0], u[1], u[3:3+l.k], l.p1)
		other := u[3+l.k:]
		shock := u[2]
		coin := audit.Pick(shock < l.shock, shock/l.shock, (shock-l.shock)/(1-l.shock)) // uniform, whatever the shock
		if l.coupled {
			shock, coin, other = u[0], u[1], u[3:3+l.m]
		}
		counts[x*(l.m+1)+l.side(shock, coin, other, l.p0)]++
	}
	t := bounds.NewCanaryTable(l.k, l.m)
	for c, n := range counts {
		t.Add(c/(l.m+1), c%(l.m+1), n)
	}
	return t
}

func (l canaryLaw) side(shock, coin float64, u []float64, p float64) int {
	if l.spread {
		p *= 2 * coin
	}
	if shock < l.shock {
		return audit.Pick(coin < p, len(u), 0)
	}
	return audit.Count(u, func(v float64) bool { return v < p })
}

func (b *canaryBench) coverage() *table {
	t := &table{title: fmt.Sprintf("Coverage: share of %d audits whose bound exceeds the true epsilon, nominal .05 at most", b.audits)}
	kinds := bounds.CanaryIntervals()
	t.columns = audit.Each(kinds, func(k bounds.CanaryInterval) string { return string(k) + audit.Pick(k.Valid(), "", " (asymptotic)") })
	worst := 0.0
	for i, l := range canaryLaws {
		over := results(b.lab, b.audits, func(_ context.Context, run int) []bool {
			st := stream.New(stream.Key{Seed: b.seed, Purpose: "bench/canaries/coverage", Trial: run, Shard: i})
			stakes := bounds.TuneCanary(l.draw(st, l.n), l.n, l.delta, canaryBeta)
			table := l.draw(st, l.n)
			return audit.Each(kinds, func(k bounds.CanaryInterval) bool {
				return min(l.k, l.m) >= k.Order() && bounds.CanaryEpsilon(k, table, l.delta, canaryBeta, stakes) > l.truth()
			})
		})
		row := audit.Listed(len(kinds), func(j int) any {
			if min(l.k, l.m) < kinds[j].Order() {
				return noFigure
			}
			rate := float64(audit.Count(over, func(o []bool) bool { return o[j] })) / float64(b.audits)
			if kinds[j].Valid() {
				worst = max(worst, rate)
			}
			return figureOf(rate)
		})
		t.add(fmt.Sprintf("%s: n = %d, K = %d, M = %d, rates %g and %g, delta %g, true epsilon %.3f", l.name, l.n, l.k, l.m, l.p1, l.p0, l.delta, l.truth()), row...)
	}
	t.notes = []string{fmt.Sprintf("largest rate of a valid bound: %.4g", worst)}
	return t
}
