package pair_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
)

func copied(t *testing.T, r pair.Report) pair.Report {
	t.Helper()
	data := must.Get(json.Marshal(r))(t)
	var out pair.Report
	must.Do(t, json.Unmarshal(data, &out))
	return out
}

// replays wants a report to fit its schema and to be what both replays of it give, and
// returns it as it is read.
func replays(t *testing.T, cat audit.Catalogue, r pair.Report) pair.Report {
	t.Helper()
	data := must.Get(audit.Canonical(r))(t)
	validate(t, data)
	back := must.Get(pair.ParseReport(data))(t)
	for _, whole := range []bool{true, false} {
		if v, err := pair.Verify(t.Context(), cat, engine.LocalPool(2), back, whole); err != nil || !v.OK() {
			t.Errorf("%s, %s, whole %v: %v %v", r.Subject, r.Claim, whole, err, v.Differences)
		}
	}
	return back
}

// TestForgedReports: what is changed in several places of a report at once is noticed; any
// single place is in [TestMutatedReports].
func TestForgedReports(t *testing.T) {
	good := runAudit(t, pair.Plan{Mechanism: "svt1", Claim: &audit.Claim{Epsilon: 1}, Samples: 3_000, Trials: 2, Seed: 4, Mode: pair.Fixed}, 2)
	good.Generator.Version = audit.Version
	pool := rememberingPool()
	for name, forge := range map[string]func(*pair.Report){
		"":        func(*pair.Report) {},
		"samples": func(r *pair.Report) { r.Plan.Samples *= 2 },
		"pair":    func(r *pair.Report) { r.Evidence.Pair.Second = r.Evidence.Pair.First },
		"stopped": func(r *pair.Report) { r.Termination.Reason = audit.Stopped },
		"huge counts": func(r *pair.Report) {
			r.Rows(report.Bounds)[0].Counts.N1 = 1 << 40
			r.Rows(report.Bounds)[0].Counts.N0 = 1 << 40
		},
		"two results": func(r *pair.Report) {
			setRows(r, report.Bounds, append(r.Rows(report.Bounds), r.Rows(report.Bounds)[0])...)
		},
		"tiny share":    func(r *pair.Report) { r.Evidence.Prepared.Alternatives[0].Share = 1e-300 },
		"edge of hedge": func(r *pair.Report) { r.Evidence.Prepared.Alternatives[0].Edge = 1000 },
		"many hedges": func(r *pair.Report) {
			h := r.Evidence.Prepared.Alternatives
			r.Evidence.Prepared.Alternatives = slices.Concat(h, h, h, h)
		},
	} {
		for _, whole := range []bool{false, true} {
			r := copied(t, good)
			forge(&r)
			v, err := pair.Verify(context.Background(), catalogue, pool, r, whole)
			if passes := err == nil && v.OK(); passes != (name == "") {
				t.Errorf("%q (whole: %v): %v, %v", name, whole, err, v.Differences)
			}
			if name == "" && v.Recomputed == whole {
				t.Errorf("whole %v: recomputed %v", whole, v.Recomputed)
			}
		}
	}
}

// TestWhatAReportBrings: where nothing is drawn again, chart and event are named as not
// compared, and a chart whose counts are not the table's is refused.
func TestWhatAReportBrings(t *testing.T) {
	good := runAudit(t, pair.Plan{Mechanism: "svt1", Claim: &audit.Claim{Epsilon: 1}, Samples: 3_000, Trials: 2, Seed: 4, Mode: pair.Fixed}, 2)
	good.Generator.Version = audit.Version
	v, err := pair.Verify(t.Context(), catalogue, nil, good, false)
	if err != nil || !v.OK() {
		t.Fatalf("%v, %v", err, v.Differences)
	}
	for _, field := range []string{"evidence.prepared.event", "evidence.prepared.hedges", "evidence.chart.first", "evidence.chart.secondInEvent"} {
		if !slices.Contains(v.NotCompared(), field) {
			t.Errorf("%s is not named among %v", field, v.NotCompared())
		}
	}
	must.Say(t, fmt.Sprint(v.Checked), "{evidence.chart (but for ", "{evidence.prepared (but for event hedges) ")
	must.Do(t, pair.Merged(*copied(t, good).Evidence, func(*pair.Counted) {}))
	must.Refuse(t, pair.Merged(*copied(t, good).Evidence, func(c *pair.Counted) { c.Rows++ }), "outputs a side", "more outputs than were counted")
	for name, forge := range map[string]func(*chart.Chart){
		"more":       func(c *chart.Chart) { c.First[0]++ },
		"fewer":      func(c *chart.Chart) { c.Second = c.Second[1:] },
		"none":       func(c *chart.Chart) { c.First, c.FirstIn, c.Second, c.SecondIn = nil, nil, nil, nil },
		"below none": func(c *chart.Chart) { c.First[0] -= 1 << 40; c.First[1] += 1 << 40 },
		"overflow": func(c *chart.Chart) {
			c.First[0] += 1 << 62
			c.First[1] += 1 << 62
			c.First[2] += 1 << 62
			c.First[3] += 1 << 62
		},
		"out of the event": func(c *chart.Chart) { clear(c.FirstIn) },
	} {
		r := copied(t, good)
		forge(&r.Evidence.Chart)
		must.Refuse(t, must.Err(pair.Verify(t.Context(), catalogue, nil, r, false)), "chart", name)
		counted := func(c *pair.Counted) {
			x := r.Evidence.Chart
			c.Chart = [4][]int{x.First, x.FirstIn, x.Second, x.SecondIn}
		}
		must.Refuse(t, pair.Merged(*copied(t, good).Evidence, counted), "", name, "is merged")
	}
}

// TestStoppedAfterItsBounds: a run that is stopped when its bounds for a fixed number of
// samples are there has none of these, and verifies.
func TestStoppedAfterItsBounds(t *testing.T) {
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: "laplace-mean", Claim: &audit.Claim{Epsilon: 1}, Samples: 4_000, Trials: 1, Seed: 4}
	pool := engine.LocalPool(2)
	r, err := pair.StoppedAfterBounds(pair.Run{Plan: plan, Catalogue: catalogue, Pool: pool}, 5)
	if err != nil || r.Verdict != audit.Inconclusive || r.Evidence.Table.Pairs() != 4_000 || len(r.Sequential.Epochs) != 5 {
		t.Fatalf("%v, %s", err, r.Headline)
	}
	replays(t, catalogue, r)
}

// TestWhyARunEnded: the reason is one of few, and that which the outputs have.
func TestWhyARunEnded(t *testing.T) {
	pool := engine.LocalPool(2)
	for mechanism, right := range map[string]audit.TerminationReason{"svt5": audit.Refuted, "laplace-mean": audit.Completed} {
		good := runAudit(t, pair.Plan{Mechanism: mechanism, Claim: &audit.Claim{Epsilon: 1}, Mode: pair.UntilRefuted, Samples: 2_000, Seed: 4}, 2)
		for _, reason := range []audit.TerminationReason{audit.Completed, audit.Refuted, audit.Stopped, audit.Failed, "proved private", ""} {
			r := copied(t, good)
			r.Termination.Reason = reason
			r.Reword()
			v, err := pair.Verify(t.Context(), catalogue, pool, r, false)
			if ok := err == nil && v.OK(); ok != (reason == right) {
				t.Errorf("%s, %q: %v, %v", mechanism, reason, err, v.Differences)
			}
		}
		forged := copied(t, good) // TestSequentialEvidenceIsChecked has all that is refused
		forged.Sequential.Epochs[0].Outputs--
		if v, err := pair.Verify(t.Context(), catalogue, pool, forged, false); err == nil && v.OK() {
			t.Errorf("%s: an output fewer in an epoch passes", mechanism)
		}
	}
}

// TestOptionalStopping: the counts of a run that was stopped carry no bound.
func TestOptionalStopping(t *testing.T) {
	r := runAudit(t, pair.Plan{Mechanism: "svt4", Claim: &audit.Claim{Epsilon: 1}, Samples: pair.ShardRows, Explore: 2_000, Trials: 1, Mode: pair.Fixed}, 1)
	r.Plan.Samples *= 10
	must.Refuse(t, must.Err(pair.Verify(context.Background(), catalogue, engine.LocalPool(1), r, false)), "plan.samples", "a bound on a tenth of the planned samples")
	r = runAudit(t, pair.Plan{Mechanism: "svt4", Claim: &audit.Claim{Epsilon: 1}, Samples: 1_000, Explore: 2_000, Trials: 1, Mode: pair.Fixed}, 1)
	r.Plan.Samples, r.Termination.Reason = 2_000, audit.Stopped
	for i := range r.Tables[0].Rows {
		r.Tables[0].Rows[i].LowerBound = nil
	}
	must.Refuse(t, must.Err(pair.Verify(context.Background(), catalogue, engine.LocalPool(1), r, false)), "a multiple of", "a part of a shard")
}

// TestAbsurdNumbersInReports: nothing that a file holds keeps the words from
// coming.
func TestAbsurdNumbersInReports(t *testing.T) {
	r := runAudit(t, pair.Plan{Mechanism: "svt1", Claim: &audit.Claim{Epsilon: 1}, Samples: 1_000, Trials: 1, Mode: pair.Fixed}, 1)
	for _, x := range []float64{1e308, -1e308, 1e15, 1e-300} {
		r.Power.Largest, r.Power.Smallest, *r.Rows(report.Bounds)[0].LowerBound = x, &x, x
		if r.Reword(); report.Text(r) == "" || r.Headline == "" {
			t.Errorf("%v: no words", x)
		}
	}
}

// setRows gives a report other rows in a table.
func setRows(r *pair.Report, name string, rows ...report.Row) {
	r.Tables = slices.Clone(r.Tables)
	for i := range r.Tables {
		if r.Tables[i].Name == name {
			r.Tables[i].Rows = rows
			return
		}
	}
	r.Tables = append(r.Tables, report.Table{Name: name, Rows: rows})
}

func TestParameterNamesAreTakenWhole(t *testing.T) {
	p := pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4", Parameters: audit.Params{"threshold=5": {Number: 1}}}
	must.Refuse(t, must.Err(p.Resolve(catalogue)), `"threshold=5"`)
}

// TestMaimedReports: a report that was cut about by hand has words, rows and
// curves, or is refused; nothing that it lacks brings the program down.
func TestMaimedReports(t *testing.T) {
	claim := audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 1}
	for _, plan := range []pair.Plan{{Mechanism: "laplace-mean", Claim: &claim}, {Mechanism: "laplace-mean"}} {
		plan.Samples, plan.Trials, plan.Finder = 1_000, 1, "candidates"
		whole := runAudit(t, plan, 1)
		for name, maim := range map[string]func(*pair.Report){
			"no evidence": func(r *pair.Report) { r.Evidence = nil },
			"no event":    func(r *pair.Report) { r.Rows(report.Bounds)[0].Event = nil },
			"no results":  func(r *pair.Report) { setRows(r, report.Bounds) },
			"no goal":     func(r *pair.Report) { e := *r.Evidence; e.Prepared.Goal = nil; r.Evidence = &e },
			"orders below 1": func(r *pair.Report) {
				setRows(r, report.Renyi, report.Row{Alpha: 0.5}, report.Row{Alpha: -1}, report.Row{Alpha: 1e300})
			},
			"order 0": func(r *pair.Report) {
				setRows(r, report.Bounds, report.Row{ID: report.RenyiDivergence, LowerBound: whole.Rows(report.Bounds)[0].LowerBound})
			},
		} {
			r := whole
			setRows(&r, report.Bounds, append([]report.Row{}, whole.Rows(report.Bounds)...)...)
			maim(&r)
			if report.Text(r) == "" {
				t.Errorf("%s: no words", name)
			}
			pair.ReportCurves(r)
			if cmp.Equal(r, whole) {
				continue // there was nothing of it
			}
			if v, err := pair.Verify(context.Background(), catalogue, engine.LocalPool(1), r, false); err == nil && v.OK() {
				t.Errorf("%s: the maimed report passes", name)
			}
		}
	}
}
