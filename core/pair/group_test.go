package pair_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// tallied releases a noisy histogram of the values 0 to 9, of which a summary is the
// count of the value that the pair's first dataset has more often.
type tallied struct {
	epsilon float64
	of      float64
	chosen  bool
}

func (tallied) Columns() []audit.Column {
	return []audit.Column{{Name: "count", Kind: audit.Real}}
}

func (m tallied) For(p audit.Pair) audit.Mechanism {
	left := slices.Clone(p.Second.Values)
	for _, v := range p.First.Values {
		if at := slices.Index(left, v); at >= 0 {
			left = slices.Delete(left, at, at+1)
		} else {
			m.of, m.chosen = v, true
		}
	}
	return m
}

func (m tallied) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if !m.chosen {
		return errors.New("the summary was not chosen for the pair")
	}
	s.Laplace(out, 1/m.epsilon)
	n := 0.0
	for _, v := range d.Values {
		if v == m.of {
			n++
		}
	}
	for i := range out {
		out[i] += n
	}
	return nil
}

// countingCatalogue has a mechanism whose count has the claimed noise, and pairs that
// differ in so many rows.
func countingCatalogue(rows ...int) audit.Catalogue {
	spec := audit.MechanismSpec{
		Name: "counting", Title: "A histogram, one count of which is looked at", Source: "test",
		Params:    []audit.ParamSpec{{Name: "epsilon", Default: 1, Min: 0.001, Max: 100}},
		Relations: func(audit.Params) []audit.Relation { return []audit.Relation{audit.Replace} },
		Claim:     func(p audit.Params) audit.Claim { return audit.DPClaim(p.Num("epsilon"), 0) },
		Truth:     func(audit.Params) string { return "what it claims" },
		Domain: func(audit.Params, audit.Relation) audit.Domain {
			return audit.Domain{Columns: 1, MinRows: 20, MaxRows: 20, Lower: []float64{0}, Upper: []float64{9}, Integer: true}
		},
		Pairs: func(audit.Params, audit.Relation) []audit.Pair {
			var pairs []audit.Pair
			for _, k := range rows {
				first, second := make([]float64, 20), make([]float64, 20)
				for i := range k {
					second[i] = 7
				}
				pairs = append(pairs, audit.Pair{Label: "sevens", First: audit.Records(second...), Second: audit.Records(first...)})
			}
			return pairs
		},
		New: func(p audit.Params) (audit.Mechanism, error) { return tallied{epsilon: p.Num("epsilon")}, nil },
	}
	cat := catalogue
	cat.Mechanisms = append(slices.Clone(cat.Mechanisms), spec)
	return cat
}

// TestSummaryOfThePair: a summary is chosen with the pair in view in the sequential
// stage, in exploration and in certification, and a replay chooses the same.
func TestSummaryOfThePair(t *testing.T) {
	cat := countingCatalogue(1)
	pool := engine.LocalPool(2)
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: "counting", Finder: "candidates", Samples: 5000, Seed: 4}
	r := must.Get(pair.Run{Plan: plan, Catalogue: cat, Pool: pool}.Do(context.Background()))(t)
	if *r.LowerBound < 0.6 || r.Verdict != audit.NoViolation {
		t.Errorf("%s", r.Headline)
	}
	v, err := pair.Verify(context.Background(), cat, pool, r, true)
	if err != nil || !v.OK() {
		t.Errorf("the replay: %v, %+v", err, v)
	}
}

// TestGroups: pairs of several sizes are audited each at its own, the one that shows most
// decides, no bound exceeds what the mechanism has, and a replay finds the same.
func TestGroups(t *testing.T) {
	cat := countingCatalogue(1, 8)
	pool := engine.LocalPool(2)
	audited := func(group int, claim *audit.Claim, real float64, mode pair.Mode) pair.Report {
		t.Helper()
		plan := pair.Plan{Version: pair.PlanVersion, Mechanism: "counting", Parameters: audit.Params{"epsilon": {Number: real}}, Claim: claim, Group: group, Mode: mode,
			Trials: 2, Finder: "candidates", Samples: 5000, Seed: 5}
		r := must.Get(pair.Run{Plan: plan, Catalogue: cat, Pool: pool}.Do(context.Background()))(t)
		return r
	}
	faint := func(epsilon, delta float64) *audit.Claim {
		c := audit.DPClaim(epsilon, delta)
		return &c
	}
	for _, c := range []struct {
		name    string
		claim   *audit.Claim
		real    float64
		mode    pair.Mode
		least   float64 // of the bound
		refuted bool
	}{
		{"kept", faint(0.1, 0), 0.1, pair.Climbing, 0.01, false},
		{"kept with delta", faint(0.1, 1e-5), 0.1, pair.Fixed, 0.08, false},
		{"broken", faint(0.1, 0), 0.2, pair.Climbing, 0.15, true},
		{"broken with delta", faint(0.1, 1e-5), 0.2, pair.Fixed, 0.15, true},
		{"broken, until refuted", faint(0.1, 1e-5), 0.2, pair.UntilRefuted, 0.1, true},
	} {
		r := audited(8, c.claim, c.real, c.mode)
		row := r.Deciding()
		if (r.Verdict == audit.Violation) != c.refuted || *r.LowerBound < c.least || *r.LowerBound > c.real || row.Group != 8 || row.Note == "" || *row.Claimed != c.claim.Epsilon {
			t.Errorf("%s: %s\n%+v", c.name, r.Headline, row)
		}
		for _, whole := range []bool{c.claim.Delta == 0, false} {
			if v, err := pair.Verify(context.Background(), cat, pool, r, whole); err != nil || !v.OK() {
				t.Errorf("%s: the replay: %v, %+v", c.name, err, v.Differences)
			}
		}
		if r.Evidence != nil {
			forged := *r.Evidence
			r.Evidence, forged.Prepared.Steps = &forged, 7
			must.Refuse(t, must.Err(pair.Verify(t.Context(), cat, pool, r, false)), "prepared.steps", c.name)
		}
	}
	// Of so faint a mechanism one row shows little.
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: "counting", Parameters: audit.Params{"epsilon": {Number: 0.1}}, Finder: "candidates", Samples: 10_000, Seed: 5}
	must.Refuse(t, must.Err((pair.Run{Plan: plan, Catalogue: cat, Pool: pool}).Do(context.Background())), "", "a pair that differs in 8 rows passed without a group")
	for field, change := range map[string]func(*pair.Plan){
		"zcdp":      func(p *pair.Plan) { p.Claim = &audit.Claim{Kind: audit.ZCDP, Rho: 1} },
		"renyi":     func(p *pair.Plan) { p.ThroughRenyi = 2 },
		"too many":  func(p *pair.Plan) { p.Group = 65 },
		"too large": func(p *pair.Plan) { p.Claim = faint(100, 0) },
		"answers":   func(p *pair.Plan) { p.Mechanism = "svt4" },
	} {
		p := plan
		p.Group = 8
		change(&p)
		var bad *audit.InputError
		if _, err := p.Resolve(cat); !errors.As(err, &bad) || bad.Field != "group" {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestAttacksNeedATable: an attack on learners is refused for other mechanisms, by an error
// that names those it is for.
func TestAttacksNeedATable(t *testing.T) {
	cat := catalogue
	cat.Mechanisms = slices.Concat(cat.Mechanisms, learners.All())
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4", Finder: "corner-flip"}
	var bad *audit.InputError
	if _, err := plan.Resolve(cat); !errors.As(err, &bad) || bad.Field != "finder" || !strings.Contains(bad.Remedy, "naive-bayes") || strings.Contains(bad.Remedy, "svt") {
		t.Errorf("%v", bad)
	}
	for _, name := range []string{"naive-bayes", "random-forest"} {
		plan.Mechanism = name
		if _, err := plan.Resolve(cat); (err == nil) != (name == "naive-bayes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
