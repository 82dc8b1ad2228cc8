package core_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dpscope/dpscope/core"
)

// TestForgedReports: whatever is changed in a report that follows from its
// settings and counts, the replay says so.
func TestForgedReports(t *testing.T) {
	good := runAudit(t, core.Plan{Mechanism: "svt1", Claim: &core.Claim{Epsilon: 1}, Samples: 3_000, Trials: 2, Seed: 4}, 2)
	good.Generator.Version = core.Version
	number := func(x float64) *float64 { return &x }
	copyOf := func() core.Report { return copied(t, good) }
	pool := core.LocalPool(catalogue, 2)
	if v, err := core.Verify(context.Background(), catalogue, pool, copyOf(), true); err != nil || !v.OK() {
		t.Fatalf("the report as it is: %v %v", err, v.Differences)
	}
	for name, forge := range map[string]func(*core.Report){
		"summary":      func(r *core.Report) { r.Summary = "No violation found: certified private." },
		"claim":        func(r *core.Report) { r.Claim.Epsilon = 0.1 },
		"verdict":      func(r *core.Report) { r.Verdict = core.Violation },
		"inconclusive": func(r *core.Report) { r.Verdict = core.Inconclusive },
		"bound":        func(r *core.Report) { *r.Results[0].LowerBound += 0.01 },
		"confidence":   func(r *core.Report) { r.Results[0].Confidence = 0.999 },
		"settings":     func(r *core.Report) { r.Settings.Confidence = 0.999 },
		"beta":         func(r *core.Report) { r.Settings.Beta = 0.01 },
		"estimate":     func(r *core.Report) { r.Results[0].Estimate = number(9) },
		"event":        func(r *core.Report) { r.Results[0].Event.Words = "nothing" },
		"method":       func(r *core.Report) { r.Results[0].Method = "clopper-pearson" },
		"edge":         func(r *core.Report) { r.Evidence.Edges[len(r.Evidence.Edges)-1] += 0.5 },
		"event edge":   func(r *core.Report) { r.Results[0].Event.Edge++ },
		"table":        func(r *core.Report) { r.Evidence.Table.N[0]++ },
		"p-value":      func(r *core.Report) { *r.Results[0].PValue /= 2 },
		"curve":        func(r *core.Report) { r.Renyi[2].Lower += 0.01 },
		"band":         func(r *core.Report) { r.Tradeoff[5].FNRUpper -= 0.01 },
		"published":    func(r *core.Report) { r.Published[0].Value += 0.1 },
		"second row":   func(r *core.Report) { *r.Results[1].LowerBound += 0.01 },
		"assumption":   func(r *core.Report) { r.Results[4].Assumption = "" },
		"anytime":      func(r *core.Report) { r.Settings.Anytime = true },
		"pair":         func(r *core.Report) { r.Evidence.Pair.Second = r.Evidence.Pair.First },
		"direction": func(r *core.Report) {
			f := &r.Results[0]
			f.Direction = map[string]string{core.FirstOverSecond: core.SecondOverFirst, core.SecondOverFirst: core.FirstOverSecond}[f.Direction]
		},
		"power":       func(r *core.Report) { r.Power.LargestBound += 1 },
		"no power":    func(r *core.Report) { r.Power = nil },
		"limitations": func(r *core.Report) { r.Limitations = nil },
		"command":     func(r *core.Report) { r.Reproduce.CLI = "rm -rf /" },
		"seed":        func(r *core.Report) { r.Settings.Seed++ },
		"samplesUsed": func(r *core.Report) { r.Termination.SamplesUsed-- },
		"samples":     func(r *core.Report) { r.Settings.Samples *= 2 },
		"stopped":     func(r *core.Report) { r.Termination.Reason = core.Stopped },
		"huge counts": func(r *core.Report) { r.Results[0].Counts.N1 = 1 << 40; r.Results[0].Counts.N0 = 1 << 40 },
		"two results": func(r *core.Report) { r.Results = append(r.Results, r.Results[0]) },
		"unit":        func(r *core.Report) { r.Inputs.PrivacyUnit = "a city" },
		"trials":      func(r *core.Report) { r.Trials = nil },
	} {
		for _, whole := range []bool{false, true} {
			r := copyOf()
			forge(&r)
			if v, err := core.Verify(context.Background(), catalogue, pool, r, whole); err == nil && v.OK() {
				t.Errorf("%s (whole: %v): the forged report passes", name, whole)
			}
		}
	}
	// Only the whole replay sees what the search saw.
	for name, forge := range map[string]func(*core.Report){
		"explored": func(r *core.Report) { r.Evidence.Explored.N[0]++ },
		"prepared": func(r *core.Report) { r.Evidence.Prepared.Renyi[0].H[3] += 0.25 },
		"learners": func(r *core.Report) { r.Evidence.Learners[0].Value = 7 },
		"trial":    func(r *core.Report) { r.Trials[0].Value = 7 },
	} {
		r := copyOf()
		forge(&r)
		if v, err := core.Verify(context.Background(), catalogue, pool, r, true); err == nil && v.OK() {
			t.Errorf("%s: the forged report passes", name)
		}
	}
	quick, err := core.Verify(context.Background(), catalogue, pool, copyOf(), false)
	if err != nil || !strings.Contains(strings.Join(quick.Notes, " "), "before these samples were drawn") {
		t.Errorf("a quick replay does not say what it cannot show: %v %v", err, quick.Notes)
	}
	// Another version may word things otherwise.
	r := copyOf()
	r.Generator.Version, r.Summary = "0.0.9", "No violation, in older words."
	if v, err := core.Verify(context.Background(), catalogue, pool, r, true); err != nil || !v.OK() || len(v.Notes) != 2 || v.Summary != good.Summary {
		t.Errorf("a report of another version: %v %+v", err, v)
	}
}

// TestOptionalStopping: the counts of a run that was stopped carry no bound.
func TestOptionalStopping(t *testing.T) {
	r := runAudit(t, core.Plan{Mechanism: "svt4", Claim: &core.Claim{Epsilon: 1}, Samples: core.ShardRows, Explore: 2_000, Trials: 1}, 1)
	r.Settings.Samples *= 10
	_, err := core.Verify(context.Background(), catalogue, core.LocalPool(catalogue, 1), r, false)
	if err == nil || !strings.Contains(err.Error(), "settings.samples") {
		t.Errorf("a bound on a tenth of the planned samples answers %v", err)
	}
}

// TestAbsurdNumbersInReports: nothing that a file holds keeps the words from
// coming.
func TestAbsurdNumbersInReports(t *testing.T) {
	r := runAudit(t, core.Plan{Mechanism: "svt1", Claim: &core.Claim{Epsilon: 1}, Samples: 1_000, Trials: 1}, 1)
	for _, x := range []float64{1e308, -1e308, 1e15, 1e-300} {
		r.Power.LargestBound, r.Power.Smallest, *r.Results[0].LowerBound = x, &x, x
		if core.Text(r) == "" || core.Headline(r) == "" {
			t.Errorf("%v: no words", x)
		}
	}
}

func TestParameterNamesAreTakenWhole(t *testing.T) {
	p := core.Plan{Version: core.PlanVersion, Mechanism: "svt4", Parameters: core.Params{"threshold=5": {Number: 1}}}
	if _, err := p.Resolve(catalogue); err == nil || !strings.Contains(err.Error(), `"threshold=5"`) {
		t.Errorf("error %v", err)
	}
}

// TestMaimedReports: a report that was cut about by hand has words, rows and
// curves, or is refused; nothing that it lacks brings the program down.
func TestMaimedReports(t *testing.T) {
	claim := core.Claim{Kind: core.Renyi, Alpha: 2, Epsilon: 1}
	for _, plan := range []core.Plan{{Mechanism: "laplace-mean", Claim: &claim}, {Mechanism: "laplace-mean"}} {
		plan.Samples, plan.Trials, plan.Finder = 1_000, 1, "candidates"
		whole := runAudit(t, plan, 1)
		for name, maim := range map[string]func(*core.Report){
			"no evidence":    func(r *core.Report) { r.Evidence = nil },
			"no event":       func(r *core.Report) { r.Results[0].Event = nil },
			"no results":     func(r *core.Report) { r.Results = nil },
			"no goal":        func(r *core.Report) { e := *r.Evidence; e.Prepared.Goal = nil; r.Evidence = &e },
			"orders below 1": func(r *core.Report) { r.Renyi = []core.RenyiFinding{{Alpha: 0.5}, {Alpha: -1}, {Alpha: 1e300}} },
			"order 0": func(r *core.Report) {
				r.Results = []core.Finding{{ID: core.RenyiDivergence, LowerBound: whole.Results[0].LowerBound}}
			},
		} {
			r := whole
			r.Results = append([]core.Finding{}, whole.Results...)
			maim(&r)
			if core.Text(r) == "" {
				t.Errorf("%s: no words", name)
			}
			core.CertifiedRows(r)
			core.ReportCurves(r)
			if cmp.Equal(r, whole) {
				continue // there was nothing of it
			}
			if v, err := core.Verify(context.Background(), catalogue, core.LocalPool(catalogue, 1), r, false); err == nil && v.OK() {
				t.Errorf("%s: the maimed report passes", name)
			}
		}
	}
}

// A report made when the row of Katz at delta > 0 was called published is
// verified as before; with that name under today's words it is not.
func TestVerifyKnowsTheFormerNameOfKatz(t *testing.T) {
	r := runAudit(t, core.Plan{Mechanism: "laplace-mean-raw-count", Claim: &core.Claim{Kind: core.Approximate, Epsilon: 1, Delta: 0.01}, Samples: 2000, Trials: 1, Learner: "histogram", Seed: 3}, 1)
	r.Generator.Version = core.Version
	row := &r.Published[0]
	if row.Method != "katz-log-delta-method" || row.Delta != 0.01 || !strings.HasPrefix(row.Fault, "certifies nothing: ") {
		t.Fatalf("%+v", row)
	}
	verified := func() bool {
		v, err := core.Verify(context.Background(), catalogue, core.LocalPool(catalogue, 2), r, false)
		if err != nil {
			t.Fatal(err)
		}
		return v.OK()
	}
	row.Method = "published-katz-log"
	if verified() {
		t.Error("the former name under today's words passes")
	}
	row.Fault = "its error exceeds the nominal one near p = delta; none where the second side was never seen"
	if !verified() {
		t.Error("a report of before does not pass")
	}
	row.Value += 0.01
	if verified() {
		t.Error("another value passes")
	}
}
