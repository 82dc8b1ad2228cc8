package pair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

var limitations = []string{
	"A lower bound shows the least that leaks, on one pair of datasets and with one test. It never shows that a mechanism is private: another pair or another test may show more.",
	"The certificate holds for independent runs of the mechanism as it was given here, parameters and randomness included. Other parameters, versions or data domains are other mechanisms.",
	"The confidence is for one audit. If you audit many mechanisms that keep their claims, a fraction of up to beta may report a violation by chance.",
	"The verdict rests on the first result. Each further result holds with its own confidence; the confidence that all hold together is lower.",
}

// Found is all that a run's report follows from, besides the plan and why the run ended.
type Found struct {
	Trials     []TrialNote       `json:"trials"`
	Sequential *SequentialResult `json:"sequential,omitempty"` // nil where the plan has no sequential stage
	Evidence   *Evidence         `json:"evidence,omitempty"`   // nil where exploration did not finish

	model     audit.Model // of the evidence, where it was learnt or decoded here
	certified *Certified  // where a worker computed it
	proven    *report.Row // the sequential stage's, where the run has computed it
}

func (a *Audit) certified(e *Evidence) *Certified {
	if steps := e.Prepared.Steps; steps > 1 {
		return new(certificate{a.grouped(steps), e}.inGroup(a.Claim))
	}
	return new(certificate{a.at(e.Prepared.Point), e}.all())
}

// Conclude implements [report.Audit]. The second stage has bounds only if the run completed: one
// for a fixed number of samples does not hold for a run that was stopped.
func (a *Audit) Conclude(f Found, end audit.Termination) (Report, error) {
	p, spec, e := a.Plan, a.Spec, f.Evidence
	c := f.certified
	if e == nil || e.Table == nil || end.Reason != audit.Completed {
		c = nil
	} else if c == nil {
		c = a.second(f.Sequential).certified(e)
	}
	whole := a
	var point *audit.ProfilePoint
	if e != nil {
		point = e.Prepared.Point
		a = a.at(point)
	}
	r := Report{Report: report.New(report.Pair, spec.Name, report.StatedClaim{Claim: a.Claim}, p.Beta), Plan: p,
		Inputs: Inputs{PrivacyUnit: p.Relation.Unit(), Samples: a.recording(), User: spec.User, Labelled: spec.Labelled, Unseeded: spec.Unseeded, Examples: examples(spec, p)},
		Trials: append([]TrialNote{}, f.Trials...), Sequential: f.Sequential, Evidence: e, Tradeoff: []bounds.TradeoffPoint{}}
	r.StatedClaim, r.Termination, r.Reproduce, r.Warnings = whole.statedClaim(point), end, whole.Reproduce(), append(r.Warnings, a.Notes...)
	r.Limitations, r.References = slices.Clone(limitations), a.references(e, c, f.Sequential != nil)
	if spec.Recording != nil {
		r.Limitations = append(r.Limitations, audit.RecordedLimitations...)
	}
	if spec.User != nil {
		r.Limitations = append(r.Limitations, spec.User.Limitations()...)
	}
	if spec.Unseeded != "" {
		r.Limitations = append(r.Limitations, "The counts cannot be drawn again from the seed: "+spec.Unseeded+". A replay checks that everything else follows from them.")
	}
	r.Termination.Outputs, r.Termination.SamplesUsed = f.outputs(a), e.certified()
	if e != nil || f.Sequential != nil {
		if err := r.tables(a, f, c); err != nil {
			return Report{}, err
		}
		row := r.Tables[0].Rows[0]
		r.Quantity, r.PValue = row.Quantity, row.PValue
		switch {
		case end.Reason != audit.Completed:
		case p.isSequential():
			if n := a.leastBet(); n > p.Samples {
				r.Power = &report.Power{Needed: n, Unit: "outputs a side"}
			}
		case c != nil:
			r.Power = c.Power
		}
		r.Choose(row.Method)
		if r.Verdict == audit.Violation {
			r.Power = nil
		}
	} else if r.Verdict = audit.Inconclusive; end.Reason == audit.Failed {
		r.Verdict = audit.Invalid
	}
	r.Reword()
	return r, nil
}

func (f Found) outputs(a *Audit) int {
	bet, second := 0, 0
	if f.Sequential != nil {
		bet = f.Sequential.outputs()
	}
	for _, t := range f.Trials {
		second += 2 * t.Outputs
	}
	return a.together(bet, second+2*f.Evidence.certified())
}

// tables begin with a sequential audit's bound, which decides. A second stage that certified nothing
// has a row of the claim's event with the counts so far.
func (r *Report) tables(a *Audit, f Found, c *Certified) error {
	e := r.Evidence
	var rows []report.Row
	switch {
	case e == nil:
	case c != nil:
		rows, r.Tradeoff = slices.Clone(c.Bounds), append(r.Tradeoff, c.Tradeoff...)
	default:
		_, delta := a.dpLimits()
		row := report.Row{ID: report.Epsilon, Delta: delta, Confidence: 1 - a.Plan.Beta, Direction: e.Prepared.Event.Direction(), Valid: true,
			Event: &report.Event{Edge: e.Prepared.Event.Edge, Above: e.Prepared.Event.Above}, Explored: new(e.Prepared.Event.Counts(e.Explored))}
		if e.Table != nil {
			row.Counts = new(e.Prepared.Event.Counts(*e.Table))
		}
		rows = []report.Row{row}
	}
	if e != nil && f.model == nil {
		f.model, _ = e.Witness.decode(a)
	}
	for i := range rows {
		row := &rows[i]
		if c != nil && (i > 0 || r.Sequential != nil) && (row.ID == report.Rho || row.ID == report.RenyiEpsilon) {
			row.Title = fmt.Sprintf("%s, of %d orders", row.MethodWords(), len(c.Renyi))
		}
		if row.Event != nil && f.model != nil {
			row.Event = described(a.Columns, e.Chart, f.model, e.Edges, threshold.Event{Edge: row.Event.Edge, Above: row.Event.Above})
		}
	}
	if r.Sequential != nil {
		if f.proven == nil {
			row, err := a.sequentialRow(r.Sequential)
			if err != nil {
				return err
			}
			f.proven = &row
		}
		rows = append([]report.Row{*f.proven}, rows...)
	}
	tables := []report.Table{{Name: report.Bounds, Rows: rows}}
	if c != nil {
		tables = append(tables, report.Table{Name: report.Renyi, Rows: slices.Clone(c.Renyi)}, report.Table{Name: report.Published, Rows: slices.Concat(c.Published, a.testerRows(e))})
	}
	for _, t := range tables {
		if len(t.Rows) > 0 {
			r.Tables = append(r.Tables, named(t, a.Claim, a.Plan.Beta))
		}
	}
	return nil
}

func named(t report.Table, c audit.Claim, beta float64) report.Table {
	confidence := phrase.Percent(1 - beta)
	each := "with " + confidence + " confidence each"
	if slices.ContainsFunc(t.Rows, func(f report.Row) bool { return f.Confidence != t.Rows[0].Confidence }) {
		each = "each with its own confidence"
	}
	t.Title = map[string]string{
		report.Bounds:    fmt.Sprintf("Certified %s (* decides)", each),
		report.Renyi:     fmt.Sprintf("Rényi divergences, all together with %s confidence", confidence),
		report.Published: "Published forms on the same counts, for comparison; those called published certify nothing",
	}[t.Name]
	for i := range t.Rows {
		f := &t.Rows[i]
		f.Quantity = f.QuantityWords()
		if f.Group > 1 && f.Method != MethodSequential { // which has its own
			f.Note = strings.TrimPrefix(fmt.Sprintf("%s; the datasets differ by %d rows; the bound is divided back (group privacy, lemma 3.4 of Lu et al. 2022)", f.Note, f.Group), "; ")
		}
		if limit, ok := allowed(c, *f); ok && f.Value == nil {
			f.Claimed = &limit
		}
	}
	return t
}

// allowed is what the claim allows the row's quantity to be; false: anything.
func allowed(c audit.Claim, f report.Row) (float64, bool) {
	switch f.ID {
	case report.Epsilon:
		return c.Epsilon, c.IsDP() && f.Delta >= c.Delta
	case report.RenyiEpsilon:
		return c.Epsilon, c.Kind == audit.Pure
	case report.Delta:
		return c.Delta, c.IsDP() && f.Epsilon >= c.Epsilon
	case report.RenyiDivergence:
		return c.ImpliedRenyi(f.Alpha)
	case report.Rho:
		return c.ImpliedRho()
	case report.Mu:
		return c.ImpliedMu()
	case report.Stretch:
		return c.Limit(), c.Kind == audit.Profile
	}
	return 0, false
}

var boundSources = map[bounds.Method]string{
	MethodSequential:          "log-optimal bets on outputs as they come: docs/statistics.md; Ramdas, Grünwald, Vovk and Shafer, Statistical Science 38 (2023); Larsson, Ramdas and Ruf, Annals of Statistics 53 (2025)",
	bounds.MethodExact:        "exact unconditional bound: Buehler, JASA 52 (1957), by the score test of Miettinen and Nurminen, Statistics in Medicine 4 (1985), or, for mu (Dong, Roth and Su, JRSS B 84 (2022)), the likelihood ratio; nuisance parameter: Berger and Boos, JASA 89 (1994)",
	bounds.MethodRenyiBetting: "betting against a Rényi divergence, linearised: docs/statistics.md; Waudby-Smith and Ramdas, JRSS B 86 (2024)",
}

func (a *Audit) references(e *Evidence, c *Certified, raced bool) []string {
	refs := []string{a.Spec.Source}
	if e != nil {
		l, _ := a.cat.Learner(e.Witness.Learner) // an unknown one has no source
		refs = append(refs, l.Source)
	}
	if raced {
		refs = append(refs, boundSources[MethodSequential])
	}
	if c != nil {
		for _, f := range slices.Concat(c.Bounds, c.Renyi) {
			refs = append(refs, boundSources[f.Method])
		}
	}
	var list []string
	for i, ref := range refs {
		if i == 0 || ref != "" && !slices.Contains(list, ref) {
			list = append(list, ref)
		}
	}
	return list
}
