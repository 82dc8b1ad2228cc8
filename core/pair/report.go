package pair

import (
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/report"
)

// Report is all that came out of an audit, and all that is needed to run it
// again, see [report.Report].
type Report struct {
	report.Report
	Plan   Plan        `json:"plan"` // every default written out
	Inputs Inputs      `json:"inputs"`
	Trials []TrialNote `json:"trials"`
	// Sequential is the sequential stage, where the plan has one.
	Sequential *Raced `json:"sequential,omitempty" since:"0.3.0"`
	// Evidence is absent where exploration did not finish.
	Evidence *Evidence `json:"evidence,omitempty"`
	// Tradeoff is the trade-off curve of the score, with a band that holds
	// everywhere with the report's confidence.
	Tradeoff []bounds.TradeoffPoint `json:"tradeoff" same:"share"`
}

// Inputs says what was audited, beyond the plan.
type Inputs struct {
	PrivacyUnit string `json:"privacyUnit"`
	// Samples is there where outputs were recorded elsewhere.
	Samples *audit.Recording `json:"samples,omitempty"`
	// Brought is there where the user brought the mechanism.
	Brought *audit.Brought `json:"brought,omitempty"`
	// Labelled is there where the user brought the table of a learner.
	Labelled *audit.Labelled `json:"labelled,omitempty"`
	// Unseeded says why the counts cannot be drawn again.
	Unseeded string `json:"unseeded,omitempty"`
	// Examples is there where the mechanism is a learner.
	Examples *Examples `json:"examples,omitempty" since:"0.3.0"`
}

// Examples says what the rows of a learner's datasets are: the features in declared
// bounds, then the label, 0 or 1.
type Examples struct {
	Features []string  `json:"features"` // names
	Classes  [2]string `json:"classes"`  // names of the labels 0 and 1
	Lower    []float64 `json:"lower"`    // of each feature
	Upper    []float64 `json:"upper"`
}

// examples are those of a learner, nil of another mechanism.
func examples(spec audit.MechanismSpec, p Plan) *Examples {
	if spec.Table == nil {
		return nil
	}
	t, d := spec.Table(p.Parameters), spec.Domain(p.Parameters, p.Relation)
	n := min(len(t.Features), len(d.Lower), len(d.Upper))
	return &Examples{t.Features, t.Classes, d.Lower[:n], d.Upper[:n]}
}

// ParseReport reads a report; unknown fields are refused.
func ParseReport(data []byte) (Report, error) {
	var r Report
	if err := report.Parse(data, report.Pair, &r, upgrade); err != nil {
		return Report{}, err
	}
	if r.Subject == "" { // as in schema version 1
		r.Subject, r.Promise = r.Plan.Mechanism, r.Claim.String()
		for i, t := range r.Tables {
			r.Tables[i] = named(t, r.Claim, r.Plan.Beta)
		}
	}
	return r, r.check()
}

// upgrade makes the form of today of a report of schema version 1, which had the plan
// in three parts and a type of its own for each list of bounds.
func upgrade(o report.Old) {
	plan, in, settings := report.Old{}, o.Within("inputs"), o.Within("settings")
	plan.Set("version", 1)
	for _, from := range []struct {
		fields report.Old
		names  []string
	}{{in, []string{"mechanism", "parameters", "relation"}}, {o, []string{"claim"}},
		{settings, []string{"learner", "finder", "pair", "samples", "explore", "trials", "beta", "seed", "anytime", "throughRenyi"}}} {
		for _, name := range from.names {
			if x, there := from.fields[name]; there {
				plan[name] = x
				if name != "claim" {
					delete(from.fields, name)
				}
			}
		}
	}
	o.Set("plan", plan)
	if in != nil {
		o.Set("inputs", in)
	}
	if settings != nil {
		if x, there := settings["confidence"]; there {
			o["confidence"] = x
			delete(settings, "confidence")
		}
		delete(settings, "split") // words
		if delete(o, "settings"); len(settings) > 0 {
			o.Set("settings", settings) // what nobody knows, to be refused
		}
	}
	anytime := string(plan["anytime"]) == "true"
	first := true
	o.Table(report.Bounds, "results", func(row report.Old) {
		row.Set("valid", true)
		if !first {
			return
		}
		first = false
		row.Set("chosen", true)
		for _, name := range []string{"lowerBound", "pValue", "quantity"} {
			if x, there := row[name]; there {
				o[name] = x
			}
		}
		if e := o.Within("evidence"); anytime && e != nil && row["lowerBound"] != nil {
			looked := report.Old{"lowerBound": row["lowerBound"]}
			if x, there := row["pValue"]; there {
				looked["pValue"] = x
			}
			e.Set("looked", looked)
			o.Set("evidence", e)
		}
	})
	o.Table(report.Renyi, "renyi", func(row report.Old) {
		row.Set("id", report.RenyiDivergence)
		row.Set("valid", true)
		row.Rename("lower", "lowerBound")
	})
	o.Table(report.Published, "published", func(row report.Old) {
		row.Set("valid", false)
		row.Rename("fault", "note")
		// The row of Katz at delta > 0 was called published, which it was not.
		var method bounds.Method
		var note string
		row.Get("method", &method)
		if row.Get("note", &note); method == published.MethodKatz && note == formerKatzDeltaFault {
			row.Set("method", published.MethodKatzDelta)
			row.Set("note", katzDeltaFault)
		}
	})
	if power := o.Within("power"); power != nil {
		power.Rename("largestBound", "largest")
		o.Set("power", power)
	}
}

// check refuses a report whose parts do not fit together, so that nothing
// downstream has to.
func (r Report) check() error {
	if err := r.Report.Check(); err != nil {
		return err
	}
	if r.Plan.Claim == nil {
		return &audit.InputError{Field: "report: plan.claim", Found: audit.Absent, Want: "the claim that was audited"}
	}
	for _, row := range r.Rows(report.Bounds) {
		if !slices.Contains(report.Quantities(), row.ID) {
			return &audit.InputError{Field: "report: tables: bounds: id", Found: fmt.Sprintf("%q", row.ID), Want: "a known quantity"}
		}
	}
	for _, row := range r.Rows(report.Renyi) {
		if row.LowerBound == nil {
			return &audit.InputError{Field: "report: tables: renyi", Found: "a row without a bound", Want: "one in every row"}
		}
	}
	if e := r.Evidence; e != nil {
		if err := e.check(r.Plan); err != nil {
			return fmt.Errorf("report: evidence: %w", err)
		}
	}
	if r.Sequential != nil {
		return r.Sequential.check(r.Plan)
	}
	return nil
}

// Certified reports whether the run came to certification.
func (r Report) Certified() bool {
	return len(r.Rows(report.Bounds)) > 0 && r.Evidence != nil && r.Evidence.Table != nil
}

// Chance implements [report.View].
func (r Report) Chance() (beta float64, seed uint64) { return r.Plan.Beta, r.Plan.Seed }
