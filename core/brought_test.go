package core_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/stream"
)

// outside is a noisy count of the user's; unseeded, it draws from a generator
// of its own.
type outside struct {
	mu   sync.Mutex
	own  *rand.Rand
	from bool // from the stream that it is given
}

func (o *outside) Columns() []core.Column { return []core.Column{{Name: "c1", Kind: core.Real}} }

func (o *outside) Sample(d core.Dataset, s *stream.Stream, out []float64) error {
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

func broughtCatalogue(t *testing.T, unseeded string) core.Catalogue {
	t.Helper()
	space, err := core.ParseSpace("", "", "", false, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := &outside{own: rand.New(rand.NewPCG(1, 2)), from: unseeded == ""}
	b := core.Brought{Kind: core.BroughtCommand, Name: "python3 my count.py", Datasets: space, Columns: m.Columns(), Unseeded: unseeded}
	cat := catalogue
	cat.Mechanisms = append(slices.Clone(cat.Mechanisms), b.Spec(m))
	return cat
}

func auditBrought(t *testing.T, cat core.Catalogue) core.Report {
	t.Helper()
	r, err := core.Run{Plan: core.Plan{Version: 1, Mechanism: "command", Claim: &core.Claim{Epsilon: 1}, Samples: 20_000, Trials: 3, Seed: 9}, Catalogue: cat, Pool: core.LocalPool(cat, 2),
		Generator: core.Generator{Version: core.Version}}.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBroughtMechanism(t *testing.T) {
	cat := broughtCatalogue(t, "")
	r := auditBrought(t, cat)
	if r.Verdict != core.Violation { // half the noise: a false acceptance has probability below 1e-9
		t.Errorf("half the noise: %s", r.Summary)
	}
	if want := "dpscope audit -exec 'python3 my count.py' -domain 0:1 -rows 0:5 -kind c1=real -epsilon 1 -samples 20000 -trials 3 -seed 9"; r.Reproduce.CLI != want {
		t.Errorf("%s\nwant\n%s", r.Reproduce.CLI, want)
	}
	if !strings.Contains(core.Text(r), "command: python3 my count.py") {
		t.Error(core.Text(r))
	}
	v, err := core.Verify(context.Background(), cat, core.LocalPool(cat, 1), r, true)
	if err != nil || !v.OK() || v.Recomputed {
		t.Errorf("%v %+v", err, v)
	}
}

func TestUnseededMechanism(t *testing.T) {
	cat := broughtCatalogue(t, "it draws from the operating system")
	r := auditBrought(t, cat)
	if r.Verdict != core.Violation || !strings.Contains(strings.Join(r.Limitations, " "), "cannot be drawn again") {
		t.Errorf("%s %v", r.Summary, r.Limitations)
	}
	check := func(r core.Report) core.Verification {
		v, err := core.Verify(context.Background(), cat, core.LocalPool(cat, 1), r, true)
		if err != nil {
			return core.Verification{Differences: []string{err.Error()}}
		}
		return v
	}
	if v := check(r); !v.OK() || !v.Recomputed {
		t.Errorf("%+v", v)
	}
	for name, forge := range map[string]func(*core.Report){
		"bound":   func(r *core.Report) { *r.Results[0].LowerBound += 0.01 },
		"table":   func(r *core.Report) { r.Evidence.Table.N[0]++ },
		"stakes":  func(r *core.Report) { r.Evidence.Prepared.Renyi[3].H[1] += 0.25 },
		"seeded":  func(r *core.Report) { r.Inputs.Unseeded = "" },
		"domain":  func(r *core.Report) { r.Inputs.Brought.Datasets.MaxRows++ },
		"verdict": func(r *core.Report) { r.Verdict = core.NoViolation },
	} {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var forged core.Report
		if err := json.Unmarshal(data, &forged); err != nil {
			t.Fatal(err)
		}
		forge(&forged)
		if check(forged).OK() {
			t.Errorf("%s: the forged report passes", name)
		}
	}
	p := r.Plan()
	p.Anytime = true
	if _, err := p.Resolve(cat); err == nil || !strings.Contains(err.Error(), "anytime") {
		t.Errorf("anytime: %v", err)
	}
}

func TestParseSpace(t *testing.T) {
	for _, c := range []struct {
		ranges, rows string
		relation     core.Relation
		pairs        int // first ones
		says         string
	}{
		{"", "", "", 6, ""},
		{"0:1,-5:5", "0:1", core.AddRemove, 2, ""},
		{"0:1", "", core.Replace, 2, ""},
		{"0:1", "3", core.Replace, 1, ""},
		{"0:10", "5", core.LInfinity, 2, ""},
		{"1:0", "", "", 0, "the lower first"},
		{"0-1", "", "", 0, "lower:upper"},
		{"0:Inf", "", "", 0, "finite"},
		{"0:1", "3", "", 0, "changes the number of rows"},
		{"0:1", "0:3", core.Replace, 0, "at least 1"},
		{"0:1", "5:2", "", 0, "the least first"},
		{"0:1", "x", "", 0, "the least and the most rows"},
		{"0:1", "", core.Given, 0, "recorded"},
	} {
		s, err := core.ParseSpace(c.ranges, c.rows, c.relation, false, 0)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if got := s.Pairs(); len(got) != c.pairs {
			t.Errorf("%+v: %d pairs: %v", c, len(got), got)
		}
	}
}
