package scene

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// plantedReport is the report of an audit with canaries.
func plantedReport(t *testing.T, p canary.Plan, sources []source.Spec) canary.Report {
	t.Helper()
	a := must.Get(p.Resolve(sources, nil))(t)
	return must.Get(report.Do(t.Context(), a, &engine.Runner{Pool: engine.LocalPool(2)}, nil, audit.Generator{}))(t)
}

// canaryAudit audits a small Gaussian sum.
func canaryAudit(t *testing.T) (canary.Report, *CanaryReport) {
	t.Helper()
	sources := source.Sources()
	r := plantedReport(t, canary.Plan{Version: canary.PlanVersion, Source: "gaussian-sum", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 1e-5}, Runs: 300, K: 8, M: 12, Seed: 5}, sources)
	return r, canaryInput(t, r).Canary
}

// canaryInput is what the page sends of a canary report.
func canaryInput(t *testing.T, report any) Input {
	t.Helper()
	data := must.Get(json.Marshal(map[string]any{"canary": report}))(t)
	return must.Get(Parse(string(data)))(t)
}

// TestCanaryViews: all pictures are sound, whatever is chosen.
func TestCanaryViews(t *testing.T) {
	r, in := canaryAudit(t)
	views := Views(Input{Canary: in})
	if len(views) != 5 {
		t.Fatalf("%d views", len(views))
	}
	everyChoice(t, "", views...)
	table := *in.Evidence.Runs.Certified.Table
	a, b := membership.Shares(table)
	if said := canaryRuns(table, false).Caption; math.Abs(a-r.In.Rate) > 1e-12 || math.Abs(b-r.Out.Rate) > 1e-12 || !strings.HasPrefix(said, "300 certification runs") {
		t.Errorf("rates %v and %v, want %v and %v: %s", a, b, r.In.Rate, r.Out.Rate, said)
	}
	own := 0
	for _, row := range views[len(views)-1].Rows {
		if strings.HasSuffix(row[2].(string), "the audit's own") {
			own++
			if b := float64(row[1].(plot.Down)); b != *r.LowerBound && *r.LowerBound > 0 {
				t.Errorf("the audit's own bound is %v, want %v", b, *r.LowerBound)
			}
		}
	}
	if own != 1 {
		t.Errorf("%d bounds are the audit's own", own)
	}
	run := plantedReport(t, canary.Plan{Version: canary.PlanVersion, Mode: canary.OneRun, Source: "gaussian-sum", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 1e-5}, GuessPlan: membership.GuessPlan{Guesses: []int{20, 40}}}, source.Sources())
	parsed := canaryInput(t, run)
	one := NewCanaryBounds(parsed.Canary)
	if len(Views(parsed)) != 3 || len(one.Rows) != len(run.Tables[0].Rows) || one.Rows[0][1] != plot.Down(*run.Tables[0].Rows[0].LowerBound) || one.Rows[0][2] != "valid, the audit's own" || one.Rows[1][2] != "asymptotic, or by an assumption" {
		t.Errorf("of one run: %v", one.Rows)
	}
	sound(t, "one run", one, one.Layout(plot.Frame{Width: 400, Camera: plot.Everything}))
	if Views(Input{Canary: &CanaryReport{}}) != nil {
		t.Error("an empty report is drawn")
	}
}

// TestRunsByCoins: of a matrix by coins the shares are of all canaries, not of those
// inside.
func TestRunsByCoins(t *testing.T) {
	table := map[string]any{"k": 2, "m": 2, "cells": []any{map[string]any{"x": 1, "y": 0, "runs": 3}, map[string]any{"x": 2, "y": 1, "runs": 1}}}
	for relation, want := range map[string]string{"add-remove": "in and in the event 1: of 2, out and in the event 0", "replace": "inside 1: of 2, fresh 0, of 2"} {
		in := canaryInput(t, map[string]any{"kind": "scores", "plan": map[string]any{"relation": relation}, "evidence": map[string]any{"runs": map[string]any{"certified": map[string]any{"table": table}}}})
		v := Views(in)[0]
		if v.ID != "runs" {
			t.Fatal("no picture of the runs")
		}
		if got := v.Tooltip(slices.IndexFunc(in.Canary.Evidence.Runs.Certified.Table.Cells, func(c bounds.CanaryCell) bool { return c.X == 1 })); !strings.HasPrefix(got, want) || strings.Contains(v.Caption, "by a fair coin") != (relation == "add-remove") {
			t.Errorf("%s: %q, %q", relation, got, v.Caption)
		}
	}
}
