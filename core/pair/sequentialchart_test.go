package pair_test

import (
	"context"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/internal/must"
)

// TestRacedChart: a run until the claim is refuted shows the pair in the lead, whatever
// its outputs are, and its report has the same chart, which a replay counts again.
func TestRacedChart(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]chart.Kind{"svt4": chart.Outcomes, "laplace-mean": chart.Histogram, "noisy-histogram-wrong-scale": chart.Histogram} {
		var live *pair.Live
		r := must.Get(pair.Run{Catalogue: catalogue, Pool: engine.LocalPool(1),
			Plan:     pair.Plan{Version: pair.PlanVersion, Mode: pair.UntilRefuted, Mechanism: name, Claim: &audit.Claim{Epsilon: 0.5}, Samples: 3_000, Trials: 3, Seed: 5},
			Progress: func(p pair.Progress) { live = p.Live },
		}.Do(context.Background()))(t)
		c := r.Sequential.Chart
		if c == nil || live == nil || c.Chart.Kind != kind {
			t.Fatalf("%s: the report has the chart %+v, live %+v", name, c, live)
		}
		if !slices.Equal(c.Chart.First, live.Chart.First) || !slices.Equal(c.Chart.Second, live.Chart.Second) || live.Event != nil {
			t.Errorf("%s: live %+v, the report has %+v", name, live.Chart, c.Chart)
		}
		drawn, counted := make([]int, len(r.Sequential.Pairs)), 0
		for _, e := range r.Sequential.Epochs {
			drawn[e.Pair] += e.Outputs
		}
		for _, n := range c.Chart.First {
			counted += n
		}
		// All but those on which the bins were chosen.
		if d := drawn[c.Pair]; d != slices.Max(drawn) || counted < 1 || counted < d-192-192/3 || counted > d-48 {
			t.Errorf("%s: %d counted of pair %d, drawn %v", name, counted, c.Pair, drawn)
		}
		again, err := pair.Verify(context.Background(), catalogue, engine.LocalPool(1), r, true)
		if err != nil || !again.OK() {
			t.Errorf("%s: %v, %v", name, err, again.Differences)
		}
		for what, forge := range map[string]func(){"counts": func() { c.Chart.First[0]++; c.Chart.First[1]-- }, "share": func() { c.Share /= 2 }, "pair": func() { c.Pair = 1 - min(1, c.Pair) }} {
			kept := *c
			first := slices.Clone(c.Chart.First)
			forge()
			again, err := pair.Verify(context.Background(), catalogue, engine.LocalPool(1), r, true)
			if err == nil && again.OK() && !(what == "counts" && first[1] == 0) {
				t.Errorf("%s: other %s pass", name, what)
			}
			*c = kept
			copy(c.Chart.First, first)
		}
		c.Chart.First[0] += drawn[c.Pair] - counted + 1
		must.Input(t, must.Err(pair.Verify(t.Context(), catalogue, nil, r, false)), "", name, "more outputs in the chart than were drawn")
	}
}
