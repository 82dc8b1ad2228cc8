package pair_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms"
)

var catalogue = audit.Catalogue{Mechanisms: mechanisms.All(), Learners: estimators.Registry(), Finders: finders.Registry()}

func runAudit(t *testing.T, plan pair.Plan, workers int) pair.Report {
	t.Helper()
	if plan.Version == 0 {
		plan.Version = pair.PlanVersion
	}
	r, err := pair.Run{Plan: plan, Catalogue: catalogue, Pool: engine.LocalPool(workers)}.Do(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", plan.Mechanism, err)
	}
	return r
}

// TestBoundsAreNearTheTruth: a bound that covers because it is
// always 0 would be no use.
func TestBoundsAreNearTheTruth(t *testing.T) {
	t.Parallel()
	testsize.Native(t)
	for _, c := range []struct {
		mechanism string
		epsilon   float64
		least     float64 // the truth is epsilon
	}{{"randomised-response", 1, 0.95}, {"noisy-histogram", 1, 0.9}, {"svt1", 1, 0.6}, {"svt2", 1, 0.6}, {"noisy-max-exponential", 1, 0.8}} {
		plan := pair.Plan{Mechanism: c.mechanism, Claim: &audit.Claim{Epsilon: c.epsilon}, Samples: 100_000, Finder: "candidates", Seed: 5, Mode: pair.Fixed}
		plan.Explore, plan.Trials = testsize.Of(25_000, 0), testsize.Of(2, 0) // 0: the default, many
		r := runAudit(t, plan, 2)
		if got := *r.Rows(report.Bounds)[0].LowerBound; got < c.least || got > c.epsilon {
			t.Errorf("%s: bound %v, want in [%v, %v]\n%s", c.mechanism, got, c.least, c.epsilon, report.Text(r))
		}
	}
}

// TestWorkersDoNotMatter: the report is the same with one worker and with
// eight.
func TestWorkersDoNotMatter(t *testing.T) {
	plan := pair.Plan{Mechanism: "svt4", Claim: &audit.Claim{Epsilon: 1}, Samples: 100_000, Explore: 5_000, Trials: 7, Seed: 9}
	one, eight := runAudit(t, plan, 1), runAudit(t, plan, 8)
	one.Timing, eight.Timing = audit.Timing{}, audit.Timing{}
	if d := cmp.Diff(one, eight); d != "" {
		t.Errorf("1 worker against 8:\n%s", d)
	}
}

func TestReportRoundTripAndReplay(t *testing.T) {
	pool := engine.LocalPool(2)
	for _, plan := range []pair.Plan{
		{Mechanism: "svt4", Claim: &audit.Claim{Epsilon: 1}, Samples: 20_000, Explore: 2_000, Trials: 3, Seed: 7},
		{Mechanism: "svt3", Claim: &audit.Claim{Epsilon: 1}, Samples: 5_000, Explore: 2_000, Trials: 2, Seed: 8},
		{Mechanism: "laplace-mean", Relation: audit.Replace, Samples: 5_000, Trials: 3, Seed: 9, Learner: "histogram", Finder: "random"},
		{Mechanism: "noisy-max-laplace", Parameters: audit.Params{"m": {Number: 3}}, Samples: 5_000, Seed: 1, Beta: 0.1},
		{Mechanism: "gaussian-mean", Samples: 5_000, Seed: 1, Pair: &audit.Pair{First: audit.Records(1), Second: audit.Records(1, 0)}},
	} {
		r := runAudit(t, plan, 2)
		back := replays(t, catalogue, r)
		if a, b := must.Get(audit.Canonical(r))(t), must.Get(audit.Canonical(back))(t); string(a) != string(b) {
			t.Errorf("%s: the report changes when it is read and written again", plan.Mechanism)
		}
		n := back.Evidence.Table.N
		at := slices.IndexFunc(n, func(k int) bool { return k > 0 })
		n[at]--
		n[(at+1)%len(n)]++
		if v, err := pair.Verify(context.Background(), catalogue, pool, back, false); err == nil && v.OK() {
			t.Errorf("%s: a report with a wrong count passes (%v)", plan.Mechanism, err)
		}
	}
}

func TestNewerAndCorruptReports(t *testing.T) {
	data := must.Get(audit.Canonical(runAudit(t, pair.Plan{Mechanism: "randomised-response", Samples: 1000, Seed: 1}, 1)))(t)
	text := string(data)
	newer := strings.Replace(text, `"schemaVersion": 1`, `"schemaVersion": 7, "novelty": {"a": 1}`, 1)
	by := func(version string) string {
		return strings.Replace(text, `"version": ""`, `"version": "`+version+`"`, 1)
	}
	for _, c := range []struct{ text, says string }{
		{newer, "schemaVersion is 7, must be 1; use the version of dpscope that wrote it"},
		{by("0.3.0"), "report: generator.version is 0.3.0, must be " + audit.Version + ", the version of this dpscope; audit again with the command in the report's reproduce, or use dpscope 0.3.0"},
		{by("999.0.1+abc"), "generator.version is 999.0.1, must be " + audit.Version},
		{`{"schemaVersion": 1, "generator": {"name": "dpscope", "version": "0.2.0"}, "results": []}`, "generator.version is 0.2.0"},
		{"", "empty"},
		{"[1, 2]", "report is of type array at line 1, column 2, must be an object"},
		{"a,b\n1,2\n", "not JSON"},
		{`{"some": "json"}`, "schemaVersion"},
		{text[:len(text)/2], "cut off"},
		{strings.Replace(text, `"verdict"`, `"verdikt"`, 1), `"verdikt"`},
		{strings.Replace(text, `"verdict": "`, `"verdict": "x`, 1), "verdict"},
		{strings.ReplaceAll(text, `"direction": "`, `"direction": "x`), "direction"},
	} {
		must.Refuse(t, must.Err(pair.ParseReport([]byte(c.text))), c.says)
	}
}

// TestStopKeepsWhatThereIs stops a run in its certification.
func TestStopKeepsWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	shardsDone := 0
	r := must.Get(pair.Run{Catalogue: catalogue, Pool: engine.LocalPool(2),
		Plan: pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed, Mechanism: "svt4", Claim: &audit.Claim{Epsilon: 1}, Samples: 10_000_000, Explore: 2_000, Trials: 2},
		Progress: func(p pair.Progress) {
			if p.Phase == pair.Certifying && p.Provisional != nil {
				if shardsDone++; shardsDone == 40 {
					cancel()
				}
			}
		}}.Do(ctx))(t)
	if r.Verdict != audit.Inconclusive || r.Termination.Reason != audit.Stopped || r.Rows(report.Bounds)[0].LowerBound != nil || r.Termination.SamplesUsed < pair.ShardRows {
		t.Errorf("stopped: verdict %s, %+v, bound %v: want inconclusive, some samples and no certificate", r.Verdict, r.Termination, r.Rows(report.Bounds)[0].LowerBound)
	}
	v, err := pair.Verify(context.Background(), catalogue, engine.LocalPool(2), r, false)
	if err != nil || !v.OK() {
		t.Errorf("the partial counts do not replay: %v %v", err, v.Differences)
	}
	data := must.Get(audit.Canonical(r))(t)
	validate(t, data)
}

// holding does not end the first shard before the run is stopped, which it is at the fourth.
type holding struct {
	engine.LocalWorker
	stop func()
}

func (w holding) Execute(ctx context.Context, t engine.Task, progress func(int), part func(any)) (any, error) {
	switch c, _ := t.(pair.Certify); {
	case t.Kind() != c.Kind():
	case c.Shard == 0:
		<-ctx.Done()
	case c.Shard == 3:
		w.stop()
	}
	return w.LocalWorker.Execute(ctx, t, progress, part)
}

// TestStopKeepsTheOrder: shards that were done before an earlier one do not count where the
// run is stopped, as no replay draws them alone.
func TestStopKeepsTheOrder(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := holding{stop: cancel}
	r := must.Get(pair.Run{Catalogue: catalogue, Pool: engine.NewPool(w, w),
		Plan: pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed, Mechanism: "svt4", Claim: &audit.Claim{Epsilon: 1}, Samples: 4 * pair.ShardRows, Explore: 2_000, Trials: 2}}.Do(ctx))(t)
	if r.Termination.Reason != audit.Stopped || r.Termination.SamplesUsed != 0 {
		t.Errorf("without its first shard: %+v", r.Termination)
	}
}

// TestLive: what a run shows on its way is the chart of what it has counted, and
// in the end the report's.
func TestLive(t *testing.T) {
	var last pair.Live
	rows, bets, counted := 0, 0, 0
	clock, told := 0.0, map[pair.Phase]int{} // a clock that every look at it moves
	r := must.Get(pair.Run{Catalogue: catalogue, Pool: engine.LocalPool(2), Now: func() float64 { clock++; return clock },
		Plan: pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4", Claim: &audit.Claim{Epsilon: 1}, Samples: 100_000, Explore: 70_000, Trials: 2},
		Progress: func(p pair.Progress) {
			if p.Left != nil {
				if told[p.Phase]++; !(*p.Left > 0) || p.Phase == pair.Bounding && p.Refuted > 0 {
					t.Errorf("%s: %v s left", p.Phase, *p.Left)
				}
			}
			if p.Live == nil {
				return
			}
			if p.Live.Event == nil { // of the sequential stage, another pair's or with other bins
				if bets++; p.Phase == pair.Bounding || p.Live.Beta != 0.05 || !(p.Live.Share > 0 && p.Live.Share < 1) || p.Live.Direction != "" {
					t.Errorf("%s: %+v", p.Phase, *p.Live)
				}
				rows = 0
			} else if counted++; p.Phase == pair.Exploring || counted > 1 && p.Live.Rows < rows || p.Live.Beta != 0.05 {
				t.Errorf("%s: counted %d outputs after %d", p.Phase, p.Live.Rows, rows)
			}
			rows = p.Live.Rows
			last = *p.Live
			for side, counts := range [][]int{last.Chart.First, last.Chart.Second} {
				n := 0
				for _, k := range counts {
					n += k
				}
				if n != rows {
					t.Errorf("side %d: the chart holds %d outputs of %d", side, n, rows)
				}
			}
		}}.Do(context.Background()))(t)
	if told[pair.Certifying] == 0 {
		t.Error("the time left was never told")
	}
	if e := last.Event; bets == 0 || e == nil || e.Words == "" || e.Where == nil || e.Where.Words == "" {
		t.Errorf("%d charts of the sequential stage, then the event %+v", bets, e)
	}
	if rows != 70_000 || last.Samples != 70_000 || last.Direction != r.Rows(report.Bounds)[1].Direction || !reflect.DeepEqual(last.Chart, r.Evidence.Chart) || last.Claim != r.Claim {
		t.Errorf("live %+v, the report has %+v", last, r.Evidence.Chart)
	}
}

func TestStopBeforeAnything(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := pair.Run{Catalogue: catalogue, Pool: engine.LocalPool(1), Plan: pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4"}}.Do(ctx)
	if err != nil || r.Verdict != audit.Inconclusive || r.LowerBound == nil || *r.LowerBound != 0 || r.Termination.Outputs != 0 {
		t.Errorf("%v: %+v", err, r)
	}
	validate(t, must.Get(audit.Canonical(r))(t))
	if report.Text(r) == "" {
		t.Error("no text")
	}
}

// faulty is a mechanism that does what it is told.
type faulty struct {
	columns []audit.Column
	sample  func(out []float64) error
}

func (f faulty) Columns() []audit.Column { return f.columns }

func (f faulty) Sample(_ audit.Dataset, s *stream.Stream, out []float64) error {
	s.Uniform(out, 0, 1)
	return f.sample(out)
}

func TestFaultyMechanisms(t *testing.T) {
	oneReal := []audit.Column{{Name: "x", Kind: audit.Real}}
	for _, c := range []struct {
		name string
		m    faulty
		says string
	}{
		{"panic", faulty{oneReal, func([]float64) error { panic("oh no") }}, "mechanism faulty panicked: oh no (github.com/dpscope/dpscope/core/pair_test.TestFaultyMechanisms.func1, audit_test.go:"},
		{"error", faulty{oneReal, func([]float64) error { return errors.New("out of tea") }}, "out of tea"},
		{"no columns", faulty{nil, func([]float64) error { return nil }}, "no output column"},
		{"odd column", faulty{[]audit.Column{{Name: "x", Kind: "text"}}, func([]float64) error { return nil }}, `kind "text"`},
		{"writes past a row", faulty{oneReal, func(out []float64) error { out[len(out)] = 1; return nil }}, "panicked: runtime error: index out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cat := of("faulty", 1, c.m)
			must.Refuse(t, must.Err(pair.Run{Catalogue: cat, Pool: engine.LocalPool(2), Plan: pair.Plan{Version: pair.PlanVersion, Mechanism: "faulty", Samples: 200}}.Do(context.Background())), c.says)
		})
	}
}

// TestConstantOutputs: nothing to learn is no error and no violation.
func TestConstantOutputs(t *testing.T) {
	for _, kind := range []audit.ColumnKind{audit.Real, audit.Symbol} {
		cat := of("constant", 1, faulty{[]audit.Column{{Name: "x", Kind: kind}}, func(out []float64) error { clear(out); return nil }})
		r, err := pair.Run{Catalogue: cat, Pool: engine.LocalPool(2), Plan: pair.Plan{Version: pair.PlanVersion, Mechanism: "constant", Samples: 1000}}.Do(context.Background())
		if err != nil || r.Verdict != audit.NoViolation || *r.LowerBound != 0 {
			t.Errorf("%s: %v\n%s", kind, err, report.Text(r))
		}
	}
}

func TestPlanErrors(t *testing.T) {
	ok := func() pair.Plan { return pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4"} }
	for _, c := range []struct {
		change func(*pair.Plan)
		says   string
	}{
		{func(p *pair.Plan) { p.Version = 3 }, "plan version is 3, must be 1"},
		{func(p *pair.Plan) { p.Mechanism = "svt44" }, `did you mean "svt4"?`},
		{func(p *pair.Plan) { p.Parameters = audit.Params{"cc": {Number: 1}} }, `parameter is "cc"`},
		{func(p *pair.Plan) { p.Parameters = audit.Params{"c": {Number: 0.5}} }, "parameter c is 0.5, must be a whole number in [1,"},
		{func(p *pair.Plan) { p.Parameters = audit.Params{"queries": {Text: "dirct"}} }, `did you mean "direct"?`},
		{func(p *pair.Plan) { p.Parameters = audit.Params{"epsilon": {Number: -1}} }, "parameter epsilon is -1"},
		{func(p *pair.Plan) { p.Claim = &audit.Claim{Epsilon: -1} }, "epsilon is -1, must be a finite number above 0"},
		{func(p *pair.Plan) { p.Claim = &audit.Claim{Epsilon: 1, Delta: 1} }, "delta is 1, must be in [0, 1)"},
		{func(p *pair.Plan) { p.Claim = &audit.Claim{Kind: audit.Renyi, Epsilon: 1} }, "alpha is missing: give a finite number above 1; a Rényi claim names its order"},
		{func(p *pair.Plan) { p.Claim = &audit.Claim{Kind: audit.Renyi, Epsilon: 1, Alpha: 1} }, "alpha is 1, must be"},
		{func(p *pair.Plan) { p.Claim = &audit.Claim{Kind: audit.Renyi, Epsilon: 1, Alpha: math.Inf(1)} }, "alpha is +Inf, must be"},
		{func(p *pair.Plan) { p.Claim = &audit.Claim{Kind: audit.ZCDP, Rho: -1} }, "rho is -1"},
		{func(p *pair.Plan) { p.ThroughRenyi = 1 }, "throughRenyi is 1, must be an order"},
		{func(p *pair.Plan) { p.ThroughRenyi = 2; p.Claim = &audit.Claim{Epsilon: 1, Delta: 0.1} }, "only a pure claim"},
		{func(p *pair.Plan) { p.Relation = audit.Replace }, "one that svt4 defines at these parameters: l-infinity"},
		{func(p *pair.Plan) { p.Relation = "replce" }, `did you mean "replace"?`},
		{func(p *pair.Plan) { p.Learner = "histogramm" }, `did you mean "histogram"?`},
		{func(p *pair.Plan) { p.Finder = "rndom" }, `did you mean "random"?`},
		{func(p *pair.Plan) { p.Samples = 99 }, "samples is 99, must be in [100, 1000000000]"},
		{func(p *pair.Plan) { p.Samples = 2e9 }, "samples is 2000000000"},
		{func(p *pair.Plan) { p.Explore = 1e9 }, "explore is 1000000000, must be in [100, 6710886] for outputs of 10 numbers"},
		{func(p *pair.Plan) { p.Trials = -1 }, "trials is -1"},
		{func(p *pair.Plan) { p.Beta = 0.7 }, "beta is 0.7"},
		{func(p *pair.Plan) { p.Beta = math.NaN() }, "beta is NaN"},
		{func(p *pair.Plan) { p.Seed = 1 << 60 }, "seed is"},
		{func(p *pair.Plan) { p.Pair = &audit.Pair{First: audit.Records(1), Second: audit.Records(1, 0)} }, "pair.first is 1 rows, must be 10 rows"},
	} {
		p := ok()
		c.change(&p)
		must.Input(t, must.Err(p.Resolve(catalogue)), c.says)
	}
	// A run explored with less than was asked for says so.
	p := ok()
	p.Samples, p.Mode = 100_000_000, pair.Fixed
	a, err := p.Resolve(catalogue)
	if err != nil || a.Plan.Explore != 1677721 || len(a.Notes) != 1 {
		t.Errorf("%v: explores %d, notes %v", err, a.Plan.Explore, a.Notes)
	}
}

// TestRefutedSaysNoLess: once the claim is refuted, no bound so far says less than that.
func TestRefutedSaysNoLess(t *testing.T) {
	refuted := false
	_, err := pair.Run{Catalogue: catalogue, Pool: engine.LocalPool(2),
		Plan: pair.Plan{Version: pair.PlanVersion, Mechanism: "noisy-max-value-laplace", Claim: &audit.Claim{Epsilon: 1}, Samples: 5_000, Beta: 0.001},
		Progress: func(p pair.Progress) {
			refuted = refuted || p.Refuted > 0
			if p.Refuted > 0 && p.Provisional != nil && *p.Provisional <= p.Claimed {
				t.Errorf("%s: refuted, and at least %v of %v", p.Phase, *p.Provisional, p.Claimed)
			}
		}}.Do(t.Context())
	if err != nil || !refuted {
		t.Errorf("refuted: %v, error %v", refuted, err)
	}
}
