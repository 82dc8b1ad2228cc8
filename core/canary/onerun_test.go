package canary

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms/source"
)

func oneRunPlan(eps float64, m int, params audit.Params) Plan {
	claim := audit.DPClaim(eps, 1e-5)
	return Plan{Version: PlanVersion, Mode: OneRun, Source: "gaussian-sum", Parameters: params, Claim: &claim, K: m, Seed: 1}
}

func auditOnce(t *testing.T, p Plan, sources []source.Spec) Report {
	t.Helper()
	r := must.Get(testRun{Plan: p, Sources: sources, Pool: engine.LocalPool(1), Generator: audit.Generator{Name: "dpscope", Version: audit.Version}}.Do(context.Background()))(t)
	return r
}

// TestOneRunCoverage: the sum with noise that gives its claim exactly. Bounds
// exceed epsilon, and the bound on mu the mu of the mechanism, no oftener than beta
// = .05 allows (false alarm below 4e-6 each), and are as high as
// simulations apart from this program found (see the bench canaries).
func TestOneRunCoverage(t *testing.T) {
	testsize.Native(t)
	audits := testsize.Of(24, 120)
	for _, c := range []struct {
		eps        float64
		m          int
		design     source.Design
		guesses    []int
		least, gdp float64
	}{
		{1, 1000, source.Orthogonal, nil, .1, .1},
		{4, 1000, source.Orthogonal, nil, 1.1, 1.7},
		{4, 1000, source.Orthogonal, []int{20, 50, 100, 200}, .8, 1.5},
		{4, 100, source.Sphere, nil, .2, .5},
	} {
		claim := audit.Params{"calibration": {Text: source.ByAnalytic}}
		mu := 1 / source.Sigma(source.ByAnalytic, c.eps, 1e-5)
		failed, failedMu, sum, sumMu := 0, 0, 0.0, 0.0
		n := audits
		if c.design == source.Sphere {
			n = audits / 2
		}
		for i := range n {
			p := oneRunPlan(c.eps, c.m, claim)
			p.Design, p.Guesses, p.Seed = c.design, c.guesses, uint64(i)
			r := auditOnce(t, p, source.Sources())
			if *r.LowerBound > c.eps {
				failed++
			}
			f := r.Rows(report.Bounds)[1]
			if *f.Mu > mu {
				failedMu++
			}
			sum, sumMu = sum+*r.LowerBound, sumMu+*f.LowerBound
		}
		t.Logf("epsilon %v, m %d, %s, %v: failed %d and %d of %d, mean bounds %.3f and %.3f", c.eps, c.m, c.design, c.guesses, failed, failedMu, n, sum/float64(n), sumMu/float64(n))
		if failed > testsize.Most(n, .05, 4e-6) || failedMu > testsize.Most(n, .05, 4e-6) {
			t.Errorf("epsilon %v, m %d: %d and %d of %d audits exceed the truth", c.eps, c.m, failed, failedMu, n)
		}
		if sum/float64(n) < c.least || sumMu/float64(n) < c.gdp {
			t.Errorf("epsilon %v, m %d: means %v and %v", c.eps, c.m, sum/float64(n), sumMu/float64(n))
		}
	}
}

// told is randomised response on the coins: m scores that are right with
// probability keep, and where silent, nothing but ties.
type told struct {
	source.Source
	keep float64
}

func (s told) OneRun(st *stream.Stream, scores []float64, member []bool) (bool, error) {
	for i := range scores {
		member[i] = st.Uint64()>>63 == 1
		scores[i] = 0
		if member[i] == (st.Float64() < s.keep) {
			scores[i] = 1
		}
	}
	return false, nil
}

// failing diverges.
type failing struct{ told }

func (s failing) OneRun(st *stream.Stream, scores []float64, member []bool) (bool, error) {
	s.told.OneRun(st, scores, member)
	for i := range scores {
		scores[i] = math.NaN()
	}
	return true, nil
}

func testSources(src source.OneRunSource) []source.Spec {
	return []source.Spec{{Name: "test", Title: "a test", Score: "score", Relations: []audit.Relation{audit.AddRemove}, Designs: []source.Design{source.Sphere},
		OneRunDesigns: []source.Design{source.Sphere},
		New:           func(source.Setup) (source.Source, error) { return src, nil }},
		{Name: "several", Relations: []audit.Relation{audit.AddRemove}, Designs: []source.Design{source.Sphere}}}
}

// TestOneRunToldCoverage: randomised response at epsilon 1, half of the scores tied
// on either side. The bound with all canaries guessed fails in at most .05 of the
// audits, but for a false alarm below 4e-6.
func TestOneRunToldCoverage(t *testing.T) {
	testsize.Native(t)
	audits := testsize.Of(100, 1000)
	sources := testSources(told{keep: 1 / (1 + math.Exp(-1))})
	failed, sum := 0, 0.0
	for i := range audits {
		claim := audit.DPClaim(2, 0)
		r := auditOnce(t, Plan{Version: PlanVersion, Mode: OneRun, Source: "test", Claim: &claim, K: 300, GuessPlan: membership.GuessPlan{Guesses: []int{300}}, Seed: uint64(i)}, sources)
		if *r.LowerBound > 1 {
			failed++
		}
		sum += *r.LowerBound
	}
	t.Logf("failed %d of %d, mean bound %.3f", failed, audits, sum/float64(audits))
	if failed > testsize.Most(audits, .05, 4e-6) || sum/float64(audits) < .6 {
		t.Errorf("%d of %d, mean bound %v", failed, audits, sum/float64(audits))
	}
}

// TestOneRunDiverged: a run that diverged counts; its guesses are blind.
func TestOneRunDiverged(t *testing.T) {
	claim := audit.DPClaim(1, 1e-5)
	sources := testSources(failing{told{keep: 1}})
	right, made := 0, 0
	for i := range 100 {
		r := auditOnce(t, Plan{Version: PlanVersion, Mode: OneRun, Source: "test", Claim: &claim, K: 300, Seed: uint64(i)}, sources)
		if !r.Evidence.OneRun.Diverged || *r.LowerBound > 1 || !strings.Contains(strings.Join(r.Warnings, " "), "diverged") {
			t.Fatal(r.Summary, r.Warnings)
		}
		right, made = right+r.Evidence.OneRun.Guesses[0].Right, made+r.Evidence.OneRun.Guesses[0].Made
	}
	if dev := math.Abs(float64(right)-float64(made)/2) / math.Sqrt(float64(made)/4); dev > 5 {
		t.Errorf("%d of %d blind guesses are right", right, made)
	}
}

// TestOneRunFaults: a model that forgets to clip, and one with a quarter of its
// noise, are refuted by enough canaries; a right one is not.
func TestOneRunFaults(t *testing.T) {
	testsize.Native(t)
	for fault, want := range map[string]audit.Verdict{"none": audit.NoViolation, "no-clipping": audit.Violation, "quarter-noise": audit.Violation} {
		p := oneRunPlan(2, 1000, audit.Params{"fault": {Text: fault}})
		p.Source = "dp-sgd"
		r := auditOnce(t, p, source.Sources())
		t.Log(fault, r.Summary)
		if r.Verdict != want {
			t.Errorf("%s: %s", fault, r.Summary)
		}
	}
}

func TestBadOneRunPlans(t *testing.T) {
	good := oneRunPlan(2, 100, nil)
	for name, c := range map[string]struct {
		change func(p *Plan)
		want   string
	}{
		"version":       {func(p *Plan) { p.Version = 2 }, "canary plan version is 2, must be 1"},
		"source":        {func(p *Plan) { p.Source = "gaussian" }, "gaussian-sum"},
		"claim":         {func(p *Plan) { p.Claim = nil }, "claim is missing"},
		"kind":          {func(p *Plan) { p.Claim = &audit.Claim{Kind: audit.ZCDP, Rho: 1} }, "claim.kind"},
		"design":        {func(p *Plan) { p.Design = source.TailSingular }, "design is"},
		"m":             {func(p *Plan) { p.K = -1 }, "k is -1"},
		"m on sphere":   {func(p *Plan) { p.Design, p.K = source.Sphere, 5000 }, "at most 4096"},
		"orthogonal":    {func(p *Plan) { p.Parameters = audit.Params{"d": {Number: 99}} }, "at most d = 99"},
		"guesses":       {func(p *Plan) { p.Guesses = []int{101} }, "guesses is 101"},
		"gdp guesses":   {func(p *Plan) { p.GDPGuesses = []int{0} }, "guesses is 0"},
		"beta":          {func(p *Plan) { p.Beta = .7 }, "beta is 0.7"},
		"data":          {func(p *Plan) { p.Data = "aa" }, "data is missing"},
		"parameter":     {func(p *Plan) { p.Parameters = audit.Params{"dd": {Number: 99}} }, "dd"},
		"model, memory": {func(p *Plan) { p.Source, p.K = "dp-sgd", 9000 }, "at most 8192"},
	} {
		p := good
		c.change(&p)
		must.Input(t, must.Err(p.Resolve(source.Sources(), nil)), c.want, name)
	}
	must.Refuse(t, must.Err((Plan{Version: PlanVersion, Mode: OneRun, Source: "several", Claim: good.Claim}).Resolve(testSources(told{}), nil)), "audited in one run")
}

// TestOneRunStopped: no bound of a run that was stopped.
func TestOneRunStopped(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	r, err := testRun{Plan: oneRunPlan(2, 100, nil), Sources: source.Sources(), Pool: engine.LocalPool(1)}.Do(ctx)
	if err != nil || r.Verdict != audit.Inconclusive || r.LowerBound != nil || r.Termination.Reason != audit.Stopped || !strings.Contains(r.Summary, "stopped before the end") {
		t.Error(err, r.Summary)
	}
	must.Get(ParseReport(must.Get(audit.Canonical(r))(t)))(t)
}
