package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

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
	for _, n := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"-runs", p.Runs, fewer, 1e6},
		{"-pairs", p.Pairs, coarser, 1e8},
		{"-looks", p.Looks, coarser, min(p.Pairs, 1e6)},
	} {
		if n.value < n.least || n.value > n.most {
			e := &audit.InputError{Field: n.name, Found: fmt.Sprint(n.value), Want: fmt.Sprintf("in [%d, %d]", n.least, n.most)}
			if n.name == "-looks" && n.value > p.Pairs {
				e.Remedy = "there is at most one look a pair; raise -pairs"
			}
			return e
		}
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
