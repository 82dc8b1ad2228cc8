package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
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

// canaryTable is a table or a figure, with published figures where they are known.
type canaryTable struct {
	ID        string           `json:"table"`
	Title     string           `json:"title"`
	Published string           `json:"published"` // where published figures come from
	Columns   []string         `json:"columns"`
	Rows      []canaryTableRow `json:"rows"`
	Notes     []string         `json:"notes,omitempty"`
	Checks    []check          `json:"checks,omitempty"`
}

type canaryTableRow struct {
	Name    string         `json:"name"`
	Figures []canaryFigure `json:"figures"` // one a column
}

// canaryFigure is a mean with its standard error; the zero value is an empty cell.
type canaryFigure struct {
	Mean      *float64 `json:"mean,omitempty"`
	Error     *float64 `json:"standardError,omitempty"`
	Published *float64 `json:"published,omitempty"`
}

// check holds a figure against what is to be reached.
type check struct {
	What    string   `json:"what"`
	Got     float64  `json:"got"`
	Least   *float64 `json:"least,omitempty"`
	Most    *float64 `json:"most,omitempty"`
	Reached bool     `json:"reached"`
}

// checked makes a check; NaN for an end that is open.
func checked(what string, got, least, most float64) check {
	c := check{What: what, Got: got, Reached: !(got < least) && !(got > most) && !math.IsNaN(got)}
	if !math.IsNaN(least) {
		c.Least = &least
	}
	if !math.IsNaN(most) {
		c.Most = &most
	}
	return c
}

func atLeast(what string, got, want float64) check { return checked(what, got, want, math.NaN()) }
func atMost(what string, got, want float64) check  { return checked(what, got, math.NaN(), want) }

// missed are what was not reached.
func missed(checks []check) (what []string) {
	for _, c := range checks {
		if !c.Reached {
			what = append(what, c.What)
		}
	}
	return what
}

func printChecks(w io.Writer, checks []check) {
	for _, c := range checks {
		verdict, want := "reached", []string{}
		if !c.Reached {
			verdict = "SHORT"
		}
		if c.Least != nil {
			want = append(want, fmt.Sprintf("at least %.4g", *c.Least))
		}
		if c.Most != nil {
			want = append(want, fmt.Sprintf("at most %.4g", *c.Most))
		}
		fmt.Fprintf(w, "%s  %s: %.4g, to be %s\n", verdict, c.What, c.Got, strings.Join(want, " and "))
	}
}

func meanFigure(values []float64) canaryFigure {
	if len(values) == 0 {
		return canaryFigure{}
	}
	mean, se := meanError(values)
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		return canaryFigure{}
	}
	f := canaryFigure{Mean: &mean}
	if len(values) > 1 {
		f.Error = &se
	}
	return f
}

func (f canaryFigure) beside(published float64) canaryFigure {
	if !math.IsNaN(published) {
		f.Published = &published
	}
	return f
}

func meanError(values []float64) (mean, se float64) {
	n := float64(len(values))
	for _, x := range values {
		mean += x / n
	}
	for _, x := range values {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se / math.Max(1, n-1) / n)
}

// canaryResult is what the command prints as JSON.
type canaryResult struct {
	Bench  string         `json:"bench"`
	Plan   canaryPlan     `json:"plan"`
	Tables []*canaryTable `json:"tables"`
	Missed []string       `json:"missed"`
}

// canaryTables are the tables by name, in the order in which they are printed.
var canaryTables = []struct {
	name  string
	build func(*canaryBench) (*canaryTable, error)
}{
	{"targets", (*canaryBench).targets},
	{"runs", (*canaryBench).byRuns},
	{"canaries", (*canaryBench).byCanaries},
	{"dimension", (*canaryBench).byDimension},
	{"bias-variance", (*canaryBench).biasVariance},
	{"correlation-canaries", (*canaryBench).correlationCanaries},
	{"correlation-dimension", (*canaryBench).correlationDimension},
	{"proportion", (*canaryBench).proportion},
	{"one-run", (*canaryBench).oneRun},
	{"sequential", (*canaryBench).sequential},
	{"coverage", (*canaryBench).coverage},
}

func canaryTableNames() []string {
	var names []string
	for _, t := range canaryTables {
		names = append(names, t.name)
	}
	return names
}

// benchCanaries measures canary audits of the Gaussian sum and one-run audits.
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
	result := canaryResult{Bench: "canaries", Plan: plan, Missed: []string{}}
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
		result.Missed = append(result.Missed, missed(table.Checks)...)
	}
	return code(len(result.Missed) == 0), c.emit(result, func(w io.Writer) { printCanaryTables(w, result) })
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
	m          int // fresh canaries; 0: k
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
)

// canaryMeasured are the figures of the audits of a cell, one a seed.
type canaryMeasured struct {
	eps     map[canaryWay][]float64
	mu, mu4 []float64 // mu_2 - mu_1^2 and mu_4 - mu_2^2 inside at the threshold of wilson2
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
		res  map[canaryWay]canary.Judged
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
		jobs[i].res, err = b.simulate(jobs[i].cell, jobs[i].seed)
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
				}
				if j.cell.k >= 4 {
					m.mu4 = append(m.mu4, in.Correlation(2))
				}
			}
		}
	}
	return nil
}

func (b *canaryBench) simulate(c canaryCell, seed int) (map[canaryWay]canary.Judged, error) {
	p := canary.Plan{Version: canary.PlanVersion, Subject: source.Subject{Source: "gaussian-sum", Parameters: audit.Params{"d": {Number: float64(c.d)}}, Claim: new(audit.DPClaim(c.eps, canaryDelta))},
		Mode: canary.Fixed, Runs: c.n, K: c.k, M: c.m, Beta: canaryBeta, Seed: b.Seed + uint64(seed)}
	if c.orthogonal {
		p.Design = source.Orthogonal
	}
	a, err := p.Resolve(source.Sources(), nil)
	if err != nil {
		return nil, err
	}
	s, err := canary.Simulate(a)
	if err != nil {
		return nil, err
	}
	out := map[canaryWay]canary.Judged{}
	for _, way := range []canaryWay{wilson1, wilson2, wilson4, betting} {
		if c.k >= way.kind.Order() {
			out[way] = s.Judge(way.kind, way.quantile)
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
func (b *canaryBench) coverage() (*canaryTable, error) {
	t := &canaryTable{Title: fmt.Sprintf("Coverage: share of %d audits whose bound exceeds the true epsilon, nominal .05 at most", b.Audits),
		Published: "none"}
	kinds := bounds.CanaryIntervals()
	for _, k := range kinds {
		name := string(k)
		if !k.Valid() {
			name += " (asymptotic)"
		}
		t.Columns = append(t.Columns, name)
	}
	laws := canaryLaws()
	// A rate above .05 is taken as shown where an exact binomial test says so at
	// .001 over all of them.
	cells := 0
	for _, l := range laws {
		for _, k := range kinds {
			if k.Valid() && min(l.k, l.m) >= k.Order() {
				cells++
			}
		}
	}
	worst := math.Inf(-1)
	for i, l := range laws {
		over := make([][]bool, b.Audits)
		_, err := b.count(b.Audits, func(run int) bool {
			st := stream.New(stream.Key{Seed: b.Seed, Purpose: "bench/canaries/coverage", Trial: run, Shard: i})
			stakes := bounds.TuneCanary(l.draw(st, l.n), l.n, l.delta, canaryBeta)
			table := l.draw(st, l.n)
			over[run] = make([]bool, len(kinds))
			for j, k := range kinds {
				over[run][j] = min(l.k, l.m) >= k.Order() && bounds.CanaryEpsilon(k, table, l.delta, canaryBeta, stakes) > l.truth()
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		row := canaryTableRow{Name: fmt.Sprintf("%s: n = %d, K = %d, M = %d, rates %g and %g, delta %g, true epsilon %.3f", l.name, l.n, l.k, l.m, l.p1, l.p0, l.delta, l.truth())}
		for j, k := range kinds {
			if min(l.k, l.m) < k.Order() {
				row.Figures = append(row.Figures, canaryFigure{})
				continue
			}
			n := 0
			for _, o := range over {
				if o[j] {
					n++
				}
			}
			row.Figures = append(row.Figures, meanFigure([]float64{float64(n) / float64(b.Audits)}))
			if k.Valid() {
				worst = math.Max(worst, float64(n)/float64(b.Audits))
				if significant(n, b.Audits, 0.001/float64(cells), canaryBeta) {
					t.Checks = append(t.Checks, atMost(fmt.Sprintf("%s under the law %q", k, l.name), float64(n)/float64(b.Audits), canaryBeta))
				}
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.Checks = append(t.Checks, atMost("largest rate of a valid bound", worst, canaryBeta))
	return t, nil
}

// oneRunReference are bounds by Steinke et al. 2023 and by the f-DP form,
// simulated apart from this program, by epsilon and m.
var oneRunReference = map[[2]int][2]float64{
	{1, 1000}: {.18, .20}, {1, 10_000}: {.50, .59}, {1, 100_000}: {.58, .66},
	{4, 1000}: {1.23, 2.14}, {4, 10_000}: {2.27, 2.83}, {4, 100_000}: {2.43, 3.02},
	{8, 1000}: {2.98, 4.71}, {8, 10_000}: {3.86, 5.52}, {8, 100_000}: {4.30, 6.0},
}

// oneRun is the audit from one run: m orthogonal unit canaries, each in by a fair
// coin, noise calibrated exactly to (epsilon, delta). Numbers of guesses are fixed
// in advance.
func (b *canaryBench) oneRun() (*canaryTable, error) {
	t := &canaryTable{Title: "One run: bounds on epsilon from m independent canaries, noise by the analytic calibration",
		Published: "reference simulations (Steinke, Nasr and Jagielski 2023; Mahloujifar, Melis and Chaudhuri 2024); the second takes the trade-off to be Gaussian",
		Columns:   []string{"Steinke et al.", "f-DP, Gaussian"}}
	counts := []int{1000, 10_000, 100_000}
	if b.Quick {
		counts = counts[:2]
	}
	for _, eps := range []int{1, 4, 8} {
		sigma := source.Sigma(source.ByAnalytic, float64(eps), canaryDelta)
		for _, m := range counts {
			seeds := canarySeeds
			switch {
			case b.Seeds > 0:
				seeds = b.Seeds
			case m == 100_000 || b.Quick && !(eps == 4 && m == 10_000):
				seeds = 5
			}
			values := [2][]float64{make([]float64, seeds), make([]float64, seeds)}
			_, err := b.count(seeds, func(s int) bool {
				scores, in := oneRunScores(b.Seed, s, eps, m, sigma)
				r := bounds.OneRunGuesses(m)
				values[0][s] = published.SteinkeEpsilon(m, r, bounds.OneRunRight(scores, in, r-r/2, r/2), canaryDelta, canaryBeta)
				r = bounds.OneRunGDPGuesses(m)
				values[1][s] = bounds.OneRunGDPEpsilon(m, r, bounds.OneRunRight(scores, in, r-r/2, r/2), canaryDelta, canaryBeta)
				return true
			})
			if err != nil {
				return nil, err
			}
			ref, ok := oneRunReference[[2]int{eps, m}]
			if !ok {
				ref = [2]float64{math.NaN(), math.NaN()}
			}
			t.Rows = append(t.Rows, canaryTableRow{fmt.Sprintf("epsilon = %d, m = %d, %d runs", eps, m, seeds),
				[]canaryFigure{meanFigure(values[0]).beside(ref[0]), meanFigure(values[1]).beside(ref[1])}})
			if eps == 4 && m == 10_000 {
				for i, name := range []string{"Steinke et al.", "f-DP"} {
					mean, _ := meanError(values[i])
					t.Checks = append(t.Checks, checked(fmt.Sprintf("%s at epsilon = 4, m = 10000", name), mean, ref[i]-.1, ref[i]+.1))
				}
			}
		}
	}
	return t, nil
}

// oneRunScores draws the scores of m orthogonal unit canaries in one noisy sum.
func oneRunScores(seed uint64, run, eps, m int, sigma float64) (scores []float64, in []bool) {
	st := stream.New(stream.Key{Seed: seed, Purpose: "bench/canaries/one-run", Trial: run, Side: eps, Shard: m})
	scores, in = make([]float64, m), make([]bool, m)
	st.Gaussian(scores, sigma)
	for i := range scores {
		if in[i] = st.Uint64()>>63 == 1; in[i] {
			scores[i]++
		}
	}
	return scores, in
}

func (f canaryFigure) text() string {
	if f.Mean == nil {
		return "-"
	}
	show := func(x float64) string {
		if x != 0 && math.Abs(x) < 0.01 {
			return fmt.Sprintf("%.2e", x)
		}
		return fmt.Sprintf("%.3f", x)
	}
	s := show(*f.Mean)
	if f.Error != nil {
		s += " ± " + show(*f.Error)
	}
	if f.Published != nil {
		s += fmt.Sprintf(" [%.3g]", *f.Published)
	}
	return s
}

func printCanaryTables(w io.Writer, r canaryResult) {
	p := r.Plan
	fmt.Fprintf(w, "Canary audits, means ± standard errors, [published]; beta = %g, delta = %g, first seed %d\n", canaryBeta, canaryDelta, p.Seed)
	for _, t := range r.Tables {
		printCanaryTable(w, t)
	}
	if len(r.Missed) > 0 {
		fmt.Fprintf(w, "\nMissed: %d\n", len(r.Missed))
	}
}

func printCanaryTable(w io.Writer, t *canaryTable) {
	fmt.Fprintf(w, "\n%s: %s\nPublished: %s\n\n", t.ID, t.Title, t.Published)
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, c := range t.Columns {
		fmt.Fprintf(tw, "\t%s", c)
	}
	fmt.Fprintln(tw)
	for _, row := range t.Rows {
		fmt.Fprint(tw, row.Name)
		for _, f := range row.Figures {
			fmt.Fprintf(tw, "\t%s", f.text())
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	for _, n := range t.Notes {
		fmt.Fprintf(w, "Note: %s.\n", n)
	}
	printChecks(w, t.Checks)
}
