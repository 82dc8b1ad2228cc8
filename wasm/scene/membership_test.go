package scene

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
)

// scored is what the page sends of a report of scores.
func scored(t *testing.T, in, out []float64, basis membership.Basis) *CanaryReport {
	t.Helper()
	e := membership.Count(in, out, 0.05)
	claim := audit.DPClaim(1, 1e-5)
	r := report.Report{Claim: claim, Tables: []report.Table{e.Table(claim, audit.AddRemove, basis, 0.05)}}
	text := must.Get(json.Marshal(r))(t)
	more := must.Get(json.Marshal(e))(t)
	var c CanaryReport
	text = fmt.Appendf(nil, `%s,"plan":{"relation":"add-remove","beta":0.05},"evidence":{"membership":%s}}`, text[:len(text)-1], more)
	must.Do(t, json.Unmarshal(text, &c))
	return &c
}

// attacked are scores by which few canaries that were in are surely known.
func attacked(in, out int) (a, b []float64) {
	s := stream.New(stream.Key{Seed: 6, Purpose: "scene/membership"})
	a, b = make([]float64, in), make([]float64, out)
	s.Gaussian(a, 1)
	for i := range a {
		a[i] += plot.If(i%12 == 0, 5.0, 0.3)
	}
	s.Gaussian(b, 1)
	return a, b
}

// Pictures of scores are sound, of whatever scores; the band is drawn where it holds, and
// no other is.
func TestMembershipViews(t *testing.T) {
	in, out := attacked(3000, 5000)
	few, many := attacked(3, 2)
	worst := []float64{-math.MaxFloat64, 1, 2, 3}
	for name, c := range map[string]*CanaryReport{
		"attacked": scored(t, in, out, membership.OwnTrainings), "training": scored(t, in, out, membership.OneTraining), "few": scored(t, few, many, membership.OwnTrainings),
		"same": scored(t, []float64{2, 2}, []float64{2}, membership.OwnTrainings), "worst": scored(t, worst, worst, membership.OwnTrainings), "apart": scored(t, []float64{5, 6}, []float64{1, 2}, membership.OwnTrainings),
	} {
		views := Views(Input{Canary: c})
		if len(views) != 2 {
			t.Fatalf("%s: %d views", name, len(views))
		}
		everyChoice(t, name, views...)
	}
	v := newROC(scored(t, in, out, membership.OwnTrainings))
	if !strings.Contains(v.caption(), "95\u00a0% band holds at all thresholds") || !strings.Contains(v.caption(), "above what the claim allows") || !strings.Contains(v.caption(), " at a false positive rate of at most 0.1\u00a0%, ") {
		t.Errorf("%q", v.caption())
	}
	// The claim's limit, and the band of one rate, over all points by hand.
	if got, want := v.limit(0.01), math.E*0.01+1e-5; math.Abs(got-want) > 1e-12 {
		t.Errorf("the limit at 1 %% is %v, want %v", got, want)
	}
	for _, x := range []float64{1e-4, 0.004, 0.2, 0.9} {
		lower, upper := v.band().Limits(x)
		seen := 0.0
		for _, p := range v.points {
			if p.FPR <= x {
				seen = max(seen, p.TPR)
			}
		}
		if !(lower <= seen && seen <= upper+0.05) || lower > upper {
			t.Errorf("at %v the band is [%v, %v] about %v", x, lower, upper, seen)
		}
	}
	barred := func(v *roc) bool {
		p := v.plot("")
		return slices.Contains(p.Layout(plot.Frame{Width: 700, Camera: plot.Everything}).Keys, "above the limit (barred)")
	}
	if !barred(v) {
		t.Error("what lies above the limit is not barred")
	}
	alone := newROC(scored(t, in, out, membership.OneTraining))
	if barred(alone) || strings.Contains(alone.caption(), "confidence") || !strings.Contains(alone.caption(), "no band") || len(alone.plot("").Head) != 3 {
		t.Errorf("scores of one training have a band: %q", alone.caption())
	}
	if got := NewROC(scored(t, in, out, membership.OwnTrainings)).Tooltip(len(v.points) / 2); !strings.HasPrefix(got, "score ≥ ") || !strings.Contains(got, "claim allows") {
		t.Errorf("%q", got)
	}
	h := NewScores(scored(t, in, out, membership.OwnTrainings))
	if got := h.Tooltip(0); !strings.HasPrefix(got, "below −") {
		t.Errorf("%q", got)
	}
	// Counts that no scores give, from a stranger's report, are not drawn.
	forged := scored(t, in, out, membership.OwnTrainings)
	forged.Evidence.Membership.ROC.Wins = -1
	if Views(Input{Canary: forged}) != nil {
		t.Error("forged counts are drawn")
	}
}
