package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"text/tabwriter"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/stream"
)

// anytimePlan is what the bench anytime is asked for.
type anytimePlan struct {
	Runs  int     `json:"runs"`  // a cell of the first table; the others have a fifth
	Looks int     `json:"looks"` // a run
	Pairs int     `json:"pairs"` // at the last look
	Beta  float64 `json:"beta"`
	Seed  uint64  `json:"seed"`
}

const (
	fewer     = 5    // one run in so many for stopping times and the foil
	coarser   = 10   // one look in so many for the foil
	longer    = 10   // stopping times are followed over so many times the pairs
	alarmBeta = .001 // probability at most that sound monitors are called unsound
)

// quick is the plan under -quick.
var quick = anytimePlan{Runs: 200, Looks: 200, Pairs: 2000}

// anytimeAlarms is a line of the first table: a claim that just holds.
type anytimeAlarms struct {
	Name   string        `json:"name"`
	Method bounds.Method `json:"method"`
	Truth  float64       `json:"truth"`
	Delta  float64       `json:"delta,omitempty"`
	Alarms int           `json:"falseAlarms"`
	Runs   int           `json:"runs"`
	Rate   float64       `json:"rate"`
	Lower  float64       `json:"rateLower"` // 99 % Clopper-Pearson
	Upper  float64       `json:"rateUpper"`
	Above  bool          `json:"significantlyAboveBeta"`
}

// anytimeStops is a line of the second: a claim of half the truth.
type anytimeStops struct {
	Name      string        `json:"name"`
	Method    bounds.Method `json:"method"`
	Claim     float64       `json:"claim"`
	Refuted   int           `json:"refuted"`
	Runs      int           `json:"runs"`
	Median    int           `json:"medianPairs,omitempty"` // 0: fewer than half the runs refuted it
	Lower     int           `json:"medianLower,omitempty"` // 99 % interval, by order statistics
	Upper     int           `json:"medianUpper,omitempty"` // 0: as for the median
	Reference float64       `json:"referenceMedian,omitempty"`
}

// anytimePeeks is a line of the third: a fixed-sample test looked at again and
// again.
type anytimePeeks struct {
	Name  string       `json:"name"`
	Truth float64      `json:"truth"`
	Any   anytimeShare `json:"atAnyLook"`
	Last  anytimeShare `json:"atTheLastLook"`
}

// anytimeShare is a share of runs with its 99 % Clopper-Pearson interval.
type anytimeShare struct {
	Count int     `json:"count"`
	Runs  int     `json:"runs"`
	Lower float64 `json:"rateLower"`
	Upper float64 `json:"rateUpper"`
}

// anytimeResult is all of them.
type anytimeResult struct {
	Bench  string          `json:"bench"`
	Plan   anytimePlan     `json:"plan"`
	Alarms []anytimeAlarms `json:"alarms"`
	Stops  []anytimeStops  `json:"stops"`
	Peeks  []anytimePeeks  `json:"peeks"`
	// MostAlarms is the largest number of false alarms of a cell that is not
	// significantly above beta, by exact binomial tests that share AlarmBeta
	// equally (Bonferroni).
	MostAlarms int      `json:"mostAlarms"`
	AlarmBeta  float64  `json:"alarmBeta"`
	Above      []string `json:"aboveBeta"`
}

// benchAnytime simulates monitors under continuous looks: how often they refute
// a claim that just holds, and how soon one that does not.
func benchAnytime(c *call) (int, error) {
	var plan anytimePlan
	c.Count(&plan.Runs, "runs", 1500, "runs of each claim that just holds")
	c.Count(&plan.Looks, "looks", 1000, "looks in a run, at every pair at first, then at equal ratios")
	c.Count(&plan.Pairs, "pairs", 20_000, "pairs in a run")
	c.Float64Var(&plan.Beta, "beta", 0.05, "allowed error of the monitors")
	c.Seed(&plan.Seed, 1, "seed of all randomness")
	workers := c.workersFlag()
	c.outputFlags()
	brief := c.Bool("quick", false, fmt.Sprintf("-runs %d -looks %d -pairs %d where they are not given", quick.Runs, quick.Looks, quick.Pairs))
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if *brief {
		c.unlessGiven("runs", &plan.Runs, quick.Runs)
		c.unlessGiven("looks", &plan.Looks, quick.Looks)
		c.unlessGiven("pairs", &plan.Pairs, quick.Pairs)
	}
	if err := plan.validate(); err != nil {
		return 0, err
	}
	result, err := plan.measure(workshop{ctx: c.ctx, workers: *workers, say: c.say}, anytimeCells())
	if err != nil {
		return 0, err
	}
	return code(len(result.Above) == 0), c.emit(result, result.print)
}

func (p anytimePlan) validate() error {
	remedy := choose(p.Looks > p.Pairs, "there is at most one look a pair; raise -pairs", "")
	if err := cmp.Or(within("-runs", p.Runs, fewer, 1e6, ""), within("-pairs", p.Pairs, coarser, 1e8, ""), within("-looks", p.Looks, coarser, min(p.Pairs, 1e6), remedy)); err != nil {
		return err
	}
	// Monitors allow any beta; the foil's exact test and its comparison do not
	// make sense beyond one half.
	if !(p.Beta >= 1e-6 && p.Beta <= 0.5) {
		return &audit.InputError{Field: "-beta", Found: fmt.Sprint(p.Beta), Want: "in [1e-06, 0.5]"}
	}
	return nil
}

// measure runs all experiments.
func (p anytimePlan) measure(w workshop, cells []anytimeCell) (anytimeResult, error) {
	r := anytimeResult{Bench: "anytime", Plan: p, AlarmBeta: alarmBeta, Above: []string{}}
	level := alarmBeta / float64(len(cells))
	for r.MostAlarms < p.Runs && !significant(r.MostAlarms+1, p.Runs, level, p.Beta) {
		r.MostAlarms++
	}
	few := max(1, p.Runs/fewer)
	for _, c := range cells {
		times := lookTimes(p.Looks, p.Pairs)
		alarms, err := w.count(p.Runs, func(run int) bool { return p.stop(c, "alarm", run, c.truth, times) > 0 })
		if err != nil {
			return r, err
		}
		row := anytimeAlarms{Name: c.name, Method: c.method, Truth: c.truth, Delta: c.delta, Alarms: alarms, Runs: p.Runs,
			Rate: float64(alarms) / float64(p.Runs), Above: alarms > r.MostAlarms}
		row.Lower, row.Upper = interval(alarms, p.Runs)
		r.Alarms = append(r.Alarms, row)
		w.say("%s: %d false alarms in %d runs", c.name, alarms, p.Runs)
		if row.Above {
			r.Above = append(r.Above, c.name)
		}
		if c.stops {
			row, err := p.stops(w, c, few)
			if err != nil {
				return r, err
			}
			r.Stops = append(r.Stops, row)
			w.say("%s: half of the truth refuted after %d pairs (median)", c.name, row.Median)
		}
		if c.peeks {
			row, err := p.peeks(w, c, few)
			if err != nil {
				return r, err
			}
			r.Peeks = append(r.Peeks, row)
			w.say("%s: %d false alarms in %d runs of a fixed-sample test", c.name, row.Any.Count, few)
		}
	}
	return r, nil
}

// significant reports whether an exact binomial test at this level refutes that
// the rate is at most beta.
func significant(alarms, runs int, level, beta float64) bool {
	return bounds.LowerProportion(alarms, runs, level) > beta
}

// interval is the two-sided 99 % Clopper-Pearson interval.
func interval(k, n int) (lower, upper float64) {
	return bounds.LowerProportion(k, n, 0.005), bounds.UpperProportion(k, n, 0.005)
}

func share(k, n int) anytimeShare {
	s := anytimeShare{Count: k, Runs: n}
	s.Lower, s.Upper = interval(k, n)
	return s
}

// stop runs one monitor and returns the number of pairs after which it refutes
// the claim, 0 if it does not.
func (p anytimePlan) stop(c anytimeCell, purpose string, run int, claim float64, times []int) int {
	s := stream.New(stream.Key{Seed: p.Seed, Purpose: "anytime/" + purpose + "/" + c.name, Trial: run})
	refuted := c.watch(claim, p.Beta)
	t := bounds.NewTable(c.law.bins)
	last := 0
	for _, n := range times {
		c.law.draw(s, t, n-last)
		if last = n; refuted(t) {
			return n
		}
	}
	return 0
}

// stops measures how soon half of the truth is refuted.
func (p anytimePlan) stops(w workshop, c anytimeCell, runs int) (anytimeStops, error) {
	times := lookTimes(p.Looks, longer*p.Pairs)
	at := make([]int, runs)
	refuted, err := w.count(runs, func(run int) bool {
		at[run] = p.stop(c, "stop", run, c.truth/2, times)
		return at[run] > 0
	})
	row := anytimeStops{Name: c.name, Method: c.method, Claim: c.truth / 2, Refuted: refuted, Runs: runs, Reference: c.reference}
	if err != nil {
		return row, err
	}
	for i, n := range at {
		if n == 0 {
			at[i] = math.MaxInt // never comes last
		}
	}
	slices.Sort(at)
	row.Lower, row.Median, row.Upper = medianInterval(at)
	return row, nil
}

// medianInterval returns the median (the lower of two) of sorted numbers and its
// distribution-free 99 % interval, from 1 on where the runs are too few for a
// lower end; 0 for what is never or not known.
func medianInterval(sorted []int) (lower, median, upper int) {
	n := len(sorted)
	at := func(i int) int {
		if i < 0 {
			return 1
		}
		if i >= n || sorted[i] == math.MaxInt {
			return 0
		}
		return sorted[i]
	}
	// P(Bin(n, 1/2) <= rank-1) is at most .005.
	rank := 0
	for rank < n && bounds.UpperProportion(rank, n, 0.005) <= 0.5 {
		rank++
	}
	return at(rank - 1), at((n - 1) / 2), at(n - rank)
}

// peeks looks at the fixed-sample test as if it were a monitor.
func (p anytimePlan) peeks(w workshop, c anytimeCell, runs int) (anytimePeeks, error) {
	times := lookTimes(p.Looks/coarser, p.Pairs)
	var last atomic.Int64
	ever, err := w.count(runs, func(run int) bool {
		s := stream.New(stream.Key{Seed: p.Seed, Purpose: "anytime/peek/" + c.name, Trial: run})
		t := bounds.NewTable(c.law.bins)
		seen, ever := 0, false
		for i, n := range times {
			c.law.draw(s, t, n-seen)
			seen = n
			if ever && i < len(times)-1 {
				continue
			}
			if bounds.Exact(t.Event([]bool{false, true}), c.delta, p.Beta) > c.truth {
				ever = true
				if i == len(times)-1 {
					last.Add(1)
				}
			}
		}
		return ever
	})
	return anytimePeeks{Name: c.name, Truth: c.truth, Any: share(ever, runs), Last: share(int(last.Load()), runs)}, err
}

// workshop spreads runs over goroutines.
type workshop struct {
	ctx     context.Context
	workers int
	say     func(format string, a ...any) // progress
}

// count is how many of the runs 0, 1, ... report true.
func (w workshop) count(runs int, do func(run int) bool) (int, error) {
	var yes atomic.Int64
	err := each(w.ctx, w.workers, runs, func(_ context.Context, run int) error {
		if do(run) {
			yes.Add(1)
		}
		return nil
	})
	return int(yes.Load()), err
}

// anytimeCell is one simulated experiment: pairs whose law is known, and a
// monitor of a quantity whose true value follows from the law.
type anytimeCell struct {
	name   string
	method bounds.Method
	law    pairLaw
	delta  float64 // of the event's claims
	truth  float64 // true value of what the monitor bounds, above 0 or 0
	// watch starts a monitor of one run against a claim; what it returns takes
	// the pairs so far and reports whether the claim is refuted by now.
	watch func(claim, beta float64) func(bounds.Table) bool

	reference float64 // median pairs to refute half of the truth at beta .05, by testdata/anytime_reference.py; 0: none
	stops     bool    // measure that
	peeks     bool    // the foil is run on these pairs too
}

// eventCell is an event with probability p0 on the second dataset and
// e^epsilon p0 + delta on the first.
func eventCell(name string, epsilon, delta, p0 float64, c coupling) anytimeCell {
	return ratesCell(name, stream.Exp(epsilon)*p0+delta, p0, delta, c)
}

// ratesCell is an event with these probabilities.
func ratesCell(name string, p1, p0, delta float64, c coupling) anytimeCell {
	return anytimeCell{
		name: name, method: bounds.MethodEventMixture, law: eventLaw(p1, p0, c), delta: delta, truth: math.Max(0, math.Log((p1-delta)/p0)),
		watch: func(claim, beta float64) func(bounds.Table) bool {
			m := bounds.NewMonitor(claim, delta, beta)
			return func(t bounds.Table) bool {
				m.Observe(t.N[3], t.N[2], t.N[1], t.N[0])
				return m.ClaimRejected()
			}
		},
	}
}

// tableCell is a monitor of a witness by bin, on independent outputs.
func tableCell(name string, method bounds.Method, p, q []float64, truth float64, start func(beta float64) *bounds.TableMixture) anytimeCell {
	if !(truth > 0) {
		panic("dpscope: a witness that sees nothing")
	}
	return anytimeCell{
		name: name, method: method, law: independent(p, q), truth: truth,
		watch: func(claim, beta float64) func(bounds.Table) bool {
			m := start(beta)
			return func(t bounds.Table) bool {
				m.Observe(t)
				return m.Rejected(claim)
			}
		},
	}
}

// renyiCell bounds D_alpha by the log ratio of the bins, cut at top, and
// shifted so that the mean of exp(alpha h) on the second dataset is 1. The truth
// is what that shows of D_alpha,
//
//	alpha/(alpha-1) log E_P exp((alpha-1)h) - log E_Q exp(alpha h),
//
// all of it with top = +Inf.
func renyiCell(name string, p, q []float64, alpha, top float64) anytimeCell {
	h := make([]float64, len(p))
	for i := range p {
		h[i] = math.Min(math.Log(p[i]/q[i]), top)
	}
	shift := logMoment(q, h, alpha) / alpha
	for i := range h {
		h[i] -= shift
	}
	truth := alpha/(alpha-1)*logMoment(p, h, alpha-1) - logMoment(q, h, alpha)
	return tableCell(name, bounds.MethodRenyiMixture, p, q, truth, func(beta float64) *bounds.TableMixture {
		return bounds.NewRenyiMonitor(h, alpha, beta)
	})
}

// logMoment is log E exp(scale h).
func logMoment(p, h []float64, scale float64) float64 {
	sum := 0.0
	for i := range p {
		sum += p[i] * math.Exp(scale*h[i])
	}
	return math.Log(sum)
}

// binned are the probabilities of the bins between the edges and beyond the
// outer ones, by the distribution function.
func binned(edges []float64, cdf func(float64) float64) []float64 {
	var p []float64
	last := 0.0
	for _, x := range edges {
		p = append(p, cdf(x)-last)
		last = cdf(x)
	}
	return append(p, 1-last)
}

func normalCDF(mean float64) func(float64) float64 { return distuv.Normal{Mu: mean, Sigma: 1}.CDF }

func laplaceCDF(mean float64) func(float64) float64 { return distuv.Laplace{Mu: mean, Scale: 1}.CDF }

// anytimeCells are the experiments.
func anytimeCells() []anytimeCell {
	response := func(name string, epsilon float64) anytimeCell {
		return ratesCell(name, stream.Logistic(epsilon), stream.Logistic(-epsilon), 0, apart)
	}
	with := func(c anytimeCell, reference float64, peeks bool) anytimeCell {
		c.stops, c.reference, c.peeks = true, reference, peeks
		return c
	}
	cells := []anytimeCell{
		with(response("randomised response, epsilon 1", 1), 89, true),
		with(response("randomised response, epsilon 4", 4), 62, false),
		// The events x > 2 under N(1, 1) and N(0, 1), x > 0.1 under Laplace
		// noise of scale 1 at 0.1 and 0.
		with(ratesCell("Gaussian tail, mu 1, delta 1e-5", 0.15865525393145705, 0.022750131948179209, 1e-5, apart), 348, false),
		with(eventCell("Laplace, epsilon 0.1", 0.1, 0, stream.Exp(-0.1)/2, apart), 7100, true),
		with(ratesCell("rare event, .02 against .001", 0.02, 0.001, 0, apart), 2750, true),
		eventCell("rarer event, epsilon 2, p0 1e-4", 2, 0, 1e-4, apart),
		eventCell("delta .05, epsilon .5, p0 .05", 0.5, 0.05, 0.05, apart),
		eventCell("no difference, p 1/2", 0, 0, 0.5, apart),
		eventCell("coupled, positively, epsilon .5", 0.5, 0, 0.3, together),
		eventCell("coupled, negatively, epsilon .5", 0.5, 0, 0.3, opposite),
	}
	middling := []float64{-1.5, -0.75, 0, 0.75, 1.5, 2.25}
	gaussP, gaussQ := binned(middling, normalCDF(0.5)), binned(middling, normalCDF(0))
	steps := []float64{0, 0.025, 0.05, 0.075, 0.1}
	laplaceP, laplaceQ := binned(steps, laplaceCDF(0.1)), binned(steps, laplaceCDF(0))
	wide := []float64{-0.5, 0.5, 1.5}
	wideP, wideQ := binned(wide, normalCDF(1)), binned(wide, normalCDF(0))
	// On this pair theorem 4.3 of DP-Auditorium errs with probability .92.
	pointsP, pointsQ := []float64{1 - 0.008884, 0.008884}, []float64{1 - 3.193e-6, 3.193e-6}
	f := []float64{0, 0.2, 0.7, 1}
	const delta, epsilon = 0.01, 0.3
	return append(cells,
		with(renyiCell("Gaussian, mu .5, alpha 2", gaussP, gaussQ, 2, math.Inf(1)), 1560, false),
		with(renyiCell("Laplace, epsilon .1, alpha 2", laplaceP, laplaceQ, 2, math.Inf(1)), 26_800, false),
		with(renyiCell("two points, .0089 against 3.2e-6", pointsP, pointsQ, 1.762, math.Inf(1)), 0, false),
		with(renyiCell("two points, log ratio cut at 3", pointsP, pointsQ, 1.762, 3), 14_500, false),
		with(tableCell("score, epsilon at delta .01", bounds.MethodScoreMixture, wideP, wideQ,
			math.Log((floats.Dot(wideP, f)-delta)/floats.Dot(wideQ, f)), func(beta float64) *bounds.TableMixture { return bounds.NewScoreMonitor(f, delta, beta) }), 122, false),
		with(tableCell("score, delta at epsilon .3", bounds.MethodScoreMixture, wideP, wideQ,
			floats.Dot(wideP, f)-math.Exp(epsilon)*floats.Dot(wideQ, f), func(beta float64) *bounds.TableMixture { return bounds.NewDeltaMonitor(f, epsilon, beta) }), 276, false),
	)
}

// pairLaw is the joint distribution of a pair of outputs over bins, first output
// by second as in a [bounds.Table].
type pairLaw struct {
	bins       int
	cumulative []float64 // P of all cells up to and with this one; the last is 1
}

func newPairLaw(bins int, cell func(a, b int) float64) pairLaw {
	l := pairLaw{bins: bins}
	sum := 0.0
	for a := range bins {
		for b := range bins {
			sum += cell(a, b)
			l.cumulative = append(l.cumulative, sum)
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		panic("dpscope: probabilities of pairs do not add up to 1")
	}
	l.cumulative[bins*bins-1] = 1
	return l
}

// independent pairs an output of p with one of q.
func independent(p, q []float64) pairLaw {
	return newPairLaw(len(p), func(a, b int) float64 { return p[a] * q[b] })
}

// The ways in which the outputs of a pair may hang together.
type coupling int

const (
	apart    coupling = iota // independent
	together                 // as often in the event at once as can be
	opposite                 // as seldom
)

// eventLaw has bins outside (0) and inside (1) of an event with probability p1
// on the first dataset and p0 <= p1 on the second.
func eventLaw(p1, p0 float64, c coupling) pairLaw {
	both := [...]float64{apart: p1 * p0, together: p0, opposite: max(0, p1+p0-1)}[c]
	cells := [2][2]float64{{1 - p1 - p0 + both, p0 - both}, {p1 - both, both}}
	return newPairLaw(2, func(a, b int) float64 { return cells[a][b] })
}

// draw adds n pairs to the table.
func (l pairLaw) draw(s *stream.Stream, t bounds.Table, n int) {
	for range n {
		u := s.Float64()
		i := 0
		if len(l.cumulative) > 8 {
			i = sort.Search(len(l.cumulative)-1, func(i int) bool { return u < l.cumulative[i] })
		} else {
			for u >= l.cumulative[i] {
				i++
			}
		}
		t.N[i]++
	}
}

// lookTimes are the numbers of pairs at which a run is looked at: every pair at
// first, then at equal ratios, so that early and late crossings are seen alike.
// They increase, looks of them, the last at pairs; looks is at most pairs.
func lookTimes(looks, pairs int) []int {
	times := make([]int, looks)
	last := 0
	for i := range times {
		x := stream.Exp(float64(i+1) / float64(looks) * stream.Log(float64(pairs)))
		last = min(max(last+1, int(math.Round(x))), pairs-(looks-1-i))
		times[i] = last
	}
	return times
}

func (r anytimeResult) print(w io.Writer) {
	p := r.Plan
	fmt.Fprintf(w, "Monitors under continuous looks: %d runs, %d looks at 1 to %d pairs (every pair at first, then at equal ratios), beta = %g, seed %d\n\n", p.Runs, p.Looks, p.Pairs, p.Beta, p.Seed)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "Claims that just hold: runs that refute the true value at any look")
	fmt.Fprintln(w)
	fmt.Fprintln(t, "pairs\tmonitor\ttruth\tfalse alarms\trate\t99 % interval\tallowed")
	for _, a := range r.Alarms {
		fmt.Fprintf(t, "%s\t%s\t%.6g\t%d/%d\t%.4f\t%.4f..%.4f\t%g\n", a.Name, a.Method, a.Truth, a.Alarms, a.Runs, a.Rate, a.Lower, a.Upper, p.Beta)
	}
	t.Flush()
	fmt.Fprintf(w, "\nClaims of half the truth: pairs until they are refuted, up to %d\nReference: the median at beta = .05 by cmd/dpscope/testdata/anytime_reference.py, which shares no code with this and looks every 1 to 400 pairs\n\n", longer*p.Pairs)
	fmt.Fprintln(t, "pairs\tmonitor\tclaim\trefuted\tmedian\t99 % interval\treference")
	for _, s := range r.Stops {
		known := func(n int) string {
			if n == 0 {
				return fmt.Sprintf("> %d", longer*p.Pairs)
			}
			return strconv.Itoa(n)
		}
		reference := ""
		if s.Reference > 0 {
			reference = strconv.FormatFloat(s.Reference, 'f', -1, 64)
		}
		fmt.Fprintf(t, "%s\t%s\t%.6g\t%d/%d\t%s\t%s..%s\t%s\n", s.Name, s.Method, s.Claim, s.Refuted, s.Runs, known(s.Median), known(s.Lower), known(s.Upper), reference)
	}
	t.Flush()
	fmt.Fprintf(w, "\nWhat monitors are for: the exact test of a fixed sample, looked at %d times from 1 to %d pairs, against the true value\n\n", p.Looks/coarser, p.Pairs)
	fmt.Fprintln(t, "pairs\ttruth\tfalse alarms at any look\trate\t99 % interval\tat the last look alone\t99 % interval")
	for _, k := range r.Peeks {
		fmt.Fprintf(t, "%s\t%.6g\t%d/%d\t%.4f\t%.4f..%.4f\t%d/%d\t%.4f..%.4f\n", k.Name, k.Truth, k.Any.Count, k.Any.Runs,
			float64(k.Any.Count)/float64(k.Any.Runs), k.Any.Lower, k.Any.Upper, k.Last.Count, k.Last.Runs, k.Last.Lower, k.Last.Upper)
	}
	t.Flush()
	verdict := "No monitor's error is significantly above " + fmt.Sprint(p.Beta)
	if len(r.Above) > 0 {
		verdict = fmt.Sprintf("Significantly above %g: %s", p.Beta, strings.Join(r.Above, "; "))
	}
	fmt.Fprintf(w, "\n%s (that takes more than %d false alarms in %d runs; exact binomial tests of all %d cells, which accuse sound monitors with probability %g at most)\n",
		verdict, r.MostAlarms, p.Runs, len(r.Alarms), r.AlarmBeta)
}
