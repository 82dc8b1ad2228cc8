package pair

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// Report is all that came out of an audit, and all that is needed to run it again.
type Report struct {
	report.Report
	Plan   Plan        `json:"plan"` // every default written out
	Inputs Inputs      `json:"inputs"`
	Trials []TrialNote `json:"trials"`
	// Sequential is the sequential stage, where the plan has one.
	Sequential *SequentialResult      `json:"sequential,omitempty"`
	Evidence   *Evidence              `json:"evidence,omitempty"`    // absent where exploration did not finish
	Tradeoff   []bounds.TradeoffPoint `json:"tradeoff" same:"share"` // of the score, with a band that holds everywhere
}

// Inputs says what was audited, beyond the plan.
type Inputs struct {
	PrivacyUnit string               `json:"privacyUnit"`
	Samples     *audit.Recording     `json:"samples,omitempty"`  // outputs that were recorded elsewhere
	User        *audit.UserMechanism `json:"brought,omitempty"`  // a mechanism that the user brought
	Labelled    *audit.Labelled      `json:"labelled,omitempty"` // a learner's table that the user brought
	Unseeded    string               `json:"unseeded,omitempty"` // why the counts cannot be drawn again
	Examples    *Examples            `json:"examples,omitempty"` // of a mechanism that is a learner
}

// Examples says what the rows of a learner's datasets are: the features, then the label, 0 or 1.
type Examples struct {
	Features []string  `json:"features"` // names
	Classes  [2]string `json:"classes"`  // names of the labels 0 and 1
	Lower    []float64 `json:"lower"`    // of each feature
	Upper    []float64 `json:"upper"`
}

func examples(spec audit.MechanismSpec, p Plan) *Examples {
	if spec.Table == nil {
		return nil
	}
	t, d := spec.Table(p.Parameters), spec.Domain(p.Parameters, p.Relation)
	n := min(len(t.Features), len(d.Lower), len(d.Upper))
	return &Examples{t.Features, t.Classes, d.Lower[:n], d.Upper[:n]}
}

// ParseReport reads a report; unknown fields are refused.
func ParseReport(data []byte) (Report, error) { return report.Read(data, report.Pair, Report.check) }

func (r Report) check() error {
	err := audit.First(r.Report.Check(),
		audit.Require(r.Plan.Claim != nil, "report: plan.claim", audit.Absent, "the claim that was audited"))
	for _, row := range r.Rows(report.Bounds) {
		err = audit.First(err, audit.Require(slices.Contains(report.Quantities(), row.ID), "report: tables: bounds: id", fmt.Sprintf("%q", row.ID), "a known quantity"))
	}
	for _, row := range r.Rows(report.Renyi) {
		err = audit.First(err, audit.Require(row.LowerBound != nil, "report: tables: renyi", "a row without a bound", "one in every row"))
	}
	if e := r.Evidence; e != nil && err == nil {
		err = audit.Of("report: evidence", e.check(r.Plan))
	}
	if r.Sequential != nil && err == nil {
		err = r.Sequential.check(r.Plan)
	}
	return err
}

// Certified: the run came to certification.
func (r Report) Certified() bool {
	return len(r.Rows(report.Bounds)) > 0 && r.Evidence != nil && r.Evidence.Table != nil
}

// Chance implements [report.View].
func (r Report) Chance() (beta float64, seed uint64) { return r.Plan.Beta, r.Plan.Seed }

// arguments list what reproduces the audit: what is no default, mechanism, claim and seed.
func (a *Audit) arguments() (args []audit.Argument) {
	keys := Keys()
	if o, ok := external(a.Spec); ok {
		args, keys = settings.Written(ExternalKeys(), o, External{}), settings.Without(keys, "mechanism")
		if a.Spec.Labelled != nil {
			keys = Keys()
		}
		if r := a.Plan.Relation; a.Spec.User != nil && r != audit.AddRemove { // it belongs to the datasets
			at := slices.IndexFunc(args, func(x audit.Argument) bool { return x.Name == "reach" || x.Name == "kind" })
			args = slices.Insert(args, max(at, 0), audit.Argument{Name: "relation", Value: string(r)})
		}
	}
	args = append(args, settings.Written(keys, a.Plan, a.otherwise())...)
	// Of parameters that follow the claim the defaults do too.
	defaults, err := followParams(a.Spec, nil, a.Claim)
	if err == nil {
		return append(args, a.Plan.Parameters.Changed(a.Spec.Params, defaults)...)
	}
	for _, x := range a.Spec.Params { // none has a default that the claim allows
		args = append(args, audit.Argument{Name: "p." + x.Name, Value: a.Plan.Parameters[x.Name].String()})
	}
	return args
}

// otherwise is a plan with what does not have to be said.
func (a *Audit) otherwise() Plan {
	p := a.Plan
	explore := map[Mode]int{Fixed: p.Samples + p.Samples/2, Climbing: shown(p.Samples)}
	out := Plan{Claim: &audit.Claim{}, Relation: a.Spec.Relations(p.Parameters)[0], Finder: audit.Auto, Learner: audit.Auto,
		Samples: 200_000, Explore: explore[p.Mode], Trials: 10, Beta: 0.05}
	if a.Claim.Kind == audit.Profile {
		out.Mode = Fixed
	}
	if a.Spec.Recording != nil {
		out.Trials, out.Explore = p.Trials, 0
		usual := *a // what recorded outputs get where the plan asks for no budget
		usual.Plan.Explore, usual.Plan.Samples = 0, 0
		if usual.splitRecorded() == nil && usual.Plan.Explore == p.Explore && usual.Plan.Samples == p.Samples {
			out.Samples, out.Explore = p.Samples, p.Explore
		}
	}
	if own := a.Spec.Claim(p.Parameters); a.Claim.IsDP() {
		if own.IsDP() && !(a.Claim.Kind == audit.Pure && own.Delta > 0) {
			out.Claim.Kind = a.Claim.Kind // epsilon and delta tell
		}
		if own.Delta > 0 {
			out.Claim.Delta = -1 // its delta is the default: any other has to be said, 0 too
		}
	}
	return out
}

// Reproduce says how to run the audit again.
func (a *Audit) Reproduce() audit.Reproduce {
	if a.Spec.Custom {
		return audit.Reproduce{Note: "The mechanism is the caller's own: run the test that audited it again, with this seed."}
	}
	args := a.arguments()
	r := audit.Reproduce{CLI: audit.CommandOf("dpscope audit", args)}
	switch b := a.Spec.User; {
	case b != nil && b.Kind.Scripted():
		r = audit.Reproduce{Note: "The report holds the function: open it in the page and press Verify."}
	case a.Spec.Recording != nil || b != nil && b.SHA256 != "":
		r.Note = "It needs the same file: the report's inputs give its SHA-256."
	case b != nil:
		r.Note = "It needs the same program in the same place."
	case a.Spec.Unseeded != "":
		r.URL, r.Note = audit.FragmentOf(args), "Another run gives different counts: "+a.Spec.Unseeded+"."
	default:
		r.URL = audit.FragmentOf(args)
	}
	return r
}

// Mended is the address of the audit of the mechanism without its fault, on the report's pair or, where
// it does not take that, with a search; empty where none is registered.
func (r Report) Mended(cat audit.Catalogue) string {
	broken, _ := cat.Mechanism(r.Plan.Mechanism) // an unknown one names none
	mended, err := cat.Mechanism(broken.Mended)
	if err != nil {
		return ""
	}
	p := r.Plan
	p.Mechanism, p.Pair, p.Finder, p.Parameters = mended.Name, Shown(r.Evidence, r.Sequential), "", maps.Clone(p.Parameters)
	maps.DeleteFunc(p.Parameters, func(name string, _ audit.ParamValue) bool {
		return !slices.ContainsFunc(mended.Params, func(s audit.ParamSpec) bool { return s.Name == name })
	})
	a, err := p.Resolve(cat)
	if err != nil {
		p.Pair = nil
		if a, err = p.Resolve(cat); err != nil {
			return ""
		}
	}
	return a.Reproduce().URL
}

// Curves are what a report holds to draw besides its chart, with the claim as a line.
type Curves struct {
	Tradeoff *TradeoffCurve `json:"tradeoff,omitempty"`
	Renyi    *RenyiCurve    `json:"renyi,omitempty"`
}

// TradeoffCurve is the false negative rate against the false positive rate of the test that takes
// an output for one of the numerator's dataset. No test may lie below Claimed.
type TradeoffCurve struct {
	Points     []bounds.TradeoffPoint `json:"points"`
	Claimed    [][2]float64           `json:"claimed"`
	ClaimWords string                 `json:"claimWords"`
	Confidence string                 `json:"confidence"`
	Direction  string                 `json:"direction"`
}

// RenyiCurve is the lower bounds on the Rényi divergence by order; it may not lie above Claimed.
type RenyiCurve struct {
	Points     []report.Row `json:"points"`
	Claimed    [][2]float64 `json:"claimed"`
	ClaimWords string       `json:"claimWords"`
	Confidence string       `json:"confidence"`
}

// ReportCurves are the curves of a report.
func ReportCurves(r Report) Curves {
	var c Curves
	if len(r.Tradeoff) > 0 && r.Evidence != nil {
		c.Tradeoff = &TradeoffCurve{Points: r.Tradeoff, Claimed: r.Claim.Tradeoff(), ClaimWords: r.Claim.String(),
			Confidence: phrase.Percent(1 - r.Plan.Beta), Direction: r.Evidence.Prepared.Event.Direction()}
	}
	if rows := r.Rows(report.Renyi); len(rows) > 0 {
		orders := audit.Each(rows, func(x report.Row) float64 { return x.Alpha })
		c.Renyi = &RenyiCurve{Points: rows, Claimed: r.Claim.RenyiCurve(slices.Min(orders), slices.Max(orders)), ClaimWords: r.Claim.String(), Confidence: phrase.Percent(1 - r.Plan.Beta)}
	}
	return c
}
