package pair_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// TestForgedReports: whatever is changed in a report that follows from its
// settings and counts, the replay says so.
func TestForgedReports(t *testing.T) {
	good := runAudit(t, pair.Plan{Mechanism: "svt1", Claim: &audit.Claim{Epsilon: 1}, Samples: 3_000, Trials: 2, Seed: 4}, 2)
	good.Generator.Version = audit.Version
	number := func(x float64) *float64 { return &x }
	copyOf := func() pair.Report { return copied(t, good) }
	pool := pair.LocalPool(catalogue, 2)
	if v, err := pair.Verify(context.Background(), catalogue, pool, copyOf(), true); err != nil || !v.OK() {
		t.Fatalf("the report as it is: %v %v", err, v.Differences)
	}
	for name, forge := range map[string]func(*pair.Report){
		"summary":      func(r *pair.Report) { r.Summary = "No violation found: certified private." },
		"claim":        func(r *pair.Report) { r.Claim.Epsilon = 0.1 },
		"verdict":      func(r *pair.Report) { r.Verdict = audit.Violation },
		"inconclusive": func(r *pair.Report) { r.Verdict = audit.Inconclusive },
		"bound":        func(r *pair.Report) { *r.Results[0].LowerBound += 0.01 },
		"confidence":   func(r *pair.Report) { r.Results[0].Confidence = 0.999 },
		"settings":     func(r *pair.Report) { r.Settings.Confidence = 0.999 },
		"beta":         func(r *pair.Report) { r.Settings.Beta = 0.01 },
		"estimate":     func(r *pair.Report) { r.Results[0].Estimate = number(9) },
		"event":        func(r *pair.Report) { r.Results[0].Event.Words = "nothing" },
		"method":       func(r *pair.Report) { r.Results[0].Method = "clopper-pearson" },
		"edge":         func(r *pair.Report) { r.Evidence.Edges[len(r.Evidence.Edges)-1] += 0.5 },
		"event edge":   func(r *pair.Report) { r.Results[0].Event.Edge++ },
		"table":        func(r *pair.Report) { r.Evidence.Table.N[0]++ },
		"p-value":      func(r *pair.Report) { *r.Results[0].PValue /= 2 },
		"curve":        func(r *pair.Report) { r.Renyi[2].Lower += 0.01 },
		"band":         func(r *pair.Report) { r.Tradeoff[5].FNRUpper -= 0.01 },
		"published":    func(r *pair.Report) { r.Published[0].Value += 0.1 },
		"second row":   func(r *pair.Report) { *r.Results[1].LowerBound += 0.01 },
		"assumption":   func(r *pair.Report) { r.Results[4].Assumption = "" },
		"anytime":      func(r *pair.Report) { r.Settings.Anytime = true },
		"pair":         func(r *pair.Report) { r.Evidence.Pair.Second = r.Evidence.Pair.First },
		"direction": func(r *pair.Report) {
			f := &r.Results[0]
			f.Direction = map[string]string{pair.FirstOverSecond: pair.SecondOverFirst, pair.SecondOverFirst: pair.FirstOverSecond}[f.Direction]
		},
		"power":       func(r *pair.Report) { r.Power.LargestBound += 1 },
		"no power":    func(r *pair.Report) { r.Power = nil },
		"limitations": func(r *pair.Report) { r.Limitations = nil },
		"command":     func(r *pair.Report) { r.Reproduce.CLI = "rm -rf /" },
		"seed":        func(r *pair.Report) { r.Settings.Seed++ },
		"samplesUsed": func(r *pair.Report) { r.Termination.SamplesUsed-- },
		"samples":     func(r *pair.Report) { r.Settings.Samples *= 2 },
		"stopped":     func(r *pair.Report) { r.Termination.Reason = audit.Stopped },
		"huge counts": func(r *pair.Report) { r.Results[0].Counts.N1 = 1 << 40; r.Results[0].Counts.N0 = 1 << 40 },
		"two results": func(r *pair.Report) { r.Results = append(r.Results, r.Results[0]) },
		"unit":        func(r *pair.Report) { r.Inputs.PrivacyUnit = "a city" },
		"trials":      func(r *pair.Report) { r.Trials = nil },
	} {
		for _, whole := range []bool{false, true} {
			r := copyOf()
			forge(&r)
			if v, err := pair.Verify(context.Background(), catalogue, pool, r, whole); err == nil && v.OK() {
				t.Errorf("%s (whole: %v): the forged report passes", name, whole)
			}
		}
	}
	// Only the whole replay sees what the search saw.
	for name, forge := range map[string]func(*pair.Report){
		"explored": func(r *pair.Report) { r.Evidence.Explored.N[0]++ },
		"prepared": func(r *pair.Report) { r.Evidence.Prepared.Renyi[0].H[3] += 0.25 },
		"learners": func(r *pair.Report) { r.Evidence.Learners[0].Value = 7 },
		"trial":    func(r *pair.Report) { r.Trials[0].Value = 7 },
	} {
		r := copyOf()
		forge(&r)
		if v, err := pair.Verify(context.Background(), catalogue, pool, r, true); err == nil && v.OK() {
			t.Errorf("%s: the forged report passes", name)
		}
	}
	quick, err := pair.Verify(context.Background(), catalogue, pool, copyOf(), false)
	if err != nil || !strings.Contains(strings.Join(quick.Notes, " "), "before these samples were drawn") {
		t.Errorf("a quick replay does not say what it cannot show: %v %v", err, quick.Notes)
	}
	// Another version may word things otherwise.
	r := copyOf()
	r.Generator.Version, r.Summary = "0.0.9", "No violation, in older words."
	if v, err := pair.Verify(context.Background(), catalogue, pool, r, true); err != nil || !v.OK() || len(v.Notes) != 2 || v.Summary != good.Summary {
		t.Errorf("a report of another version: %v %+v", err, v)
	}
}

// TestOptionalStopping: the counts of a run that was stopped carry no bound.
func TestOptionalStopping(t *testing.T) {
	r := runAudit(t, pair.Plan{Mechanism: "svt4", Claim: &audit.Claim{Epsilon: 1}, Samples: pair.ShardRows, Explore: 2_000, Trials: 1}, 1)
	r.Settings.Samples *= 10
	_, err := pair.Verify(context.Background(), catalogue, pair.LocalPool(catalogue, 1), r, false)
	if err == nil || !strings.Contains(err.Error(), "settings.samples") {
		t.Errorf("a bound on a tenth of the planned samples answers %v", err)
	}
}

// TestAbsurdNumbersInReports: nothing that a file holds keeps the words from
// coming.
func TestAbsurdNumbersInReports(t *testing.T) {
	r := runAudit(t, pair.Plan{Mechanism: "svt1", Claim: &audit.Claim{Epsilon: 1}, Samples: 1_000, Trials: 1}, 1)
	for _, x := range []float64{1e308, -1e308, 1e15, 1e-300} {
		r.Power.LargestBound, r.Power.Smallest, *r.Results[0].LowerBound = x, &x, x
		if r.Text() == "" || pair.Headline(r) == "" {
			t.Errorf("%v: no words", x)
		}
	}
}

func TestParameterNamesAreTakenWhole(t *testing.T) {
	p := pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4", Parameters: audit.Params{"threshold=5": {Number: 1}}}
	if _, err := p.Resolve(catalogue); err == nil || !strings.Contains(err.Error(), `"threshold=5"`) {
		t.Errorf("error %v", err)
	}
}

// TestMaimedReports: a report that was cut about by hand has words, rows and
// curves, or is refused; nothing that it lacks brings the program down.
func TestMaimedReports(t *testing.T) {
	claim := audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 1}
	for _, plan := range []pair.Plan{{Mechanism: "laplace-mean", Claim: &claim}, {Mechanism: "laplace-mean"}} {
		plan.Samples, plan.Trials, plan.Finder = 1_000, 1, "candidates"
		whole := runAudit(t, plan, 1)
		for name, maim := range map[string]func(*pair.Report){
			"no evidence":    func(r *pair.Report) { r.Evidence = nil },
			"no event":       func(r *pair.Report) { r.Results[0].Event = nil },
			"no results":     func(r *pair.Report) { r.Results = nil },
			"no goal":        func(r *pair.Report) { e := *r.Evidence; e.Prepared.Goal = nil; r.Evidence = &e },
			"orders below 1": func(r *pair.Report) { r.Renyi = []pair.RenyiFinding{{Alpha: 0.5}, {Alpha: -1}, {Alpha: 1e300}} },
			"order 0": func(r *pair.Report) {
				r.Results = []pair.Finding{{ID: pair.RenyiDivergence, LowerBound: whole.Results[0].LowerBound}}
			},
		} {
			r := whole
			r.Results = append([]pair.Finding{}, whole.Results...)
			maim(&r)
			if r.Text() == "" {
				t.Errorf("%s: no words", name)
			}
			pair.CertifiedRows(r)
			pair.ReportCurves(r)
			if cmp.Equal(r, whole) {
				continue // there was nothing of it
			}
			if v, err := pair.Verify(context.Background(), catalogue, pair.LocalPool(catalogue, 1), r, false); err == nil && v.OK() {
				t.Errorf("%s: the maimed report passes", name)
			}
		}
	}
}

// A report made when the row of Katz at delta > 0 was called published is
// verified as before; with that name under today's words it is not.
func TestVerifyKnowsTheFormerNameOfKatz(t *testing.T) {
	r := runAudit(t, pair.Plan{Mechanism: "laplace-mean-raw-count", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 0.01}, Samples: 2000, Trials: 1, Learner: "histogram", Seed: 3}, 1)
	r.Generator.Version = audit.Version
	row := &r.Published[0]
	if row.Method != "katz-log-delta-method" || row.Delta != 0.01 || !strings.HasPrefix(row.Fault, "certifies nothing: ") {
		t.Fatalf("%+v", row)
	}
	verified := func() bool {
		v, err := pair.Verify(context.Background(), catalogue, pair.LocalPool(catalogue, 2), r, false)
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
