package pair_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
)

// external is a noisy count of the user's; unseeded, it draws from a generator
// of its own.
type external struct {
	mu   sync.Mutex
	own  *rand.Rand
	from bool // from the stream that it is given
}

func (o *external) Columns() []audit.Column { return []audit.Column{{Name: "c1", Kind: audit.Real}} }

func (o *external) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if o.from {
		s.Laplace(out, 0.5)
	} else {
		o.mu.Lock()
		defer o.mu.Unlock()
		for i := range out {
			out[i] = (o.own.ExpFloat64() - o.own.ExpFloat64()) / 2
		}
	}
	for i := range out {
		out[i] += float64(d.Len())
	}
	return nil
}

func broughtCatalogue(t *testing.T, unseeded string) audit.Catalogue {
	t.Helper()
	space := must.Get(audit.ParseSpace("", "", "", false, 0))(t)
	m := &external{own: rand.New(rand.NewPCG(1, 2)), from: unseeded == ""}
	b := audit.UserMechanism{Kind: audit.UserCommand, Name: "python3 my count.py", Datasets: space, Columns: m.Columns(), Unseeded: unseeded}
	cat := catalogue
	cat.Mechanisms = append(slices.Clone(cat.Mechanisms), b.Spec(m))
	return cat
}

func auditBrought(t *testing.T, cat audit.Catalogue) pair.Report {
	t.Helper()
	r := must.Get(pair.Run{Plan: pair.Plan{Version: pair.PlanVersion, Mechanism: "command", Claim: &audit.Claim{Epsilon: 1}, Samples: 20_000, Trials: 3, Seed: 9}, Catalogue: cat, Pool: engine.LocalPool(2),
		Generator: audit.Generator{Version: audit.Version}}.Do(context.Background()))(t)
	return r
}

func TestBroughtMechanism(t *testing.T) {
	cat := broughtCatalogue(t, "")
	r := auditBrought(t, cat)
	if r.Verdict != audit.Violation { // half the noise: a false acceptance has probability below 1e-9
		t.Errorf("half the noise: %s", r.Summary)
	}
	if want := "dpscope audit -exec 'python3 my count.py' -domain 0:1 -rows 0:5 -kind c1=real -epsilon 1 -samples 20000 -trials 3 -seed 9"; r.Reproduce.CLI != want {
		t.Errorf("%s\nwant\n%s", r.Reproduce.CLI, want)
	}
	must.Say(t, report.Text(r), "command: python3 my count.py")
	v, err := pair.Verify(context.Background(), cat, engine.LocalPool(1), r, true)
	if err != nil || !v.OK() || v.Recomputed {
		t.Errorf("%v %+v", err, v)
	}
}

// listening knows what noise was drawn.
type listening struct {
	external
	drawn map[float64]int
}

func (l *listening) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	s.Laplace(out, 0.5)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range out {
		l.drawn[out[i]]++
		out[i] += float64(d.Len())
	}
	return nil
}

// TestNothingIsDrawnTwice: what certifies was never looked at, so no noise is drawn a second time: not
// for the other dataset, another pair, another stage or another epoch.
func TestNothingIsDrawnTwice(t *testing.T) {
	for _, mode := range []pair.Mode{pair.Fixed, pair.Climbing} {
		l := &listening{drawn: map[float64]int{}}
		cat := broughtCatalogue(t, "")
		cat.Mechanisms[len(cat.Mechanisms)-1].New = func(audit.Params) (audit.Mechanism, error) { return l, nil }
		plan := pair.Plan{Version: pair.PlanVersion, Mechanism: "command", Claim: &audit.Claim{Epsilon: 1}, Mode: mode, Samples: 20_000, Trials: 3, Beta: 0.05}
		r := must.Get(pair.Run{Plan: plan, Catalogue: cat, Pool: engine.LocalPool(2)}.Do(t.Context()))(t)
		twice := 0
		for _, n := range l.drawn {
			twice += n - 1
		}
		if twice > 0 || len(l.drawn) != r.Termination.Outputs {
			t.Errorf("%s: %d outputs came twice, %d once, of %d", mode, twice, len(l.drawn), r.Termination.Outputs)
		}
		if row := r.Deciding(); (row.Method == pair.MethodSequential) != (mode == pair.Climbing) || row.Confidence != 1-plan.Beta {
			t.Errorf("%s: %s decides and errs with %v, want %v", mode, row.Method, 1-row.Confidence, plan.Beta)
		}
	}
}

type failing struct{ audit.Mechanism }

func (failing) Failure() string { return "no model file" }

// TestFailedRunsReplay: why runs failed is a warning that a replay has itself.
func TestFailedRunsReplay(t *testing.T) {
	cat := broughtCatalogue(t, "")
	spec := &cat.Mechanisms[len(cat.Mechanisms)-1]
	build := spec.New
	spec.New = func(p audit.Params) (audit.Mechanism, error) {
		m, err := build(p)
		return failing{m}, err
	}
	r := auditBrought(t, cat)
	must.Say(t, strings.Join(r.Warnings, " "), "no model file")
	for _, warned := range []bool{true, false} {
		if !warned {
			r.Warnings = []string{}
		}
		if v, err := pair.Verify(context.Background(), cat, engine.LocalPool(1), r, true); err != nil || v.OK() != warned {
			t.Errorf("warned %v: %v %+v", warned, err, v)
		}
	}
}

// spoiling clears its dataset once it has read it.
type spoiling struct{ audit.Mechanism }

func (m spoiling) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	defer clear(d.Values)
	return m.Mechanism.Sample(d, s, out)
}

// TestDatasetsAreLent: what a mechanism does to its dataset no later call sees.
func TestDatasetsAreLent(t *testing.T) {
	spec := must.Get(catalogue.Mechanism("sum-clipped"))(t)
	build := spec.New
	spec.New = func(p audit.Params) (audit.Mechanism, error) {
		m, err := build(p)
		return spoiling{m}, err
	}
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: spec.Name, Mode: pair.Fixed, Samples: 10_000, Explore: 10_000, Trials: 1}
	r := must.Get(pair.Run{Plan: plan, Catalogue: audit.Catalogue{Mechanisms: []audit.MechanismSpec{spec}, Learners: catalogue.Learners, Finders: catalogue.Finders}, Pool: engine.LocalPool(1)}.Do(t.Context()))(t)
	if !audit.EqualJSON(r.Evidence, runAudit(t, plan, 1).Evidence) {
		t.Error("a mechanism that clears its dataset has other counts")
	}
}

func TestUnseededMechanism(t *testing.T) {
	cat := broughtCatalogue(t, "it draws from the operating system")
	r := auditBrought(t, cat)
	if r.Verdict != audit.Violation || !strings.Contains(strings.Join(r.Limitations, " "), "cannot be drawn again") {
		t.Errorf("%s %v", r.Summary, r.Limitations)
	}
	check := func(r pair.Report) engine.Verification {
		v, err := pair.Verify(context.Background(), cat, engine.LocalPool(1), r, true)
		if err != nil {
			return engine.Verification{Differences: []string{err.Error()}}
		}
		return v
	}
	if v := check(r); !v.OK() || !v.Recomputed {
		t.Errorf("%+v", v)
	}
	for name, forge := range map[string]func(*pair.Report){
		"bound":   func(r *pair.Report) { *r.Rows(report.Bounds)[0].LowerBound += 0.01 },
		"table":   func(r *pair.Report) { r.Evidence.Table.N[0]++ },
		"stakes":  func(r *pair.Report) { r.Evidence.Prepared.Renyi[3].H[1] += 0.25 },
		"seeded":  func(r *pair.Report) { r.Inputs.Unseeded = "" },
		"domain":  func(r *pair.Report) { r.Inputs.User.Datasets.MaxRows++ },
		"verdict": func(r *pair.Report) { r.Verdict = audit.NoViolation },
	} {
		data := must.Get(json.Marshal(r))(t)
		var forged pair.Report
		must.Do(t, json.Unmarshal(data, &forged))
		forge(&forged)
		if check(forged).OK() {
			t.Errorf("%s: the forged report passes", name)
		}
	}
}

func TestParseSpace(t *testing.T) {
	for _, c := range []struct {
		ranges, rows string
		relation     audit.Relation
		integer      bool
		reach        float64
		trial        [2][]float64 // the pair that is tried first
		says         string
	}{
		{ranges: "", trial: [2][]float64{{}, {1}}},
		{ranges: "0:1,-5:5", rows: "1:2", relation: audit.AddRemove, trial: [2][]float64{{0, -5}, {0, -5, 1, 5}}},
		{ranges: "0:1", relation: audit.Replace, trial: [2][]float64{{0}, {1}}},
		{ranges: "0.5:2.5", rows: "3", relation: audit.Replace, integer: true, trial: [2][]float64{{1, 1, 1}, {1, 1, 2}}},
		{ranges: "0:10", rows: "2", relation: audit.LInfinity, trial: [2][]float64{{0, 0}, {0, 1}}},
		{ranges: "0:10", rows: "2", relation: audit.BoundedReplace, reach: 3, trial: [2][]float64{{0, 0}, {0, 3}}},
		{ranges: "0:1", rows: "1", relation: audit.BoundedReplace, reach: 3, trial: [2][]float64{{0}, {1}}},
		{ranges: "1:0", says: "the lower one first"},
		{ranges: "0-1", says: "lower:upper"},
		{ranges: "0:Inf", says: "finite"},
		{ranges: "0.2:0.8", integer: true, says: "whole number"},
		{ranges: "0:1", rows: "3", says: "changes the number of rows"},
		{ranges: "0:1", rows: "0:3", relation: audit.Replace, says: "at least 1"},
		{ranges: "0:1", rows: "0:3", relation: audit.BoundedReplace, says: "at least 1"},
		{ranges: "0:1", relation: audit.BoundedReplace, reach: -1, says: "how far one value may move"},
		{ranges: "0:1", rows: "5:2", says: "the smaller first"},
		{ranges: "0:1", rows: "x", says: "the smallest and the largest number of rows"},
		{ranges: "0:1", relation: audit.Given, says: "recorded"},
	} {
		s, err := audit.ParseSpace(c.ranges, c.rows, c.relation, c.integer, c.reach)
		if c.says != "" {
			must.Refuse(t, err, c.says, c)
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		p := s.Trial()
		if !slices.Equal(p.First.Values, c.trial[0]) || !slices.Equal(p.Second.Values, c.trial[1]) {
			t.Errorf("%+v: %v", c, p)
		}
		if err := s.Relation.Check(p, s.Domain); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
