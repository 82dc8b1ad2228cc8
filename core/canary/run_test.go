package canary

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/canarytest"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/source"
)

func samplePlan(n, k int) Plan {
	return Plan{Version: PlanVersion, Source: "gaussian-sum", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 2, Delta: 1e-5}, Runs: n, K: k, Seed: 1}
}

// testRun is one audit to be done.
type testRun struct {
	Plan      Plan
	File      []byte
	Sources   []source.Spec
	Pool      *engine.Pool
	Generator audit.Generator
	Progress  func(Progress)
	Now       func() float64
	Continue  *Parent
}

func (r testRun) Do(ctx context.Context) (Report, error) {
	a, err := r.Plan.Resume(r.Sources, r.File, r.Continue)
	if err != nil {
		return Report{}, err
	}
	return report.Do(ctx, a, &engine.Runner{Pool: r.Pool, Now: r.Now}, r.Progress, r.Generator)
}

func verify(ctx context.Context, sources []source.Spec, pool *engine.Pool, r Report, file []byte, whole bool) (v engine.Verification, err error) {
	a, err := r.Plan.Resolve(sources, file)
	if err != nil {
		return v, err
	}
	return report.Verify(ctx, a, &engine.Runner{Pool: pool}, r, whole)
}

func runAudit(t *testing.T, p Plan, workers int) Report {
	t.Helper()
	r := must.Get(testRun{Plan: p, Sources: source.Sources(), Pool: engine.LocalPool(workers), Generator: audit.Generator{Name: "dpscope", Version: audit.Version}}.Do(context.Background()))(t)
	return r
}

// TestReplays: the same report from one worker and from three, it verifies, whole
// and quick, after a trip through JSON.
func TestReplays(t *testing.T) {
	p := samplePlan(700, 9)
	r := runAudit(t, p, 1)
	other := runAudit(t, p, 3)
	other.Timing = r.Timing
	if !audit.EqualJSON(r, other) {
		t.Error("the report depends on the number of workers")
	}
	data := must.Get(audit.Canonical(r))(t)
	back := must.Get(ParseReport(data))(t)
	for _, whole := range []bool{true, false} {
		v, err := verify(context.Background(), source.Sources(), engine.LocalPool(2), back, nil, whole)
		if err != nil || !v.OK() {
			t.Errorf("whole %v: %v, %q", whole, err, v.Differences)
		}
		if v.Summary != r.Summary {
			t.Errorf("summary %q", v.Summary)
		}
	}
}

// TestReport: the parts of a report fit the counts they are made of.
func TestReport(t *testing.T) {
	r := runAudit(t, samplePlan(1024, 32), 2)
	if r.Verdict != audit.NoViolation || !strings.HasPrefix(r.Summary, "No violation found") || strings.Contains(r.Summary, "private ") {
		t.Errorf("%s: %s", r.Verdict, r.Summary)
	}
	// The simulated mean is .887 at n = 4096 and .635 at 256; the standard
	// deviation is below .1.
	if b := *r.LowerBound; b < 0.4 || b > 1.4 {
		t.Errorf("bound %v", b)
	}
	x, y := membership.Shares(*r.Evidence.Runs.Certified.Table)
	if r.In.Rate != x || r.Out.Rate != y || r.In.Moments[0] != x || len(r.Out.Moments) != 4 {
		t.Errorf("rates %v %v, in the report %v %v", x, y, r.In, r.Out)
	}
	rows := r.Rows(report.Bounds)
	if len(rows) != len(bounds.CanaryIntervals()) {
		t.Errorf("%d intervals", len(rows))
	}
	for _, row := range rows {
		if row.LowerBound == nil || row.Largest == nil || *row.LowerBound > *row.Largest {
			t.Errorf("%+v", row)
		}
		if chosen := row.Method == bounds.Method(r.Plan.Interval); chosen != row.Chosen || chosen && math.Max(0, *row.LowerBound) != *r.LowerBound {
			t.Errorf("%s: %v, the audit's bound is %v", row.Method, *row.LowerBound, *r.LowerBound)
		}
		if row.Title == "" || row.ID != report.Epsilon || *row.Claimed != 2 {
			t.Errorf("%+v", row)
		}
	}
	// About log(n/3).
	if got, want := r.Power.Largest, math.Log(1024./3); math.Abs(got-want) > 0.05 {
		t.Errorf("power %v, want about %v", got, want)
	}
	if n := r.Power.Needed; bounds.CanaryCeiling(r.Plan.Interval, 32, 32, n, 1e-5, 0.05) <= 2 || bounds.CanaryCeiling(r.Plan.Interval, 32, 32, n-1, 1e-5, 0.05) > 2 {
		t.Errorf("%d runs are not the least that could refute 2", n)
	}
	must.Say(t, report.Text(r), "Run it again: dpscope canaries -source gaussian-sum -epsilon 2 -delta 1e-05 -relation add-remove -n 1024 -k 32 -seed 1\n")
}

// TestViolation: with a twentieth of the noise the claim is refuted, in both forms
// and with orthogonal canaries.
func TestViolation(t *testing.T) {
	for _, relation := range []audit.Relation{audit.AddRemove, audit.Replace} {
		for _, design := range []source.Design{source.Sphere, source.Orthogonal, source.RandomGradients} {
			p := samplePlan(256, 8)
			p.Relation, p.Design, p.Parameters = relation, design, audit.Params{"noise": {Number: 0.1}}
			r := runAudit(t, p, 2)
			if r.Verdict != audit.Violation || !strings.HasPrefix(r.Summary, "Violation: epsilon >= ") {
				t.Errorf("%s, %s: %s", relation, design, r.Summary)
			}
		}
	}
}

// TestInconclusive: too few runs for the claim, and intervals that hold
// asymptotically only, never end in a verdict that they cannot carry.
func TestInconclusive(t *testing.T) {
	p := samplePlan(16, 4)
	r := runAudit(t, p, 1)
	if r.Verdict != audit.Inconclusive || !strings.Contains(r.Summary, "below the claim of 2, which needs 24 runs") || !strings.Contains(strings.Join(r.Warnings, " "), "one-run audit") {
		t.Errorf("%s: %s %q", r.Verdict, r.Summary, r.Warnings)
	}
	p = samplePlan(256, 8)
	p.Parameters, p.Interval = audit.Params{"noise": {Number: 0.1}}, bounds.CanaryWilson2
	if r = runAudit(t, p, 1); r.Verdict != audit.Inconclusive || !strings.Contains(r.Summary, "refutes nothing") {
		t.Errorf("%s: %s", r.Verdict, r.Summary)
	}
}

// TestStopped: a run that was stopped has its counts, no bound, and verifies.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := samplePlan(4096, 16)
	r := must.Get(testRun{Plan: p, Sources: source.Sources(), Pool: engine.LocalPool(1), Progress: func(g Progress) {
		if g.Certified >= 512 {
			cancel()
		}
	}}.Do(ctx))(t)
	if r.Verdict != audit.Inconclusive || r.LowerBound != nil || r.Termination.SamplesUsed < 512 || r.Termination.SamplesUsed >= 4096 || !strings.Contains(r.Summary, "stopped after") {
		t.Errorf("%s after %d: %s", r.Verdict, r.Termination.SamplesUsed, r.Summary)
	}
	v, err := verify(context.Background(), source.Sources(), engine.LocalPool(1), r, nil, true)
	if err != nil || !v.OK() || len(v.Skipped) == 0 {
		t.Errorf("%v, %q", err, v.Differences)
	}
}

// TestExploreLimit: where fewer runs explore than certify for want of memory, the
// report says so, and so does its replay.
func TestExploreLimit(t *testing.T) {
	p := samplePlan(1<<18, 64)
	for range 2 {
		a := must.Get(p.Resolve(source.Sources(), nil))(t)
		r, _ := a.Conclude(nil, audit.Termination{Reason: audit.Stopped})
		if w := r.Warnings; len(w) != 1 || !strings.Contains(w[0], "explored with 131072 runs") {
			t.Errorf("%q", w)
		}
		p = a.Plan
	}
}

// TestFailed: of a run that failed the message is its own word, but nothing else.
func TestFailed(t *testing.T) {
	var drawn atomic.Int64
	sources := canarytest.Scripted(func(run int, in, out []float64) (bool, error) {
		clear(in)
		clear(out)
		if drawn.Add(1) > 100 {
			return false, errors.New("no more")
		}
		return false, nil
	}).Sources()
	p := Plan{Version: PlanVersion, Mode: Fixed, Source: "scripted", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 1e-5}, Seed: 3, Runs: 64, K: 5}
	r, err := testRun{Plan: p, Sources: sources, Pool: engine.LocalPool(1), Generator: audit.Generator{Version: audit.Version}}.Do(context.Background())
	if err == nil || r.Verdict != audit.Invalid || r.LowerBound != nil || !strings.Contains(r.Headline, "no more") {
		t.Fatal(err, r.Summary)
	}
	for name, forge := range map[string]func(r *Report){
		"":         func(*Report) {},
		"both":     func(r *Report) { r.Termination.Message = "else"; r.Say("Invalid: the run failed: else.", "") },
		"message":  func(r *Report) { r.Termination.Message = "else" },
		"headline": func(r *Report) { r.Headline = "No violation found." },
		"verdict":  func(r *Report) { r.Verdict = audit.Inconclusive },
	} {
		forged := r
		forge(&forged)
		v, err := verify(context.Background(), sources, nil, forged, nil, true)
		if err != nil || v.OK() != (name == "" || name == "both") || v.Summary != "Invalid: the run failed." || !slices.Contains(v.NotCompared(), "termination.message") {
			t.Errorf("%s: %v, %+v", name, err, v)
		}
	}
}

// TestOddScores: scores that are all the same, that are no numbers, and models
// that diverge.
func TestOddScores(t *testing.T) {
	for _, c := range []struct {
		name     string
		f        canarytest.Scripted
		diverged bool
		warning  string
		most     float64
	}{
		{"ties", func(_ int, in, out []float64) (bool, error) { clear(in); clear(out); return false, nil }, false, "all scores of the exploration runs are the same", 0},
		{"two values", func(_ int, in, out []float64) (bool, error) {
			for i := range in {
				in[i], out[i] = 1, 0
			}
			return false, nil
		}, false, "", 10},
		{"NaN", func(run int, in, out []float64) (bool, error) {
			for i := range in {
				in[i], out[i] = 1, 0
			}
			if run%2 == 0 {
				in[0] = math.NaN()
			}
			return false, nil
		}, true, "diverged", 10},
		{"diverged", func(run int, in, out []float64) (bool, error) {
			for i := range in {
				in[i], out[i] = -math.MaxFloat64, -math.MaxFloat64
			}
			return true, nil
		}, true, "64 of 64 certification runs have a side that diverged", 0},
		{"rare", func(run int, in, out []float64) (bool, error) {
			clear(in)
			clear(out)
			in[0] = float64(run)
			return false, nil
		}, false, "", 10},
	} {
		p := Plan{Version: PlanVersion, Mode: Fixed, Source: "scripted", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 1e-5}, Seed: 3, Runs: 64, K: 5}
		sources := canarytest.Scripted(c.f).Sources()
		r, err := testRun{Plan: p, Sources: sources, Pool: engine.LocalPool(2)}.Do(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if *r.LowerBound > c.most || (r.Evidence.Runs.Certified.Diverged > 0) != c.diverged || !strings.Contains(strings.Join(r.Warnings, "; "), c.warning) {
			t.Errorf("%s: bound %v, %d diverged, %q", c.name, *r.LowerBound, r.Evidence.Runs.Certified.Diverged, r.Warnings)
		}
		if r.In.Rate == 1 && r.Out.Rate == 1 {
			t.Errorf("%s: all in the event", c.name)
		}
	}
}

// TestScoresAreOneByOne: scores that ignore the output show nothing, also where
// one in four is not finite and there are many more fresh canaries than inside
// ones. The bound of a source whose epsilon is 0 exceeds .1 with a probability
// below .05 over the draw of the seed, which is fixed.
func TestScoresAreOneByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	var mu sync.Mutex
	f := canarytest.Scripted(func(_ int, in, out []float64) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, side := range [][]float64{in, out} {
			for i := range side {
				if side[i] = rng.Float64(); rng.IntN(4) == 0 {
					side[i] = math.NaN()
				}
			}
		}
		return false, nil
	})
	p := Plan{Version: PlanVersion, Mode: Fixed, Source: "scripted", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: .5, Delta: 1e-5}, Seed: 3, Runs: 256, K: 1, M: 16}
	sources := canarytest.Scripted(f).Sources()
	r := must.Get(testRun{Plan: p, Sources: sources, Pool: engine.LocalPool(1)}.Do(context.Background()))(t)
	if *r.LowerBound > .1 {
		t.Errorf("bound %v with rates %v and %v of a source that shows nothing", *r.LowerBound, r.In.Rate, r.Out.Rate)
	}
}

// TestDelta: where the event is not more frequent than delta, the report says so.
func TestDelta(t *testing.T) {
	sources := canarytest.Scripted(func(run int, in, out []float64) (bool, error) {
		clear(in)
		clear(out)
		if run < 200 {
			in[0] = 1
		}
		return false, nil
	}).Sources()
	p := Plan{Version: PlanVersion, Mode: Fixed, Source: "scripted", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 0.3}, Seed: 3, Runs: 64, K: 5}
	r, err := testRun{Plan: p, Sources: sources, Pool: engine.LocalPool(2)}.Do(context.Background())
	if err != nil || *r.LowerBound != 0 || !strings.Contains(strings.Join(r.Warnings, "; "), "not more than delta = 0.3") {
		t.Errorf("%v, %q", err, r.Warnings)
	}
}

// TestBadPlans: what is wrong is named.
func TestBadPlans(t *testing.T) {
	for _, c := range []struct {
		change func(*Plan)
		file   string
		want   string
	}{
		{func(p *Plan) { p.Version = 2 }, "", "canary plan version is 2, must be 1"},
		{func(p *Plan) { p.Mode = "twice" }, "", `mode is "twice"`},
		{func(p *Plan) { p.Mode, p.Explore = Sequential, 30 }, "", "without them"},
		{func(p *Plan) { p.Mode, p.Quantile = UntilRefuted, .1 }, "", "without them"},
		{func(p *Plan) { p.Mode, p.Runs, p.K = Sequential, 1<<20, 16 }, "", "use -fixed for more runs"},
		{func(p *Plan) { p.Source = "gauss-sum" }, "", `did you mean "gaussian-sum"`},
		{func(p *Plan) { p.Claim = nil }, "", "claim is missing"},
		{func(p *Plan) { p.Claim = &audit.Claim{Kind: audit.Renyi, Epsilon: 1, Alpha: 2} }, "", "claim.kind"},
		{func(p *Plan) { p.Claim.Epsilon = math.NaN() }, "", "epsilon is NaN"},
		{func(p *Plan) { p.K = -1 }, "", "k is -1"},
		{func(p *Plan) { p.M = -4 }, "", "m is -4"},
		{func(p *Plan) { p.Runs = -1 }, "", "runs is -1"},
		{func(p *Plan) { p.Runs = 2 }, "", "runs is 2, must be at least"},
		{func(p *Plan) { p.K, p.Interval = 3, bounds.CanaryBernstein4 }, "", "at least 4 each"},
		{func(p *Plan) { p.Interval = "student" }, "", `interval is "student"`},
		{func(p *Plan) { p.Quantile = 0.5 }, "", "quantile is 0.5"},
		{func(p *Plan) { p.Beta = 0.7 }, "", "beta is 0.7"},
		{func(p *Plan) { p.Explore = -3 }, "", "explore is -3"},
		{func(p *Plan) { p.Relation = "swap" }, "", `relation is "swap"`},
		{func(p *Plan) { p.Design = "cube" }, "", `design is "cube"`},
		{func(p *Plan) { p.Design, p.Parameters = source.Orthogonal, audit.Params{"d": {Number: 10}} }, "", "19 orthogonal canaries fit into d = 10"},
		{func(p *Plan) { p.Design = source.Vectors }, "", "data is missing"},
		{func(p *Plan) {}, "1,2\n", "data is given"},
		{func(p *Plan) { p.Design, p.Pool = source.Vectors, &source.Pool{Tail: 3} }, "1,2\n", "tail is 3"},
		{func(p *Plan) { p.Design, p.Pool = source.Vectors, &source.Pool{Scale: "big"} }, "1,2\n", `scale is "big"`},
		{func(p *Plan) { p.Source, p.Data = "dp-sgd", "abc" }, "1,2\n", "must be the file with SHA-256 abc"},
		{func(p *Plan) { p.Pool = &source.Pool{Tail: 3} }, "", "pool is given"},
		{func(p *Plan) { p.Source, p.Design, p.Pool = "dp-sgd", source.TailSingular, &source.Pool{Tail: 21} }, "", "tail is 21"},
		{func(p *Plan) { p.Source, p.Design, p.Pool = "dp-sgd", source.TailSingular, &source.Pool{Scale: "big"} }, "", `scale is "big"`},
		{func(p *Plan) { p.Parameters = audit.Params{"d": {Number: 1e7}} }, "", "parameter d is"},
		{func(p *Plan) { p.Seed = 1 << 60 }, "", "seed is"},
	} {
		p := samplePlan(100, 10)
		c.change(&p)
		var file []byte
		if c.file != "" {
			file = []byte(c.file)
		}
		must.Input(t, must.Err(p.Resolve(source.Sources(), file)), c.want)
	}
	for _, s := range []string{``, `{"version":1,"sorce":"x"}`, `{"version":1} x`, `{"version":1,"K":3}`} {
		must.Input(t, must.Err(ParsePlan([]byte(s))), "", s)
	}
}

// TestBadTasks: tasks come from another process and may be anything.
func TestBadTasks(t *testing.T) {
	a := must.Get(samplePlan(100, 10).Resolve(source.Sources(), nil))(t)
	good := Task{Plan: a.Plan, Phase: Certifying, Runs: 10}
	known := Codecs(source.Sources())
	sent := func(t Task, hook engine.Hook) error {
		data, err := engine.EncodeTask(t)
		if err != nil {
			return err
		}
		got, err := known.Task(data)
		if err == nil {
			_, err = engine.Execute(got, hook, nil)
		}
		return err
	}
	for i, change := range []func(*Task){
		func(t *Task) { t.Phase = "bound" }, func(t *Task) { t.First = -1 }, func(t *Task) { t.Runs = 0 },
		func(t *Task) { t.First = 95 }, func(t *Task) { t.First = math.MaxInt }, func(t *Task) { t.Plan.K = -1 },
		func(t *Task) { t.Plan.Design = source.Vectors }, func(t *Task) { t.Plan.Design, t.Data = source.Vectors, make([]byte, 24) }, func(t *Task) { t.Plan.Source, t.Data = "dp-sgd", make([]byte, 24) },
	} {
		bad := good
		change(&bad)
		if sent(bad, nil) == nil {
			t.Errorf("change %d passes", i)
		}
	}
	must.Do(t, sent(good, nil))
	if err := sent(good, func(int) error { return context.Canceled }); err != context.Canceled {
		t.Errorf("the hook's error: %v", err)
	}
	known = pair.Codecs(audit.Catalogue{})
	must.Refuse(t, sent(good, nil), `"canary/draw", must be a known name`, "a worker without canaries")
}

// TestProgress: runs are counted, bounds are shown for every interval, and the
// last look is at all runs.
func TestProgress(t *testing.T) {
	var last Progress
	looks, clock, told := 0, 0.0, 0 // a clock that every look at it moves
	p := samplePlan(2048, 8)
	_, err := testRun{Plan: p, Sources: source.Sources(), Pool: engine.LocalPool(2), Now: func() float64 { clock++; return clock }, Progress: func(g Progress) {
		if g.Left != nil {
			told++
		}
		if sure := 5*g.Runs > g.Total && g.Runs < g.Total; sure != (g.Left != nil) && 5*g.Runs != g.Total {
			t.Errorf("%d of %d runs, left %v", g.Runs, g.Total, g.Left)
		}
		if len(g.Bounds) > 0 && g.Certified != last.Certified {
			looks++
		}
		last = g
	}}.Do(context.Background())
	if err != nil || last.Runs != 2*2048 || last.Total != 2*2048 || last.Certified != 2048 || len(last.Bounds) != len(bounds.CanaryIntervals()) || looks < 3 || told == 0 {
		t.Errorf("%v, %+v, %d looks, time left told %d times", err, last, looks, told)
	}
}

// TestNothingIsDrawnTwice: what certifies was never looked at: no score of a run is one of another
// run, phase or side.
func TestNothingIsDrawnTwice(t *testing.T) {
	a := must.Get(samplePlan(100, 4).Resolve(source.Sources(), nil))(t)
	seen := map[float64]bool{}
	drawn := 0
	for _, phase := range []Phase{Exploring, Certifying, Betting} {
		scores := must.Get(a.Scores(phase, 50))(t)
		for _, x := range scores {
			seen[x] = true
		}
		drawn += len(scores)
	}
	if len(seen) < drawn || drawn != 3*50*(a.Plan.K+a.Plan.M) {
		t.Errorf("of %d scores %d are new", drawn, len(seen))
	}
}

// TestDrawnIsChecked: what a task returned comes from another process and may be anything.
func TestDrawnIsChecked(t *testing.T) {
	p := must.Get(samplePlan(100, 10).Resolve(source.Sources(), nil))(t).Plan
	const first, runs = 20, 5
	for name, c := range map[string]struct {
		phase  Phase
		change func(*Drawn)
		ok     bool
	}{
		"counts":             {Certifying, func(*Drawn) {}, true},
		"scores":             {Exploring, func(d *Drawn) { d.Table = nil }, true},
		"other runs":         {Certifying, func(d *Drawn) { d.First++ }, false},
		"more runs":          {Certifying, func(d *Drawn) { d.Runs++ }, false},
		"a count more":       {Certifying, func(d *Drawn) { d.Table.Add(0, 0, 1) }, false},
		"no counts":          {Certifying, func(d *Drawn) { d.Table = nil }, false},
		"fewer canaries in":  {Certifying, func(d *Drawn) { d.Table = new(bounds.NewCanaryTable(p.K-1, p.M)); d.Table.Add(0, 0, runs) }, false},
		"fewer canaries out": {Certifying, func(d *Drawn) { d.Table = new(bounds.NewCanaryTable(p.K, p.M-1)); d.Table.Add(0, 0, runs) }, false},
		"a score more":       {Exploring, func(d *Drawn) { d.Scores = append(d.Scores, 0) }, false},
		"a score fewer":      {Betting, func(d *Drawn) { d.Scores = d.Scores[1:] }, false},
		"no guesses":         {Once, func(*Drawn) {}, false},
		"diverged before":    {Certifying, func(d *Drawn) { d.Diverged[0] = first - 1 }, false},
		"diverged beyond":    {Certifying, func(d *Drawn) { d.Diverged[1] = first + runs }, false},
		"diverged twice":     {Certifying, func(d *Drawn) { d.Diverged[1] = first }, false},
	} {
		d := Drawn{First: first, Runs: runs, Diverged: []int{first, first + runs - 1}, Scores: make(membership.Floats, runs*(p.K+p.M)), Table: new(bounds.NewCanaryTable(p.K, p.M))}
		d.Table.Add(1, 0, runs)
		c.change(&d)
		if err := d.check(p, c.phase, first, runs); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
