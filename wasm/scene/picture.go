// Package scene holds the pictures of reports and of runs, each a view of package plot. What they say
// beyond the report's own numbers is observed or estimated, and called so: no certificate.
package scene

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// head is without the methods of its type, which would bring words, checks and methods of audits
// into the program that shows reports.
type head report.Report

// Report is what the views need of a report of the audit of a mechanism.
type Report struct {
	head
	Trials   []pair.TrialNote `json:"trials"`
	Evidence *pair.Evidence   `json:"evidence"`
	Inputs   struct {
		Examples *pair.Examples   `json:"examples"`
		Samples  *audit.Recording `json:"samples"`
	} `json:"inputs"`
	Plan struct {
		Relation audit.Relation `json:"relation"`
	} `json:"plan"`
	Sequential *pair.SequentialResult `json:"sequential"`
}

// InputOf is the input of a report that is there.
func InputOf(r pair.Report) Input {
	in := &Report{head: head(r.Report), Trials: r.Trials, Evidence: r.Evidence, Sequential: r.Sequential}
	in.Inputs.Examples, in.Inputs.Samples, in.Plan.Relation = r.Inputs.Examples, r.Inputs.Samples, r.Plan.Relation
	return Input{Report: in, Curves: pair.ReportCurves(r)}
}

// Input is what the page sends: a report, or how far a run has come.
type Input struct {
	Report *Report       `json:"report"`
	Curves pair.Curves   `json:"curves"`
	Course *Course       `json:"course"`
	Canary *CanaryReport `json:"canary"`
	// Scored are runs with canaries as they came, More: after those that were sent; Cloud is of all.
	Scored   []membership.Scored `json:"scored"`
	More     bool                `json:"more"`
	Cloud    *Cloud              `json:"-"`
	Progress *pair.Progress      `json:"progress"`
}

// ReportViews are the pictures of any report for a page that stands still.
func ReportViews(v report.View) []*plot.View {
	r, ofPair := v.(pair.Report)
	if !ofPair {
		return canaryViews(CanaryReportOf(v), nil)
	}
	in := InputOf(r)
	out := append(append([]*plot.View{NewOutputs(in.Report)}, Views(in)...), NewRenyi(in.Curves.Renyi))
	return slices.DeleteFunc(present(out), func(v *plot.View) bool { // of these the instrument shows more
		return v.ID == "divergence" || v.ID == "search" && len(in.Report.Trials) < 2
	})
}

// CanaryReportOf is what the views need of a report of canaries.
func CanaryReportOf(v report.View) (c *CanaryReport) {
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		panic("scene: a report that no view can read: " + err.Error())
	}
	return c
}

func epsilonOf(c audit.Claim) (float64, bool) {
	return c.Epsilon, c.Kind == audit.Pure || c.Kind == audit.Approximate
}

// Parse reads what the page sends.
func Parse(text string) (in Input, err error) {
	if err = json.Unmarshal([]byte(text), &in); err != nil {
		err = fmt.Errorf("view: the page sent what is no report: %w", err)
	}
	return in, err
}

// Views are the pictures of what the page sends.
func Views(in Input) []*plot.View {
	var out []*plot.View
	if p := in.Progress; p != nil {
		if l := p.Live; l != nil {
			words := plot.Say("So far, %s of %s outputs a side. ", l.Rows, l.Samples)
			out = append(out, liveOutputs(p).divergence(words))
		}
		out = append(out, NewOverTime(in.Course, nil, 0))
	}
	if in.Canary != nil {
		out = append(out, canaryViews(in.Canary, in.Cloud)...)
	} else if in.Report == nil {
		out = append(out, in.Cloud.Live(math.MaxInt))
	}
	if r := in.Report; r != nil {
		quantity := "value"
		var final *float64
		if row := report.Report(r.head).Deciding(); row != nil {
			quantity, final = row.Quantity, row.LowerBound
		}
		if r.Evidence != nil {
			out = append(out, outputsIn(r).divergence(""))
		}
		pairs := cmp.Or(r.Termination.SamplesUsed, r.Termination.Outputs/2) // of bets alone, which are of all pairs of datasets
		out = append(out, DataOf(r), NewTradeoff(in.Curves.Tradeoff), NewSearch(r.Trials, quantity, r.Claim.Limit()), NewOverTime(in.Course, final, pairs))
	}
	return present(out)
}

func present(views []*plot.View) []*plot.View {
	return slices.DeleteFunc(views, func(v *plot.View) bool { return v == nil })
}
