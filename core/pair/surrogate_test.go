package pair_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

var modelled = pair.Plan{Mechanism: "laplace-mean-raw-count", Claim: &audit.Claim{Epsilon: 1}, Finder: "gp-ucb", Learner: "histogram", Mode: pair.Fixed, Samples: 5_000, Explore: 46_000, Trials: 14, Seed: 5}

func copied(t *testing.T, r pair.Report) pair.Report {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var out pair.Report
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSurrogate: what the finder's model said stands in the report, whatever the
// number of workers, and the replay compares it. A report written before reports had
// it verifies too; one from which a part was taken away does not.
func TestSurrogate(t *testing.T) {
	good, eight := runAudit(t, modelled, 1), runAudit(t, modelled, 8)
	good.Timing, eight.Timing = audit.Timing{}, audit.Timing{}
	if d := cmp.Diff(good, eight); d != "" {
		t.Errorf("1 worker against 8:\n%s", d)
	}
	said := 0
	for i, trial := range good.Trials {
		p := trial.Predicted
		if p == nil {
			continue
		}
		said++
		if p.SD <= 0 || p.Low > p.Middle || p.Middle > p.High || i < 4 {
			t.Errorf("trial %d: %+v", i, p)
		}
	}
	m := good.Surrogate
	if said < 8 || m == nil || len(m.Trials) != 14 || len(m.Slices) < 3 || !good.Trials[m.Through].Chosen {
		t.Fatalf("%d trials were predicted; model %+v", said, m)
	}
	data, err := audit.Canonical(good)
	if err != nil {
		t.Fatal(err)
	}
	validate(t, data)
	if len(data) > 60_000 {
		t.Errorf("the report has %d bytes", len(data))
	}

	pool := pair.LocalPool(catalogue, 2)
	strip := func(r *pair.Report) {
		for i := range r.Trials {
			r.Trials[i].Predicted = nil
		}
	}
	for _, c := range []struct {
		name   string
		change func(*pair.Report)
		ok     bool
	}{
		{"as it is", func(*pair.Report) {}, true},
		{"without model and what was said", func(r *pair.Report) { r.Surrogate = nil; strip(r) }, false},
		{"without the model", func(r *pair.Report) { r.Surrogate = nil }, false},
		{"without what was said", strip, false},
		{"another mean", func(r *pair.Report) { r.Trials[9].Predicted.Mean += 0.001 }, false},
		{"another value", func(r *pair.Report) { r.Trials[9].Predicted.High += 0.001 }, false},
		{"said beforehand", func(r *pair.Report) { r.Trials[0].Predicted = r.Trials[9].Predicted }, false},
		{"another slice", func(r *pair.Report) { r.Surrogate.Slices[1].SD[0] /= 2 }, false},
		{"another root of beta", func(r *pair.Report) { r.Surrogate.SqrtBeta = 9 }, false},
	} {
		r := copied(t, good)
		c.change(&r)
		v, err := pair.Verify(context.Background(), catalogue, pool, r, true)
		if err != nil || v.OK() != c.ok {
			t.Errorf("%s: %v %v", c.name, err, v.Differences)
		}
	}
	if v, err := pair.Verify(context.Background(), catalogue, pool, good, false); err != nil || !v.OK() {
		t.Errorf("quickly: %v %v", err, v.Differences)
	}

	for _, c := range []struct {
		says   string
		change func(*audit.SurrogateModel)
	}{
		{"surrogate.scores is absent or null", func(m *audit.SurrogateModel) { m.Scores = nil }},
		{"surrogate.trials is 14", func(m *audit.SurrogateModel) { m.Trials[3] = 14 }},
		{"surrogate.trials is -1", func(m *audit.SurrogateModel) { m.Through = -1 }},
		{"surrogate.slices[1] is ", func(m *audit.SurrogateModel) { m.Slices[1].Mean = m.Slices[1].Mean[1:] }},
		{"surrogate.slices[0].near is absent or null", func(m *audit.SurrogateModel) { m.Slices[0].Near = nil }},
		{"surrogate.slices[2].positions is ", func(m *audit.SurrogateModel) { m.Slices[2].Positions[1] = m.Slices[2].Positions[0] }},
	} {
		r := copied(t, good)
		c.change(r.Surrogate)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pair.ParseReport(data); !audit.IsInput(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want one that says %q", err, c.says)
		}
	}
}

// A search without a model says nothing of one.
func TestNoSurrogate(t *testing.T) {
	plan := modelled
	plan.Finder = "cma-es"
	data, err := json.Marshal(runAudit(t, plan, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{`"surrogate"`, `"predicted"`} {
		if strings.Contains(string(data), word) {
			t.Errorf("a report of cma-es has a field %s", word)
		}
	}
}
