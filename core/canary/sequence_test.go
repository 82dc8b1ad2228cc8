package canary

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/canarytest"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// sequentialPlan is of a sum with too little noise.
func sequentialPlan(n int) Plan {
	p := samplePlan(n, 8)
	p.Mode, p.Parameters = Sequential, audit.Params{"noise": {Number: 0.15}}
	return p
}

// TestBetsSlow: thresholds, what was learnt and the wealth of a run are those that its
// scores give, training by training.
func TestBetsSlow(t *testing.T) {
	p := sequentialPlan(120)
	r := runAudit(t, p, 2)
	p = r.Plan
	scores := membership.UnpackFloats(r.Evidence.Sequential.Scores)
	size := p.K + p.M
	above := func(run int, at float64) (x, y int) {
		for i, s := range scores[run*size:][:size] {
			if s > at && i < p.K {
				x++
			} else if s > at {
				y++
			}
		}
		return x, y
	}
	wealth, most := 0.0, 0.0
	run := 0
	for i, e := range r.Evidence.Sequential.Epochs {
		past := e.Learnt
		past.Runs, past.X, past.Y, past.XX, past.YY, past.XY = 0, 0, 0, 0, 0, 0
		for j := range e.First {
			past.Add(above(j, e.Threshold))
		}
		if past != e.Learnt && i > 0 || e.First != run {
			t.Fatalf("epoch %d: learnt %+v of %d, want %+v of %d", i, e.Learnt, e.First, past, run)
		}
		stake, _ := e.Learnt.Bet(p.K, p.M, math.Exp(2), 1e-5)
		last := len(r.Evidence.Sequential.Epochs) - 1
		for end := map[bool]int{true: 120, false: r.Evidence.Sequential.Epochs[min(i+1, last)].First}[i == last]; run < end; run++ {
			x, y := above(run, e.Threshold)
			wealth += math.Log(1 + stake*(float64(x)/float64(p.K)-math.Exp(2)*float64(y)/float64(p.M)-1e-5))
			most = max(most, wealth)
		}
	}
	if got := -math.Log(*r.PValue); math.Abs(got-most) > 1e-7 || most < 1 {
		t.Errorf("wealth %v, want %v", got, most)
	}
	if r.Verdict != audit.Violation || *r.LowerBound <= 2 || *r.LowerBound > r.Power.Largest {
		t.Errorf("%s, bound %v of at most %v", r.Verdict, *r.LowerBound, r.Power.Largest)
	}
}

// TestBetsAreFair: over all outcomes of a few trainings with one canary inside and one
// fresh one, whose scores are 0, 1 or 2, the mean of the wealth is at most 1 under the
// laws at the corners of what a claim allows, whether the scores of a training are
// independent or not.
func TestBetsAreFair(t *testing.T) {
	const trainings = 4
	for _, c := range []struct{ eps, delta, claim float64 }{{.3, 0, .3}, {.3, .1, .3}, {0, .05, .5}, {.6, 0, .1}} {
		p := Plan{K: 1, M: 1, Beta: .05, Runs: trainings, Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: c.claim, Delta: c.delta}}
		wealth := make([]float64, 0, 6561)
		for code := range 6561 {
			l := newLeader(p)
			for range trainings {
				l.take([]float64{float64(code % 3), float64(code / 3 % 3)})
				code /= 9
			}
			wealth = append(wealth, math.Exp(l.sequence.LogEValue(c.eps)))
		}
		if slices.Max(wealth) <= 1 {
			t.Fatalf("%+v: nothing was bet", c)
		}
		th := math.Exp(c.eps)
		for _, q := range [][2]float64{{.4, 0}, {0, .4}, {.2, .2}, {.05, .3}, {0, 0}, {.3, .05}} {
			out := [3]float64{1 - q[0] - q[1], q[0], q[1]}
			for _, extra := range []int{1, 2} {
				in := [3]float64{0, th * q[0], th * q[1]}
				in[extra] += c.delta
				if in[0] = 1 - in[1] - in[2]; in[0] < 0 {
					continue
				}
				for name, joint := range map[string]func(x, y int) float64{
					"independent": func(x, y int) float64 { return in[x] * out[y] },
					"by one number": func(x, y int) float64 {
						upper := func(law [3]float64, i int) (lo, hi float64) {
							for j := range i {
								lo += law[j]
							}
							return lo, lo + law[i]
						}
						a, b := upper(in, x)
						c, d := upper(out, y)
						return max(0, min(b, d)-max(a, c))
					},
				} {
					mean := 0.0
					for code, w := range wealth {
						for range trainings {
							w *= joint(code%3, code/3%3)
							code /= 9
						}
						mean += w
					}
					if mean > 1+1e-12 {
						t.Errorf("%+v, fresh canaries %v, %s: the mean wealth is %v", c, out, name, mean)
					}
				}
			}
		}
	}
}

// TestBetsFalseAlarms: at the exact claim, with a shock common to all canaries of a
// training, whoever stops at the best look is wrong in at most beta of audits.
func TestBetsFalseAlarms(t *testing.T) {
	runs := testsize.Of(120, 4000)
	claim := 1.0
	p := Plan{K: 4, M: 4, Beta: .05, Runs: 150, Claim: &audit.Claim{Kind: audit.Pure, Epsilon: claim}}
	alarms := 0
	for run := range runs {
		rng := rand.New(rand.NewPCG(uint64(run), 11))
		l := newLeader(p)
		for range p.Runs {
			scores := make([]float64, 8)
			shock := 0.0
			if rng.IntN(2) == 0 {
				shock = rng.NormFloat64()
			}
			for i := range scores { // Laplace at 1 and at 0: exactly claim at every threshold above 1
				scores[i] = rng.ExpFloat64()
				if rng.IntN(2) == 0 {
					scores[i] = -scores[i]
				}
				if i < 4 {
					scores[i]++
				}
				// The shock moves the score on by a function of it that grows, so that each
				// threshold is another one for the same law.
				scores[i] += shock
			}
			if l.take(scores); l.sequence.Refuted() {
				alarms++
				break
			}
		}
	}
	testsize.Chance(t, "alarms", alarms, runs, .05, 1e-6)
}

// TestSequentialReplays: one report from 1 to 5 workers; it verifies whole, quick, and
// quick without its scores.
func TestSequentialReplays(t *testing.T) {
	for _, p := range []Plan{sequentialPlan(100), {Version: PlanVersion, Source: "dp-sgd", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 1e-5}, Parameters: audit.Params{"examples": {Number: 60}, "features": {Number: 4}, "hidden": {Number: 4}, "steps": {Number: 10}}, Runs: 12, K: 3, Seed: 5}} {
		r := runAudit(t, p, 1)
		for _, workers := range []int{2, 3, 5} {
			other := runAudit(t, p, workers)
			other.Timing = r.Timing
			if !audit.EqualJSON(r, other) {
				t.Errorf("%s: the report depends on the number of workers", p.Source)
			}
		}
		if r.Plan.Mode != Sequential || r.Termination.SamplesUsed != p.Runs || len(r.Tables[0].Rows) != 1 {
			t.Errorf("%+v", r.Plan)
		}
		ev, bets := *r.Evidence, *r.Evidence.Sequential
		bets.Scores, ev.Sequential = nil, &bets
		for _, whole := range []bool{true, false} {
			data := must.Get(audit.Canonical(r))(t)
			back := must.Get(ParseReport(data))(t)
			v, err := verify(context.Background(), source.Sources(), engine.LocalPool(2), back, nil, whole)
			if err != nil || !v.OK() || v.Summary != r.Summary {
				t.Errorf("%s, whole %v: %v, %q", p.Source, whole, err, v.Differences)
			}
		}
		a := must.Get(r.Plan.Resolve(source.Sources(), nil))(t)
		bare, _ := a.Conclude(&ev, audit.Termination{Reason: audit.Completed})
		bare.Generator = r.Generator
		if v, err := verify(context.Background(), source.Sources(), nil, bare, nil, false); err != nil || !v.OK() || *bare.LowerBound != *r.LowerBound {
			t.Errorf("without scores: %v, %q", err, v.Differences)
		}
		data := must.Get(audit.Canonical(bare))(t)
		must.Input(t, must.Err(Continue(data)), "without the scores", "goes on without scores")
	}
}

// TestSequentialForged: nothing of the evidence can be another.
func TestSequentialForged(t *testing.T) {
	good := runAudit(t, sequentialPlan(60), 2)
	for name, forge := range map[string]func(ev *Evidence, b *Bets){
		"a count": func(ev *Evidence, b *Bets) {
			c := slices.Clone(b.Epochs[4].Counts)
			c[0] = (c[0] + 1) % 9
			b.Epochs[4].Counts = c
		},
		"a count and the table": func(ev *Evidence, b *Bets) {
			c := slices.Clone(b.Epochs[4].Counts)
			c[0] = (c[0] + 1) % 9
			b.Epochs[4].Counts = c
			ev.Runs.Certified.Table, _ = b.table(good.Plan)
		},
		"a threshold": func(ev *Evidence, b *Bets) { b.Epochs[4].Threshold++ },
		"what was learnt": func(ev *Evidence, b *Bets) {
			b.Epochs[4].Learnt.X--
		},
		"a training more":    func(ev *Evidence, b *Bets) { b.Epochs[4].First++; b.Epochs[4].Learnt.Runs++ },
		"more to learn from": func(ev *Evidence, b *Bets) { b.Epochs[4].Learnt.Runs++ },
		"another first":      func(ev *Evidence, b *Bets) { b.Epochs[4].First++ },
		"a score":            func(ev *Evidence, b *Bets) { b.Scores = slices.Clone(b.Scores); b.Scores[6] ^= 1 },
		"an epoch fewer":     func(ev *Evidence, b *Bets) { b.Epochs = b.Epochs[:len(b.Epochs)-1] },
		"a score that is none": func(ev *Evidence, b *Bets) {
			b.Scores = slices.Concat(membership.Floats{math.NaN()}.Pack(), b.Scores[8:])
		},
		"the last threshold": func(ev *Evidence, b *Bets) { ev.Runs.Threshold++ },
		"bets of no run":     func(ev *Evidence, b *Bets) { b.Epochs = nil },
		"counts too many":    func(ev *Evidence, b *Bets) { b.Epochs[1].Counts = []byte{9, 0} },
		"half a count":       func(ev *Evidence, b *Bets) { b.Epochs[1].Counts = []byte{1} },
	} {
		r := good
		ev, b, runs := *good.Evidence, *good.Evidence.Sequential, *good.Evidence.Runs
		b.Epochs = slices.Clone(b.Epochs)
		ev.Sequential, ev.Runs, r.Evidence = &b, &runs, &ev
		forge(&ev, &b)
		for _, whole := range []bool{true, false} {
			if v, err := verify(context.Background(), source.Sources(), engine.LocalPool(2), r, nil, whole); err == nil && v.OK() {
				t.Errorf("%s, whole %v: passes", name, whole)
			}
		}
		if data, err := audit.Canonical(r); err == nil {
			must.Refuse(t, must.Err(Continue(data)), "", name, "goes on")
		}
	}
}

// TestContinue: a run that goes on, twice, is one run but for its parts.
func TestContinue(t *testing.T) {
	one := runAudit(t, sequentialPlan(150), 2)
	r := runAudit(t, sequentialPlan(40), 1)
	for _, n := range []int{90, 150} {
		data := must.Get(audit.Canonical(r))(t)
		parent := must.Get(Continue(data))(t)
		p := parent.Plan()
		run := testRun{Sources: source.Sources(), Pool: engine.LocalPool(3), Generator: r.Generator, Continue: parent}
		for _, change := range []func(*Plan){func(p *Plan) {}, func(p *Plan) { p.Runs, p.Seed = n, 2 }, func(p *Plan) { p.Runs, p.Beta = n, .1 }, func(p *Plan) { p.Runs, p.Mode = n, Fixed }} {
			run.Plan = p
			change(&run.Plan)
			must.Input(t, must.Err(run.Do(context.Background())), "", run.Plan)
		}
		p.Runs = n
		run.Plan = p
		r = must.Get(run.Do(context.Background()))(t)
		sum := sha256.Sum256(data)
		if last := r.Continued[len(r.Continued)-1]; last.Report != hex.EncodeToString(sum[:]) || last.Runs != p.Runs-map[int]int{90: 50, 150: 60}[n] {
			t.Errorf("%+v", last)
		}
	}
	if len(r.Continued) != 2 || !strings.Contains(report.Text(r), "Continued    from 90 trainings") {
		t.Errorf("%+v", r.Continued)
	}
	if v, err := verify(context.Background(), source.Sources(), engine.LocalPool(2), r, nil, true); err != nil || !v.OK() {
		t.Errorf("%v, %q", err, v.Differences)
	}
	r.Continued, r.Timing = nil, one.Timing
	if !audit.EqualJSON(r, one) {
		t.Error("a run that went on is another than one run")
	}
	fixed := samplePlan(64, 4)
	fixed.Mode = Fixed
	data := must.Get(audit.Canonical(runAudit(t, fixed, 2)))(t)
	must.Input(t, must.Err(Continue(data)), "fixed audit", "a fixed audit goes on")
}

// TestContinuedForgeries: a report of which one training is repeated fits itself, and a run
// goes on from it; who replays the run sees it, and who does not is told that the scores
// were taken. What a report says of the runs before it is a number and a SHA-256.
func TestContinuedForgeries(t *testing.T) {
	good := runAudit(t, sequentialPlan(40), 2)
	if good.Verdict == audit.Violation {
		t.Fatal(good.Headline)
	}
	p := good.Plan
	p.Runs = 300
	scores, size := membership.UnpackFloats(good.Evidence.Sequential.Scores), p.K+p.M
	best, most := 0, math.Inf(-1)
	for i := range good.Plan.Runs {
		run := scores[i*size:][:size]
		if gap := slices.Min(run[:p.K]) - slices.Max(run[p.K:]); gap > most {
			best, most = i, gap
		}
	}
	_, ev := must.Get2(replayed(p, slices.Repeat(scores[best*size:][:size], p.Runs).Pack(), 0))(t)
	a := must.Get(p.Resolve(source.Sources(), nil))(t)
	forged, _ := a.Conclude(ev, audit.Termination{Reason: audit.Completed})
	data := must.Get(audit.Canonical(forged))(t)
	parent := must.Get(Continue(data))(t)
	plan := parent.Plan()
	plan.Runs = 310
	pool := engine.LocalPool(2)
	on, err := testRun{Plan: plan, Sources: source.Sources(), Pool: pool, Continue: parent}.Do(t.Context())
	if err != nil || on.Verdict != audit.Violation {
		t.Fatalf("the forgery shows nothing: %v, %s", err, on.Headline)
	}
	for _, r := range []Report{forged, on} {
		if v, err := verify(t.Context(), source.Sources(), pool, r, nil, true); err != nil || v.OK() {
			t.Errorf("a replay finds nothing: %v", err)
		}
		if v, err := verify(t.Context(), source.Sources(), pool, r, nil, false); err != nil || !slices.Contains(v.NotCompared(), "evidence.sequential.scores") {
			t.Errorf("%v, %v", err, v.NotCompared())
		}
	}
	for name, part := range map[string]Part{"words": {Runs: 40, Report: "certified"}, "none": {Report: strings.Repeat("0", 64)}, "more": {Runs: 41, Report: strings.Repeat("0", 64)}} {
		r := good
		r.Continued = []Part{part}
		data = must.Get(audit.Canonical(r))(t)
		must.Refuse(t, must.Err(ParseReport(data)), "continued[0]", name)
	}
}

// TestWhyASequentialRunEnded: the reason is that which the trainings have, and numbers that
// no plan has are refused before anything is computed of them.
func TestWhyASequentialRunEnded(t *testing.T) {
	good := runAudit(t, sequentialPlan(40), 2)
	for _, reason := range []audit.TerminationReason{audit.Completed, audit.Refuted, audit.Stopped, audit.Failed, "proved private", ""} {
		r := good
		r.Termination.Reason = reason
		v, err := verify(t.Context(), source.Sources(), nil, r, nil, false)
		if ok := err == nil && v.OK(); ok != (reason == audit.Completed) {
			t.Errorf("%q: %v, %v", reason, err, v.Differences)
		}
	}
	short := good
	short.Plan.Runs, short.Termination.Reason = 39, audit.Stopped
	must.Input(t, must.Err(ParseReport(must.Get(audit.Canonical(short))(t))), "40 trainings, must be at most 39", "more trainings than the plan has")
	for name, change := range map[string]func(*Plan){
		"k": func(p *Plan) { p.K = 0 }, "m": func(p *Plan) { p.M = 1_000_000 }, "beta": func(p *Plan) { p.Beta = 0 }, "runs": func(p *Plan) { p.Runs = -1 },
	} {
		for _, r := range []Report{good, runAudit(t, samplePlan(64, 4), 1)} {
			change(&r.Plan)
			data := must.Get(audit.Canonical(r))(t)
			must.Input(t, must.Err(ParseReport(data)), name+" is ", name)
		}
	}
}

// TestUntilRefuted: the run ends at the training that refutes the claim, wherever others
// are under way, verifies, and goes on for its bound.
func TestUntilRefuted(t *testing.T) {
	p := sequentialPlan(400)
	p.Mode = UntilRefuted
	r := runAudit(t, p, 1)
	other := runAudit(t, p, 4)
	other.Timing = r.Timing
	if n := r.Termination.SamplesUsed; !audit.EqualJSON(r, other) || r.Verdict != audit.Violation || n < 10 || n > 200 || r.Termination.Reason != audit.Completed {
		t.Errorf("%s after %d", r.Summary, n)
	}
	if v, err := verify(context.Background(), source.Sources(), engine.LocalPool(2), r, nil, true); err != nil || !v.OK() {
		t.Errorf("%v, %q", err, v.Differences)
	}
	data := must.Get(audit.Canonical(r))(t)
	parent := must.Get(Continue(data))(t)
	further, err := testRun{Plan: parent.Plan(), Sources: source.Sources(), Pool: engine.LocalPool(1), Continue: parent}.Do(context.Background())
	if err != nil || further.Termination.SamplesUsed != 400 || *further.LowerBound <= *r.LowerBound {
		t.Errorf("%v, %s", err, further.Summary)
	}
}

// TestSequentialStopped: a run that is stopped has a bound of what there is, verifies,
// and goes on.
func TestSequentialStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var drawn atomic.Int64
	f := canarytest.Scripted(func(run int, in, out []float64) (bool, error) {
		if drawn.Add(1) > 200 { // by the one worker in order: the end of the run is later than the stop
			<-ctx.Done()
		}
		for i := range in {
			in[i] = float64(run % 5)
		}
		for i := range out {
			out[i] = float64(run % 5)
		}
		out[0] = math.NaN()
		return false, nil
	})
	sources := f.Sources()
	p := Plan{Version: PlanVersion, Source: "scripted", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 1e-5}, Seed: 3, Runs: 300, K: 5}
	seen := 0
	r := must.Get(testRun{Plan: p, Sources: sources, Pool: engine.LocalPool(1), Progress: func(g Progress) {
		if !g.Holds || len(g.Bounds) > 0 && (g.Certified < seen || g.Bounds[0].Epsilon < 0) {
			t.Errorf("%+v", g)
		}
		if seen = g.Certified; seen >= 40 {
			cancel()
		}
	}}.Do(ctx))(t)
	n := r.Termination.SamplesUsed
	if r.Termination.Reason != audit.Stopped || n < 40 || n >= 300 || r.LowerBound == nil || !strings.Contains(r.Summary, "stopped after") || r.Evidence.Runs.Certified.Diverged != n {
		t.Errorf("%d: %s", n, r.Summary)
	}
	for _, whole := range []bool{true, false} {
		if v, err := verify(context.Background(), sources, engine.LocalPool(2), r, nil, whole); err != nil || !v.OK() {
			t.Errorf("whole %v: %v, %q", whole, err, v.Differences)
		}
	}
	data := must.Get(audit.Canonical(r))(t)
	parent := must.Get(Continue(data))(t)
	whole, err := testRun{Plan: parent.Plan(), Sources: sources, Pool: engine.LocalPool(1), Continue: parent}.Do(context.Background())
	if err != nil || whole.Termination.SamplesUsed != 300 || whole.Evidence.Runs.Certified.Diverged != 300 {
		t.Errorf("%v, %s", err, whole.Summary)
	}
}

// TestMembershipByMode: an interval of what was seen stands only where runs are independent and
// their number was fixed before.
func TestMembershipByMode(t *testing.T) {
	until := sequentialPlan(60)
	until.Mode = UntilRefuted
	for _, k := range []struct {
		plan Plan
		want int
	}{{sequentialPlan(60), 0}, {until, 0}, {samplePlan(60, 4), 1}, {oneRunPlan(1, 200, nil), 0}} {
		r, intervals := runAudit(t, k.plan, 2), 0
		rows := r.Rows(report.Membership)
		for _, x := range rows {
			if x.LowerBound != nil || x.UpperBound != nil || x.Valid {
				intervals++
			}
		}
		if len(rows) < 4 || intervals != k.want {
			t.Errorf("mode %q: %d of %d rows have an interval, want %d", r.Plan.Mode, intervals, len(rows), k.want)
		}
	}
}
